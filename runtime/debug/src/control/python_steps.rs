//! Steps by lines of Python, made of steps of the program by the rules in `steps::python`.

use debuginfo::PythonFrame;
use vm::{BoundaryKind, FrameIndex, Moment, Position};

use super::refused::Refused;
use super::runner::Runner;
use super::steps::python::{PythonStep, is_on_same_lines};
use super::stop::{Back, Granularity, Resume, StepKind, StopReason};

impl Runner {
    /// If this is a step by a line of Python, or the rest of one, that step.
    pub(super) fn python_step_of(&mut self, how: Resume) -> Option<PythonStep> {
        let unfinished = self.unfinished_python.take();
        match how {
            Resume::Step(kind, granularity) => self.new_python_step(kind, granularity),
            Resume::AsBefore => unfinished,
            Resume::ToEntry | Resume::Continue | Resume::StepInto(_) => None,
        }
    }

    /// Inside of a dispatch, only a step over is one of Python.
    fn new_python_step(&self, kind: StepKind, granularity: Granularity) -> Option<PythonStep> {
        let (from, frame) = self.machine.innermost_python_calls()?;
        let is_inside = frame != FrameIndex(0);
        let place = self.place().filter(|_| !is_inside);
        let step = PythonStep::new(kind, granularity, from, place)?;
        let is_one = !is_inside || kind == StepKind::Over;
        (is_one && !step.leaves_program()).then_some(step)
    }

    /// Makes a step by a line of Python, or its rest. Calls that the program itself inlines are no
    /// frames there.
    pub(super) fn step_python(&mut self, step: PythonStep, how: Resume) -> StopReason {
        let is_new = how != Resume::AsBefore;
        let all = self.machine.python_calls().len();
        if is_new && step.kind == StepKind::Into && step.shown() < all {
            self.machine.show_python_calls(step.shown() + 1);
            return StopReason::Step;
        }
        self.machine.hidden_calls = 0;
        let mut reason = self.resume_program(match step.kind {
            // Where the line makes no calls, a step in goes into the dispatch.
            StepKind::Into if is_new => how,
            _ if !is_new && self.unfinished.is_some() => how,
            _ => self.passing(&step),
        });
        loop {
            let was_asked = self.interrupt.was_requested();
            if matches!(reason, StopReason::Step) {
                if step.kind == StepKind::Into && self.is_in_dispatch() {
                    return reason;
                }
                let is_again = step.place.is_some() && self.place() == step.place;
                if let Some(shown) = step.arrival(&self.machine.python_calls(), is_again) {
                    self.machine.show_python_calls(shown);
                    return reason;
                }
                if was_asked {
                    reason = StopReason::Pause;
                }
            }
            match reason {
                StopReason::Step => reason = self.resume_program(self.passing(&step)),
                StopReason::Pause => {
                    self.unfinished_python = Some(step);
                    return reason;
                }
                _ => return reason,
            }
        }
    }

    /// The instruction that runs next, or that has recorded the command that does.
    fn place(&self) -> Option<Position> {
        let invocation = self.machine.invocation()?;
        let is_before = invocation.boundary().is_some_and(|it| it.kind == BoundaryKind::BeforeStep);
        let command = || self.machine.command(FrameIndex(0)).filter(|_| is_before)?.recorded_at;
        self.machine.position().or_else(command)
    }

    /// What passes over an operation on the way: out of its dispatch, if the program is in that.
    fn passing(&self, step: &PythonStep) -> Resume {
        Resume::Step(self.passing_kind(), step.granularity)
    }

    fn passing_kind(&self) -> StepKind {
        if self.is_in_dispatch() { StepKind::Out } else { StepKind::Over }
    }

    /// Whether the program is inside of a dispatch that was made for operations of Python.
    fn is_in_dispatch(&self) -> bool {
        self.machine.innermost_python_calls().is_some_and(|(_, frame)| frame != FrameIndex(0))
    }

    /// Goes back until a stop, or to the beginning of the recording.
    ///
    /// # Errors
    /// Nothing is recorded, or the program cannot be put back; the message says why. It stands
    /// where it stood, or at a place on the way back.
    pub(crate) fn go_back(&mut self, how: Back) -> Result<StopReason, Refused> {
        let step = match how {
            Back::Step(kind, granularity) => self.new_python_step(kind, granularity),
            Back::Continue | Back::ToBegin => None,
        };
        match step {
            Some(step) => self.step_python_back(&step),
            None => self.go_back_in_program(how),
        }
    }

    /// A step back ends where the run of a line begins, as a step forward to that line does.
    fn step_python_back(&mut self, step: &PythonStep) -> Result<StopReason, Refused> {
        // The line to which it leads, and the first place of it that is known.
        let mut line: Option<(Vec<PythonFrame>, usize)> = None;
        let mut place = self.moment();
        loop {
            let how = Back::Step(self.passing_kind(), step.granularity);
            let reason = self.go_back_in_program(how)?;
            let now = self.machine.python_calls();
            let is_there = match &line {
                Some((calls, shown)) => is_on_same_lines(calls, &now, *shown),
                None => !step.left(&now),
            };
            if !is_there && !now.is_empty() {
                let shown = line.map_or_else(|| step.before_call(), |(_, shown)| shown);
                return self.stand_on_line_at(place.as_ref(), shown);
            }
            if !matches!(reason, StopReason::Step) {
                return Ok(reason);
            }
            if line.is_none() {
                line = step.arrival_back(&now).map(|shown| (now, shown));
            }
            place = self.moment();
        }
    }

    /// Stands at the first place of a line of Python.
    fn stand_on_line_at(
        &mut self,
        place: Option<&Moment>,
        shown: usize,
    ) -> Result<StopReason, Refused> {
        if let Some(place) = place {
            self.go_to(place)?;
        }
        self.machine.show_python_calls(shown);
        Ok(StopReason::Step)
    }
}
