//! A session whose front waits while the program runs, as a terminal does: it performs lines, and
//! does what they ask for.
//!
//! ```text
//!   line ──> Driver::perform ──> Session::answer ──> Action ──> the program runs, is loaded again …
//!                 │                                                  │
//!                 └── Front::show, say <── answers, notes, the stop ─┘
//! ```
//!
//! An editor's console goes on answering meanwhile, so the debug adapter performs actions in its
//! own way.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use debug::{
    Debugger, InterruptHandle, LaunchError, LaunchOptions, RecordOptions, Refused, Resume,
    StopReason,
};
use values::InputFiles;

use crate::command::Inputs;
use crate::complete::Completion;
use crate::performance::Performance;
use crate::session::{Action, Answer, Progress, Run, Session};

/// What hears the answers.
pub trait Front {
    /// Takes an answer.
    ///
    /// # Errors
    /// It cannot be written.
    fn show(&mut self, what: Shown<'_>, answer: Answer) -> io::Result<()>;

    /// Takes a line that no command has asked for.
    ///
    /// # Errors
    /// It cannot be written.
    fn say(&mut self, kind: Said, text: &str) -> io::Result<()>;

    /// Runs a command of the system; it says why that did not work, if it did not.
    ///
    /// # Errors
    /// Its output cannot be written.
    fn shell(&mut self, command: &str) -> io::Result<Result<(), String>>;
}

/// What an answer is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown<'l> {
    /// Of this line.
    Line(&'l str),
    /// Of a stop.
    Stop,
    /// Of something that no line has asked for.
    Note,
}

/// What a line is that no command has asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    /// A note of the debugger.
    Note,
    /// The message of a log point.
    Log,
}

/// What follows a line: another one, or the end of the session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Another line.
    Command,
    /// The end.
    Quit,
}

/// A program and its session.
pub struct Driver {
    options: LaunchOptions,
    debugger: Debugger,
    session: Session,
    /// The messages of log points since the program was last resumed.
    log: Arc<Mutex<Vec<String>>>,
    /// What was interrupted, and can go on.
    interrupted: Option<Performance>,
}

impl Driver {
    /// Loads the program.
    ///
    /// # Errors
    /// [`LaunchError`]
    pub fn new(options: LaunchOptions) -> Result<Self, LaunchError> {
        let debugger = Debugger::load(options.clone())?;
        let inputs =
            Inputs { function: options.function.clone(), inputs: Some(options.inputs.clone()) };
        let session = Session::default().called_with(inputs);
        let (log, interrupted) = (Arc::default(), None);
        let mut driver = Self { options, debugger, session, log, interrupted };
        driver.connect_log();
        Ok(driver)
    }

    /// The program.
    #[must_use]
    pub fn debugger(&self) -> &Debugger {
        &self.debugger
    }

    /// The program, to evaluate something in it.
    pub fn debugger_mut(&mut self) -> &mut Debugger {
        &mut self.debugger
    }

    /// What the commands remember.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The same, to set how it answers.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// A handle that stops the program while it runs, also after it was loaded again.
    #[must_use]
    pub fn interrupt_handle(&self) -> InterruptHandle {
        self.debugger.interrupt_handle()
    }

    /// What can be inserted into a line at a byte offset.
    #[must_use]
    pub fn completions(&self, line: &str, cursor: usize) -> Vec<Completion> {
        self.session.completions(&self.debugger, line, cursor)
    }

    /// Performs a line, and the lines that it leads to.
    ///
    /// # Errors
    /// The front cannot write.
    pub fn perform(&mut self, line: &str, front: &mut dyn Front) -> io::Result<Next> {
        self.session.begin_line();
        let mut next = Some(line.to_owned());
        while let Some(line) = next {
            if self.perform_one(&line, front)? == Next::Quit {
                return Ok(Next::Quit);
            }
            next = self.session.next_line();
        }
        Ok(Next::Command)
    }

    fn perform_one(&mut self, line: &str, front: &mut dyn Front) -> io::Result<Next> {
        let mut answer = self.session.answer(&mut self.debugger, line);
        let action = answer.action.take();
        front.show(Shown::Line(line), answer)?;
        let moved = match action {
            None => Ok(None),
            Some(Action::Quit) => return Ok(Next::Quit),
            Some(Action::Run(run)) => {
                self.run(run.into()).map(Some).map_err(|refused| refused.to_string())
            }
            Some(Action::Moved(reason)) => Ok(Some(reason)),
            Some(Action::Launch(how, inputs)) => {
                self.launch(how, inputs.as_ref(), front)?.map(Some)
            }
            Some(Action::Kill) => match self.load_again(false, front)? {
                Ok(()) => {
                    front.say(Said::Note, "The program was killed")?;
                    Ok(None)
                }
                Err(error) => Err(error),
            },
            Some(Action::Shell(command)) => front.shell(&command)?.map(|()| None),
        };
        match moved {
            Ok(None) => {}
            Ok(Some(reason)) => self.stopped(&reason, front)?,
            Err(error) => {
                self.session.drop_lines();
                front.show(Shown::Line(line), Answer::failed(error))?;
            }
        }
        Ok(Next::Command)
    }

    /// Lets the program go on with what was interrupted: a step ends where it would have ended.
    /// Returns whether something was.
    ///
    /// # Errors
    /// The front cannot write.
    pub fn go_on(&mut self, front: &mut dyn Front) -> io::Result<bool> {
        let Some(run) = self.interrupted.take() else { return Ok(false) };
        match self.run(run) {
            Ok(reason) => self.stopped(&reason, front)?,
            Err(refused) => front.show(Shown::Note, Answer::failed(refused.to_string()))?,
        }
        Ok(true)
    }

    fn run(&mut self, mut run: Performance) -> Result<StopReason, Refused> {
        self.interrupted = None;
        let reason = run.go_on(&mut self.debugger)?;
        if matches!(reason, StopReason::Pause) {
            self.interrupted = Some(run);
        }
        Ok(reason)
    }

    /// The program has stopped: tells where it stands.
    fn stopped(&mut self, reason: &StopReason, front: &mut dyn Front) -> io::Result<()> {
        let messages =
            std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner));
        for text in messages {
            front.say(Said::Log, &text)?;
        }
        if matches!(reason, StopReason::Pause) {
            self.session.drop_lines();
        }
        let answer = self.session.stopped(&mut self.debugger, reason);
        front.show(Shown::Stop, answer)
    }

    /// Loads the program again if it has run, its files have changed or it takes new inputs, and
    /// runs it.
    fn launch(
        &mut self,
        how: Resume,
        inputs: Option<&Inputs>,
        front: &mut dyn Front,
    ) -> io::Result<Result<StopReason, String>> {
        let changed = self.debugger.program().changed_files();
        let has_run = self.session.progress() != Progress::NotStarted;
        if let Some(Inputs { function, inputs }) = inputs {
            self.options.function.clone_from(function);
            let inputs = inputs.clone().unwrap_or_default();
            if inputs != self.options.inputs {
                // The files that a user names are not those of a recording.
                self.options.input_files = InputFiles::OnDisk;
                self.options.inputs = inputs;
            }
        }
        let is_stale = has_run || !changed.is_empty() || inputs.is_some();
        if is_stale && let Err(error) = self.load_again(!changed.is_empty(), front)? {
            return Ok(Err(error));
        }
        for file in changed {
            let text = format!("note: {} has changed and was loaded again", file.path.display());
            front.say(Said::Note, &text)?;
        }
        Ok(self.run(Run::Resume(how, 1).into()).map_err(|refused| refused.to_string()))
    }

    /// Loads the program again. Keeps the breakpoints.
    fn load_again(
        &mut self,
        has_changed: bool,
        front: &mut dyn Front,
    ) -> io::Result<Result<(), String>> {
        match self.fresh(has_changed) {
            Ok(fresh) => self.debugger = fresh,
            Err(error) => return Ok(Err(error)),
        }
        self.interrupted = None;
        self.connect_log();
        let answer = self.session.restarted(&mut self.debugger);
        if !answer.text.is_empty() {
            front.show(Shown::Note, answer)?;
        }
        Ok(Ok(()))
    }

    fn fresh(&mut self, has_changed: bool) -> Result<Debugger, String> {
        if has_changed {
            let reopened = self.options.host.parameters.reopen();
            self.options.host.parameters = Arc::new(reopened.map_err(|it| it.to_string())?);
        }
        let mut fresh = Debugger::load(self.options.clone()).map_err(|it| it.to_string())?;
        let level = self.debugger.machine().level();
        fresh.set_level(level).map_err(|it| it.to_string())?;
        if self.debugger.record_state().is_some() && fresh.record_state().is_none() {
            fresh.record(RecordOptions::default()).map_err(|it| it.to_string())?;
        }
        *fresh.printed() = std::mem::take(self.debugger.printed());
        fresh.set_compares_bytecode(self.debugger.compares_bytecode());
        fresh.edit_breakpoints().adopt(self.debugger.edit_breakpoints().take_others());
        Ok(fresh)
    }

    /// Collects the messages of log points.
    fn connect_log(&mut self) {
        let log = Arc::clone(&self.log);
        self.debugger.set_log_sink(move |message| {
            log.lock().unwrap_or_else(PoisonError::into_inner).push(message.text);
        });
    }
}
