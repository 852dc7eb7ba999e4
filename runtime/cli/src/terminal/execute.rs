//! A line to its command, a command to its method.

use std::io::{self, Write};

use debug::{Granularity, Limits, Resume, ScopeKind, StepKind};

use super::command::Command;
use super::state::{Next, Problem, Terminal};
use super::{show, table};

impl<W: Write> Terminal<W> {
    /// Executes a line. An empty line repeats the last step or listing.
    ///
    /// # Errors
    /// Output cannot be written.
    pub(crate) fn execute(&mut self, line: &str) -> io::Result<Next> {
        if line.trim_start().starts_with('#') {
            return Ok(Next::Command);
        }
        let parsed = if line.trim().is_empty() {
            match self.last.clone() {
                Some(command) => Ok(command),
                None => return Ok(Next::Command),
            }
        } else {
            table::parse(line)
        };
        let result = parsed.map_err(Problem::User).and_then(|command| {
            self.last = command.repeats().then(|| command.clone());
            if !command.restarts() {
                self.print_changed_files()?;
            }
            self.perform(command)
        });
        match result {
            Ok(next) => Ok(next),
            Err(Problem::Output(error)) => Err(error),
            Err(Problem::User(text)) => {
                self.has_failed = true;
                writeln!(self.out, "error: {text}")?;
                Ok(Next::Command)
            }
        }
    }

    fn perform(&mut self, command: Command) -> Result<Next, Problem> {
        match command {
            Command::Run => self.run()?,
            Command::Start => self.start()?,
            Command::Continue => self.resume(Resume::Continue, 1)?,
            Command::Step { times } => self.step(StepKind::Into, Granularity::Line, times)?,
            Command::Next { times } => self.step(StepKind::Over, Granularity::Line, times)?,
            Command::StepInstruction { times } => {
                self.step(StepKind::Into, Granularity::Instruction, times)?;
            }
            Command::NextInstruction { times } => {
                self.step(StepKind::Over, Granularity::Instruction, times)?;
            }
            Command::StepStatement { times } => {
                self.step(StepKind::Into, Granularity::Statement, times)?;
            }
            Command::NextStatement { times } => {
                self.step(StepKind::Over, Granularity::Statement, times)?;
            }
            Command::Finish => self.step(StepKind::Out, Granularity::Line, 1)?,
            Command::Level(level) => self.level(level)?,
            Command::Break(place, options) => self.add_breakpoint(place, &options)?,
            Command::Condition(number, condition) => self.set_condition(number, condition)?,
            Command::Watch(access, text) => self.watch(access, &text)?,
            Command::Catch(trap, every) => self.catch(trap, every)?,
            Command::Until(place) => self.until(place)?,
            Command::Jump(place) => self.jump(place)?,
            Command::Into(name) => self.step_into(name.as_deref())?,
            Command::Calls => self.show_calls()?,
            Command::RestartFrame => self.restart_frame()?,
            Command::Arguments => self.scope(ScopeKind::Arguments)?,
            Command::Display(None) => self.show_displays()?,
            Command::Display(Some(text)) => self.display(text)?,
            Command::Undisplay(which) => self.undisplay(which)?,
            Command::Set(target, value) => self.set(&target, &value)?,
            Command::Examine(text, count) => self.examine(&text, count)?,
            Command::Delete(which) => self.delete(which)?,
            Command::Breakpoints => show::breakpoints(&mut self.out, &self.debugger)?,
            Command::Backtrace => show::backtrace(&mut self.out, &self.debugger)?,
            Command::Frame(number) => self.select(number.unwrap_or(self.selected))?,
            Command::Up => self.select(self.selected + 1)?,
            Command::Down => {
                let below = self.selected.checked_sub(1).ok_or("this is the innermost frame")?;
                self.select(below)?;
            }
            Command::Registers => self.scope(ScopeKind::Registers)?,
            Command::Locals => self.scope(ScopeKind::Locals)?,
            Command::Globals => self.scope(ScopeKind::Globals)?,
            Command::Dispatch => self.scope(ScopeKind::Dispatch)?,
            Command::Allocations => {
                self.needs_frame()?;
                show::allocations(&mut self.out, &self.debugger)?;
            }
            Command::Print(name) => {
                self.needs_frame()?;
                let limits = Limits::default();
                let value = self.debugger.evaluate_in_console(self.frame, &name, limits);
                let variable = value.map_err(|error| error.with_caret(&name))?;
                show::variable(&mut self.out, &self.debugger, &variable)?;
            }
            Command::Disassemble(function) => self.disassemble(function.as_deref())?,
            Command::List(target) => self.list(target)?,
            Command::Help => self.out.write_all(table::help().as_bytes())?,
            Command::Quit => return Ok(Next::Quit),
        }
        Ok(Next::Command)
    }
}
