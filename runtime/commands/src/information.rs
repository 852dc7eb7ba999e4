//! `info`: lines, sources, frames, functions, modules.

use std::fmt::Write;

use debug::{AtCommand, HowFar};

use crate::command::{Info, Place};
use crate::session::{Performer, Problem, Progress};
use crate::{show, words};

/// `1 command`, `2 commands`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// How a moment that has no number is named.
const BOOKMARK: &str = "`bookmark NAME` and then `goto NAME` lead here again";

impl Performer<'_> {
    pub(crate) fn info(&mut self, what: Info) -> Result<(), Problem> {
        match what {
            Info::Line(place) => self.info_line(place),
            Info::Name(name) => self.info_name(&name),
            Info::Source => self.info_source(),
            Info::Frame => self.info_frame(),
            Info::Functions(pattern) => self.info_functions(pattern.as_deref()),
            Info::Modules => {
                for (_, name, path) in self.debugger.program().modules() {
                    match path {
                        Some(path) => writeln!(self.out, "{name}  {}", path.display())?,
                        None => writeln!(self.out, "{name}")?,
                    }
                }
                Ok(())
            }
            Info::Threads => {
                writeln!(self.out, "* 1 main")?;
                Ok(())
            }
            Info::Program => self.info_program(),
            Info::Display => {
                if self.session.displays.is_empty() {
                    writeln!(self.out, "nothing is displayed")?;
                }
                for (number, text) in &self.session.displays {
                    writeln!(self.out, "{number}: {text}")?;
                }
                Ok(())
            }
            Info::Arguments => {
                let inputs = &self.session.inputs;
                let function = self.debugger.program().entry_name();
                let shown: Vec<String> =
                    inputs.inputs.iter().flatten().map(|input| words::quoted(input)).collect();
                let function = inputs.function.as_deref().unwrap_or(function);
                writeln!(self.out, "@{function}: {}", shown.join(" "))?;
                self.out.put("function", function);
                self.out.put("inputs", inputs.inputs.clone().unwrap_or_default());
                Ok(())
            }
        }
    }

    fn info_program(&mut self) -> Result<(), Problem> {
        match self.session.progress {
            Progress::NotStarted => writeln!(self.out, "it has not begun; `run` or `start` it")?,
            Progress::Failed => writeln!(self.out, "it has failed; its frames can be looked at")?,
            Progress::Over => writeln!(self.out, "it is over; `run` starts it again")?,
            Progress::Stopped => self.info_moment()?,
        }
        Ok(())
    }

    /// Where a program stands in time, and how `goto` leads there again.
    fn info_moment(&mut self) -> Result<(), Problem> {
        let HowFar { commands, at, is_initializing } = self.debugger.machine().how_far();
        let place = match at {
            _ if is_initializing => "in the initialisers of its modules".to_owned(),
            Some(AtCommand::Before(number)) => format!("before command {number}"),
            Some(AtCommand::In(number)) => format!("in command {number}"),
            None => format!("after {}", counted(commands, "command")),
        };
        let turns = self.debugger.moment().map(|moment| moment.turns());
        let turns_text = turns.map_or_else(String::new, |turns| {
            format!(", after {} (backward branches and calls)", counted(turns, "turn"))
        });
        writeln!(self.out, "it stands still {place}{turns_text}")?;
        let moment = self.debugger.line_moment().map(|moment| moment.to_string());
        self.out.put("moment", moment);
        self.out.put("commands", commands);
        self.out.put("turns", turns);
        if self.debugger.record_state().is_some() {
            let way = match at.filter(|_| !is_initializing) {
                Some(AtCommand::Before(number)) => format!("`goto {number}` leads here"),
                Some(AtCommand::In(number)) => {
                    format!("`goto {number}` leads to before the command; {BOOKMARK}")
                }
                None => BOOKMARK.to_owned(),
            };
            writeln!(self.out, "{way}")?;
        }
        Ok(())
    }

    fn info_line(&mut self, place: Option<Place>) -> Result<(), Problem> {
        let spec = match place {
            Some(place) => self.spec(place)?,
            None => self.here()?,
        };
        let program = self.debugger.program();
        let found = spec.resolve(program);
        if found.locations.is_empty() && found.dispatches.is_empty() {
            return Err(found.message.unwrap_or_else(|| "there is no such place".into()).into());
        }
        for position in &found.locations {
            let function = program.function_label(position.function);
            let line = self.debugger.machine().source_line(*position);
            let line = line.map(|at| format!("{}:{}:{}", at.file, at.line, at.column));
            let line = line.unwrap_or_else(|| "no line".into());
            writeln!(self.out, "{line} is *{}+{}", words::quoted(&function), position.offset)?;
        }
        for name in &found.dispatches {
            writeln!(self.out, "dispatch '{name}'")?;
        }
        if let Some(message) = found.message {
            writeln!(self.out, "note: {message}")?;
        }
        Ok(())
    }

    fn info_source(&mut self) -> Result<(), Problem> {
        let machine = self.debugger.machine();
        let here = machine.frame_at(self.session.selected).and_then(|frame| frame.source);
        let source = here.or_else(|| machine.main_source()).ok_or("no source is known here")?;
        match &source.path {
            Some(path) => writeln!(self.out, "{}\n  found at {}", source.file, path.display())?,
            None if self.debugger.program().has_source(&source.file) => {
                writeln!(self.out, "{}\n  held by the debugger", source.file)?;
            }
            None => writeln!(self.out, "{}\n  not found on this machine", source.file)?,
        }
        let files = self.debugger.program().source_files();
        let others: Vec<String> =
            files.into_iter().map(|it| it.file).filter(|file| *file != source.file).collect();
        if !others.is_empty() {
            writeln!(self.out, "  others: {}", others.join(", "))?;
        }
        Ok(())
    }

    fn info_frame(&mut self) -> Result<(), Problem> {
        self.needs_frame()?;
        let number = self.session.selected;
        let machine = self.debugger.machine();
        let frame = machine.frame_at(number).ok_or("there is no such frame")?;
        show::frame(&mut self.out, self.debugger, number, &frame)?;
        writeln!(self.out, "  module {}, level {}", frame.module, machine.level())?;
        if let Some(position) = frame.position {
            let address = self.debugger.program().linear(position);
            let address = address.map(|it| it.to_string()).unwrap_or_default();
            writeln!(self.out, "  offset {}, address {address}", position.offset)?;
        }
        match self.debugger.machine().frame_at(number + 1) {
            Some(caller) => writeln!(self.out, "  called by #{} {}", number + 1, caller.name)?,
            None => writeln!(self.out, "  the outermost frame")?,
        }
        Ok(())
    }

    fn info_functions(&mut self, pattern: Option<&str>) -> Result<(), Problem> {
        let names = self.debugger.program().function_names();
        let fits = |name: &str| match pattern {
            Some(pattern) if pattern.contains(['*', '?']) => abi::glob::matches(pattern, name),
            Some(part) => name.contains(part),
            None => true,
        };
        let names: Vec<String> = names.into_iter().filter(|name| fits(name)).collect();
        if names.is_empty() {
            writeln!(self.out, "no function fits")?;
        }
        for name in &names {
            writeln!(self.out, "{}", words::quoted(name))?;
        }
        self.out.put("functions", names);
        Ok(())
    }
}
