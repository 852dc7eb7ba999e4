//! Values between registers and the outside: native functions, and callers of invocations.

use abi::cconv::{Signature, ValueType};
use vmfb::Register;

use crate::code::{CallPlan, NativeArgument, Slot, argument_slots, slot, slot_by_bank};
use crate::errors::Status;
use crate::objects::{Ref, Value};
use crate::stack::{Base, Stack, WINDOW, read_ref, ref_index};

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
