//! A line to its command, a command to its method.

use std::fmt::Write;

use debug::{Debugger, Granularity, Limits, Resume, ScopeKind, StepKind};

use crate::command::Command;
use crate::session::{Action, Answer, Performer, Problem, Session};
use crate::{show, table};

impl Session {
    /// Performs a line. An empty line repeats the last step or listing.
    pub fn answer(&mut self, debugger: &mut Debugger, line: &str) -> Answer {
        if line.trim_start().starts_with('#') {
            return Answer::default();
        }
        let parsed = if line.trim().is_empty() {
            match self.last.clone() {
                Some(command) => Ok(command),
                None => return Answer::default(),
            }
        } else {
            table::parse(line)
        };
        let mut performer = Performer::new(self, debugger);
        let outcome = parsed.map_err(Problem).and_then(|command| {
            performer.session.last = command.repeats().then(|| command.clone());
            if !command.restarts() {
                performer.print_changed_files()?;
            }
            performer.perform(command)
        });
        performer.finish(outcome)
    }
}

impl Performer<'_> {
    fn perform(&mut self, command: Command) -> Result<(), Problem> {
        match command {
            Command::Run => self.launch(Resume::Continue),
            Command::Start => self.launch(Resume::ToEntry),
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
            Command::Breakpoints => show::breakpoints(&mut self.out, self.debugger)?,
            Command::Backtrace => show::backtrace(&mut self.out, self.debugger)?,
            Command::Frame(number) => self.select(number.unwrap_or(self.session.selected))?,
            Command::Up => self.select(self.session.selected + 1)?,
            Command::Down => {
                let below = self.session.selected.checked_sub(1);
                self.select(below.ok_or("this is the innermost frame")?)?;
            }
            Command::Registers => self.scope(ScopeKind::Registers)?,
            Command::Locals => self.scope(ScopeKind::Locals)?,
            Command::Globals => self.scope(ScopeKind::Globals)?,
            Command::Dispatch => self.scope(ScopeKind::Dispatch)?,
            Command::DispatchList => self.dispatch_list()?,
            Command::TensorList => self.tensor_list()?,
            Command::Allocations => {
                self.needs_frame()?;
                show::allocations(&mut self.out, self.debugger)?;
            }
            Command::Print(name) => {
                self.needs_frame()?;
                let limits = Limits::default();
                let frame = self.session.frame;
                let value = self.debugger.evaluate_in_console(frame, &name, limits);
                let variable = value.map_err(|error| error.with_caret(&name))?;
                show::variable(&mut self.out, self.debugger, &variable)?;
            }
            Command::Disassemble(function) => self.disassemble(function.as_deref())?,
            Command::List(target) => self.list(target)?,
            Command::Help => self.out.write_str(&table::help())?,
            Command::Quit => self.action = Some(Action::Quit),
        }
        Ok(())
    }
}
