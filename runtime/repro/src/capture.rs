//! Taking a dispatch with its tensors from a program under the debugger.

use abi::glob;
use debug::{
    BreakpointId, BreakpointSpec, Debugger, DispatchMoment, DispatchState, FrameIndex,
    NoDispatchState, Resume, StopReason,
};
use debuginfo::{DebugFile, DispatchTargets};

use crate::dispatch_run::{DispatchRun, Origin};

/// Why a dispatch was not taken from a program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotCaptured {
    /// The program fails before it.
    #[error(transparent)]
    ProgramFails(vm::Failure),
    /// The dispatch itself fails.
    #[error("@{export} fails: {failure}")]
    DispatchFails {
        /// The dispatch.
        export: String,
        /// Why.
        failure: vm::Failure,
    },
    /// The program stopped elsewhere.
    #[error("@{0} did not come to its end")]
    NotEnded(String),
    /// The program stands before the dispatch.
    #[error("@{0} has not run yet")]
    NotRun(String),
    /// The program ends before that many commands.
    #[error("no dispatch of the program is command {0}")]
    NoCommand(u64),
    /// The program stands at no dispatch, or at one whose tensors are not known.
    #[error(transparent)]
    Unknown(#[from] NoDispatchState),
}

/// The dispatch at which a program stands.
fn state_of(debugger: &Debugger) -> Result<DispatchState, NotCaptured> {
    Ok(debugger.machine().dispatch_state()?)
}

/// Which dispatches are wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WantedDispatch {
    /// One, by the number of its command in the run.
    Command(u64),
    /// Those whose export fits a pattern with `*` and `?`.
    Name(String),
    /// All.
    All,
}

impl WantedDispatch {
    /// What the user names: a number, or a name or pattern.
    #[must_use]
    pub fn named(text: &str) -> Self {
        match text.trim_start_matches('#').parse() {
            Ok(number) => Self::Command(number),
            Err(_) => Self::Name(text.trim_start_matches('@').to_owned()),
        }
    }
}

/// Which runs of which dispatches are wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// The dispatches.
    pub dispatch: WantedDispatch,
    /// Which of the runs of each, from 1. A command is one run.
    pub run: u64,
}

impl Wanted {
    fn pattern(&self) -> String {
        match &self.dispatch {
            WantedDispatch::Name(pattern) => pattern.clone(),
            WantedDispatch::All | WantedDispatch::Command(_) => "*".to_owned(),
        }
    }

    fn fits(&self, export: &str, number: Option<u64>, run: u64) -> bool {
        match &self.dispatch {
            WantedDispatch::Name(pattern) => glob::matches(pattern, export) && run == self.run,
            WantedDispatch::All => run == self.run,
            WantedDispatch::Command(wanted) => number == Some(*wanted),
        }
    }
}

/// Runs a program from wanted dispatch to wanted dispatch.
pub struct Capturer {
    wanted: Wanted,
    before: BreakpointId,
    /// How often each dispatch has run, by its index and its name.
    runs: std::collections::HashMap<(Option<usize>, String), u64>,
}

impl Capturer {
    /// Prepares a program that has not run yet.
    pub fn new(debugger: &mut Debugger, wanted: Wanted) -> Self {
        let pattern = wanted.pattern();
        let when = DispatchMoment::Before;
        let before = debugger.edit_breakpoints().add(BreakpointSpec::Dispatch { pattern, when });
        Self { wanted, before, runs: std::collections::HashMap::new() }
    }

    /// The next dispatch that is wanted; `None` when the program is over. One whose tensors are not
    /// known is the reason why.
    ///
    /// # Errors
    /// [`NotCaptured`]: the program fails.
    pub fn next(
        &mut self,
        debugger: &mut Debugger,
    ) -> Result<Option<Result<DispatchRun, NotCaptured>>, NotCaptured> {
        loop {
            match debugger.resume(Resume::Continue) {
                StopReason::Completed(_) => return Ok(None),
                StopReason::Failed(failure) => return Err(NotCaptured::ProgramFails(failure)),
                _ => {}
            }
            let machine = debugger.machine();
            let Some(export) = machine.dispatch_export() else { continue };
            let index = machine.dispatch_index(FrameIndex(0));
            let runs = self.runs.entry((index, export.clone())).or_default();
            *runs += 1;
            let run = *runs;
            if !self.wanted.fits(&export, machine.command_number(FrameIndex(0)), run) {
                continue;
            }
            let before = match state_of(debugger) {
                Ok(before) => before,
                Err(reason) => return Ok(Some(Err(reason))),
            };
            return through(debugger, before, Some(run)).map(Some);
        }
    }

    /// Lets the program go on without stops.
    pub fn finish(self, debugger: &mut Debugger) {
        debugger.edit_breakpoints().remove(self.before);
    }
}

/// Runs the dispatch that a program stands before.
fn through(
    debugger: &mut Debugger,
    before: DispatchState,
    run: Option<u64>,
) -> Result<Result<DispatchRun, NotCaptured>, NotCaptured> {
    let when = DispatchMoment::After;
    let pattern = before.export.clone();
    let spec = BreakpointSpec::Dispatch { pattern, when };
    let after = debugger.edit_breakpoints().add(spec);
    let stopped = debugger.resume(Resume::Continue);
    let state = state_of(debugger);
    debugger.edit_breakpoints().remove(after);
    if let StopReason::Failed(failure) = stopped {
        return Err(NotCaptured::DispatchFails { export: before.export, failure });
    }
    let state = match state {
        Ok(state) if state.has_run && state.export == before.export => state,
        Ok(_) => return Ok(Err(NotCaptured::NotEnded(before.export))),
        Err(reason) => return Ok(Err(reason)),
    };
    Ok(Ok(with_origin(debugger, before, state, run)))
}

/// The dispatch that a program stands at. Where it stands before it, the dispatch is run.
///
/// # Errors
/// [`NotCaptured`]: the program stands at no dispatch, or its tensors are not known.
pub fn capture(debugger: &mut Debugger) -> Result<DispatchRun, NotCaptured> {
    let state = state_of(debugger)?;
    if state.has_run {
        return after_the_fact(debugger);
    }
    through(debugger, state, None)?
}

/// The dispatch of a command, by its number. The program has not run yet.
///
/// # Errors
/// [`NotCaptured`]: the program ends or fails before, or the tensors of the dispatch are not known.
pub fn capture_numbered(debugger: &mut Debugger, number: u64) -> Result<DispatchRun, NotCaptured> {
    let (pattern, when) = ("*".to_owned(), DispatchMoment::Before);
    let before = debugger.edit_breakpoints().add(BreakpointSpec::Dispatch { pattern, when });
    let state = loop {
        match debugger.resume(Resume::Continue) {
            StopReason::Completed(_) => {
                return Err(NotCaptured::NoCommand(number));
            }
            StopReason::Failed(failure) => return Err(NotCaptured::ProgramFails(failure)),
            _ if debugger.machine().command_number(FrameIndex(0)) == Some(number) => {
                break state_of(debugger);
            }
            _ => {}
        }
    };
    debugger.edit_breakpoints().remove(before);
    through(debugger, state?, None)?
}

/// The dispatch that a program stands after. What it has overwritten is not known.
///
/// # Errors
/// [`NotCaptured`]: the program stands after no dispatch, or its tensors are not known.
pub fn after_the_fact(debugger: &Debugger) -> Result<DispatchRun, NotCaptured> {
    let after = state_of(debugger)?;
    if !after.has_run {
        return Err(NotCaptured::NotRun(after.export));
    }
    let mut before = after.clone();
    for operand in &mut before.operands {
        if operand.is_written {
            operand.tensor = None;
        }
    }
    Ok(with_origin(debugger, before, after, None))
}

fn with_origin(
    debugger: &Debugger,
    before: DispatchState,
    after: DispatchState,
    run: Option<u64>,
) -> DispatchRun {
    let program = debugger.program();
    let mut origin = Origin { function: program.entry_name().to_owned(), ..Origin::default() };
    if let Some(text) = program.dispatch_text(&after.export) {
        origin.sources = text.sources.to_owned();
        let devices = DispatchTargets::parse(text.sources).devices;
        origin.device = devices.into_iter().next();
        origin.module = text.module.map(|it| it.display().to_string()).unwrap_or_default();
        if let Some(manifest) = text.debug_file.map(DebugFile::manifest) {
            origin.compiler = manifest.compiler.clone();
            origin.flags = manifest.flags.clone();
            origin.input = manifest.input.clone();
        }
    }
    DispatchRun { before, after, run, origin }
}
