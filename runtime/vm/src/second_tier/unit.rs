//! Machine code of a function, and how the interpreter enters it. All of the second tier's unsafe
//! code is here, in `helpers` and in `calls`.
//!
//! # Soundness
//!
//! Machine code is made by `emit` from instructions that were checked (`code/instructions.rs`), by
//! Cranelift, into pages that nothing writes afterwards. What it accesses:
//!
//! - registers: `register * size` from the frame's first, like [`Registers`], inside the window;
//! - primitive globals: at offsets that were compared with the module's number of bytes when it was
//!   compiled; globals never grow;
//! - guest memory: elements below the count in the [`View`] of the buffer in a ref register, where
//!   the interpreter would access them (`objects/guest_memory.rs`). The register keeps the buffer
//!   alive; after an instruction that changes it, compiled code looks at it again;
//! - its own stack.
//!
//! It calls functions of `helpers` and `calls` only. While it runs, the machine and its frames are
//! borrowed by the handler that has entered it. Only calls of bytecode move the VM's stack; after
//! one, compiled code takes the registers from its [`Door`] again, where `calls` has put them.

use std::ffi::c_void;
use std::mem::{MaybeUninit, offset_of};

use memmap2::MmapMut;

use super::helpers::{self, View};
use crate::code::MachineCode;
use crate::errors::Status;
use crate::machine::{Cursor, Exit, Handler, Machine, Reason, at_hand};
use crate::stack::{Refs, Registers};

/// What compiled code gets from the interpreter.
#[repr(C)]
pub(super) struct Door {
    pub(super) registers: Registers,
    globals: *mut u8,
    pub(super) refs: Refs,
    pub(super) machine: *mut c_void,
    /// The buffers that the function uses, in the order of its views.
    views: *mut View,
    /// Where the host's stack was when the interpreter handed over.
    pub(super) top: usize,
}

impl Door {
    pub(super) const REGISTERS: i32 = offset_of!(Self, registers) as i32;
    pub(super) const GLOBALS: i32 = offset_of!(Self, globals) as i32;
    pub(super) const VIEWS: i32 = offset_of!(Self, views) as i32;
}

/// How many buffers of a function compiled code accesses by itself.
pub(super) const VIEWS: usize = 16;

/// What compiled code returns instead of a place after an instruction that has failed,
pub(super) const FAILED: u32 = u32::MAX;

/// where the interpreter goes on in another frame,
pub(super) const ELSEWHERE: u32 = u32::MAX - 1;

/// and what a call returns to compiled code when its callee has returned.
pub(super) const RETURNED: u32 = 0;

/// Where compiled code has handed over.
#[derive(Clone, Copy, Debug)]
pub(super) enum Left {
    /// Before the instruction at an index of its function, with a budget and the registers, which
    /// calls may have moved.
    At(u32, u32, Registers),
    /// Where the machine has saved it.
    Elsewhere,
    /// An instruction has failed, and the machine knows how.
    Failed,
}

/// Puts code into pages of its own; `None` where the system does not let memory be executed.
///
/// # Safety
/// `emit` and Cranelift have made the code, for the entries, the buffers and this processor.
pub(super) unsafe fn machine_code(
    code: &[u8],
    entries: Box<[u32]>,
    buffers: Box<[u16]>,
) -> Option<MachineCode> {
    let mut pages = MmapMut::map_anon(code.len()).ok()?;
    pages.copy_from_slice(code);
    Some(MachineCode { pages: pages.make_exec().ok()?, entries, buffers })
}

/// Runs machine code from an entry; `None` if there is no such entry.
///
/// # Safety
/// It is the code of the machine's innermost frame, whose registers these are.
pub(super) unsafe fn run(
    code: &MachineCode,
    machine: &mut Machine<'_>,
    registers: Registers,
    index: u32,
    budget: u32,
    top: usize,
) -> Option<Left> {
    type Entry = unsafe extern "C" fn(*mut Door, u32, u32) -> u64;
    let entry = code.entries.binary_search(&index).ok()? as u32;
    let (globals, refs) = (machine.global_bytes.address(), machine.refs);
    let mut views = [MaybeUninit::<View>::uninit(); VIEWS];
    for (view, register) in views.iter_mut().zip(&code.buffers) {
        // SAFETY: the code was checked for the frame of these refs.
        view.write(unsafe { View::of(refs, Refs::offset(*register)) });
    }
    let views = views.as_mut_ptr().cast();
    let mut door = Door { registers, globals, refs, machine: helpers::opaque(machine), views, top };
    // SAFETY: the pages begin with a function of this type: see `machine_code`. For what it does,
    // see the module's documentation.
    let left = unsafe {
        let function = std::mem::transmute::<*const u8, Entry>(code.pages.as_ptr());
        function(&raw mut door, entry, budget)
    };
    Some(match left as u32 {
        FAILED => Left::Failed,
        ELSEWHERE => Left::Elsewhere,
        place => Left::At(place, (left >> 32) as u32, door.registers),
    })
}

/// Runs the machine code of the innermost frame, from the instruction at the cursor, until it hands
/// over to the interpreter. Returns the handler that goes on, whose state is saved in the machine;
/// `None` to leave the machine.
#[inline(never)]
pub(crate) fn enter_compiled(
    machine: &mut Machine<'_>,
    cursor: Cursor,
    registers: Registers,
    budget: u32,
) -> Option<Handler> {
    let index = machine.running.index(cursor) as u32;
    let compiled = machine.code.compiled.get().and_then(Option::as_ref);
    let top = std::ptr::from_ref(&index).addr();
    // SAFETY: handlers run the code of the innermost frame, and its registers are in their state.
    let left = compiled.and_then(|compiled| unsafe {
        run(&compiled.machine_code, machine, registers, index, budget, top)
    });
    let place = match left {
        Some(Left::At(place, budget, registers)) => hand_over(machine, place, budget, registers),
        Some(Left::Elsewhere) => ELSEWHERE.into(),
        Some(Left::Failed) => FAILED.into(),
        None => broken(machine, index, budget),
    };
    (place as u32 == ELSEWHERE).then_some(machine.handler)
}

/// Saves a place in the innermost frame, before which compiled code has handed over, for the
/// interpreter to go on there. Returns what compiled callers return.
pub(super) fn hand_over(
    machine: &mut Machine<'_>,
    place: u32,
    budget: u32,
    registers: Registers,
) -> u64 {
    let index = place as usize;
    let compiled = machine.code.compiled.get().and_then(Option::as_ref);
    let found = compiled.and_then(|compiled| {
        let (cursor, known) = (machine.running.cursor(index)?, *compiled.known.get(index)?);
        // The instruction there is not entered again: the interpreter runs it.
        Some((cursor, known, machine.code.free.cursor(index)?.handler()))
    });
    let Some((cursor, known, handler)) = found else { return broken(machine, place, budget) };
    machine.saved = at_hand(cursor, registers, budget, known);
    machine.handler = handler;
    ELSEWHERE.into()
}

/// Ends the run with an error of ours. Returns what compiled callers return.
#[cold]
pub(super) fn broken(machine: &mut Machine<'_>, index: u32, budget: u32) -> u64 {
    let status = Status::internal("compiled code without its function");
    machine.saved.budget = budget;
    machine.stack.set_index(index as usize);
    machine.reason = Reason::Exit(Exit::Failed(status));
    FAILED.into()
}
