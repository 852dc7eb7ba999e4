//! The terminal debugger's commands as data.

use debug::{BreakpointOptions, DataAccess, DispatchMoment, Level};
use vmfb::BytecodeOffset;

/// A command with its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    Run,
    Start,
    Continue,
    Step {
        times: u32,
    },
    Next {
        times: u32,
    },
    StepInstruction {
        times: u32,
    },
    NextInstruction {
        times: u32,
    },
    StepStatement {
        times: u32,
    },
    NextStatement {
        times: u32,
    },
    Finish,
    Level(Option<Level>),
    Break(Place, BreakpointOptions),
    Condition(u32, Option<String>),
    Watch(DataAccess, String),
    /// The trap, and whether it stops every time instead of once per operation.
    Catch(Option<Trap>, bool),
    Until(Place),
    Jump(Place),
    Into(Option<String>),
    Calls,
    RestartFrame,
    Arguments,
    Display(Option<String>),
    Undisplay(Option<usize>),
    Set(String, String),
    Examine(String, usize),
    Delete(Option<u32>),
    Breakpoints,
    Backtrace,
    Frame(Option<usize>),
    Up,
    Down,
    Registers,
    Locals,
    Globals,
    Dispatch,
    DispatchList,
    TensorList,
    Allocations,
    Print(String),
    Disassemble(Option<String>),
    List(Option<ListTarget>),
    Help,
    Quit,
}

/// A place in the program, for a breakpoint for instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// A line of the current file, with an optional column.
    Line(u32, Option<u32>),
    /// A line of a file, with an optional column.
    FileLine(String, u32, Option<u32>),
    /// Functions or imports by name.
    Function(String),
    /// An instruction by its address.
    Address(String),
    /// An instruction by its offset in a function.
    Offset(String, BytecodeOffset),
    /// Dispatches by name.
    Dispatch(String, DispatchMoment),
}

/// What `catch` stops for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trap {
    Nan,
    Infinity,
    DispatchNan,
    DispatchInfinity,
    Overflow,
    Uninitialised,
    /// Removes all traps.
    Off,
}

/// The source lines to list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ListTarget {
    /// Around a line of the current file.
    Line(u32),
    /// Around the start of a function.
    Function(String),
}

impl Command {
    /// Whether it may load the program again.
    pub(crate) fn restarts(&self) -> bool {
        matches!(self, Self::Run | Self::Start)
    }

    /// Whether an empty line repeats it.
    pub(crate) fn repeats(&self) -> bool {
        matches!(
            self,
            Self::Step { .. }
                | Self::Next { .. }
                | Self::StepInstruction { .. }
                | Self::NextInstruction { .. }
                | Self::StepStatement { .. }
                | Self::NextStatement { .. }
                | Self::Continue
                | Self::Up
                | Self::Down
                | Self::List(_)
        )
    }
}
