//! The debugger in a terminal: one command a line, gdb's words.
//!
//! [`command`] reads lines, [`show`] writes what the program looks like, this file and [`actions`]
//! do what is asked. Input comes from a prompt, a pipe or a script; output goes to any writer, so a
//! test can compare it.

mod actions;
pub(crate) mod command;
mod show;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use debug::{
    BreakpointId, BreakpointOptions, BreakpointSpec, Debugger, FrameId, FrameIndex, Granularity,
    InterruptHandle, LaunchError, LaunchOptions, LinearAddress, Resume, StepKind, StopReason,
    Traps,
};

use command::{Command, ListTarget, Place};

/// Whether to go on reading commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    Command,
    Quit,
}

/// A debugging session in a terminal.
pub(crate) struct Terminal<W> {
    options: LaunchOptions,
    debugger: Debugger,
    out: W,
    /// The number of the selected frame in the backtrace, which counts inlined calls too.
    selected: usize,
    /// The frame of the machine that it is or belongs to.
    frame: FrameId,
    progress: Progress,
    /// The file and the next line to list.
    listed: Option<(String, u32)>,
    last: Option<Command>,
    has_failed: bool,
    /// What is shown at every stop.
    displays: Vec<(usize, String)>,
    traps: Traps,
    /// What breakpoints have said since the program was let go.
    log: Arc<Mutex<Vec<String>>>,
}

/// How far the program has come, for commands that need it to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Progress {
    NotStarted,
    Stopped,
    /// The frames are as they were at the failure.
    Failed,
    Over,
}

/// Why a command did not work: the user's mistake, or the terminal's.
enum Problem {
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
        // Whoever sits here could read this process's memory anyhow.
        let options = LaunchOptions { foreign_memory: true, ..options };
        let debugger = Debugger::load(options.clone())?;
        for note in debugger.program().notes() {
            // A lost note is lost; the first command will meet the same broken pipe.
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
        terminal.listen();
        Ok(terminal)
    }

    /// Stops the program that [`Terminal::execute`] is running.
    pub(crate) fn interrupt_handle(&self) -> InterruptHandle {
        self.debugger.interrupt_handle()
    }

    /// Whether some command could not be carried out.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Where output goes.
    pub(crate) fn out(&mut self) -> &mut W {
        &mut self.out
    }

    /// Carries out a line. An empty one repeats the last step or listing.
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
            Command::parse(line)
        };
        let result = parsed.map_err(Problem::User).and_then(|command| {
            self.last = command.repeats().then(|| command.clone());
            if !command.restarts() {
                self.tell_changed_files()?;
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
            Command::Arguments => self.scope(debug::ScopeKind::Arguments)?,
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
            Command::Registers => self.scope(debug::ScopeKind::Registers)?,
            Command::Locals => self.scope(debug::ScopeKind::Locals)?,
            Command::Globals => self.scope(debug::ScopeKind::Globals)?,
            Command::Dispatch => self.scope(debug::ScopeKind::Dispatch)?,
            Command::Allocations => {
                self.needs_frame()?;
                show::allocations(&mut self.out, &self.debugger)?;
            }
            Command::Print(name) => {
                self.needs_frame()?;
                let limits = debug::Limits::default();
                let value = self.debugger.evaluate_in_console(self.frame, &name, limits);
                let variable = value.map_err(|error| error.with_caret(&name))?;
                show::variable(&mut self.out, &self.debugger, &variable)?;
            }
            Command::Disassemble(function) => self.disassemble(function.as_deref())?,
            Command::List(target) => self.list(target)?,
            Command::Help => self.out.write_all(command::help().as_bytes())?,
            Command::Quit => return Ok(Next::Quit),
        }
        Ok(Next::Command)
    }

    /// Loads the program anew, unless it is fresh, and keeps the breakpoints.
    fn restart(&mut self) -> Result<(), Problem> {
        let changed = self.debugger.program().changed_files();
        if self.progress != Progress::NotStarted || !changed.is_empty() {
            if !changed.is_empty() {
                let parameters = self.options.host.parameters.reopen();
                let parameters = parameters.map_err(|status| status.to_string())?;
                self.options.host.parameters = Arc::new(parameters);
            }
            let mut fresh =
                Debugger::load(self.options.clone()).map_err(|error| error.to_string())?;
            fresh.adopt_breakpoints(self.debugger.take_breakpoints());
            fresh.set_traps(self.traps);
            fresh.set_level(self.debugger.level())?;
            self.debugger = fresh;
            self.listen();
            self.forget_watched()?;
            self.progress = Progress::NotStarted;
        }
        for file in changed {
            writeln!(self.out, "note: {} has changed and was loaded anew", file.path.display())?;
        }
        Ok(())
    }

    /// Says which files are others now than those that the program was loaded from.
    fn tell_changed_files(&mut self) -> io::Result<()> {
        for file in self.debugger.newly_changed_files() {
            writeln!(self.out, "note: {file}; `run` loads it anew")?;
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), Problem> {
        self.restart()?;
        self.resume(Resume::Continue, 1)
    }

    fn start(&mut self) -> Result<(), Problem> {
        self.restart()?;
        self.resume(Resume::ToEntry, 1)
    }

    fn step(
        &mut self,
        kind: StepKind,
        granularity: Granularity,
        times: u32,
    ) -> Result<(), Problem> {
        if self.progress == Progress::NotStarted {
            return self.start();
        }
        self.resume(Resume::Step(kind, granularity), times)
    }

    fn resume(&mut self, how: Resume, times: u32) -> Result<(), Problem> {
        match self.progress {
            Progress::Over => return Err("the program is over; `run` starts it again".into()),
            Progress::Failed => return Err("the program has failed; `run` starts it again".into()),
            Progress::NotStarted | Progress::Stopped => {}
        }
        let mut reason = self.debugger.resume(how);
        for _ in 1..times {
            if !matches!(reason, StopReason::Step) {
                break;
            }
            reason = self.debugger.resume(how);
        }
        self.stopped(&reason)
    }

    /// Shows where the program stands now.
    fn stopped(&mut self, reason: &StopReason) -> Result<(), Problem> {
        self.write_log()?;
        self.selected = 0;
        self.frame = self.debugger.innermost_frame();
        self.listed = None;
        self.progress = match reason {
            StopReason::Completed(_) => Progress::Over,
            StopReason::Failed(_) => Progress::Failed,
            _ => Progress::Stopped,
        };
        show::stop(&mut self.out, &self.debugger, reason)?;
        self.tell_changed_files()?;
        if self.progress == Progress::Stopped {
            self.show_displays()?;
        }
        Ok(())
    }

    fn spec(&self, place: Place) -> Result<BreakpointSpec, Problem> {
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

    fn add_breakpoint(&mut self, place: Place, options: &BreakpointOptions) -> Result<(), Problem> {
        let spec = self.spec(place)?;
        let resolution = self.debugger.program().resolve(&spec);
        if !resolution.is_anywhere() && !matches!(spec, BreakpointSpec::Dispatch { .. }) {
            return Err(resolution.message.unwrap_or_default().into());
        }
        let id = self.debugger.add_breakpoint(spec);
        if let Err(error) = self.debugger.set_breakpoint_options(id, options) {
            self.debugger.remove_breakpoint(id);
            return Err(actions::option_problem(&error, options));
        }
        show::breakpoint_set(&mut self.out, &self.debugger, id)?;
        Ok(())
    }

    fn delete(&mut self, which: Option<u32>) -> Result<(), Problem> {
        let ids: Vec<BreakpointId> = match which {
            Some(number) => vec![BreakpointId(number)],
            None => self.debugger.breakpoints().iter().map(|it| it.id).collect(),
        };
        for id in ids {
            if !self.debugger.remove_breakpoint(id) {
                return Err(format!("there is no breakpoint {}", id.0).into());
            }
        }
        Ok(())
    }

    /// The file of the selected frame, or of the function before it runs.
    fn current_file(&self) -> Result<String, Problem> {
        let here = self.debugger.frame_at(self.selected).and_then(|frame| frame.source);
        if let Some(source) = here {
            return Ok(source.file);
        }
        let main = self.debugger.program().main_source();
        main.map(|source| source.file)
            .ok_or_else(|| "no source file is known; use FILE:LINE".into())
    }

    fn needs_frame(&self) -> Result<(), Problem> {
        if matches!(self.progress, Progress::Stopped | Progress::Failed) {
            return Ok(());
        }
        Err("the program is not running; `run` or `start` it".into())
    }

    fn select(&mut self, number: usize) -> Result<(), Problem> {
        self.needs_frame()?;
        let frame = self.debugger.frame_at(number);
        let frame = frame.ok_or_else(|| format!("there is no frame {number}"))?;
        self.selected = number;
        self.frame = frame.id();
        self.listed = None;
        show::frame(&mut self.out, &self.debugger, number, &frame)?;
        Ok(())
    }

    fn scope(&mut self, kind: debug::ScopeKind) -> Result<(), Problem> {
        self.needs_frame()?;
        let scopes = self.debugger.scopes(self.frame);
        match scopes.into_iter().find(|(found, _)| *found == kind) {
            Some((_, node)) => show::variables(&mut self.out, &self.debugger, &node)?,
            None => writeln!(self.out, "none here")?,
        }
        Ok(())
    }

    fn disassemble(&mut self, function: Option<&str>) -> Result<(), Problem> {
        let function = match function {
            Some(name) => {
                let address = self.debugger.program().address_in(name, vmfb::BytecodeOffset(1));
                let position = address.and_then(|it| self.debugger.program().position_of(it));
                position.ok_or_else(|| format!("there is no function {name:?}"))?.function
            }
            None => {
                self.needs_frame()?;
                let frame = self.debugger.frame_at(self.selected);
                let position = frame.and_then(|frame| frame.position);
                position.ok_or("this frame is native code")?.function
            }
        };
        show::disassembly(&mut self.out, &self.debugger, function, self.frame.index)?;
        Ok(())
    }

    fn list(&mut self, target: Option<ListTarget>) -> Result<(), Problem> {
        const LINES: u32 = 10;
        let (file, first) = match (target, self.listed.take()) {
            (Some(ListTarget::Line(line)), _) => {
                (self.current_file()?, line.saturating_sub(LINES / 2))
            }
            (Some(ListTarget::Function(name)), _) => {
                let source = self.debugger.program().function_source(&name);
                let source = source.ok_or_else(|| format!("no source is known for {name:?}"))?;
                (source.file, source.line.saturating_sub(LINES / 2))
            }
            (None, Some(next)) => next,
            (None, None) => {
                let here = self.debugger.frame_at(self.selected).and_then(|frame| frame.source);
                let source = here.or_else(|| self.debugger.program().main_source());
                let source = source.ok_or("no text is known here; `disas` shows instructions")?;
                (source.file, source.line.saturating_sub(LINES / 2))
            }
        };
        let first = first.max(1);
        let source = self.debugger.frame_at(self.selected).and_then(|frame| frame.source);
        let here = source.filter(|source| source.file == file).map(|source| source.line);
        let shown = show::source_lines(&mut self.out, &self.debugger, here, &file, first, LINES)?;
        if shown == 0 {
            return Err(format!("{file} has no line {first}, or cannot be read").into());
        }
        self.listed = Some((file, first + LINES));
        Ok(())
    }
}
