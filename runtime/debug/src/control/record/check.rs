//! A run that is made again is checked: its dispatches must leave what they have left the first
//! time.
//!
//! Where one does not, the program is not deterministic, and the debugger says so. On a device of
//! several threads that is a race of workgroups: what is made again runs on one thread. Which ones
//! race is found by running them alone and one after the other.

use hal::{Ledger, Race, RaceKind, ResolvedDispatch};
use vm::{FrameIndex, Invocation, Watch};

use super::seek::Lost;
use super::tape::Recording;
use crate::control::runner::Runner;
use crate::control::stop::StopReason;

impl Runner {
    pub(super) fn ledger(&self) -> &Ledger {
        self.machine.program.host().device().allocator().journal().ledger()
    }

    /// Says which command has left something else than before, if one has. The program stands where
    /// it stood; its results are those of the run that was looked at last.
    pub(crate) fn checked(&mut self, reason: StopReason) -> StopReason {
        if self.recording.is_none() {
            return reason;
        }
        let Some(number) = self.ledger().take_differing() else { return reason };
        let here = self.moment();
        let stood = (self.machine.hidden_calls, self.machine.stands_after);
        let mut text = format!("command {number} {LEFT_OTHER}");
        let mut end = None;
        let looked = self.travel(|runner, recording| {
            text = runner.explain_difference(recording, number)?;
            match &here {
                Some(here) => runner.arrive(recording, here)?,
                None => end = runner.unarmed(Self::run_to_end)?,
            }
            (runner.machine.hidden_calls, runner.machine.stands_after) = stood;
            Ok(StopReason::Step)
        });
        if let Err(reason) = looked {
            text = format!("{text} ({reason})");
        }
        self.tell(text);
        end.unwrap_or(reason)
    }

    fn run_to_end(&mut self) -> Result<Option<StopReason>, Lost> {
        self.machine.context.set_watch(Watch::Nothing);
        loop {
            match self.advance(Invocation::run) {
                Some(StopReason::Pause) => return Err(Lost::Paused),
                Some(reason) if reason.is_final() => return Ok(Some(reason)),
                _ => {}
            }
        }
    }

    fn explain_difference(&mut self, recording: &Recording, number: u64) -> Result<String, Lost> {
        self.run_to_command(recording, number)?;
        let activity = self.machine.queue_activity(FrameIndex(0));
        let dispatch = activity.and_then(|activity| activity.dispatch().ok().flatten());
        let Some(dispatch) = dispatch else { return Ok(format!("command {number} {LEFT_OTHER}")) };
        let name = dispatch.executable.name_of(dispatch.dispatch.export).into_owned();
        let why = match dispatch.find_race() {
            Ok(Some(race)) => sentence(&race),
            Ok(None) => no_race(&dispatch),
            Err(reason) => format!("no race was looked for: {reason}"),
        };
        Ok(format!("command {number}, dispatch @{name}, {LEFT_OTHER}: {why}"))
    }
}

const LEFT_OTHER: &str = "has left other bytes than when it ran first";

fn sentence(race: &Race) -> String {
    let Race { kind, writer, other, binding, offset } = race;
    let place = format!("byte {offset} of binding[{binding}]");
    let [writer, other] = [writer, other].map(|[x, y, z]| format!("({x},{y},{z})"));
    match kind {
        RaceKind::BothWrite => {
            format!("workgroups {writer} and {other} race, as both write {place}")
        }
        RaceKind::ReadsWritten => format!(
            "workgroups {writer} and {other} race: {other}, which writes {place}, reads what \
             {writer} writes"
        ),
    }
}

fn no_race(dispatch: &ResolvedDispatch) -> String {
    if dispatch.dispatch.workgroup_count == [1; 3] {
        "its code is not deterministic, as it has only one workgroup".to_owned()
    } else {
        "its workgroups do not race when they run one by one".to_owned()
    }
}
