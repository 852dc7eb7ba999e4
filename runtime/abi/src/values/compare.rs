//! Compares two tensors: bit for bit, or floats within a tolerance, as IREE's tools do.

use crate::values::element_type::{ElementType, NumericalKind};

/// How far floats may differ from the expected value. Other elements must be equal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// Absolute.
    pub absolute: f64,
    /// Relative to what is expected.
    pub relative: f64,
}

impl Tolerance {
    /// Whether `actual` is close enough. Two NaNs are; infinities have to be equal.
    #[must_use]
    pub fn accepts(self, actual: f64, expected: f64) -> bool {
        if actual == expected || actual.is_nan() && expected.is_nan() {
            return true;
        }
        expected.is_finite()
            && (actual - expected).abs() <= self.absolute + self.relative * expected.abs()
    }
}

/// Tolerances by element type, for comparing results with expected ones.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerances {
    /// Absolute, for f16.
    pub f16: f64,
    /// Absolute, for bf16.
    pub bf16: f64,
    /// Absolute, for f32.
    pub f32: f64,
    /// Absolute, for f64.
    pub f64: f64,
    /// Relative, for all of them.
    pub relative: f64,
}

/// The defaults of `iree-run-module`.
impl Default for Tolerances {
    fn default() -> Self {
        Self { f16: 1e-3, bf16: 1e-2, f32: 1e-4, f64: 1e-4, relative: 1e-5 }
    }
}

impl Tolerances {
    /// The tolerance for an element type; `None` if its elements must be equal.
    #[must_use]
    pub fn of(&self, element_type: ElementType) -> Option<Tolerance> {
        let absolute = match (element_type.kind, element_type.bits) {
            (NumericalKind::Float, 16) => self.f16,
            (NumericalKind::BrainFloat, 16) => self.bf16,
            (NumericalKind::Float, 32) => self.f32,
            (NumericalKind::Float, 64) => self.f64,
            _ => return None,
        };
        Some(Tolerance { absolute, relative: self.relative })
    }
}

/// The index of the first element that differs from the expected one; without a tolerance, bits
/// must be equal. An element that only one tensor has differs.
#[must_use]
pub fn first_difference(
    element_type: ElementType,
    actual: &[u8],
    expected: &[u8],
    tolerance: Option<Tolerance>,
) -> Option<usize> {
    if actual == expected {
        return None;
    }
    if element_type.is_packed() {
        let at = actual.iter().zip(expected).position(|(a, b)| a != b);
        let first = at.unwrap_or(actual.len().min(expected.len())) * 8;
        let bits = usize::from(element_type.bits);
        // The element that contains the first bit of that byte, or a later one.
        return (first / bits..(first + 8).div_ceil(bits))
            .find(|index| {
                element_type.unpack(actual, *index) != element_type.unpack(expected, *index)
            })
            .or((actual.len() != expected.len()).then_some(first / bits));
    }
    let size = element_type.byte_count().max(1);
    let equal = |(actual, expected): (&[u8], &[u8])| {
        actual == expected
            || tolerance.is_some_and(|tolerance| {
                element_type
                    .float_value(actual)
                    .zip(element_type.float_value(expected))
                    .is_some_and(|(actual, expected)| tolerance.accepts(actual, expected))
            })
    };
    let pairs = actual.chunks(size).zip(expected.chunks(size));
    let shorter = actual.len().min(expected.len()) / size;
    pairs
        .enumerate()
        .find_map(|(index, pair)| (!equal(pair)).then_some(index))
        .or((actual.len() != expected.len()).then_some(shorter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::tensor::Tensor;

    fn difference(expected: &str, actual: &str) -> Option<usize> {
        let [expected, actual] = [expected, actual].map(|text| Tensor::parse(text, 64).unwrap());
        let tolerance = Tolerances::default().of(actual.element_type);
        first_difference(actual.element_type, &actual.bytes, &expected.bytes, tolerance)
    }

    #[test]
    fn floats_may_be_near_and_the_rest_not() {
        for (expected, actual, index) in [
            ("3xf32=1 2 3", "3xf32=1.00001 2 3.1", Some(2)),
            ("2xf32=nan inf", "2xf32=-nan inf", None),
            ("2xf32=inf 0", "2xf32=1e38 0", Some(0)),
            ("2xf32=0 -0", "2xf32=-0 0", None),
            ("1xf16=1", "1xf16=1.0005", None),
            ("1xbf16=1", "1xbf16=1.008", None),
            ("1xf64=1e9", "1xf64=1000001000", None),
            ("2xi32=1 2", "2xi32=1 3", Some(1)),
            ("4xi4=1 2 3 4", "4xi4=1 2 3 5", Some(3)),
            ("4xi4=1 2 3 4", "4xi4=1 2 4 4", Some(2)),
            ("1xf8E4M3FN=1", "1xf8E4M3FN=1.125", Some(0)),
            ("2xi8=1 2", "3xi8=1 2 3", Some(2)),
        ] {
            assert_eq!(difference(expected, actual), index, "{expected} {actual}");
        }
    }
}
