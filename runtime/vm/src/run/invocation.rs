//! Invocations: one activity in a context, as data.
//!
//! ```text
//!   new / initialize
//!        |
//!        v      run, step, observe
//!     [ready] ----------------------> Completed(results)   the end
//!        ^  |-----------------------> Failed(failure)      frames stay, cannot be resumed
//!        |  |-----------------------> Yielded              \
//!        |  '-----------------------> Stopped(stop)         } run again to resume
//!        '--------------------------------------------------'
//! ```
//!
//! This file holds the data of an invocation, and how one starts. `interpreter` runs its bytecode
//! frames, `native_driver` its native functions, `running` alternates between the two, `ending`
//! turns the end of a run into an outcome, and `inspect` looks at frames. `moment` says how far it
//! has come, and `checkpoint` keeps and restores its state.

use std::collections::VecDeque;

use vmfb::BytecodeOffset;

use super::checkpoint::Recorder;
use super::moment::Clock;
use super::native_frame::NativeFrame;
use crate::context::Context;
use crate::errors::{Failure, Status};
use crate::limits::{Budget, Interrupt, Meter};
use crate::modules::LinkedKind;
use crate::modules::LinkedModule;
use crate::native::{Boundary, Watch};
use crate::objects::Value;
use crate::position::{FunctionId, ModuleIndex, Position};
use crate::stack::Stack;

/// What an observer wants to happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reaction {
    /// Execute the instruction.
    Continue,
    /// Stop before it, with [`crate::Stop::Step`].
    Stop,
}

/// Sees every instruction before it runs: for stepping plans, tracing, recording.
pub trait Observer {
    /// How closely activities are watched meanwhile. Unless it is [`Watch::Parts`], what they run
    /// elsewhere, on other threads, is not observed.
    fn watch(&self) -> Watch {
        Watch::Parts
    }

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
    /// Stops are [`crate::Stop::Boundary`].
    fn at_boundary(&mut self, _context: &Context, _invocation: &Invocation) -> Reaction {
        Reaction::Continue
    }
}

/// What starts when nothing is on the stack.
#[derive(Debug)]
pub(super) enum Start {
    /// A bytecode function, by its index in the context.
    Bytecode(u32, Vec<Value>),
    /// A native function.
    Native(FunctionId, Vec<Value>),
}

/// How an invocation ended.
#[derive(Debug)]
pub(super) enum End {
    Completed,
    Failed(Failure),
}

/// How to run.
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
    /// What starts when the stack is empty, and what starts later: usually nothing.
    pub(super) start: Option<Start>,
    pub(super) later: VecDeque<Start>,
    pub(super) end: Option<End>,
    /// Where it is in its own time, and where it wants to come to: see `moment`.
    pub(super) clock: Clock,
    /// Takes checkpoints, if something does.
    pub(super) recorder: Option<Box<dyn Recorder>>,
    /// Whether a stop before the next instruction has been reported, so that the instruction now
    /// runs.
    pub(super) is_stopped: bool,
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

    /// A call under the meter of another invocation: a worker leaves requests to stop to the
    /// invocation that it works for.
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

    /// The meter, for the next invocation.
    #[must_use]
    pub fn into_meter(self) -> Meter {
        self.meter
    }

    /// Puts the invocation under another meter.
    pub fn set_meter(&mut self, meter: Meter) {
        self.meter = meter;
    }

    /// An invocation of the `__init` functions of all modules, one after the other.
    #[must_use]
    pub fn initialize(context: &Context) -> Self {
        let starts = context.modules.iter().filter_map(initializer);
        Self::starting(context, Meter::new(Budget::new(&context.limits)), starts)
    }

    pub(super) fn starting(
        context: &Context,
        meter: Meter,
        starts: impl IntoIterator<Item = Start>,
    ) -> Self {
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
            clock: Clock::default(),
            recorder: None,
            is_stopped: false,
        }
    }

    /// The handle that stops the invocation from another thread.
    #[must_use]
    pub fn interrupt(&self) -> Interrupt {
        self.meter.interrupt().clone()
    }

    /// Sets what takes checkpoints.
    pub fn set_recorder(&mut self, recorder: Option<Box<dyn Recorder>>) {
        self.recorder = recorder;
    }

    /// The boundary that the innermost frame's activity is at, if it is at one.
    #[must_use]
    pub fn boundary(&self) -> Option<&Boundary> {
        self.natives.last().filter(|_| self.is_in_native())?.boundary.as_ref()
    }

    /// Whether breakpoints and observers were asked about the next instruction: a run from here
    /// does not ask them again.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.is_stopped
    }

    /// Breakpoints and observers have been asked about the next instruction of bytecode, by
    /// another run that has come to it.
    pub fn set_asked(&mut self) {
        self.is_stopped |= !self.is_in_native();
    }

    /// The innermost frame's activity was put back to a boundary that it has left: it stands there
    /// again.
    pub fn stand_at(&mut self, boundary: Boundary) {
        if self.is_in_native()
            && let Some(native) = self.natives.last_mut()
        {
            native.boundary = Some(boundary);
        }
    }

    /// Drops the frames of what the innermost native function has called, which is then the
    /// innermost frame; what they have done stays done. False: no native function is on the stack,
    /// or nothing runs any more.
    pub fn unwind_to_native(&mut self) -> bool {
        let is_over = self.failed_native.is_some() || self.end.is_some();
        let Some(native) = self.natives.last_mut().filter(|_| !is_over) else { return false };
        while self.stack.frames.len() > native.depth {
            self.stack.pop();
        }
        native.results.clear();
        self.is_stopped = false;
        true
    }

    /// Makes the innermost frame continue at another instruction of its function, and stops before
    /// it. False: the frame is native, or no instruction starts there.
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
    /// innermost; it is then before its call again. References that were moved into the call are
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
}

/// The function of a module that runs before all others.
fn initializer(module: &LinkedModule) -> Option<Start> {
    match &module.kind {
        LinkedKind::Bytecode { module, first_function, .. } => {
            let (_, export) = module.export_named("__init")?;
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
