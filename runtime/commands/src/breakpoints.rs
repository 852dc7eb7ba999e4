//! Commands about breakpoints, watchpoints and traps.

use std::fmt::Write;

use debug::{
    BreakpointId, BreakpointOptions, BreakpointSpec, DataAccess, ExpressionError, OptionError,
    Traps,
};

use crate::command::{Place, Trap};
use crate::session::{Performer, Problem};
use crate::show;

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
    pub(crate) fn add_breakpoint(
        &mut self,
        place: Place,
        options: &BreakpointOptions,
    ) -> Result<(), Problem> {
        let spec = self.spec(place)?;
        let resolution = spec.resolve(self.debugger.program());
        if !resolution.is_anywhere() && !matches!(spec, BreakpointSpec::Dispatch { .. }) {
            return Err(resolution.message.unwrap_or_default().into());
        }
        let id = self.debugger.add_breakpoint(spec);
        if let Err(error) = self.debugger.set_breakpoint_options(id, options) {
            self.debugger.remove_breakpoint(id);
            return Err(option_problem(&error, options));
        }
        show::breakpoint_set(&mut self.out, self.debugger, id)?;
        Ok(())
    }

    pub(crate) fn set_condition(
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
        show::breakpoint_set(&mut self.out, self.debugger, id)?;
        Ok(())
    }

    pub(crate) fn delete(&mut self, which: Option<u32>) -> Result<(), Problem> {
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
            self.debugger.remove_breakpoint(id);
            writeln!(self.out, "note: the data of breakpoint {} is gone", id.0)?;
        }
        Ok(())
    }

    pub(crate) fn watch(&mut self, access: DataAccess, text: &str) -> Result<(), Problem> {
        self.needs_frame()?;
        let target = self.debugger.machine().watch_target(self.session.frame, text)?;
        let id = self.debugger.add_breakpoint(BreakpointSpec::Data { target, access });
        show::breakpoint_set(&mut self.out, self.debugger, id)?;
        Ok(())
    }

    pub(crate) fn catch(&mut self, trap: Option<Trap>, every: bool) -> Result<(), Problem> {
        match trap {
            None => {}
            Some(Trap::Off) => self.session.traps = Traps::default(),
            Some(Trap::Nan) => self.session.traps.nan = true,
            Some(Trap::Infinity) => self.session.traps.infinity = true,
            Some(Trap::DispatchNan) => self.session.traps.dispatch_nan = true,
            Some(Trap::DispatchInfinity) => self.session.traps.dispatch_infinity = true,
            Some(Trap::Overflow) => self.session.traps.overflow = true,
            Some(Trap::Uninitialised) if self.debugger.program().is_guarded() => {}
            Some(Trap::Uninitialised) => {
                return Err("what was never written is known of guarded memory only: \
                            `iree-dbg debug --guard …`"
                    .into());
            }
        }
        if trap.is_some() {
            self.session.traps.every = every;
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
