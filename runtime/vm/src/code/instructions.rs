//! Instructions whose jumps are all checked, the handlers that run them, and cursors into them.
//! Nothing is checked a second time at run time.
//!
//! # Soundness
//!
//! [`Instructions::new`] examines every instruction once: each jump leads to an instruction of the
//! same code, control never falls through the last instruction ([`Code::falls_through`]), and the
//! frame has every ref that handlers read without a check. After that the instructions are
//! immutable, except for [`Instructions::arm`], which turns one into a breakpoint, where the
//! machine always leaves. A [`CheckedCode`] is made only from them, one for one, and only
//! `handler_choice` chooses the handlers. A [`Cursor`] is made from a checked index and makes only
//! the moves that the check allowed: to the next instruction from one that falls through, and along
//! a jump of the instruction that it is at. So it always points at an instruction.
//!
//! The reason: a checked slice costs the host six instructions for each of the program's, which
//! needs fewer than a dozen in all.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use vmfb::Register;

use super::call_plan::CallPlan;
use super::instr::{Code, Instr};
use super::loop_heads;
use super::results_at_hand::{Flow, Known};
use super::shape::Handle;
use crate::stack::Refs;

/// Distances of jump tables. They stay in place as long as anything holds them.
type Distances = Arc<[Box<[u32]>]>;

/// A function's instructions, all ways through them checked.
#[derive(Clone, Debug)]
pub(crate) struct Instructions<H> {
    instructions: Box<[Instr]>,
    /// Whether a jump leads there, or control enters from outside.
    is_target: Box<[bool]>,
    /// What is known at heads of loops, by their indices, ascending.
    heads: Box<[(usize, Known)]>,
    /// For each jump table, the distances from the instruction that uses it.
    distances: Distances,
    /// The handlers that the instructions were checked for.
    handlers: PhantomData<fn(H)>,
}

impl<H: Handle> Instructions<H> {
    /// Checks code and its tables for a frame with `ref_count` refs; `None` if a jump leads out of
    /// the code, or an instruction reads a ref that the frame does not have.
    pub(crate) fn new(
        mut instructions: Box<[Instr]>,
        tables: &[Box<[u32]>],
        calls: &[CallPlan],
        ref_count: u32,
    ) -> Option<Self> {
        let is_small = instructions.len() <= i32::MAX as usize / size_of::<Executable<H>>();
        if instructions.last()?.code.falls_through() || !is_small {
            return None;
        }
        let mut is_target = vec![false; instructions.len()];
        let mut target = |index: usize| is_target.get_mut(index).map(|is_target| *is_target = true);
        // Calls enter after the block marker.
        target(0)?;
        target(1);
        let mut distances: Vec<Box<[u32]>> = vec![Box::default(); tables.len()];
        for (index, instr) in instructions.iter_mut().enumerate() {
            match instr.code {
                Code::Jump | Code::JumpBack | Code::Yield | Code::Stop | Code::CondStop => {
                    target(instr.low())?;
                }
                Code::CondJump | Code::CondJumpBack => {
                    target(instr.low())?;
                    target(instr.high())?;
                }
                Code::JumpTable => {
                    let table = tables.get(instr.low()).filter(|table| !table.is_empty())?;
                    let distances = &mut distances[instr.low()];
                    // One table for two instructions would have two distances to a target.
                    if !distances.is_empty() {
                        return None;
                    }
                    for to in table {
                        target(*to as usize)?;
                    }
                    let far = |to: &u32| distance::<H>(index, *to as usize) as u32;
                    *distances = table.iter().map(far).collect();
                }
                Code::Call | Code::CallOut => target(calls.get(instr.low())?.next as usize)?,
                _ => {}
            }
            if H::shape(instr.code).reads_ref {
                // The instruction only reads the ref, with or without the move bit.
                instr.a &= Register::MAX_REF;
                if u32::from(instr.a) >= ref_count {
                    return None;
                }
                instr.imm = Refs::offset(instr.a);
            }
        }
        let is_target = is_target.into();
        let (heads, distances) = (Box::default(), distances.into());
        let mut checked = Self { instructions, is_target, heads, distances, handlers: PhantomData };
        let mut heads: Vec<_> =
            loop_heads::heads::<H>(checked.flow(), tables, calls).into_iter().collect();
        heads.sort_unstable_by_key(|(index, _)| *index);
        checked.heads = heads.into();
        Some(checked)
    }

    /// The instructions with the ways through them.
    pub(crate) fn flow(&self) -> Flow<'_> {
        Flow { instructions: &self.instructions, is_target: &self.is_target, heads: &self.heads }
    }

    /// The running form of a jump by table: `imm` is the address of the distances; `b` and `c` hold
    /// the index of the last one, which serves all higher indices too.
    pub(crate) fn with_table(&self, instr: Instr) -> Instr {
        let Some(distances) = self.distances.get(instr.low()) else { return instr };
        let last = distances.len().saturating_sub(1) as u32;
        let imm = distances.as_ptr().expose_provenance() as u64;
        Instr { b: last as u16, c: (last >> 16) as u16, imm, ..instr }
    }

    /// The indices that the instruction at `index` jumps to; empty if it is no jump.
    pub(crate) fn targets(&self, index: usize) -> Vec<usize> {
        let instr = &self.instructions[index];
        match instr.code {
            Code::Jump | Code::JumpBack => vec![instr.low()],
            Code::CondJump | Code::CondJumpBack => vec![instr.low(), instr.high()],
            Code::JumpTable => {
                let distances = self.distances.get(instr.low());
                let step = size_of::<Executable<H>>() as i64;
                let to = |distance: &u32| index as i64 + i64::from(*distance as i32) / step;
                distances.into_iter().flatten().map(|it| to(it) as usize).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Puts a breakpoint in the place of an instruction.
    pub(crate) fn arm(&mut self, index: u32) {
        if let Some(instr) = self.instructions.get_mut(index as usize) {
            instr.code = Code::Breakpoint;
        }
    }

    /// Puts an instruction of `original`, of which this is a copy, back in its place.
    pub(crate) fn disarm(&mut self, index: u32, original: &Instructions<H>) {
        if self.len() == original.len() {
            self.instructions[index as usize] = original[index as usize];
        }
    }
}

impl<H> std::ops::Deref for Instructions<H> {
    type Target = [Instr];

    fn deref(&self) -> &[Instr] {
        &self.instructions
    }
}

/// An instruction with the handler that runs it. Jump targets are distances in bytes from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Executable<H> {
    pub(crate) handler: H,
    pub(crate) instr: Instr,
}

/// Code that runs: [`Instructions`] with handlers, at the same indices, and the distance tables
/// that they refer to.
#[derive(Clone, Debug)]
pub(crate) struct CheckedCode<H>(
    Box<[Executable<H>]>,
    #[expect(dead_code, reason = "it keeps them")] Distances,
);

impl<H: Handle> CheckedCode<H> {
    /// Instructions with the handlers that `executable` gives each.
    pub(super) fn new(
        instructions: &Instructions<H>,
        executable: impl FnMut(usize) -> Executable<H>,
    ) -> Self {
        let executables = (0..instructions.len()).map(executable).collect();
        Self(executables, instructions.distances.clone())
    }

    /// The number of instructions.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Replaces an instruction and its handler.
    pub(super) fn replace(&mut self, index: usize, executable: Executable<H>) {
        self.0[index] = executable;
    }

    /// Replaces the handler of an instruction.
    pub(super) fn set_handler(&mut self, index: usize, handler: H) {
        self.0[index].handler = handler;
    }

    /// Code for tests of handlers.
    #[cfg(test)]
    pub(crate) fn of(executables: Box<[Executable<H>]>, instructions: &Instructions<H>) -> Self {
        Self(executables, instructions.distances.clone())
    }

    /// A cursor to an instruction, if it exists. It is made from the whole code, never from a
    /// reference to one instruction: such a pointer must not move on to the next.
    #[inline]
    pub(crate) fn cursor(&self, index: usize) -> Option<Cursor<H>> {
        let first = NonNull::from(&*self.0).cast::<Executable<H>>();
        // SAFETY: the place is inside.
        (index < self.0.len()).then(|| Cursor(unsafe { first.add(index) }))
    }

    /// The index of a place.
    #[inline]
    pub(crate) fn index(&self, cursor: Cursor<H>) -> usize {
        (cursor.0.as_ptr() as usize - self.0.as_ptr() as usize) / size_of::<Executable<H>>()
    }
}

/// A place in checked code. The code must outlive the cursor: the machine borrows the functions of
/// its context for as long as it has cursors into them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<H>(NonNull<Executable<H>>);

impl<H: Handle> Cursor<H> {
    /// The instruction at the cursor.
    #[inline(always)]
    pub(crate) fn instr<'a>(self) -> &'a Instr {
        // SAFETY: a cursor always points at an instruction, of code that is borrowed.
        unsafe { &(*self.0.as_ptr()).instr }
    }

    /// The handler of that instruction.
    #[inline(always)]
    pub(crate) fn handler(self) -> H {
        // SAFETY: a cursor always points at an instruction, of code that is borrowed.
        unsafe { (*self.0.as_ptr()).handler }
    }

    /// The distance in the table of the instruction here.
    ///
    /// # Safety
    /// It is a jump by table, made by [`Instructions::with_table`].
    #[inline(always)]
    pub(crate) unsafe fn table_distance(self, index: u32) -> usize {
        let instr = self.instr();
        let last = u32::from(instr.b) | u32::from(instr.c) << 16;
        let first = std::ptr::with_exposed_provenance::<u32>(instr.imm as usize);
        // SAFETY: no table is empty, and the code that is borrowed keeps them.
        unsafe { *first.add(index.min(last) as usize) as usize }
    }

    /// The next place.
    ///
    /// # Safety
    /// The instruction here is one that control falls through.
    #[inline(always)]
    pub(crate) unsafe fn next(self) -> Self {
        // SAFETY: this is not the last instruction, as control does not fall through that.
        Self(unsafe { self.0.add(1) })
    }

    /// The place `distance` bytes away.
    ///
    /// # Safety
    /// The distance is one of the two in the instruction here.
    #[inline(always)]
    pub(crate) unsafe fn jump(self, distance: usize) -> Self {
        // SAFETY: the function `distance` made it from the index of an instruction of the same
        // code.
        Self(unsafe { self.0.byte_offset(distance as u32 as i32 as isize) })
    }
}

/// The distance from one index to another, as a half of `imm`.
pub(crate) fn distance<H>(from: usize, to: usize) -> u64 {
    let bytes = (to as i64 - from as i64) * size_of::<Executable<H>>() as i64;
    u64::from(bytes as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Handler;

    fn code(instructions: &[(Code, u64)], tables: &[Box<[u32]>]) -> Option<Instructions<Handler>> {
        let instr = |&(code, imm): &(Code, u64)| Instr { code, a: 0, b: 0, c: 0, imm };
        Instructions::new(instructions.iter().map(instr).collect(), tables, &[], 1)
    }

    #[test]
    fn ways_out_are_refused() {
        let end = (Code::EndOfFunction, 0);
        assert!(code(&[], &[]).is_none());
        assert!(code(&[(Code::AddI32, 0)], &[]).is_none());
        assert!(code(&[(Code::CondStop, 0)], &[]).is_some());
        assert!(code(&[(Code::Jump, 0)], &[]).is_some());
        assert!(code(&[(Code::Jump, 2), end], &[]).is_none());
        assert!(code(&[(Code::CondJump, 2 << 32), end], &[]).is_none());
        assert!(code(&[(Code::CondJump, 1 << 32), end], &[]).is_some());
        assert!(code(&[(Code::JumpTable, 0), end], &[]).is_none());
        assert!(code(&[(Code::JumpTable, 0), end], &[Box::new([])]).is_none());
        assert!(code(&[(Code::JumpTable, 0), end], &[Box::new([1, 2])]).is_none());
        assert!(code(&[(Code::JumpTable, 0), end], &[Box::new([1, 0])]).is_some());
        assert!(code(&[(Code::Call, 0), end], &[]).is_none());
    }

    #[test]
    fn refs_outside_of_the_frame_are_refused() {
        let end = Instr { code: Code::EndOfFunction, a: 0, b: 0, c: 0, imm: 0 };
        let load = Instr { code: Code::BufferLoadI32, a: Register::MOVE_BIT | 2, ..end };
        assert!(Instructions::<Handler>::new(Box::new([load, end]), &[], &[], 2).is_none());
        assert!(Instructions::<Handler>::new(Box::new([load, end]), &[], &[], 3).is_some());
    }

    #[test]
    fn places_and_indices() {
        let jump = (Code::CondJump, 2 << 32);
        let code = code(&[(Code::AddI32, 0), jump, (Code::EndOfFunction, 0)], &[]).unwrap();
        let code = CheckedCode::free(&code);
        let first = code.cursor(0).unwrap();
        // SAFETY: the first instruction adds; control falls through.
        let second = unsafe { first.next() };
        assert_eq!((code.index(second), second.instr().code), (1, Code::CondJump));
        // SAFETY: the second instruction jumps back to the first and on to the third.
        let (again, third) =
            unsafe { (second.jump(second.instr().low()), second.jump(second.instr().high())) };
        assert_eq!((code.index(again), code.index(third)), (0, 2));
        assert!(code.cursor(3).is_none());
    }
}
