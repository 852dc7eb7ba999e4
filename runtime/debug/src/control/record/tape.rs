//! The tape: where a recorded run can begin again.
//!
//! ```text
//!   turns     0        1024      2048                        7168
//!   tape      [C0]      [C1]      [C2] ── [c] ── [c] ── [c] ── [C3] ── now
//!   journal    0         0         0       0      4      7      12
//! ```
//!
//! A checkpoint is taken at the beginning, after each submission of commands, and every so many
//! backward branches and calls; the more often the cheaper it is. Each remembers its place in the
//! device's journal of overwritten memory and in its history. One before each command (`c`) has the
//! state of the program in common with the others of its submission, so it costs next to nothing,
//! and to go there from a later command is to put back what the commands since have overwritten.
//! Old checkpoints are thinned out. When all of it takes more memory than it may, the oldest ones
//! go with their part of the journal.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::checkpoints::{Checkpoints, Kept};
use super::lines::Lines;
use super::marks::{Marks, mark_of};
use crate::control::breakpoints::hits::Hits;
use crate::control::breakpoints::spec::BreakpointId;
use crate::target::launch::RecordOptions;
use crate::target::recorded::{Expected, RunLog, RunMark, RunPart};
use crate::target::run_table::{RunTable, TableKeeper};
use hal::{Device, HistoryMark, Host, Keeps, OutsideCall, OutsideLog, PastLost};
use vm::{Checkpoint, Context, Invocation, Moment, Recorder};

/// The turns between two checkpoints, at first and at least,
const SHORTEST: u64 = 1 << 10;

/// and at most.
const LONGEST: u64 = 1 << 26;

/// Between two checkpoints passes this many times the time that one takes,
const SPACING: u32 = 24;

/// or this many times less where commands have run.
const CLOSER: u32 = 4;

/// So often at least, a log gets what has happened while commands run: a process that is killed in
/// a long submission has said how far it came.
const LOGGED_EVERY: Duration = Duration::from_millis(20);

/// How much is recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordState {
    /// How many checkpoints there are between submissions,
    pub checkpoints: usize,
    /// and before commands.
    pub before_commands: usize,
    /// How many bytes they and the overwritten memory take.
    pub bytes: usize,
    /// How many bytes they may take.
    pub most: usize,
    /// How many bytes of overwritten memory are in a temporary file,
    pub on_disk: u64,
    /// and may be there.
    pub most_on_disk: u64,
    /// Whether the beginning of the recording was given up for lack of memory.
    pub has_lost_begin: bool,
    /// Why it begins anew after a call of a function outside, if it does.
    pub lost: Option<String>,
}

/// Where a run can begin again.
pub(crate) struct Tape {
    pub(super) kept: Checkpoints,
    /// The lines of time, of which the checkpoints are those of one.
    pub(super) lines: Lines,
    options: RecordOptions,
    pub(super) device: Arc<Device>,
    /// What the device's journal has kept before, and will keep again.
    kept_before: Keeps,
    pub(super) outside: Arc<OutsideLog>,
    /// What each command has left.
    pub(super) rows: TableKeeper,
    shares_storage: bool,
    interval: u64,
    /// When the last checkpoint between submissions was taken, and how long that took;
    last: Option<(Instant, Duration)>,
    /// the same for the first one before commands of a submission.
    last_in_submission: Option<(Instant, Duration)>,
    has_lost_begin: bool,
    /// Takes the run for a file,
    log: Option<Box<dyn RunLog>>,
    /// with so many commands and calls outside so far.
    logged: (u64, u64),
    logged_at: Instant,
    /// What the run repeats.
    pub(super) marks: Marks,
    lost: Option<String>,
    /// The counters of the breakpoints, while they count.
    counters: Option<Vec<(BreakpointId, Hits)>>,
}

impl Tape {
    /// Whether a change by hand is made at once.
    pub(crate) fn gives_way(&self) -> bool {
        self.options.gives_way
    }

    fn new(
        host: &Host,
        rows: TableKeeper,
        shares_storage: bool,
        options: RecordOptions,
        kept: Keeps,
    ) -> Self {
        Self {
            kept: Checkpoints::default(),
            lines: Lines::default(),
            options,
            device: host.device().clone(),
            kept_before: kept,
            outside: host.outside().clone(),
            rows,
            shares_storage,
            interval: options.every.unwrap_or(SHORTEST),
            last: None,
            last_in_submission: None,
            has_lost_begin: false,
            log: None,
            logged: (0, 0),
            logged_at: Instant::now(),
            marks: Marks::default(),
            lost: None,
            counters: Some(Vec::new()),
        }
    }

    /// The checkpoints, oldest first.
    pub(crate) fn kept(&self) -> &[Kept] {
        self.kept.all()
    }

    /// The moments of the checkpoints, oldest first.
    pub(crate) fn moments(&self) -> Vec<Moment> {
        self.kept.all().iter().map(|kept| kept.moment().clone()).collect()
    }

    /// What breakpoints have counted is worth keeping from now on, or not.
    pub(crate) fn count(&mut self, counters: Option<Vec<(BreakpointId, Hits)>>) {
        self.counters = counters;
    }

    /// Whether breakpoints count.
    pub(crate) fn counts(&self) -> bool {
        self.counters.is_some()
    }

    /// Forgets the checkpoints after one of them.
    pub(crate) fn forget_after(&mut self, index: usize) {
        self.kept.truncate(index + 1);
        self.last = None;
    }

    pub(crate) fn state(&self) -> RecordState {
        RecordState {
            checkpoints: self.kept.between_submissions(),
            before_commands: self.kept.before_commands(),
            bytes: self.size(),
            most: self.options.memory,
            on_disk: self.device.allocator().journal().size_of_file(),
            most_on_disk: self.options.disk,
            has_lost_begin: self.has_lost_begin,
            lost: self.outside.lost().or_else(|| self.lost.clone()),
        }
    }

    fn size(&self) -> usize {
        self.device.allocator().journal().size()
            + self.device.history().size_of_ways()
            + self.outside.size()
            + self.rows.table().size()
            + self.lines.size()
            + self.kept.size()
    }

    /// Whether a checkpoint is due, after `turns`.
    fn is_due(&self, turns: u64, journal: u64) -> bool {
        let (Some(last), Some((taken, cost))) = (self.kept.last_between_submissions(), self.last)
        else {
            return true;
        };
        let has_written = journal > last.journal;
        if let Some(every) = self.options.every {
            return has_written || turns >= last.moment().turns().saturating_add(every);
        }
        let spacing = if has_written { cost * CLOSER } else { cost * SPACING };
        let is_far = turns >= last.moment().turns().saturating_add(self.interval);
        (is_far || has_written) && is_over(taken, spacing)
    }

    /// Forgets everything, up to a call outside if one could not be logged.
    fn begin_again(&mut self) {
        self.kept.clear();
        self.lines = Lines::default();
        (self.last, self.last_in_submission) = (None, None);
        (self.has_lost_begin, self.lost) = (false, self.outside.lost());
        self.marks.forget();
        self.device.allocator().journal().cut(PastLost::Changed);
        self.outside.begin_again();
    }

    fn take(&mut self, context: &Context, invocation: &Invocation) -> Option<u64> {
        if self.outside.lost().is_some() {
            self.log_part(None);
            self.begin_again();
        }
        let moment = invocation.moment(context)?;
        let journal = self.device.allocator().journal().mark();
        let next = self.next_after(&moment);
        let is_new = self.kept.last().is_none_or(|last| *last.moment() < moment);
        let is_wanted = self.is_due(moment.turns(), journal) || self.marks.is_at(&moment.key());
        if !is_new || !is_wanted {
            return Some(next);
        }
        let began = Instant::now();
        let before = self.kept.last().map(|kept| Arc::clone(&kept.checkpoint));
        let before = before.as_deref();
        let taken = Checkpoint::take(context, invocation, before, self.shares_storage);
        let Some(checkpoint) = taken else { return Some(next) };
        self.marks.compare(context, &checkpoint);
        // In another run, what compares marks looks between submissions.
        if self.log.is_some() && !checkpoint.is_before_step() {
            self.log_part(Some(mark_of(context, &checkpoint)));
        }
        let (size, history) = (checkpoint.size(before), self.device.history().mark());
        self.keep(context, checkpoint, size, history);
        self.adapt(began);
        self.kept.thin_out();
        self.stay_within_memory();
        Some(self.next_after(&moment))
    }

    /// Takes a checkpoint before a command.
    fn take_before_command(&mut self, context: &Context, invocation: &Invocation) {
        if self.log.is_some() && self.logged_at.elapsed() >= LOGGED_EVERY {
            self.log_part(None);
        }
        // Without memory for two, the one between submissions is worth more.
        let may_take = self.options.memory > 0 && self.outside.lost().is_none();
        let Some(last) = self.kept.last().filter(|_| may_take) else { return };
        if invocation.moment(context).is_none_or(|moment| moment <= *last.moment()) {
            return;
        }
        let (before, is_fork) = (Arc::clone(&last.checkpoint), last.fork().is_some());
        // After a change by hand, not everything is as it was.
        let later = (!is_fork).then(|| before.of_later_step(context, invocation)).flatten();
        let taken = later.or_else(|| {
            let is_due = |(taken, cost): (Instant, Duration)| is_over(taken, cost * CLOSER);
            let is_due = is_fork || self.last_in_submission.is_none_or(is_due);
            if self.options.every.is_none() && !is_due {
                return None;
            }
            let began = Instant::now();
            let shares_storage = self.shares_storage;
            let taken = Checkpoint::take(context, invocation, Some(&before), shares_storage);
            self.last_in_submission = Some((Instant::now(), began.elapsed()));
            taken
        });
        let Some(checkpoint) = taken else { return };
        let (size, history) = (checkpoint.size(Some(&before)), self.device.history().light_mark());
        self.keep(context, checkpoint, size, history);
        self.kept.thin_out();
        self.stay_within_memory();
    }

    fn keep(
        &mut self,
        context: &Context,
        checkpoint: Checkpoint,
        size: usize,
        history: HistoryMark,
    ) {
        let journal = self.device.allocator().journal().mark();
        let (checkpoint, outside) = (Arc::new(checkpoint), self.outside.mark());
        let makes = (context.makes().mark(), self.device.allocator().mark());
        let counters = self.counters.iter().flatten();
        let hits = counters.map(|(id, hits)| (*id, hits.get())).collect();
        let (forks, hand) = (Vec::new(), 0..0);
        let kept = Kept { checkpoint, journal, outside, makes, history, hits, size, forks, hand };
        self.kept.push(kept);
    }

    /// After how many turns it wants to be asked again.
    fn next_after(&self, moment: &Moment) -> u64 {
        let own = moment.turns().saturating_add(self.interval);
        self.marks.next_after(&moment.key()).map_or(own, |next| next.min(own))
    }

    /// Gives the log what has happened since it got something last.
    pub(super) fn log_part(&mut self, mark: Option<RunMark>) {
        let Some(log) = &mut self.log else { return };
        self.logged_at = Instant::now();
        let (commands, calls) = self.logged;
        let left = self.device.allocator().journal().ledger().from(commands + 1);
        let mut rows = self.rows.table().rows_after(commands);
        rows.retain(|row| row.number <= commands + left.len() as u64);
        let mut calls = self.outside.calls_from(calls);
        self.logged.0 += left.len() as u64;
        self.logged.1 += calls.len() as u64;
        let opaque = |call: &OutsideCall| Some(format!("{call} has given a !{}", call.opaque()?));
        let opaque = calls.iter().enumerate().find_map(|(at, call)| Some((at, opaque(call)?)));
        let end = match opaque {
            Some((at, reason)) => {
                calls.truncate(at);
                Some(reason)
            }
            None => self.outside.lost(),
        };
        let mark = mark.filter(|_| end.is_none());
        if mark.is_some() || !left.is_empty() || !calls.is_empty() {
            log.add(RunPart { left, rows, calls, mark });
        }
        if let Some(reason) = end {
            log.end_early(reason);
            self.log = None;
        }
    }

    pub(super) fn set_log(&mut self, log: Option<Box<dyn RunLog>>) {
        self.log_part(None);
        self.log = log;
    }

    /// What each command has left, in the whole run, whether the program stands before or after it.
    pub(crate) fn table(&self) -> MutexGuard<'_, RunTable> {
        self.rows.table()
    }

    pub(super) fn expect(&mut self, expected: &Expected) {
        *self.rows.table() = RunTable::of(&expected.rows);
        self.marks = Marks::new(&expected.marks);
        if !expected.calls.is_empty() {
            self.outside.replay(expected.calls.clone());
        }
        self.device.allocator().journal().ledger().expect(1, expected.left.clone());
    }

    pub(super) fn marks(&mut self) -> &mut Marks {
        &mut self.marks
    }

    /// Makes the distance between checkpoints follow their cost.
    fn adapt(&mut self, began: Instant) {
        let cost = began.elapsed();
        if let Some((last, _)) = self.last.filter(|_| self.options.every.is_none()) {
            let since = began - last;
            if since < cost * SPACING {
                self.interval = (self.interval * 2).min(LONGEST);
            } else if since > cost * SPACING * 4 {
                self.interval = (self.interval / 2).max(SHORTEST);
            }
        }
        self.last = Some((Instant::now(), cost));
    }

    /// What commands have overwritten goes to the file first.
    fn stay_within_memory(&mut self) {
        while self.size() > self.options.memory {
            let excess = self.size() - self.options.memory;
            let device = self.device.clone();
            let overwritten = device.allocator().journal();
            let Some(first) = self.kept.all().first() else { return };
            // What was before the recording is only looked at.
            overwritten.forget_before(first.journal);
            if overwritten.spill(excess) >= excess {
                return;
            }
            // What is forgotten is in the log.
            self.log_part(None);
            let Some(dropped) = self.kept.drop_first() else { return };
            if dropped.fork().is_some() {
                self.lines.give_up_fork();
            }
            let Some(Kept { journal, outside, history, .. }) = self.kept.all().first() else {
                return;
            };
            self.has_lost_begin = true;
            overwritten.forget_before(*journal);
            self.outside.forget_before(*outside);
            device.history().forget_ways_before(history.total());
        }
    }
}

/// Whether a time has passed. Checkpoints are right wherever the clock puts them, so tests draw it.
fn is_over(since: Instant, time: Duration) -> bool {
    #[cfg(test)]
    if let Some(drawn) = crate::tests::drawn_clock::is_over() {
        return drawn;
    }
    since.elapsed() >= time
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tape").field("state", &self.state()).finish_non_exhaustive()
    }
}

/// A tape that a running invocation and its debugger share.
#[derive(Clone, Debug)]
pub(crate) struct Recording(Arc<Mutex<Tape>>);

impl Recording {
    /// Begins to keep what commands overwrite, and what comes from outside.
    pub(crate) fn begin(
        host: &Host,
        rows: TableKeeper,
        shares_storage: bool,
        options: RecordOptions,
    ) -> Self {
        let journal = host.device().allocator().journal();
        let kept = journal.keeps();
        journal.keep(Keeps::All);
        journal.set_file_limit(options.disk);
        host.device().allocator().makes().set_on(true);
        host.outside().begin();
        host.device().history().set_listener(Some(Arc::new(rows.clone())));
        Self(Arc::new(Mutex::new(Tape::new(host, rows, shares_storage, options, kept))))
    }

    /// Stops, and forgets everything but what can be looked at without a recording.
    pub(crate) fn end(&self) {
        let mut tape = self.tape();
        tape.kept.clear();
        tape.device.allocator().journal().keep(tape.kept_before);
        tape.device.allocator().makes().set_on(false);
        tape.device.history().set_listener(None);
        tape.outside.end();
    }

    /// Forgets everything, and begins anew at the next chance.
    pub(crate) fn begin_again(&self) {
        self.tape().begin_again();
    }

    pub(crate) fn tape(&self) -> MutexGuard<'_, Tape> {
        // Checkpoints are added whole, so a panic in another thread does not spoil the tape.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What an invocation asks.
    pub(crate) fn recorder(&self) -> Box<dyn Recorder> {
        Box::new(self.clone())
    }
}

impl Recorder for Recording {
    fn at_rest(&mut self, context: &Context, invocation: &Invocation) -> Option<u64> {
        self.tape().take(context, invocation)
    }

    fn before_step(&mut self, context: &Context, invocation: &Invocation) {
        self.tape().take_before_command(context, invocation);
    }
}
