//! Two tensors compared under a tolerance: figures, the worst element, and a verdict.

use std::cell::Cell;
use std::fmt::Display;

use debug::{Comparison, Pair, TensorView};
use reference::Output;

use crate::allowed::{Allowed, Bounds};
use crate::errors::NotCompared;
use crate::kept::{Keep, Kept};
use crate::pattern::Gathered;
use crate::settings::Settings;
use crate::tolerance::Tolerance;

/// How two tensors, two dispatches or two runs compare. A larger one outweighs a smaller one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// No element differs.
    Equal,
    /// Elements differ, within what is allowed.
    Within,
    /// They were not compared.
    NotCompared,
    /// Elements differ by more than what is allowed.
    Differs,
}

impl Verdict {
    /// Its name in JSON.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Within => "within",
            Self::NotCompared => "not_compared",
            Self::Differs => "differs",
        }
    }

    /// Its name in tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Within => "within",
            Self::NotCompared => "not compared",
            Self::Differs => "DIFFERS",
        }
    }
}

/// How a tensor of both sides compares.
#[derive(Clone, Debug)]
pub struct TensorFinding {
    /// Its names in the source, the framework's too; else its place: `operand[1]`.
    pub names: Vec<String>,
    /// Shape and element type on side A.
    pub tensor_type: String,
    /// How both compare.
    pub verdict: Verdict,
    /// Why they were not compared.
    pub reason: Option<String>,
    /// What is allowed; none where nothing differs.
    pub tolerance: Option<Tolerance>,
    /// The figures of what differs.
    pub figures: Option<Figures>,
    /// Both sides, if that was asked.
    pub kept: Kept,
}

/// What differs in two tensors.
#[derive(Clone, Debug)]
pub struct Figures {
    /// How many elements each has.
    pub count: usize,
    /// How many differ.
    pub different: usize,
    /// How many differ by more than what is allowed.
    pub beyond: usize,
    /// How many are NaN on one side only.
    pub nans: usize,
    /// How many are infinite on one side only, or with different signs.
    pub infinities: usize,
    /// The elements that are farthest apart.
    pub largest: Largest,
    /// The element that is farthest beyond what is allowed.
    pub worst: Worst,
    /// How many finite differences have each power of ten.
    pub decades: Vec<(i32, usize)>,
    /// What is so for all that differ by more than what is allowed.
    pub pattern: Option<String>,
    /// The largest differences in the cells of a plane.
    pub map: ErrorMap,
}

/// The elements that are farthest apart, whatever is allowed for them: as the tensor view's
/// comparison has them. A NaN on one side is the farthest.
#[derive(Clone, Debug)]
pub struct Largest {
    /// By `|a - b|`.
    pub absolute: Far,
    /// By `|a - b| / |b|`.
    pub relative: Far,
    /// By how many floats lie between them; none for other types.
    pub ulps: Option<Far>,
}

/// How far an element of both sides is apart.
#[derive(Clone, Debug)]
pub struct Far {
    /// Its index along each axis.
    pub index: Vec<usize>,
    /// The distance; infinite or NaN where that is no number.
    pub value: f64,
}

/// One element of both.
#[derive(Clone, Debug)]
pub struct Worst {
    /// Its index along each axis.
    pub index: Vec<usize>,
    /// The texts of both values.
    pub texts: [String; 2],
    /// Both values; integers that a float cannot hold are rounded.
    pub values: [f64; 2],
    /// `|a - b|`; NaN if one of them is NaN.
    pub difference: f64,
    /// How many floats lie between them.
    pub ulps: Option<u64>,
}

/// The largest `|a - b|` in the cells of a plane, whose columns are the last axis, and whose rows
/// are the others.
#[derive(Clone, PartialEq, Debug)]
pub struct ErrorMap {
    /// How many rows and columns of cells there are.
    pub cells: (usize, usize),
    /// How many rows and columns of elements.
    pub plane: (usize, usize),
    /// Row by row.
    pub values: Vec<f32>,
}

/// The most cells along each side of a map.
const MOST_CELLS: usize = 64;

impl ErrorMap {
    fn new(shape: &[u64]) -> Self {
        let of = |size: u64| usize::try_from(size).unwrap_or(usize::MAX).max(1);
        let (columns, rows) = match shape.split_last() {
            Some((last, rest)) => (of(*last), rest.iter().map(|size| of(*size)).product()),
            None => (1, 1),
        };
        let cells = (rows.min(MOST_CELLS), columns.min(MOST_CELLS));
        Self { cells, plane: (rows, columns), values: vec![0.0; cells.0 * cells.1] }
    }

    fn add(&mut self, number: usize, difference: f64) {
        let (row, column) = (number / self.plane.1, number % self.plane.1);
        let cell = |at: usize, size: usize, cells: usize| at * cells / size;
        let row = cell(row, self.plane.0, self.cells.0);
        let at = row * self.cells.1 + cell(column, self.plane.1, self.cells.1);
        let difference = if difference.is_nan() { f64::INFINITY } else { difference };
        if let Some(value) = self.values.get_mut(at) {
            *value = value.max(difference as f32);
        }
    }
}

impl TensorFinding {
    /// A tensor that was not compared.
    pub(crate) fn not_compared(
        names: Vec<String>,
        tensor_type: String,
        reason: impl Display,
    ) -> Self {
        let reason = Some(reason.to_string());
        let verdict = Verdict::NotCompared;
        let kept = Kept::No;
        Self { names, tensor_type, verdict, reason, tolerance: None, figures: None, kept }
    }

    /// Compares two tensors. What is allowed is only asked for where they differ.
    pub(crate) fn of(
        names: Vec<String>,
        [a, b]: [&TensorView; 2],
        keep: &Keep,
        allowed: impl FnOnce() -> Allowed,
    ) -> Self {
        let tensor_type = a.type_name();
        // The same tensor with other axes has its elements in the same order.
        let regrouped = b.regrouped(a.shape());
        let comparison = Comparison::of(a.clone(), regrouped.as_ref().unwrap_or(b));
        let compared = comparison.map_err(NotCompared::View);
        let compared = compared.and_then(|it| Ok((differs(&it)?, it)));
        let comparison = match compared {
            Ok((true, comparison)) => comparison,
            Ok((false, _)) => {
                let (verdict, reason) = (Verdict::Equal, None);
                return Self { verdict, reason, ..Self::not_compared(names, tensor_type, "") };
            }
            Err(reason) => return Self::not_compared(names, tensor_type, reason),
        };
        let judged = match allowed() {
            Allowed::Tolerance(tolerance) => {
                let figures = Figures::under(a, &comparison, |_, a, b| tolerance.allows(a, b));
                figures.map(|it| (it, tolerance, None))
            }
            Allowed::Bounds(bounds) => bounded(a, &comparison, &bounds),
            Allowed::NotJudged(reason) => {
                Err(NotCompared::NotJudged { reason, extent: extent(a, &comparison) })
            }
        };
        let kept = |differs| keep.pair(a, comparison.other(), differs);
        match judged {
            Ok((figures, tolerance, reason)) => {
                let verdict = if figures.beyond > 0 { Verdict::Differs } else { Verdict::Within };
                let kept = kept(verdict == Verdict::Differs);
                let (tolerance, figures) = (Some(tolerance), Some(figures));
                Self { names, tensor_type, verdict, reason, tolerance, figures, kept }
            }
            Err(reason) => {
                let kept = kept(false);
                Self { kept, ..Self::not_compared(names, tensor_type, reason) }
            }
        }
    }

    /// Compares what a dispatch has left with an evaluation of its text, which has a bound for each
    /// element. Where the bound is infinite, nothing is said of the element.
    pub(crate) fn of_output(
        names: Vec<String>,
        left: &TensorView,
        output: &Output,
        settings: &Settings,
    ) -> Self {
        let tensor_type = left.type_name();
        let count = left.count();
        let written = (0..count).filter(|at| output.is_written(*at)).count();
        let known = (0..count).filter(|at| output.has_opinion(*at)).count();
        let unknown = written - known;
        let expected = || {
            if unknown > 0 && known == 0 {
                return Err(NotCompared::NoBounds(written));
            }
            let expected = debug::expected_tensor(output, left)?;
            let comparison = Comparison::of(left.clone(), &expected)?;
            Ok((differs(&comparison)?, comparison))
        };
        let (differs, comparison) = match expected() {
            Ok(found) => found,
            Err(reason) => return Self::not_compared(names, tensor_type, reason),
        };
        let reason = (unknown > 0).then(|| format!("no bound for {unknown} of {written} elements"));
        if !differs {
            let verdict = Verdict::Equal;
            return Self { verdict, reason, ..Self::not_compared(names, tensor_type, "") };
        }
        let own = settings.overrides.set_for(&names);
        let allows = |at: usize, a: f64, b: f64| match &own {
            Some(tolerance) => tolerance.allows(a, b),
            None => output.allows(at, a, b),
        };
        match Figures::under(left, &comparison, allows) {
            Ok(figures) => {
                let verdict = if figures.beyond > 0 { Verdict::Differs } else { Verdict::Within };
                let worst = left.number_of(&figures.worst.index);
                let tolerance = own.unwrap_or_else(|| Tolerance {
                    absolute: output.bound(worst),
                    reason: format!("{} at the worst element", output.reason),
                    ..Tolerance::exact("")
                });
                let differs = verdict == Verdict::Differs;
                let kept = settings.keep.pair(left, comparison.other(), differs);
                let (tolerance, figures) = (Some(tolerance), Some(figures));
                Self { names, tensor_type, verdict, reason, tolerance, figures, kept }
            }
            Err(reason) => Self::not_compared(names, tensor_type, reason),
        }
    }

    /// It is allowed after all.
    pub(crate) fn allow(&mut self, reason: &str) {
        self.verdict = Verdict::Within;
        self.tolerance = Some(Tolerance::exact(reason));
        if let Some(figures) = &mut self.figures {
            figures.beyond = 0;
        }
    }

    /// Its names as one text.
    #[must_use]
    pub fn name(&self) -> String {
        self.names.join(" = ")
    }
}

/// What differs under bounds, what is said of the worst element, and of how many nothing is known.
fn bounded(
    a: &TensorView,
    comparison: &Comparison,
    bounds: &Bounds,
) -> Result<(Figures, Tolerance, Option<String>), NotCompared> {
    let unknown = Cell::new(0);
    let figures = Figures::under(a, comparison, |at, left, right| {
        let allows = bounds.allows(at, left, right, a);
        unknown.set(unknown.get() + usize::from(allows.is_none()));
        allows.unwrap_or(true)
    })?;
    let (unknown, different) = (unknown.get(), figures.different);
    if unknown == different {
        return Err(NotCompared::NoBound { extent: extent(a, comparison) });
    }
    let reason = format!("no bound for {unknown} of {different} elements that differ");
    let (place, [left, right]) = (a.number_of(&figures.worst.index), figures.worst.values);
    let tolerance = bounds.tolerance(place, left, right, a);
    Ok((figures, tolerance, (unknown > 0).then_some(reason)))
}

/// By how much two tensors differ for which no bound is known.
fn extent(a: &TensorView, comparison: &Comparison) -> String {
    let (mut different, mut most) = (0, 0.0_f64);
    let looked = comparison.each_different(|_, a, b| {
        different += 1;
        let apart = (a - b).abs();
        most = most.max(if apart.is_nan() { f64::INFINITY } else { apart });
    });
    let (count, s) = (a.count(), if a.count() == 1 { "" } else { "s" });
    match looked {
        Ok(()) => {
            format!(
                " ({different} of {count} element{s} differ, by {most:.1e} at most; --atol and \
                     --rtol say what is allowed)"
            )
        }
        Err(_) => String::new(),
    }
}

fn differs(comparison: &Comparison) -> Result<bool, NotCompared> {
    let found = comparison.find_different(None)?;
    Ok(found.is_some())
}

impl Figures {
    /// The figures, given which pairs are allowed: by number in order, and both values.
    fn under(
        a: &TensorView,
        comparison: &Comparison,
        allows: impl Fn(usize, f64, f64) -> bool,
    ) -> Result<Self, NotCompared> {
        let count = a.count();
        let (mut different, mut beyond, mut nans, mut infinities) = (0, 0, 0, 0);
        let mut worst: Option<(usize, bool, f64)> = None;
        let mut values = [f64::NAN; 2];
        let mut decades = std::collections::BTreeMap::new();
        let mut gathered = Gathered::new(a.shape());
        let mut map = ErrorMap::new(a.shape());
        let looked = comparison.each_different(|index, a, b| {
            different += 1;
            let difference = (a - b).abs();
            nans += usize::from(a.is_nan() != b.is_nan());
            infinities +=
                usize::from(!a.is_nan() && !b.is_nan() && (a.is_infinite() || b.is_infinite()));
            if difference.is_finite() {
                *decades.entry(difference.log10().floor() as i32).or_insert(0) += 1;
            }
            let is_beyond = !allows(index, a, b);
            if is_beyond {
                beyond += 1;
                gathered.add(index, a, b);
            }
            map.add(index, difference);
            // A NaN is the farthest.
            let rank = if difference.is_nan() { f64::INFINITY } else { difference };
            let is_worse = |known: &(usize, bool, f64)| (is_beyond, rank) > (known.1, known.2);
            if worst.as_ref().is_none_or(is_worse) {
                (worst, values) = (Some((index, is_beyond, rank)), [a, b]);
            }
        });
        looked?;
        let (index, ..) = worst.ok_or(NotCompared::NothingDiffers)?;
        let pair = comparison.pair(index);
        Ok(Self {
            count,
            different,
            beyond,
            nans,
            infinities,
            largest: Largest::of(a, comparison)?,
            worst: Worst {
                index: a.indices_of(index),
                texts: pair.texts,
                values,
                difference: pair.difference,
                ulps: pair.ulps,
            },
            decades: decades.into_iter().collect(),
            pattern: gathered.sentence(),
            map,
        })
    }
}

impl Largest {
    fn of(a: &TensorView, comparison: &Comparison) -> Result<Self, NotCompared> {
        let found = comparison.differences()?;
        let far = |pair: Option<Pair>, value: fn(&Pair) -> f64| {
            pair.map(|it| Far { index: a.indices_of(it.index), value: value(&it) })
        };
        let none = || NotCompared::NothingDiffers;
        let of_floats = |it: &Pair| it.ulps.map_or(f64::NAN, |far| far as f64);
        Ok(Self {
            absolute: far(found.worst, |it| it.difference).ok_or_else(none)?,
            relative: far(found.worst_relative, |it| it.relative).ok_or_else(none)?,
            ulps: far(found.worst_ulps, of_floats),
        })
    }
}
