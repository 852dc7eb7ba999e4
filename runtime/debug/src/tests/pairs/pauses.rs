//! Pauses of commands: the program stops at a true place, a journey leaves it where it was, and the
//! next command leads to where it leads without a pause.

use std::fmt::Write;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::programs::{Program, device_program, machine_program};
use crate::tests::going_back::{Dice, moment};
use crate::{
    Back, BreakpointSpec, Debugger, Granularity, HitCondition, Refused, Resume, RunMoment,
    StepKind, StopReason,
};

/// Asks for a pause at some time.
pub(super) struct Clock(JoinHandle<()>);

impl Clock {
    /// Within some microseconds.
    pub(super) fn start(debugger: &Debugger, dice: &mut Dice, within: usize) -> Self {
        let handle = debugger.interrupt_handle();
        let delay = Duration::from_micros(dice.roll(within.max(1)) as u64);
        Self(thread::spawn(move || {
            let end = Instant::now() + delay;
            while Instant::now() < end {
                thread::yield_now();
            }
            handle.interrupt();
        }))
    }

    /// The command is over; a request that came later does not count.
    pub(super) fn stop(self, debugger: &Debugger) {
        self.0.join().expect("it only waits");
        debugger.interrupt_handle().withdraw();
    }
}

/// A command of a user.
#[derive(Clone, Debug)]
enum Command {
    Resume(Resume),
    Back(Back),
    Moment(RunMoment),
    Number(u64),
    WhoWrote(&'static str),
    First(&'static str),
}

impl Command {
    fn random(program: &Program, dice: &mut Dice) -> Self {
        let (kind, by) = (
            [StepKind::Into, StepKind::Over, StepKind::Out][dice.roll(3)],
            [Granularity::Line, Granularity::Statement, Granularity::Instruction][dice.roll(3)],
        );
        let ahead = if program.is_machine_code { StepKind::Over } else { kind };
        match dice.roll(14) {
            0..3 => Self::Resume(Resume::Continue),
            3..6 => Self::Resume(Resume::Step(ahead, by)),
            6..8 => Self::Back(Back::Continue),
            8..10 => Self::Back(Back::Step(kind, by)),
            10 => Self::Moment(program.history[dice.roll(program.history.len())].0.clone()),
            11 => Self::Number(1 + dice.roll(5) as u64),
            12 => Self::WhoWrote(program.watched[dice.roll(program.watched.len())]),
            _ => Self::First(program.conditions[dice.roll(program.conditions.len())]),
        }
    }

    fn is_journey(&self) -> bool {
        !matches!(self, Self::Resume(_))
    }

    fn run(&self, debugger: &mut Debugger, is_again: bool) -> Result<StopReason, Refused> {
        match self {
            Self::Resume(_) if is_again => Ok(debugger.resume(Resume::AsBefore)),
            Self::Resume(how) => Ok(debugger.resume(*how)),
            Self::Back(how) => debugger.go_back(*how),
            Self::Moment(moment) => debugger.go_to(moment),
            Self::Number(number) => debugger.go_to_command(*number),
            Self::WhoWrote(text) => {
                let frame = debugger.machine().innermost_frame();
                debugger.who_wrote(frame, text)
            }
            Self::First(condition) => debugger.go_to_first(condition),
        }
    }
}

/// What a user sees of a session.
fn seen(debugger: &Debugger, reason: &Result<StopReason, Refused>) -> String {
    let mut text = match reason {
        Ok(StopReason::Completed(_)) => "over".to_owned(),
        Ok(reason) => debugger.sentence(reason),
        Err(refused) => refused.to_string(),
    };
    let _ = writeln!(text, "\n{:?}", debugger.moment());
    for frame in debugger.machine().frames() {
        let _ = writeln!(text, "{} {:?}", frame.name, frame.source);
    }
    for breakpoint in debugger.breakpoints().iter() {
        let _ =
            writeln!(text, "{:?} {} {:?}", breakpoint.id, breakpoint.hits(), breakpoint.message);
    }
    text
}

fn begun(
    program: &Program,
    every: Option<u64>,
    dice: &mut Dice,
    log: &mut String,
) -> [Debugger; 2] {
    let mut both = [program.recorded(every), program.recorded(every)];
    let text = std::fs::read_to_string(&program.case.source).expect("it is there");
    for _ in 0..dice.roll(3) {
        let line = u32::try_from(1 + dice.roll(text.lines().count())).expect("a short text");
        let file = program.case.source.display().to_string();
        let hits = match dice.roll(3) {
            0 => HitCondition::Every(2),
            _ => HitCondition::Always,
        };
        let _ = writeln!(log, "breakpoint on {line} {hits:?}");
        for debugger in &mut both {
            let spec = BreakpointSpec::Line { file: file.clone(), line, column: None };
            let id = debugger.edit_breakpoints().add(spec);
            debugger.edit_breakpoints().set_hit_condition(id, hits);
        }
    }
    both
}

fn session(program: &'static Program, seed: u64) -> usize {
    let mut dice = Dice(seed);
    for _ in 0..4 {
        dice.roll(2);
    }
    let every = [None, Some(1), Some(5)][dice.roll(3)];
    let mut log = format!("{} {seed}, every {every:?}\n", program.name);
    let [mut debugger, mut quiet] = begun(program, every, &mut dice, &mut log);
    let mut pauses = 0;
    for _ in 0..16 {
        let command = Command::random(program, &mut dice);
        let _ = writeln!(log, "{command:?} from {:?}", debugger.moment());
        let before = seen(&debugger, &Ok(StopReason::Step));
        let was_over = debugger.moment().is_none();
        let began = Instant::now();
        let expected = command.run(&mut quiet, false);
        let expected = seen(&quiet, &expected);
        let took = usize::try_from(began.elapsed().as_micros()).expect("not so long");
        let mut found = Ok(StopReason::Pause);
        for round in 0..3 {
            // The last round is undisturbed.
            let clock = (round < 2).then(|| Clock::start(&debugger, &mut dice, took));
            let is_again = matches!(found, Ok(StopReason::Pause)) && round > 0;
            found = command.run(&mut debugger, is_again);
            if let Some(clock) = clock {
                clock.stop(&debugger);
            }
            // A program that was over is over again.
            let is_over = matches!(found, Ok(StopReason::Completed(_)));
            if is_over && was_over && command.is_journey() {
                found = Ok(StopReason::Pause);
            }
            if !matches!(found, Ok(StopReason::Pause)) {
                break;
            }
            pauses += 1;
            let _ = writeln!(log, "  paused at {:?}", debugger.moment());
            if let Some(here) = debugger.moment() {
                program.check_state(&debugger, &log);
                assert!(!debugger.machine().frames().is_empty(), "{log}{here:?} has no frame");
            }
            if command.is_journey() {
                let stands = seen(&debugger, &Ok(StopReason::Step));
                assert_eq!(stands, before, "{log}a journey that is paused leads elsewhere");
            }
        }
        assert_eq!(seen(&debugger, &found), expected, "{log}");
        if debugger.moment().is_some() {
            program.check_state(&debugger, &log);
            assert_eq!(moment(&debugger), moment(&quiet), "{log}");
        }
    }
    eprintln!("{} {seed}: {pauses} pauses", program.name);
    pauses
}

#[test]
fn paused_commands_of_the_machine() {
    super::check(1..7, |seed| assert!(session(machine_program(), seed) < 33));
}

#[test]
fn paused_commands_of_dispatches() {
    super::check(1..5, |seed| assert!(session(device_program(false), seed) < 33));
    super::check(1..4, |seed| assert!(session(device_program(true), seed) < 33));
}
