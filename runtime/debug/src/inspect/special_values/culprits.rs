//! [`Search`]: which elements of its operands make elements of a value NaN or infinite.
//!
//! The value is computed again with other operands (a [`Unit`] does that): whatever is not kept is
//! replaced by an ordinary number. What is kept is made smaller, operand by operand and axis by
//! axis, as long as the elements stay what they are. So what is found is always *enough* for them:
//! that was computed. It is also as small as the limit on trials allowed.
//!
//! What the compiler can compute is replaced last: a maximum begins with -inf, and that is no news.

use super::region::Region;
use super::unit::Unit;
use crate::inspect::source_evaluation::NotRecomputed;

/// Numbers in the place of what is not kept. The second one is tried where an operation makes no
/// number of the first one.
const ORDINARY: [f64; 2] = [0.5, 2.0];
/// The most trials for the coordinates of an axis.
const MOST_TRIALS: usize = 48;

/// What an element is that is no ordinary number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Special {
    /// Not a number.
    Nan,
    /// More than any number of the type.
    Infinity,
    /// Less than any number of the type.
    NegativeInfinity,
}

impl Special {
    /// What a number is, if it is special.
    #[must_use]
    pub fn of(value: f64) -> Option<Self> {
        match value {
            value if value.is_nan() => Some(Self::Nan),
            f64::INFINITY => Some(Self::Infinity),
            f64::NEG_INFINITY => Some(Self::NegativeInfinity),
            _ => None,
        }
    }

    /// As values are printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nan => "NaN",
            Self::Infinity => "inf",
            Self::NegativeInfinity => "-inf",
        }
    }
}

/// What is replaced where it is not kept.
#[derive(Clone, Copy)]
struct Replaced {
    constants: bool,
    ordinary: bool,
}

/// In this order.
const REPLACED: [Replaced; 4] = [
    Replaced { constants: false, ordinary: false },
    Replaced { constants: true, ordinary: false },
    Replaced { constants: false, ordinary: true },
    Replaced { constants: true, ordinary: true },
];

/// What makes elements special.
pub(super) enum Culprits {
    /// Special elements of operands, by the index of the operand.
    Special(Vec<(usize, Region)>),
    /// Elements that are ordinary numbers.
    Ordinary(Vec<(usize, Region)>),
    /// It is so whatever the operands are.
    Always,
    /// The source's operations do not make it of these operands.
    NotMade,
}

/// A search for some elements.
pub(super) struct Search<'u> {
    unit: &'u mut Unit,
    elements: &'u [(usize, Special)],
    replaced: Replaced,
    ordinary: f64,
    /// What is kept of each operand; nothing if it is none of floats.
    kept: Vec<Option<Region>>,
}

impl<'u> Search<'u> {
    pub(super) fn new(unit: &'u mut Unit, elements: &'u [(usize, Special)]) -> Self {
        let kept = vec![None; unit.operands.len()];
        Self { unit, elements, replaced: REPLACED[0], ordinary: ORDINARY[0], kept }
    }

    pub(super) fn run(mut self) -> Result<Culprits, NotRecomputed> {
        let unchanged = vec![None; self.unit.operands.len()];
        let made = self.unit.evaluate(&unchanged)?;
        if !self.are_all(&made) {
            return Ok(Culprits::NotMade);
        }
        for replaced in REPLACED {
            self.replaced = replaced;
            for ordinary in ORDINARY {
                self.ordinary = ordinary;
                if !self.stays_without_all()? {
                    self.shrink()?;
                    let kept = std::mem::take(&mut self.kept).into_iter().enumerate();
                    let kept = kept.filter_map(|(at, region)| Some((at, region?))).collect();
                    return Ok(match replaced.ordinary {
                        false => Culprits::Special(kept),
                        true => Culprits::Ordinary(kept),
                    });
                }
            }
        }
        Ok(Culprits::Always)
    }

    /// Whether the elements stay what they are if nothing is kept.
    fn stays_without_all(&mut self) -> Result<bool, NotRecomputed> {
        self.kept.fill(None);
        self.stays()
    }

    /// Whether they stay what they are with what is kept.
    fn stays(&mut self) -> Result<bool, NotRecomputed> {
        let changed = (0..self.kept.len()).map(|at| self.changed(at)).collect::<Vec<_>>();
        let made = self.unit.evaluate(&changed)?;
        Ok(self.are_all(&made))
    }

    fn are_all(&self, made: &[f64]) -> bool {
        let is = |at: usize, wanted: Special| {
            made.get(at).copied().and_then(Special::of) == Some(wanted)
        };
        self.elements.iter().all(|(at, wanted)| is(*at, *wanted))
    }

    /// Whether an element of an operand is replaced unless it is kept.
    fn is_candidate(&self, operand: usize, value: f64) -> bool {
        let is_constant = self.unit.operands[operand].is_constant;
        (self.replaced.constants || !is_constant) && (self.replaced.ordinary || !value.is_finite())
    }

    /// The elements of an operand with ordinary numbers for what is not kept; `None` if it is all.
    fn changed(&self, operand: usize) -> Option<Vec<f64>> {
        let (values, shape) = self.unit.operands[operand].floats.as_ref()?;
        let kept = self.kept[operand].as_ref().map(|it| it.mask(shape));
        let mut changed = values.clone();
        let mut is_changed = false;
        for (at, value) in changed.iter_mut().enumerate() {
            let is_kept = kept.as_ref().is_some_and(|it| it[at]);
            if self.is_candidate(operand, *value) && !is_kept {
                (*value, is_changed) = (self.ordinary, true);
            }
        }
        is_changed.then_some(changed)
    }

    /// Begins with all, and leaves out what is not needed. A limit ends it early: what is kept
    /// then is enough, too.
    fn shrink(&mut self) -> Result<(), NotRecomputed> {
        for at in 0..self.kept.len() {
            self.kept[at] = self.unit.operands[at].floats.as_ref().and_then(|(values, shape)| {
                let elements = values.iter().enumerate();
                let elements = elements.filter(|(_, value)| self.is_candidate(at, **value));
                let elements: Vec<usize> = elements.map(|(at, _)| at).collect();
                (!elements.is_empty()).then(|| Region::around(&elements, shape))
            });
        }
        match self.leave_out() {
            Err(NotRecomputed::TooLong { .. }) => Ok(()),
            other => other,
        }
    }

    fn leave_out(&mut self) -> Result<(), NotRecomputed> {
        // What is infinite is left out before what is NaN, which says more.
        let mut order: Vec<usize> =
            (0..self.kept.len()).filter(|at| self.kept[*at].is_some()).collect();
        order.sort_by_key(|at| {
            let floats = self.unit.operands[*at].floats.as_ref();
            floats.is_some_and(|(values, _)| values.iter().any(|it| it.is_nan()))
        });
        for operand in order {
            let Some(all) = self.kept[operand].take() else { continue };
            let is_only = self.kept.iter().all(Option::is_none);
            if !is_only && self.tried(operand, None, &all)? {
                continue;
            }
            self.kept[operand] = Some(all);
            let rank = self.kept[operand].as_ref().map_or(0, |it| it.axes.len());
            for axis in 0..rank {
                self.shrink_axis(operand, axis)?;
            }
        }
        Ok(())
    }

    /// Keeps less of an operand if that is enough; otherwise, and where a limit ends the search,
    /// keeps what was kept before.
    fn tried(
        &mut self,
        operand: usize,
        less: Option<Region>,
        before: &Region,
    ) -> Result<bool, NotRecomputed> {
        self.kept[operand] = less;
        let stays = self.stays();
        if !matches!(stays, Ok(true)) {
            self.kept[operand] = Some(before.clone());
        }
        stays
    }

    /// Leaves out coordinates of an axis, the last ones first: halves, then quarters, and so on.
    fn shrink_axis(&mut self, operand: usize, axis: usize) -> Result<(), NotRecomputed> {
        let count =
            |search: &Self| search.kept[operand].as_ref().map_or(0, |it| it.axes[axis].len());
        let (mut trials, mut chunk) = (0, count(self).div_ceil(2));
        while chunk > 0 {
            let mut end = count(self);
            while end > 0 && count(self) > 1 {
                if trials == MOST_TRIALS {
                    return Ok(());
                }
                let Some(before) = self.kept[operand].clone() else { return Ok(()) };
                let begin = end.saturating_sub(chunk);
                let mut less = before.clone();
                less.axes[axis].drain(begin..end);
                trials += 1;
                if !less.axes[axis].is_empty() {
                    self.tried(operand, Some(less), &before)?;
                }
                end = begin;
            }
            chunk /= 2;
        }
        Ok(())
    }
}
