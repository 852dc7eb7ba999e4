//! Commands that run the program.

use std::io::Write;
use std::sync::Arc;

use debug::{Debugger, Granularity, Resume, StepKind, StopReason};

use super::command::Place;
use super::show;
use super::state::{Problem, Progress, Terminal};

impl<W: Write> Terminal<W> {
    /// Loads the program again if it has run or its files have changed. Keeps the breakpoints.
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
            fresh.set_level(self.debugger.machine().level())?;
            self.debugger = fresh;
            self.connect_log();
            self.remove_stale_watchpoints()?;
            self.progress = Progress::NotStarted;
        }
        for file in changed {
            writeln!(self.out, "note: {} has changed and was loaded again", file.path.display())?;
        }
        Ok(())
    }

    pub(super) fn run(&mut self) -> Result<(), Problem> {
        self.restart()?;
        self.resume(Resume::Continue, 1)
    }

    pub(super) fn start(&mut self) -> Result<(), Problem> {
        self.restart()?;
        self.resume(Resume::ToEntry, 1)
    }

    pub(super) fn step(
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

    pub(super) fn resume(&mut self, how: Resume, times: u32) -> Result<(), Problem> {
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

    /// The program has stopped: shows where it stands.
    fn stopped(&mut self, reason: &StopReason) -> Result<(), Problem> {
        self.write_log()?;
        self.selected = 0;
        self.frame = self.debugger.machine().innermost_frame();
        self.listed = None;
        self.progress = match reason {
            StopReason::Completed(_) => Progress::Over,
            StopReason::Failed(_) => Progress::Failed,
            _ => Progress::Stopped,
        };
        show::stop(&mut self.out, &self.debugger, reason)?;
        self.print_changed_files()?;
        if self.progress == Progress::Stopped {
            self.show_displays()?;
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

    pub(super) fn step_into(&mut self, name: Option<&str>) -> Result<(), Problem> {
        self.needs_frame()?;
        let targets =
            self.debugger.machine().step_in_targets(self.debugger.machine().innermost_frame());
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
}
