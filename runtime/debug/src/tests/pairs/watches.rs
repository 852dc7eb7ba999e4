//! Watched data: stops forward and backward are the changes that a run by instruction sees.

use std::fmt::Write;

use super::programs::{Program, device_program, machine_program};
use crate::inspect::watch_target::Snapshot;
use crate::inspect::watchable::WhoseRegister;
use crate::tests::going_back::{Dice, moment};
use crate::{
    Back, BreakpointId, BreakpointSpec, DataAccess, Debugger, Granularity, Resume, RunMoment,
    StepKind, StopReason, WatchTarget,
};

/// What is said of the contents of a register before it had the watched value.
const UNKNOWN: &str = "another value → ";

/// A change: after the first moment, and not after the second one; the end of the program has none.
#[derive(Clone, Debug)]
struct Change {
    after: RunMoment,
    until: Option<RunMoment>,
}

impl Change {
    fn is_at(&self, moment: &RunMoment) -> bool {
        self.after < *moment && self.until.as_ref().is_none_or(|until| moment <= until)
    }
}

/// The value of watched data, if it has one at this moment. A register that holds another value for
/// now leaves it as it was.
fn value(debugger: &Debugger, target: &WatchTarget, is_gone: &mut bool) -> Option<Snapshot> {
    let machine = debugger.machine();
    let invocation = machine.invocation().expect("it runs");
    let is_away = target.frame_depth().is_some_and(|depth| machine.depth() <= depth);
    *is_gone |= is_away;
    if *is_gone {
        return Some(None);
    }
    let (bytes, _) = target.look(&machine.context, invocation);
    match machine.whose_register(target) {
        WhoseRegister::Its => Some(bytes),
        WhoseRegister::AnothersForNow => None,
        WhoseRegister::Anothers => {
            *is_gone = bytes.is_some();
            None
        }
    }
}

/// The changes from here to the end, by instruction.
fn changes_ahead(
    program: &Program,
    debugger: &mut Debugger,
    target: &WatchTarget,
    end: Option<&RunMoment>,
) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut is_gone = false;
    let mut last = value(debugger, target, &mut is_gone).flatten();
    loop {
        let after = moment(debugger);
        if end.is_some_and(|end| after >= *end) {
            return changes;
        }
        if program.step(debugger).is_final() {
            return changes;
        }
        let seen = value(debugger, target, &mut is_gone);
        let Some(now) = seen else { continue };
        if now.is_some() && last.is_some() && now != last {
            changes.push(Change { after, until: Some(moment(debugger)) });
        }
        if now.is_some() || target.is_memory() {
            last = now;
        }
    }
}

/// Comes to a moment by instruction.
fn come_to(program: &Program, debugger: &mut Debugger, at: &RunMoment) {
    while moment(debugger) < *at {
        assert!(!program.step(debugger).is_final());
    }
}

/// Something that can be watched where the program stands.
fn choose(program: &Program, debugger: &Debugger, dice: &mut Dice) -> Option<&'static str> {
    let frame = debugger.machine().innermost_frame();
    (0..12).find_map(|_| {
        let text = program.watched[dice.roll(program.watched.len())];
        debugger.machine().watch_target(frame, text).is_ok().then_some(text)
    })
}

struct Session {
    program: &'static Program,
    debugger: Debugger,
    id: BreakpointId,
    /// What was done, for the message of a failure.
    log: String,
}

impl Session {
    fn stop(&self, reason: &StopReason) -> Option<(RunMoment, String)> {
        match reason {
            StopReason::Data(hits) => {
                let told: Vec<_> = hits.iter().map(|it| self.debugger.data_sentence(it)).collect();
                Some((moment(&self.debugger), told.join("; ")))
            }
            reason if reason.is_final() || matches!(reason, StopReason::Begin) => None,
            other => panic!("{}{other:?}", self.log),
        }
    }

    /// Whether the breakpoint says that what it watches does not come back.
    fn is_gone(&self) -> bool {
        let breakpoint = self.debugger.breakpoints().get(self.id);
        let message = breakpoint.and_then(|it| it.message.as_deref()).unwrap_or_default();
        message.contains("its function has returned") || message.contains("something else now")
    }

    fn stops_ahead(&mut self) -> Vec<(RunMoment, String)> {
        let mut stops = Vec::new();
        loop {
            let reason = self.debugger.resume(Resume::Continue);
            let Some(stop) = self.stop(&reason) else { return stops };
            self.program.check_state(&self.debugger, &self.log);
            stops.push(stop);
        }
    }

    fn stops_back(&mut self) -> Vec<(RunMoment, String)> {
        let mut stops = Vec::new();
        loop {
            let reason = self.debugger.go_back(Back::Continue).expect("it is recorded");
            let Some(stop) = self.stop(&reason) else { break };
            self.program.check_state(&self.debugger, &self.log);
            stops.push(stop);
            assert!(stops.len() < 2000, "{}it does not get back: {:?}", self.log, stops.last());
        }
        stops.reverse();
        stops
    }

    /// Stops are the changes, one each, in order.
    #[track_caller]
    fn check_changes(&self, stops: &[(RunMoment, String)], changes: &[Change], what: &str) {
        for at in 0..stops.len().max(changes.len()) {
            let fits = match (stops.get(at), changes.get(at)) {
                (Some((moment, _)), Some(change)) => change.is_at(moment),
                _ => false,
            };
            assert!(
                fits,
                "{}{what}: stop {at} of {}: {:?}\nchange {at} of {}: {:?}\n{:?}",
                self.log,
                stops.len(),
                stops.get(at),
                changes.len(),
                changes.get(at),
                self.debugger.breakpoints().get(self.id).and_then(|it| it.message.clone()),
            );
        }
    }

    /// The same stops, of which the same is told. What was there before a value may not be known,
    /// where the way back has begun in between.
    #[track_caller]
    fn check_told(
        &self,
        stops: &[(RunMoment, String)],
        others: &[(RunMoment, String)],
        what: &str,
    ) {
        assert_eq!(stops.len(), others.len(), "{}{what}", self.log);
        for ((at, told), (other, other_told)) in stops.iter().zip(others) {
            assert_eq!(at, other, "{}{what}", self.log);
            let new = |it: &str| it.split_once(" → ").map(|it| it.1.to_owned());
            let is_known = !told.contains(UNKNOWN) && !other_told.contains(UNKNOWN);
            match is_known {
                true => assert_eq!(told, other_told, "{}{what}", self.log),
                false => assert_eq!(new(told), new(other_told), "{}{what}", self.log),
            }
        }
    }

    /// One command of a walk, and the stop to which it has to lead.
    fn walk(&mut self, dice: &mut Dice, all: &[RunMoment], is_told: &mut bool) {
        let here = self.debugger.moment();
        let choice = dice.roll(8);
        let _ = write!(self.log, "{choice} from {here:?}");
        let by = Granularity::Instruction;
        let (reason, expected) = match choice {
            0 => {
                let (target, _) = &self.program.history[dice.roll(self.program.history.len())];
                let _ = write!(self.log, " to {target:?}");
                let reason = self.debugger.go_to(target).expect("it is recorded");
                (reason, Some(target.clone()))
            }
            1..4 => {
                let ahead = all.iter().find(|at| here.as_ref().is_none_or(|here| *at > here));
                let ahead = ahead.filter(|_| here.is_some()).cloned();
                (self.debugger.resume(Resume::Continue), ahead)
            }
            4..7 => {
                let is_before = |at: &&RunMoment| {
                    let Some(here) = &here else { return true };
                    *at < here || *at == here && !*is_told
                };
                let back = all.iter().rev().find(is_before).cloned();
                let begin = &self.program.history[0].0;
                let reason = self.debugger.go_back(Back::Continue).expect("it is recorded");
                (reason, Some(back.unwrap_or_else(|| begin.clone())))
            }
            _ if here.is_some() && dice.roll(2) == 0 => {
                let reason = self.debugger.resume(Resume::Step(StepKind::Over, by));
                let found = self.debugger.moment();
                let is_change = found.as_ref().is_some_and(|it| all.contains(it));
                let on_way = here
                    .as_ref()
                    .zip(found.as_ref())
                    .is_some_and(|(from, to)| all.iter().any(|at| at > from && at < to));
                assert!(!on_way, "{}: a step passes a change", self.log);
                assert_eq!(is_change, matches!(reason, StopReason::Data(_)), "{}", self.log);
                (reason, found)
            }
            _ => {
                let reason = self.debugger.go_back(Back::Step(StepKind::Into, by));
                (reason.expect("it is recorded"), self.debugger.moment())
            }
        };
        *is_told = matches!(reason, StopReason::Data(_));
        let _ = writeln!(self.log, " → {reason:?} {:?}", self.debugger.moment());
        assert_eq!(self.debugger.moment(), expected, "{}", self.log);
        if expected.is_some() {
            self.program.check_state(&self.debugger, &self.log);
        }
    }
}

fn session(program: &'static Program, seed: u64) {
    let mut dice = Dice(seed);
    for _ in 0..4 {
        dice.roll(2);
    }
    let every = [None, Some(1), Some(5)][dice.roll(3)];
    let at = program.history[dice.roll(program.history.len())].0.clone();
    // A fresh session says what there is to watch, and how it changes.
    let mut fresh = program.fresh();
    come_to(program, &mut fresh, &at);
    let Some(text) = choose(program, &fresh, &mut dice) else { return };
    let frame = fresh.machine().innermost_frame();
    let target = fresh.machine().watch_target(frame, text).expect("it was there");
    let ahead = changes_ahead(program, &mut fresh, &target, None);

    let mut debugger = program.recorded(every);
    debugger.go_to(&at).expect("it comes there");
    let frame = debugger.machine().innermost_frame();
    let target = debugger.machine().watch_target(frame, text).expect("it is there, too");
    // A recorded session sees the changes before, while nothing is watched.
    let before = changes_before(program, &mut debugger, &target, &at);
    let spec = BreakpointSpec::Data { target, access: DataAccess::Change };
    let id = debugger.edit_breakpoints().add(spec);
    let log = format!("{} {seed}: watch {text} at {at:?}, every {every:?}\n", program.name);
    let mut session = Session { program, debugger, id, log };

    let stops = session.stops_ahead();
    session.check_changes(&stops, &ahead, "ahead");
    let back = session.stops_back();
    if session.is_gone() {
        // Its call is over, or its register is another value's: it ends there, and says so.
        assert_eq!(back, [], "{}", session.log);
        return;
    }
    let changes = [before, ahead].concat();
    // That it is computed is told, too, if something else was there before.
    let is_first = |it: &&(RunMoment, String)| it.1.contains(UNKNOWN);
    let first = usize::from(back.first().filter(is_first).is_some());
    session.check_changes(&back[first..], &changes, "back");
    let told = &back[back.len().saturating_sub(stops.len())..];
    session.check_told(told, &stops, "back");
    let again = session.stops_ahead();
    session.check_told(&again, &back, "once more");
    session.debugger.go_to(&at).expect("it is recorded");
    let all: Vec<RunMoment> = back.into_iter().map(|it| it.0).collect();
    let mut is_told = false;
    for _ in 0..12 {
        session.walk(&mut dice, &all, &mut is_told);
    }
}

/// The changes before a moment, of data that is known there: those of the call that it is in.
fn changes_before(
    program: &Program,
    debugger: &mut Debugger,
    target: &WatchTarget,
    at: &RunMoment,
) -> Vec<Change> {
    debugger.go_back(Back::ToBegin).expect("it is recorded");
    let mut from = moment(debugger);
    if let Some(depth) = target.frame_depth() {
        // The frame begins after the last moment without it.
        loop {
            if moment(debugger) >= *at {
                break;
            }
            let is_away = debugger.machine().depth() <= depth;
            program.step(debugger);
            if is_away {
                from = moment(debugger);
            }
        }
        debugger.go_to(&from).expect("it is recorded");
    }
    let changes = changes_ahead(program, debugger, target, Some(at));
    debugger.go_to(at).expect("it is recorded");
    changes
}

#[test]
fn watched_data_of_the_machine() {
    super::check(1..7, |seed| session(machine_program(), seed));
}

#[test]
fn watched_data_of_dispatches() {
    super::check(1..5, |seed| session(device_program(false), seed));
    super::check(1..4, |seed| session(device_program(true), seed));
}
