//! The present, and the points before it from which walks begin ([`super::back`]): first close by,
//! then at growing distances, at last at the checkpoint.

use vm::Moment;

use super::seek::Progress;
use crate::control::stop::StopReason;

/// A walk over so many turns is no reason to begin it later.
const FEW_TURNS: u64 = 256;

/// Where a walk begins.
#[derive(Clone)]
pub(super) enum Start {
    /// So many turns of the function that a dispatch has called are made.
    Inner { part: Moment, turns: u64 },
    /// In a native function.
    Native(Moment),
    /// So many turns are made.
    Turn(u64),
    /// At the checkpoint.
    Checkpoint,
}

/// The present, which a walk does not reach.
#[derive(Clone)]
pub(super) struct Limit {
    /// `None`: the end of the program,
    pub(super) moment: Option<Moment>,
    /// after so many turns, if that is known.
    pub(super) end: Option<u64>,
    pub(super) depth: usize,
    /// The inlined calls before which the user stands: stops before more of them are earlier ones
    /// at the same moment. `None`: there are none that count.
    pub(super) hidden_calls: Option<usize>,
    /// How many frames the user sees of the machine's innermost one.
    pub(super) seen: usize,
    /// Whether a write that led to this moment was told: a stop after a write is at the moment of
    /// the next instruction.
    pub(super) is_told: bool,
    /// Whether a stop at the moment itself counts: it is a checkpoint before the present, or the
    /// place that a program that was over has gone back to.
    pub(super) is_included: bool,
}

impl Limit {
    pub(super) fn at(moment: Option<Moment>, depth: usize) -> Self {
        let (is_told, is_included) = (true, false);
        let (end, hidden_calls, seen) = (None, None, usize::MAX);
        Self { moment, end, depth, hidden_calls, seen, is_told, is_included }
    }

    /// Whether a stop at this moment, for this reason, is before the present all the same.
    pub(super) fn is_before_told(&self, moment: &Moment, reason: &StopReason) -> bool {
        let is_write = matches!(reason, StopReason::Data(_));
        !self.is_told && is_write && self.moment.as_ref() == Some(moment)
    }

    pub(super) fn is_reached(&self, moment: &Moment) -> bool {
        self.moment.as_ref().is_some_and(|limit| match self.is_included {
            true => moment > limit,
            false => moment >= limit,
        })
    }

    /// The same for a place before some inlined calls.
    pub(super) fn is_reached_before(&self, moment: &Moment, hidden_calls: usize) -> bool {
        let is_earlier = self.hidden_calls.is_some_and(|it| hidden_calls > it);
        self.is_reached(moment) && !(is_earlier && self.moment.as_ref() == Some(moment))
    }

    /// The present moment.
    pub(super) fn moment(&self) -> Option<&Moment> {
        self.moment.as_ref()
    }

    fn turns(&self) -> u64 {
        self.moment.as_ref().map_or(self.end.unwrap_or(u64::MAX), Moment::turns)
    }

    /// Whether a command is one of the function in which the present is, or of one around that.
    pub(super) fn is_beside(&self, command: &Moment) -> bool {
        let Some(limit) = &self.moment else { return true };
        let is_around = command.outer_depth() <= limit.outer_depth();
        // Where a walk ends before a command, it has come to the command, not into it.
        let is_inside = self.is_inside(command) && !(self.is_included && limit == command);
        command.is_in_native() && is_around && !is_inside
    }

    /// Whether the present is inside of the command before which the program stands.
    pub(super) fn is_inside(&self, here: &Moment) -> bool {
        let Some(limit) = &self.moment else { return false };
        limit.is_in_same_call(here)
            && limit.progress().get(Progress::STEP) == here.progress().get(Progress::STEP)
    }

    /// Whether it is the place before the command that follows one, and nothing else lies between.
    pub(super) fn is_after_command(&self, command: &Moment) -> bool {
        let Some(limit) = self.moment.as_ref().filter(|it| it.is_in_same_call(command)) else {
            return false;
        };
        let [step, 0] = limit.progress()[..] else { return false };
        command.progress().get(Progress::STEP).is_some_and(|it| it + 1 == step)
    }

    /// Points before the present from which a walk is made, each earlier than the one before. All
    /// are after the checkpoint, except the last.
    pub(super) fn starts(&self, checkpoint: &Moment) -> Vec<Start> {
        let mut starts = Vec::new();
        if let Some(limit) = self.moment.as_ref().filter(|limit| limit.is_in_native()) {
            let progress = limit.progress();
            let is_known = checkpoint.is_in_native() || self.is_included;
            if let (Some(turns), Some(part)) =
                (limit.inner_turns(), progress.get(..=Progress::WORKGROUP))
                && (!is_known || self.is_inside(checkpoint))
            {
                let part = limit.at_progress(part);
                let inner = earlier(0, turns).into_iter();
                starts.extend(inner.map(|turns| Start::Inner { part: part.clone(), turns }));
                starts.push(Start::Native(part));
            }
            // Where commands have checkpoints, walks have begun at those.
            if let Some(step) = progress.get(Progress::STEP).filter(|_| !is_known) {
                starts.push(Start::Native(limit.at_progress(&[*step, 0])));
                if *step > 1 {
                    starts.push(Start::Native(limit.at_progress(&[*step - 1, 0])));
                }
            }
        }
        // Without a limit, no one knows how far away the end is.
        if self.moment.is_some() || self.end.is_some() {
            let mut turns = earlier(checkpoint.turns(), self.turns());
            // To come to such a place takes a command.
            turns.retain(|it| !checkpoint.is_in_native() || it - checkpoint.turns() > FEW_TURNS);
            starts.extend(turns.into_iter().map(Start::Turn));
        }
        starts.push(Start::Checkpoint);
        starts
    }
}

/// Numbers before `to` at growing distances, all greater than `from`.
fn earlier(from: u64, to: u64) -> Vec<u64> {
    let distances = std::iter::successors(Some(4_u64), |distance| distance.checked_mul(16));
    let numbers = distances.map_while(|distance| to.checked_sub(distance));
    numbers.take_while(|number| *number > from).collect()
}
