//! A command runs the program: as a whole, or from where it was interrupted.
//!
//! A run forward is interrupted where it is, and goes on from there. One that goes to another
//! moment is given up when it is interrupted: the program stands where it stood, and the run begins
//! again.

use debug::{Debugger, Granularity, Refused, Resume, StepKind, StopReason};

use crate::session::Run;

/// The most steps to a later line.
const MOST_STEPS: u32 = 1 << 20;

/// A run of the program, which may be interrupted and go on.
#[derive(Debug)]
pub struct Performance {
    run: Run,
    /// How often the program is yet to be resumed.
    left: u32,
    /// Whether the program was paused on its way.
    is_paused: bool,
    /// Whether [`Run::Begun`] has come to the entry.
    has_begun: bool,
    /// The number of frames and the line at which it began, for [`Run::PastLine`].
    began_at: Option<(usize, u32)>,
}

impl Run {
    /// Runs the program until it stops.
    ///
    /// # Errors
    /// As for [`Performance::go_on`].
    pub fn perform(self, debugger: &mut Debugger) -> Result<StopReason, Refused> {
        Performance::from(self).go_on(debugger)
    }
}

impl From<Run> for Performance {
    /// It has not begun.
    fn from(run: Run) -> Self {
        let left = match run {
            Run::Resume(_, times) | Run::Back(_, times) => times,
            Run::PastLine => MOST_STEPS,
            _ => 1,
        };
        Self { run, left, is_paused: false, has_begun: false, began_at: None }
    }
}

impl Performance {
    /// What it performs.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Runs the program until it stops: from the beginning or, after a pause, on.
    ///
    /// # Errors
    /// The place is nowhere, or the program does not come to the moment; the message says why.
    pub fn go_on(&mut self, debugger: &mut Debugger) -> Result<StopReason, Refused> {
        loop {
            let reason = self.run_once(debugger)?;
            self.is_paused = matches!(reason, StopReason::Pause);
            if self.is_paused {
                return Ok(reason);
            }
            self.left = self.left.saturating_sub(1);
            if self.left == 0 || !matches!(reason, StopReason::Step) || self.is_past(debugger) {
                return Ok(reason);
            }
        }
    }

    fn run_once(&mut self, debugger: &mut Debugger) -> Result<StopReason, Refused> {
        let resume = |how| if self.is_paused { Resume::AsBefore } else { how };
        let run = match &self.run {
            Run::Begun(run) => {
                if !self.has_begun {
                    let reason = debugger.resume(resume(Resume::ToEntry));
                    if !matches!(reason, StopReason::Entry) {
                        return Ok(reason);
                    }
                    self.has_begun = true;
                }
                &**run
            }
            run => run,
        };
        match run {
            Run::Resume(how, _) => Ok(debugger.resume(resume(*how))),
            Run::Back(how, _) => debugger.go_back(*how),
            Run::ToWriter(frame, text) => debugger.who_wrote(*frame, text),
            Run::ToFirst(condition) => debugger.go_to_first(condition),
            Run::ToLast(condition) => debugger.go_to_last(condition),
            Run::BackTo(spec) => debugger.go_back_until(spec),
            Run::ToFirstTrap(traps) => debugger.go_to_first_trap(*traps),
            Run::ToFirstRow(question) => debugger.go_to_first_row(question),
            Run::ToMoment(moment) => debugger.go_to(moment),
            Run::ToLine(number, moment) => debugger.go_to_line(*number, moment.as_ref()),
            Run::ToCommand(number) => debugger.go_to_command(*number),
            Run::Begun(run) => Performance::from((**run).clone()).go_on(debugger),
            Run::To(spec) => debugger.run_to(spec),
            Run::Again if self.is_paused => Ok(debugger.resume(Resume::AsBefore)),
            Run::Again => debugger.rerun(),
            Run::PastLine => {
                self.began_at.get_or_insert_with(|| (depth(debugger), line(debugger)));
                Ok(debugger.resume(resume(Resume::Step(StepKind::Over, Granularity::Line))))
            }
        }
    }

    /// Whether steps to a later line have come there.
    fn is_past(&self, debugger: &Debugger) -> bool {
        self.began_at.is_some_and(|(first, started_at)| {
            depth(debugger) < first || line(debugger) > started_at
        })
    }
}

fn depth(debugger: &Debugger) -> usize {
    debugger.machine().frame_count()
}

fn line(debugger: &Debugger) -> u32 {
    let source = debugger.machine().frame_at(0).and_then(|frame| frame.source);
    source.map_or(0, |source| source.line)
}
