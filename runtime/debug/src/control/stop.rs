//! Why a program is standing still, and how it may go on.

use vm::{Failure, Position, Value};

use super::breakpoints::spec::BreakpointId;
use crate::inspect::step_in_targets::Call;

/// How far a step goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Granularity {
    /// To the next source line; by instruction where a function has no source map.
    Line,
    /// To the next operation of the source, of which a line may have several; else as by line.
    Statement,
    /// To the next bytecode instruction.
    Instruction,
}

/// What a step does with calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepKind {
    /// Stops in functions that are called.
    Into,
    /// Runs calls to their end.
    Over,
    /// Runs until the current function has returned.
    Out,
}

/// How to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resume {
    /// Through the initialisers, to before the first instruction of the function.
    ToEntry,
    /// Until something stops the program.
    Continue,
    /// One step.
    Step(StepKind, Granularity),
    /// To a call of the line that the program stands on, and into it:
    /// [`crate::Debugger::step_in_targets`].
    StepInto(Call),
    /// As it was going when it was paused: the rest of a step, otherwise until something stops it.
    AsBefore,
}

/// A data breakpoint that was hit.
#[derive(Clone, Debug)]
pub struct DataHit {
    /// The breakpoint.
    pub breakpoint: BreakpointId,
    /// What it watches.
    pub name: String,
    /// The value before.
    pub old: String,
    /// The value now; the same where it was only read or written again.
    pub new: String,
    /// Who did it, as far as that is known.
    pub by: Option<DataUser>,
    /// Whether it was read, and not written.
    pub is_read: bool,
}

/// What uses data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DataUser {
    /// An instruction.
    Instruction(Position),
    /// A call that returned in front of this instruction.
    Return(Position),
    /// A command of a device: the dispatch of this name, or none if it is of another kind.
    Command(String),
}

/// Why the program stands still.
#[derive(Clone, Debug)]
pub enum StopReason {
    /// Before its first instruction.
    Entry,
    /// At these breakpoints.
    Breakpoint(Vec<BreakpointId>),
    /// A step is done.
    Step,
    /// Somebody asked for it.
    Pause,
    /// Data was touched that these breakpoints watch.
    Data(Vec<DataHit>),
    /// A number went wrong that [`crate::Traps`] are set for; the text says which and where.
    Trap(String),
    /// The program executed `vm.break`.
    BreakInstruction,
    /// It failed; the frames are as they were at the failure.
    Failed(Failure),
    /// It is over, with these results.
    Completed(Vec<Value>),
}

impl StopReason {
    /// Whether the program can go on from here.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Completed(_))
    }
}
