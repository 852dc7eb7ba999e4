//! What the commands remember between two lines, and what they ask of the front that they are typed
//! into.
//!
//! ```text
//!   line ──> Session::answer ──> Answer { text, data, action }
//!                                             │ Run: the front runs the program …
//!   Session::stopped  <── StopReason ─────────┘     … and says why it stopped
//! ```
//!
//! A front is a terminal or an editor's console. It runs the program in its own way, because a
//! terminal waits where an editor must go on answering.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

use debug::{
    Back, BreakpointId, BreakpointSpec, Debugger, FrameId, FrameIndex, LineMoment, LinearAddress,
    NoEvidence, NoListing, NoNumberedDispatch, NoStory, NotEvaluated, NotWatchable, Refused,
    Resume, RowQuestion, RunMoment, StopReason, Traps, ViewError,
};
use serde_json::{Map, Value};

use crate::command::{Command, Inputs, Place};
use crate::mistake::Mistake;
use crate::output::{DEFAULT_WIDTH, Output};
use crate::queue::Scripts;

/// What the commands remember between two lines.
#[derive(Debug)]
pub struct Session {
    /// The number of the selected frame in the backtrace, where inlined calls count too.
    pub(crate) selected: usize,
    /// The selected frame as the debugger names it.
    pub(crate) frame: FrameId,
    pub(crate) progress: Progress,
    /// The file that was listed last, the first line that was, and the next line to list.
    pub(crate) listed: Option<(String, u32, u32)>,
    /// What an empty line repeats.
    pub(crate) last: Option<Command>,
    /// Moments of the recorded run by the names that the user gave them, with where they are.
    pub(crate) bookmarks: BTreeMap<String, (LineMoment, String)>,
    /// The expressions that are shown at every stop, with their numbers.
    pub(crate) displays: Vec<(usize, String)>,
    /// What `catch` looks for.
    pub(crate) traps: Traps,
    /// What an editor's exception filters look for besides.
    pub(crate) filters: Traps,
    /// The columns of a line of output.
    pub(crate) width: usize,
    /// What the program is called with.
    pub(crate) inputs: Inputs,
    /// The same, if the program has to be loaded again for them.
    pub(crate) new_inputs: Option<Inputs>,
    /// Lines that wait to be performed.
    pub(crate) scripts: Scripts,
    /// The breakpoints that are removed when they stop.
    pub(crate) temporary: BTreeSet<BreakpointId>,
    /// A breakpoint that `until` has set, which is removed at the next stop.
    pub(crate) until: Option<BreakpointId>,
    /// The breakpoints of this stop.
    pub(crate) hit: Vec<BreakpointId>,
    /// Whether the last run has failed.
    pub(crate) has_failed: bool,
    /// Whether it is the console of an editor, which shows frames itself and names files by path.
    pub(crate) in_editor: bool,
    /// Whether the front shows 24-bit colours.
    pub(crate) is_coloured: bool,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            selected: 0,
            frame: FrameIndex(0).into(),
            progress: Progress::NotStarted,
            listed: None,
            last: None,
            bookmarks: BTreeMap::new(),
            displays: Vec::new(),
            traps: Traps::default(),
            filters: Traps::default(),
            width: DEFAULT_WIDTH,
            inputs: Inputs::default(),
            new_inputs: None,
            scripts: Scripts::default(),
            temporary: BTreeSet::new(),
            until: None,
            hit: Vec::new(),
            has_failed: false,
            in_editor: false,
            is_coloured: false,
        }
    }
}

/// How far the program has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// It stands before its initialisers.
    NotStarted,
    /// It stands still, and can be resumed.
    Stopped,
    /// It has failed, and its frames can still be inspected.
    Failed,
    /// It is over.
    Over,
}

/// What a line has answered.
#[derive(Debug, Default)]
pub struct Answer {
    /// For people: lines, each with its end.
    pub text: String,
    /// The same for scripts.
    pub data: Map<String, Value>,
    /// Whether the text has colours of our own, and shows what is of files without any.
    pub is_coloured: bool,
    /// Why the command did not work.
    pub error: Option<String>,
    /// What the front has to do now.
    pub action: Option<Action>,
    /// Whether values of the program were changed.
    pub changed_values: bool,
}

impl Answer {
    /// An answer that is an error alone.
    #[must_use]
    pub fn failed(error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..Self::default() }
    }
}

/// What a front does for a command.
#[derive(Debug)]
pub enum Action {
    /// It runs the program, and reports the stop by [`Session::stopped`].
    Run(Run),
    /// The program stands elsewhere now; the front reports that stop.
    Moved(StopReason),
    /// It loads the program again if that has run or changed, or takes new inputs, and runs it: to
    /// its entry, or on.
    Launch(Resume, Option<Inputs>),
    /// It ends the program, which can be started again.
    Kill,
    /// It runs a command of the system, and shows its output.
    Shell(String),
    /// It ends the session.
    Quit,
}

/// How a command runs the program.
#[derive(Clone, Debug)]
pub enum Run {
    /// Resumes it this often, as long as steps end as steps.
    Resume(Resume, u32),
    /// Goes back this often, as long as steps end as steps.
    Back(Back, u32),
    /// To before the last write of what an expression names in a frame.
    ToWriter(FrameId, String),
    /// To the first stop at which a condition is true.
    ToFirst(String),
    /// To the last stop before the present at which it was.
    ToLast(String),
    /// Back to the last visit of a place.
    BackTo(BreakpointSpec),
    /// To where one of these traps first stops the program.
    ToFirstTrap(Traps),
    /// To before the first command whose row is so.
    ToFirstRow(RowQuestion),
    /// To a moment of a recorded run.
    ToMoment(RunMoment),
    /// To a moment of a line of time, or to where that was left.
    ToLine(usize, Option<RunMoment>),
    /// To before a command of a recorded run, by its number.
    ToCommand(u64),
    /// Begins the program, and goes there.
    Begun(Box<Self>),
    /// Runs it to a place.
    To(BreakpointSpec),
    /// Steps until a later line of the function is reached, or its caller.
    PastLine,
    /// Runs the dispatch again that has just run.
    Again,
}

impl Run {
    /// Whether it leads to a moment that has been.
    #[must_use]
    pub fn goes_back(&self) -> bool {
        matches!(
            self,
            Self::Back(..)
                | Self::ToWriter(..)
                | Self::ToFirst(_)
                | Self::ToLast(_)
                | Self::BackTo(_)
                | Self::ToFirstTrap(_)
                | Self::ToFirstRow(_)
                | Self::ToMoment(_)
                | Self::ToLine(..)
                | Self::ToCommand(_)
                | Self::Begun(_)
        )
    }
}

/// Why a command did not work; for the user.
#[derive(Debug)]
pub(crate) struct Problem(pub(crate) String);

macro_rules! problems {
    ($($error:ty,)*) => {
        $(impl From<$error> for Problem {
            fn from(error: $error) -> Self {
                Self(error.to_string())
            }
        })*
    };
}

problems! {
    fmt::Error,
    Mistake,
    NoEvidence,
    NoListing,
    NoNumberedDispatch,
    NoStory,
    NotEvaluated,
    NotWatchable,
    Refused,
    ViewError,
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Problem {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// A command at work: the program, what the session remembers, and the answer.
pub(crate) struct Performer<'a> {
    pub(crate) session: &'a mut Session,
    pub(crate) debugger: &'a mut Debugger,
    pub(crate) out: Output,
    pub(crate) action: Option<Action>,
    pub(crate) changed_values: bool,
}

impl<'a> Performer<'a> {
    pub(crate) fn new(session: &'a mut Session, debugger: &'a mut Debugger) -> Self {
        let out = Output::new(session.width);
        Self { session, debugger, out, action: None, changed_values: false }
    }

    /// The answer, once the command has worked or not.
    pub(crate) fn finish(self, outcome: Result<(), Problem>) -> Answer {
        Answer {
            text: self.out.text,
            data: self.out.data,
            is_coloured: self.out.is_coloured,
            error: outcome.err().map(|problem| problem.0),
            action: self.action,
            changed_values: self.changed_values,
        }
    }

    pub(crate) fn needs_frame(&self) -> Result<(), Problem> {
        if matches!(self.session.progress, Progress::Stopped | Progress::Failed) {
            return Ok(());
        }
        Err("the program is not running; `run` or `start` it".into())
    }

    /// The file of the selected frame, or of the function if it does not run yet.
    pub(crate) fn current_file(&self) -> Result<String, Problem> {
        let machine = self.debugger.machine();
        let here = machine.frame_at(self.session.selected).and_then(|frame| frame.source);
        let source = here.or_else(|| machine.main_source());
        let source = source.ok_or("no source file is known; use FILE:LINE")?;
        let path = source.path.filter(|_| self.session.in_editor);
        Ok(path.map_or(source.file, |path| path.to_string_lossy().into_owned()))
    }

    /// The line where the program stands.
    pub(crate) fn here(&self) -> Result<BreakpointSpec, Problem> {
        self.needs_frame()?;
        let frame = self.debugger.machine().frame_at(self.session.selected);
        let source = frame.and_then(|frame| frame.source).ok_or("this frame has no line")?;
        let (file, line) = (self.current_file()?, source.line);
        Ok(BreakpointSpec::Line { file, line, column: None })
    }

    /// A file that the user names, as breakpoints name it.
    fn file_named(&self, name: String) -> String {
        if !self.session.in_editor {
            return name;
        }
        let is_it = |file: &str| file == name || file.ends_with(&format!("/{name}"));
        let mut files = self.debugger.program().source_files().into_iter();
        let found = files.find(|file| is_it(&file.file)).and_then(|file| file.path);
        found.map_or(name, |path| path.to_string_lossy().into_owned())
    }

    pub(crate) fn spec(&self, place: Place) -> Result<BreakpointSpec, Problem> {
        Ok(match place {
            Place::Line(line, column) => {
                BreakpointSpec::Line { file: self.current_file()?, line, column }
            }
            Place::FileLine(file, line, column) => {
                BreakpointSpec::Line { file: self.file_named(file), line, column }
            }
            Place::Function(name) => BreakpointSpec::Function { name },
            Place::Dispatch(pattern, when) => BreakpointSpec::Dispatch { pattern, when },
            Place::Address(text) => {
                let address = LinearAddress::parse(&text)
                    .ok_or_else(|| format!("{text:?} is not an address"))?;
                BreakpointSpec::Instruction { address }
            }
            Place::Offset(function, offset) => {
                let address = self.debugger.program().address_in(&function, offset);
                let address =
                    address.ok_or_else(|| format!("there is no function {function:?}"))?;
                BreakpointSpec::Instruction { address }
            }
        })
    }

    /// Prints which files have changed since the program was loaded from them.
    pub(crate) fn print_changed_files(&mut self) -> fmt::Result {
        for file in self.debugger.newly_changed_files() {
            writeln!(self.out, "note: {file}; `run` loads it again")?;
        }
        Ok(())
    }
}
