//! The marks of an earlier run, which this one should meet.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::hash::Hasher;

use twox_hash::XxHash3_64;
use vm::{Checkpoint, Context, MomentKey};
use vmfb::BytecodeOffset;

use crate::target::recorded::RunMark;

/// The mark of the present state.
pub(super) fn mark_of(context: &Context, checkpoint: &Checkpoint) -> RunMark {
    let MomentKey { turns, depth: Reverse(depth), offset } = checkpoint.moment().key();
    let state = state_of(context, checkpoint);
    RunMark { turns, depth: depth as u64, offset: offset.0, state }
}

fn key_of(mark: &RunMark) -> MomentKey {
    let depth = Reverse(usize::try_from(mark.depth).unwrap_or(usize::MAX));
    MomentKey { turns: mark.turns, depth, offset: BytecodeOffset(mark.offset) }
}

fn state_of(context: &Context, checkpoint: &Checkpoint) -> u64 {
    let mut hasher = XxHash3_64::new();
    checkpoint.hash_into(context, &mut hasher);
    hasher.finish()
}

/// The run that another one is compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Earlier {
    /// One that a file has.
    Recording,
    #[default]
    ThisSession,
}

/// The marks that a run is compared with.
#[derive(Default)]
pub(super) struct Marks {
    earlier: Earlier,
    expected: BTreeMap<MomentKey, u64>,
    /// Whether a mark was missed and that has not been reported yet.
    is_differing: bool,
}

impl Marks {
    pub(super) fn new(marks: &[RunMark]) -> Self {
        let expected = marks.iter().map(|mark| (key_of(mark), mark.state)).collect();
        Self { earlier: Earlier::Recording, expected, is_differing: false }
    }

    /// The turns of the next mark that is some turns after a moment. One between two turns is where
    /// a native function has returned, which is looked at in any case.
    pub(super) fn next_after(&self, moment: &MomentKey) -> Option<u64> {
        let after = self.expected.range(moment..).map(|(key, _)| key.turns);
        after.into_iter().find(|turns| *turns > moment.turns)
    }

    pub(super) fn is_at(&self, moment: &MomentKey) -> bool {
        self.expected.contains_key(moment)
    }

    /// Compares the present state. After the first difference, nothing can be the same.
    pub(super) fn compare(&mut self, context: &Context, checkpoint: &Checkpoint) {
        let key = checkpoint.moment().key();
        let is_other = |expected: &u64| *expected != state_of(context, checkpoint);
        if self.expected.get(&key).is_some_and(is_other) {
            self.is_differing = true;
            self.expected.clear();
        }
    }

    /// Sets aside the marks after a moment: what runs there is another line.
    pub(super) fn take_after(&mut self, moment: &MomentKey) -> BTreeMap<MomentKey, u64> {
        let mut later = self.expected.split_off(moment);
        if let Some(mark) = later.remove(moment) {
            self.expected.insert(*moment, mark);
        }
        later
    }

    pub(super) fn put(&mut self, later: BTreeMap<MomentKey, u64>) {
        self.expected.extend(later);
    }

    pub(super) fn take_differing(&mut self) -> bool {
        std::mem::take(&mut self.is_differing)
    }

    /// The run that commands were compared with. After a difference, that is this one.
    pub(super) fn take_earlier(&mut self) -> Earlier {
        std::mem::take(&mut self.earlier)
    }

    /// The run is another one from here on.
    pub(super) fn forget(&mut self) {
        self.expected.clear();
    }
}
