//! The log of calls outside, and the place in it.

use std::collections::VecDeque;
use std::fmt;
use std::mem::take;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vm::ExecutionLimits;

use super::convert::KeptObject;
use super::plain::OutsideCall;
use super::seen::Seen;
use crate::device::Device;

/// What the program has got from outside. Off until something wants to go back; until then, it
/// costs a look at a flag for each call outside.
pub struct OutsideLog {
    is_on: AtomicBool,
    pub(super) state: Mutex<State>,
    pub(super) device: Arc<Device>,
    pub(super) limits: ExecutionLimits,
}

/// The calls after a moment, set aside while the program makes others instead.
#[derive(Default)]
pub struct LaterCalls(VecDeque<Entry>);

impl LaterCalls {
    /// How many bytes they hold.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.iter().map(Entry::size).sum()
    }
}

/// A call, with what belongs to this process.
pub(super) struct Entry {
    pub(super) call: Arc<OutsideCall>,
    pub(super) kept: Vec<KeptObject>,
    /// Where it has written device memory. Memory has other addresses when a call is given again.
    pub(super) addresses: Vec<Range<usize>>,
}

impl Entry {
    pub(super) fn size(&self) -> usize {
        self.call.size() + size_of::<Self>()
    }
}

#[derive(Default)]
pub(super) struct State {
    pub(super) entries: VecDeque<Entry>,
    /// The number of the first entry.
    pub(super) first: u64,
    /// The number of the next call.
    pub(super) position: u64,
    pub(super) bytes: usize,
    pub(super) seen: Seen,
    /// Changes when everything is forgotten: a call that is under way then is not logged.
    pub(super) generation: u64,
    /// The functions that the program waits for, each with its generation: a call of the program
    /// from outside may begin while another one waits.
    pub(super) waiting: Vec<(u64, String)>,
    /// A call that could not be logged, and why.
    pub(super) lost: Option<String>,
    /// How the program calls otherwise than before.
    pub(super) differs: Option<String>,
    /// Whether only what is logged is given, and nothing more is logged.
    pub(super) is_ending: bool,
}

impl State {
    pub(super) fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    /// The entry of the next call, if it is one that is given again.
    pub(super) fn next(&self) -> Option<&Entry> {
        self.entries.get(usize::try_from(self.position.checked_sub(self.first)?).ok()?)
    }

    fn forget(&mut self) {
        let generation = self.generation + 1;
        let (first, position) = (self.position, self.position);
        let (waiting, seen) = (take(&mut self.waiting), take(&mut self.seen));
        *self = Self { first, position, generation, waiting, seen, ..Self::default() };
        self.seen.let_go();
    }

    fn forget_before(&mut self, mark: u64) {
        while self.first < mark
            && let Some(entry) = self.entries.pop_front()
        {
            self.first += 1;
            self.bytes -= entry.size();
        }
    }
}

impl OutsideLog {
    pub(crate) fn new(device: Arc<Device>, limits: ExecutionLimits) -> Self {
        Self { is_on: AtomicBool::new(false), state: Mutex::default(), device, limits }
    }

    /// Begins to log. What was logged before and has not been given again since the program went
    /// back still is.
    pub fn begin(&self) {
        let mut state = self.lock();
        if !take(&mut state.is_ending) {
            state.forget();
        }
        self.is_on.store(true, Ordering::Relaxed);
    }

    /// Stops. What was logged and has not been given again since the program went back still is, as
    /// it has happened outside.
    pub fn end(&self) {
        let mut state = self.lock();
        let position = state.position;
        state.forget_before(position);
        if state.next().is_some() {
            state.is_ending = true;
        } else {
            self.stop(&mut state);
        }
    }

    pub(super) fn stop(&self, state: &mut State) {
        state.forget();
        state.seen = Seen::default();
        self.is_on.store(false, Ordering::Relaxed);
    }

    /// Whether calls are logged.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Forgets everything: calls are made from now on, also those that had been made before the
    /// program went back.
    pub fn begin_again(&self) {
        self.lock().forget();
    }

    /// If it has ended, what is left of it is forgotten.
    pub fn cut(&self) {
        let mut state = self.lock();
        if state.is_ending {
            self.stop(&mut state);
        }
    }

    /// How many calls the program has made up to now, to which [`Self::go_back_to`] can return.
    #[must_use]
    pub fn mark(&self) -> u64 {
        self.lock().position
    }

    /// The program is put back to where it had made so many calls. Returns whether the log reaches
    /// back so far.
    pub fn go_back_to(&self, mark: u64) -> bool {
        let mut state = self.lock();
        if mark < state.first || mark > state.end() {
            return false;
        }
        (state.position, state.differs) = (mark, None);
        state.seen.forget_from(mark);
        true
    }

    /// Sets aside the calls after a mark, which the program has not made or goes back to before:
    /// they are not given again.
    #[must_use]
    pub fn take_after(&self, mark: u64) -> LaterCalls {
        let mut state = self.lock();
        let kept = usize::try_from(mark.saturating_sub(state.first)).unwrap_or(usize::MAX);
        let kept = kept.min(state.entries.len());
        let later = LaterCalls(state.entries.split_off(kept));
        state.bytes -= later.size();
        state.position = state.position.min(mark);
        state.seen.forget_from(mark);
        later
    }

    /// The next calls of the program are those that were set aside at the same mark.
    pub fn put(&self, later: LaterCalls) {
        let mut state = self.lock();
        state.bytes += later.size();
        state.entries.extend(later.0);
    }

    /// Forgets the calls before a mark.
    pub fn forget_before(&self, mark: u64) {
        self.lock().forget_before(mark);
    }

    /// How many bytes it holds.
    #[must_use]
    pub fn size(&self) -> usize {
        self.lock().bytes
    }

    /// The calls that are logged, and the number of the first one.
    #[must_use]
    pub fn calls(&self) -> (u64, Vec<Arc<OutsideCall>>) {
        let state = self.lock();
        (state.first, state.entries.iter().map(|entry| entry.call.clone()).collect())
    }

    /// The calls from this one on, up to the present.
    #[must_use]
    pub fn calls_from(&self, number: u64) -> Vec<Arc<OutsideCall>> {
        let state = self.lock();
        let count = usize::try_from(state.position - state.first).unwrap_or(usize::MAX);
        let skipped = usize::try_from(number.saturating_sub(state.first)).unwrap_or(usize::MAX);
        let calls = state.entries.iter().take(count).skip(skipped);
        calls.map(|entry| entry.call.clone()).collect()
    }

    /// Begins with calls that another run has made. They are given in the place of the first calls
    /// of the program.
    pub fn replay(&self, calls: Vec<Arc<OutsideCall>>) {
        let mut state = self.lock();
        state.forget();
        let entries =
            calls.into_iter().map(|call| Entry { call, kept: Vec::new(), addresses: Vec::new() });
        state.entries = entries.collect();
        state.bytes = state.entries.iter().map(Entry::size).sum();
        self.is_on.store(true, Ordering::Relaxed);
    }

    /// The function that the program waits for, if it waits for one that is logged.
    #[must_use]
    pub fn waits_for(&self) -> Option<String> {
        let state = self.lock();
        let (generation, function) = state.waiting.last()?;
        (*generation == state.generation).then(|| function.clone())
    }

    /// Why the last call could not be logged, if it could not: the program cannot be put back to
    /// before it.
    #[must_use]
    pub fn lost(&self) -> Option<String> {
        self.lock().lost.clone()
    }

    /// How the program has called something outside otherwise than before, if it has.
    #[must_use]
    pub fn differs(&self) -> Option<String> {
        self.lock().differs.clone()
    }

    /// The last function outside that has written one of these addresses of device memory, and
    /// after how many commands of the device.
    #[must_use]
    pub fn writer_of(&self, ranges: &[Range<usize>]) -> Option<(String, u64)> {
        let state = self.lock();
        let made = usize::try_from(state.position - state.first).unwrap_or(usize::MAX);
        let overlaps = |written: &Range<usize>| {
            ranges.iter().any(|it| it.start < written.end && written.start < it.end)
        };
        let entry = state.entries.iter().take(made).rev();
        let entry = entry.clone().find(|entry| entry.addresses.iter().any(overlaps))?;
        Some((entry.call.to_string(), entry.call.commands))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // Entries are added whole, so a panic in another thread does not spoil the log.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LaterCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LaterCalls").field(&self.0.len()).finish()
    }
}

impl fmt::Debug for OutsideLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutsideLog").field("is_on", &self.is_on()).finish_non_exhaustive()
    }
}
