//! The debugger in a terminal: it prints what the commands answer, and runs the program where they
//! ask for that.
//!
//! Input comes from a prompt, a pipe or a script. Output goes to any writer, so that a test can
//! compare it. The commands themselves are in the crate `commands`.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

use commands::{Action, Answer, DEFAULT_WIDTH, Progress, Session};
use debug::{Debugger, InterruptHandle, LaunchError, LaunchOptions, Resume, StopReason};

/// What follows a command: another one, or the end of the session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    Command,
    Quit,
}

/// A debugging session in a terminal.
pub(crate) struct Terminal<W> {
    options: LaunchOptions,
    debugger: Debugger,
    session: Session,
    out: W,
    has_failed: bool,
    /// The messages of logpoints since the program was last resumed.
    log: Arc<Mutex<Vec<String>>>,
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
        let session = Session::default();
        let log = Arc::default();
        let mut terminal = Self { options, debugger, session, out, has_failed: false, log };
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

    /// Executes a line.
    ///
    /// # Errors
    /// Output cannot be written.
    pub(crate) fn execute(&mut self, line: &str) -> io::Result<Next> {
        self.session.set_width(width());
        let mut answer = self.session.answer(&mut self.debugger, line);
        let action = answer.action.take();
        self.show(&answer)?;
        let outcome = match action {
            None => Ok(None),
            Some(Action::Quit) => return Ok(Next::Quit),
            Some(Action::Run(run)) => run.perform(&mut self.debugger).map(Some),
            Some(Action::Moved(reason)) => Ok(Some(reason)),
            Some(Action::Launch(how)) => self.launch(how)?,
        };
        match outcome {
            Ok(None) => {}
            Ok(Some(reason)) => self.stopped(&reason)?,
            Err(error) => self.show(&Answer { error: Some(error), ..Answer::default() })?,
        }
        Ok(Next::Command)
    }

    /// The program has stopped: shows where it stands.
    fn stopped(&mut self, reason: &StopReason) -> io::Result<()> {
        let messages =
            std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner));
        for text in messages {
            writeln!(self.out, "{text}")?;
        }
        let answer = self.session.stopped(&mut self.debugger, reason);
        self.show(&answer)
    }

    fn show(&mut self, answer: &Answer) -> io::Result<()> {
        self.out.write_all(answer.text.as_bytes())?;
        if let Some(error) = &answer.error {
            self.has_failed = true;
            writeln!(self.out, "error: {error}")?;
        }
        Ok(())
    }

    /// Loads the program again if it has run or its files have changed, and runs it.
    fn launch(&mut self, how: Resume) -> io::Result<Result<Option<StopReason>, String>> {
        let changed = self.debugger.program().changed_files();
        if self.session.progress() != Progress::NotStarted || !changed.is_empty() {
            if let Err(error) = self.load_again(!changed.is_empty())? {
                return Ok(Err(error));
            }
        }
        for file in changed {
            writeln!(self.out, "note: {} has changed and was loaded again", file.path.display())?;
        }
        Ok(Ok(Some(self.debugger.resume(how))))
    }

    /// Loads the program again. Keeps the breakpoints.
    fn load_again(&mut self, has_changed: bool) -> io::Result<Result<(), String>> {
        match self.fresh(has_changed) {
            Ok(fresh) => self.debugger = fresh,
            Err(error) => return Ok(Err(error)),
        }
        self.connect_log();
        let answer = self.session.restarted(&mut self.debugger);
        self.show(&answer)?;
        Ok(Ok(()))
    }

    fn fresh(&mut self, has_changed: bool) -> Result<Debugger, String> {
        if has_changed {
            let parameters = self.options.host.parameters.reopen();
            self.options.host.parameters =
                Arc::new(parameters.map_err(|status| status.to_string())?);
        }
        let mut fresh = Debugger::load(self.options.clone()).map_err(|error| error.to_string())?;
        fresh.set_level(self.debugger.machine().level())?;
        fresh.adopt_breakpoints(self.debugger.take_breakpoints());
        Ok(fresh)
    }

    /// Collects the messages of logpoints.
    fn connect_log(&mut self) {
        let log = Arc::clone(&self.log);
        self.debugger.set_log_sink(move |message| {
            log.lock().unwrap_or_else(PoisonError::into_inner).push(message.text);
        });
    }
}

/// The columns of the terminal.
fn width() -> usize {
    if !io::stdout().is_terminal() {
        return DEFAULT_WIDTH;
    }
    let size = rustix::termios::tcgetwinsize(io::stdout());
    let columns = size.ok().map(|size| usize::from(size.ws_col)).filter(|width| *width > 0);
    columns.unwrap_or(DEFAULT_WIDTH)
}
