//! Complex tensors as callers have them: real and imaginary parts by turns.

use std::sync::Arc;

use abi::element_type::{ElementType, NumericalKind};
use abi::tensor::Tensor;

use crate::dispatch::dispatch::Argument;
use crate::dispatch::output::{Elements, Output};
use crate::refusal::{Refusal, Result};

/// Every second one, from the first on or from the second on.
fn every_second<T: Clone>(all: &[T], from: usize) -> Vec<T> {
    all.iter().skip(from).step_by(2).cloned().collect()
}

/// The real and the imaginary part of an argument, which has complex elements, or floats and a last
/// dimension of 2.
pub(super) fn argument(argument: &Argument) -> Result<[Argument; 2]> {
    let of = |from: usize| {
        Ok(match argument {
            Argument::Tensor(tensor) => Argument::Tensor(part(tensor, from)?),
            Argument::Uncertain(tensor, bounds) => {
                Argument::Uncertain(part(tensor, from)?, every_second(bounds, from))
            }
            Argument::Unrounded(tensor, values) => {
                Argument::Unrounded(part(tensor, from)?, every_second(values, from))
            }
            Argument::Computed(output) => Argument::Computed(Arc::new(part_of(output, from)?)),
            Argument::Integer(_) | Argument::Float(_) => {
                return Err(Refusal::arguments("expected a complex tensor"));
            }
        })
    };
    Ok([of(0)?, of(1)?])
}

fn no_parts(type_: impl std::fmt::Display) -> Refusal {
    Refusal::arguments(format!("{type_} for complex numbers"))
}

fn part(tensor: &Tensor, from: usize) -> Result<Tensor> {
    let (mut shape, mut element_type) = (tensor.shape.clone(), tensor.element_type);
    if element_type.kind == NumericalKind::ComplexFloat {
        element_type = ElementType { kind: NumericalKind::Float, bits: element_type.bits / 2 };
    } else if shape.pop() != Some(2) {
        return Err(no_parts(tensor.tensor_type()));
    }
    let bytes: Vec<&[u8]> = tensor.bytes.chunks(element_type.byte_count().max(1)).collect();
    Ok(Tensor { shape, element_type, bytes: every_second(&bytes, from).concat() })
}

fn part_of(output: &Output, from: usize) -> Result<Output> {
    let mut it = output.clone();
    let Elements::Floats(values) = &output.values else {
        return Err(no_parts(output.element_type));
    };
    if it.shape.pop() != Some(2) {
        return Err(no_parts(output.element_type));
    }
    it.values = Elements::Floats(every_second(values, from));
    it.bounds = every_second(&output.bounds, from);
    it.written = every_second(&output.written, from);
    Ok(it)
}

/// An output with a last dimension of 2, from both parts.
pub(super) fn joined(real: Output, imaginary: &Output) -> Output {
    let by_turns = |a: &[f64], b: &[f64]| a.iter().zip(b).flat_map(|(a, b)| [*a, *b]).collect();
    let mut it = real;
    if let (Elements::Floats(a), Elements::Floats(b)) = (&it.values, &imaginary.values) {
        it.values = Elements::Floats(by_turns(a, b));
    }
    it.bounds = by_turns(&it.bounds, &imaginary.bounds);
    // Both parts are written at once.
    it.written = it.written.iter().flat_map(|is_written| [*is_written; 2]).collect();
    it.shape.push(2);
    if it.reason != imaginary.reason {
        it.reason = format!("{}; {}", it.reason, imaginary.reason);
    }
    it
}
