//! Breakpoints: what was asked for, and where in the bytecode that turned out to be.
//!
//! The table is plain data. Arming (patching the executable form) is done by
//! [`crate::Debugger`], which keeps the set of armed addresses equal to the union of all
//! resolved locations; two breakpoints may share an instruction.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use vm::{Boundary, BoundaryKind, Position};

use super::hits::{HitCondition, Hits};
use super::spec::{BreakpointId, BreakpointSpec};
use crate::expression::{Expression, ExpressionError, Template};
use crate::target::device_lines::CommandPlace;
use crate::target::level::Level;
use crate::target::resolve::Resolution;

/// A breakpoint.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Its name.
    pub id: BreakpointId,
    /// What was asked for.
    pub spec: BreakpointSpec,
    /// Where it is; empty while nothing matches.
    pub locations: Vec<Position>,
    /// Dispatches in machine code that its line was compiled to: it is before them.
    pub dispatches: Vec<String>,
    /// The commands that its line stands for, in bytecode or not.
    pub(crate) commands: Vec<CommandPlace>,
    /// For places in dispatches that others use, too: the instructions that record the commands
    /// meant.
    pub(crate) used_by: BTreeMap<Position, BTreeSet<Position>>,
    /// Whether nothing that can run comes there.
    pub(crate) is_out_of_reach: bool,
    /// The line that it is really on, for breakpoints on lines.
    pub line: Option<u32>,
    /// The column of the operation that it is on, for breakpoints on columns.
    pub column: Option<u32>,
    /// Why it is nowhere, or elsewhere than asked.
    pub message: Option<String>,
    /// How often the program has come to it.
    pub(crate) hits: Hits,
    /// Which of the hits stop.
    pub hit_condition: HitCondition,
    /// The level whose names are meant by what follows.
    pub(crate) level: Level,
    /// What has to hold for a visit to count as a hit.
    pub(crate) condition: Option<Arc<Expression>>,
    /// What is said instead of stopping.
    pub(crate) log: Option<Arc<Template>>,
    /// Whether its condition could not be asked once: then it has been told.
    pub(crate) has_failed: bool,
    /// Whether it was said that its condition names what there is not.
    pub(crate) is_blind: bool,
}

/// What a breakpoint does besides stopping whenever the program comes to it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct BreakpointOptions {
    /// An expression that has to hold for a visit to count as a hit.
    pub condition: Option<String>,
    /// Which of the hits stop.
    pub hit_condition: HitCondition,
    /// A message with `{expressions}` to be said instead of stopping.
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
    /// How often the program has come to it.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.hits.get()
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

    /// Whether it is about dispatches, which have no instruction.
    pub(crate) fn is_of_dispatches(&self) -> bool {
        matches!(self.spec, BreakpointSpec::Dispatch { .. }) || !self.commands.is_empty()
    }

    fn fits(&self, boundary: &Boundary) -> bool {
        let is_before = boundary.kind == BoundaryKind::BeforeStep;
        self.spec.fits(boundary) || (is_before && !self.commands.is_empty())
    }

    fn place(&mut self, resolution: Resolution) {
        let Resolution { locations, dispatches, line, column, message, .. } = resolution;
        let Resolution { commands, used_by, is_out_of_reach, .. } = resolution;
        (self.locations, self.dispatches, self.commands) = (locations, dispatches, commands);
        (self.used_by, self.is_out_of_reach) = (used_by, is_out_of_reach);
        (self.line, self.column, self.message) = (line, column, message);
    }

    /// Whether its message is about what happened while the program ran.
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
    /// Adds one.
    pub fn add(&mut self, spec: BreakpointSpec, resolution: Resolution) -> BreakpointId {
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
            hits: Hits::default(),
            hit_condition: HitCondition::Always,
            level: Level::default(),
            condition: None,
            log: None,
            has_failed: false,
            is_blind: false,
        };
        breakpoint.place(resolution);
        self.breakpoints.insert(id, breakpoint);
        id
    }

    /// Removes one; tells whether it was there.
    pub fn remove(&mut self, id: BreakpointId) -> bool {
        self.breakpoints.remove(&id).is_some()
    }

    /// One of them, to change it.
    pub(crate) fn get_mut(&mut self, id: BreakpointId) -> Option<&mut Breakpoint> {
        self.breakpoints.get_mut(&id)
    }

    /// Makes all breakpoints those of a program that has not run.
    pub(crate) fn begin_again(&mut self, resolve: impl Fn(&BreakpointSpec) -> Resolution) {
        for breakpoint in self.breakpoints.values_mut() {
            breakpoint.hits.set(0);
            (breakpoint.has_failed, breakpoint.is_blind) = (false, false);
        }
        self.resolve_again(resolve);
    }

    /// Finds the places of all breakpoints anew.
    pub(crate) fn resolve_again(&mut self, resolve: impl Fn(&BreakpointSpec) -> Resolution) {
        for breakpoint in self.breakpoints.values_mut() {
            let resolution = resolve(&breakpoint.spec);
            breakpoint.place(resolution);
        }
    }

    /// Whether one of them is about a place in native code.
    pub(crate) fn is_at_boundary(&self, boundary: &Boundary) -> bool {
        self.iter().any(|it| it.fits(boundary))
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, id: BreakpointId) -> Option<&Breakpoint> {
        self.breakpoints.get(&id)
    }

    /// All of them, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Breakpoint> {
        self.breakpoints.values()
    }

    /// The addresses of all of them, and which are there.
    pub(crate) fn by_place(&self) -> BTreeMap<Position, Vec<BreakpointId>> {
        let mut places: BTreeMap<Position, Vec<BreakpointId>> = BTreeMap::new();
        for breakpoint in self.iter() {
            for position in &breakpoint.locations {
                let here = places.entry(*position).or_default();
                // A breakpoint may have found a place twice.
                if here.last() != Some(&breakpoint.id) {
                    here.push(breakpoint.id);
                }
            }
        }
        places
    }

    /// Those at a place in native code.
    pub(crate) fn at_boundary(&self, boundary: &Boundary) -> Vec<BreakpointId> {
        self.iter().filter(|it| it.fits(boundary)).map(|it| it.id).collect()
    }

    /// Counts a hit; whether it is one of those that stop.
    pub(crate) fn count(&mut self, id: BreakpointId) -> bool {
        self.breakpoints.get_mut(&id).is_some_and(|breakpoint| {
            let hit = breakpoint.hits.get() + 1;
            breakpoint.hits.set(hit);
            breakpoint.hit_condition.stops(hit)
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
