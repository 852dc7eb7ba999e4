//! What a device has done: the commands that ran, in order, and the memory that each one used.
//!
//! Only programs that are inspected have a history. Memory is remembered without keeping it alive:
//! a span of an allocation that is gone says so, and its address means nothing else meanwhile.
//! What a dispatch reads and writes inside its bindings is known to its source, not here.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use twox_hash::XxHash3_128;
use vm::{Position, Status};

use crate::commands::{Command, Execution, ResolvedDispatch};
use crate::executables::{Executable, Export};
use crate::memory::{Allocation, Buffer, Journal, Keeps, Noted, Past, PastLost};
use crate::results::{DispatchResult, Recorded, ResultSink, ResultSource, identity};

/// Memory is read in parts of this size.
const CHUNK: usize = 1 << 14;

/// How many commands are remembered one by one. Older ones are only counted.
const REMEMBERED: usize = 1 << 16;

/// The commands that ran on the devices of a program.
#[derive(Default)]
pub struct History {
    log: Mutex<Log>,
    /// What the commands overwrite.
    journal: Arc<Journal>,
    /// What dispatches write.
    texts: OnceLock<Arc<dyn DispatchTexts>>,
    /// Is told of the commands of a program that can go back.
    listener: Mutex<Option<Arc<dyn CommandListener>>>,
    /// Takes what dispatches leave.
    sink: Mutex<Option<Arc<dyn ResultSink>>>,
    /// Has what dispatches leave, in the place of running them.
    source: OnceLock<Arc<dyn ResultSource>>,
    /// The begin of the first command.
    epoch: OnceLock<Begun>,
}

#[derive(Default)]
struct Log {
    total: u64,
    last: VecDeque<Arc<CommandRecord>>,
    by_recording: HashMap<Position, Runs>,
    /// Where each of the last commands was recorded, and how often that had run before, while the
    /// program can go back.
    before: VecDeque<(Position, Option<Runs>)>,
    /// The memory that the dispatch in progress writes by its text, if that is asked for.
    written: Vec<Span>,
    /// How long the program has stood still for its user, and how often.
    stood: Duration,
    stands: u64,
}

/// A place in a history.
#[derive(Clone, Debug)]
pub struct HistoryMark {
    total: u64,
    /// `None`: as what is kept of each command since leads back to it.
    by_recording: Option<HashMap<Position, Runs>>,
}

impl Log {
    /// Makes the counts what they were before the last command.
    fn take_back_runs(&mut self) {
        match self.before.pop_back() {
            Some((recorded_at, Some(runs))) => self.by_recording.insert(recorded_at, runs),
            Some((recorded_at, None)) => self.by_recording.remove(&recorded_at),
            None => None,
        };
        self.total -= 1;
    }

    /// Forgets the commands after a number. The counts are the caller's.
    fn forget_after(&mut self, total: u64) {
        let later = usize::try_from(self.total.saturating_sub(total)).unwrap_or(usize::MAX);
        self.before.truncate(self.before.len().saturating_sub(later));
        self.total = total;
        while self.last.back().is_some_and(|record| record.number > total) {
            self.last.pop_back();
        }
    }
}

impl HistoryMark {
    /// How many commands had run.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }
}

/// The place in a history before one command.
#[derive(Clone, Debug)]
pub(crate) struct CommandMark {
    total: u64,
    recorded_at: Position,
    runs: Option<Runs>,
}

/// When a command ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timing {
    /// From the begin of the first command to its own.
    pub start: Duration,
    /// How long it took, without the time for which the program stood still; by its device's own
    /// clock, if that is another device than the processor.
    pub took: Duration,
    /// Whether the program stood still while it ran.
    pub has_stood: bool,
}

/// A command has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    at: Instant,
    stood: Duration,
    stands: u64,
    /// The place in the journal.
    journal: u64,
}

/// How often a recorded command ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Runs {
    /// How often.
    pub count: u64,
    /// The number of the command when it ran first.
    pub first: u64,
    /// The number of the command when it ran last.
    pub last: u64,
    /// How long all of its runs took.
    pub took: Duration,
}

/// A command that ran.
#[derive(Clone, Debug)]
pub struct CommandRecord {
    /// Its number in the run: its place among all fills, updates, copies and dispatches that ran
    /// on the device, from 1. A user is shown this number only.
    pub number: u64,
    /// Its place in its command buffer, from 0, as IREE's profiles have it.
    pub place_in_buffer: usize,
    /// The instruction that recorded it.
    pub recorded_at: Position,
    /// What it did.
    pub work: Work,
    /// When it ran; `None` while it runs.
    pub timing: Option<Timing>,
    /// Digests of the memory that it writes by its text, as it has left that; none if everything
    /// that it has written is known ([`Keeps::All`]), or if it is no dispatch.
    pub left: Vec<Left>,
    /// The entries of the journal with what it has overwritten: it ran between these marks. While
    /// it runs, or before it does, they are from its begin to now.
    pub journal: Range<u64>,
}

/// What a dispatch has left in a span.
#[derive(Clone, Debug)]
pub struct Left {
    span: Span,
    digest: u128,
}

/// What the texts of dispatches say of their memory.
pub trait DispatchTexts: Send + Sync {
    /// The memory that a dispatch writes; everything that it could write, if that is not known.
    fn written(&self, dispatch: &PastDispatch) -> Vec<Span>;
}

/// Is told of each command that has run, while memory has what it left.
pub trait CommandListener: Send + Sync {
    /// A command has run. `changed` is a digest of what a dispatch has changed.
    fn ran(&self, command: &CommandRecord, noted: Noted, changed: Option<u64>);
}

impl CommandRecord {
    /// Whether it has left these bytes in a span, as far as that is known.
    #[must_use]
    pub fn has_left(&self, span: &Span, bytes: &[u8]) -> bool {
        let left = self.left.iter().find(|it| it.span.is_same(span));
        left.is_some_and(|it| it.digest == XxHash3_128::oneshot(bytes))
    }
}

/// What a command did.
#[derive(Clone, Debug)]
pub enum Work {
    /// It wrote a span.
    Fill(Span),
    /// It wrote a span with bytes of the program.
    Update(Span),
    /// It wrote the second span with the bytes of the first.
    Copy(Span, Span),
    /// It ran a function of an executable.
    Dispatch(PastDispatch),
}

/// A dispatch that ran.
#[derive(Clone)]
pub struct PastDispatch {
    executable: Arc<dyn Executable>,
    export: usize,
    /// The push constants.
    pub constants: Arc<[u32]>,
    /// How many workgroups in x, y and z.
    pub workgroup_count: [u32; 3],
    /// The memory of each binding.
    pub bindings: Vec<Span>,
}

/// A span of an allocation, which may be gone.
#[derive(Clone, Debug)]
pub struct Span {
    allocation: Weak<Allocation>,
    offset: usize,
    length: usize,
    /// How often the program had written to the allocation directly.
    stores: u64,
}

impl Span {
    /// The memory of a buffer.
    #[must_use]
    pub fn of(buffer: &Buffer) -> Self {
        let allocation = Arc::downgrade(buffer.allocation());
        let stores = buffer.allocation().stores();
        Self { allocation, offset: buffer.offset(), length: buffer.len(), stores }
    }

    /// Its bytes within its allocation.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.offset..self.offset + self.length
    }

    /// A part of it, if it has the range.
    #[must_use]
    pub fn part(&self, offset: usize, length: usize) -> Option<Self> {
        let end = offset.checked_add(length)?;
        let part = Self { offset: self.offset + offset, length, ..self.clone() };
        (end <= self.length).then_some(part)
    }

    /// Whether the spans share a byte.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.allocation.ptr_eq(&other.allocation)
            && self.offset < other.offset + other.length
            && other.offset < self.offset + self.length
    }

    /// Whether both are the same bytes.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.allocation.ptr_eq(&other.allocation) && self.range() == other.range()
    }

    /// Whether the program has written to the allocation since, other than by a command.
    #[must_use]
    pub fn has_been_stored_to(&self) -> bool {
        self.allocation.upgrade().is_some_and(|it| it.stores() != self.stores)
    }

    /// The bytes as a buffer of the VM that shares the memory; `None` if it was released.
    #[must_use]
    pub fn bytes(&self) -> Option<Arc<vm::Buffer>> {
        let allocation = self.allocation.upgrade()?;
        allocation.storage().subspan(self.offset, self.length).ok().map(Arc::new)
    }

    /// A copy of the bytes that were there at a mark of the journal.
    ///
    /// # Errors
    /// That is not known.
    pub fn bytes_at(&self, mark: u64) -> Result<Past, PastLost> {
        let allocation = self.allocation.upgrade().ok_or(PastLost::Released)?;
        allocation.bytes_at(mark, self.range())
    }

    /// A copy of the bytes that were there before a command that has overwritten all of them.
    ///
    /// # Errors
    /// That is not known.
    pub fn bytes_before(&self, command: &CommandRecord) -> Result<Vec<u8>, PastLost> {
        let allocation = self.allocation.upgrade().ok_or(PastLost::Released)?;
        allocation.bytes_before(&command.journal, self.range())
    }

    /// A digest of the bytes that are there now.
    fn digest(&self) -> Option<u128> {
        let allocation = self.allocation.upgrade()?;
        let mut digest = XxHash3_128::new();
        let mut chunk = [0; CHUNK];
        for at in self.range().step_by(CHUNK) {
            let chunk = &mut chunk[..(self.range().end - at).min(CHUNK)];
            allocation.storage().read_to(at, chunk).then(|| digest.write(chunk))?;
        }
        Some(digest.finish_128())
    }
}

impl PastDispatch {
    fn of(resolved: &ResolvedDispatch) -> Self {
        Self {
            executable: resolved.executable.clone(),
            export: resolved.dispatch.export,
            constants: resolved.dispatch.constants.clone(),
            workgroup_count: resolved.dispatch.workgroup_count,
            bindings: resolved.buffers.iter().map(Span::of).collect(),
        }
    }

    /// Whether both run functions of one executable.
    #[must_use]
    pub fn is_of_executable_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.executable, &other.executable)
    }

    /// All functions of its executable.
    #[must_use]
    pub fn exports(&self) -> &[Export] {
        self.executable.exports()
    }

    /// Which of them it runs.
    #[must_use]
    pub fn export_index(&self) -> usize {
        self.export
    }

    /// What the executable says of the function.
    #[must_use]
    pub fn export(&self) -> Option<&Export> {
        self.executable.exports().get(self.export)
    }
}

impl fmt::Debug for PastDispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PastDispatch").field(&self.executable.name_of(self.export)).finish()
    }
}

/// A command that is about to run, as it will be remembered.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    place_in_buffer: usize,
    recorded_at: Position,
    work: Work,
}

impl Pending {
    /// The next command of an execution. `None` if the program is not inspected, or the command
    /// does no work of its own, or its memory cannot be resolved and it will fail.
    pub(crate) fn next(execution: &Execution) -> Option<Self> {
        let recorded_at = execution.recorded_at()?;
        let (place_in_buffer, command) = execution.next()?;
        let span = |range| execution.resolve(range).ok().map(|buffer| Span::of(&buffer));
        let work = match command {
            Command::Fill { target, .. } => Work::Fill(span(target)?),
            Command::Update { target, .. } => Work::Update(span(target)?),
            Command::Copy { source, target } => Work::Copy(span(source)?, span(target)?),
            Command::Dispatch(dispatch) => {
                Work::Dispatch(PastDispatch::of(&execution.resolve_dispatch(dispatch).ok()?))
            }
            Command::BeginGroup(_)
            | Command::EndGroup
            | Command::Barrier
            | Command::Execute { .. } => return None,
        };
        Some(Self { place_in_buffer, recorded_at, work })
    }

    /// The next command of an execution, which is a dispatch whose memory was resolved.
    pub(crate) fn of_dispatch(execution: &Execution, resolved: &ResolvedDispatch) -> Option<Self> {
        let recorded_at = execution.recorded_at()?;
        let (place_in_buffer, _) = execution.next()?;
        let work = Work::Dispatch(PastDispatch::of(resolved));
        Some(Self { place_in_buffer, recorded_at, work })
    }

    /// What tells a dispatch from others.
    fn identity(&self) -> Option<u64> {
        let Work::Dispatch(dispatch) = &self.work else { return None };
        let PastDispatch { executable, export, constants, workgroup_count, bindings } = dispatch;
        let name = executable.name_of(*export);
        let bindings = bindings.iter().map(|span| (span.offset, span.length));
        Some(identity(self.recorded_at, &name, constants, *workgroup_count, bindings))
    }

    /// Numbers the command as the next one. It has begun, or it has not.
    pub(crate) fn into_next(self, history: &History, begun: Option<Begun>) -> CommandRecord {
        let now = history.journal.mark();
        let journal = begun.map_or(now, |it| it.journal)..now;
        CommandRecord { journal, ..self.numbered(history.total() + 1) }
    }

    fn numbered(self, number: u64) -> CommandRecord {
        let Self { place_in_buffer, recorded_at, work } = self;
        CommandRecord {
            number,
            place_in_buffer,
            recorded_at,
            work,
            timing: None,
            left: Vec::new(),
            journal: 0..0,
        }
    }
}

impl History {
    /// The history of a device with a journal.
    pub(crate) fn with_journal(journal: Arc<Journal>) -> Self {
        Self { journal, ..Self::default() }
    }

    /// The present place, to which [`Self::go_back_to`] can return.
    #[must_use]
    pub fn mark(&self) -> HistoryMark {
        let log = self.lock();
        HistoryMark { total: log.total, by_recording: Some(log.by_recording.clone()) }
    }

    /// The same at little cost, for many places: to return there takes what is kept of each command
    /// since.
    #[must_use]
    pub fn light_mark(&self) -> HistoryMark {
        HistoryMark { total: self.lock().total, by_recording: None }
    }

    /// Forgets the commands after a place. Memory is the journal's. False: what is kept of them
    /// does not lead there, and nothing is changed.
    #[must_use]
    pub fn go_back_to(&self, mark: &HistoryMark) -> bool {
        let mut log = self.lock();
        let later = usize::try_from(log.total.saturating_sub(mark.total)).unwrap_or(usize::MAX);
        match &mark.by_recording {
            Some(by_recording) => log.by_recording.clone_from(by_recording),
            None if later > log.before.len() || log.total < mark.total => return false,
            None => (0..later).for_each(|_| log.take_back_runs()),
        }
        log.forget_after(mark.total);
        true
    }

    /// What it takes to return to places from this number of commands on is enough.
    pub fn forget_ways_before(&self, total: u64) {
        let mut log = self.lock();
        let needed = usize::try_from(log.total.saturating_sub(total)).unwrap_or(usize::MAX);
        let spare = log.before.len().saturating_sub(needed);
        log.before.drain(..spare);
    }

    /// How many bytes it takes to return to places.
    #[must_use]
    pub fn size_of_ways(&self) -> usize {
        self.lock().before.len() * size_of::<(Position, Option<Runs>)>()
    }

    /// The present place, before a command.
    pub(crate) fn mark_before(&self, command: &Pending) -> CommandMark {
        let log = self.lock();
        let recorded_at = command.recorded_at;
        let runs = log.by_recording.get(&recorded_at).copied();
        CommandMark { total: log.total, recorded_at, runs }
    }

    /// Forgets the command that has run since.
    pub(crate) fn forget_since(&self, mark: &CommandMark) {
        let mut log = self.lock();
        match mark.runs {
            Some(runs) => log.by_recording.insert(mark.recorded_at, runs),
            None => log.by_recording.remove(&mark.recorded_at),
        };
        log.forget_after(mark.total);
    }

    /// A command begins.
    pub(crate) fn begin(&self, command: &Pending) -> Begun {
        let journal = self.journal.begin_command();
        if let Work::Dispatch(dispatch) = &command.work {
            self.begin_dispatch(dispatch);
        }
        let log = self.lock();
        let (stood, stands) = (log.stood, log.stands);
        let begun = Begun { at: Instant::now(), stood, stands, journal };
        self.epoch.get_or_init(|| begun);
        begun
    }

    fn begin_dispatch(&self, dispatch: &PastDispatch) {
        let place = |span: &Span| Some((span.allocation.upgrade()?, span.offset, span.length));
        match self.journal.keeps() {
            Keeps::Nothing => {}
            Keeps::All => {
                self.journal.before_dispatch(dispatch.bindings.iter().filter_map(place));
            }
            Keeps::Within(_) => {
                let texts = self.texts.get();
                let written =
                    texts.map_or_else(|| dispatch.bindings.clone(), |it| it.written(dispatch));
                let places: Vec<_> = written.iter().filter_map(place).collect();
                self.journal.before_known_writes(&places);
                self.lock().written = written;
            }
        }
    }

    /// Says what dispatches write, so that not all of their memory has to be kept.
    pub fn set_texts(&self, texts: Arc<dyn DispatchTexts>) {
        // Those of the first program stay: a device has one.
        let _ = self.texts.set(texts);
    }

    /// Says who is told of commands from now on, while the program can go back.
    pub fn set_listener(&self, listener: Option<Arc<dyn CommandListener>>) {
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = listener;
    }

    /// Says who takes what dispatches leave from now on, while the program can go back.
    pub fn set_result_sink(&self, sink: Option<Arc<dyn ResultSink>>) {
        *self.sink.lock().unwrap_or_else(PoisonError::into_inner) = sink;
    }

    /// Who takes what dispatches leave.
    pub(crate) fn sink(&self) -> Option<Arc<dyn ResultSink>> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says where what dispatches leave comes from.
    pub(crate) fn set_results(&self, source: Arc<dyn ResultSource>) {
        // A device has one run.
        let _ = self.source.set(source);
    }

    /// Where what dispatches leave comes from, if they do not run.
    #[must_use]
    pub fn results(&self) -> Option<&Arc<dyn ResultSource>> {
        self.source.get()
    }

    /// The results of the next command, if it is a dispatch and they are recorded. A trial is no
    /// part of the recorded run.
    pub(crate) fn recorded(&self, next: &Pending) -> Option<Recorded> {
        let source = self.source.get()?;
        let identity = next.identity()?;
        let is_trial = self.journal.ledger().is_trial();
        (!is_trial).then(|| Recorded::new(source.clone(), self.total() + 1, identity))
    }

    /// A dispatch that has begun has failed.
    pub(crate) fn failed(&self, pending: Option<&Pending>, status: &Status) {
        if let (Some(sink), Some(identity)) = (self.sink(), pending.and_then(Pending::identity)) {
            let (failure, written) = (Some(status.clone()), self.journal.written_so_far());
            sink.ran(self.total() + 1, DispatchResult { identity, failure, written });
        }
        self.journal.dispatch_failed();
    }

    /// The program has stood still for its user.
    pub fn stood_still(&self, duration: Duration) {
        let mut log = self.lock();
        log.stood += duration;
        log.stands += 1;
    }

    /// Remembers a command that has run.
    pub(crate) fn add(&self, command: Pending, begun: Begun) {
        let elapsed = begun.at.elapsed();
        let is_dispatch = matches!(command.work, Work::Dispatch(_));
        if let Some((sink, identity)) = self.sink().zip(command.identity()) {
            let written = self.journal.written_so_far();
            sink.ran(self.total() + 1, DispatchResult { identity, failure: None, written });
        }
        let changed = if is_dispatch { self.journal.after_dispatch() } else { None };
        let left = if is_dispatch { self.left() } else { Vec::new() };
        let journal = begun.journal..self.journal.mark();
        let mut log = self.lock();
        let epoch = self.epoch.get().unwrap_or(&begun);
        let start = begun.at.saturating_duration_since(epoch.at);
        let on_device = match &command.work {
            Work::Dispatch(resolved) => resolved.executable.device_time(),
            _ => None,
        };
        let passed = || elapsed.saturating_sub(log.stood.saturating_sub(begun.stood));
        let timing = Timing {
            // The time line has no gaps where the user looked at the program.
            start: start.saturating_sub(begun.stood.saturating_sub(epoch.stood)),
            took: on_device.unwrap_or_else(passed),
            has_stood: log.stands != begun.stands,
        };
        log.total += 1;
        let number = log.total;
        let noted = self.journal.note(number, changed);
        if self.journal.keeps() == Keeps::All {
            let before = log.by_recording.get(&command.recorded_at).copied();
            log.before.push_back((command.recorded_at, before));
        } else {
            log.before.clear();
        }
        let runs = Runs { count: 0, first: number, last: number, took: Duration::ZERO };
        let runs = log.by_recording.entry(command.recorded_at).or_insert(runs);
        runs.count += 1;
        runs.last = number;
        runs.took += timing.took;
        if log.last.len() == REMEMBERED {
            log.last.pop_front();
        }
        let command = command.numbered(number);
        let record = Arc::new(CommandRecord { timing: Some(timing), journal, left, ..command });
        log.last.push_back(Arc::clone(&record));
        drop(log);
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let (Some(noted), Some(listener)) = (noted, listener) {
            listener.ran(&record, noted, changed);
        }
    }

    /// What the dispatch that has just run has left in the memory that it writes by its text.
    fn left(&self) -> Vec<Left> {
        let written = std::mem::take(&mut self.lock().written);
        let left = written.into_iter().map(|span| Some(Left { digest: span.digest()?, span }));
        left.flatten().collect()
    }

    /// How many commands have run.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.lock().total
    }

    /// The last commands that ran, oldest first.
    #[must_use]
    pub fn records(&self) -> Vec<Arc<CommandRecord>> {
        self.lock().last.iter().cloned().collect()
    }

    /// Those of them that ran after a command, oldest first.
    #[must_use]
    pub fn records_after(&self, number: u64) -> Vec<Arc<CommandRecord>> {
        let log = self.lock();
        let later = log.last.iter().rev().take_while(|record| record.number > number);
        let mut later: Vec<_> = later.cloned().collect();
        later.reverse();
        later
    }

    /// The command that ran last.
    pub(crate) fn last(&self) -> Option<Arc<CommandRecord>> {
        self.lock().last.back().cloned()
    }

    /// How often the command that an instruction records has run.
    #[must_use]
    pub fn runs(&self, recorded_at: Position) -> Option<Runs> {
        self.lock().by_recording.get(&recorded_at).copied()
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        // The log is consistent at any time, so a panic in another thread does not spoil it.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").field("total", &self.total()).finish()
    }
}

#[cfg(test)]
mod tests {
    use vm::{FunctionId, ModuleIndex};
    use vmfb::{BytecodeOffset, FunctionOrdinal};

    use super::*;
    use crate::flags::{BufferUsage, MemoryAccess, MemoryType};
    use crate::memory::BufferParameters;

    fn buffer(length: usize) -> Buffer {
        let storage = Arc::new(vm::Buffer::from_bytes(&vec![7; length]).expect("memory"));
        let parameters = BufferParameters {
            memory_type: MemoryType::DEVICE_LOCAL,
            usage: BufferUsage::DEFAULT,
            access: MemoryAccess::ALL,
        };
        Buffer::new(storage, parameters)
    }

    #[test]
    fn spans_know_what_they_share_and_when_they_are_gone() {
        let whole = buffer(64);
        let span = Span::of(&whole.subspan(16, 32).expect("is there"));
        assert_eq!(span.range(), 16..48);
        let (first, second) = (span.part(0, 16).expect("fits"), span.part(16, 16).expect("fits"));
        assert!(first.overlaps(&span) && !first.overlaps(&second));
        assert!(!first.overlaps(&Span::of(&buffer(64))));
        assert!(span.part(17, 16).is_none() && span.part(usize::MAX, 2).is_none());
        assert_eq!(first.bytes().map(|it| it.len()), Some(16));
        assert!(!first.has_been_stored_to());
        whole.store(0, &[1]).expect("is there");
        assert!(first.has_been_stored_to());
        drop(whole);
        assert!(first.bytes().is_none());
    }

    #[test]
    fn time_counts_while_the_program_runs() {
        let history = History::default();
        let function =
            FunctionId { module: ModuleIndex(0), function: FunctionOrdinal::from_index(0) };
        let recorded_at = Position { function, offset: BytecodeOffset(8) };
        let memory = Span::of(&buffer(4));
        let pending =
            || Pending { place_in_buffer: 0, recorded_at, work: Work::Fill(memory.clone()) };
        // Before the program began, too, the user may have looked at it.
        history.stood_still(Duration::from_secs(60));
        let begun = history.begin(&pending());
        let stop = Instant::now();
        std::thread::sleep(Duration::from_millis(30));
        history.stood_still(stop.elapsed());
        history.add(pending(), begun);
        history.add(pending(), history.begin(&pending()));
        let records = history.records();
        let [first, second] = &records[..] else { panic!("{records:?}") };
        let (first, second) = (first.timing.expect("ran"), second.timing.expect("ran"));
        assert!(first.has_stood && !second.has_stood);
        // It stood still for nearly all of the time.
        assert!(first.took < Duration::from_millis(30), "{first:?}");
        assert!(second.start >= first.start + first.took, "{first:?} {second:?}");
        let runs = history.runs(recorded_at).expect("has run");
        assert_eq!(runs.took, first.took + second.took);
    }

    #[test]
    fn old_commands_are_counted_and_no_more_remembered() {
        let history = History::default();
        let function =
            FunctionId { module: ModuleIndex(0), function: FunctionOrdinal::from_index(0) };
        let recorded_at = Position { function, offset: BytecodeOffset(8) };
        let memory = Span::of(&buffer(4));
        let more = 3;
        for index in 0..REMEMBERED + more {
            let pending =
                Pending { place_in_buffer: index, recorded_at, work: Work::Fill(memory.clone()) };
            let begun = history.begin(&pending);
            history.add(pending, begun);
        }
        let total = (REMEMBERED + more) as u64;
        let runs = history.runs(recorded_at).expect("has run");
        assert_eq!((runs.count, runs.first, runs.last), (total, 1, total));
        let records = history.records();
        assert_eq!((records.len(), records[0].number), (REMEMBERED, more as u64 + 1));
    }

    #[test]
    fn going_back_forgets_what_ran_since() {
        let history = History::default();
        let function =
            FunctionId { module: ModuleIndex(0), function: FunctionOrdinal::from_index(0) };
        let memory = Span::of(&buffer(4));
        let run = |offset| {
            let recorded_at = Position { function, offset: BytecodeOffset(offset) };
            let pending =
                Pending { place_in_buffer: 0, recorded_at, work: Work::Fill(memory.clone()) };
            let begun = history.begin(&pending);
            history.add(pending, begun);
            recorded_at
        };
        let (first, mark) = (run(8), history.mark());
        let second = run(16);
        run(8);
        assert_eq!(history.runs(first).map(|runs| runs.count), Some(2));
        assert!(history.go_back_to(&mark));
        assert_eq!(history.runs(first).map(|runs| (runs.count, runs.last)), Some((1, 1)));
        assert_eq!((history.total(), history.records().len()), (1, 1));
        assert!(history.runs(second).is_none());
        // One command.
        let pending =
            Pending { place_in_buffer: 0, recorded_at: first, work: Work::Fill(memory.clone()) };
        let before = history.mark_before(&pending);
        run(8);
        history.forget_since(&before);
        assert_eq!(history.runs(first).map(|runs| (runs.count, runs.last)), Some((1, 1)));
        assert_eq!((history.total(), history.records().len()), (1, 1));
    }
}
