//! Commands about breakpoints, watchpoints and traps.

use std::fmt::Write;

use debug::{
    Breakpoint, BreakpointId, BreakpointOptions, BreakpointSpec, DataAccess, ExpressionError,
    OptionError, StopReason, Traps,
};

use crate::command::{BreakRequest, How, Place, Trap};
use crate::session::{Performer, Problem};
use crate::{show, words};

/// The text of an error in options, with its place in the text from the user.
fn option_problem(error: &OptionError, options: &BreakpointOptions) -> Problem {
    let caret = |error: &ExpressionError, text: &Option<String>| {
        Problem(error.with_caret(text.as_deref().unwrap_or_default().trim()))
    };
    match error {
        OptionError::Condition(error) => caret(error, &options.condition),
        OptionError::Log(error) => caret(error, &options.log),
        OptionError::NoBreakpoint => Problem(error.to_string()),
    }
}

impl Performer<'_> {
    pub(crate) fn add_breakpoint(&mut self, request: BreakRequest) -> Result<(), Problem> {
        let BreakRequest { place, options, is_temporary, ignored } = request;
        let spec = match place {
            Some(place) => self.spec(place)?,
            None => self.here()?,
        };
        let resolution = spec.resolve(self.debugger.program());
        if !resolution.is_anywhere() && !matches!(spec, BreakpointSpec::Dispatch { .. }) {
            let message = resolution.message.unwrap_or_default();
            return Err(self.similar_function(&spec, message).into());
        }
        let mut edit = self.debugger.edit_breakpoints();
        let id = edit.add(spec);
        if let Err(error) = edit.set_options(id, &options) {
            edit.remove(id);
            return Err(option_problem(&error, &options));
        }
        edit.ignore_hits(id, ignored);
        drop(edit);
        if is_temporary {
            self.session.temporary.insert(id);
        }
        self.show_set(id)
    }

    /// A message about a function that is not there, with one that is called almost so.
    fn similar_function(&self, spec: &BreakpointSpec, message: String) -> String {
        let BreakpointSpec::Function { name } = spec else { return message };
        let known = self.debugger.program().function_names();
        match words::closest(name, known.iter().map(String::as_str)) {
            Some(close) => format!("{message}; did you mean {}?", words::quoted(close)),
            None => message,
        }
    }

    /// Shows a new or changed breakpoint.
    fn show_set(&mut self, id: BreakpointId) -> Result<(), Problem> {
        show::breakpoint_set(&mut self.out, self.debugger, id, &self.session.temporary)?;
        let shown =
            self.debugger.breakpoints().get(id).map(|it| show::breakpoint_data(self.debugger, it));
        self.out.put("breakpoint", shown.unwrap_or_default());
        Ok(())
    }

    /// The breakpoints with some numbers; all of them without numbers.
    fn chosen(&self, numbers: &[u32]) -> Result<Vec<BreakpointId>, Problem> {
        if numbers.is_empty() {
            return Ok(self.debugger.breakpoints().iter().map(|it| it.id).collect());
        }
        let ids: Vec<BreakpointId> = numbers.iter().copied().map(BreakpointId).collect();
        match ids.iter().find(|id| self.debugger.breakpoints().get(**id).is_none()) {
            Some(id) => Err(format!("there is no breakpoint {}", id.0).into()),
            None => Ok(ids),
        }
    }

    pub(crate) fn enable(&mut self, numbers: &[u32], is_enabled: bool) -> Result<(), Problem> {
        for id in self.chosen(numbers)? {
            self.debugger.edit_breakpoints().enable(id, is_enabled);
        }
        Ok(())
    }

    pub(crate) fn ignore(&mut self, number: u32, count: u64) -> Result<(), Problem> {
        let id = BreakpointId(number);
        if !self.debugger.edit_breakpoints().ignore_hits(id, count) {
            return Err(format!("there is no breakpoint {number}").into());
        }
        self.show_set(id)
    }

    /// Removes the breakpoints that were asked for at a place.
    pub(crate) fn clear(&mut self, place: Place) -> Result<(), Problem> {
        let spec = self.spec(place)?;
        let places = spec.resolve(self.debugger.program()).locations;
        let is_there =
            |it: &Breakpoint| it.spec == spec || (!places.is_empty() && it.locations == places);
        let all = self.debugger.breakpoints().iter();
        let ids: Vec<BreakpointId> = all.filter(|it| is_there(it)).map(|it| it.id).collect();
        if ids.is_empty() {
            return Err("there is no breakpoint at that place".into());
        }
        for id in ids {
            self.remove(id);
            writeln!(self.out, "removed breakpoint {}", id.0)?;
        }
        Ok(())
    }

    fn remove(&mut self, id: BreakpointId) {
        self.debugger.edit_breakpoints().remove(id);
        self.session.temporary.remove(&id);
        self.session.scripts.on_stop.remove(&id);
    }

    /// Removes the breakpoints that were to stop once, and lets the lines of others wait. Returns
    /// whether the stop is silent.
    pub(crate) fn after_stop(&mut self, reason: &StopReason) -> bool {
        if let Some(id) = self.session.until.take() {
            self.debugger.edit_breakpoints().remove(id);
        }
        let hit: Vec<BreakpointId> = match reason {
            StopReason::Breakpoint(ids) => ids.clone(),
            StopReason::Data(hits) => hits.iter().map(|hit| hit.breakpoint).collect(),
            _ => Vec::new(),
        };
        let mut is_silent = false;
        for id in hit.iter().rev() {
            let mut lines = self.session.scripts.on_stop.get(id).cloned().unwrap_or_default();
            if lines.first().is_some_and(|line| line.trim() == "silent") {
                lines.remove(0);
                is_silent = true;
            }
            self.session.scripts.put(lines);
        }
        self.session.hit.clone_from(&hit);
        for id in hit {
            if self.session.temporary.contains(&id) {
                self.remove(id);
            }
        }
        is_silent
    }

    pub(crate) fn set_condition(
        &mut self,
        number: u32,
        condition: Option<String>,
    ) -> Result<(), Problem> {
        let id = BreakpointId(number);
        let breakpoint = self.debugger.breakpoints().get(id);
        let breakpoint = breakpoint.ok_or_else(|| format!("there is no breakpoint {number}"))?;
        let options = BreakpointOptions { condition, ..breakpoint.options() };
        let set = self.debugger.edit_breakpoints().set_options(id, &options);
        set.map_err(|error| option_problem(&error, &options))?;
        self.show_set(id)
    }

    pub(crate) fn delete(&mut self, numbers: &[u32]) -> Result<(), Problem> {
        for id in self.chosen(numbers)? {
            self.remove(id);
        }
        Ok(())
    }

    pub(crate) fn show_breakpoints(&mut self) -> Result<(), Problem> {
        show::breakpoints(&mut self.out, self.debugger, &self.session.temporary)?;
        let commands = &self.session.scripts.on_stop;
        for (id, lines) in commands {
            writeln!(self.out, "commands {}: {}", id.0, lines.join("; "))?;
        }
        Ok(())
    }

    /// Removes the watchpoints on data of the last run, which no longer exists.
    pub(crate) fn remove_stale_watchpoints(&mut self) -> Result<(), Problem> {
        let breakpoints = self.debugger.breakpoints().iter();
        let gone: Vec<BreakpointId> = breakpoints
            .filter(
                |it| matches!(&it.spec, BreakpointSpec::Data { target, .. } if !target.is_global()),
            )
            .map(|it| it.id)
            .collect();
        for id in gone {
            self.debugger.edit_breakpoints().remove(id);
            writeln!(self.out, "note: the data of breakpoint {} is gone", id.0)?;
        }
        Ok(())
    }

    pub(crate) fn watch(&mut self, access: DataAccess, text: &str) -> Result<(), Problem> {
        self.needs_frame()?;
        let target = self.debugger.machine().watch_target(self.session.frame, text)?;
        let id = self.debugger.edit_breakpoints().add(BreakpointSpec::Data { target, access });
        self.show_set(id)
    }

    pub(crate) fn catch(&mut self, trap: Option<Trap>, how: How) -> Result<(), Problem> {
        match trap {
            None => {}
            Some(Trap::Off) => self.session.traps = Traps::default(),
            Some(Trap::Uninitialised) if self.debugger.program().is_guarded() => {}
            Some(Trap::Uninitialised) => {
                return Err("what was never written is known of guarded memory only: \
                            `iree-dbg debug --guard …`"
                    .into());
            }
            Some(trap) => {
                self.session.traps = self.session.traps.and(trap.alone(how).unwrap_or_default());
            }
        }
        if trap.is_some() {
            self.session.traps.every = how.every;
            self.session.traps.operations = how.operations;
        }
        self.debugger.set_traps(self.session.all_traps());
        let caught = self.debugger.catches();
        if caught.is_empty() {
            writeln!(self.out, "nothing is caught")?;
        }
        for text in caught {
            writeln!(self.out, "caught: {text}")?;
        }
        Ok(())
    }
}
