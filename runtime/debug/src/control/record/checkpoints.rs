//! The checkpoints of a tape, and which of them go when there are many.

use std::ops::Range;
use std::sync::Arc;

use hal::{AllocatorMark, HistoryMark};
use vm::{Checkpoint, Moment};

use super::lines::Fork;
use crate::control::breakpoints::spec::BreakpointId;

/// More checkpoints between submissions are thinned out,
const MOST: usize = 512;

/// and so are more of those before commands.
const MOST_BEFORE_COMMANDS: usize = 4096;

/// A checkpoint with its place in the device's time; or a fork, which is the last checkpoint before
/// it and what has to be done from there.
#[derive(Clone)]
pub(crate) struct Kept {
    pub(crate) checkpoint: Arc<Checkpoint>,
    pub(crate) journal: u64,
    /// How many calls outside were made.
    pub(crate) outside: u64,
    /// How much memory the program had made, and the device for it.
    pub(crate) makes: (u64, AllocatorMark),
    pub(crate) history: HistoryMark,
    /// What breakpoints had counted, if they did.
    pub(super) hits: Vec<(BreakpointId, u64)>,
    /// How many bytes of it are its own.
    pub(super) size: usize,
    /// The changes by hand that are made on the way from the checkpoint, in order.
    pub(super) forks: Vec<Arc<Fork>>,
    /// The entries of the journal for the last one.
    pub(super) hand: Range<u64>,
}

impl Kept {
    pub(crate) fn moment(&self) -> &Moment {
        self.forks.last().map_or_else(|| self.checkpoint.moment(), |fork| &fork.moment)
    }

    /// The line that begins here, if it is a fork.
    pub(crate) fn fork(&self) -> Option<&Arc<Fork>> {
        self.forks.last()
    }

    /// How many commands had run.
    pub(crate) fn commands(&self) -> u64 {
        self.forks.last().map_or_else(|| self.history.total(), |fork| fork.commands)
    }

    /// Whether it is before a command.
    pub(crate) fn is_before_command(&self) -> bool {
        self.checkpoint.is_before_step()
    }

    /// What breakpoints had counted, as far as that is known.
    pub(crate) fn hits(&self) -> &[(BreakpointId, u64)] {
        &self.hits
    }
}

/// All of them, oldest first.
#[derive(Default)]
pub(super) struct Checkpoints {
    all: Vec<Kept>,
    before_commands: usize,
    forks: usize,
    size: usize,
}

impl Checkpoints {
    pub(super) fn all(&self) -> &[Kept] {
        &self.all
    }

    pub(super) fn last(&self) -> Option<&Kept> {
        self.all.last()
    }

    pub(super) fn last_between_submissions(&self) -> Option<&Kept> {
        self.all.iter().rev().find(|it| !it.is_before_command())
    }

    pub(super) fn before_commands(&self) -> usize {
        self.before_commands
    }

    pub(super) fn between_submissions(&self) -> usize {
        self.all.len() - self.before_commands - self.forks
    }

    /// How many forks are among them.
    pub(super) fn forks(&self) -> usize {
        self.forks
    }

    /// How many bytes they take.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn push(&mut self, kept: Kept) {
        self.count(&kept, 1);
        self.all.push(kept);
    }

    /// A fork follows the last of them.
    pub(super) fn push_fork(&mut self, fork: Arc<Fork>, hand: Range<u64>) {
        let Some(last) = self.all.last() else { return };
        let forks = last.forks.iter().cloned().chain([fork]).collect();
        // What breakpoints had counted is of the checkpoint's moment.
        let (hits, size) = (Vec::new(), size_of::<Kept>());
        self.push(Kept { forks, hand, hits, size, ..last.clone() });
    }

    /// The last of them is a fork, at which more was changed.
    pub(super) fn change_last_fork(&mut self, fork: Arc<Fork>, end: u64) {
        if let Some(last) = self.all.last_mut()
            && let Some(known) = last.forks.last_mut()
        {
            *known = fork;
            last.hand.end = end;
        }
    }

    /// Where the entries of the journal for a fork are now. False: it is not there.
    pub(super) fn set_hand(&mut self, fork: &Arc<Fork>, hand: &Range<u64>) -> bool {
        let is_it = |kept: &&mut Kept| kept.fork().is_some_and(|it| it.line == fork.line);
        let found = self.all.iter_mut().rev().find(is_it);
        found.map(|kept| kept.hand = hand.clone()).is_some()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn truncate(&mut self, length: usize) {
        while self.all.len() > length
            && let Some(kept) = self.all.pop()
        {
            self.count(&kept, -1);
        }
    }

    /// Drops the oldest one, unless it is the only one. Returns it.
    pub(super) fn drop_first(&mut self) -> Option<Kept> {
        (self.all.len() > 1).then(|| {
            let first = self.all.remove(0);
            self.count(&first, -1);
            first
        })
    }

    /// Of the older half, every second one goes. What they have in common with the ones after them
    /// stays.
    pub(super) fn thin_out(&mut self) {
        for (is_before_command, most) in [(false, MOST), (true, MOST_BEFORE_COMMANDS)] {
            let count = match is_before_command {
                true => self.before_commands(),
                false => self.between_submissions(),
            };
            if count <= most {
                continue;
            }
            let mut index = 0;
            let all = std::mem::take(self).all;
            for (place, kept) in all.into_iter().enumerate() {
                let is_meant =
                    kept.forks.is_empty() && kept.is_before_command() == is_before_command;
                index += usize::from(is_meant);
                if !is_meant || place == 0 || index > most / 2 || index % 2 == 0 {
                    self.push(kept);
                }
            }
        }
    }

    fn count(&mut self, kept: &Kept, sign: isize) {
        let of = |size: usize| size.cast_signed() * sign;
        self.size = self.size.saturating_add_signed(of(kept.size));
        if kept.fork().is_some() {
            self.forks = self.forks.saturating_add_signed(sign);
            return;
        }
        let before_command = of(usize::from(kept.is_before_command()));
        self.before_commands = self.before_commands.saturating_add_signed(before_command);
    }
}
