//! How often the program has reached a breakpoint, and which of these hits stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The hits that stop the program, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum HitCondition {
    /// All of them.
    #[default]
    Always,
    /// Only this one.
    Exactly(u64),
    /// This one and those after it.
    AtLeast(u64),
    /// Those before this one.
    Below(u64),
    /// Every hit whose number is a multiple.
    Every(u64),
}

/// Why a text is no condition on hits.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HitConditionError {
    /// It does not end with a number.
    #[error("{0:?} is no condition on a count; write 3, >= 3, > 3, < 3, <= 3 or % 3")]
    NoNumber(String),
    /// What is before the number does not compare.
    #[error("{0:?} does not compare counts; use ==, >=, >, <, <= or %")]
    Operator(String),
}

impl HitCondition {
    pub(crate) fn stops(self, hit: u64) -> bool {
        match self {
            Self::Always => true,
            Self::Exactly(wanted) => hit == wanted,
            Self::AtLeast(wanted) => hit >= wanted,
            Self::Below(wanted) => hit < wanted,
            Self::Every(step) => step > 0 && hit.is_multiple_of(step),
        }
    }
}

impl std::str::FromStr for HitCondition {
    type Err = HitConditionError;

    /// Reads `3`, `== 3`, `>= 3`, `> 3`, `< 3`, `<= 3` or `% 3`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let digits = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
        let (operator, number) = text.split_at(digits);
        let Ok(number) = number.trim().parse::<u64>() else {
            return Err(HitConditionError::NoNumber(text.to_owned()));
        };
        match operator.trim() {
            "" | "=" | "==" => Ok(Self::Exactly(number)),
            ">=" => Ok(Self::AtLeast(number)),
            ">" => Ok(Self::AtLeast(number.saturating_add(1))),
            "<" => Ok(Self::Below(number)),
            "<=" => Ok(Self::Below(number.saturating_add(1))),
            "%" if number > 0 => Ok(Self::Every(number)),
            _ => Err(HitConditionError::Operator(operator.to_owned())),
        }
    }
}

/// The number of hits of a breakpoint. The breakpoint's guard, inside the interpreter, counts too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hits(Arc<AtomicU64>);

impl Hits {
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, hits: u64) {
        self.0.store(hits, Ordering::Relaxed);
    }

    /// Counts a hit that does not stop; returns whether it is one. The debugger counts the others.
    pub(crate) fn pass(&self, condition: HitCondition) -> bool {
        let hit = self.get() + 1;
        let passes = !condition.stops(hit);
        if passes {
            self.set(hit);
        }
        passes
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_on_counts() {
        let cases = [
            ("3", [false, false, true, false]),
            (">= 3", [false, false, true, true]),
            (">2", [false, false, true, true]),
            ("< 3", [true, true, false, false]),
            ("<=1", [true, false, false, false]),
            ("% 2", [false, true, false, true]),
        ];
        for (text, expected) in cases {
            let condition: HitCondition = text.parse().unwrap();
            assert_eq!([1, 2, 3, 4].map(|hit| condition.stops(hit)), expected, "{text}");
        }
        for wrong in ["", "x", "~ 3", "% 0", "3 4"] {
            assert!(wrong.parse::<HitCondition>().is_err(), "{wrong}");
        }
    }
}
