//! Values: tensors of floats or integers, each with a bound of its error.

use std::sync::Arc;

use abi::element_type::NumericalKind;

use crate::refusal::{Refusal, Result};
use mlir::Element;

/// An integer of this width in the form that all values have: with its sign in all bits above,
/// except that a boolean is 0 or 1.
pub(crate) fn canonical(value: i64, width: u32) -> i64 {
    match width {
        1 => value & 1,
        2..64 => value << (64 - width) >> (64 - width),
        _ => value,
    }
}

/// A canonical integer as a signed one.
pub(crate) fn signed(value: i64, width: u32) -> i64 {
    if width == 1 { -(value & 1) } else { value }
}

/// A canonical integer as an unsigned one.
pub(crate) fn unsigned(value: i64, width: u32) -> u64 {
    match width {
        1..64 => value as u64 & (u64::MAX >> (64 - width)),
        _ => value as u64,
    }
}

/// The elements of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Elements {
    Floats(Vec<f64>),
    Integers(Vec<i64>),
}

/// A tensor, dense and in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) element: Element,
    pub(crate) elements: Elements,
    /// How far each element may be away; empty if no element may, or if it was not asked for.
    pub(crate) bounds: Vec<f64>,
}

/// The number of elements of a shape; `None` if it overflows.
pub(crate) fn count_of(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1_usize, |count, size| count.checked_mul(*size))
}

/// The distances of neighbours along each dimension.
pub(crate) fn strides_of(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1_usize; shape.len()];
    for at in (0..shape.len().saturating_sub(1)).rev() {
        strides[at] = strides[at + 1].saturating_mul(shape[at + 1]);
    }
    strides
}

impl Tensor {
    /// A tensor of zeros. The caller has checked that its size is within the limits.
    pub(crate) fn zeros(shape: Vec<usize>, element: Element) -> Self {
        let count = count_of(&shape).unwrap_or_default();
        let elements = if element.is_float() {
            Elements::Floats(vec![0.0; count])
        } else {
            Elements::Integers(vec![0; count])
        };
        Self { shape, element, elements, bounds: Vec::new() }
    }

    pub(crate) fn count(&self) -> usize {
        match &self.elements {
            Elements::Floats(values) => values.len(),
            Elements::Integers(values) => values.len(),
        }
    }

    /// An element.
    pub(crate) fn get(&self, at: usize) -> Number {
        let bound = self.bounds.get(at).copied().unwrap_or_default();
        match &self.elements {
            Elements::Floats(values) => Number { float: values[at], integer: 0, bound },
            Elements::Integers(values) => Number { float: 0.0, integer: values[at], bound },
        }
    }

    /// Sets an element.
    pub(crate) fn set(&mut self, at: usize, number: Number) {
        match &mut self.elements {
            Elements::Floats(values) => values[at] = number.float,
            Elements::Integers(values) => values[at] = number.integer,
        }
        if number.bound != 0.0 {
            self.with_bounds();
        }
        if let Some(bound) = self.bounds.get_mut(at) {
            *bound = number.bound;
        }
    }

    /// Whether all elements are whole numbers.
    pub(crate) fn is_whole(&self) -> bool {
        match &self.elements {
            Elements::Floats(values) => values.iter().all(|it| it.fract() == 0.0),
            Elements::Integers(_) => true,
        }
    }

    /// Has no bounds, if all of them are zero: what is exact is computed with faster.
    pub(crate) fn settle_bounds(&mut self) {
        if self.bounds.iter().all(|it| *it == 0.0) {
            self.bounds = Vec::new();
        }
    }

    /// Has a bound for each element from now on.
    pub(crate) fn with_bounds(&mut self) {
        if self.bounds.is_empty() {
            self.bounds = vec![0.0; self.count()];
        }
    }

    /// The tensor that a caller gave.
    pub(crate) fn from_abi(tensor: &abi::tensor::Tensor, element: Element) -> Result<Self> {
        let shape: Option<Vec<usize>> =
            tensor.shape.iter().map(|size| usize::try_from(*size).ok()).collect();
        let shape = shape.filter(|shape| count_of(shape).is_some());
        let Some(shape) = shape else { return Err(Refusal::arguments("a tensor is too large")) };
        let count = count_of(&shape).unwrap_or_default();
        let wanted = element.element_type();
        let given = tensor.element_type;
        // Integers carry no sign of their own in bytes, and booleans are bytes.
        let is_integer = |kind: NumericalKind| {
            use NumericalKind::{Boolean, Integer, SignedInteger, UnsignedInteger};
            matches!(kind, Boolean | Integer | SignedInteger | UnsignedInteger)
        };
        let is_same = given == wanted
            || given.bits == wanted.bits && is_integer(given.kind) && is_integer(wanted.kind);
        if !is_same {
            let reason = format!("a tensor of {given} for a parameter of {wanted}");
            return Err(Refusal::arguments(reason));
        }
        if wanted.packed_byte_count(count) != Some(tensor.bytes.len()) {
            let reason = format!("{} bytes for {count} elements of {wanted}", tensor.bytes.len());
            return Err(Refusal::arguments(reason));
        }
        let elements = if element.is_float() {
            let values = wanted.float_values(&tensor.bytes);
            Elements::Floats(values.unwrap_or_else(|| vec![f64::NAN; count]))
        } else {
            Elements::Integers(integers(&tensor.bytes, element, count))
        };
        Ok(Self { shape, element, elements, bounds: Vec::new() })
    }
}

/// Canonical integers out of bytes, which may be packed.
fn integers(bytes: &[u8], element: Element, count: usize) -> Vec<i64> {
    let element_type = element.element_type();
    let size = element_type.byte_count();
    let bits = |at: usize| {
        if element_type.is_packed() {
            return i64::from_le_bytes(element_type.unpack(bytes, at));
        }
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(&bytes[at * size..(at + 1) * size]);
        i64::from_le_bytes(wide)
    };
    let of = |bits: i64| match element {
        Element::Integer(1) => i64::from(bits != 0),
        _ => canonical(bits, element.width()),
    };
    (0..count).map(|at| of(bits(at))).collect()
}

/// A scalar. Which of the two values it has is known from its type.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct Number {
    pub(crate) float: f64,
    pub(crate) integer: i64,
    pub(crate) bound: f64,
}

/// A value while a function is evaluated.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Number(Number),
    Tensor(Arc<Tensor>),
    /// A tensor that the dispatch is bound to: its number, and its shape if that is known.
    Bound(usize, Option<Vec<usize>>),
}
