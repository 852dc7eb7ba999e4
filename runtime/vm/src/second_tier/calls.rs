//! Calls from compiled code to compiled code.
//!
//! A frame is pushed and popped as the interpreter does it; only the code that runs in it is
//! another. If the callee hands over to the interpreter anywhere but at its `return`, so do all
//! compiled callers: their frames are whole, with the index of the call in them, and the
//! interpreter returns to them in its own time. So the host's stack is never more than a short cut.

use std::time::Duration;

use super::compile::compile_slot;
use super::unit::{Door, ELSEWHERE, FAILED, Left, RETURNED, broken, hand_over, run};
use crate::code::{Code, Compiled};
use crate::machine::{Dispatch, Free, Handler, Machine, State, enter, give_back};

/// How much of the host's stack compiled code may take for calls, in bytes. Threads have 2 MiB.
const DEEPEST: usize = 256 << 10;

/// The time that a call counts for when it is decided whether the callee is hot.
const CALL: Duration = Duration::from_nanos(100);

/// Calls bytecode, by the call instruction at `index`, which has been counted. Returns
/// [`RETURNED`] and the budget left once the callee has returned; otherwise the interpreter goes on.
///
/// # Safety
/// The door is the one that compiled code was entered by, the code that of the innermost frame.
pub(super) unsafe extern "C" fn call(door: *mut Door, index: u32, budget: u32) -> u64 {
    // SAFETY: the caller's promise. No other code uses the machine while compiled code runs.
    let (machine, registers, top): (&mut Machine<'_>, _, _) =
        unsafe { (&mut *(*door).machine.cast(), (*door).registers, (*door).top) };
    let Some(cursor) = machine.running.cursor(index as usize) else {
        return broken(machine, index, budget);
    };
    let Some(mut state) = enter::<Free>(State::at(cursor, registers, budget), machine) else {
        return FAILED.into();
    };
    let here = std::ptr::from_ref(&budget).addr();
    let compiled = callee(machine, &mut state).filter(|_| top.abs_diff(here) < DEEPEST);
    let first = machine.running.index(state.cursor) as u32;
    // SAFETY: the frame of this code was pushed just now, and these are its registers.
    let left = compiled.and_then(|compiled| unsafe {
        run(&compiled.machine_code, machine, state.registers, first, state.budget, top)
    });
    match left {
        // It is not compiled, or not entered at its beginning.
        None => {
            machine.saved = state;
            machine.handler = state.cursor.handler();
            ELSEWHERE.into()
        }
        Some(Left::Failed) => FAILED.into(),
        Some(Left::Elsewhere) => ELSEWHERE.into(),
        Some(Left::At(place, budget, registers)) => {
            match machine.running.cursor(place as usize) {
                Some(cursor) if cursor.instr().code == Code::Return => {
                    let state = State::at(cursor, registers, budget);
                    let Some(state) = give_back::<Free>(state, machine) else {
                        return FAILED.into();
                    };
                    // The stack may have moved.
                    // SAFETY: the caller's promise.
                    unsafe {
                        (*door).registers = state.registers;
                        (*door).refs = machine.refs;
                    }
                    u64::from(RETURNED) | u64::from(state.budget) << 32
                }
                _ => hand_over(machine, place, budget, registers),
            }
        }
    }
}

/// The machine code of the function that was entered, which is compiled now if it is hot. Then the
/// state continues in its compiled form.
fn callee<'a>(machine: &mut Machine<'a>, state: &mut State) -> Option<&'a Compiled<Handler>> {
    let slot = &machine.functions[machine.stack.frames.last()?.slot as usize];
    if slot.armed.is_some() {
        return None;
    }
    if machine.code.compiled.get().is_none() {
        if machine.code.heat.add(CALL)
            < machine.limits.second_tier.hot_after(machine.code.instructions.len())?
        {
            return None;
        }
        compile_slot(slot, machine.globals);
        let index = machine.running.index(state.cursor);
        machine.running = Free::code(slot)?.1;
        state.cursor = machine.running.cursor(index)?;
    }
    machine.code.compiled.get()?.as_ref()
}
