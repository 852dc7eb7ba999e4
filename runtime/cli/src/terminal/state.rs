//! The debugging session of a terminal, and what all commands need of it.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use debug::{
    BreakpointSpec, Debugger, FrameId, FrameIndex, InterruptHandle, LaunchError, LaunchOptions,
    LinearAddress, Traps,
};

use super::command::{Command, Place};

/// What follows a command: another one, or the end of the session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    Command,
    Quit,
}

/// A debugging session in a terminal.
pub(crate) struct Terminal<W> {
    pub(super) options: LaunchOptions,
    pub(super) debugger: Debugger,
    pub(super) out: W,
    /// The number of the selected frame in the backtrace, where inlined calls count too.
    pub(super) selected: usize,
    /// The selected frame as the debugger names it.
    pub(super) frame: FrameId,
    pub(super) progress: Progress,
    /// The file that was listed last, and the next line to list.
    pub(super) listed: Option<(String, u32)>,
    pub(super) last: Option<Command>,
    pub(super) has_failed: bool,
    /// The expressions that are shown at every stop, with their numbers.
    pub(super) displays: Vec<(usize, String)>,
    pub(super) traps: Traps,
    /// The messages of logpoints since the program was last resumed.
    pub(super) log: Arc<Mutex<Vec<String>>>,
}

/// How far the program has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    NotStarted,
    Stopped,
    /// It has failed, and its frames can still be inspected.
    Failed,
    Over,
}

/// Why a command did not work: the user's mistake, or output that cannot be written.
pub(super) enum Problem {
    User(String),
    Output(io::Error),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Self::User(text)
    }
}

impl From<&str> for Problem {
    fn from(text: &str) -> Self {
        Self::User(text.to_owned())
    }
}

impl<W: Write> Terminal<W> {
    /// Loads the program.
    pub(crate) fn new(options: LaunchOptions, mut out: W) -> Result<Self, LaunchError> {
        // The user of this terminal could read this process's memory in other ways too.
        let options = LaunchOptions { foreign_memory: true, ..options };
        let debugger = Debugger::load(options.clone())?;
        for note in debugger.program().notes() {
            // If this fails, the first command fails in the same way.
            let _ = writeln!(out, "note: {note}");
        }
        let mut terminal = Self {
            options,
            debugger,
            out,
            selected: 0,
            frame: FrameIndex(0).into(),
            progress: Progress::NotStarted,
            listed: None,
            last: None,
            has_failed: false,
            displays: Vec::new(),
            traps: Traps::default(),
            log: Arc::default(),
        };
        terminal.connect_log();
        Ok(terminal)
    }

    /// A handle that stops the program while [`Terminal::execute`] runs it.
    pub(crate) fn interrupt_handle(&self) -> InterruptHandle {
        self.debugger.interrupt_handle()
    }

    /// Whether a command has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// The output.
    pub(crate) fn out(&mut self) -> &mut W {
        &mut self.out
    }

    /// Collects the messages of logpoints.
    pub(super) fn connect_log(&mut self) {
        let log = Arc::clone(&self.log);
        self.debugger.set_log_sink(move |message| {
            log.lock().unwrap_or_else(PoisonError::into_inner).push(message.text);
        });
    }

    /// Writes the messages of logpoints.
    pub(super) fn write_log(&mut self) -> Result<(), Problem> {
        let messages =
            std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner));
        for text in messages {
            writeln!(self.out, "{text}")?;
        }
        Ok(())
    }

    pub(super) fn needs_frame(&self) -> Result<(), Problem> {
        if matches!(self.progress, Progress::Stopped | Progress::Failed) {
            return Ok(());
        }
        Err("the program is not running; `run` or `start` it".into())
    }

    /// The file of the selected frame, or of the function if it does not run yet.
    pub(super) fn current_file(&self) -> Result<String, Problem> {
        let here = self.debugger.machine().frame_at(self.selected).and_then(|frame| frame.source);
        if let Some(source) = here {
            return Ok(source.file);
        }
        let main = self.debugger.machine().main_source();
        main.map(|source| source.file)
            .ok_or_else(|| "no source file is known; use FILE:LINE".into())
    }

    pub(super) fn spec(&self, place: Place) -> Result<BreakpointSpec, Problem> {
        Ok(match place {
            Place::Line(line, column) => {
                BreakpointSpec::Line { file: self.current_file()?, line, column }
            }
            Place::FileLine(file, line, column) => BreakpointSpec::Line { file, line, column },
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
    pub(super) fn print_changed_files(&mut self) -> io::Result<()> {
        for file in self.debugger.newly_changed_files() {
            writeln!(self.out, "note: {file}; `run` loads it again")?;
        }
        Ok(())
    }
}
