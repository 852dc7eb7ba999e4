//! Moving values between frames, and between frames and the outside.

use vmfb::Register;

use super::outside::collect;
use super::state::{Cursor, Dispatch, Exit, Machine, Reason, State};
use crate::code::{Slot, plan_of_call};
use crate::errors::Status;
use crate::modules::Target;
use crate::objects::Ref;
use crate::stack::{Base, Refs, Stack, read_ref, ref_index};

/// Enters the callee of the running call: pushes its frame and passes the arguments. `None` to
/// leave the machine.
#[inline(always)]
pub(crate) fn enter<D: Dispatch>(mut state: State, machine: &mut Machine<'_>) -> Option<State> {
    let (cursor, budget) = (state.cursor, state.budget);
    let code = machine.code;
    let plan = code.calls.get(cursor.instr().low())?;
    let Target::Bytecode(callee) = plan.target else {
        no_callee(machine, cursor, budget);
        return None;
    };
    let slot = &machine.functions[callee as usize];
    let Some((code, running)) = D::code(slot) else {
        untranslated(machine, cursor, budget, callee);
        return None;
    };
    // Starts after the block marker, which only observers count.
    let Some(first) = running.cursor(usize::from(!D::OBSERVES)) else {
        no_callee(machine, cursor, budget);
        return None;
    };
    let index = machine.running.index(cursor);
    machine.stack.set_index(index);
    let size = (slot.word_count, slot.ref_count);
    if !machine.stack.try_push(callee, size, machine.limits)
        && !push(machine, cursor, budget, callee, size)
    {
        return None;
    }
    let [.., caller, callee] = &machine.stack.frames[..] else {
        no_callee(machine, cursor, budget);
        return None;
    };
    let (caller, callee) = (caller.base(), callee.base());
    // SAFETY: nothing moves the stack until these registers are in the next state, and the caller's
    // registers are no longer used.
    let (from, to) = unsafe { machine.stack.registers(caller, callee) };
    for (source, target) in &plan.pairs {
        to.set_pair(*target, from.pair(*source));
    }
    for (source, target) in &plan.words {
        to.set_word(*target, from.word(*source));
    }
    let (caller_refs, callee_refs) = machine.stack.refs.split_at_mut(callee.reference);
    if !plan.refs.is_empty() {
        pass_refs(&plan.refs, &mut caller_refs[caller.reference..], callee_refs);
    }
    // SAFETY: as for the registers.
    machine.refs = unsafe { Refs::new(callee_refs) };
    state.registers = to;
    state.cursor = first;
    (machine.code, machine.running) = (code, running);
    machine.enter_module(slot.module);
    Some(state)
}

#[inline(never)]
fn pass_refs(plan: &[(u16, u16)], from: &mut [Ref], to: &mut [Ref]) {
    for (source, target) in plan {
        to[ref_index(*target)] = read_ref(from, *source);
    }
}

/// Pushes a frame when that takes more than a few instructions. False to leave the machine.
#[cold]
#[inline(never)]
fn push(
    machine: &mut Machine<'_>,
    cursor: Cursor,
    budget: u32,
    callee: u32,
    (words, refs): (u32, u32),
) -> bool {
    match machine.stack.push(callee, words, refs, machine.limits) {
        Ok(_) => true,
        Err(status) => {
            machine.leave(cursor, budget, Reason::Exit(Exit::Failed(status)));
            false
        }
    }
}

#[cold]
#[inline(never)]
fn untranslated(machine: &mut Machine<'_>, cursor: Cursor, budget: u32, callee: u32) {
    // The call counts itself again when it runs again.
    machine.run_again(cursor);
    machine.leave(cursor, budget + 1, Reason::Untranslated(callee));
}

#[cold]
#[inline(never)]
fn no_callee(machine: &mut Machine<'_>, cursor: Cursor, budget: u32) {
    let status = Status::internal("a call without a callee, or a return without a call");
    machine.leave(cursor, budget, Reason::Exit(Exit::Failed(status)));
}

/// Returns to the caller of the running function: copies the results (the registers in the list of
/// the running instruction) to where the caller's plan wants them. `None` to leave the machine.
#[inline(always)]
pub(crate) fn give_back<D: Dispatch>(mut state: State, machine: &mut Machine<'_>) -> Option<State> {
    let (cursor, budget) = (state.cursor, state.budget);
    let list = machine.code.lists.get(cursor.instr().low())?;
    let [.., caller, callee] = &machine.stack.frames[machine.stack.floor..] else {
        complete(machine, cursor, budget, list);
        return None;
    };
    let slot = &machine.functions[caller.slot as usize];
    let index = caller.index;
    let (caller, callee) = (caller.base(), callee.base());
    let found = D::code(slot).and_then(|(code, running)| {
        let plan = plan_of_call(code, index)?;
        Some((code, running, plan, running.cursor(plan.next as usize)?))
    });
    let Some((code, running, plan, next)) = found else {
        no_callee(machine, cursor, budget);
        return None;
    };
    // SAFETY: nothing moves the stack until these registers are in the next state, and the callee's
    // registers are no longer used.
    let (to, from) = unsafe { machine.stack.registers(caller, callee) };
    for (register, target) in list.iter().zip(&plan.results) {
        match *target {
            // Without a signature, the banks have not been compared.
            Slot::Word(target) if !Register(*register).is_ref() => {
                to.set_word(target, from.word(*register));
            }
            Slot::Pair(target) => to.set_pair(target, from.pair(*register / 2)),
            Slot::Ref(target) if Register(*register).is_ref() => {
                give_ref(machine.stack, (callee, *register), (caller, target));
            }
            _ => {}
        }
    }
    machine.stack.pop();
    // SAFETY: as for the registers.
    machine.refs = unsafe { Refs::new(&mut machine.stack.refs[caller.reference..]) };
    state.registers = to;
    state.cursor = next;
    (machine.code, machine.running) = (code, running);
    machine.enter_module(slot.module);
    Some(state)
}

#[inline(never)]
fn give_ref(stack: &mut Stack, (callee, register): (Base, u16), (caller, target): (Base, u16)) {
    let (caller_refs, callee_refs) = stack.refs.split_at_mut(callee.reference);
    caller_refs[caller.reference + ref_index(target)] = read_ref(callee_refs, register);
}

/// Ends the run with the results of the outermost function.
#[cold]
#[inline(never)]
fn complete(machine: &mut Machine<'_>, cursor: Cursor, budget: u32, list: &[u16]) {
    let Some(frame) = machine.stack.frames.last() else { return };
    let (slot, base) = (&machine.functions[frame.slot as usize], frame.base());
    let signature = machine.modules[slot.module.index()].signature(slot.ordinal);
    let results = collect(machine.stack, base, list, signature);
    machine.leave(cursor, budget, Reason::Exit(Exit::Completed(results)));
    machine.stack.pop();
}
