//! Tensors as text. Everything that prints a tensor is here.
//!
//! - [`TensorView::short`]: the first elements on one line, as lists of variables show them;
//! - [`Summary`]: smallest, largest and mean element, and how many are 0, NaN or infinite;
//! - single elements and indices, for messages.
//!
//! A program's results are printed by the `values` crate, as IREE's tools print them.

use std::fmt;

use abi::element_type::NumericalKind;

use super::number::float_text;
use super::statistics::{Statistics, Wanted};
use super::view::TensorView;

/// Of so many elements, one sees what they are like.
const FEW: usize = 4;

/// How many elements the short form shows.
pub(crate) const SHORT: usize = 8;

impl TensorView {
    /// The first elements, on one line.
    #[must_use]
    pub fn short(&self) -> String {
        self.first_of(SHORT)
    }

    /// Where its elements come from, if they are not in memory, after them.
    #[must_use]
    pub fn mark(&self) -> String {
        self.origin().mark()
    }

    /// The first `most` elements, on one line.
    pub(crate) fn first_of(&self, most: usize) -> String {
        if self.tensor_type().shape.is_empty() {
            return self.element(self.first());
        }
        self.listed(most, |at| self.element(at))
    }

    /// The same with integers in hexadecimal; none for a tensor of anything else.
    pub(crate) fn hexadecimal(&self, most: usize) -> Option<String> {
        let element = |at| format!("{:#x}", self.bits_at(at));
        self.is_of_integers().then(|| match self.tensor_type().shape.is_empty() {
            true => element(self.first()),
            false => self.listed(most, element),
        })
    }

    fn listed(&self, most: usize, text: impl Fn(usize) -> String) -> String {
        let mut shown = Vec::new();
        self.each_offset(|at| {
            shown.push(text(at));
            shown.len() < most
        });
        let more = if self.count() > most { ", …" } else { "" };
        format!("[{}{more}]", shown.join(", "))
    }

    /// Type, what is unusual, mean and standard deviation, and the first elements on one line: rows
    /// are cut off at their end. The figures are those of all elements; without them, if the tensor
    /// has more than `left`, from which its count is taken.
    #[must_use]
    pub fn row(&self, left: &mut usize) -> String {
        let mut figures = String::new();
        if self.count() > FEW && self.count() <= *left {
            *left -= self.count();
            figures = self.figures();
        }
        match figures.is_empty() {
            true => format!("{} {}", self.type_name(), self.short()),
            false => format!("{} · {figures} · {}", self.type_name(), self.short()),
        }
    }

    /// How many elements are NaN or infinite, if any are; mean and deviation of the others.
    fn figures(&self) -> String {
        let (mut count, mut nans, mut infinities, mut sum) = (0_usize, 0_usize, 0_usize, 0.0);
        let all = self.each_float(|value| match value {
            value if value.is_finite() => {
                count += 1;
                sum += value;
            }
            value if value.is_nan() => nans += 1,
            _ => infinities += 1,
        });
        let mean = sum / count as f64;
        let mut squares = 0.0;
        let again = self.each_float(|value| {
            if value.is_finite() {
                squares += (value - mean) * (value - mean);
            }
        });
        if all.and(again).is_err() {
            return String::new();
        }
        let unusual = [(nans, "NaN"), (infinities, "inf")].into_iter();
        let unusual = unusual.filter(|(count, _)| *count > 0);
        let mut parts: Vec<String> =
            unusual.map(|(count, name)| format!("{count} {name}")).collect();
        if count > 0 {
            let deviation = (squares / count as f64).sqrt();
            parts.push(format!("μ {} σ {}", rounded(mean), rounded(deviation)));
        }
        parts.join(" · ")
    }

    pub(super) fn element(&self, index: usize) -> String {
        let width = self.tensor_type().element_type.byte_count();
        self.element_text(&self.raw(index)[..width.min(8)])
    }

    /// The text of an element with these bytes: that of IREE's tools, which print `-NAN` and `INF`,
    /// but NaN and infinities as the debugger writes them everywhere.
    pub(crate) fn element_text(&self, bytes: &[u8]) -> String {
        let element_type = self.tensor_type().element_type;
        if element_type.kind == NumericalKind::Boolean {
            return bytes.first().map(u8::to_string).unwrap_or_default();
        }
        match element_type.float_value(bytes) {
            Some(value) if !value.is_finite() => float_text(value),
            _ => {
                let mut text = String::new();
                element_type.format_element(bytes, &mut text);
                text
            }
        }
    }

    /// The indices of the element with a number, counted in order; none for a tensor without
    /// dimensions.
    pub(crate) fn index_text(&self, number: usize) -> Option<String> {
        let indices: Vec<String> = self.indices_of(number).iter().map(usize::to_string).collect();
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

/// A number in three digits.
fn rounded(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e5).contains(&size) {
        return format!("{value:.2e}");
    }
    let digits = if size == 0.0 { 0 } else { (2 - size.log10().floor() as i32).max(0) };
    let text = format!("{value:.*}", digits as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Whether an element is more than 20 standard deviations from the mean.
fn is_outlying(found: &Statistics) -> bool {
    const FAR: f64 = 20.0;
    let (mean, deviation) = (found.mean(), found.deviation());
    let mut ends = [found.smallest, found.largest].into_iter().flatten();
    deviation > 0.0 && ends.any(|(_, end)| (end.float() - mean).abs() > FAR * deviation)
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use abi::tensor::TensorType;

    use super::*;

    fn tensor(values: &[f32]) -> TensorView {
        let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        let buffer = Arc::new(vm::Buffer::from_bytes(&bytes).unwrap());
        let tensor_type = TensorType::parse(&format!("{}xf32", values.len())).unwrap();
        TensorView::new(buffer, tensor_type).unwrap()
    }

    #[test]
    fn nan_is_written_in_one_way() {
        let written = |element_type: &str, bytes: &[u8]| {
            let buffer = Arc::new(vm::Buffer::from_bytes(bytes).unwrap());
            let tensor_type = TensorType::parse(&format!("2x{element_type}")).unwrap();
            TensorView::new(buffer, tensor_type).unwrap().short()
        };
        // NaN with either sign, and an infinity of either sign.
        assert_eq!(written("f16", &[0, 0x7E, 0, 0xFE]), "[NaN, NaN]");
        assert_eq!(written("bf16", &[0xC0, 0xFF, 0x80, 0xFF]), "[NaN, -inf]");
        let f32s = [-f32::NAN, f32::INFINITY].map(f32::to_le_bytes).concat();
        assert_eq!(written("f32", &f32s), "[NaN, inf]");
        let f64s = [-f64::NAN, f64::NEG_INFINITY].map(f64::to_le_bytes).concat();
        assert_eq!(written("f64", &f64s), "[NaN, -inf]");
        assert_eq!(written("f8E5M2", &[0xFE, 0x7C]), "[NaN, inf]");
    }

    #[test]
    fn a_row_says_what_a_tensor_is_like_within_its_budget() {
        let values = tensor(&[1.0, 2.0, 3.0, 4.0, f32::NAN, f32::NEG_INFINITY]);
        let mut left = 10;
        let shown = "6xf32 · 1 NaN · 1 inf · μ 2.5 σ 1.12 · [1, 2, 3, 4, NaN, -inf]";
        assert_eq!(values.row(&mut left), shown);
        assert_eq!(values.row(&mut left), "6xf32 [1, 2, 3, 4, NaN, -inf]");
        assert_eq!(left, 4);
        // The mean is far larger than the deviation.
        let values: Vec<f32> = (0..1000).map(|at| 8e6 + (at % 2) as f32).collect();
        assert!(tensor(&values).row(&mut 1000).contains(" · μ 8.00e6 σ 0.5 · ["));
    }
}
