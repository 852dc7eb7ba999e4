//! Steps back into a dispatch: they begin at its end, as steps forward have left it.
//!
//! ```text
//!   before the dispatch        last workgroup          done      the present
//!   ──┴──────────────────┴──────────────────────┴───────┴───────────┴
//!     1: the way back      3: the last moment   2: ends here
//!        leads here           in there
//! ```
//!
//! The way back from the present passes dispatches as a whole ([`super::back`]), and leads to
//! before the last one (1). If a step forward enters that, one from its last line ends where it is
//! done (2). From there, a way back would walk through the whole dispatch. So that runs again as a
//! step enters it, as its own bytecode or as that of a twin which is there already, up to the last
//! moment in its last workgroup (3). The way back from that moment begins close by.

use hal::QueueActivity;
use vm::{BoundaryKind, FrameIndex, Invocation, Moment, Watch};

use super::limit::Limit;
use super::seek::{Lost, Progress};
use super::tape::Recording;
use super::walk::Found;
use super::writer::is_same_part;
use crate::control::runner::Runner;
use crate::control::stop::{Back, Granularity, StepKind, StopReason};

impl Runner {
    /// The end of a step back that leads to before a command: where that is done, if a step into
    /// enters it.
    pub(super) fn end_of_command(
        &mut self,
        recording: &Recording,
        how: Back,
        limit: &Limit,
        command: Found,
    ) -> Result<Found, Lost> {
        let Back::Step(StepKind::Into, granularity) = how else { return Ok(command) };
        let is_step = matches!(command.reason, StopReason::Step);
        let stage = command.moment.progress().get(Progress::STAGE);
        if !is_step || stage != Some(&0) || limit.is_inside(&command.moment) {
            return Ok(command);
        }
        self.arrive(recording, &command.moment)?;
        if self.stage_of_bytecode(granularity)?.is_none() {
            return Ok(command);
        }
        self.unarmed(|runner| runner.hop(Watch::Steps, Invocation::run))?;
        let done = self.moment().filter(|here| is_same_command(here, &command.moment));
        Ok(done.map_or(command, Found::step))
    }

    /// The end of a step back from where a command is done, if a step into enters that.
    pub(super) fn find_from_end(
        &mut self,
        recording: &Recording,
        how: Back,
        limit: &Limit,
    ) -> Result<Option<Found>, Lost> {
        let Back::Step(StepKind::Into, granularity) = how else { return Ok(None) };
        let stage = |moment: &Moment| moment.progress().get(Progress::STAGE).copied();
        let done = limit.moment().filter(|it| stage(it) == Some(Progress::DONE));
        let Some(done) = done else { return Ok(None) };
        let step = done.progress().get(Progress::STEP).copied().unwrap_or_default();
        let command = done.at_progress(&[step, 0]);
        self.arrive(recording, &command)?;
        let Some(last) = self.last_moment_inside(recording, &command, granularity)? else {
            return Ok(None);
        };
        let is_included = true;
        let inside = Limit { is_included, ..Limit::at(Some(last), self.machine.depth()) };
        let found = self.find(recording, how, &inside)?;
        Ok(found.filter(|found| found.moment > command))
    }

    /// Runs through the dispatch before which the program stands, and ends at the last moment in
    /// its last workgroup. `None`: a step does not enter it.
    fn last_moment_inside(
        &mut self,
        recording: &Recording,
        command: &Moment,
        granularity: Granularity,
    ) -> Result<Option<Moment>, Lost> {
        let stage = self.stage_of_bytecode(granularity)?;
        let Some((part, turns)) =
            stage.map(|it| self.last_part(command, it)).transpose()?.flatten()
        else {
            return Ok(None);
        };
        self.arrive(recording, &part)?;
        if turns > 0 {
            self.run_to_inner_turn(turns)?;
        }
        self.unarmed(|runner| {
            let mut last = None;
            while let Some(here) = runner.moment().filter(|here| is_same_part(here, &part)) {
                if here.inner_turns().is_some() {
                    last = Some(here);
                }
                runner.hop(Watch::Parts, Invocation::step)?;
            }
            Ok(last)
        })
    }

    /// The stage of the dispatch before which the program stands in which a step into it stops, if
    /// there is bytecode of it: it is entered as that step does.
    fn stage_of_bytecode(&mut self, granularity: Granularity) -> Result<Option<u64>, Lost> {
        if self.is_before_bytecode() {
            return Ok(Some(Progress::AS_ITSELF));
        }
        if self.twin_to_compile(StepKind::Into, granularity).is_some() {
            return Ok(None);
        }
        match self.enter_twin(StepKind::Into, granularity) {
            Some(_) => Err(Lost::Paused),
            None => Ok(self.twins.is_awaited().then_some(Progress::AS_TWIN)),
        }
    }

    /// The moment before the last workgroup of a stage of a dispatch, and how many turns its
    /// function makes.
    fn last_part(&mut self, command: &Moment, stage: u64) -> Result<Option<(Moment, u64)>, Lost> {
        self.unarmed(|runner| {
            let mut last = None;
            let mut begun = None;
            while let Some(here) = runner.moment().filter(|here| is_same_command(here, command)) {
                if let Some(part) = begun.take() {
                    last = Some((part, runner.turns_of_last_part()));
                }
                let now = here.progress().get(Progress::STAGE).copied().unwrap_or_default();
                if now > stage || runner.machine.running().is_none() || runner.is_after_command() {
                    break;
                }
                begun = (now == stage && runner.is_before_part()).then_some(here);
                runner.hop(Watch::Parts, Invocation::run)?;
            }
            Ok(last)
        })
    }

    fn turns_of_last_part(&self) -> u64 {
        self.machine.invocation().and_then(Invocation::turns_of_last_part).unwrap_or_default()
    }

    fn is_before_part(&self) -> bool {
        let boundary = self.machine.invocation().and_then(Invocation::boundary);
        boundary.is_some_and(|it| it.kind == BoundaryKind::BeforePart)
    }

    fn is_after_command(&self) -> bool {
        let activity = self.machine.queue_activity(FrameIndex(0));
        activity.is_some_and(QueueActivity::is_after_step)
    }
}

fn is_same_command(here: &Moment, command: &Moment) -> bool {
    let step = |moment: &Moment| moment.progress().get(Progress::STEP).copied();
    here.is_in_same_call(command) && step(here) == step(command)
}
