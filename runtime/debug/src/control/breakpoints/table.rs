//! The table of breakpoints: what was asked for, and where that is.
//!
//! The table is plain data; [`super::armed`] arms the union of all locations. Two breakpoints may
//! share an instruction.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use vm::{Boundary, BoundaryKind, Moment, Position};

use super::hits::{HitCondition, Hits};
use super::spec::{BreakpointId, BreakpointSpec};
use crate::expression::{Expression, ExpressionError, Template};
use crate::target::device_lines::CommandPlace;
use crate::target::level::Level;
use crate::target::resolve::Resolution;

/// A breakpoint.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Its identifier.
    pub id: BreakpointId,
    /// What was asked for.
    pub spec: BreakpointSpec,
    /// Its instructions; empty while nothing matches.
    pub locations: Vec<Position>,
    /// Machine-code dispatches of its line; the breakpoint stops before them.
    pub dispatches: Vec<String>,
    /// The commands of its line, in bytecode or not.
    pub(crate) commands: Vec<CommandPlace>,
    /// For places that it shares with other lines: the instructions that record its own commands.
    pub(crate) used_by: BTreeMap<Position, BTreeSet<Position>>,
    /// Whether the program never gets there.
    pub(crate) is_out_of_reach: bool,
    /// The line where it actually is, for breakpoints on lines.
    pub line: Option<u32>,
    /// The column of its operation, for breakpoints on columns.
    pub column: Option<u32>,
    /// Why it is nowhere, or in another place than asked.
    pub message: Option<String>,
    /// Whether it does anything.
    pub is_enabled: bool,
    /// Hits up to this one do not stop.
    pub(crate) ignored: u64,
    /// How often the program has reached it.
    pub(crate) hits: Hits,
    /// The moment from which it counts, and what it had counted there; `None`: from the beginning.
    pub(crate) since: Option<(Moment, u64)>,
    /// The hits that stop.
    pub hit_condition: HitCondition,
    /// The level whose names its condition and message use.
    pub(crate) level: Level,
    /// The condition for a visit to count as a hit.
    pub(crate) condition: Option<Arc<Expression>>,
    /// The message that is sent instead of stopping.
    pub(crate) log: Option<Arc<Template>>,
    /// Whether its condition could not be evaluated once, which was reported.
    pub(crate) has_failed: bool,
    /// Whether it was reported that its condition names a missing value.
    pub(crate) is_blind: bool,
    /// Whether it belongs to the program's caller, not to a client.
    pub(in crate::control) is_own: bool,
}

/// How a breakpoint counts its hits, and how many it has counted.
pub(crate) struct Counts {
    id: BreakpointId,
    condition: HitCondition,
    ignored: u64,
    hits: u64,
}

/// What a breakpoint has counted, and from where: [`Breakpoint::since`].
pub(crate) type Counted = (BreakpointId, Option<(Moment, u64)>, u64);

/// What a breakpoint stops at, while it only counts.
pub(crate) struct Stops {
    id: BreakpointId,
    ignored: u64,
    condition: HitCondition,
}

/// What a breakpoint does besides stopping at every visit.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct BreakpointOptions {
    /// An expression that must be true for a visit to count as a hit.
    pub condition: Option<String>,
    /// The hits that stop.
    pub hit_condition: HitCondition,
    /// A message with `{expressions}` that is sent instead of stopping.
    pub log: Option<String>,
}

/// Which option of a breakpoint is wrong, and why.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OptionError {
    /// The condition.
    #[error("the condition is wrong: {0}")]
    Condition(ExpressionError),
    /// The message.
    #[error("the log message is wrong: {0}")]
    Log(ExpressionError),
    /// There is no such breakpoint.
    #[error("there is no such breakpoint")]
    NoBreakpoint,
}

impl Breakpoint {
    /// How often the program has reached it.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.hits.get()
    }

    /// How many more hits do not stop, because they are ignored.
    #[must_use]
    pub fn ignores(&self) -> u64 {
        self.ignored.saturating_sub(self.hits())
    }

    /// What it does besides stopping, as it was asked for.
    #[must_use]
    pub fn options(&self) -> BreakpointOptions {
        BreakpointOptions {
            condition: self.condition.as_ref().map(|it| it.text().to_owned()),
            hit_condition: self.hit_condition,
            log: self.log.as_ref().map(|it| it.text().to_owned()),
        }
    }

    /// Whether it stops at boundaries of dispatches, which are no instructions.
    pub(crate) fn is_of_dispatches(&self) -> bool {
        let has_some =
            matches!(self.spec, BreakpointSpec::Dispatch { .. }) || !self.commands.is_empty();
        self.is_enabled && has_some
    }

    fn fits(&self, boundary: &Boundary) -> bool {
        let is_before = boundary.kind == BoundaryKind::BeforeStep;
        let fits = self.spec.fits(boundary) || (is_before && !self.commands.is_empty());
        self.is_enabled && fits
    }

    fn place(&mut self, resolution: Resolution) {
        let Resolution { locations, dispatches, line, column, message, .. } = resolution;
        let Resolution { commands, used_by, is_out_of_reach, .. } = resolution;
        (self.locations, self.dispatches, self.commands) = (locations, dispatches, commands);
        (self.used_by, self.is_out_of_reach) = (used_by, is_out_of_reach);
        (self.line, self.column, self.message) = (line, column, message);
    }

    /// Whether its message is about the running program.
    #[must_use]
    pub fn has_news(&self) -> bool {
        self.has_failed
            || matches!(&self.spec, BreakpointSpec::Data { target, .. } if target.is_gone())
    }

    /// Whether it can stop the program.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        let is_somewhere = !self.locations.is_empty() || !self.commands.is_empty();
        (is_somewhere && !self.is_out_of_reach)
            || matches!(self.spec, BreakpointSpec::Dispatch { .. } | BreakpointSpec::Data { .. })
    }
}

/// All breakpoints of a session.
#[derive(Default, Debug)]
pub struct BreakpointTable {
    breakpoints: BTreeMap<BreakpointId, Breakpoint>,
    next: u32,
}

impl BreakpointTable {
    /// Adds a breakpoint.
    pub(crate) fn add(&mut self, spec: BreakpointSpec, resolution: Resolution) -> BreakpointId {
        self.next += 1;
        let id = BreakpointId(self.next);
        let mut breakpoint = Breakpoint {
            id,
            spec,
            locations: Vec::new(),
            dispatches: Vec::new(),
            commands: Vec::new(),
            used_by: BTreeMap::new(),
            is_out_of_reach: false,
            line: None,
            column: None,
            message: None,
            is_enabled: true,
            ignored: 0,
            hits: Hits::default(),
            since: None,
            hit_condition: HitCondition::Always,
            level: Level::default(),
            condition: None,
            log: None,
            has_failed: false,
            is_blind: false,
            is_own: false,
        };
        breakpoint.place(resolution);
        self.breakpoints.insert(id, breakpoint);
        id
    }

    /// Whether a breakpoint is one of the program's caller.
    #[must_use]
    pub fn is_own(&self, id: BreakpointId) -> bool {
        self.breakpoints.get(&id).is_some_and(|it| it.is_own)
    }

    /// Takes all breakpoints but those of the program's caller.
    pub(crate) fn take_others(&mut self) -> Self {
        let all = std::mem::take(&mut self.breakpoints);
        let (own, others) = all.into_iter().partition(|(_, it)| it.is_own);
        self.breakpoints = own;
        Self { breakpoints: others, next: self.next }
    }

    /// Removes a breakpoint. Returns whether it existed.
    pub(crate) fn remove(&mut self, id: BreakpointId) -> bool {
        self.breakpoints.remove(&id).is_some()
    }

    /// A breakpoint, to change it.
    pub(crate) fn get_mut(&mut self, id: BreakpointId) -> Option<&mut Breakpoint> {
        self.breakpoints.get_mut(&id)
    }

    /// Resets all breakpoints for a program that has not run.
    pub(crate) fn begin_again(&mut self, resolve: impl Fn(&BreakpointSpec) -> Resolution) {
        for breakpoint in self.breakpoints.values_mut() {
            breakpoint.hits.set(0);
            breakpoint.since = None;
            breakpoint.ignored = 0;
            (breakpoint.has_failed, breakpoint.is_blind) = (false, false);
        }
        self.resolve_again(resolve);
    }

    /// Resolves all breakpoints again.
    pub(crate) fn resolve_again(&mut self, resolve: impl Fn(&BreakpointSpec) -> Resolution) {
        for breakpoint in self.breakpoints.values_mut() {
            let resolution = resolve(&breakpoint.spec);
            breakpoint.place(resolution);
        }
    }

    /// Whether a breakpoint stops at a boundary of native code.
    pub(crate) fn is_at_boundary(&self, boundary: &Boundary) -> bool {
        self.iter().any(|it| it.fits(boundary))
    }

    /// The breakpoint with an identifier.
    #[must_use]
    pub fn get(&self, id: BreakpointId) -> Option<&Breakpoint> {
        self.breakpoints.get(&id)
    }

    /// All breakpoints, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Breakpoint> {
        self.breakpoints.values()
    }

    /// The locations of all breakpoints, each with the breakpoints there.
    pub(crate) fn by_place(&self) -> BTreeMap<Position, Vec<BreakpointId>> {
        let mut places: BTreeMap<Position, Vec<BreakpointId>> = BTreeMap::new();
        for breakpoint in self.iter().filter(|it| it.is_enabled) {
            for position in &breakpoint.locations {
                let here = places.entry(*position).or_default();
                // Resolving may find a place twice.
                if here.last() != Some(&breakpoint.id) {
                    here.push(breakpoint.id);
                }
            }
        }
        places
    }

    /// The breakpoints at a boundary of native code.
    pub(crate) fn at_boundary(&self, boundary: &Boundary) -> Vec<BreakpointId> {
        self.iter().filter(|it| it.fits(boundary)).map(|it| it.id).collect()
    }

    /// Makes every hit of every breakpoint stop, until [`Self::resume_counts`]: going back meets
    /// hits in another order. Watched registers last, though their frames are not there yet.
    pub(crate) fn suspend_counts(&mut self) -> Vec<Counts> {
        self.set_may_come(true);
        let suspend = |breakpoint: &mut Breakpoint| Counts {
            id: breakpoint.id,
            condition: std::mem::take(&mut breakpoint.hit_condition),
            ignored: std::mem::take(&mut breakpoint.ignored),
            hits: breakpoint.hits(),
        };
        self.breakpoints.values_mut().map(suspend).collect()
    }

    /// The breakpoints count again, from where they were.
    pub(crate) fn resume_counts(&mut self, counts: Vec<Counts>) {
        self.set_may_come(false);
        for Counts { id, condition, ignored, hits } in counts {
            if let Some(breakpoint) = self.breakpoints.get_mut(&id) {
                (breakpoint.hit_condition, breakpoint.ignored) = (condition, ignored);
                breakpoint.hits.set(hits);
            }
        }
    }

    /// Breakpoints that were set later than a moment count from there: what comes after it is
    /// another line.
    pub(crate) fn count_from(&mut self, moment: &Moment) {
        for breakpoint in self.breakpoints.values_mut() {
            if breakpoint.since.as_ref().is_some_and(|(since, _)| since > moment) {
                breakpoint.since = Some((moment.clone(), 0));
            }
        }
    }

    /// What each breakpoint has counted, and from where.
    pub(crate) fn counted(&self) -> Vec<Counted> {
        self.iter().map(|it| (it.id, it.since.clone(), it.hits())).collect()
    }

    /// Each breakpoint has counted that, from there.
    pub(crate) fn set_counted(&mut self, counted: Vec<Counted>) {
        for (id, since, hits) in counted {
            if let Some(breakpoint) = self.breakpoints.get_mut(&id) {
                breakpoint.since = since;
                breakpoint.hits.set(hits);
            }
        }
    }

    /// Watched memory that the program has again is no longer gone.
    pub(crate) fn meet_watched(&mut self) {
        for breakpoint in self.breakpoints.values_mut() {
            if let BreakpointSpec::Data { target, .. } = &breakpoint.spec
                && target.is_memory()
                && target.is_there()
            {
                breakpoint.message.take_if(|text| *text == target.released());
            }
        }
    }

    /// Makes no hit of any breakpoint stop, until [`Self::resume_stops`]; they are counted.
    pub(crate) fn suspend_stops(&mut self) -> Vec<Stops> {
        let suspend = |breakpoint: &mut Breakpoint| Stops {
            id: breakpoint.id,
            ignored: std::mem::replace(&mut breakpoint.ignored, u64::MAX),
            condition: std::mem::take(&mut breakpoint.hit_condition),
        };
        self.breakpoints.values_mut().map(suspend).collect()
    }

    /// The breakpoints stop again.
    pub(crate) fn resume_stops(&mut self, stops: Vec<Stops>) {
        for Stops { id, ignored, condition } in stops {
            if let Some(breakpoint) = self.breakpoints.get_mut(&id) {
                (breakpoint.ignored, breakpoint.hit_condition) = (ignored, condition);
            }
        }
    }

    /// What counts the hits of each breakpoint.
    pub(crate) fn counters(&self) -> Vec<(BreakpointId, Hits)> {
        self.iter().map(|it| (it.id, it.hits.clone())).collect()
    }

    /// The breakpoint has been hit so often.
    pub(crate) fn set_hits(&self, id: BreakpointId, hits: u64) {
        if let Some(breakpoint) = self.get(id) {
            breakpoint.hits.set(hits);
        }
    }

    fn set_may_come(&self, may_come: bool) {
        for breakpoint in self.iter() {
            if let BreakpointSpec::Data { target, .. } = &breakpoint.spec {
                target.set_may_come(may_come);
            }
        }
    }

    /// Counts a hit, and returns whether it stops.
    pub(crate) fn count(&mut self, id: BreakpointId) -> bool {
        self.breakpoints.get_mut(&id).is_some_and(|breakpoint| {
            let hit = breakpoint.hits.get() + 1;
            breakpoint.hits.set(hit);
            breakpoint.hit_condition.stops(hit) && hit > breakpoint.ignored
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::breakpoints::spec::DispatchMoment;
    use vm::{FunctionId, ModuleIndex};
    use vmfb::{BytecodeOffset, FunctionOrdinal};

    #[test]
    fn dispatches_are_hit_by_name_before_or_after() {
        let mut table = BreakpointTable::default();
        let spec = |when| BreakpointSpec::Dispatch { pattern: "*matmul*".into(), when };
        let before = table.add(spec(DispatchMoment::Before), Resolution::default());
        let after = table.add(spec(DispatchMoment::After), Resolution::default());
        let boundary = |kind, name: &str| Boundary { kind, name: name.to_owned() };
        let matmul = "d_0_matmul_4x4";
        assert_eq!(table.at_boundary(&boundary(BoundaryKind::BeforeStep, matmul)), [before]);
        assert_eq!(table.at_boundary(&boundary(BoundaryKind::AfterStep, matmul)), [after]);
        assert!(table.at_boundary(&boundary(BoundaryKind::BeforePart, matmul)).is_empty());
        assert!(table.at_boundary(&boundary(BoundaryKind::BeforeStep, "d_1_fill")).is_empty());
    }

    #[test]
    fn two_breakpoints_on_one_instruction_are_both_hit() {
        let function = FunctionId { module: ModuleIndex(0), function: FunctionOrdinal(1) };
        let address = Position { function, offset: BytecodeOffset(5) };
        let at = || Resolution { locations: vec![address], ..Resolution::default() };
        let mut table = BreakpointTable::default();
        let first = table.add(BreakpointSpec::Function { name: "f".into() }, at());
        let second =
            table.add(BreakpointSpec::Line { file: "a.mlir".into(), line: 3, column: None }, at());
        assert_eq!(table.by_place()[&address], [first, second]);
        assert!(table.remove(first));
        assert!(!table.remove(first));
        assert_eq!(table.by_place()[&address], [second]);
        assert!(table.count(second));
        table.get_mut(second).unwrap().hit_condition = HitCondition::Exactly(3);
        assert_eq!([table.count(second), table.count(second)], [false, true]);
        assert_eq!(table.get(second).unwrap().hits(), 3);
    }
}
