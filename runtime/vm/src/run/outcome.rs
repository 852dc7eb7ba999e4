//! How a run ended for now, and why it stopped.

use crate::errors::Failure;
use crate::objects::Value;
use crate::position::Position;

/// How far `run` came.
#[derive(Debug)]
pub enum Outcome {
    /// The function returned these results.
    Completed(Vec<Value>),
    /// The program yielded (`vm.yield`, or a native function that waits). Run it again.
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
    /// After one instruction, or where an [`crate::Observer`] stopped it; before the instruction at
    /// the position.
    Step(Position),
    /// [`crate::Interrupt::request`] was called.
    Interrupted(Position),
    /// It has made as many turns as were asked for, or a native function has returned:
    /// [`crate::Invocation::set_goal`].
    Turn(Position),
    /// The program executed `vm.break`, or `vm.cond_break` with a condition that holds; before the
    /// next instruction.
    Requested(Position),
    /// In a native activity, at the boundary [`crate::Invocation::boundary`].
    Boundary,
    /// A native activity attached a module that the debugger has not seen yet. Only if the context
    /// [is inspected](crate::Context::is_inspected).
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
            | Self::Turn(position)
            | Self::Requested(position) => Some(position),
        }
    }
}
