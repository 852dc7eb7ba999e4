//! Native activities: native functions that run in steps.
//!
//! A native function that only computes returns its results. A function that takes long, runs
//! bytecode, or does something that users want to watch step by step (a device that executes
//! recorded commands) returns an [`Activity`] instead. The activity is then a frame of the stack,
//! between the bytecode frame that called it and the frames of functions that it calls itself; the
//! invocation resumes it whenever it is the innermost frame. So nothing recurses on the host, and a
//! program can be stopped, inspected and abandoned in the middle of a native function as it can in
//! bytecode.
//!
//! ```text
//!           bytecode calls the native function
//!                        |
//!                        v           Again, Boundary: look at interrupts, observers, stops
//!   +--------------> [resume] ---------------------------------------------------> [resume]
//!   | results            |---> Wait: the invocation yields
//!   |                    |---> Call, Adopt: bytecode frames above this one
//!   +--- it returns <----'---> Return: the frame is gone, the caller resumes
//! ```

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use vmfb::verify::VerifiedModule;

use super::module::NativeModule;
use super::moved_frames::MovedFrames;
use crate::errors::{LinkError, Status};
use crate::limits::{ExecutionLimits, RunControl};
use crate::objects::{Ref, Value};
use crate::position::{FunctionId, ModuleIndex};

/// A native function that runs in steps. It keeps its own state, and can describe what it is doing.
pub trait Activity: Any + Send + fmt::Debug {
    /// Continues until it has something to report. `results` are those of the function that the
    /// last [`Next::Call`] called, and empty otherwise.
    ///
    /// # Errors
    /// The native function fails. The frame stays for inspection.
    fn resume(&mut self, host: &mut Host<'_>, results: Vec<Value>) -> Result<Next, Status>;

    /// What the activity is in the middle of, outermost first, one line each: they show as frames
    /// above the native function's own.
    fn parts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Adds the place inside the activity to a failure, in the user's words.
    fn explain(&self, status: Status) -> Status {
        status
    }

    /// How far it has come: numbers that only grow, first the ones that count most. They are the
    /// same in every run, however closely it is watched.
    fn progress(&self) -> Vec<u64> {
        Vec::new()
    }

    /// The objects that its steps may change, other than memory of devices.
    fn changes(&self) -> Vec<Ref> {
        Vec::new()
    }

    /// The number of parts, for frequent callers.
    fn part_count(&self) -> usize {
        self.parts().len()
    }

    /// What makes the activity again as it is now, before one of its steps. `None`: it cannot be
    /// kept, or not here.
    fn keep(&self) -> Option<KeptActivity> {
        None
    }
}

/// An activity, kept before one of its steps.
#[derive(Clone)]
pub struct KeptActivity {
    /// Makes it again.
    pub again: Arc<dyn Fn() -> Box<dyn Activity> + Send + Sync>,
    /// While this number is the same, the steps between two kept activities of one call have
    /// changed nothing outside of the activity but what the owner of a log puts back, such as
    /// memory of devices.
    pub stretch: u64,
}

impl fmt::Debug for KeptActivity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptActivity").field("stretch", &self.stretch).finish_non_exhaustive()
    }
}

/// What an activity wants next.
#[derive(Debug)]
pub enum Next {
    /// It is done; these are the results of the native function.
    Return(Vec<Value>),
    /// It waits for something outside: the invocation yields.
    Wait,
    /// It has more to do. The invocation checks interrupts and fuel, so an activity that works for
    /// long should return this about every millisecond.
    Again,
    /// It is at a place where a debugger may want to stop.
    Boundary(Boundary),
    /// It calls a bytecode function and is resumed with the results.
    Call {
        /// The function.
        function: FunctionId,
        /// Its arguments.
        arguments: Vec<Value>,
    },
    /// It continues with frames of another invocation, as if it had called their functions, and is
    /// resumed with their results. If they have failed, the invocation fails there.
    Adopt {
        /// The module of the frames, in this context.
        module: ModuleIndex,
        /// The frames.
        frames: MovedFrames,
    },
}

/// A place in an activity where a debugger may want to stop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Boundary {
    /// Where in the activity.
    pub kind: BoundaryKind,
    /// The user's name for what begins or has ended; may be empty.
    pub name: String,
}

/// Activities consist of steps; a step may consist of parts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BoundaryKind {
    /// A step is next.
    BeforeStep,
    /// A part of a step is next.
    BeforePart,
    /// A step is done.
    AfterStep,
}

/// How closely activities are watched. Unwatched work may take a faster path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Watch {
    /// No stops at boundaries.
    #[default]
    Nothing,
    /// Stops before and after steps are possible.
    Steps,
    /// Stops at parts of steps are possible too, or an observer wants every instruction.
    Parts,
}

impl Watch {
    /// Whether a debugger may stop at a boundary of this kind.
    #[must_use]
    pub fn includes(self, kind: BoundaryKind) -> bool {
        match kind {
            BoundaryKind::BeforePart => self >= Self::Parts,
            BoundaryKind::BeforeStep | BoundaryKind::AfterStep => self >= Self::Steps,
        }
    }
}

/// A context, as the activities in it see it.
pub trait HostContext: fmt::Debug {
    /// The bounds on the program.
    fn limits(&self) -> &ExecutionLimits;

    /// Whether a debugger inspects the context.
    fn is_inspected(&self) -> bool;

    /// Whether a breakpoint is in a module.
    fn has_breakpoints(&self, module: ModuleIndex) -> bool;

    /// The native module of this name; the first one if there are several.
    fn native_module(&self, name: &str) -> Option<ModuleIndex>;

    /// The exported function of a module.
    fn export(&self, module: ModuleIndex, name: &str) -> Option<FunctionId>;

    /// The bytecode modules that were attached from this very object.
    fn attached_from(&self, origin: &Ref) -> Vec<ModuleIndex>;

    /// Adds a module to the running context: see [`crate::Context::attach`].
    ///
    /// # Errors
    /// An import that must be there is missing or has another signature.
    fn attach(
        &mut self,
        name: &str,
        module: &VerifiedModule,
        providers: &[ModuleIndex],
        origin: Ref,
    ) -> Result<ModuleIndex, LinkError>;

    /// Adds a native module that only modules attached later can import from.
    fn attach_native(&mut self, module: NativeModule) -> ModuleIndex;
}

/// What an activity can see and do in the context that it runs in.
#[derive(Debug)]
pub struct Host<'a> {
    context: &'a mut dyn HostContext,
    watch: Watch,
    control: RunControl,
}

impl<'a> Host<'a> {
    pub(crate) fn new(context: &'a mut dyn HostContext, watch: Watch, control: RunControl) -> Self {
        Self { context, watch, control }
    }

    /// What the activity has to obey during long work.
    #[must_use]
    pub fn control(&self) -> &RunControl {
        &self.control
    }

    /// The bounds on the program.
    #[must_use]
    pub fn limits(&self) -> &ExecutionLimits {
        self.context.limits()
    }

    /// How closely the activity is watched just now.
    #[must_use]
    pub fn watch(&self) -> Watch {
        self.watch
    }

    /// Whether a debugger looks into a module: a breakpoint is in it, or instructions are observed.
    /// If not, its functions may run elsewhere.
    #[must_use]
    pub fn is_watched(&self, module: ModuleIndex) -> bool {
        self.watch >= Watch::Parts || self.context.has_breakpoints(module)
    }

    /// Whether a debugger inspects the context. Only then do modules that are loaded at run time
    /// need to be attached.
    #[must_use]
    pub fn is_inspected(&self) -> bool {
        self.context.is_inspected()
    }

    /// The context, to attach modules to: [`HostContext::attach`].
    #[must_use]
    pub fn context(&mut self) -> &mut dyn HostContext {
        self.context
    }

    /// The function of a module that runs before all others.
    #[must_use]
    pub fn initializer(&self, module: ModuleIndex) -> Option<FunctionId> {
        self.export(module, "__init")
    }

    /// The exported function of a module.
    #[must_use]
    pub fn export(&self, module: ModuleIndex, name: &str) -> Option<FunctionId> {
        self.context.export(module, name)
    }
}
