//! How far two sound results of one dispatch may be apart, with the reason.
//!
//! Two compilers add up in different orders, fuse multiplications with additions, and have other
//! approximations of functions. What that may change grows with the number of terms, and is
//! relative to their magnitude. Operations of integers have one result.

use debug::TensorView;

use crate::work::{Work, mantissa};

/// How far two elements may be apart: `absolute + relative · max(|a|, |b|)`.
#[derive(Clone, PartialEq, Debug)]
pub struct Tolerance {
    /// The part that does not depend on the element.
    pub absolute: f64,
    /// The part that does.
    pub relative: f64,
    /// Whether some few elements may be one more or less: floats that were rounded to integers.
    pub may_round: bool,
    /// Why: `64 terms of f32, 1 function`.
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

/// How many values stand for a whole tensor.
const SAMPLES: usize = 4096;

/// Larger values are masks: they say that others do not count.
const MASK: f64 = 1e6;

/// At most one element in so many may be one more or less because of a rounding.
const ROUNDED: usize = 100;

impl Tolerance {
    /// No difference at all.
    #[must_use]
    pub fn exact(reason: impl Into<String>) -> Self {
        Self { absolute: 0.0, relative: 0.0, may_round: false, reason: reason.into() }
    }

    /// What a dispatch allows for one of its results. `inputs` are the tensors that it reads.
    pub(crate) fn of_work(work: &Work, result: &TensorView, inputs: &[&TensorView]) -> Self {
        let name = result.element_type_name();
        let Some(bits) = mantissa(&name) else {
            let mut exact = Self::exact(format!("{name} is exact"));
            if work.rounds_to_integers {
                exact.may_round = true;
                exact.reason = format!("{name} of rounded floats: 1 in {ROUNDED} may be off by 1");
            }
            return exact;
        };
        let computed = work.mantissa.unwrap_or(24).min(53);
        let steps = work.steps();
        let unit = |bits: u32| 2.0_f64.powi(1 - bits.cast_signed());
        // A sum in a wider type is rounded once.
        let rounding = if bits < computed { unit(bits) } else { 0.0 };
        let relative = steps * unit(computed) + rounding;
        let mut absolute = steps * unit(computed) * typical(result);
        if !work.is_exponential {
            // Where terms cancel, what is left has the errors of the terms.
            let terms = inputs.iter().filter(|it| mantissa(&it.element_type_name()).is_some());
            let magnitude = terms.map(|it| typical(it)).fold(0.0, f64::max);
            absolute += work.short_steps() * unit(computed) * magnitude;
        }
        Self { absolute, relative, may_round: false, reason: work.reason(computed, rounding) }
    }

    /// The relative part of that.
    pub(crate) fn relative_of(work: &Work, result: &TensorView) -> f64 {
        let Some(bits) = mantissa(&result.element_type_name()) else { return 0.0 };
        let bits = bits.min(work.mantissa.unwrap_or(24));
        work.steps() * 2.0_f64.powi(1 - bits.cast_signed())
    }

    /// Whether it allows two values.
    pub(crate) fn allows(&self, a: f64, b: f64) -> bool {
        if a == b || a.is_nan() && b.is_nan() {
            return true;
        }
        let difference = (a - b).abs();
        // Infinities and NaN on one side only are never allowed.
        difference.is_finite() && difference <= self.absolute + self.relative * a.abs().max(b.abs())
    }

    /// Whether so many elements may be off by one.
    pub(crate) fn allows_rounded(&self, off_by_one: usize, count: usize) -> bool {
        self.may_round && off_by_one <= (count / ROUNDED).max(1)
    }

    /// The errors that earlier dispatches have left, relative to the size of a tensor.
    pub(crate) fn carried(relative: f64, tensor: &TensorView, reason: &str) -> Self {
        let name = tensor.element_type_name();
        if mantissa(&name).is_none() || relative == 0.0 {
            return Self::exact(format!("{name} on the same inputs"));
        }
        let absolute = relative * typical(tensor);
        Self { absolute, relative, may_round: false, reason: reason.to_owned() }
    }

    /// This tolerance, and one for errors that came before.
    pub(crate) fn after(mut self, earlier: &Self) -> Self {
        if earlier.relative > 0.0 {
            self.absolute += earlier.absolute;
            self.relative += earlier.relative;
            self.reason = format!("{}; {}", self.reason, earlier.reason);
        }
        self
    }

    /// The wider one of two, for sides that compute differently.
    pub(crate) fn or(self, other: Self) -> Self {
        let width = |it: &Self| (it.relative, it.absolute, it.may_round);
        if width(&other) > width(&self) { other } else { self }
    }
}

impl Overrides {
    /// Reads `1e-3` or `pattern:1e-3`.
    ///
    /// # Errors
    /// It is neither.
    pub fn parse(text: &str) -> Result<(String, f64), String> {
        let (pattern, number) = text.rsplit_once(':').unwrap_or(("*", text));
        let number: f64 = number.parse().map_err(|_| {
            format!("{text:?} is no tolerance; write a number, or PATTERN:NUMBER for some tensors")
        })?;
        if number.is_nan() || number < 0.0 {
            return Err(format!("a tolerance is not negative, and {text:?} is"));
        }
        Ok((pattern.to_owned(), number))
    }

    /// What counts for a tensor with these names.
    pub(crate) fn applied(&self, tolerance: Tolerance, names: &[impl AsRef<str>]) -> Tolerance {
        self.set_for(names).unwrap_or(tolerance)
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
        Some(Tolerance { absolute, relative, may_round: false, reason })
    }
}

impl Work {
    /// By how many units in the last place two sound results may be apart.
    fn steps(&self) -> f64 {
        self.short_steps() + self.terms as f64 / 4.0
    }

    /// The same where errors of terms have both signs.
    fn short_steps(&self) -> f64 {
        let others = 2 * self.operations + 8 * self.functions;
        8.0 + 4.0 * (self.terms as f64).sqrt() + others as f64
    }

    fn reason(&self, computed: u32, rounding: f64) -> String {
        let float = match computed {
            53 => "f64",
            24 => "f32",
            11 => "f16",
            8 => "bf16",
            _ => "narrow floats",
        };
        let mut parts = Vec::new();
        let counted = |count: u64, what: &str| {
            let s = if count == 1 { "" } else { "s" };
            format!("{count} {what}{s}")
        };
        if self.terms > 0 {
            parts.push(counted(self.terms, "term"));
        }
        if self.operations > 0 {
            parts.push(counted(self.operations, "operation"));
        }
        if self.functions > 0 {
            parts.push(counted(self.functions, "function"));
        }
        let what = if parts.is_empty() { "arithmetic".to_owned() } else { parts.join(", ") };
        let rounded = if rounding > 0.0 { ", then rounded" } else { "" };
        format!("{what} in {float}{rounded}")
    }
}

/// The magnitude that most values of a tensor do not exceed, without masks and what is not finite.
fn typical(tensor: &TensorView) -> f64 {
    let step = (tensor.count() / SAMPLES).max(1);
    let mut values = Vec::with_capacity(SAMPLES + 1);
    let mut at = 0_usize;
    tensor.each_value(|value| {
        if at.is_multiple_of(step) && value.is_finite() {
            values.push(value.abs());
        }
        at += 1;
    });
    values.sort_by(f64::total_cmp);
    let below = values.partition_point(|value| *value <= MASK);
    let known = if below > 0 { &values[..below] } else { &values[..] };
    known.get(known.len() * 9 / 10).copied().unwrap_or(0.0)
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
        let of = |name| overrides.applied(Tolerance::exact("x"), &[name]).absolute;
        assert_eq!((of("%b"), of("%abc")), (1e-3, 2.0));
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
