//! [`Output`]: what a dispatch computes.

use abi::element_type::{ElementType, NumericalKind};
use abi::tensor::{Tensor, TensorType};

use crate::values::canonical;

/// The elements of an output, in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// Floats, not rounded to the element type.
    Floats(Vec<f64>),
    /// Integers; those of `i1` are 0 or 1, all others have their sign.
    Integers(Vec<i64>),
}

impl Elements {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Floats(values) => values.len(),
            Self::Integers(values) => values.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Why an output does not take the place of what an implementation has left.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OutputError {
    /// The implementation has left another shape or type.
    #[error("its text has {shape:?} of {element_type}, and it left {left}")]
    OtherType {
        /// The dimensions of the output.
        shape: Vec<usize>,
        /// The type of its elements.
        element_type: ElementType,
        /// What was left.
        left: TensorType,
    },
    /// Elements of the type are not written.
    #[error("{0} is not encoded")]
    NotEncoded(ElementType),
}

/// One output of a dispatch, or one result of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The parameter that it is bound to; `None` for the result of a function.
    pub parameter: Option<usize>,
    /// The dimensions, outermost first.
    pub shape: Vec<usize>,
    /// The type of the elements.
    pub element_type: ElementType,
    /// The elements.
    pub values: Elements,
    /// How far each element of a correct implementation may be away; as many as elements, or none
    /// if [`crate::Settings::with_bounds`] is off. Infinite: there is no opinion of this element.
    pub bounds: Vec<f64>,
    /// Which elements the dispatch has written; empty if it has written all. Others have no value.
    pub written: Vec<bool>,
    /// What the bound comes from: `sum over 128 products of f32, exp of f32`.
    pub reason: String,
}

impl Output {
    /// A number that is known exactly; one of an integer type in as many bits as that has.
    #[must_use]
    pub fn integer(value: i64, element_type: ElementType) -> Self {
        let width = match element_type.kind {
            NumericalKind::Boolean => 1,
            _ => u32::from(element_type.bits),
        };
        let value = canonical(value, width);
        Self::number(Elements::Integers(vec![value]), element_type)
    }

    /// A float that is known exactly.
    #[must_use]
    pub fn float(value: f64, element_type: ElementType) -> Self {
        Self::number(Elements::Floats(vec![value]), element_type)
    }

    fn number(values: Elements, element_type: ElementType) -> Self {
        let (shape, bounds, written) = (Vec::new(), vec![0.0], Vec::new());
        Self {
            parameter: None,
            shape,
            element_type,
            values,
            bounds,
            written,
            reason: String::new(),
        }
    }

    /// How many elements have an infinite bound: of these there is no opinion.
    #[must_use]
    pub fn unstable(&self) -> usize {
        self.bounds.iter().filter(|bound| bound.is_infinite()).count()
    }

    /// Whether the dispatch has written an element.
    #[must_use]
    pub fn is_written(&self, at: usize) -> bool {
        self.written.get(at).copied().unwrap_or(true)
    }

    /// Whether it says what an element is: the dispatch has written it, and its bound is finite.
    #[must_use]
    pub fn has_opinion(&self, at: usize) -> bool {
        self.is_written(at) && self.bound(at) != f64::INFINITY
    }

    /// What an implementation has left, with the elements of this output, rounded to their type, in
    /// place of all of which there is an opinion.
    ///
    /// # Errors
    /// It has another shape or type.
    pub fn over(&self, left: &Tensor) -> Result<Tensor, OutputError> {
        let count = self.values.len();
        let is_shape = left.shape.iter().copied().eq(self.shape.iter().map(|size| *size as u64));
        let bytes = left.element_type.packed_byte_count(count);
        let bits = (left.element_type.bits, self.element_type.bits);
        if !is_shape || bytes != Some(left.bytes.len()) || bits.0 != bits.1 {
            let (shape, element_type) = (self.shape.clone(), self.element_type);
            return Err(OutputError::OtherType { shape, element_type, left: left.tensor_type() });
        }
        let width = usize::from(bits.0);
        let mut over = left.clone();
        for at in (0..count).filter(|at| self.has_opinion(*at)) {
            let code = match &self.values {
                Elements::Floats(values) => code(self.element_type, values[at]),
                Elements::Integers(values) => Some(values[at].cast_unsigned()),
            };
            let code = code.ok_or(OutputError::NotEncoded(self.element_type))?;
            if !width.is_multiple_of(8) {
                for bit in 0..width {
                    let (place, mask) = ((at * width + bit) / 8, 1 << ((at * width + bit) % 8));
                    let is_set = code >> bit & 1 == 1;
                    over.bytes[place] = over.bytes[place] & !mask | if is_set { mask } else { 0 };
                }
                continue;
            }
            let size = width / 8;
            over.bytes[at * size..(at + 1) * size].copy_from_slice(&code.to_le_bytes()[..size]);
        }
        Ok(over)
    }

    /// The bound of an element.
    #[must_use]
    pub fn bound(&self, at: usize) -> f64 {
        self.bounds.get(at).copied().unwrap_or_default()
    }

    /// The largest bound of any element. An infinity has none: what is decided is exact.
    #[must_use]
    pub fn largest_bound(&self) -> f64 {
        let is_exact = |at: usize, bound: f64| match &self.values {
            Elements::Floats(values) => values[at].is_infinite() && bound.is_finite(),
            Elements::Integers(_) => false,
        };
        let bounds = self.bounds.iter().enumerate();
        bounds.filter(|(at, bound)| !is_exact(*at, **bound)).fold(0.0, |most, (_, it)| it.max(most))
    }

    /// Whether a float that an implementation computed for an element is within the bound. NaN
    /// agrees with NaN, an infinity with the same one.
    #[must_use]
    pub fn agrees_float(&self, at: usize, found: f64) -> bool {
        let Elements::Floats(values) = &self.values else { return false };
        let bound = self.bound(at);
        if bound == f64::INFINITY || !self.is_written(at) {
            return true;
        }
        let Some(value) = values.get(at) else { return false };
        if value.is_nan() || found.is_nan() {
            return value.is_nan() && found.is_nan();
        }
        *value == found || (value - found).abs() <= bound
    }

    /// Whether an element that an implementation has left is within the bound, where it differs
    /// from that of [`Self::over`]; both as floats.
    #[must_use]
    pub fn allows(&self, at: usize, left: f64, expected: f64) -> bool {
        match self.values {
            Elements::Floats(_) => self.agrees_float(at, left),
            // They differ, so an exact one does not agree.
            Elements::Integers(_) => {
                self.bound(at) > 0.0 && (left - expected).abs() <= self.bound(at)
            }
        }
    }

    /// Whether an integer that an implementation computed for an element is within the bound,
    /// which is zero unless a float was rounded to it.
    #[must_use]
    pub fn agrees_integer(&self, at: usize, found: i64) -> bool {
        let Elements::Integers(values) = &self.values else { return false };
        let bound = self.bound(at);
        if bound == f64::INFINITY || !self.is_written(at) {
            return true;
        }
        values.get(at).is_some_and(|value| value.abs_diff(found) as f64 <= bound)
    }
}

/// The bits of the nearest number of a float type.
fn code(element_type: ElementType, value: f64) -> Option<u64> {
    use NumericalKind::{BrainFloat, Float};
    Some(match (element_type.kind, element_type.bits) {
        (Float, 64) => value.to_bits(),
        (Float, 32) => u64::from((value as f32).to_bits()),
        (Float, 16) => u64::from(half::f16::from_f64(value).to_bits()),
        (BrainFloat, 16) => u64::from(half::bf16::from_f64(value).to_bits()),
        (_, 8) => {
            let decoded = |code: u64| element_type.float_value(&code.to_le_bytes());
            let distance = |code: u64| match decoded(code) {
                Some(number) if number == value || number.is_nan() && value.is_nan() => 0.0,
                Some(number) if !number.is_nan() => (number - value).abs(),
                _ => f64::INFINITY,
            };
            decoded(0)?;
            // Of two that are as near, the even one.
            (0..256)
                .min_by(|a, b| distance(*a).total_cmp(&distance(*b)).then((a % 2).cmp(&(b % 2))))?
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(element_type: &str, values: Elements, bounds: Vec<f64>) -> Output {
        Output {
            parameter: None,
            shape: vec![values.len()],
            element_type: element_type.parse().unwrap(),
            values,
            bounds,
            written: Vec::new(),
            reason: String::new(),
        }
    }

    #[test]
    fn what_has_no_opinion_stays_as_it_was_left() {
        let floats = Elements::Floats(vec![1.1, f64::NAN, 3.0]);
        let it = output("f32", floats, vec![0.1, f64::INFINITY, 0.0]);
        let left = Tensor::parse("3xf32=7,8,9", 99).unwrap();
        assert_eq!(it.over(&left).unwrap(), Tensor::parse("3xf32=1.1,8,3", 99).unwrap());
        let other = Tensor::parse("1x3xf32=7,8,9", 99).unwrap();
        assert!(it.over(&other).is_err(), "another shape");
        assert!(it.over(&Tensor::parse("3xf16=7,8,9", 99).unwrap()).is_err(), "another type");
    }

    #[test]
    fn all_types_are_rounded_to() {
        for (name, value) in [("f64", 1.1), ("f16", 1.099_609_375), ("bf16", 1.101_562_5)] {
            let it = output(name, Elements::Floats(vec![1.1]), vec![0.0]);
            let left = Tensor::parse(&format!("1x{name}=0"), 99).unwrap();
            let over = it.over(&left).unwrap();
            assert_eq!(over.element_type.float_value(&over.bytes), Some(value), "{name}");
        }
        let it = output("f8E4M3FN", Elements::Floats(vec![1.1, f64::NAN]), vec![0.0, 0.0]);
        let over = it.over(&Tensor::parse("2xf8E4M3FN=0,0", 99).unwrap()).unwrap();
        assert_eq!(over.element_type.float_value(&over.bytes), Some(1.125));
        assert!(over.element_type.float_value(&over.bytes[1..]).unwrap().is_nan());
        let it = output("i4", Elements::Integers(vec![-1, 3, 5]), vec![0.0, f64::INFINITY, 0.0]);
        let over = it.over(&Tensor::parse("3xi4=0,2,0", 99).unwrap()).unwrap();
        assert_eq!(over, Tensor::parse("3xi4=-1,2,5", 99).unwrap());
    }
}
