//! Stop reasons, and the ways to resume.

use vm::{Failure, Position, Value};

use super::breakpoints::spec::BreakpointId;
use crate::inspect::step_in_targets::Call;

/// How far a step goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Granularity {
    /// To the next source line; by instruction in functions without a source map.
    Line,
    /// To the next operation of the source, of which a line may have several; otherwise as by line.
    Statement,
    /// To the next bytecode instruction.
    Instruction,
}

/// What a step does with calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepKind {
    /// Stops in called functions.
    Into,
    /// Runs called functions to their end.
    Over,
    /// Runs until the current function has returned.
    Out,
}

/// A way to resume.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resume {
    /// Through the initialisers, and to the first instruction of the function.
    ToEntry,
    /// Until something stops the program.
    Continue,
    /// One step.
    Step(StepKind, Granularity),
    /// To a call on the line where the program stands, and into it:
    /// [`crate::Machine::step_in_targets`].
    StepInto(Call),
    /// As before a pause: the rest of a step, or until something stops the program.
    AsBefore,
}

/// A hit of a data breakpoint.
#[derive(Clone, Debug)]
pub struct DataHit {
    /// The breakpoint.
    pub breakpoint: BreakpointId,
    /// The data that it watches.
    pub name: String,
    /// The text of the value before.
    pub old: String,
    /// The text of the value now; the same if it was only read, or written again.
    pub new: String,
    /// The user of the data, if known.
    pub by: Option<DataUser>,
    /// Whether it was read and not written.
    pub is_read: bool,
}

/// A user of data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DataUser {
    /// An instruction.
    Instruction(Position),
    /// A call that returned before this instruction.
    Return(Position),
    /// A command of a device: the name of its dispatch, or empty for other commands.
    Command(String),
}

/// What went wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trapped {
    /// What it is.
    pub kind: TrapKind,
    /// The sentence about it.
    pub text: String,
}

/// What a program is stopped for by [`crate::Traps`], or by its host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrapKind {
    /// An operation or a dispatch made NaN.
    Nan,
    /// The same for an infinity.
    Infinity,
    /// An integer operation overflows.
    Overflow,
    /// A dispatch reads what was never written, or writes what it must not.
    Memory,
    /// A dispatch left something else than its text means.
    Difference,
    /// A call by the host has failed.
    Failure,
}

impl TrapKind {
    /// Its name, for users.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nan => "NaN",
            Self::Infinity => "infinity",
            Self::Overflow => "integer overflow",
            Self::Memory => "memory error",
            Self::Difference => "wrong dispatch result",
            Self::Failure => "failure",
        }
    }
}

/// Why the program is stopped.
#[derive(Clone, Debug)]
pub enum StopReason {
    /// Before its first instruction.
    Entry,
    /// At these breakpoints.
    Breakpoint(Vec<BreakpointId>),
    /// A step is done.
    Step,
    /// It was interrupted.
    Pause,
    /// It has gone back to the beginning of the recording.
    Begin,
    /// It has gone back to what was asked for; the text says what that is.
    Found(String),
    /// Data that these breakpoints watch was used.
    Data(Vec<DataHit>),
    /// Something went wrong for which [`crate::Traps`] are set.
    Trap(Trapped),
    /// The program executed `vm.break`.
    BreakInstruction,
    /// It failed; the frames are as they were at the failure.
    Failed(Failure),
    /// It is over, with these results.
    Completed(Vec<Value>),
}

impl StopReason {
    /// Whether the program cannot resume.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Completed(_))
    }
}

/// A way to go back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Back {
    /// Until something would have stopped the program.
    Continue,
    /// One step. Into: the last stop before; over: the last one in this function or around it; out:
    /// to the call of this function.
    Step(StepKind, Granularity),
    /// To the beginning of the recording.
    ToBegin,
}

impl Back {
    /// The granularity of its steps.
    pub(crate) fn granularity(self) -> Granularity {
        match self {
            Self::Step(_, granularity) => granularity,
            Self::Continue | Self::ToBegin => Granularity::Line,
        }
    }
}
