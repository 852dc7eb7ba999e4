//! Moving values between frames, and between frames and the outside.

use abi::cconv::{Signature, ValueType};
use vmfb::Register;

use crate::calls::{argument_slots, slot, slot_by_bank};
use crate::code::{CallPlan, FunctionCode, NativeArgument, Slot, Target};
use crate::cursor::Cursor;
use crate::interpreter::Exit;
use crate::machine::{Dispatch, Machine, Reason, State};
use crate::objects::check_type;
use crate::registers::Refs;
use crate::stack::{Base, Stack, WINDOW};
use crate::status::Status;
use crate::types::Type;
use crate::value::{Ref, Value};

/// The index of a ref register.
#[inline(always)]
pub(crate) fn ref_index(register: u16) -> usize {
    usize::from(register & Register::MAX_REF)
}

/// Whether a ref register gives its ref away.
#[inline(always)]
pub(crate) fn is_move(register: u16) -> bool {
    register & Register::MOVE_BIT != 0
}

/// The ref in a register, taken out of it if the register has the move bit.
#[inline(always)]
pub(crate) fn read_ref(refs: &mut [Ref], register: u16) -> Ref {
    let source = &mut refs[ref_index(register)];
    if is_move(register) { std::mem::take(source) } else { source.clone() }
}

/// The same, if it is of the type.
#[inline(always)]
pub(crate) fn read_checked_ref(
    refs: &mut [Ref],
    register: u16,
    ref_type: &Type,
) -> Result<Ref, Status> {
    check_type(ref_type, &refs[ref_index(register)])?;
    Ok(read_ref(refs, register))
}

/// The plan of the call that the instruction at `index` is.
#[inline]
pub(crate) fn call_plan(code: &FunctionCode, index: u32) -> Option<&CallPlan> {
    let call = code.instructions.get(index as usize).filter(|instr| instr.code.is_call())?;
    code.calls.get(call.low())
}

/// Enters the callee of the running call: pushes its frame and passes it the arguments. `None` to
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
    // Past the block marker, which is there for those who count.
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
    // SAFETY: nothing moves the stack before these are in the state that goes on, and the caller's
    // are not used any more.
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
    // The call counts itself once more when it is run again.
    machine.run_again(cursor);
    machine.leave(cursor, budget + 1, Reason::Untranslated(callee));
}

#[cold]
#[inline(never)]
fn no_callee(machine: &mut Machine<'_>, cursor: Cursor, budget: u32) {
    let status = Status::internal("a call without a callee, or a return without a call");
    machine.leave(cursor, budget, Reason::Exit(Exit::Failed(status)));
}

/// Returns to the caller of the running function: copies the results, the registers in the list of
/// the running instruction, to where the caller's plan wants them. `None` to leave the machine.
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
        let plan = call_plan(code, index)?;
        Some((code, running, plan, running.cursor(plan.next as usize)?))
    });
    let Some((code, running, plan, next)) = found else {
        no_callee(machine, cursor, budget);
        return None;
    };
    // SAFETY: nothing moves the stack before these are in the state that goes on, and the callee's
    // are not used any more.
    let (to, from) = unsafe { machine.stack.registers(caller, callee) };
    for (register, target) in list.iter().zip(&plan.results) {
        match *target {
            // Without a signature nobody has compared the banks.
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

/// Makes `target` the arguments of a native function.
pub(crate) fn gather(
    target: &mut Vec<Value>,
    plan: &CallPlan,
    pairs: &[u64; WINDOW],
    refs: &mut [Ref],
) {
    let words = bytemuck::must_cast_ref::<[u64; WINDOW], [u32; 2 * WINDOW]>(pairs);
    let word = |register: u16| words[usize::from(register)];
    let pair = |register: u16| pairs[usize::from(register)];
    let values = plan.arguments.iter().map(|argument| match *argument {
        NativeArgument::I32(register) => Value::I32(word(register).cast_signed()),
        NativeArgument::I64(register) => Value::I64(pair(register).cast_signed()),
        NativeArgument::F32(register) => Value::F32(f32::from_bits(word(register))),
        NativeArgument::F64(register) => Value::F64(f64::from_bits(pair(register))),
        NativeArgument::Ref(register) => Value::Ref(read_ref(refs, register)),
        NativeArgument::Count(count) => Value::I32(count.into()),
    });
    target.clear();
    target.extend(values);
}

/// Stores the results of a native function.
pub(crate) fn scatter(
    results: impl IntoIterator<Item = Value, IntoIter: ExactSizeIterator>,
    plan: &CallPlan,
    pairs: &mut [u64; WINDOW],
    refs: &mut [Ref],
) -> Result<(), Status> {
    let results = results.into_iter();
    if results.len() < plan.results.len() {
        return Err(Status::internal(format!(
            "the native function returned {} results where {} are declared",
            results.len(),
            plan.results.len()
        )));
    }
    for (value, target) in results.zip(&plan.results) {
        store(value, *target, pairs, refs)?;
    }
    Ok(())
}

/// Puts a value into registers.
pub(crate) fn store(
    value: Value,
    target: Slot,
    pairs: &mut [u64; WINDOW],
    refs: &mut [Ref],
) -> Result<(), Status> {
    let mut set_word = |register: u16, bits: u32| {
        let words = bytemuck::must_cast_mut::<[u64; WINDOW], [u32; 2 * WINDOW]>(pairs);
        words[usize::from(register)] = bits;
    };
    match (target, value) {
        (Slot::Word(register), Value::I32(value)) => set_word(register, value.cast_unsigned()),
        (Slot::Word(register), Value::F32(value)) => set_word(register, value.to_bits()),
        (Slot::Pair(register), Value::I64(value)) => {
            pairs[usize::from(register)] = value.cast_unsigned();
        }
        (Slot::Pair(register), Value::F64(value)) => {
            pairs[usize::from(register)] = value.to_bits();
        }
        (Slot::Ref(register), Value::Ref(value)) => match refs.get_mut(ref_index(register)) {
            Some(target) => *target = value,
            None => return Err(Status::internal("a ref register that the frame does not have")),
        },
        (_, value) => {
            return Err(Status::internal(format!(
                "a value of type {} where the signature has another",
                value.value_type()
            )));
        }
    }
    Ok(())
}

/// Passes arguments from outside to the innermost frame.
pub(crate) fn pass(
    stack: &mut Stack,
    frame: Base,
    arguments: Vec<Value>,
    signature: Option<&Signature>,
) -> Result<(), Status> {
    let by_value: Vec<ValueType>;
    let types = match signature {
        Some(signature) => &signature.arguments,
        None => {
            by_value = arguments.iter().map(Value::value_type).collect();
            &by_value
        }
    };
    let pairs = stack.words[frame.word..].first_chunk_mut::<WINDOW>();
    let pairs = pairs.ok_or_else(|| Status::internal("the stack is shorter than its frames"))?;
    let refs = &mut stack.refs[frame.reference..];
    for (value, target) in arguments.into_iter().zip(argument_slots(types)) {
        store(value, target, pairs, refs)?;
    }
    Ok(())
}

/// The results of the outermost function, for the outside.
pub(crate) fn collect(
    stack: &mut Stack,
    frame: Base,
    list: &[u16],
    signature: Option<&Signature>,
) -> Vec<Value> {
    let Stack { words, refs, .. } = stack;
    let pair = |number: u16| words[frame.word + usize::from(number)];
    let word = |ordinal: u16| {
        let pair = pair(ordinal / 2);
        (if ordinal & 1 == 0 { pair } else { pair >> 32 }) as u32
    };
    let mut value = |slot: Slot, is_float: bool| match slot {
        Slot::Word(ordinal) if is_float => Value::F32(f32::from_bits(word(ordinal))),
        Slot::Word(ordinal) => Value::I32(word(ordinal).cast_signed()),
        Slot::Pair(number) if is_float => Value::F64(f64::from_bits(pair(number))),
        Slot::Pair(number) => Value::I64(pair(number).cast_signed()),
        Slot::Ref(register) => Value::Ref(read_ref(&mut refs[frame.reference..], register)),
    };
    let registers = list.iter().map(|register| Register(*register));
    match signature {
        Some(signature) => registers
            .zip(&signature.results)
            .map(|(register, value_type)| {
                let is_float = matches!(value_type, ValueType::F32 | ValueType::F64);
                value(slot(register, value_type), is_float)
            })
            .collect(),
        None => registers.map(|register| value(slot_by_bank(register), false)).collect(),
    }
}
