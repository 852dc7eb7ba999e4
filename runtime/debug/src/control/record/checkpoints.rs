//! The checkpoints of a tape, and which of them go when there are many.

use std::sync::Arc;

use hal::{AllocatorMark, HistoryMark};
use vm::{Checkpoint, Moment};

use crate::control::breakpoints::spec::BreakpointId;

/// More checkpoints between submissions are thinned out,
const MOST: usize = 512;

/// and so are more of those before commands.
const MOST_BEFORE_COMMANDS: usize = 4096;

/// A checkpoint with its place in the device's time.
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
}

impl Kept {
    pub(crate) fn moment(&self) -> &Moment {
        self.checkpoint.moment()
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
        self.all.len() - self.before_commands
    }

    /// How many bytes they take.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn push(&mut self, kept: Kept) {
        self.count(&kept, 1);
        self.all.push(kept);
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

    /// Drops the oldest one, unless it is the only one. Returns the next.
    pub(super) fn drop_first(&mut self) -> Option<&Kept> {
        if self.all.len() > 1 {
            let first = self.all.remove(0);
            self.count(&first, -1);
            return self.all.first();
        }
        None
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
                let is_meant = kept.is_before_command() == is_before_command;
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
        let before_command = of(usize::from(kept.is_before_command()));
        self.before_commands = self.before_commands.saturating_add_signed(before_command);
    }
}
