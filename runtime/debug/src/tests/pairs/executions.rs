//! Looking at all executions of a tensor's dispatch, and anything else: a session that looks at
//! random stops goes the same way as one that does not, and what it is told is what a session sees
//! that is not recorded and stops at each dispatch.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::programs::{Program, device_program};
use crate::tests::going_back::{Dice, State, moment, state};
use crate::{
    Back, BreakpointSpec, Cancel, Debugger, DispatchMoment, Executions, Granularity, Look, Refused,
    Resume, RunMoment, StepKind, StopReason, Traps,
};

const NAMES: &[&str] = &["%m", "%g", "%a", "%s", "%r", "%f", "operand[2]", "%m[1]", "%none"];

/// How many executions were looked at in all sessions.
static LOOKED: AtomicUsize = AtomicUsize::new(0);

/// The means of what each command reads, and of what it leaves, by its number.
type Seen = HashMap<u64, [Vec<f64>; 2]>;

fn look(from: usize, time: Duration) -> Look {
    Look { from, most: 1 << 10, elements: usize::MAX, time, cancel: Cancel::default() }
}

fn seen(program: &Program) -> Seen {
    let mut debugger = program.fresh();
    for when in [DispatchMoment::Before, DispatchMoment::After] {
        let spec = BreakpointSpec::Dispatch { pattern: "*".to_owned(), when };
        debugger.edit_breakpoints().add(spec);
    }
    let mut seen = Seen::new();
    while !debugger.resume(Resume::Continue).is_final() {
        let is_after = debugger.machine().has_just_run(vm::FrameIndex(0));
        let Some(dispatch) = debugger.machine().standing_dispatch() else { continue };
        for operand in &dispatch.operands {
            let is_one = if is_after { operand.is_written } else { operand.is_read };
            if is_one {
                let figures = operand.tensor.as_ref().expect("memory").all_figures().unwrap();
                let all = seen.entry(dispatch.number).or_default();
                all[usize::from(is_after)].push(figures.mean);
            }
        }
    }
    assert!(seen.len() >= 3, "{}", seen.len());
    seen
}

fn seen_of(program: &'static Program) -> &'static Seen {
    static SEEN: [OnceLock<Seen>; 2] = [const { OnceLock::new() }; 2];
    SEEN[usize::from(program.is_machine_code)].get_or_init(|| seen(program))
}

/// What is told is what was seen. Returns how many executions that were.
#[track_caller]
fn check(found: &Executions, seen: &Seen, log: &str) -> usize {
    assert!(found.from + found.executions.len() <= found.total, "{log}");
    for it in &found.executions {
        let figures = it.figures.as_ref().unwrap_or_else(|why| panic!("{log}{why}"));
        assert!(it.command <= found.ran, "{log}");
        let known = &seen[&it.command][usize::from(found.is_left)];
        assert!(known.contains(&figures.mean), "{log}{it:?} {known:?}");
    }
    found.executions.len()
}

/// Where a session stands.
fn stand(debugger: &Debugger, reason: &StopReason) -> (String, Option<(RunMoment, State)>, usize) {
    let there = || (moment(debugger), state(debugger));
    let is_running = debugger.machine().invocation().is_some();
    let frames = debugger.machine().frames().len();
    (debugger.sentence(reason), is_running.then(there), frames)
}

fn command(
    dice: &mut Dice,
    log: &mut String,
) -> impl Fn(&mut Debugger) -> Result<StopReason, Refused> + use<> {
    let kind = [StepKind::Into, StepKind::Over, StepKind::Out][dice.roll(3)];
    let by = [Granularity::Line, Granularity::Statement, Granularity::Instruction][dice.roll(3)];
    let (what, number) = (dice.roll(8), dice.roll(6) as u64 + 1);
    let _ = write!(log, "{what} {kind:?} {by:?} {number} → ");
    move |debugger| match what {
        0 | 1 => Ok(debugger.resume(Resume::Continue)),
        2..=4 => Ok(debugger.resume(Resume::Step(kind, by))),
        5 => debugger.go_back(Back::Step(kind, by)),
        6 => debugger.go_back(Back::Continue),
        _ => debugger.go_to_command(number),
    }
}

fn session(program: &'static Program, seed: u64) {
    let mut dice = Dice(seed);
    for _ in 0..4 {
        dice.roll(2);
    }
    let seen = seen_of(program);
    let every = [None, Some(1), Some(5), Some(50)][dice.roll(4)];
    let mut both = [program.recorded(every), program.recorded(every)];
    let has_breakpoint = dice.roll(2) == 0;
    let when = [DispatchMoment::Before, DispatchMoment::After][dice.roll(2)];
    let traps = Traps { overflow: dice.roll(3) == 0, nan: dice.roll(3) == 0, ..Traps::default() };
    for debugger in &mut both {
        if has_breakpoint {
            let spec = BreakpointSpec::Dispatch { pattern: "*".to_owned(), when };
            debugger.edit_breakpoints().add(spec);
        }
        debugger.set_traps(traps);
    }
    let [looking, other] = &mut both;
    let mut log = format!("{} {seed}, every {every:?}\n", program.name);
    let (mut looked, mut wrong_names) = (0, 0);
    for _ in 0..25 {
        let run = command(&mut dice, &mut log);
        let reasons = [run(looking), run(other)];
        let [Ok(reason), Ok(expected)] = &reasons else {
            assert_eq!(reasons[0].is_err(), reasons[1].is_err(), "{log}{reasons:?}");
            continue;
        };
        let at = other.moment().map(|it| super::brief(&it)).unwrap_or_default();
        let _ = writeln!(log, "{expected:?} at {at}");
        let [now, then] = [stand(looking, reason), stand(other, expected)];
        assert!(now == then, "{log}{reason:?}: {} and {}", now.0, then.0);
        if expected.is_final() {
            for debugger in [&mut *looking, &mut *other] {
                assert!(matches!(debugger.go_back(Back::ToBegin), Ok(StopReason::Begin)), "{log}");
            }
            continue;
        }
        if dice.roll(2) == 0 {
            continue;
        }
        let name = NAMES[dice.roll(NAMES.len())];
        let time = [Duration::MAX, Duration::ZERO][dice.roll(2)];
        let frame = looking.machine().innermost_frame();
        match looking.executions(frame, name, &look(dice.roll(3), time)) {
            Ok(found) => looked += check(&found, seen, &log),
            Err(Refused::NoExecutions(_)) => wrong_names += 1,
            Err(why) => panic!("{log}{name}: {why}"),
        }
        assert!(stand(looking, reason) == now, "{log}a look at {name} leads elsewhere");
    }
    assert!(looked + wrong_names > 0, "{log}nothing was looked at");
    LOOKED.fetch_add(looked, Ordering::Relaxed);
}

#[test]
fn a_look_at_executions_changes_nothing() {
    super::check(1..25, |seed| session(device_program(false), seed));
    super::check(1..25, |seed| session(device_program(true), seed));
    let looked = LOOKED.load(Ordering::Relaxed);
    assert!(looked > 50, "only {looked} executions were looked at");
}

#[test]
fn all_executions_up_to_here_are_known() {
    for program in [device_program(false), device_program(true)] {
        let mut debugger = program.recorded(None);
        let spec =
            BreakpointSpec::Dispatch { pattern: "*".to_owned(), when: DispatchMoment::After };
        debugger.edit_breakpoints().add(spec);
        let mut most = 0;
        while !debugger.resume(Resume::Continue).is_final() {
            let frame = debugger.machine().innermost_frame();
            let mut found = Vec::new();
            // A part at a time.
            loop {
                let look = look(found.len(), Duration::ZERO);
                let Ok(part) = debugger.executions(frame, "%g", &look) else { break };
                check(&part, seen_of(program), "");
                found.extend(part.executions);
                if found.len() == part.total {
                    break;
                }
            }
            most = most.max(found.len());
        }
        assert_eq!(most, 3, "{}", program.name);
    }
}

#[test]
fn what_is_not_recorded_has_what_is_still_in_memory() {
    let mut debugger = device_program(false).fresh();
    let spec = BreakpointSpec::Dispatch { pattern: "*".to_owned(), when: DispatchMoment::After };
    debugger.edit_breakpoints().add(spec);
    let (mut known, mut lost) = (0, 0);
    while !debugger.resume(Resume::Continue).is_final() {
        let frame = debugger.machine().innermost_frame();
        let Ok(found) = debugger.executions(frame, "%g", &look(0, Duration::MAX)) else { continue };
        for it in &found.executions {
            match &it.figures {
                Ok(figures) => {
                    known += 1;
                    let seen = &seen_of(device_program(false))[&it.command][1];
                    assert!(seen.contains(&figures.mean));
                }
                Err(why) => {
                    lost += 1;
                    assert!(why.ends_with("; the program is not recorded"), "{why}");
                }
            }
        }
    }
    assert!(known >= 3 && lost >= 1, "{known} {lost}");
}
