//! Breakpoints with conditions, hit counts and messages: where they stop and what they have counted
//! follows from the visits that a fresh session makes, wherever the program was in between.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use super::pauses::Clock;
use super::programs::{Program, device_program, machine_program};
use crate::tests::going_back::{Dice, moment};
use crate::{
    Back, BreakpointId, BreakpointOptions, BreakpointSpec, Debugger, DispatchMoment, Granularity,
    HitCondition, Resume, RunMoment, StepKind, StopReason,
};

/// A breakpoint of a session.
struct Set {
    id: BreakpointId,
    condition: HitCondition,
    is_log: bool,
    /// When it is hit.
    visits: Vec<RunMoment>,
    /// From where it counts.
    since: RunMoment,
}

impl Set {
    fn hits(&self, at: &RunMoment) -> u64 {
        self.visits.iter().filter(|visit| **visit > self.since && *visit <= at).count() as u64
    }

    fn stops_at(&self, at: &RunMoment) -> bool {
        self.visits.contains(at) && !self.is_log && self.condition.stops(self.hits(at))
    }
}

/// A line of the program where something stops, at random.
fn line(program: &Program, dice: &mut Dice) -> Option<BreakpointSpec> {
    let count = std::fs::read_to_string(&program.case.source).expect("it is there").lines().count();
    let file = program.case.source.display().to_string();
    let mut fresh = program.fresh();
    (0..20).find_map(|_| {
        let line = u32::try_from(1 + dice.roll(count)).ok()?;
        let spec = BreakpointSpec::Line { file: file.clone(), line, column: None };
        let id = fresh.edit_breakpoints().add(spec.clone());
        let added = fresh.breakpoints().get(id)?;
        let is_there = added.is_verified() && added.line == Some(line) && added.message.is_none();
        fresh.edit_breakpoints().remove(id);
        is_there.then_some(spec)
    })
}

/// Where a breakpoint is, at random.
pub(super) fn place(program: &Program, dice: &mut Dice) -> Option<BreakpointSpec> {
    if !program.has_dispatches() || dice.roll(2) == 0 {
        return line(program, dice);
    }
    let pattern = ["*", "*matmul*"][dice.roll(2)].to_owned();
    let when = [DispatchMoment::Before, DispatchMoment::After][dice.roll(2)];
    Some(BreakpointSpec::Dispatch { pattern, when })
}

fn condition(program: &Program, dice: &mut Dice) -> Option<String> {
    let text = program.conditions[dice.roll(program.conditions.len())];
    (dice.roll(2) == 0).then(|| text.to_owned())
}

/// When a breakpoint is hit in a session that only goes forward; nothing, if its condition cannot
/// be judged somewhere.
fn visits(
    program: &Program,
    spec: &BreakpointSpec,
    condition: Option<&String>,
) -> Option<Vec<RunMoment>> {
    let mut fresh = program.fresh();
    let id = fresh.edit_breakpoints().add(spec.clone());
    let options =
        BreakpointOptions { condition: condition.cloned(), ..BreakpointOptions::default() };
    fresh.edit_breakpoints().set_options(id, &options).ok()?;
    let mut visits = Vec::new();
    while matches!(fresh.resume(Resume::Continue), StopReason::Breakpoint(_)) {
        visits.push(moment(&fresh));
    }
    fresh.breakpoints().get(id).is_some_and(|it| it.message.is_none()).then_some(visits)
}

fn set(
    program: &Program,
    debugger: &mut Debugger,
    dice: &mut Dice,
    log: &mut String,
) -> Option<Set> {
    let spec = place(program, dice)?;
    let is_dispatch = matches!(spec, BreakpointSpec::Dispatch { .. });
    let condition = condition(program, dice).filter(|_| !is_dispatch);
    let visits = visits(program, &spec, condition.as_ref())?;
    let hit_condition = match dice.roll(6) {
        0 => HitCondition::Exactly(1 + dice.roll(4) as u64),
        1 => HitCondition::Every(2 + dice.roll(2) as u64),
        2 => HitCondition::AtLeast(2 + dice.roll(3) as u64),
        _ => HitCondition::Always,
    };
    let is_log = dice.roll(5) == 0;
    let message = is_log.then(|| "here".to_owned());
    let _ = writeln!(log, "{spec:?} if {condition:?} {hit_condition:?} {is_log} {}", visits.len());
    let id = debugger.edit_breakpoints().add(spec);
    let options = BreakpointOptions { condition, hit_condition, log: message };
    debugger.edit_breakpoints().set_options(id, &options).expect("it was fine before");
    let since = moment(debugger);
    Some(Set { id, condition: hit_condition, is_log, visits, since })
}

fn session(program: &'static Program, seed: u64) {
    let mut dice = Dice(seed);
    for _ in 0..4 {
        dice.roll(2);
    }
    let every = [None, Some(1), Some(5)][dice.roll(3)];
    let mut debugger = program.recorded(every);
    let said = Arc::new(Mutex::new(0_usize));
    let sink = Arc::clone(&said);
    debugger.set_log_sink(move |message| {
        *sink.lock().unwrap() += usize::from(message.text == "here");
    });
    let mut log = format!("{} {seed}, every {every:?}\n", program.name);
    let mut sets: Vec<Set> = (0..1 + dice.roll(2))
        .filter_map(|_| set(program, &mut debugger, &mut dice, &mut log))
        .collect();
    for _ in 0..16 {
        let Some(here) = debugger.moment() else {
            debugger.go_back(Back::Step(StepKind::Over, Granularity::Line)).expect("recorded");
            let here = moment(&debugger);
            check_counts(program, &debugger, &mut sets, &here, &log);
            continue;
        };
        if dice.roll(10) == 0 {
            sets.extend(set(program, &mut debugger, &mut dice, &mut log));
        }
        *said.lock().unwrap() = 0;
        let choice = dice.roll(9);
        let target = program.history[dice.roll(program.history.len())].0.clone();
        let (kind, by) = (
            [StepKind::Into, StepKind::Over, StepKind::Out][dice.roll(3)],
            [Granularity::Line, Granularity::Statement, Granularity::Instruction][dice.roll(3)],
        );
        let kind = if program.is_machine_code { StepKind::Over } else { kind };
        let _ = write!(log, "{choice} {kind:?} {by:?} from {here:?}");
        let clock = (dice.roll(3) == 0).then(|| Clock::start(&debugger, &mut dice, 1500));
        let is_paused = clock.is_some();
        let go = |debugger: &mut Debugger, resume: Resume| match choice {
            0 | 1 => debugger.go_to(&target),
            2 | 3 => debugger.go_back(Back::Continue),
            4 => debugger.go_back(Back::Step(kind, by)),
            _ => Ok(debugger.resume(resume)),
        };
        let how = if choice < 7 { Resume::Continue } else { Resume::Step(kind, by) };
        let mut reason = go(&mut debugger, how).expect("it is recorded");
        if let Some(clock) = clock {
            clock.stop(&debugger);
        }
        if matches!(reason, StopReason::Pause) {
            let _ = write!(log, " paused at {:?}", debugger.moment());
            if choice < 5 {
                assert_eq!(debugger.moment().as_ref(), Some(&here), "{log}");
            }
            let paused = debugger.moment();
            if let Some(paused) = &paused {
                program.check_state(&debugger, &log);
                check_counts(program, &debugger, &mut sets, paused, &log);
            }
            reason = go(&mut debugger, Resume::AsBefore).expect("it is recorded");
        }
        let found = debugger.moment();
        let _ = writeln!(log, " → {reason:?} at {found:?}");
        let is_back = choice < 5 && found.as_ref().is_some_and(|found| *found <= here);
        match choice {
            0 | 1 => assert_eq!(found.as_ref(), Some(&target), "{log}"),
            2 | 3 => {
                let visits = sets.iter().filter(|it| !it.is_log).flat_map(|it| &it.visits);
                let last = visits.filter(|at| **at < here).max();
                assert_eq!(found.as_ref(), Some(last.unwrap_or(&program.history[0].0)), "{log}");
            }
            5 | 6 => {
                let visits = sets.iter().flat_map(|it| it.visits.iter().map(move |at| (it, at)));
                let next = visits.filter(|(it, at)| **at > here && it.stops_at(at));
                let next = next.map(|it| it.1).min();
                assert_eq!(found.as_ref(), next, "{log}");
            }
            _ => {}
        }
        let until = found.clone();
        let said_on_way = *said.lock().unwrap();
        let on_way = |at: &&RunMoment| **at > here && until.as_ref().is_none_or(|it| *at <= it);
        let expected: usize = match choice {
            0..5 => 0,
            _ => sets
                .iter()
                .filter(|it| it.is_log)
                .map(|it| {
                    let visits = it.visits.iter().filter(on_way);
                    visits.filter(|at| it.condition.stops(it.hits(at))).count()
                })
                .sum(),
        };
        if !is_back && !is_paused {
            assert_eq!(said_on_way, expected, "{log}messages");
        }
        if let Some(found) = &found {
            program.check_state(&debugger, &log);
            check_counts(program, &debugger, &mut sets, found, &log);
        }
    }
}

/// Each breakpoint has counted what it has met from where it was set.
#[track_caller]
fn check_counts(_: &Program, debugger: &Debugger, sets: &mut [Set], at: &RunMoment, log: &str) {
    for set in sets {
        if *at < set.since {
            set.since = at.clone();
        }
        let hits = debugger.breakpoints().get(set.id).expect("it is there").hits();
        assert_eq!(hits, set.hits(at), "{log}breakpoint {:?}", set.id);
    }
}

#[test]
fn counted_hits_of_the_machine() {
    super::check(1..7, |seed| session(machine_program(), seed));
}

#[test]
fn counted_hits_of_dispatches() {
    super::check(1..4, |seed| session(device_program(false), seed));
    super::check(1..3, |seed| session(device_program(true), seed));
}

/// A step out of a call ends where a breakpoint is that does not stop yet.
#[test]
fn where_a_call_has_returned_counts_once() {
    let program = machine_program();
    let mut debugger = program.fresh();
    let file = program.case.source.display().to_string();
    let text = std::fs::read_to_string(&program.case.source).expect("it is there");
    let after = text.lines().position(|line| line.contains("%odd = "));
    let line = u32::try_from(after.expect("what follows a call") + 1).expect("a short text");
    let id = debugger.edit_breakpoints().add(BreakpointSpec::Line { file, line, column: None });
    let options = BreakpointOptions {
        condition: Some("@wide > 0".to_owned()),
        hit_condition: HitCondition::AtLeast(100),
        log: None,
    };
    debugger.edit_breakpoints().set_options(id, &options).expect("they are fine");
    let at = debugger.breakpoints().get(id).and_then(|it| it.locations.first().copied());
    let at = at.expect("it is set");
    let (mut visits, mut last) = (0, 0);
    while debugger.machine().invocation().is_some() {
        let depth = debugger.machine().depth();
        let out = Resume::Step(StepKind::Out, Granularity::Statement);
        let into = Resume::Step(StepKind::Into, Granularity::Instruction);
        debugger.resume(if (depth, last) == (2, 3) { out } else { into });
        last = depth;
        visits += u64::from(debugger.machine().position() == Some(at));
        let hits = debugger.breakpoints().get(id).expect("it is there").hits();
        assert_eq!(hits, visits, "{:?}", debugger.machine().position());
    }
    assert!(visits > 2, "{visits} visits");
}

/// The first call of a function runs its instruction twice: once until the function is translated.
#[test]
fn a_condition_at_a_call_is_asked_each_time() {
    let program = machine_program();
    let mut debugger = program.fresh();
    let file = program.case.source.display().to_string();
    let text = std::fs::read_to_string(&program.case.source).expect("it is there");
    let call = text.lines().position(|line| line.contains("%a = util.call @outer"));
    let line = u32::try_from(call.expect("a call") + 1).expect("a short text");
    let id = debugger.edit_breakpoints().add(BreakpointSpec::Line { file, line, column: None });
    let condition = Some("i0 > 1".to_owned());
    let options = BreakpointOptions { condition, ..BreakpointOptions::default() };
    debugger.edit_breakpoints().set_options(id, &options).expect("it is fine");
    let mut stops = 0;
    while matches!(debugger.resume(Resume::Continue), StopReason::Breakpoint(_)) {
        stops += 1;
    }
    assert_eq!(stops, 5, "as many as the loop has turns");
}
