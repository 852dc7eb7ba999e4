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

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use vmfb::BytecodeOffset;

use crate::context::{Context, FunctionId, ModuleIndex};
use crate::status::{Failure, Status};
use crate::value::{Ref, Value};

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
    /// After one instruction, or where an [`Observer`] said so; before the instruction at the position.
    Step(Position),
    /// [`Interrupt::request`] was called.
    Interrupted(Position),
    /// The program executed `vm.break` (or `vm.cond_break`, taken); before what comes after it.
    Requested(Position),
}

/// An instruction of a context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position {
    /// The function.
    pub function: FunctionId,
    /// The instruction in it.
    pub offset: BytecodeOffset,
}

/// A frame by its distance from the innermost one, which is 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FrameIndex(pub usize);

/// What a frame runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FrameFunction {
    /// Bytecode.
    Bytecode(Position),
    /// A native function that waits or failed.
    Native(FunctionId),
}

/// A frame, for looking at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The module that it runs in.
    pub module: ModuleIndex,
    /// What it runs. The offset is that of the instruction that runs next in the innermost frame,
    /// or that failed, or the call that has not returned yet in the others.
    pub function: FrameFunction,
    /// 32-bit registers that it has.
    pub i32_register_count: u16,
    /// Ref registers that it has.
    pub ref_register_count: u16,
}

/// Asks a running invocation to stop, from another thread.
#[derive(Clone, Default, Debug)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Stops the invocation at its next call or backward branch, with [`Stop::Interrupted`].
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
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
}

/// One activity in a context.
#[derive(Debug)]
pub struct Invocation {
    interrupt: Interrupt,
}

#[expect(unused_variables, reason = "the interface comes first")]
impl Invocation {
    /// A call of `function`; nothing runs yet.
    ///
    /// # Errors
    /// The arguments do not fit the signature.
    pub fn new(
        context: &Context,
        function: FunctionId,
        arguments: Vec<Value>,
    ) -> Result<Self, Status> {
        Ok(Self { interrupt: Interrupt::default() })
    }

    /// The `__init` functions of all modules, one after the other.
    #[must_use]
    pub fn initialize(context: &Context) -> Self {
        Self { interrupt: Interrupt::default() }
    }

    /// The handle that stops it from another thread.
    #[must_use]
    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Goes on until something happens. A breakpoint at the instruction that it was stopped at is
    /// passed over.
    pub fn run(&mut self, context: &mut Context) -> Outcome {
        Outcome::Completed(Vec::new())
    }

    /// Executes one instruction, entering calls.
    pub fn step(&mut self, context: &mut Context) -> Outcome {
        Outcome::Completed(Vec::new())
    }

    /// Goes on, asking the observer before every instruction but the one it was stopped at.
    /// Breakpoints stop it too.
    pub fn observe(&mut self, context: &mut Context, observer: &mut dyn Observer) -> Outcome {
        Outcome::Completed(Vec::new())
    }

    /// The frames, innermost first.
    pub fn frames<'a>(&'a self, context: &'a Context) -> impl Iterator<Item = Frame> + 'a {
        std::iter::empty()
    }

    /// How many frames there are.
    #[must_use]
    pub fn depth(&self) -> usize {
        0
    }

    /// A 32-bit register; floats are its bits.
    #[must_use]
    pub fn register_i32(&self, frame: FrameIndex, ordinal: u16) -> Option<i32> {
        None
    }

    /// The register pair that starts at the even `ordinal`; floats are its bits.
    #[must_use]
    pub fn register_i64(&self, frame: FrameIndex, ordinal: u16) -> Option<i64> {
        None
    }

    /// A ref register.
    #[must_use]
    pub fn register_ref(&self, frame: FrameIndex, ordinal: u16) -> Option<&Ref> {
        None
    }

    /// Writes a 32-bit register; whether there is one.
    pub fn set_register_i32(&mut self, frame: FrameIndex, ordinal: u16, value: i32) -> bool {
        false
    }

    /// Writes a register pair; whether there is one.
    pub fn set_register_i64(&mut self, frame: FrameIndex, ordinal: u16, value: i64) -> bool {
        false
    }

    /// Writes a ref register; whether there is one.
    pub fn set_register_ref(&mut self, frame: FrameIndex, ordinal: u16, value: Ref) -> bool {
        false
    }
}
