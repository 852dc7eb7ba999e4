//! The debugger: the façade over a machine and its control.
//!
//! ```text
//!   load ──> standing before the initialisers
//!                 │ resume
//!                 v
//!             running ──> Breakpoint, Step, Pause, Entry ──> resume again
//!                 │
//!                 ├─────> Failed       frames stay for inspection; cannot resume
//!                 └─────> Completed    no frames
//! ```
//!
//! [`Debugger::resume`] blocks until the program stops. A caller with other work to do moves the
//! debugger to a thread of its own and keeps an [`InterruptHandle`]. Everything else needs a
//! stopped program, which the borrow checker enforces.

mod calls;
mod past;

pub use calls::{Caller, Next};

use std::time::Instant;

use abi::tensor::Tensor;

use crate::control::assign::Assignment;
use crate::control::breakpoint_edit::BreakpointEdit;
use crate::control::breakpoints::log::{LogMessage, LogSink};
use crate::control::breakpoints::spec::BreakpointSpec;
use crate::control::breakpoints::table::BreakpointTable;
use crate::control::by_hand::{Changed, HandChange, HandWrite};
use crate::control::kept_dispatch::outcome::DispatchRerun;
use crate::control::record::fork::BeforeChange;
use crate::control::refused::Refused;
use crate::control::runner::Runner;
use crate::control::stop::{DataHit, Resume, StopReason};
use crate::control::traps::settings::Traps;
use crate::control::twins::{NoTensorOfTwin, NoTwin, TwinStays, Twins};
use crate::expression::{EvaluationError, ExpressionError, Limits, PrintHistory};
use crate::interrupt::InterruptHandle;
use crate::machine::{Machine, NoListing};
use crate::opinion::{Evaluated, Evaluations, NotEvaluated};
use crate::target::files::ChangedFile;
use crate::target::launch::{LaunchError, LaunchOptions};
use crate::target::level::Level;
use crate::target::program::Program;
use crate::tensor::TensorView;
use crate::view::frame::FrameId;
use crate::view::memory::Memory;
use crate::view::variable::Variable;
use values::{Input, InputError};
use vm::{FrameIndex, Moment as RunMoment, Position};

/// A program under the debugger.
pub struct Debugger {
    runner: Runner,
    /// What tensors should be.
    evaluations: Evaluations,
    /// The changed files that were reported.
    reported_files: Vec<ChangedFile>,
    /// What calls the program's functions, if something does.
    caller: Option<Box<dyn Caller>>,
    /// Since when the program stands still.
    stands_since: Instant,
}

impl Debugger {
    /// Loads modules and links them. The program stands before its initialisers.
    ///
    /// # Errors
    /// A module cannot be loaded, verified or linked, or the function and its inputs do not fit.
    pub fn load(options: LaunchOptions) -> Result<Self, LaunchError> {
        let interrupt = options.interrupt.clone();
        let twins = Twins::new(options.iree_compile.clone(), options.skips_comparison);
        let waiting = options.waiting.clone();
        let (record, past) = (options.record, options.past);
        let expected = options.expected.clone();
        let runner = Runner::new(Machine::load(options)?, interrupt, twins);
        let mut runner = runner.waiting_by(waiting);
        if let Some(options) = past {
            runner.machine.program.host().device().allocator().journal().keep(options.keeps());
        }
        if let Some(options) = record {
            runner.record(options).map_err(|refused| LaunchError::Inputs(refused.to_string()))?;
        }
        if let Some(expected) = &expected {
            runner.expect_run(expected);
        }
        Ok(Self {
            runner,
            evaluations: Evaluations::default(),
            reported_files: Vec::new(),
            caller: None,
            stands_since: Instant::now(),
        })
    }

    /// The stopped program: its stack, scopes and values.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.runner.machine
    }

    /// The program as it was loaded.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.runner.machine.program
    }

    /// A handle that stops a running program.
    #[must_use]
    pub fn interrupt_handle(&self) -> InterruptHandle {
        self.runner.interrupt.clone()
    }

    /// Lets the program run. The time for which it stood still before does not count as its own.
    fn timed<T>(&mut self, run: impl FnOnce(&mut Runner) -> T) -> T {
        let history = self.runner.machine.program.host().device().history();
        history.stood_still(self.stands_since.elapsed());
        if let Some(caller) = &mut self.caller
            && self.runner.machine.running().is_some()
        {
            caller.runs();
        }
        self.runner.is_told_of_change = false;
        let outcome = run(&mut self.runner);
        self.stands_since = Instant::now();
        outcome
    }

    /// Goes to another moment. What runs again on the way is compared with what ran before.
    fn travel(
        &mut self,
        go: impl FnOnce(&mut Runner) -> Result<StopReason, Refused>,
    ) -> Result<StopReason, Refused> {
        let went = self.timed(|runner| go(runner).map(|reason| runner.checked(reason)));
        if self.runner.take_other_line() {
            self.evaluations.values_changed();
        }
        went
    }

    /// The dispatch of machine code that resuming will first compile to bytecode, to step into it.
    #[must_use]
    pub fn dispatch_to_compile(&self, how: Resume) -> Option<String> {
        match how {
            Resume::Step(kind, granularity) => self.runner.twin_to_compile(kind, granularity),
            _ => None,
        }
    }

    /// Whether what a dispatch of machine code leaves is compared with what its bytecode has left,
    /// once it was stepped into.
    #[must_use]
    pub fn compares_bytecode(&self) -> bool {
        !self.runner.twins.skips_comparison
    }

    /// Changes that.
    pub fn set_compares_bytecode(&mut self, compares: bool) {
        self.runner.twins.skips_comparison = !compares;
    }

    /// A tensor as the bytecode of the last dispatch has left it, while its memory holds what the
    /// machine code has left.
    ///
    /// # Errors
    /// That dispatch did not run as both, or does not use the tensor.
    pub fn twin_of_tensor(&self, tensor: &TensorView) -> Result<TensorView, NoTensorOfTwin> {
        self.runner.twin_of_tensor(tensor)
    }

    /// Makes the dispatch of machine code before which the program stands run as bytecode, when the
    /// program resumes. Unless that result stays, the machine code runs after it, on the same
    /// inputs, and [`Self::twin_of_tensor`] has what the bytecode has left.
    ///
    /// # Errors
    /// The program does not stand before such a dispatch, or there is no bytecode of it.
    pub fn run_as_twin(&mut self, stays: TwinStays) -> Result<(), NoTwin> {
        self.runner.run_as_twin(stays)
    }

    /// Makes the bytecode of all dispatches of machine code ahead of time, in few runs of the
    /// compiler, which `on_compile` hears of. What cannot be made says so when it is asked for.
    pub fn make_twins(&mut self, on_compile: &dyn Fn()) {
        self.runner.make_twins(on_compile);
    }

    /// Writes bytes into memory of the program, at an offset.
    ///
    /// # Errors
    /// The memory does not have the range, or is read-only; or the program is recorded, and the
    /// user was not told at this stop that this ends its past.
    pub fn write_memory(
        &mut self,
        memory: &Memory,
        offset: i64,
        bytes: &[u8],
    ) -> Result<(), Refused> {
        let write = HandWrite::Bytes(memory.clone(), offset, bytes.to_vec());
        let text = format!("{} bytes of memory at {:#x}", bytes.len(), write.addresses().start);
        let before = self.runner.may_set()?;
        self.runner.before_writing(Some(&write));
        memory.write(offset, bytes)?;
        self.runner.wrote_by_hand(write.clone());
        self.values_changed(before, HandChange { what: Changed::Memory(write), text });
        Ok(())
    }

    /// The user has set a value.
    fn values_changed(&mut self, before: Option<BeforeChange>, change: HandChange) {
        self.runner.twins.values_changed();
        self.runner.has_set(before, change);
        let is_in_command = self.runner.is_in_command();
        self.runner.machine.values_changed(is_in_command);
        self.evaluations.values_changed();
        self.runner.dispatches.values_changed();
        self.runner.watcher.forget_pause();
    }

    /// What a tensor should be: the dispatch that has left it, evaluated by its text in float64 and
    /// exact integers. At a stop of [`Traps::difference`] that is what it was compared with.
    ///
    /// # Errors
    /// No dispatch has left it, what that has read is no longer there, or its text has something
    /// that is not evaluated.
    pub fn evaluated(&mut self, tensor: &TensorView) -> Result<Evaluated, NotEvaluated> {
        match self.runner.dispatches.expected(&self.runner.machine, tensor) {
            Some(judged) => Ok(judged),
            None => self.evaluations.of(&self.runner.machine, tensor),
        }
    }

    /// Reads values that the results of the function are to be compared with, as
    /// `iree-run-module --expected_output=` does.
    ///
    /// # Errors
    /// A text is no value of its type, or there is one too many.
    pub fn parse_results<T: AsRef<str>>(&self, texts: &[T]) -> Result<Vec<Input>, InputError> {
        let Machine { program, context, .. } = self.machine();
        let signature = context.signature(program.entry()).unwrap_or_default();
        values::parse_values(program.host(), &signature.results, texts)
    }

    /// The present moment, to which [`Self::go_to`] can return.
    #[must_use]
    pub fn moment(&self) -> Option<RunMoment> {
        self.runner.moment()
    }

    /// Whether a launch with the same inputs comes to this moment with the same values. Not after a
    /// change by hand.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        !self.machine().by_hand.has_left_its_run && self.moment().is_some()
    }

    /// Goes to a moment of the recorded run, back or forward.
    ///
    /// # Errors
    /// Nothing is recorded, or the program does not come there.
    pub fn go_to(&mut self, moment: &RunMoment) -> Result<StopReason, Refused> {
        self.travel(|runner| runner.go_to(moment))
    }

    /// Goes to before a command of the recorded run, by its number among all that ran: see
    /// [`crate::RanCommand::number`].
    ///
    /// # Errors
    /// Nothing is recorded, or there is no such command.
    pub fn go_to_command(&mut self, number: u64) -> Result<StopReason, Refused> {
        self.travel(|runner| runner.go_to_command(number))
    }

    /// Runs to a place, unless something stops the program earlier.
    ///
    /// # Errors
    /// The place is nowhere; the message says why.
    pub fn run_to(&mut self, spec: &BreakpointSpec) -> Result<StopReason, Refused> {
        let reason = self.travel(|runner| runner.run_to(spec))?;
        Ok(self.offer(reason))
    }

    /// The instructions of a place at which the innermost frame can resume.
    ///
    /// # Errors
    /// The place is nowhere, or not in the frame's function.
    pub fn goto_targets(&self, spec: &BreakpointSpec) -> Result<Vec<Position>, Refused> {
        self.runner.goto_targets(spec)
    }

    /// Makes the innermost frame resume at another instruction of its function. Nothing is run.
    ///
    /// # Errors
    /// The instruction is elsewhere, or the code from there on reads registers that nothing has
    /// written; or this ends the past of a recorded program, as in [`Self::assign`].
    pub fn jump(&mut self, target: Position) -> Result<(), Refused> {
        self.runner.may_change("a jump")?;
        self.runner.jump(target)?;
        self.runner.forget_past();
        Ok(())
    }

    /// Restarts a frame with the arguments that it was called with; the program then stands before
    /// the frame's first instruction. What the frame has done to globals and objects stays done. A
    /// frame of a dispatch, or in one, restarts the dispatch, with its memory as it was before it,
    /// but for what the user has set since.
    ///
    /// # Errors
    /// The frame is native, native code has called it, or an argument is gone; or this ends the
    /// past of a recorded program, as in [`Self::assign`]. Of a dispatch: what it has overwritten
    /// is not known.
    pub fn restart_frame(&mut self, frame: FrameIndex) -> Result<StopReason, Refused> {
        if self.runner.is_of_command(frame) {
            self.runner.may_run_changed()?;
            return self.runner.restart_dispatch();
        }
        self.runner.may_change("restarting a frame")?;
        let restarted = self.runner.restart_frame(frame)?;
        self.runner.forget_past();
        Ok(restarted)
    }

    /// Whether [`Self::rerun`] can be done.
    ///
    /// # Errors
    /// As there.
    pub fn may_rerun(&mut self) -> Result<(), Refused> {
        self.runner.may_rerun()
    }

    /// Runs the dispatch again that has just run, on the inputs that it had, but for what the user
    /// has set since; it keeps its number. What it leaves is compared with what it had left:
    /// [`Self::take_rerun`].
    ///
    /// # Errors
    /// The program stands at no dispatch that has run, or what that has overwritten is not known.
    pub fn rerun(&mut self) -> Result<StopReason, Refused> {
        self.runner.may_run_changed()?;
        let reason = self.travel(Runner::rerun)?;
        Ok(self.offer(reason))
    }

    /// How what the dispatch has left that has run again compares with what it had left before;
    /// once. A breakpoint in it may have stopped the program before that is known.
    #[must_use]
    pub fn take_rerun(&mut self) -> Option<DispatchRerun> {
        self.runner.rerun.take()
    }

    /// Shows and steps the program in the text of another level, from where it stands.
    ///
    /// # Errors
    /// No module has that text; the message says how to get it.
    pub fn set_level(&mut self, level: Level) -> Result<(), NoListing> {
        self.runner.machine.set_level(level)
    }

    /// Sets what one expression names to the value of another, and returns the new value as it is
    /// shown.
    ///
    /// # Errors
    /// One of them is no expression or does not make sense here, the first names nothing that can
    /// be changed, or it cannot take the value; or the program is recorded: at each stop, the first
    /// assignment is refused and says that it ends the past, and the next one is made.
    pub fn assign(
        &mut self,
        frame: impl Into<FrameId>,
        target: &str,
        value: &str,
    ) -> Result<Variable, ExpressionError> {
        let assignment = self.runner.machine.assignment(frame, target, value)?;
        self.make(assignment)
    }

    /// Sets all elements of what an expression names, as [`Debugger::assign`].
    ///
    /// # Errors
    /// As there; it has to be a tensor of the same type.
    pub fn assign_elements(
        &mut self,
        frame: impl Into<FrameId>,
        target: &str,
        new: Tensor,
    ) -> Result<Variable, ExpressionError> {
        let assignment = self.runner.machine.assignment_of_elements(frame, target, new)?;
        self.make(assignment)
    }

    fn make(&mut self, assignment: Assignment) -> Result<Variable, ExpressionError> {
        let before = self.runner.may_set().map_err(|told| {
            ExpressionError::without_place(EvaluationError::NotSettable(told.to_string()))
        })?;
        let change = assignment.change();
        self.runner.before_writing(change.write());
        let assigned = self.runner.machine.assign(assignment)?;
        if let Some(write) = change.write() {
            self.runner.wrote_by_hand(write.clone());
        }
        self.runner.machine.by_hand.has_left_its_run = true;
        self.values_changed(before, change);
        Ok(assigned)
    }

    /// What there is to say of the line of time that the last change has begun, once.
    #[must_use]
    pub fn take_new_line(&mut self) -> Option<String> {
        self.runner.take_new_line()
    }

    /// Lets the next change at this stop end the past: the user knows that it does.
    pub fn accept_change(&mut self) {
        self.runner.accept_change();
    }

    /// The value of an expression, which may call pure functions of the program.
    ///
    /// # Errors
    /// The text is no expression, does not make sense here, takes too long, or calls a function
    /// that is not pure.
    pub fn evaluate_in_console(
        &mut self,
        frame: impl Into<FrameId>,
        expression: &str,
        limits: Limits,
    ) -> Result<Variable, ExpressionError> {
        self.runner.machine.evaluate_in_console(frame, expression, limits)
    }

    /// The same, kept as the next of the printed values, which expressions call `$1`, `$2`, and so
    /// on; with its number, if it has a value.
    ///
    /// # Errors
    /// As there.
    pub fn print_in_console(
        &mut self,
        frame: impl Into<FrameId>,
        expression: &str,
        limits: Limits,
    ) -> Result<(Option<usize>, Variable), ExpressionError> {
        self.runner.machine.print_in_console(frame.into(), expression, limits)
    }

    /// What was printed. A program that takes the place of another one takes it over.
    pub fn printed(&mut self) -> &mut PrintHistory {
        &mut self.runner.machine.printed
    }

    /// The breakpoints.
    #[must_use]
    pub fn breakpoints(&self) -> &BreakpointTable {
        &self.runner.breakpoints.table
    }

    /// The breakpoints, to change them. Instructions are armed once, when the edit is dropped.
    pub fn edit_breakpoints(&mut self) -> BreakpointEdit<'_> {
        BreakpointEdit::new(&mut self.runner)
    }

    /// Sets the receiver of log messages, which arrive while the program runs.
    pub fn set_log_sink(&mut self, sink: impl FnMut(LogMessage) + Send + 'static) {
        self.runner.breakpoints.log = LogSink::new(sink);
    }

    /// Sets which numbers stop the program where they go wrong.
    pub fn set_traps(&mut self, traps: Traps) {
        self.runner.set_traps(traps);
    }

    /// Which numbers stop the program.
    #[must_use]
    pub fn traps(&self) -> Traps {
        self.runner.watcher.traps
    }

    /// What [`Traps`] look for now, one line each.
    #[must_use]
    pub fn catches(&self) -> Vec<String> {
        self.runner.catches()
    }

    /// Why the program is stopped, and where: a sentence without its full stop.
    #[must_use]
    pub fn sentence(&self, reason: &StopReason) -> String {
        self.runner.sentence(reason)
    }

    /// `%sq changed: 99 → 1, by arith.addi at lists.mlir:44`.
    #[must_use]
    pub fn data_sentence(&self, hit: &DataHit) -> String {
        self.runner.data_sentence(hit)
    }

    /// The condition that could not be evaluated at this stop, and why.
    #[must_use]
    pub fn failed_condition(&self) -> Option<String> {
        self.runner.failed_condition()
    }

    /// The files that have changed since the program was loaded. Each is returned once.
    pub fn newly_changed_files(&mut self) -> Vec<ChangedFile> {
        let mut changed = self.program().changed_files();
        changed.retain(|file| self.reported_files.iter().all(|known| known.path != file.path));
        self.reported_files.extend(changed.iter().cloned());
        changed
    }

    /// How often all breakpoints were armed.
    #[cfg(test)]
    pub(crate) fn arming_rounds(&self) -> usize {
        self.runner.breakpoints.armed.rounds
    }
}
