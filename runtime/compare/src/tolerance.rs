//! What is allowed where no bound says so: nothing, what the user has set, or a fixed rule, which
//! is marked as such.

use abi::element_type::{ElementType, NumericalKind};

use crate::errors::ToleranceError;

/// How far two elements may be apart: `absolute + relative · max(|a|, |b|)`.
#[derive(Clone, PartialEq, Debug)]
pub struct Tolerance {
    /// The part that does not depend on the element.
    pub absolute: f64,
    /// The part that does.
    pub relative: f64,
    /// Why: `sum over 64 products of f32 at the worst element`.
    pub reason: String,
}

/// Tolerances that the user has set.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Overrides {
    /// For tensors whose names match a pattern; the last that matches counts.
    pub absolute: Vec<(String, f64)>,
    /// The same for the relative part.
    pub relative: Vec<(String, f64)>,
}

/// How far rounding to the nearest value of a type leads: relative to a normal value, and among
/// subnormal ones.
fn rounding(element_type: ElementType) -> Option<(f64, f64)> {
    let (digits, smallest) = match (element_type.kind, element_type.bits) {
        (NumericalKind::Float, 16) => (11, -24),
        (NumericalKind::BrainFloat, 16) => (8, -133),
        (NumericalKind::Float, 32) => (24, -149),
        _ => return None,
    };
    Some((2_f64.powi(-digits), 2_f64.powi(smallest - 1)))
}

impl Tolerance {
    /// No difference at all.
    #[must_use]
    pub fn exact(reason: impl Into<String>) -> Self {
        Self { absolute: 0.0, relative: 0.0, reason: reason.into() }
    }

    /// A fixed rule for values of another program: as far apart as iree-run-module allows for the
    /// type, and ten times that relative to the element. `why_no_bound` says why there is nothing
    /// better.
    pub(crate) fn fixed(element_type: ElementType, why_no_bound: &str) -> Self {
        match abi::compare::Tolerances::default().of(element_type) {
            Some(rule) => Self {
                absolute: rule.absolute,
                relative: 10.0 * rule.absolute,
                reason: format!("a fixed rule, as {why_no_bound}"),
            },
            None => Self::exact(format!("{element_type} is exact")),
        }
    }

    /// What [`Self::slack`] is, in words.
    pub(crate) const SLACK: &str = "32 ULP of 1 or the greatest element";

    /// How far values of a framework may be from what they mean, besides rounding. Its exponentials
    /// and what it makes of them are approximations, accurate beside one or the greatest values and
    /// not beside small ones: ONNX Runtime's sigmoid is 1e-7 where 1e-9 is meant.
    pub(crate) fn slack(element_type: ElementType, greatest: f64) -> f64 {
        rounding(element_type).map_or(0.0, |(relative, _)| 64.0 * relative * greatest.max(1.0))
    }

    /// The fixed rule for values of a framework: relative to the greatest element, as what has
    /// gone through several dispatches is a sum of greater values.
    pub(crate) fn of_framework(
        element_type: ElementType,
        greatest: f64,
        why_no_bound: &str,
    ) -> Self {
        let rule = Self::fixed(element_type, why_no_bound);
        if rule.relative == 0.0 {
            return rule;
        }
        let reason = format!("{}; of the greatest element", rule.reason);
        Self { absolute: rule.absolute + rule.relative * greatest, relative: 0.0, reason }
    }

    /// The fixed rule for a tensor's type, for values that were then rounded to a narrower one.
    pub(crate) fn rounded([own, narrow]: [ElementType; 2]) -> Self {
        let why = "the file has narrower elements";
        let Some((relative, absolute)) = rounding(narrow) else { return Self::fixed(narrow, why) };
        let mut rule = Self::fixed(own, why);
        rule.relative += relative;
        rule.absolute += absolute;
        rule
    }

    /// Whether it allows two values.
    pub(crate) fn allows(&self, a: f64, b: f64) -> bool {
        if a == b || a.is_nan() && b.is_nan() {
            return true;
        }
        let difference = (a - b).abs();
        // Infinities and NaN on one side only are never allowed.
        difference.is_finite() && difference <= self.most(a, b)
    }

    /// How far two values may be apart.
    pub(crate) fn most(&self, a: f64, b: f64) -> f64 {
        self.absolute + self.relative * a.abs().max(b.abs())
    }
}

impl Overrides {
    /// Reads `1e-3` or `pattern:1e-3`.
    ///
    /// # Errors
    /// [`ToleranceError`]: it is neither.
    pub fn parse(text: &str) -> Result<(String, f64), ToleranceError> {
        let (pattern, number) = text.rsplit_once(':').unwrap_or(("*", text));
        let number: f64 = number.parse().map_err(|_| ToleranceError::NoNumber(text.to_owned()))?;
        if number.is_nan() || number < 0.0 {
            return Err(ToleranceError::Negative(text.to_owned()));
        }
        Ok((pattern.to_owned(), number))
    }

    /// What the user has set for a tensor with these names, if anything.
    pub(crate) fn set_for(&self, names: &[impl AsRef<str>]) -> Option<Tolerance> {
        let set = |of: &[(String, f64)]| {
            let fits = |pattern: &str| {
                pattern == "*"
                    || names.iter().any(|name| abi::glob::matches(pattern, name.as_ref()))
            };
            of.iter().rev().find(|(pattern, _)| fits(pattern)).map(|(_, number)| *number)
        };
        let (absolute, relative) = (set(&self.absolute), set(&self.relative));
        if absolute.is_none() && relative.is_none() {
            return None;
        }
        let (absolute, relative) = (absolute.unwrap_or(0.0), relative.unwrap_or(0.0));
        let reason = "set on the command line".to_owned();
        Some(Tolerance { absolute, relative, reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_override_that_fits_counts() {
        let overrides = Overrides {
            absolute: vec![Overrides::parse("1e-3").unwrap(), Overrides::parse("%a*:2").unwrap()],
            relative: Vec::new(),
        };
        let of = |name| overrides.set_for(&[name]).map(|it| it.absolute);
        assert_eq!((of("%b"), of("%abc")), (Some(1e-3), Some(2.0)));
        assert!(Overrides::parse("%a:x").is_err() && Overrides::parse("-1").is_err());
        assert!(Overrides::parse("nan").is_err());
    }

    #[test]
    fn what_is_not_finite_on_one_side_is_never_allowed() {
        let wide = Tolerance { absolute: 1e300, ..Tolerance::exact("x") };
        assert!(wide.allows(1.0, 2.0) && wide.allows(f64::NAN, f64::NAN));
        assert!(!wide.allows(f64::INFINITY, 2.0) && !wide.allows(1.0, f64::NAN));
        assert!(!wide.allows(f64::INFINITY, f64::NEG_INFINITY));
        assert!(wide.allows(f64::INFINITY, f64::INFINITY));
    }
}
