//! The debugger in a terminal: it prints what the commands answer, and runs the program where they
//! ask for that.
//!
//! Input comes from a prompt, a pipe or a script. Output goes to any writer, so that a test can
//! compare it. The commands themselves are in the crate `commands`.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use commands::{Action, Answer, Completion, DEFAULT_WIDTH, Inputs, Progress, Session};
use debug::{
    Debugger, InterruptHandle, LaunchError, LaunchOptions, RecordOptions, Resume, StopReason,
};
use serde_json::{Map, Value};
use values::InputFiles;

use crate::failure::Failure;
use crate::printing::Screen;

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
    /// Whether each answer is an object of JSON, on a line of its own.
    is_json: bool,
    has_failed: bool,
    /// The messages of logpoints since the program was last resumed.
    log: Arc<Mutex<Vec<String>>>,
}

/// What the program is to do.
enum Move {
    Nothing,
    Stopped(StopReason),
}

impl<W: Screen> Terminal<W> {
    /// Loads the program.
    pub(crate) fn new(options: LaunchOptions, is_json: bool, out: W) -> Result<Self, LaunchError> {
        // The user of this terminal could read this process's memory in other ways too.
        let options = LaunchOptions { foreign_memory: true, ..options };
        let debugger = Debugger::load(options.clone())?;
        let inputs =
            Inputs { function: options.function.clone(), inputs: Some(options.inputs.clone()) };
        let session = Session::default().called_with(inputs);
        let log = Arc::default();
        let has_failed = false;
        let mut terminal = Self { options, debugger, session, out, is_json, has_failed, log };
        for note in terminal.debugger.program().notes().to_vec() {
            // If this fails, the first command fails in the same way.
            let _ = terminal.say("note", &format!("note: {note}"));
        }
        terminal.connect_log();
        Ok(terminal)
    }

    /// A handle that stops the program while [`Terminal::execute`] runs it, also after it was
    /// loaded again.
    pub(crate) fn interrupt_handle(&self) -> InterruptHandle {
        self.debugger.interrupt_handle()
    }

    /// Whether a command has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Whether the program's last run has failed.
    pub(crate) fn program_has_failed(&self) -> bool {
        self.session.has_failed()
    }

    /// Whether lines are collected up to `end`.
    pub(crate) fn collects(&self) -> bool {
        self.session.collects()
    }

    /// What can be inserted into a line at a byte offset.
    pub(crate) fn completions(&self, line: &str, cursor: usize) -> Vec<Completion> {
        self.session.completions(&self.debugger, line, cursor)
    }

    /// Shows a line that was not typed, so that the output reads like a session.
    pub(crate) fn echo(&mut self, prompt: &str, line: &str) -> io::Result<()> {
        if self.is_json { Ok(()) } else { writeln!(self.out, "{prompt}{line}") }
    }

    /// Executes a line, and the lines that it leads to.
    ///
    /// # Errors
    /// Output cannot be written.
    pub(crate) fn execute(&mut self, line: &str) -> io::Result<Next> {
        self.session.begin_line();
        let mut next = Some(line.to_owned());
        while let Some(line) = next {
            if self.execute_one(&line)? == Next::Quit {
                return Ok(Next::Quit);
            }
            next = self.session.next_line();
        }
        Ok(Next::Command)
    }

    fn execute_one(&mut self, line: &str) -> io::Result<Next> {
        self.session.set_width(width());
        self.session.set_coloured(is_coloured());
        let mut answer = self.session.answer(&mut self.debugger, line);
        let action = answer.action.take();
        self.show("answer", Some(line), answer)?;
        let moved = match action {
            None => Ok(Move::Nothing),
            Some(Action::Quit) => return Ok(Next::Quit),
            Some(Action::Run(run)) => {
                run.perform(&mut self.debugger).map(Move::Stopped).map_err(Failure::from)
            }
            Some(Action::Moved(reason)) => Ok(Move::Stopped(reason)),
            Some(Action::Launch(how, inputs)) => self.launch(how, inputs.as_ref())?,
            Some(Action::Kill) => match self.load_again(false)? {
                Ok(()) => {
                    self.say("note", "The program was killed")?;
                    Ok(Move::Nothing)
                }
                Err(error) => Err(error),
            },
            Some(Action::Shell(command)) => self.shell(&command)?,
        };
        match moved {
            Ok(Move::Nothing) => {}
            Ok(Move::Stopped(reason)) => self.stopped(&reason)?,
            Err(error) => {
                self.session.drop_lines();
                self.show("answer", Some(line), Answer::failed(error.to_string()))?;
            }
        }
        Ok(Next::Command)
    }

    /// The program has stopped: shows where it stands.
    fn stopped(&mut self, reason: &StopReason) -> io::Result<()> {
        let messages =
            std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner));
        for text in messages {
            self.say("log", &text)?;
        }
        if matches!(reason, StopReason::Pause) {
            self.session.drop_lines();
        }
        let answer = self.session.stopped(&mut self.debugger, reason);
        self.show("stop", None, answer)
    }

    /// Shows an answer, or a stop.
    fn show(&mut self, kind: &str, command: Option<&str>, answer: Answer) -> io::Result<()> {
        self.has_failed |= answer.error.is_some();
        if self.is_json {
            let mut object = Map::new();
            object.insert("kind".into(), kind.into());
            if let Some(command) = command {
                object.insert("command".into(), command.into());
                object.insert("ok".into(), answer.error.is_none().into());
            }
            object.insert("text".into(), answer.text.into());
            object.extend(answer.error.map(|error| ("error".to_owned(), error.into())));
            object.extend(answer.data);
            return writeln!(self.out, "{}", Value::Object(object));
        }
        if answer.is_coloured {
            self.out.write_coloured(&answer.text)?;
        } else {
            self.out.write_all(answer.text.as_bytes())?;
        }
        match answer.error {
            Some(error) => writeln!(self.out, "error: {error}"),
            None => Ok(()),
        }
    }

    /// A line that no command has asked for.
    fn say(&mut self, kind: &str, text: &str) -> io::Result<()> {
        if !self.is_json {
            return writeln!(self.out, "{text}");
        }
        writeln!(self.out, "{}", serde_json::json!({ "kind": kind, "text": text }))
    }

    /// Loads the program again if it has run, its files have changed or it takes new inputs, and
    /// runs it.
    fn launch(
        &mut self,
        how: Resume,
        inputs: Option<&Inputs>,
    ) -> io::Result<Result<Move, Failure>> {
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
        if is_stale && let Err(error) = self.load_again(!changed.is_empty())? {
            return Ok(Err(error));
        }
        for file in changed {
            let text = format!("note: {} has changed and was loaded again", file.path.display());
            self.say("note", &text)?;
        }
        Ok(Ok(Move::Stopped(self.debugger.resume(how))))
    }

    /// Loads the program again. Keeps the breakpoints.
    fn load_again(&mut self, has_changed: bool) -> io::Result<Result<(), Failure>> {
        match self.fresh(has_changed) {
            Ok(fresh) => self.debugger = fresh,
            Err(error) => return Ok(Err(error)),
        }
        self.connect_log();
        let answer = self.session.restarted(&mut self.debugger);
        if !answer.text.is_empty() {
            self.show("note", None, answer)?;
        }
        Ok(Ok(()))
    }

    fn fresh(&mut self, has_changed: bool) -> Result<Debugger, Failure> {
        if has_changed {
            self.options.host.parameters = Arc::new(self.options.host.parameters.reopen()?);
        }
        let mut fresh = Debugger::load(self.options.clone())?;
        fresh.set_level(self.debugger.machine().level())?;
        if self.debugger.record_state().is_some() && fresh.record_state().is_none() {
            fresh.record(RecordOptions::default())?;
        }
        *fresh.printed() = std::mem::take(self.debugger.printed());
        fresh.set_compares_bytecode(self.debugger.compares_bytecode());
        fresh.edit_breakpoints().adopt(self.debugger.edit_breakpoints().take_others());
        Ok(fresh)
    }

    /// Runs a command of the system; its output goes where ours does.
    fn shell(&mut self, command: &str) -> io::Result<Result<Move, Failure>> {
        self.out.flush()?;
        let shell = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        let output = std::process::Command::new(shell.0)
            .args([shell.1, command])
            .stdin(std::process::Stdio::inherit())
            .output();
        let output = match output {
            Ok(output) => output,
            Err(error) => return Ok(Err(format!("{} does not start: {error}", shell.0).into())),
        };
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        if !text.is_empty() {
            self.say("shell", text.trim_end())?;
        }
        Ok(match output.status.success() {
            true => Ok(Move::Nothing),
            false => Err(format!("{command}: {}", output.status).into()),
        })
    }

    /// Collects the messages of logpoints.
    fn connect_log(&mut self) {
        let log = Arc::clone(&self.log);
        self.debugger.set_log_sink(move |message| {
            log.lock().unwrap_or_else(PoisonError::into_inner).push(message.text);
        });
    }
}

/// Whether the terminal shows colours, and its user wants them (<https://no-color.org>).
pub(crate) fn is_coloured() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    crate::printing::output().is_terminal() && !is_dumb && !is_set("NO_COLOR")
}

/// The columns of the terminal.
pub(crate) fn width() -> usize {
    if !crate::printing::output().is_terminal() {
        return DEFAULT_WIDTH;
    }
    let size = terminal_size::terminal_size_of(io::stdout());
    let columns = size.map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0);
    columns.unwrap_or(DEFAULT_WIDTH)
}
