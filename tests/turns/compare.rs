//! What is shown, compared with what the program computes.
//!
//! The stops at a place are the runs of its statement, in order, if there are as many; otherwise
//! the compiler has moved the dispatch out of a loop, or made two of it, and nothing is compared.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::drive::{Shown, Stop};
use crate::interpret::{Moment, Trace, Value};

/// What was compared.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    pub(crate) stops: usize,
    /// Stops of which it is not known which run of a statement they are.
    pub(crate) elsewhere: usize,
    pub(crate) tensors: usize,
    pub(crate) numbers: usize,
    /// What was shown before it was asked for by the line.
    pub(crate) early: usize,
    /// What was shown by a name whose region has ended: its dispatch reads it by another one.
    pub(crate) late: usize,
    pub(crate) withheld: BTreeMap<String, usize>,
    /// The names that were withheld, with their reason and the line.
    pub(crate) examples: BTreeSet<String>,
    pub(crate) wrong: Vec<String>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.stops += other.stops;
        self.elsewhere += other.elsewhere;
        self.tensors += other.tensors;
        self.numbers += other.numbers;
        self.early += other.early;
        self.late += other.late;
        for (reason, count) in other.withheld {
            *self.withheld.entry(reason).or_default() += count;
        }
        self.wrong.extend(other.wrong);
    }
}

/// The runs of each statement.
pub(crate) fn by_path(trace: &Trace) -> HashMap<&[u32], Vec<usize>> {
    let mut found: HashMap<&[u32], Vec<usize>> = HashMap::new();
    for (at, moment) in trace.moments.iter().enumerate() {
        found.entry(&moment.path).or_default().push(at);
    }
    found
}

/// Compares stops, in order, with what ran.
pub(crate) fn compare(trace: &Trace, stops: &[Stop], tally: &mut Tally) {
    let runs = by_path(trace);
    let mut counts: HashMap<(&[u32], bool), usize> = HashMap::new();
    for stop in stops {
        *counts.entry((&stop.path, stop.has_run)).or_default() += 1;
    }
    let mut seen: HashMap<(&[u32], bool), usize> = HashMap::new();
    for stop in stops {
        tally.stops += 1;
        let key = (&stop.path[..], stop.has_run);
        let own = runs.get(key.0).map_or(&[][..], Vec::as_slice);
        if own.len() != counts[&key] {
            tally.elsewhere += 1;
            continue;
        }
        let nth = seen.entry(key).or_default();
        compare_stop(trace, own[*nth], stop, tally);
        *nth += 1;
    }
}

/// Compares a stop with a run of its statement.
fn compare_stop(trace: &Trace, at: usize, stop: &Stop, tally: &mut Tally) {
    let moment: &Moment = &trace.moments[at];
    let names = if stop.has_run { &moment.after } else { &moment.before };
    let innermost = stop.frames.len().saturating_sub(1);
    for (depth, frame) in stop.frames.iter().enumerate() {
        let names = if depth == innermost { names } else { &moment.around[depth] };
        for (name, shown) in frame {
            let place = || {
                let when = if stop.has_run { "after" } else { "before" };
                format!("%{name} in frame {depth} {when} {:?}, moment {at}", stop.path)
            };
            let known = names.get(name);
            if let Shown::Nothing(reason) = shown {
                if known.is_some() {
                    let line = stop.path[depth.min(stop.path.len() - 1)];
                    tally.examples.insert(format!("%{name} at {line}: {reason}"));
                    let reason = reason.split(" (").next().unwrap_or_default().to_owned();
                    *tally.withheld.entry(reason).or_default() += 1;
                }
                continue;
            }
            match known {
                Some(value) if is_same(value, shown) => match value {
                    Value::Number(_) => tally.numbers += 1,
                    Value::Tensor(_) => tally.tensors += 1,
                },
                Some(value) => {
                    tally.wrong.push(format!("{}: {shown:?}, expected {value:?}", place()));
                }
                None if depth == innermost && is_next(trace, moment, at, name, shown) => {
                    tally.early += 1;
                }
                None if depth == innermost && is_last(trace, moment, at, name, shown) => {
                    tally.late += 1;
                }
                None => tally.wrong.push(format!("{}: {shown:?}, but it has none", place())),
            }
        }
    }
}

/// Whether a name is shown that gets this value next: its dispatch has computed it already.
fn is_next(trace: &Trace, moment: &Moment, at: usize, name: &str, shown: &Shown) -> bool {
    let key = (moment.activation, name.to_owned());
    let Some(defined) = trace.defined.get(&key) else { return false };
    let next = defined.iter().find(|(when, _)| *when >= at);
    next.is_some_and(|(_, value)| is_same(value, shown))
}

/// Whether a name is shown with the last value that it had, after the end of its region: the name
/// of what a dispatch reads is seen at the dispatch, though what the text reads there is the result
/// of the region.
fn is_last(trace: &Trace, moment: &Moment, at: usize, name: &str, shown: &Shown) -> bool {
    let key = (moment.activation, name.to_owned());
    let Some(defined) = trace.defined.get(&key) else { return false };
    let last = defined.iter().rfind(|(when, _)| *when < at);
    last.is_some_and(|(_, value)| is_same(value, shown))
}

fn is_same(value: &Value, shown: &Shown) -> bool {
    match (value, shown) {
        (Value::Number(one), Shown::Number(other)) => one == other,
        (Value::Tensor(one), Shown::Tensor(other)) => {
            let is_same =
                |(one, other): (&f32, &f32)| one == other || one.is_nan() && other.is_nan();
            one.len() == other.len() && one.iter().zip(other).all(is_same)
        }
        _ => false,
    }
}
