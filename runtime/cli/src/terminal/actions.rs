//! What commands do beyond running and listing: conditions, watches, jumps, displays, memory.

use std::io::Write;
use std::sync::{Arc, PoisonError};

use debug::{
    BreakpointId, BreakpointOptions, BreakpointSpec, DataAccess, ExpressionError, Level, Limits,
    Memory, OptionError, Resume, StopReason, Traps,
};

use super::command::{Place, Trap};
use super::{Problem, Progress, Terminal, show};

/// The error with its place in the text that was given.
pub(super) fn option_problem(error: &OptionError, options: &BreakpointOptions) -> Problem {
    let caret = |error: &ExpressionError, text: &Option<String>| {
        Problem::User(error.with_caret(text.as_deref().unwrap_or_default().trim()))
    };
    match error {
        OptionError::Condition(error) => caret(error, &options.condition),
        OptionError::Log(error) => caret(error, &options.log),
        OptionError::NoBreakpoint => Problem::User(error.to_string()),
    }
}

impl<W: Write> Terminal<W> {
    /// Collects what breakpoints say.
    pub(super) fn listen(&mut self) {
        let log = Arc::clone(&self.log);
        self.debugger.set_log_sink(move |message| {
            log.lock().unwrap_or_else(PoisonError::into_inner).push(message.text);
        });
    }

    /// Writes what breakpoints have said.
    pub(super) fn write_log(&mut self) -> Result<(), Problem> {
        let said = std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner));
        for text in said {
            writeln!(self.out, "{text}")?;
        }
        Ok(())
    }

    pub(super) fn set_condition(
        &mut self,
        number: u32,
        condition: Option<String>,
    ) -> Result<(), Problem> {
        let id = BreakpointId(number);
        let breakpoint = self.debugger.breakpoint(id);
        let breakpoint = breakpoint.ok_or_else(|| format!("there is no breakpoint {number}"))?;
        let options = BreakpointOptions { condition, ..breakpoint.options() };
        let set = self.debugger.set_breakpoint_options(id, &options);
        set.map_err(|error| option_problem(&error, &options))?;
        show::breakpoint_set(&mut self.out, &self.debugger, id)?;
        Ok(())
    }

    /// Removes the breakpoints on data that was made by the last run of the program.
    pub(super) fn forget_watched(&mut self) -> Result<(), Problem> {
        let breakpoints = self.debugger.breakpoints().iter();
        let gone: Vec<BreakpointId> = breakpoints
            .filter(
                |it| matches!(&it.spec, BreakpointSpec::Data { target, .. } if !target.is_global()),
            )
            .map(|it| it.id)
            .collect();
        for id in gone {
            self.debugger.remove_breakpoint(id);
            writeln!(self.out, "note: what breakpoint {} watched is gone", id.0)?;
        }
        Ok(())
    }

    pub(super) fn watch(&mut self, access: DataAccess, text: &str) -> Result<(), Problem> {
        self.needs_frame()?;
        let target = self.debugger.watch_target(self.frame, text)?;
        let id = self.debugger.add_breakpoint(BreakpointSpec::Data { target, access });
        show::breakpoint_set(&mut self.out, &self.debugger, id)?;
        Ok(())
    }

    /// Changes what is shown, and shows the selected frame so.
    pub(super) fn level(&mut self, level: Option<Level>) -> Result<(), Problem> {
        let Some(level) = level else {
            writeln!(self.out, "{}", self.debugger.level())?;
            return Ok(());
        };
        self.debugger.set_level(level)?;
        if !matches!(self.progress, Progress::Stopped | Progress::Failed) {
            return Ok(());
        }
        // Inlined calls are frames at the level of the source only.
        let frames = self.debugger.frames();
        let frame = frames.iter().position(|it| it.index == self.frame.index).unwrap_or(0);
        self.select(frame)
    }

    pub(super) fn catch(&mut self, trap: Option<Trap>, every: bool) -> Result<(), Problem> {
        match trap {
            None => {}
            Some(Trap::Off) => self.traps = Traps::default(),
            Some(Trap::Nan) => self.traps.nan = true,
            Some(Trap::Infinity) => self.traps.infinity = true,
            Some(Trap::DispatchNan) => self.traps.dispatch_nan = true,
            Some(Trap::DispatchInfinity) => self.traps.dispatch_infinity = true,
            Some(Trap::Overflow) => self.traps.overflow = true,
            Some(Trap::Uninitialised) if self.debugger.program().is_guarded() => {}
            Some(Trap::Uninitialised) => {
                return Err("what was never written is known of guarded memory only: \
                            `iree-dbg debug --guard …`"
                    .into());
            }
        }
        if trap.is_some() {
            self.traps.every = every;
        }
        self.debugger.set_traps(self.traps);
        let caught = self.debugger.catches();
        if caught.is_empty() {
            writeln!(self.out, "nothing is caught")?;
        }
        for text in caught {
            writeln!(self.out, "caught: {text}")?;
        }
        Ok(())
    }

    pub(super) fn until(&mut self, place: Place) -> Result<(), Problem> {
        if matches!(self.progress, Progress::Over | Progress::Failed) {
            return Err("the program does not run any more; `run` starts it again".into());
        }
        let spec = self.spec(place)?;
        let reason = self.debugger.run_to(&spec)?;
        self.stopped(&reason)
    }

    pub(super) fn jump(&mut self, place: Place) -> Result<(), Problem> {
        self.needs_frame()?;
        let spec = self.spec(place)?;
        let targets = self.debugger.goto_targets(&spec)?;
        let target = targets.first().ok_or("there is no such place")?;
        self.debugger.jump(*target)?;
        self.stopped(&StopReason::Step)
    }

    pub(super) fn show_calls(&mut self) -> Result<(), Problem> {
        self.needs_frame()?;
        let targets = self.debugger.step_in_targets(self.frame);
        if targets.is_empty() {
            writeln!(self.out, "no calls on this line")?;
        }
        for target in targets {
            writeln!(self.out, "{} [{}]", target.label, target.call.position.offset)?;
        }
        Ok(())
    }

    pub(super) fn step_into(&mut self, name: Option<&str>) -> Result<(), Problem> {
        self.needs_frame()?;
        let targets = self.debugger.step_in_targets(self.debugger.innermost_frame());
        let found = targets.iter().find(|target| name.is_none_or(|name| target.label == name));
        let target = found.ok_or("the line calls no such function; `info calls` lists them")?;
        let call = target.call;
        self.resume(Resume::StepInto(call), 1)
    }

    pub(super) fn restart_frame(&mut self) -> Result<(), Problem> {
        self.needs_frame()?;
        let reason = self.debugger.restart_frame(self.frame.index)?;
        self.stopped(&reason)
    }

    pub(super) fn display(&mut self, text: String) -> Result<(), Problem> {
        let number = self.displays.last().map_or(1, |(number, _)| number + 1);
        self.displays.push((number, text));
        if self.progress == Progress::Stopped {
            self.show_display(self.displays.len() - 1)?;
        }
        Ok(())
    }

    pub(super) fn undisplay(&mut self, which: Option<usize>) -> Result<(), Problem> {
        let before = self.displays.len();
        self.displays.retain(|(number, _)| which.is_some_and(|which| which != *number));
        match which {
            Some(which) if self.displays.len() == before => {
                Err(format!("there is no display {which}").into())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn show_displays(&mut self) -> Result<(), Problem> {
        (0..self.displays.len()).try_for_each(|index| self.show_display(index))
    }

    fn show_display(&mut self, index: usize) -> Result<(), Problem> {
        let Some((number, text)) = self.displays.get(index) else { return Ok(()) };
        match self.debugger.evaluate(self.frame, text) {
            Ok(value) => writeln!(self.out, "{number}: {text} = {}", value.value)?,
            Err(error) => writeln!(self.out, "{number}: {text}: {error}")?,
        }
        Ok(())
    }

    pub(super) fn set(&mut self, target: &str, value: &str) -> Result<(), Problem> {
        self.needs_frame()?;
        let set = self.debugger.assign(self.frame, target, value);
        let variable = set.map_err(|error| error.to_string())?;
        writeln!(self.out, "{} = {}", variable.name, variable.value)?;
        Ok(())
    }

    pub(super) fn examine(&mut self, text: &str, count: usize) -> Result<(), Problem> {
        const LINE: usize = 16;
        const MOST: usize = 1 << 16;
        self.needs_frame()?;
        let value = self.debugger.evaluate_within(self.frame, text, Limits::default());
        let value = value.map_err(|error| error.with_caret(text))?;
        let memory = value.children.as_ref().and_then(Memory::of);
        let memory = memory.ok_or_else(|| format!("{text} has no bytes"))?;
        let (_, bytes) = memory.read(0, count.min(MOST));
        for (index, line) in bytes.chunks(LINE).enumerate() {
            let hex: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(self.out, "{:08x}  {}", index * LINE, hex.join(" "))?;
        }
        Ok(())
    }
}
