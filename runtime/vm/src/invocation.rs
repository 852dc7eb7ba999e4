//! Invocations: one activity in a context, as data.
//!
//! ```text
//!   new / initialize
//!        |
//!        v      run, step, observe
//!     [ready] ----------------------> Completed(results)   the end
//!        ^  |-----------------------> Failed(failure)      frames stay for inspection, cannot be resumed
//!        |  |-----------------------> Yielded              \
//!        |  '-----------------------> Stopped(stop)         } run again to go on
//!        '--------------------------------------------------'
//! ```
//!
//! The machine is in `interpreter`, native functions that go on in steps are driven by `driver`;
//! here is what surrounds a run of them: what runs next, what its end means. Looking at frames is
//! in `inspect`.

use std::collections::VecDeque;

use vmfb::BytecodeOffset;

use crate::activity::{Boundary, NativeFrame};
use crate::budget::{Budget, Interrupt};
use crate::context::{Context, FunctionId, LinkedKind, ModuleIndex};
use crate::interpreter::{Exit, Hooks, run_loop};
use crate::machine::{Free, Observed};
use crate::meter::Meter;
use crate::native::NativeCall;
use crate::stack::Stack;
use crate::status::{Failure, Status};
use crate::value::Value;

/// How far `run` came.
#[derive(Debug)]
pub enum Outcome {
    /// The function returned these results.
    Completed(Vec<Value>),
    /// The program gave up its turn (`vm.yield`, or a native function that waits). Run it again.
    Yielded,
    /// Something asked for a stop.
    Stopped(Stop),
    /// The program failed.
    Failed(Failure),
}

/// Why a program stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// Before an instruction with a breakpoint.
    Breakpoint(Position),
    /// After one instruction, or where an [`Observer`] said so; before the instruction at the
    /// position.
    Step(Position),
    /// [`Interrupt::request`] was called.
    Interrupted(Position),
    /// The program executed `vm.break` (or `vm.cond_break`, taken); before what comes after it.
    Requested(Position),
    /// In a native activity, where somebody may want to stop: at [`Invocation::boundary`].
    Boundary,
    /// A native activity attached a module, which nobody has looked at yet. Only where the context
    /// [is inspected](Context::is_inspected).
    Attached,
}

impl Stop {
    /// The instruction that runs next in the innermost bytecode frame, as far as the stop is about
    /// one.
    #[must_use]
    pub fn position(self) -> Option<Position> {
        match self {
            Self::Boundary | Self::Attached => None,
            Self::Breakpoint(position)
            | Self::Step(position)
            | Self::Interrupted(position)
            | Self::Requested(position) => Some(position),
        }
    }
}

/// An instruction of a context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position {
    /// The function.
    pub function: FunctionId,
    /// The instruction in it.
    pub offset: BytecodeOffset,
}

/// What an observer wants to happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reaction {
    /// Execute the instruction.
    Continue,
    /// Stop before it, with [`Stop::Step`].
    Stop,
}

/// Looks at every instruction before it runs: stepping plans, tracing, recording.
pub trait Observer {
    /// Called before the instruction at `position` runs, in the innermost frame.
    fn before_instruction(
        &mut self,
        context: &Context,
        invocation: &Invocation,
        position: Position,
    ) -> Reaction;

    /// Called when a native function begins an activity, which is then the innermost frame. To stop
    /// here is to stop before its first step.
    fn before_activity(&mut self, _context: &Context, _invocation: &Invocation) -> Reaction {
        Reaction::Continue
    }

    /// Called at a boundary of the activity that is the innermost frame: [`Invocation::boundary`].
    /// Stops are [`Stop::Boundary`].
    fn at_boundary(&mut self, _context: &Context, _invocation: &Invocation) -> Reaction {
        Reaction::Continue
    }
}

/// Stops before every instruction.
struct EveryInstruction;

impl Hooks for EveryInstruction {
    type Dispatch = Observed;

    fn before(&mut self, _: &Context, _: &Invocation, _: Position) -> Reaction {
        Reaction::Stop
    }
}

/// What starts when nothing is on the stack.
#[derive(Debug)]
enum Start {
    /// A bytecode function, by its index in the context.
    Bytecode(u32, Vec<Value>),
    /// A native function.
    Native(FunctionId, Vec<Value>),
}

/// How it ended.
#[derive(Debug)]
enum End {
    Completed,
    Failed(Failure),
}

/// How to go on.
pub(crate) enum Mode<'a> {
    Free,
    Step,
    Observe(&'a mut dyn Observer),
}

/// One activity in a context.
#[derive(Debug)]
pub struct Invocation {
    pub(crate) stack: Stack,
    pub(crate) meter: Meter,
    /// Native functions on the stack, outermost first.
    pub(crate) natives: Vec<NativeFrame>,
    /// Room for the arguments of native functions; empty between calls.
    pub(crate) native_arguments: Vec<Value>,
    /// The native function that failed at once, if one did.
    pub(crate) failed_native: Option<(u32, u32)>,
    /// What starts when nothing is on the stack, and what after that: most often nothing.
    start: Option<Start>,
    later: VecDeque<Start>,
    end: Option<End>,
    /// Whether somebody was told of a stop before the next instruction, so that it is to run now.
    is_stopped: bool,
}

impl Invocation {
    /// A call of `function`; nothing runs yet.
    ///
    /// # Errors
    /// There is no such function, or the arguments do not fit its signature.
    pub fn new(
        context: &Context,
        function: FunctionId,
        arguments: Vec<Value>,
    ) -> Result<Self, Status> {
        Self::metered(context, function, arguments, Meter::new(Budget::new(&context.limits)))
    }

    /// The same under a meter that comes from elsewhere: of a worker, it leaves requests for a stop
    /// to the invocation that it works for.
    ///
    /// # Errors
    /// There is no such function, or the arguments do not fit its signature.
    pub fn metered(
        context: &Context,
        function: FunctionId,
        arguments: Vec<Value>,
        meter: Meter,
    ) -> Result<Self, Status> {
        check_arguments(context, function, &arguments)?;
        let start = match context.slot_index(function) {
            Some(slot) => Start::Bytecode(slot, arguments),
            None => Start::Native(function, arguments),
        };
        Ok(Self::starting(context, meter, [start]))
    }

    /// What meters it, for the next invocation.
    #[must_use]
    pub fn into_meter(self) -> Meter {
        self.meter
    }

    /// Makes it obey another meter from now on.
    pub fn set_meter(&mut self, meter: Meter) {
        self.meter = meter;
    }

    /// The `__init` functions of all modules, one after the other.
    #[must_use]
    pub fn initialize(context: &Context) -> Self {
        let starts = context.modules.iter().filter_map(|module| lifecycle(module, "__init"));
        Self::starting(context, Meter::new(Budget::new(&context.limits)), starts)
    }

    /// The `__deinit` functions of all modules, the last module's first.
    #[must_use]
    pub fn deinitialize(context: &Context) -> Self {
        let modules = context.modules.iter().rev();
        let starts = modules.filter_map(|module| lifecycle(module, "__deinit"));
        Self::starting(context, Meter::new(Budget::new(&context.limits)), starts)
    }

    fn starting(context: &Context, meter: Meter, starts: impl IntoIterator<Item = Start>) -> Self {
        let mut starts = starts.into_iter();
        Self {
            stack: context
                .spare_stack
                .try_lock()
                .ok()
                .and_then(|mut spare| spare.take())
                .unwrap_or_default(),
            meter,
            natives: Vec::new(),
            native_arguments: Vec::new(),
            failed_native: None,
            start: starts.next(),
            later: starts.collect(),
            end: None,
            is_stopped: false,
        }
    }

    /// The handle that stops it from another thread.
    #[must_use]
    pub fn interrupt(&self) -> Interrupt {
        self.meter.interrupt().clone()
    }

    /// Where the activity stands that is the innermost frame, if it stands at a boundary.
    #[must_use]
    pub fn boundary(&self) -> Option<&Boundary> {
        self.natives.last().filter(|_| self.is_in_native())?.boundary.as_ref()
    }

    /// Goes on until something happens. A breakpoint at the instruction that it was stopped at is
    /// passed over.
    pub fn run(&mut self, context: &mut Context) -> Outcome {
        self.go_on(context, Mode::Free)
    }

    /// Executes one instruction, entering calls.
    pub fn step(&mut self, context: &mut Context) -> Outcome {
        self.go_on(context, Mode::Step)
    }

    /// Goes on, asking the observer before every instruction but the one it was stopped at.
    /// Breakpoints stop it too.
    pub fn observe(&mut self, context: &mut Context, observer: &mut dyn Observer) -> Outcome {
        self.go_on(context, Mode::Observe(observer))
    }

    /// Makes the innermost frame go on at another instruction of its function, before which it then
    /// stands. False: it is native, or no instruction starts there.
    pub fn jump(&mut self, context: &Context, offset: BytecodeOffset) -> bool {
        if self.is_in_native() || self.end.is_some() {
            return false;
        }
        let Some(frame) = self.stack.frames.last_mut() else { return false };
        let Some(index) = context.code(frame.slot).index_of(offset) else { return false };
        frame.index = index;
        self.is_stopped = true;
        true
    }

    /// Drops the innermost frames until the bytecode frame at `depth` (0 is the outermost) is the
    /// innermost; it stands before its call again. References that were moved into the call are
    /// gone. False: native code is on the stack, or there is no such frame.
    pub fn unwind(&mut self, depth: usize) -> bool {
        let is_all_bytecode = self.natives.is_empty() && self.failed_native.is_none();
        if !is_all_bytecode || self.end.is_some() || depth >= self.stack.frames.len() {
            return false;
        }
        while self.stack.frames.len() > depth + 1 {
            self.stack.pop();
        }
        self.is_stopped = true;
        true
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
                // Whatever it stopped before is not an instruction.
                self.is_stopped = false;
                match self.drive(context, &mut mode) {
                    Some(outcome) => return outcome,
                    None if self.is_in_native() => continue,
                    None => {}
                }
            }
            if self.stack.frames.is_empty() {
                match self.start_next(context) {
                    Ok(None) if self.is_in_native() => match self.suspended(context, &mut mode) {
                        Some(outcome) => return outcome,
                        None => continue,
                    },
                    Ok(None) => {}
                    Ok(Some(exit)) => match self.conclude(context, exit) {
                        Some(outcome) => return outcome,
                        None => continue,
                    },
                    Err(status) => return self.fail(context, status),
                }
            }
            if self.meter.is_interrupted() {
                return self.stopped(context, Stop::Interrupted);
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
                    Exit::Observed => run_loop(context, self, &mut Free, false),
                    exit => exit,
                }
            }
            Mode::Free => run_loop(context, self, &mut Free, false),
            // The first step stops before the first instruction, which nobody has seen yet.
            Mode::Step => run_loop(context, self, &mut EveryInstruction, is_stopped),
            Mode::Observe(observer) => run_loop(context, self, observer, is_stopped),
        }
    }

    /// What the end of a run means; `None`: there is more to start.
    pub(crate) fn conclude(&mut self, context: &Context, exit: Exit) -> Option<Outcome> {
        Some(match exit {
            Exit::Completed(_) if self.start.is_some() => return None,
            Exit::Completed(results) => {
                self.end = Some(End::Completed);
                if let Ok(mut spare) = context.spare_stack.try_lock() {
                    *spare = Some(std::mem::take(&mut self.stack));
                }
                Outcome::Completed(results)
            }
            Exit::Yielded | Exit::Suspended => Outcome::Yielded,
            Exit::Breakpoint => self.stopped(context, Stop::Breakpoint),
            Exit::Requested => self.stopped(context, Stop::Requested),
            Exit::Interrupted => self.stopped(context, Stop::Interrupted),
            Exit::Observed => self.stopped(context, Stop::Step),
            Exit::Failed(status) => self.fail(context, status),
        })
    }

    pub(crate) fn stopped(&mut self, context: &Context, reason: fn(Position) -> Stop) -> Outcome {
        match self.position(context) {
            Some(position) => {
                self.is_stopped = !self.is_in_native();
                Outcome::Stopped(reason(position))
            }
            None => Outcome::Yielded,
        }
    }

    pub(crate) fn fail(&mut self, context: &Context, status: Status) -> Outcome {
        let status = self.explain(status);
        let failure = Failure { status, backtrace: self.backtrace(context) };
        self.end = Some(End::Failed(failure.clone()));
        Outcome::Failed(failure)
    }

    /// It is over without an end of its own: its frames were taken. How it had failed, if it had.
    pub(crate) fn give_up(&mut self) -> Option<Status> {
        match self.end.replace(End::Completed) {
            Some(End::Failed(failure)) => Some(failure.status),
            Some(End::Completed) | None => None,
        }
    }

    /// Starts what is next; the exit if that ended at once.
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

/// A module's function that runs when the context comes or goes.
fn lifecycle(module: &crate::context::LinkedModule, name: &str) -> Option<Start> {
    match &module.kind {
        LinkedKind::Bytecode { module, first_function, .. } => {
            let (_, export) = module.export_named(name)?;
            Some(Start::Bytecode(first_function + export.function.0, Vec::new()))
        }
        LinkedKind::Native(_) => None,
    }
}

pub(crate) fn check_arguments(
    context: &Context,
    function: FunctionId,
    arguments: &[Value],
) -> Result<(), Status> {
    let ModuleIndex(module) = function.module;
    let is_there = match context.modules.get(module as usize).map(|module| &module.kind) {
        Some(LinkedKind::Bytecode { module, .. }) => module.function(function.function).is_some(),
        Some(LinkedKind::Native(module)) => module.functions.len() > function.function.index(),
        None => false,
    };
    if !is_there {
        return Err(Status::not_found("there is no function with this id"));
    }
    const NOTHING: &abi::cconv::Signature =
        &abi::cconv::Signature { arguments: Vec::new(), results: Vec::new() };
    let signature = context.signature_of(function).unwrap_or(NOTHING);
    if signature.is_variadic() {
        return Err(Status::invalid_argument(
            "the function takes spans and can be called from bytecode only",
        ));
    }
    if arguments.len() != signature.arguments.len() {
        return Err(Status::invalid_argument(format!(
            "{} arguments were given, the function takes {}: {signature}",
            arguments.len(),
            signature.arguments.len()
        )));
    }
    let pairs = arguments.iter().zip(&signature.arguments).enumerate();
    for (index, (argument, expected)) in pairs {
        let found = argument.value_type();
        if found != *expected {
            return Err(Status::invalid_argument(format!(
                "argument {index} is {found}, the function takes {expected}: {signature}"
            )));
        }
    }
    Ok(())
}
