//! Steps back, in dispatches too: they end where steps forward have stopped, wherever checkpoints
//! happen to be.

use std::fmt::Write;

use super::brief;
use super::counts::place;
use super::programs::{Program, device_program, machine_program};
use crate::tests::drawn_clock::DrawnClock;
use crate::tests::going_back::{Dice, State, moment, state};
use crate::{Back, Debugger, Granularity, Resume, RunMoment, StepKind, StopReason};

const KINDS: [StepKind; 3] = [StepKind::Into, StepKind::Over, StepKind::Out];
const GRANULARITIES: [Granularity; 3] =
    [Granularity::Line, Granularity::Statement, Granularity::Instruction];

/// A stop on the way: when, what, and how many frames are shown.
type Stop = (RunMoment, State, usize);

fn stop(debugger: &Debugger) -> Stop {
    (moment(debugger), state(debugger), debugger.machine().frames().len())
}

/// The stops of steps from the entry to the end.
fn way(program: &Program, kind: StepKind, by: Granularity) -> Vec<Stop> {
    let mut debugger = program.fresh();
    let mut way = Vec::new();
    loop {
        way.push(stop(&debugger));
        let reason = debugger.resume(Resume::Step(kind, by));
        if reason.is_final() {
            return way;
        }
        assert!(way.len() < 5000, "{} does not end", program.name);
    }
}

/// From some stop of a way, a step back leads to the one before.
fn in_dispatches(program: &'static Program, seed: u64) {
    let mut dice = Dice(seed);
    for _ in 0..4 {
        dice.roll(2);
    }
    let every = [None, Some(1), Some(5)][dice.roll(3)];
    let by = GRANULARITIES[dice.roll(2)];
    let way = way(program, StepKind::Into, by);
    let mut debugger = program.recorded(every);
    let inside = way.iter().filter(|it| it.0.inner_turns().is_some()).count();
    assert!(program.name == "machine" || inside > 0, "no step has entered a dispatch");
    let mut log = format!("{} {seed}, {by:?}, every {every:?}\n", program.name);
    let mut at = 0;
    for _ in 0..6 {
        // Forward to some stop, then back for a while.
        for _ in 0..dice.roll(way.len() - at) {
            debugger.resume(Resume::Step(StepKind::Into, by));
            at += 1;
            assert_eq!(moment(&debugger), way[at].0, "{log}");
        }
        for _ in 0..1 + dice.roll(12) {
            let here = &way[at].0;
            let _ = writeln!(log, "back from stop {at}, {}", brief(here));
            let before = at.checked_sub(1);
            let reason = debugger.go_back(Back::Step(StepKind::Into, by)).expect("it is recorded");
            let Some(before) = before else {
                assert!(matches!(reason, StopReason::Begin), "{log}{reason:?}");
                break;
            };
            let found = moment(&debugger);
            if found != way[before].0 {
                let at = way.iter().position(|it| it.0 == found);
                panic!(
                    "{log}the step leads to {at:?}, {}, and not to {before}, {}",
                    brief(&found),
                    brief(&way[before].0)
                );
            }
            assert!(stop(&debugger) == way[before], "{log}the state is another");
            at = before;
        }
    }
}

/// A way back leads to one place, whatever checkpoints there are.
fn by_checkpoints(program: &'static Program, seed: u64) {
    let mut dice = Dice(seed);
    for _ in 0..4 {
        dice.roll(2);
    }
    let history = &program.history;
    let target = (dice.roll(4) > 0).then(|| history[dice.roll(history.len())].0.clone());
    let step = Back::Step(KINDS[dice.roll(3)], GRANULARITIES[dice.roll(3)]);
    let back = [step, step, step, Back::Continue][dice.roll(4)];
    let breakpoint = if dice.roll(2) == 0 { place(program, &mut dice) } else { None };
    let mut found: Option<(Checkpoints, RunMoment, String)> = None;
    let counted = [1, 2, 3, 7, 20, 50].map(Checkpoints::Every);
    for checkpoints in (0..4).map(Checkpoints::Drawn).chain(counted) {
        let (_clock, every) = match checkpoints {
            Checkpoints::Drawn(number) => (Some(DrawnClock::begin(seed * 4 + number)), None),
            Checkpoints::Every(turns) => (None, Some(turns)),
        };
        let mut debugger = program.recorded(every);
        match &target {
            Some(target) => drop(debugger.go_to(target).expect("it comes there")),
            None => drop(debugger.resume(Resume::Continue)),
        }
        if let Some(spec) = &breakpoint {
            debugger.edit_breakpoints().add(spec.clone());
        }
        let reason = debugger.go_back(back).expect("it is recorded");
        let (now, reason) = (moment(&debugger), format!("{reason:?}"));
        let expected = found.get_or_insert_with(|| (checkpoints, now.clone(), reason.clone()));
        assert!(
            (&now, &reason) == (&expected.1, &expected.2),
            "{} {seed}: {back:?} from {:?} with {breakpoint:?} leads to {}, {reason}, with \
             checkpoints {checkpoints:?}, and to {}, {}, with {:?}",
            program.name,
            target.as_ref().map(brief),
            brief(&now),
            brief(&expected.1),
            expected.2,
            expected.0,
        );
    }
}

/// How a recording takes checkpoints.
#[derive(Clone, Copy, Debug)]
enum Checkpoints {
    /// At random.
    Drawn(u64),
    /// After so many turns.
    Every(u64),
}

#[test]
fn steps_back_in_dispatches() {
    super::check(1..4, |seed| in_dispatches(device_program(false), seed));
    super::check(1..3, |seed| in_dispatches(device_program(true), seed));
    super::check(1..4, |seed| in_dispatches(machine_program(), seed));
}

#[test]
fn steps_back_with_any_checkpoints() {
    super::check(1..4, |seed| by_checkpoints(machine_program(), seed));
    super::check(1..4, |seed| by_checkpoints(device_program(false), seed));
    super::check(1..4, |seed| by_checkpoints(device_program(true), seed));
}
