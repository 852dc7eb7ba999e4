//! Running an invocation until there is an outcome.

use super::interpreter::{Hooks, run_loop};
use super::invocation::{End, Invocation, Mode, Observer, Reaction, Start};
use super::native_frame::NativeFrame;
use super::outcome::{Outcome, Stop};
use crate::context::Context;
use crate::errors::{Failure, Status};
use crate::machine::{Exit, Free, Observed};
use crate::modules::LinkedKind;
use crate::native::NativeCall;
use crate::position::Position;

/// Stops before every instruction.
struct EveryInstruction;

impl Hooks for EveryInstruction {
    type Dispatch = Observed;

    fn before(&mut self, _: &Context, _: &Invocation, _: Position) -> Reaction {
        Reaction::Stop
    }
}

impl Invocation {
    /// Runs until something ends or stops the invocation. A breakpoint at the instruction that it
    /// is stopped at does not stop it again.
    pub fn run(&mut self, context: &mut Context) -> Outcome {
        self.go_on(context, Mode::Free)
    }

    /// Executes one instruction, entering calls.
    pub fn step(&mut self, context: &mut Context) -> Outcome {
        self.go_on(context, Mode::Step)
    }

    /// Runs, asking the observer before every instruction except the one that it is stopped at.
    /// Breakpoints also stop it.
    pub fn observe(&mut self, context: &mut Context, observer: &mut dyn Observer) -> Outcome {
        self.go_on(context, Mode::Observe(observer))
    }

    fn go_on(&mut self, context: &mut Context, mut mode: Mode<'_>) -> Outcome {
        match &self.end {
            Some(End::Failed(failure)) => return Outcome::Failed(failure.clone()),
            Some(End::Completed) => {
                let status = Status::failed_precondition("the invocation has completed already");
                return Outcome::Failed(Failure { status, backtrace: Vec::new() });
            }
            None => {}
        }
        let _clock = self.meter.start_clock();
        loop {
            if self.is_in_native() {
                // It was not stopped before an instruction.
                self.is_stopped = false;
                match self.drive(context, &mut mode) {
                    Some(outcome) => return outcome,
                    None if self.is_in_native() => continue,
                    None => self.record(context),
                }
                if self.stops_after_native() {
                    let outcome = self.stopped(context, Stop::Turn);
                    // Nothing was asked about the next instruction.
                    self.is_stopped = false;
                    return outcome;
                }
            }
            if self.stack.frames.is_empty() {
                match self.start_next(context) {
                    Ok(None) if self.is_in_native() => match self.suspended(context, &mut mode) {
                        Some(outcome) => return outcome,
                        None => continue,
                    },
                    Ok(None) => self.record(context),
                    Ok(Some(exit)) => match self.conclude(context, exit) {
                        Some(outcome) => return outcome,
                        None => continue,
                    },
                    Err(status) => return self.fail(context, status),
                }
            }
            if self.meter.is_interrupted() {
                // The handler of breakpoints has heard as much of the next instruction as before.
                let is_stopped = self.is_stopped;
                let outcome = self.stopped(context, Stop::Interrupted);
                self.is_stopped = is_stopped;
                return outcome;
            }
            let exit = match self.run_in(context, &mut mode) {
                Exit::Suspended => match self.suspended(context, &mut mode) {
                    Some(outcome) => return outcome,
                    None => continue,
                },
                Exit::Completed(results) if self.is_in_native() => {
                    self.returned_to_native(results);
                    continue;
                }
                Exit::Due if !self.is_at_goal() => {
                    // The instruction has been asked about, and has not run.
                    self.is_stopped = true;
                    self.record(context);
                    continue;
                }
                exit => exit,
            };
            if let Some(outcome) = self.conclude(context, exit) {
                return outcome;
            }
        }
    }

    fn run_in(&mut self, context: &mut Context, mode: &mut Mode<'_>) -> Exit {
        let is_stopped = std::mem::take(&mut self.is_stopped);
        self.stack.passed = None;
        match mode {
            Mode::Free if is_stopped => {
                // The code with breakpoints in it would stop here again.
                match run_loop(context, self, &mut EveryInstruction, true) {
                    Exit::Observed => {
                        // That instruction may have run twice, and its guard was not asked.
                        self.stack.passed = None;
                        run_loop(context, self, &mut Free, false)
                    }
                    exit => exit,
                }
            }
            Mode::Free => run_loop(context, self, &mut Free, false),
            // The first step stops before the first instruction, which has not been reported yet.
            Mode::Step => run_loop(context, self, &mut EveryInstruction, is_stopped),
            Mode::Observe(observer) => run_loop(context, self, observer, is_stopped),
        }
    }

    /// Starts the next function; returns the exit if it ended at once.
    fn start_next(&mut self, context: &Context) -> Result<Option<Exit>, Status> {
        match std::mem::replace(&mut self.start, self.later.pop_front()) {
            None => Ok(Some(Exit::Completed(Vec::new()))),
            Some(Start::Bytecode(slot, arguments)) => {
                self.push(context, slot, arguments)?;
                Ok(None)
            }
            Some(Start::Native(id, arguments)) => {
                let (module, function) = (id.module.0, id.function.0);
                self.failed_native = Some((module, function));
                let LinkedKind::Native(native) = &context.modules[id.module.index()].kind else {
                    return Err(Status::not_found("there is no function with this id"));
                };
                let native = &native.functions[id.function.index()];
                let is_left_alone = !context.is_inspected() && self.meter.is_idle();
                let call = NativeCall::new(&arguments, native, &context.limits, is_left_alone);
                self.meter.at_native(Some((module, function)));
                let returned = (native.body)(call);
                self.meter.at_native(None);
                let returned = returned?;
                self.failed_native = None;
                Ok(match NativeFrame::new((module, function), 0, returned) {
                    Err(results) => Some(Exit::Completed(results)),
                    Ok(frame) => {
                        self.natives.push(frame);
                        None
                    }
                })
            }
        }
    }
}

impl Context {
    /// Runs all initialisers to the end, regardless of breakpoints; [`Invocation::initialize`] does
    /// it step by step.
    ///
    /// # Errors
    /// An initialiser failed.
    pub fn initialize(&mut self) -> Result<(), Failure> {
        let mut invocation = Invocation::initialize(self);
        loop {
            match invocation.run(self) {
                Outcome::Completed(_) => return Ok(()),
                Outcome::Failed(failure) => return Err(failure),
                Outcome::Yielded | Outcome::Stopped(_) => {}
            }
        }
    }
}
