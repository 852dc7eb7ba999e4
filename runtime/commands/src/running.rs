//! Commands that run the program, and what is shown when it has stopped.

use debug::{Debugger, FrameId, Granularity, Resume, StepKind, StopReason, Traps};

use crate::command::Place;
use crate::session::{Action, Answer, Performer, Problem, Progress, Run, Session};
use crate::show;

impl Session {
    /// The program has stopped: what there is to see.
    pub fn stopped(&mut self, debugger: &mut Debugger, reason: &StopReason) -> Answer {
        self.look_at(debugger, reason);
        let mut performer = Performer::new(self, debugger);
        let outcome = performer.show_stop(reason);
        performer.finish(outcome)
    }

    /// The program has stopped, and what there is to see is shown elsewhere.
    pub fn look_at(&mut self, debugger: &Debugger, reason: &StopReason) {
        self.selected = 0;
        self.frame = debugger.machine().innermost_frame();
        self.listed = None;
        self.progress = match reason {
            StopReason::Completed(_) => Progress::Over,
            StopReason::Failed(_) => Progress::Failed,
            _ => Progress::Stopped,
        };
    }

    /// The program was loaded again, with the breakpoints of the earlier run, and has not run.
    pub fn restarted(&mut self, debugger: &mut Debugger) -> Answer {
        self.progress = Progress::NotStarted;
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

    /// Whether a value is shown at every stop.
    #[must_use]
    pub fn has_displays(&self) -> bool {
        !self.displays.is_empty()
    }

    /// How far the program has come, as the commands know it.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress
    }
}

impl Performer<'_> {
    fn show_stop(&mut self, reason: &StopReason) -> Result<(), Problem> {
        show::stop(&mut self.out, self.debugger, reason)?;
        self.print_changed_files()?;
        if self.session.progress == Progress::Stopped {
            self.show_displays()?;
        }
        Ok(())
    }

    pub(crate) fn launch(&mut self, how: Resume) {
        self.action = Some(Action::Launch(how));
    }

    pub(crate) fn step(
        &mut self,
        kind: StepKind,
        granularity: Granularity,
        times: u32,
    ) -> Result<(), Problem> {
        if self.session.progress == Progress::NotStarted {
            self.launch(Resume::ToEntry);
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

    pub(crate) fn until(&mut self, place: Place) -> Result<(), Problem> {
        if matches!(self.session.progress, Progress::Over | Progress::Failed) {
            return Err("the program does not run any more; `run` starts it again".into());
        }
        let spec = self.spec(place)?;
        let found = spec.resolve(self.debugger.program());
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
