//! Tensors as text. Everything that prints a tensor is here.
//!
//! - [`TensorView::short`]: the first elements on one line, as lists of variables show them;
//! - [`Summary`]: smallest, largest and mean element, and how many are 0, NaN or infinite;
//! - single elements and indices, for messages.
//!
//! A program's results are printed by the `values` crate, as IREE's tools print them.

use std::fmt;

use abi::element_type::NumericalKind;

use super::number::Number;
use super::statistics::{Statistics, Wanted};
use super::view::TensorView;

/// How many elements the short form shows.
const SHORT: usize = 8;

impl TensorView {
    /// The first elements, on one line.
    #[must_use]
    pub fn short(&self) -> String {
        if self.tensor_type().shape.is_empty() {
            return self.element(self.first());
        }
        let mut shown = Vec::new();
        self.each_offset(|at| {
            shown.push(self.element(at));
            shown.len() < SHORT
        });
        let more = if self.count() > SHORT { ", …" } else { "" };
        format!("[{}{more}]", shown.join(", "))
    }

    /// The same with integers in hexadecimal; none for a tensor of anything else.
    pub(crate) fn short_hexadecimal(&self) -> Option<String> {
        let mut shown = Vec::new();
        self.is_of_integers().then(|| {
            self.each_offset(|at| {
                shown.push(format!("{:#x}", self.bits_at(at)));
                shown.len() < SHORT
            });
        })?;
        let more = if self.count() > SHORT { ", …" } else { "" };
        Some(format!("[{}{more}]", shown.join(", ")))
    }

    pub(super) fn element(&self, index: usize) -> String {
        let element_type = self.tensor_type().element_type;
        let raw = self.raw(index);
        if element_type.kind == NumericalKind::Boolean {
            return raw[0].to_string();
        }
        let mut text = String::new();
        element_type.format_element(&raw[..element_type.byte_count().min(8)], &mut text);
        text
    }

    /// The text of an element with these bytes.
    pub(crate) fn element_text(&self, bytes: &[u8]) -> String {
        let mut text = String::new();
        self.tensor_type().element_type.format_element(bytes, &mut text);
        text
    }

    /// The indices of the element with a number, counted in order; none for a tensor without
    /// dimensions.
    pub(crate) fn index_text(&self, number: usize) -> Option<String> {
        let mut rest = number;
        let shape = &self.tensor_type().shape;
        let mut indices: Vec<String> = shape
            .iter()
            .rev()
            .map(|length| {
                let length = usize::try_from(*length).unwrap_or(usize::MAX).max(1);
                let index = rest % length;
                rest /= length;
                index.to_string()
            })
            .collect();
        indices.reverse();
        (!indices.is_empty()).then(|| indices.join(", "))
    }

    /// Statistics of the first `most` elements; none if the elements have no values.
    #[must_use]
    pub fn summary(&self, most: usize) -> Option<Summary> {
        let found = Statistics::of(self, most, Wanted::ALL).ok()?;
        Some(Summary {
            count: found.count,
            total: self.count(),
            minimum: found.smallest.map(|(_, number)| number.to_string()),
            maximum: found.largest.map(|(_, number)| number.to_string()),
            mean: found.mean(),
            deviation: found.deviation(),
            is_outlying: is_outlying(&found),
            zeros: found.zeros,
            nans: found.nans,
            infinities: found.infinities,
        })
    }
}

/// Whether an element is more than 20 standard deviations from the mean.
fn is_outlying(found: &Statistics) -> bool {
    const FAR: f64 = 20.0;
    let (mean, deviation) = (found.mean(), found.deviation());
    let number = |found: Option<(usize, Number)>| {
        found.map(|(_, number)| match number {
            Number::Integer(value) => value as f64,
            Number::Float(value) => value,
        })
    };
    let ends = [number(found.smallest), number(found.largest)];
    deviation > 0.0 && ends.into_iter().flatten().any(|end| (end - mean).abs() > FAR * deviation)
}

/// A tensor as a whole.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Elements that were read.
    pub count: usize,
    /// Elements of the tensor.
    pub total: usize,
    /// The smallest element that is not NaN, as text.
    pub minimum: Option<String>,
    /// The largest element that is not NaN, as text.
    pub maximum: Option<String>,
    /// The mean of the elements that were read.
    pub mean: f64,
    /// The standard deviation of the elements that were read.
    pub deviation: f64,
    /// Whether an element is far from all others: more than 20 standard deviations from the mean.
    pub is_outlying: bool,
    /// How many are 0.
    pub zeros: usize,
    /// How many are NaN.
    pub nans: usize,
    /// How many are infinite.
    pub infinities: usize,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(minimum), Some(maximum)) = (&self.minimum, &self.maximum) {
            write!(f, "min {minimum}, max {maximum}, mean {}, ", self.mean)?;
        }
        write!(f, "{} zero, {} NaN, {} inf", self.zeros, self.nans, self.infinities)?;
        if self.count < self.total {
            write!(f, " in the first {} of {}", self.count, self.total)?;
        }
        Ok(())
    }
}
