//! The commands as data.

use debug::{
    Back, BreakpointOptions, DataAccess, DispatchMoment, Granularity, Level, LineMoment,
    RowQuestion, StepKind, StoryQuestion, Traps,
};
use vmfb::BytecodeOffset;

use crate::row_filter::RowFilter;

/// Two lines, and the commands of which tensors are compared element by element.
pub(crate) type Diff = ([usize; 2], Option<(u64, u64)>);

/// A command with its arguments.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Command {
    /// With new inputs, if there are any.
    Run(Option<Inputs>),
    Start(Option<Inputs>),
    Kill,
    /// Stops a program that runs.
    Interrupt,
    /// How often the breakpoint of this stop is passed.
    Continue(u64),
    Step(StepKind, Granularity, u32),
    Record(Record),
    InfoRecord,
    Back(Back, u32),
    Why(StoryQuestion),
    WhoWrote(String),
    History(String),
    /// All visits of a place, with the values of expressions there.
    Visits(Place, Vec<String>),
    First(String),
    FirstTrap(Traps),
    Last(String),
    /// Back to a place.
    BackUntil(Place),
    /// To the first command whose row is so.
    FirstRow(RowQuestion),
    /// Rows of the run.
    Table(RowFilter),
    /// The lines of time.
    Lines,
    /// To another one.
    Line(usize),
    /// Two of them, and the commands of which they are compared element by element.
    Diff(Diff),
    /// Names the present moment; without a name, lists the names.
    Bookmark(Option<String>),
    GoTo(Time),
    /// The present moment as text.
    When,
    /// To a place; without one, to a later line.
    Until(Option<Place>),
    Level(Option<Level>),
    /// Whether bytecode and machine code are compared.
    Compare(bool),
    Jump(Place),
    Into(Option<String>),
    RestartFrame,
    /// The dispatch here runs again.
    Rerun,
    Break(BreakRequest),
    Condition(u32, Option<String>),
    Watch(DataAccess, String),
    Catch(Option<Trap>, How),
    /// The breakpoints; none means all.
    Delete(Vec<u32>),
    Enable(Vec<u32>, bool),
    Ignore(u32, u64),
    /// The lines that follow are performed when the breakpoint stops; without a number, the last.
    Commands(Option<u32>),
    Clear(Place),
    Breakpoints,
    Backtrace(Option<i64>),
    Frame(Option<usize>),
    Up(usize),
    Down(usize),
    Scope(debug::ScopeKind),
    Allocations,
    Calls,
    Print(String, Option<char>),
    Type(String),
    Expected(String),
    /// What the tensors should be that a command has left.
    ExpectedOf(u64),
    /// The dispatch that a command has run.
    DispatchOf(u64),
    Display(Option<String>),
    Undisplay(Option<usize>),
    Set(String, String),
    DispatchList,
    TensorList,
    Examine(Option<String>, Layout),
    Disassemble(Option<String>),
    List(Option<ListTarget>),
    Save(SaveRequest),
    Reproduce(String),
    Show(String),
    Info(Info),
    SetArguments(Inputs),
    Source(String),
    Define(String),
    Echo(String),
    Shell(String),
    /// Words that the user has defined.
    User(String, String),
    Help(Option<String>),
    Quit,
}

/// What the program is called with.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Inputs {
    /// The function, if it changes.
    pub function: Option<String>,
    /// Its arguments, if they change.
    pub inputs: Option<Vec<String>>,
}

/// A breakpoint to be set.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct BreakRequest {
    /// None: where the program stands.
    pub(crate) place: Option<Place>,
    pub(crate) options: BreakpointOptions,
    /// Whether it is removed when it stops.
    pub(crate) is_temporary: bool,
    /// How many hits pass.
    pub(crate) ignored: u64,
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

/// How `catch` looks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct How {
    /// It stops every time instead of once per operation.
    pub(crate) every: bool,
    /// It looks at each operation of bytecode, not only where dispatches leave something bad.
    pub(crate) operations: bool,
}

/// What `catch` stops for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trap {
    Nan,
    Infinity,
    DispatchNan,
    DispatchInfinity,
    /// A dispatch leaves something else than its text says.
    Difference,
    Overflow,
    Uninitialised,
    /// Removes all traps.
    Off,
}

impl Trap {
    /// What to look for, if it is this alone; `None` if that is not looked for in the program.
    pub(crate) fn alone(self, how: How) -> Option<Traps> {
        let traps = Traps { every: how.every, operations: how.operations, ..Traps::default() };
        Some(match self {
            Self::Nan => Traps { nan: true, ..traps },
            Self::Infinity => Traps { infinity: true, ..traps },
            Self::DispatchNan => Traps { dispatch_nan: true, ..traps },
            Self::DispatchInfinity => Traps { dispatch_infinity: true, ..traps },
            Self::Difference => Traps { difference: true, ..traps },
            Self::Overflow => Traps { overflow: true, ..traps },
            Self::Uninitialised | Self::Off => return None,
        })
    }
}

/// What `record` does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Record {
    Begin,
    End,
}

/// A moment of a recorded run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Time {
    /// The beginning of the recording.
    Begin,
    /// Before a command, by its number among all that ran.
    Command(u64),
    /// As `when` writes it.
    Moment(LineMoment),
    /// By a name that the user has given.
    Bookmark(String),
}

/// How `x` shows memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    pub(crate) count: usize,
    /// None: a dump of bytes.
    pub(crate) format: Option<char>,
    /// The bytes of a number, if they are said.
    pub(crate) unit: Option<usize>,
}

/// The source lines to list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ListTarget {
    /// Around a line of a file; of the current one, if none is named.
    Line(Option<String>, u32),
    /// From one line to another.
    Range(Option<String>, u32, u32),
    /// Around the start of a function.
    Function(String),
    /// Before what was listed last.
    Before,
}

/// A value to be written to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SaveRequest {
    pub(crate) expression: String,
    pub(crate) path: String,
    /// Whether a file of that name is overwritten.
    pub(crate) overwrites: bool,
}

/// What `info` tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Info {
    Line(Option<Place>),
    Name(String),
    Source,
    Frame,
    Functions(Option<String>),
    Modules,
    Threads,
    Display,
    Arguments,
    Program,
}

impl Command {
    /// Whether it may load the program again.
    pub(crate) fn restarts(&self) -> bool {
        matches!(self, Self::Run(_) | Self::Start(_))
    }

    /// Whether an empty line repeats it.
    pub(crate) fn repeats(&self) -> bool {
        matches!(
            self,
            Self::Step(..)
                | Self::Back(..)
                | Self::Continue(_)
                | Self::Until(None)
                | Self::Up(_)
                | Self::Down(_)
        ) || matches!(self, Self::List(None | Some(ListTarget::Before)))
            || matches!(self, Self::List(Some(_)))
    }

    /// What an empty line repeats: a listing goes on.
    pub(crate) fn repeated(&self) -> Self {
        match self {
            Self::List(Some(ListTarget::Before)) => self.clone(),
            Self::List(_) => Self::List(None),
            Self::Continue(_) => Self::Continue(1),
            other => other.clone(),
        }
    }
}
