//! Guards: what the interpreter checks by itself at a breakpoint, so that a visit that does not
//! stop the program costs little.

use debuginfo::Given;
use std::sync::Arc;

use vm::{Guard, Position};

use super::hits::{HitCondition, Hits};
use super::table::Breakpoint;
use crate::expression::{Expression, NumberSource, compile};
use crate::target::level::Level;
use crate::target::meaning::Meaning;
use crate::target::program::Program;

/// The meaning of the names in a breakpoint's texts, at one of its places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Names {
    pub(super) level: Level,
    /// The frame that is meant, by the inlined calls that lead to it.
    pub(super) calls: Option<usize>,
}

/// What decides whether the interpreter passes a breakpoint.
#[derive(Clone, Debug)]
pub(super) struct GuardPlan {
    condition: Option<Arc<Expression>>,
    names: Names,
    hit_condition: HitCondition,
    hits: Hits,
}

impl GuardPlan {
    /// The plan for a breakpoint at one of its places; none if every visit stops.
    pub(super) fn of(breakpoint: &Breakpoint, program: &Program, at: Position) -> Option<Self> {
        let Breakpoint { condition, hit_condition, hits, level, .. } = breakpoint;
        // If lines share a dispatch, only the debugger can tell for which command it runs, and what
        // a name means there. So the debugger counts, and decides.
        if breakpoint.used_by.contains_key(&at) {
            return None;
        }
        let calls = match condition {
            Some(_) => breakpoint.calls_meant(program, at),
            None if *hit_condition == HitCondition::Always => return None,
            None => None,
        };
        Some(Self {
            condition: condition.clone(),
            names: Names { level: *level, calls },
            hit_condition: *hit_condition,
            hits: hits.clone(),
        })
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        let is_same_condition = match (&self.condition, &other.condition) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        is_same_condition
            && self.names == other.names
            && self.hit_condition == other.hit_condition
            && self.hits.is_same(&other.hits)
    }

    /// The guard, if the condition uses only registers. It leaves visits that it cannot decide to
    /// the debugger, and counts the hits that do not stop.
    pub(super) fn guard(&self, program: &Program, at: Position) -> Option<Guard> {
        let Self { condition, names, hit_condition, hits } = self.clone();
        let passes = move || hit_condition != HitCondition::Always && hits.pass(hit_condition);
        let Some(condition) = condition else { return Some(Arc::new(move |_| !passes())) };
        let source = |name: &str| {
            let meaning = program.meaning(names.level, at, names.calls, name, Given::Unknown);
            if !meaning.as_ref().is_some_and(Meaning::is_checked)
                && let Some(slot) = program.name_slot(names.level, at, names.calls, name)
            {
                return Some(NumberSource::Register(slot));
            }
            let (recipe, scalar) = meaning?.computed()?;
            Some(NumberSource::Computed(recipe, scalar))
        };
        let test = compile(&condition, &source)?;
        Some(Arc::new(move |frame| match test(frame) {
            Some(true) => !passes(),
            undecided => undecided.is_none(),
        }))
    }
}
