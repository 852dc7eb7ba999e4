//! Executable code and the place in it, without a bounds check an instruction.
//!
//! # Soundness
//!
//! [`CheckedCode::new`] looks at every instruction once: each jump leads to an instruction of the same
//! code, the second half of a pair is what stands behind the first, and the last instruction is one
//! that control never falls through ([`Code::falls_through`]).
//! The code is immutable from then on, but for [`CheckedCode::arm`], which turns an instruction into a
//! breakpoint, where the loop always leaves. A [`Cursor`] is made from an index that was checked and
//! moves only by the two steps that the check allowed: to the next instruction from one that falls
//! through, and to a target that the instruction it is at has. So it always points at an instruction.
//!
//! Why at all: a checked slice costs six instructions of the host for each of the program's, which
//! needs about a dozen in all.

use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::code::{CallPlan, Code, Instr};

/// Instructions with all ways through them checked.
#[derive(Clone, Debug)]
pub(crate) struct CheckedCode(Box<[Instr]>);

impl CheckedCode {
    /// Checks code with its tables; `None` if a way leads out of it.
    pub(crate) fn new(
        instructions: Box<[Instr]>,
        tables: &[Box<[u32]>],
        calls: &[CallPlan],
    ) -> Option<Self> {
        if instructions.last()?.code.falls_through() {
            return None;
        }
        let is_inside = |index: usize| index < instructions.len();
        // Whether the instruction at an index can be run as `code`.
        let is_second = |index: usize, code: Code| {
            let found = instructions.get(index).map(|instr: &Instr| instr.code);
            found == Some(code) || found.and_then(Code::parts).is_some_and(|it| it.0 == code)
        };
        let is_sound = |(index, instr): (usize, &Instr)| match instr.code {
            code if let Some((_, second)) = code.parts() => is_second(index + 1, second),
            Code::Jump | Code::JumpBack | Code::Yield | Code::Stop | Code::CondStop => {
                is_inside(instr.low())
            }
            code if code.is_compare_and_jump()
                || matches!(code, Code::CondJump | Code::CondJumpBack) =>
            {
                is_inside(instr.low()) && is_inside(instr.high())
            }
            Code::JumpTable => tables.get(instr.low()).is_some_and(|table| {
                !table.is_empty() && table.iter().all(|target| is_inside(*target as usize))
            }),
            Code::Call => calls.get(instr.low()).is_some_and(|plan| is_inside(plan.next as usize)),
            _ => true,
        };
        instructions.iter().enumerate().all(is_sound).then_some(Self(instructions))
    }

    /// A place in the code, if there is an instruction.
    #[inline]
    pub(crate) fn cursor(&self, index: usize) -> Option<Cursor<'_>> {
        self.0.get(index).map(|instr| Cursor { at: NonNull::from(instr), code: PhantomData })
    }

    /// The index of a place.
    #[inline]
    pub(crate) fn index(&self, cursor: Cursor<'_>) -> usize {
        (cursor.at.as_ptr() as usize - self.0.as_ptr() as usize) / size_of::<Instr>()
    }

    /// Puts a breakpoint in the place of an instruction.
    pub(crate) fn arm(&mut self, index: u32) {
        if let Some(instr) = self.0.get_mut(index as usize) {
            instr.code = Code::Breakpoint;
        }
    }

    /// Puts an instruction of `original`, of which this is a copy, back in its place.
    pub(crate) fn disarm(&mut self, index: u32, original: &CheckedCode) {
        if self.0.len() == original.0.len() {
            self.0[index as usize] = original.0[index as usize];
        }
    }
}

impl std::ops::Deref for CheckedCode {
    type Target = [Instr];

    fn deref(&self) -> &[Instr] {
        &self.0
    }
}

/// A place in code that was checked.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    at: NonNull<Instr>,
    code: PhantomData<&'a [Instr]>,
}

impl<'a> Cursor<'a> {
    /// The instruction there.
    #[inline(always)]
    pub(crate) fn instr(self) -> &'a Instr {
        // SAFETY: a cursor always points at an instruction of code that is borrowed for `'a`.
        unsafe { self.at.as_ref() }
    }

    /// The next place.
    ///
    /// # Safety
    /// The instruction here is one that control falls through.
    #[inline(always)]
    pub(crate) unsafe fn next(self) -> Self {
        // SAFETY: it is not the last one, as control does not fall through that.
        Self { at: unsafe { self.at.add(1) }, code: PhantomData }
    }

    /// The place `target` of `code`.
    ///
    /// # Safety
    /// This cursor is in `code`, and the instruction here has the jump target `target`.
    #[inline(always)]
    pub(crate) unsafe fn jump(self, code: &'a CheckedCode, target: usize) -> Self {
        // SAFETY: `CheckedCode::new` saw that all targets are inside.
        Self { at: NonNull::from(unsafe { code.0.get_unchecked(target) }), code: PhantomData }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(instructions: &[(Code, u64)], tables: &[Box<[u32]>]) -> Option<CheckedCode> {
        let instr = |&(code, imm): &(Code, u64)| Instr { code, a: 0, b: 0, c: 0, imm };
        CheckedCode::new(instructions.iter().map(instr).collect(), tables, &[])
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
        assert!(code(&[(Code::AddI32AddI32, 0), end], &[]).is_none());
        assert!(code(&[(Code::AddI32AddI32, 0), (Code::AddI32, 0), end], &[]).is_some());
    }

    #[test]
    fn places_and_indices() {
        let code =
            code(&[(Code::AddI32, 0), (Code::Jump, 0), (Code::EndOfFunction, 0)], &[]).unwrap();
        let first = code.cursor(0).unwrap();
        // SAFETY: the first instruction adds; control falls through.
        let second = unsafe { first.next() };
        assert_eq!((code.index(second), second.instr().code), (1, Code::Jump));
        // SAFETY: the second instruction jumps to 0.
        let again = unsafe { second.jump(&code, 0) };
        assert_eq!(code.index(again), 0);
        assert!(code.cursor(3).is_none());
    }
}
