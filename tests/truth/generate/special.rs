//! Arguments: ordinary numbers, and those at which guards act.

use crate::program::{Inputs, Kind, Program, Type, Value};
use crate::random::Random;

/// Arguments for the entry function.
pub(crate) fn inputs(random: &mut Random, program: &Program) -> Inputs {
    let mut inputs = Inputs::default();
    let constants = constants(program);
    let entry = program.entry();
    for id in entry.parameters() {
        let kind = entry.kind(*id);
        if let Type::Tensor(rows, columns) = kind {
            let count = usize::from(rows) * usize::from(columns).max(1);
            let is_special = random.chance(2);
            let elements = (0..count).map(|_| element(random, is_special, &constants)).collect();
            inputs.tensors.push(elements);
            inputs.values.push(Value::Tensor(inputs.tensors.len() - 1));
            continue;
        }
        let special = random.chance(3).then(|| special(random, kind, &constants)).flatten();
        inputs.values.push(special.unwrap_or_else(|| ordinary(random, kind)));
    }
    inputs
}

fn ordinary(random: &mut Random, kind: Type) -> Value {
    match kind {
        Type::I32 => Value::Integer(i64::from(random.number() as i32)),
        Type::I64 if random.chance(2) => Value::Integer((random.bits() >> 20).cast_signed()),
        Type::F32 => Value::F32(random.below(2000) as f32 / 16.0 - 60.0),
        Type::F64 => Value::F64(random.below(20_000) as f64 / 16.0 - 600.0),
        _ => Value::Integer(random.number()),
    }
}

/// All numbers that the program has as constants.
fn constants(program: &Program) -> Vec<Value> {
    let operations = program.functions.iter().flat_map(|function| function.operations());
    let constants = operations.filter_map(|operation| match operation.kind {
        Kind::Constant(value) => Some(value),
        _ => None,
    });
    constants.collect()
}

/// NaN, an infinity, an extreme, a zero, or a constant of the program, its neighbour or its square
/// root.
fn special(random: &mut Random, kind: Type, constants: &[Value]) -> Option<Value> {
    let step = random.below(3);
    let is_root = random.chance(2);
    let picked = |random: &mut Random, all: Vec<Value>| {
        (!all.is_empty()).then(|| *random.choose(&all)).filter(|_| random.chance(2))
    };
    Some(match kind {
        Type::I32 | Type::I64 => {
            let own = constants.iter().filter(|it| matches!(it, Value::Integer(_))).copied();
            let Value::Integer(constant) = picked(random, own.collect())? else { return None };
            let root = constant.max(0).isqrt();
            let constant = if is_root && root * root == constant { root } else { constant };
            let near = constant.wrapping_add(step as i64 - 1);
            Value::Integer(if kind == Type::I32 { i64::from(near as i32) } else { near })
        }
        Type::F32 => {
            let own = constants.iter().filter(|it| matches!(it, Value::F32(_))).copied();
            match picked(random, own.collect()) {
                Some(Value::F32(constant)) => {
                    Value::F32([constant, constant.next_up(), constant.next_down()][step])
                }
                _ => Value::F32(*random.choose(&[
                    f32::NAN,
                    f32::NAN,
                    f32::INFINITY,
                    f32::NEG_INFINITY,
                    f32::NEG_INFINITY,
                    0.0,
                    -0.0,
                    f32::MAX,
                    f32::MIN,
                    f32::MIN_POSITIVE,
                    1.0e-20,
                    f32::from_bits(1),
                ])),
            }
        }
        Type::F64 => {
            let own = constants.iter().filter(|it| matches!(it, Value::F64(_))).copied();
            match picked(random, own.collect()) {
                Some(Value::F64(constant)) => {
                    Value::F64([constant, constant.next_up(), constant.next_down()][step])
                }
                _ => Value::F64(*random.choose(&[
                    f64::NAN,
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                    0.0,
                    -0.0,
                    f64::MAX,
                    f64::MIN,
                    f64::MIN_POSITIVE,
                    f64::from_bits(1),
                ])),
            }
        }
        _ => return None,
    })
}

/// An element of a tensor. Sums of these do not depend on the order.
fn element(random: &mut Random, is_special: bool, constants: &[Value]) -> f32 {
    let ordinary = random.below(33) as f32 - 16.0;
    if !is_special || !random.chance(3) {
        return ordinary;
    }
    let whole = constants.iter().filter_map(|it| match it {
        Value::F32(value) if value.fract() == 0.0 && value.abs() < 100_000.0 => Some(*value),
        _ => None,
    });
    let whole: Vec<f32> = whole.collect();
    match random.below(6) {
        0 | 1 => f32::NAN,
        2 => f32::INFINITY,
        3 => f32::NEG_INFINITY,
        4 if !whole.is_empty() => *random.choose(&whole) + random.below(3) as f32 - 1.0,
        _ => -0.0,
    }
}
