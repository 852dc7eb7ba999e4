//! Lines that come from elsewhere than the prompt: from files, from definitions, and from what
//! breakpoints perform when they stop.
//!
//! They wait in the session's queue. A front performs the next one after each answer, once the
//! program stands still. A mistake in one of them ends them all, as in gdb.

use debug::BreakpointId;

use crate::parse;
use crate::queue::Purpose;
use crate::session::{Performer, Problem, Session};
use crate::words;

impl Session {
    /// The next line that is to be performed without being typed.
    pub fn next_line(&mut self) -> Option<String> {
        self.scripts.next()
    }

    /// Drops the lines that wait: one of them was a mistake, or the user wants to stop.
    pub fn drop_lines(&mut self) {
        self.scripts.drop_lines();
    }

    /// Lines were typed, or one. They wait to be performed.
    pub fn type_lines(&mut self, lines: &str) {
        self.scripts.begin();
        self.scripts.put(lines.split('\n').map(str::to_owned).collect());
    }

    /// A line was typed.
    pub fn begin_line(&mut self) {
        self.scripts.begin();
    }

    /// Whether lines are collected up to `end`.
    #[must_use]
    pub fn collects(&self) -> bool {
        self.scripts.collects()
    }

    /// The words that the user has defined.
    pub(crate) fn defined(&self) -> Vec<&str> {
        self.scripts.defined.keys().map(String::as_str).collect()
    }
}

impl Performer<'_> {
    pub(crate) fn source(&mut self, path: &str) -> Result<(), Problem> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| format!("cannot read {path}: {error}"))?;
        self.session.scripts.put(text.lines().map(str::to_owned).collect());
        Ok(())
    }

    pub(crate) fn define(&mut self, name: String) -> Result<(), Problem> {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        if !name.chars().all(is_word) {
            return Err(format!("{name:?} is no word").into());
        }
        if parse::is_command(&name) {
            return Err(format!("{name:?} is a command already").into());
        }
        self.session.scripts.collect_for(Purpose::Define(name));
        Ok(())
    }

    pub(crate) fn on_stop(&mut self, number: Option<u32>) -> Result<(), Problem> {
        let last = self.debugger.breakpoints().iter().last().map(|it| it.id);
        let id = number.map(BreakpointId).or(last);
        let id = id.ok_or("there is no breakpoint")?;
        if self.debugger.breakpoints().get(id).is_none() {
            return Err(format!("there is no breakpoint {}", id.0).into());
        }
        self.session.scripts.collect_for(Purpose::OnStop(id));
        Ok(())
    }

    /// Performs a word that the user has defined.
    pub(crate) fn user(&mut self, name: &str, arguments: &str) -> Result<(), Problem> {
        let lines = self.session.scripts.defined.get(name).cloned().unwrap_or_default();
        let arguments = words::split(arguments)?;
        let filled = lines.iter().map(|line| {
            let mut line = line.replace("$argc", &arguments.len().to_string());
            for (number, argument) in arguments.iter().enumerate().rev() {
                line = line.replace(&format!("$arg{number}"), argument);
            }
            line
        });
        let filled: Vec<String> = filled.collect();
        if let Some(line) = filled.iter().find(|line| line.contains("$arg")) {
            return Err(format!("{name} needs more arguments: {line}").into());
        }
        self.session.scripts.put(filled);
        Ok(())
    }
}
