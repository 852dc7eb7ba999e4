//! [`Output`]: what a dispatch computes.

use abi::element_type::ElementType;

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

    /// The bound of an element.
    #[must_use]
    pub fn bound(&self, at: usize) -> f64 {
        self.bounds.get(at).copied().unwrap_or_default()
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
