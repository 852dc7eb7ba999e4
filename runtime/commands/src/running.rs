//! Commands that run the program, and what is shown when it has stopped.

use debug::{
    BreakpointId, BreakpointSpec, Debugger, FrameId, Granularity, Resume, StepKind, StopReason,
    Traps,
};

use crate::command::{Inputs, Place};
use crate::session::{Action, Answer, Performer, Problem, Progress, Run, Session};
use crate::show;

impl Session {
    /// The program has stopped: what there is to see.
    pub fn stopped(&mut self, debugger: &mut Debugger, reason: &StopReason) -> Answer {
        self.report(debugger, reason, true)
    }

    /// The program has stopped, and an editor shows where: what there is to see besides.
    pub fn looked_at(&mut self, debugger: &mut Debugger, reason: &StopReason) -> Answer {
        self.report(debugger, reason, false)
    }

    fn report(&mut self, debugger: &mut Debugger, reason: &StopReason, is_shown: bool) -> Answer {
        self.selected = 0;
        self.frame = debugger.machine().innermost_frame();
        self.listed = None;
        self.progress = match reason {
            StopReason::Completed(_) => Progress::Over,
            StopReason::Failed(_) => Progress::Failed,
            _ => Progress::Stopped,
        };
        self.has_failed = matches!(reason, StopReason::Failed(_));
        if self.has_failed {
            self.select_sourced(debugger);
        }
        let until = self.until;
        let mut performer = Performer::new(self, debugger);
        let is_silent = performer.after_stop(reason);
        let told = performer.tell_rerun().map_err(Problem::from);
        let outcome = told.and_then(|()| match reason {
            _ if is_silent => Ok(()),
            // What `until` has set is no breakpoint of the user's.
            StopReason::Breakpoint(ids) => {
                let mut ids = ids.clone();
                ids.retain(|id| Some(*id) != until);
                performer.show_stop(&StopReason::Breakpoint(ids), is_shown)
            }
            reason => performer.show_stop(reason, is_shown),
        });
        performer.finish(outcome)
    }

    /// Selects the innermost frame with a source, of the first few: a failure inside an import is
    /// looked at where the program called it.
    fn select_sourced(&mut self, debugger: &Debugger) {
        const FEW: usize = 16;
        let frames = debugger.machine().frames_in(0..FEW);
        let found = frames.iter().enumerate().find(|(_, frame)| frame.source.is_some());
        if let Some((number, frame)) = found {
            (self.selected, self.frame) = (number, frame.id());
        }
    }

    /// The program was loaded again, with the breakpoints of the earlier run, and has not run.
    pub fn restarted(&mut self, debugger: &mut Debugger) -> Answer {
        self.progress = Progress::NotStarted;
        self.bookmarks.clear();
        self.selected = 0;
        self.listed = None;
        debugger.set_traps(self.all_traps());
        let mut performer = Performer::new(self, debugger);
        let outcome = performer.remove_stale_watchpoints();
        performer.finish(outcome)
    }

    /// How many columns a line of output may have.
    pub fn set_width(&mut self, width: usize) {
        self.width = width;
    }

    /// Says whether the front shows 24-bit colours.
    pub fn set_coloured(&mut self, is_coloured: bool) {
        self.is_coloured = is_coloured;
    }

    /// A session in the console of an editor, which shows frames itself, and names files by their
    /// paths on this machine.
    #[must_use]
    pub fn in_editor(self) -> Self {
        Self { in_editor: true, ..self }
    }

    /// Selects a frame, for the commands that follow.
    pub fn select_frame(&mut self, debugger: &Debugger, frame: FrameId) {
        if self.frame != frame {
            let frames = debugger.machine().frames();
            self.selected = frames.iter().position(|it| it.id() == frame).unwrap_or(0);
            self.frame = frame;
            self.listed = None;
        }
    }

    /// The frame that commands look at.
    #[must_use]
    pub fn frame(&self) -> FrameId {
        self.frame
    }

    /// Learns what an editor's exception filters look for. Returns that and what `catch` looks for.
    pub fn with_filters(&mut self, filters: Traps) -> Traps {
        self.filters = filters;
        self.all_traps()
    }

    pub(crate) fn all_traps(&self) -> Traps {
        self.traps.and(self.filters)
    }

    /// A breakpoint that only `until` needs.
    #[must_use]
    pub fn hidden_breakpoint(&self) -> Option<BreakpointId> {
        self.until
    }

    /// Runs on to before a dispatch, which is one box of the graph of dispatches.
    ///
    /// # Errors
    /// There is no such dispatch, or the program does not run any more.
    pub fn to_dispatch(&mut self, debugger: &mut Debugger, node: &str) -> Result<Run, String> {
        if matches!(self.progress, Progress::Over | Progress::Failed) {
            return Err("the program does not run any more; restart it".to_owned());
        }
        let operation = debug::operation_of_node(node);
        let operation = operation.ok_or_else(|| format!("{node:?} is no box of the graph"))?;
        let spec = BreakpointSpec::Operation { operation };
        let found = spec.resolve(debugger.program());
        if !found.is_anywhere() {
            return Err(found.message.unwrap_or_else(|| "there is no such dispatch".to_owned()));
        }
        if let Some(earlier) = self.until.take() {
            debugger.edit_breakpoints().remove(earlier);
        }
        self.until = Some(debugger.edit_breakpoints().add(spec));
        Ok(Run::Resume(Resume::Continue, 1))
    }

    /// Whether the program's last run has failed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// What the program is called with.
    #[must_use]
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// Says what the program is called with, for `show args`.
    #[must_use]
    pub fn called_with(self, inputs: Inputs) -> Self {
        Self { inputs, ..self }
    }

    /// How far the program has come, as the commands know it.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress
    }
}

impl Performer<'_> {
    fn show_stop(&mut self, reason: &StopReason, is_shown: bool) -> Result<(), Problem> {
        if is_shown {
            show::stop(&mut self.out, self.debugger, reason, self.session.selected)?;
            self.print_changed_files()?;
        }
        if self.session.progress == Progress::Stopped {
            self.show_displays()?;
        }
        Ok(())
    }

    /// Starts the program again, with new inputs if there are any.
    pub(crate) fn launch(&mut self, how: Resume, inputs: Option<Inputs>) {
        let changed = inputs.map(|inputs| self.take_inputs(inputs));
        let changed = changed.or_else(|| self.session.new_inputs.take());
        self.session.new_inputs = None;
        self.action = Some(Action::Launch(how, changed));
    }

    fn take_inputs(&mut self, inputs: Inputs) -> Inputs {
        let known = &mut self.session.inputs;
        known.function = inputs.function.or(known.function.take());
        known.inputs = inputs.inputs.or(known.inputs.take());
        known.clone()
    }

    /// The next run takes these inputs.
    pub(crate) fn set_inputs(&mut self, inputs: Inputs) {
        let all = self.take_inputs(inputs);
        self.session.new_inputs = Some(all);
    }

    pub(crate) fn kill(&mut self) -> Result<(), Problem> {
        if self.session.progress == Progress::NotStarted {
            return Err("the program does not run".into());
        }
        self.session.scripts.drop_lines();
        self.action = Some(Action::Kill);
        Ok(())
    }

    /// Continues; the breakpoints of this stop let some hits pass.
    pub(crate) fn proceed(&mut self, times: u64) -> Result<(), Problem> {
        if times > 1 {
            for id in self.session.hit.clone() {
                self.debugger.edit_breakpoints().ignore_hits(id, times - 1);
            }
        }
        self.resume(Resume::Continue, 1)
    }

    pub(crate) fn step(
        &mut self,
        kind: StepKind,
        granularity: Granularity,
        times: u32,
    ) -> Result<(), Problem> {
        if self.session.progress == Progress::NotStarted {
            self.launch(Resume::ToEntry, None);
            return Ok(());
        }
        self.resume(Resume::Step(kind, granularity), times)
    }

    pub(crate) fn resume(&mut self, how: Resume, times: u32) -> Result<(), Problem> {
        match self.session.progress {
            Progress::Over => return Err("the program is over; `run` starts it again".into()),
            Progress::Failed => return Err("the program has failed; `run` starts it again".into()),
            Progress::NotStarted | Progress::Stopped => {}
        }
        self.action = Some(Action::Run(Run::Resume(how, times)));
        Ok(())
    }

    pub(crate) fn until(&mut self, place: Option<Place>) -> Result<(), Problem> {
        if matches!(self.session.progress, Progress::Over | Progress::Failed) {
            return Err("the program does not run any more; `run` starts it again".into());
        }
        let Some(place) = place else {
            self.needs_frame()?;
            self.action = Some(Action::Run(Run::PastLine));
            return Ok(());
        };
        let spec = self.spec(place)?;
        let found = spec.resolve(self.debugger.program());
        // A line of machine code is before its dispatch.
        let is_in_dispatch = found.locations.is_empty() && found.is_in_dispatch();
        if is_in_dispatch || matches!(spec, BreakpointSpec::Dispatch { .. }) {
            self.session.until = Some(self.debugger.edit_breakpoints().add(spec));
            return self.resume(Resume::Continue, 1);
        }
        if found.locations.is_empty() {
            return Err(found.message.unwrap_or_else(|| "there is no such place".into()).into());
        }
        self.action = Some(Action::Run(Run::To(spec)));
        Ok(())
    }

    pub(crate) fn jump(&mut self, place: Place) -> Result<(), Problem> {
        self.needs_frame()?;
        let spec = self.spec(place)?;
        let targets = self.debugger.goto_targets(&spec)?;
        let target = targets.first().ok_or("there is no such place")?;
        self.debugger.jump(*target)?;
        self.action = Some(Action::Moved(StopReason::Step));
        Ok(())
    }

    pub(crate) fn step_into(&mut self, name: Option<&str>) -> Result<(), Problem> {
        self.needs_frame()?;
        let targets =
            self.debugger.machine().step_in_targets(self.debugger.machine().innermost_frame());
        let found = targets.iter().find(|target| name.is_none_or(|name| target.label == name));
        let target = found.ok_or("the line calls no such function; `info calls` lists them")?;
        let call = target.call;
        self.resume(Resume::StepInto(call), 1)
    }

    pub(crate) fn restart_frame(&mut self) -> Result<(), Problem> {
        self.needs_frame()?;
        let reason = self.debugger.restart_frame(self.session.frame.index)?;
        self.action = Some(Action::Moved(reason));
        Ok(())
    }
}
