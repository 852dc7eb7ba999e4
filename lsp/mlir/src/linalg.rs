//! Operations of `linalg` as loops over elements: which index each operand is read at, and what a
//! step does.
//!
//! Named operations are written by the letters of their loops, as in `einsum`: `mk,kn->mn`.
//! `(hi)` is a window: `h` times a stride plus `i` times a dilation. The loops of the output come
//! first, then the others in the order of their letters.

use crate::affine::{Expression, Map};
use crate::element::Element;
use crate::scalar::{FloatBinary, IntegerBinary, Numbers, Scalar};

/// What loops do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loops {
    /// Maps, kinds of loops and a region are written with it.
    Generic,
    /// Letters, and what a step does. Without letters, maps are written with it.
    Named(&'static str, Body),
    /// A function of the elements of all inputs: for floats, for integers.
    Elementwise {
        /// Of floats.
        float: Option<Numbers>,
        /// Of integers.
        integer: Option<Numbers>,
    },
    /// The product of an element with itself.
    Square,
    /// The elements of the input, in the type of the output.
    Copy,
    /// A region over the elements of all inputs.
    Map,
    /// A region that reduces dimensions.
    Reduce,
    /// Dimensions in another order.
    Transpose,
    /// The same elements along more dimensions.
    Broadcast,
    /// The shares of the exponentials along a dimension.
    Softmax,
    /// Floats as integers of few bits, or back: see [`crate::quantized`].
    Quantized {
        /// Whether it makes integers of floats.
        quantizes: bool,
    },
}

/// What a step does with elements, after it has converted them to the type of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body {
    /// `out + a * b`
    MultiplyAdd,
    /// `out + (a - zero of a) * (b - zero of b)`
    Quantized,
    /// `out + a`
    Sum,
    /// The greater of `out` and `a`.
    Maximum,
    /// The lesser of `out` and `a`.
    Minimum,
    /// The same, of unsigned integers.
    MaximumUnsigned,
    /// The same, of unsigned integers.
    MinimumUnsigned,
}

impl Body {
    /// The function that joins what the output has with what a step adds, in this order.
    #[must_use]
    pub fn join(self, element: Element) -> Scalar {
        use {FloatBinary as F, IntegerBinary as I};
        match self {
            // What sums of booleans stand for.
            Self::MultiplyAdd | Self::Quantized if element == Element::TRUTH => {
                Scalar::IntegerBinary(I::Or, 1)
            }
            Self::MultiplyAdd | Self::Quantized | Self::Sum => either(element, F::Add, I::Add),
            Self::Maximum => either(element, F::Maximum, I::MaximumSigned),
            Self::Minimum => either(element, F::Minimum, I::MinimumSigned),
            Self::MaximumUnsigned => either(element, F::Maximum, I::MaximumUnsigned),
            Self::MinimumUnsigned => either(element, F::Minimum, I::MinimumUnsigned),
        }
    }

    /// The function of both inputs that gives what a step adds; `None` if it is the first input.
    #[must_use]
    pub fn product(self, element: Element) -> Option<Scalar> {
        match self {
            Self::MultiplyAdd | Self::Quantized if element == Element::TRUTH => {
                Some(Scalar::IntegerBinary(IntegerBinary::And, 1))
            }
            Self::MultiplyAdd | Self::Quantized => {
                Some(either(element, FloatBinary::Multiply, IntegerBinary::Multiply))
            }
            _ => None,
        }
    }

    /// The function that takes the zero points from inputs, if the operation has them.
    #[must_use]
    pub fn offset(self, element: Element) -> Option<Scalar> {
        let subtract = either(element, FloatBinary::Subtract, IntegerBinary::Subtract);
        (self == Self::Quantized).then_some(subtract)
    }

    /// Whether integers that it reads are signed, unless an attribute says otherwise.
    #[must_use]
    pub fn is_signed(self) -> bool {
        !matches!(self, Self::MaximumUnsigned | Self::MinimumUnsigned)
    }

    /// How many functions of numbers a step is, without conversions.
    #[must_use]
    pub fn operations(self) -> u64 {
        match self {
            Self::MultiplyAdd => 2,
            Self::Quantized => 4,
            _ => 1,
        }
    }
}

/// A function of floats, or the function of integers that it is for integers.
fn either(element: Element, float: FloatBinary, integer: IntegerBinary) -> Scalar {
    if element.is_float() {
        Scalar::FloatBinary(float, element)
    } else {
        Scalar::IntegerBinary(integer, element.width())
    }
}

/// How often each loop turns, from the shapes of the operands that loops with these maps read and
/// write; `None` for one that no shape tells.
#[must_use]
pub fn turns(maps: &[Map], shapes: &[Vec<Option<usize>>]) -> Vec<Option<usize>> {
    let mut sizes = vec![None; maps.first().map_or(0, |map| map.dimensions)];
    for (map, shape) in maps.iter().zip(shapes) {
        for (index, size) in map.results.iter().zip(shape) {
            if let Expression::Operand(at) = index
                && let Some(slot) = sizes.get_mut(*at)
            {
                *slot = slot.or(*size);
            }
        }
    }
    sizes
}

/// The indices at which loops with these letters read their operands, the output last. Windows
/// take strides and dilations in their order, and 1 where there are none. `None` if there are no
/// letters.
#[must_use]
pub fn maps(letters: &str, strides: &[i64], dilations: &[i64]) -> Option<Vec<Map>> {
    let (inputs, output) = letters.split_once("->")?;
    let mut order: Vec<char> = output.chars().collect();
    for letter in inputs.chars().filter(char::is_ascii_lowercase) {
        if !order.contains(&letter) {
            order.push(letter);
        }
    }
    let operands = inputs.split(',').chain([output]);
    operands.map(|operand| map(operand, &order, strides, dilations)).collect()
}

fn map(operand: &str, order: &[char], strides: &[i64], dilations: &[i64]) -> Option<Map> {
    let of = |letter: char| {
        let at = order.iter().position(|it| *it == letter)?;
        Some(Expression::Operand(at))
    };
    let times = |letter: char, factors: &[i64], window: usize| {
        Some(match factors.get(window) {
            None | Some(1) => of(letter)?,
            Some(factor) => {
                Expression::Multiply(Box::new(of(letter)?), Box::new(Expression::Constant(*factor)))
            }
        })
    };
    let mut results = Vec::new();
    let mut windows = 0;
    let mut letters = operand.chars();
    while let Some(letter) = letters.next() {
        if letter != '(' {
            results.push(of(letter)?);
            continue;
        }
        let (place, tap) = (letters.next()?, letters.next()?);
        letters.next();
        let place = times(place, strides, windows)?;
        let tap = times(tap, dilations, windows)?;
        results.push(Expression::Add(Box::new(place), Box::new(tap)));
        windows += 1;
    }
    Some(Map { dimensions: order.len(), symbols: 0, results })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_of_letters() {
        let written = |letters: &str, strides: &[i64], dilations: &[i64]| {
            maps(letters, strides, dilations).unwrap_or_default()
        };
        let read = |text: &str| Map::parse(text).unwrap();
        assert_eq!(
            written("mk,kn->mn", &[], &[]),
            [
                read("(d0, d1, d2) -> (d0, d2)"),
                read("(d0, d1, d2) -> (d2, d1)"),
                read("(d0, d1, d2) -> (d0, d1)")
            ]
        );
        let convolution = written("n(hi)(wj)c,ijcf,,->nhwf", &[2, 1], &[1, 3]);
        let all = "(n, h, w, f, i, j, c)";
        assert_eq!(convolution[0], read(&format!("{all} -> (n, h * 2 + i, w + j * 3, c)")));
        assert_eq!(convolution[1], read(&format!("{all} -> (i, j, c, f)")));
        assert_eq!(convolution[2], read(&format!("{all} -> ()")));
        assert_eq!(convolution.len(), 5);
        assert_eq!(maps("", &[], &[]), None);
    }
}
