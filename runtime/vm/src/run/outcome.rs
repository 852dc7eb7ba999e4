//! How far a run came, and why it stopped.

use crate::errors::Failure;
use crate::objects::Value;
use crate::position::Position;

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
