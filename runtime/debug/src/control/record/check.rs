//! A run that is made again is checked: its dispatches must leave what they have left the first
//! time.
//!
//! Where one does not, the program is not deterministic, and the debugger says so. On a device of
//! several threads that is a race of workgroups: what is made again runs on one thread. Which ones
//! race is found by running them alone and one after the other.

use hal::{Ledger, Race, RaceKind, ResolvedDispatch};
use vm::{Invocation, Watch};

use super::marks::Earlier;
use super::seek::Lost;
use super::tape::Recording;
use crate::control::runner::Runner;
use crate::control::stop::StopReason;
use crate::target::recorded::{Expected, RunLog};

impl Runner {
    pub(super) fn ledger(&self) -> &Ledger {
        self.machine.program.host().device().allocator().journal().ledger()
    }

    /// Says which command has left something else than before, if one has. The program stands where
    /// it stood; its results are those of the run that was looked at last.
    pub(crate) fn checked(&mut self, reason: StopReason) -> StopReason {
        let Some(recording) = self.recording.clone() else { return reason };
        if recording.tape().marks().take_differing() {
            self.tell(IS_OTHER.to_owned());
        }
        if let Some(number) = self.ledger().take_other_bytecode() {
            self.tell(format!(
                "command {number}: its bytecode has left other bytes than the recording has; those \
                 of the recording are in memory"
            ));
        }
        let Some(number) = self.ledger().take_differing() else { return reason };
        let here = self.moment();
        let stood = (self.machine.hidden_calls, self.machine.stands_after);
        let has_told_write = self.has_told_write;
        let before = recording.tape().marks().take_earlier();
        let mut text = format!("command {number} {}", before.left_other());
        let mut end = None;
        let looked = self.travel(|runner, recording| {
            text = runner.explain_difference(recording, number, before)?;
            match &here {
                Some(here) => runner.arrive(recording, here)?,
                None => end = runner.unarmed(Self::run_to_end)?,
            }
            (runner.machine.hidden_calls, runner.machine.stands_after) = stood;
            runner.has_told_write = has_told_write;
            Ok(StopReason::Step)
        });
        if let Err(reason) = looked {
            text = format!("{text} ({reason})");
        }
        self.tell(text);
        end.unwrap_or(reason)
    }

    /// Gives what happens from now on to a log.
    pub(crate) fn set_run_log(&mut self, log: Option<Box<dyn RunLog>>) {
        if let Some(recording) = &self.recording {
            recording.tape().set_log(log);
        }
    }

    /// Holds the run to what an earlier one was.
    pub(crate) fn expect_run(&mut self, expected: &Expected) {
        if let Some(recording) = &self.recording {
            recording.tape().expect(expected);
        }
    }

    pub(super) fn run_to_end(&mut self) -> Result<Option<StopReason>, Lost> {
        self.meet_forks(|_| true)?;
        self.machine.context.set_watch(Watch::Nothing);
        loop {
            match self.advance(Invocation::run) {
                Some(StopReason::Pause) => return Err(Lost::Paused),
                Some(reason) if reason.is_final() => return Ok(Some(reason)),
                _ => {}
            }
        }
    }

    fn explain_difference(
        &mut self,
        recording: &Recording,
        number: u64,
        before: Earlier,
    ) -> Result<String, Lost> {
        self.run_to_command(recording, number)?;
        let Some(dispatch) = self.standing_dispatch() else {
            return Ok(format!("command {number} {}", before.left_other()));
        };
        let name = dispatch.executable.name_of(dispatch.dispatch.export).into_owned();
        let why = match dispatch.find_race() {
            Ok(Some(race)) => sentence(&race),
            Ok(None) => no_race(&dispatch, before),
            Err(reason) => format!("no race was looked for: {reason}"),
        };
        Ok(format!("command {number}, dispatch @{name}, {}: {why}", before.left_other()))
    }
}

const IS_OTHER: &str = "this run is not the recorded one: registers, globals or buffers are others";

impl Earlier {
    fn left_other(self) -> &'static str {
        match self {
            Self::Recording => "has left other bytes than in the recording",
            Self::ThisSession => "has left other bytes than when it ran first",
        }
    }
}

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

fn no_race(dispatch: &ResolvedDispatch, before: Earlier) -> String {
    match before {
        Earlier::Recording => {
            "its workgroups do not race; machine code may compute otherwise on another processor"
        }
        Earlier::ThisSession if dispatch.dispatch.workgroup_count == [1; 3] => {
            "its code is not deterministic, as it has only one workgroup"
        }
        Earlier::ThisSession => "its workgroups do not race when they run one by one",
    }
    .to_owned()
}
