//! A line to its command, a command to its method.

use std::fmt::Write;

use debug::{Debugger, Resume};

use crate::command::Command;
use crate::session::{Action, Answer, Performer, Problem, Session};
use crate::{help, parse, show};

impl Session {
    /// Performs a line. An empty line repeats the last step or listing. After the answer, and the
    /// stop that follows from it, the lines of [`Session::next_line`] are performed too.
    pub fn answer(&mut self, debugger: &mut Debugger, line: &str) -> Answer {
        if self.scripts.collect(line) || line.trim_start().starts_with('#') {
            return Answer::default();
        }
        let parsed = if line.trim().is_empty() {
            match self.last.clone() {
                Some(command) => Ok(command),
                None => return Answer::default(),
            }
        } else {
            parse::parse(line, &self.defined())
        };
        let mut performer = Performer::new(self, debugger);
        let outcome = parsed.map_err(Problem::from).and_then(|command| {
            performer.session.last = command.repeats().then(|| command.repeated());
            if !command.restarts() {
                performer.print_changed_files()?;
            }
            performer.perform(command)
        });
        let answer = performer.finish(outcome);
        if answer.error.is_some() {
            self.scripts.drop_lines();
        }
        answer
    }
}

impl Performer<'_> {
    fn perform(&mut self, command: Command) -> Result<(), Problem> {
        match command {
            Command::Run(inputs) => self.launch(Resume::Continue, inputs),
            Command::Start(inputs) => self.launch(Resume::ToEntry, inputs),
            Command::Kill => self.kill()?,
            Command::Interrupt => return Err("the program stands still already".into()),
            Command::Continue(times) => self.proceed(times)?,
            Command::Step(kind, granularity, times) => self.step(kind, granularity, times)?,
            Command::Record(what) => self.record(&what)?,
            Command::InfoRecord => self.info_record()?,
            Command::Back(how, times) => self.back(how, times)?,
            Command::Why(question) => self.why(&question)?,
            Command::WhoWrote(text) => self.who_wrote(text)?,
            Command::History(text) => self.history(&text)?,
            Command::Visits(place, columns) => self.visits(place, &columns)?,
            Command::First(text) => self.first(text)?,
            Command::FirstTrap(traps) => self.first_trap(traps)?,
            Command::Last(text) => self.last(text)?,
            Command::BackUntil(place) => self.back_until(place)?,
            Command::FirstRow(question) => self.first_row(question)?,
            Command::Table(filter) => self.run_table(&filter)?,
            Command::Lines => self.lines()?,
            Command::Line(number) => self.line_of_time(number)?,
            Command::Diff(what) => self.diff(what)?,
            Command::Bookmark(name) => self.bookmark(name.as_deref())?,
            Command::GoTo(time) => self.go_to(&time)?,
            Command::When => self.when()?,
            Command::Until(place) => self.until(place)?,
            Command::Level(level) => self.level(level)?,
            Command::Compare(compares) => self.debugger.set_compares_bytecode(compares),
            Command::Jump(place) => self.jump(place)?,
            Command::Into(name) => self.step_into(name.as_deref())?,
            Command::RestartFrame => self.restart_frame()?,
            Command::Rerun => self.rerun()?,
            Command::Break(request) => self.add_breakpoint(request)?,
            Command::Condition(number, condition) => self.set_condition(number, condition)?,
            Command::Watch(access, text) => self.watch(access, &text)?,
            Command::Catch(trap, how) => self.catch(trap, how)?,
            Command::Delete(which) => self.delete(&which)?,
            Command::Enable(which, is_enabled) => self.enable(&which, is_enabled)?,
            Command::Ignore(number, count) => self.ignore(number, count)?,
            Command::Commands(number) => self.on_stop(number)?,
            Command::Clear(place) => self.clear(place)?,
            Command::Breakpoints => self.show_breakpoints()?,
            Command::Backtrace(most) => self.backtrace(most)?,
            Command::Frame(number) => self.select(number.unwrap_or(self.session.selected))?,
            Command::Up(count) => self.select(self.session.selected.saturating_add(count))?,
            Command::Down(count) => {
                let below = self.session.selected.checked_sub(count);
                self.select(below.ok_or("this is the innermost frame")?)?;
            }
            Command::Scope(kind) => self.scope(kind)?,
            Command::DispatchList => self.dispatch_list()?,
            Command::TensorList => self.tensor_list()?,
            Command::Allocations => {
                self.needs_frame()?;
                show::allocations(&mut self.out, self.debugger)?;
            }
            Command::Calls => self.show_calls()?,
            Command::Print(text, format) => self.print(&text, format)?,
            Command::Type(text) => self.show_type(&text)?,
            Command::Expected(text) => self.show_expected(&text)?,
            Command::ExpectedOf(number) => self.expected_of(number)?,
            Command::DispatchOf(number) => self.dispatch_of(number)?,
            Command::Display(None) => self.show_displays()?,
            Command::Display(Some(text)) => self.display(text)?,
            Command::Undisplay(which) => self.undisplay(which)?,
            Command::Set(target, value) => self.set(&target, &value)?,
            Command::Examine(text, layout) => self.examine(text.as_deref(), layout)?,
            Command::Disassemble(function) => self.disassemble(function.as_deref())?,
            Command::List(target) => self.list(target)?,
            Command::Save(request) => self.save(&request)?,
            Command::Reproduce(path) => self.reproduce(&path)?,
            Command::Show(expression) => self.show_tensor(&expression)?,
            Command::Info(what) => self.info(what)?,
            Command::SetArguments(inputs) => self.set_inputs(inputs),
            Command::Source(path) => self.source(&path)?,
            Command::Define(name) => self.define(name)?,
            Command::Echo(text) => writeln!(self.out, "{}", text.replace("\\n", "\n"))?,
            Command::Shell(command) => self.action = Some(Action::Shell(command)),
            Command::User(name, arguments) => self.user(&name, &arguments)?,
            Command::Help(None) => self.out.write_str(&help::all())?,
            Command::Help(Some(name)) => self.out.write_str(&help::of(&name)?)?,
            Command::Quit => self.action = Some(Action::Quit),
        }
        Ok(())
    }
}
