//! The debugger in a terminal: it prints what the commands answer.
//!
//! Input comes from a prompt, a pipe or a script. Output goes to any writer, so that a test can
//! compare it. The commands themselves are in the crate `commands`,
//! and so is what they lead to (`commands::Driver`).

use std::io;

use commands::{Answer, Completion, DEFAULT_WIDTH, Driver, Front, Next, Said, Shown};
use debug::{InterruptHandle, LaunchError, LaunchOptions};
use serde_json::{Map, Value};

use crate::printing::Screen;

/// A debugging session in a terminal.
pub(crate) struct Terminal<W> {
    driver: Driver,
    screen: Writer<W>,
}

/// The version of the schema of lines of JSON: `schemas/debug.schema.json`.
const VERSION: u32 = 1;

/// Where the answers go.
struct Writer<W> {
    out: W,
    /// Whether each answer is an object of JSON, on a line of its own.
    is_json: bool,
    has_failed: bool,
}

impl<W: Screen> Terminal<W> {
    /// Loads the program.
    pub(crate) fn new(options: LaunchOptions, is_json: bool, out: W) -> Result<Self, LaunchError> {
        // The user of this terminal could read this process's memory in other ways too.
        let options = LaunchOptions { foreign_memory: true, ..options };
        let driver = Driver::new(options)?;
        let mut screen = Writer { out, is_json, has_failed: false };
        for note in driver.debugger().program().notes() {
            // If this fails, the first command fails in the same way.
            let _ = screen.say(Said::Note, &format!("note: {note}"));
        }
        Ok(Self { driver, screen })
    }

    /// A handle that stops the program while [`Terminal::execute`] runs it, also after it was
    /// loaded again.
    pub(crate) fn interrupt_handle(&self) -> InterruptHandle {
        self.driver.interrupt_handle()
    }

    /// Whether a command has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.screen.has_failed
    }

    /// Whether the program's last run has failed.
    pub(crate) fn program_has_failed(&self) -> bool {
        self.driver.session().has_failed()
    }

    /// Whether lines are collected up to `end`.
    pub(crate) fn collects(&self) -> bool {
        self.driver.session().collects()
    }

    /// What can be inserted into a line at a byte offset.
    pub(crate) fn completions(&self, line: &str, cursor: usize) -> Vec<Completion> {
        self.driver.completions(line, cursor)
    }

    /// Shows a line that was not typed, so that the output reads like a session.
    pub(crate) fn echo(&mut self, prompt: &str, line: &str) -> io::Result<()> {
        if self.screen.is_json { Ok(()) } else { writeln!(self.screen.out, "{prompt}{line}") }
    }

    /// Executes a line, and the lines that it leads to.
    ///
    /// # Errors
    /// Output cannot be written.
    pub(crate) fn execute(&mut self, line: &str) -> io::Result<Next> {
        let session = self.driver.session_mut();
        session.set_width(width());
        session.set_coloured(is_coloured());
        self.driver.perform(line, &mut self.screen)
    }
}

impl<W: Screen> Writer<W> {
    /// A line that no command has asked for.
    fn say_of(&mut self, kind: &str, text: &str) -> io::Result<()> {
        if !self.is_json {
            return writeln!(self.out, "{text}");
        }
        let line = serde_json::json!({ "schema_version": VERSION, "kind": kind, "text": text });
        writeln!(self.out, "{line}")
    }
}

impl<W: Screen> Front for Writer<W> {
    fn show(&mut self, what: Shown<'_>, answer: Answer) -> io::Result<()> {
        self.has_failed |= answer.error.is_some();
        if self.is_json {
            let mut object = Map::new();
            let kind = match what {
                Shown::Line(_) => "answer",
                Shown::Stop => "stop",
                Shown::Note => "note",
            };
            object.insert("schema_version".into(), VERSION.into());
            object.insert("kind".into(), kind.into());
            if let Shown::Line(command) = what {
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

    fn say(&mut self, kind: Said, text: &str) -> io::Result<()> {
        let kind = match kind {
            Said::Note => "note",
            Said::Log => "log",
        };
        self.say_of(kind, text)
    }

    /// Its output goes where ours does.
    fn shell(&mut self, command: &str) -> io::Result<Result<(), String>> {
        self.out.flush()?;
        let shell = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        let output = std::process::Command::new(shell.0)
            .args([shell.1, command])
            .stdin(std::process::Stdio::inherit())
            .output();
        let output = match output {
            Ok(output) => output,
            Err(error) => return Ok(Err(format!("{} does not start: {error}", shell.0))),
        };
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        if !text.is_empty() {
            self.say_of("shell", text.trim_end())?;
        }
        Ok(match output.status.success() {
            true => Ok(()),
            false => Err(format!("{command}: {}", output.status)),
        })
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
