//! Computing in blocks gives the same results as computing one element after the other: for all
//! element types, all layouts in memory, and special numbers.

use std::sync::Arc;

use abi::tensor::TensorType;
use vm::Buffer;

use super::budget::Budget;
use super::budget::Limits;
use super::datum::Datum;
use super::elementwise::{Computation, Operand, Stop};
use super::reduce;
use super::scalars::Each;
use super::syntax::{Binary, OPERATORS};
use crate::tensor::Number;
use crate::tensor::{Slice, TensorView};
use crate::tensor::{Statistics, Wanted};

const TYPES: [&str; 25] = [
    "i8",
    "si8",
    "ui8",
    "i16",
    "ui16",
    "si32",
    "i32",
    "ui32",
    "i64",
    "ui64",
    "i1",
    "i2",
    "ui2",
    "i3",
    "i4",
    "ui4",
    "i12",
    "f16",
    "bf16",
    "f32",
    "f64",
    "f8E5M2",
    "f8E4M3FN",
    "f8E4M3FNUZ",
    "f8E8M0FNU",
];

/// Pseudorandom numbers, the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end
    }

    /// The bits of an element: often 0, -0, an infinity, a NaN, a denormal number or a limit; often
    /// small.
    fn bits(&mut self, scalar: &TensorType) -> u64 {
        let bits = u32::from(scalar.element_type.bits);
        let mask = u64::MAX >> (64 - bits);
        if scalar.element_type.to_string() == "i1" {
            return self.next() & 1;
        }
        let exponent = match scalar.element_type.to_string().as_str() {
            "f16" => 0x7C00,
            "bf16" => 0x7F80,
            "f32" => 0x7F80_0000,
            "f64" => 0x7FF0_0000_0000_0000,
            _ => mask >> 1,
        };
        let sign = 1 << (bits - 1);
        let special = [0, sign, exponent, exponent | sign, exponent | 1, 1, mask, sign | 1];
        match self.next() % 4 {
            0 => special[self.below(special.len())],
            1 => self.next() & 3 & mask,
            2 => (self.next() & 3).wrapping_neg() & mask,
            _ => self.next() & mask,
        }
    }

    fn tensor(&mut self, shape: &[u64], scalar: &str) -> TensorView {
        let scalar = TensorType::parse(scalar).unwrap();
        let tensor_type = TensorType { shape: shape.to_vec(), ..scalar.clone() };
        let count = tensor_type.element_count().unwrap();
        let width = usize::from(scalar.element_type.bits);
        let mut bytes = vec![0_u8; (count * width).div_ceil(8)];
        for index in 0..count {
            let value = self.bits(&scalar);
            for bit in (0..width).filter(|bit| value >> bit & 1 == 1) {
                let at = index * width + bit;
                bytes[at / 8] |= 1 << (at % 8);
            }
        }
        TensorView::new(Arc::new(Buffer::from_bytes(&bytes).unwrap()), tensor_type).unwrap()
    }
}

fn slice(start: usize, end: usize, step: usize) -> Slice {
    Slice { start, count: end.saturating_sub(start).div_ceil(step), step: step as isize }
}

/// The elements from one on, back to the first.
fn back(start: usize) -> Slice {
    Slice { start, count: start + 1, step: -1 }
}

/// Tensors of a type with all kinds of layouts in memory.
fn tensors(random: &mut Random, scalar: &str) -> Vec<TensorView> {
    let lengths = [0, 1, 2, 15, 16, 17, 31, 1023, 1024, 1025, 2500];
    let mut all: Vec<_> = lengths.iter().map(|length| random.tensor(&[*length], scalar)).collect();
    let line = random.tensor(&[3000], scalar);
    all.push(line.slice(0, slice(3, 2900, 1)));
    all.push(line.slice(0, slice(5, 2999, 2)));
    all.push(line.slice(0, slice(1, 3000, 400)));
    let matrix = random.tensor(&[37, 301], scalar);
    all.push(matrix.pick(1, 7));
    all.push(matrix.pick(0, 7));
    all.push(matrix.slice(1, slice(1, 300, 3)).slice(0, slice(0, 37, 2)));
    all.push(matrix.slice(1, slice(299, 301, 1)));
    all.push(matrix.slice(0, slice(9, 9, 1)));
    all.push(line.slice(0, back(2999)));
    all.push(line.slice(0, slice(3, 2900, 7)).slice(0, back(400)));
    all.push(matrix.slice(0, back(36)).slice(1, back(300)));
    all.push(matrix.slice(0, back(20)));
    all.push(matrix.transposed());
    all.push(matrix.transposed().slice(0, back(150)));
    let cube = random.tensor(&[5, 1, 13, 21], scalar);
    all.push(cube.slice(2, slice(2, 9, 1)));
    all.push(cube.slice(3, slice(0, 21, 20)).pick(1, 0));
    all.push(cube.pick(0, 3).pick(1, 2));
    all
}

/// The elements of a tensor, each read by itself.
fn elements(tensor: &TensorView) -> Vec<Number> {
    let mut found = Vec::new();
    tensor.each(|number| {
        found.push(number);
        true
    });
    assert_eq!(found.len(), tensor.count());
    found
}

/// The sum as it is defined: sixteen sums per block of 1,024, added half to half.
fn sum(numbers: &[f64]) -> f64 {
    numbers.chunks(1024).fold(0.0, |sum, block| {
        let mut lanes: Vec<f64> = (0..16)
            .map(|lane| block.iter().skip(lane).step_by(16).fold(0.0, |a, b| a + b))
            .collect();
        while lanes.len() > 1 {
            let upper = lanes.split_off(lanes.len() / 2);
            lanes.iter_mut().zip(upper).for_each(|(lane, other)| *lane += other);
        }
        sum + lanes[0]
    })
}

fn same(left: f64, right: f64) -> bool {
    left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan()
}

fn same_number(left: Number, right: Number) -> bool {
    match (left, right) {
        (Number::Float(left), Number::Float(right)) => same(left, right),
        (left, right) => left == right,
    }
}

/// The first of the elements that no other one precedes.
fn extreme(
    elements: &[Number],
    precedes: impl Fn(Number, Number) -> bool,
) -> Option<(usize, Number)> {
    let mut found: Option<(usize, Number)> = None;
    for (index, number) in elements.iter().enumerate() {
        if !number.float().is_nan() && found.is_none_or(|(_, known)| precedes(*number, known)) {
            found = Some((index, *number));
        }
    }
    found
}

fn is_less(left: Number, right: Number) -> bool {
    match (left, right) {
        (Number::Integer(left), Number::Integer(right)) => left < right,
        _ => left.float() < right.float(),
    }
}

#[test]
fn statistics_are_those_of_one_element_after_the_other() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for scalar in TYPES {
        for tensor in tensors(&mut random, scalar) {
            let elements = elements(&tensor);
            let floats: Vec<f64> = elements.iter().map(|number| number.float()).collect();
            let found = Statistics::of(&tensor, usize::MAX, Wanted::ALL).unwrap();
            let what = format!("{} {:?}", tensor.type_name(), tensor.strides());
            assert_eq!(found.count, elements.len(), "{what}");
            let many = |test: fn(f64) -> bool| floats.iter().filter(|it| test(**it)).count();
            assert_eq!(found.nans, many(f64::is_nan), "{what}");
            assert_eq!(found.infinities, many(f64::is_infinite), "{what}");
            assert_eq!(found.zeros, many(|it| it == 0.0), "{what}");
            let exact = elements.iter().try_fold(0_i128, |sum, number| match number {
                Number::Integer(value) => Some(sum + value),
                Number::Float(_) => None,
            });
            let expected = exact.map_or(Number::Float(sum(&floats)), Number::Integer);
            assert!(same_number(found.sum(), expected), "{what}: {found:?} {expected:?}");
            assert!(same(found.mean(), expected.float() / floats.len() as f64), "{what}");
            let squares: Vec<f64> = floats.iter().map(|it| it * it).collect();
            assert!(same(found.squares, sum(&squares)), "{what}: {found:?}");
            let pairs = [
                (found.smallest, extreme(&elements, is_less)),
                (found.largest, extreme(&elements, |a, b| is_less(b, a))),
            ];
            for (found, expected) in pairs {
                let agrees = match (found, expected) {
                    (Some((at, found)), Some((index, expected))) => {
                        at == index && same_number(found, expected)
                    }
                    (found, expected) => found.is_none() && expected.is_none(),
                };
                assert!(agrees, "{what}: {found:?} instead of {expected:?}");
            }
        }
    }
}

#[test]
fn statistics_of_a_part_are_those_of_its_elements() {
    let tensor = Random(7).tensor(&[5000], "f32");
    for most in [0, 1, 1023, 1024, 1025, 4999, 5000, 6000] {
        let part = tensor.slice(0, slice(0, most.min(5000), 1));
        let found = Statistics::of(&tensor, most, Wanted::ALL).unwrap();
        let expected = Statistics::of(&part, usize::MAX, Wanted::ALL).unwrap();
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }
}

fn budget() -> Budget {
    Budget::new(Limits::default())
}

fn operand(tensor: &TensorView) -> Computation {
    Operand::Datum(Datum::Tensor(tensor.clone())).computation().unwrap()
}

/// The type and the bytes of a computed tensor, or the error. All NaNs are alike.
fn outcome(result: Result<Datum, super::ExpressionError>) -> Result<(String, Vec<String>), String> {
    let tensor = result.map_err(|error| error.to_string())?.tensor().unwrap();
    let text = |number: &Number| match number {
        Number::Float(value) if value.is_nan() => "nan".to_owned(),
        Number::Float(value) => format!("{:x}", value.to_bits()),
        Number::Integer(value) => value.to_string(),
    };
    Ok((tensor.type_name(), elements(&tensor).iter().map(text).collect()))
}

#[test]
fn operators_are_those_on_single_numbers() {
    let mut random = Random(42);
    let (mut regular, mut all) = (0, 0);
    for (index, scalar) in TYPES.iter().enumerate() {
        for (_, operator, _) in OPERATORS {
            if matches!(operator, Binary::Or | Binary::And | Binary::MatrixProduct) {
                continue;
            }
            let other = [scalar, TYPES[(index + 7) % TYPES.len()], "i64", "f32"][random.below(4)];
            let length = [0, 1, 7, 1024, 1500][random.below(5)];
            let left = random.tensor(&[length, 2], scalar).slice(1, slice(0, 1, 1));
            let right = match random.below(3) {
                0 => Datum::Number([Number::Integer(3), Number::Float(-0.5)][random.below(2)]),
                _ => Datum::Tensor(random.tensor(&[length, 1], other)),
            };
            let right = Operand::Datum(right).computation().unwrap();
            let both = match random.below(2) {
                0 => Computation::binary(operator, operand(&left), right, &(0..1)),
                _ => Computation::binary(operator, right, operand(&left), &(0..1)),
            };
            let each = [
                Each::Magnitude,
                Each::Float(f64::sqrt, |values| values.iter_mut().for_each(|it| *it = it.sqrt())),
            ];
            let computation = match random.below(3) {
                0 => both.unwrap().each(each[random.below(2)], &(0..1)),
                _ => both.unwrap(),
            };
            let expected = outcome(computation.one_by_one(&mut budget()));
            let found = outcome(computation.value(&mut budget()));
            assert_eq!(found, expected, "{scalar} {} {other}", operator.text());
            all += 1;
            let mut summary = Statistics::default();
            let Ok(()) = computation.summarize(Wanted::ALL, &mut summary, &mut budget()) else {
                continue;
            };
            regular += 1;
            let stored = computation.value(&mut budget()).unwrap().tensor().unwrap();
            let expected = Statistics::of(&stored, usize::MAX, Wanted::ALL).unwrap();
            let what = format!("{scalar} {} {other}", operator.text());
            if stored.count() > 0 {
                assert_eq!(format!("{summary:?}"), format!("{expected:?}"), "{what}");
            }
        }
    }
    // Most cases of this test must be computed in blocks, not left to single numbers.
    assert!(regular * 2 > all, "{regular} of {all}");
}

#[test]
fn what_no_block_holds_is_computed_all_the_same() {
    let number = |value| Operand::Datum(Datum::Number(value)).computation().unwrap();
    let tensor = |values: &[i64]| {
        let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        let tensor_type = TensorType::parse(&format!("{}xi64", values.len())).unwrap();
        TensorView::new(Arc::new(Buffer::from_bytes(&bytes).unwrap()), tensor_type).unwrap()
    };
    let mut values = vec![1; 3000];
    values[2900] = i64::MAX;
    let large = tensor(&values);
    let sum =
        Computation::binary(Binary::Add, operand(&large), number(Number::Integer(1)), &(0..1));
    let (type_name, elements) = outcome(sum.unwrap().value(&mut budget())).unwrap();
    assert_eq!((type_name.as_str(), elements.len()), ("3000xf64", 3000));
    assert_eq!(elements[2900], format!("{:x}", 9_223_372_036_854_775_808.0_f64.to_bits()));
    let quotient = Computation::binary(
        Binary::Divide,
        operand(&large),
        operand(&tensor(&vec![0; 3000])),
        &(3..9),
    );
    let error = quotient.unwrap().value(&mut budget()).unwrap_err();
    assert_eq!((error.to_string().as_str(), error.span), ("division by zero", 3..9));
}

#[test]
fn functions_take_what_is_computed() {
    let tensor = Random(3).tensor(&[40, 50], "i16");
    let halves = |tensor: &TensorView| {
        let two = Operand::Datum(Datum::Number(Number::Float(2.0))).computation().unwrap();
        Computation::binary(Binary::Divide, operand(tensor), two, &(0..1)).unwrap()
    };
    let computed = [Operand::Computation(halves(&tensor))];
    let stored = halves(&tensor).value(&mut budget()).unwrap();
    let stored = [Operand::Datum(stored)];
    for name in ["min", "max", "mean", "sum", "norm", "std", "zeros", "any", "all", "argmax"] {
        let function = reduce::named(name).unwrap();
        let call = |operands| format!("{:?}", function.call(operands, &(0..1), &mut budget()));
        assert_eq!(call(&computed), call(&stored), "{name}");
    }
}

#[test]
fn a_budget_ends_what_is_computed_in_blocks() {
    let tensor = Random(3).tensor(&[1 << 17], "i8");
    let limits = Limits::default();
    limits.cancel.cancel();
    let function = reduce::named("max").unwrap();
    let operands = [Operand::Datum(Datum::Tensor(tensor.clone()))];
    let result = function.call(&operands, &(0..1), &mut Budget::new(limits.clone()));
    let Err(Stop::Because(reason)) = result else { panic!("{result:?}") };
    assert_eq!(reason.to_string(), "max: the evaluation was cancelled");
    let doubled = Computation::binary(Binary::Add, operand(&tensor), operand(&tensor), &(0..5));
    let error = doubled.unwrap().value(&mut Budget::new(limits)).unwrap_err();
    assert_eq!((error.to_string().as_str(), error.span), ("the evaluation was cancelled", 0..5));
}
