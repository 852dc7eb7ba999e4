//! The journal: what was in device memory before it was written, so that it can be put back.
//!
//! ```text
//!   entry 0      entry 1     …    mark 40          now
//!   [ before ]   [ before ]       v                 v
//!   ──────────────────────────────┴── undo_to(40) ──┘
//! ```
//!
//! Commands that write a known range, and the program's own stores, save it before they write. What
//! a dispatch writes of its bindings only it knows: all of them are copied aside before it, and
//! what has changed is kept after it. Large constants are left out: the program has declared that
//! no one writes them.
//!
//! What a dispatch has changed also has a digest, which the [ledger](super::Ledger) keeps.
//!
//! Entries that take too much memory go to a file, the oldest first ([`Journal::spill`]).
//!
//! What some memory held at a mark can also be read without going back ([`Journal::rewind`]; what
//! that says of memory is in [`super::past`]). For that alone a journal stays within a limit, and
//! forgets the oldest entries ([`Keeps::Within`]).
//!
//! A journal is off until something wants to go back, and costs a look at a flag until then. Marks
//! are never used twice, so what ran while it was off is not taken for something that it knows.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::hash::Hasher;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use twox_hash::XxHash3_64;

use super::buffer::Allocation;
use super::ledger::Ledger;
use super::past::PastLost;
use super::spill::{Spill, Spilled};
use crate::flags::BufferUsage;

/// What a dispatch has changed is kept in blocks of this size.
const BLOCK: usize = 4096;

/// Constants of up to this size are copied aside too: compilers let dispatches work in place on
/// constants that are not used again, although they are declared immutable (see
/// `modules/hal/allocator`).
const SMALL_CONSTANT: usize = 1 << 20;

/// Separates bindings in a digest.
const BEGINS_BINDING: u8 = 0xB1;

/// What a journal keeps of what is overwritten.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Keeps {
    /// Nothing.
    #[default]
    Nothing,
    /// What can be looked at later: the last of it that fits.
    Within(Room),
    /// All of it, so that the program can go back.
    All,
}

/// How much memory what is only looked at may take, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// What was overwritten.
    pub entries: usize,
    /// The bindings of a dispatch, which are copied aside before it. What was before one with more
    /// than that is forgotten.
    pub bindings: usize,
}

/// What was in device memory before it was written.
#[derive(Default)]
pub struct Journal {
    is_on: AtomicBool,
    log: Mutex<Log>,
    ledger: Ledger,
}

#[derive(Default)]
struct Log {
    keeps: Keeps,
    entries: VecDeque<Entry>,
    /// The number of the first entry.
    first: u64,
    /// Why nothing is known of the time before it.
    lost: PastLost,
    /// How much memory they take.
    bytes: usize,
    /// Where the oldest ones are,
    spill: Spill,
    /// and how many that are.
    spilled: usize,
    /// The bindings of the dispatch in progress.
    aside: Vec<Entry>,
    /// Whether that one has failed.
    has_failed: bool,
}

/// What was in a range.
struct Entry {
    allocation: Weak<Allocation>,
    offset: usize,
    /// Empty if it is in the file.
    before: Vec<u8>,
    spilled: Option<Spilled>,
}

/// What was in some bytes of memory before a write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Overwritten {
    /// The number of the entry that has it.
    pub entry: u64,
    /// The address of the first byte.
    pub address: usize,
    /// The bytes.
    pub before: Vec<u8>,
}

impl Entry {
    /// What it has of the bytes at some addresses; `None`: nothing, or the memory was released.
    fn part(
        &self,
        number: u64,
        addresses: &Range<usize>,
        spill: &mut Spill,
    ) -> Option<Overwritten> {
        let (address, part) = self.place(addresses)?;
        let before = self.bytes(spill).ok()?.get(part)?.to_vec();
        Some(Overwritten { entry: number, address, before })
    }

    /// Which of its bytes are at some addresses, and the address of the first of these.
    fn place(&self, addresses: &Range<usize>) -> Option<(usize, Range<usize>)> {
        let start = self.allocation.upgrade()?.storage().address() as usize + self.offset;
        let from = addresses.start.max(start);
        let to = addresses.end.min(start + self.len());
        (from < to).then(|| (from, from - start..to - start))
    }

    fn len(&self) -> usize {
        self.spilled.map_or(self.before.len(), |spilled| spilled.length)
    }

    /// What was there.
    fn bytes(&self, spill: &mut Spill) -> io::Result<Cow<'_, [u8]>> {
        match self.spilled {
            Some(spilled) => spill.read(spilled).map(Cow::Owned),
            None => Ok(Cow::Borrowed(&self.before)),
        }
    }

    fn new(allocation: &Arc<Allocation>, offset: usize, length: usize) -> Self {
        let before = allocation.storage().read(offset, length);
        Self { allocation: Arc::downgrade(allocation), offset, before, spilled: None }
    }

    /// How much memory it takes.
    fn size(&self) -> usize {
        size_of::<Self>() + self.before.len()
    }

    /// Puts the bytes back. Memory that was released since is no one's.
    fn undo(&self) {
        if let Some(allocation) = self.allocation.upgrade() {
            // The range was read from there.
            let _ = allocation.storage().write(self.offset, &self.before);
        }
    }

    /// The parts of the range that hold something else now. Their bytes of now go to the digest, if
    /// there is one.
    fn changed(self, mut digest: Option<&mut XxHash3_64>) -> Vec<Self> {
        let Some(allocation) = self.allocation.upgrade() else { return Vec::new() };
        let now = allocation.storage().read(self.offset, self.before.len());
        if now == self.before {
            return Vec::new();
        }
        let mut changed: Vec<Self> = Vec::new();
        let blocks = self.before.chunks(BLOCK).zip(now.chunks(BLOCK));
        for (index, (before, now)) in blocks.enumerate() {
            if before == now {
                continue;
            }
            let offset = self.offset + index * BLOCK;
            if let Some(digest) = &mut digest {
                digest.write(&offset.to_le_bytes());
                digest.write(now);
            }
            match changed.last_mut() {
                Some(last) if last.offset + last.before.len() == offset => {
                    last.before.extend_from_slice(before);
                }
                _ => changed.push(Self {
                    allocation: self.allocation.clone(),
                    offset,
                    before: before.to_vec(),
                    spilled: None,
                }),
            }
        }
        changed.iter_mut().for_each(|entry| entry.before.shrink_to_fit());
        changed
    }
}

impl Log {
    fn push(&mut self, entry: Entry) {
        self.bytes += entry.size();
        self.entries.push_back(entry);
        if let Keeps::Within(room) = self.keeps {
            while self.bytes > room.entries && !self.entries.is_empty() {
                forget_first(self);
                self.lost = PastLost::NoRoom;
            }
        }
    }

    /// Forgets all that was before now. Marks up to now are of another time.
    fn cut(&mut self, why: PastLost) {
        while !self.entries.is_empty() {
            forget_first(self);
        }
        self.first += 1;
        self.lost = why;
    }

    /// Keeps what a dispatch has changed that has failed, before something else changes memory.
    fn settle(&mut self) {
        if std::mem::take(&mut self.has_failed) {
            for entry in std::mem::take(&mut self.aside) {
                entry.changed(None).into_iter().for_each(|changed| self.push(changed));
            }
        }
    }

    fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    /// Brings entries from this one on back into memory.
    fn unspill(&mut self, number: u64) -> io::Result<()> {
        let from = usize::try_from(number - self.first).unwrap_or(usize::MAX);
        while self.spilled > from {
            let entry = &mut self.entries[self.spilled - 1];
            if let Some(spilled) = entry.spilled {
                entry.before = self.spill.read(spilled)?;
                entry.spilled = None;
                self.bytes += spilled.length;
                self.spill.drop_last(spilled);
            }
            self.spilled -= 1;
        }
        Ok(())
    }
}

impl Journal {
    /// Sets what is kept of what is overwritten from now on.
    pub fn keep(&self, keeps: Keeps) {
        let mut log = self.lock();
        let was_on = std::mem::replace(&mut log.keeps, keeps) != Keeps::Nothing;
        self.is_on.store(keeps != Keeps::Nothing, Ordering::Relaxed);
        if keeps == Keeps::Nothing || !was_on {
            log.cut(PastLost::NotKept);
            (log.aside, log.has_failed) = (Vec::new(), false);
        }
        if keeps != Keeps::All {
            self.ledger.clear();
        }
    }

    /// What it keeps.
    #[must_use]
    pub fn keeps(&self) -> Keeps {
        self.lock().keeps
    }

    /// Memory has changed in a way that is not known, or what was before is another time: what was
    /// kept is forgotten.
    pub fn cut(&self, why: PastLost) {
        if self.is_on() {
            self.lock().cut(why);
        }
    }

    /// What dispatches have left.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Whether it keeps what is overwritten.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// The present place in the journal, to which [`Self::undo_to`] can return.
    #[must_use]
    pub fn mark(&self) -> u64 {
        self.lock().end()
    }

    /// How many bytes of memory it takes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.lock().bytes
    }

    /// How many bytes are in its file.
    #[must_use]
    pub fn size_of_file(&self) -> u64 {
        self.lock().spill.used()
    }

    /// Sets how large its file may become. What is in a file already is forgotten.
    pub fn set_file_limit(&self, most: u64) {
        let mut log = self.lock();
        while log.spilled > 0 {
            forget_first(&mut log);
        }
        log.spill = Spill::new(most);
    }

    /// Moves the oldest entries to the file until this many bytes of memory are free. Returns how
    /// many are: the file may be full.
    pub fn spill(&self, wanted: usize) -> usize {
        let mut log = self.lock();
        let mut freed = 0;
        while freed < wanted {
            let Log { entries, spill, spilled, bytes, .. } = &mut *log;
            let Some(entry) = entries.get_mut(*spilled) else { break };
            let Some(place) = spill.add(&entry.before) else { break };
            freed += place.length;
            *bytes -= place.length;
            (entry.before, entry.spilled) = (Vec::new(), Some(place));
            *spilled += 1;
        }
        freed
    }

    /// Makes memory what it was at a mark, and goes on from there. Returns whether the journal
    /// reaches back so far, and its file can be read.
    pub fn undo_to(&self, mark: u64) -> bool {
        let mut log = self.lock();
        if mark < log.first || mark > log.end() || log.unspill(mark).is_err() {
            return false;
        }
        log.has_failed = false;
        std::mem::take(&mut log.aside).iter().rev().for_each(Entry::undo);
        while log.end() > mark
            && let Some(entry) = log.entries.pop_back()
        {
            log.bytes -= entry.size();
            entry.undo();
        }
        drop(log);
        self.ledger.end_trial();
        true
    }

    /// What was in the bytes at some addresses before each write to them, the last one first. What
    /// the dispatch in progress may have overwritten counts as the entry after all others.
    #[must_use]
    pub fn overwritten(&self, addresses: &Range<usize>) -> Vec<Overwritten> {
        let mut log = self.lock();
        let end = log.end();
        let Log { aside, entries, first, spill, .. } = &mut *log;
        let running = aside.iter().map(|entry| (end, entry));
        let known = entries.iter().enumerate().rev();
        let known = known.map(|(index, entry)| (*first + index as u64, entry));
        let all = running.chain(known);
        all.filter_map(|(number, entry)| entry.part(number, addresses, spill)).collect()
    }

    /// Makes a copy of the bytes that are at some addresses now what was there at a mark. The
    /// program does not go back.
    ///
    /// # Errors
    /// The journal does not reach back so far, or its file cannot be read.
    pub(super) fn rewind(
        &self,
        mark: u64,
        addresses: &Range<usize>,
        bytes: &mut [u8],
    ) -> Result<(), PastLost> {
        let mut log = self.lock();
        if log.keeps == Keeps::Nothing {
            return Err(PastLost::NotKept);
        }
        if mark < log.first || mark > log.end() {
            return Err(log.lost);
        }
        let Log { aside, entries, first, spill, .. } = &mut *log;
        let later = usize::try_from(mark - *first).unwrap_or(usize::MAX).min(entries.len());
        // The bindings of a dispatch are copied before any of them changes.
        for entry in aside.iter().chain(entries.range(later..).rev()) {
            let Some((address, part)) = entry.place(addresses) else { continue };
            let before = entry.bytes(spill).map_err(|_| PastLost::Unread)?;
            let from = address - addresses.start;
            let target = bytes.get_mut(from..from + part.len()).ok_or(PastLost::Released)?;
            target.copy_from_slice(before.get(part).ok_or(PastLost::Unread)?);
        }
        Ok(())
    }

    /// Forgets what was before a mark, for lack of room.
    pub fn forget_before(&self, mark: u64) {
        let mut log = self.lock();
        while log.first < mark && !log.entries.is_empty() {
            forget_first(&mut log);
            log.lost = PastLost::NoRoom;
        }
    }

    /// A range is about to be written.
    pub(super) fn before_write(&self, allocation: &Arc<Allocation>, offset: usize, length: usize) {
        if self.is_on() && length > 0 {
            let mut log = self.lock();
            log.settle();
            log.push(Entry::new(allocation, offset, length));
        }
    }

    /// A range was written that held these bytes before.
    pub(super) fn was_written(&self, allocation: &Arc<Allocation>, offset: usize, before: Vec<u8>) {
        if self.is_on() {
            let allocation = Arc::downgrade(allocation);
            let mut log = self.lock();
            log.settle();
            log.push(Entry { allocation, offset, before, spilled: None });
        }
    }

    /// A dispatch begins that may write these ranges.
    pub(crate) fn before_dispatch(
        &self,
        ranges: impl Iterator<Item = (Arc<Allocation>, usize, usize)>,
    ) {
        if !self.is_on() {
            return;
        }
        let ranges: Vec<_> = ranges
            .filter(|(allocation, _, length)| {
                let is_writable = allocation.storage().access() == vm::Access::ReadWrite;
                is_writable && !is_left_out(allocation, *length)
            })
            .collect();
        let mut log = self.lock();
        let size: usize = ranges.iter().map(|(_, _, length)| length).sum();
        if let Keeps::Within(room) = log.keeps
            && size > room.bindings
        {
            return log.cut(PastLost::LargeDispatch);
        }
        let aside = ranges.iter();
        log.aside = aside.map(|(it, offset, length)| Entry::new(it, *offset, *length)).collect();
    }

    /// A command begins. What is left of one that has failed is kept. Returns the present place.
    pub(crate) fn begin_command(&self) -> u64 {
        let mut log = self.lock();
        log.settle();
        log.end()
    }

    /// The dispatch in progress has failed; it may have changed some of its memory.
    pub(crate) fn dispatch_failed(&self) {
        if self.is_on() {
            self.lock().has_failed = true;
        }
    }

    /// The dispatch has ended. Returns a digest of what it has changed, if that is kept.
    pub(crate) fn after_dispatch(&self) -> Option<u64> {
        if !self.is_on() {
            return None;
        }
        let mut log = self.lock();
        let mut digest = (log.keeps == Keeps::All).then(XxHash3_64::new);
        for entry in std::mem::take(&mut log.aside) {
            if let Some(digest) = &mut digest {
                digest.write(&[BEGINS_BINDING]);
            }
            entry.changed(digest.as_mut()).into_iter().for_each(|changed| log.push(changed));
        }
        digest.map(|it| it.finish())
    }

    /// A command has run, and this is the digest of what it has left: it is noted if the program
    /// can go back.
    pub(crate) fn note(&self, number: u64, left: Option<u64>) {
        if self.is_on() && self.keeps() == Keeps::All {
            self.ledger.note(number, left);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        // Entries are added whole, so a panic in another thread does not spoil the log.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether so many bytes of an allocation are not copied aside, as they are a large constant.
pub(super) fn is_left_out(allocation: &Allocation, length: usize) -> bool {
    let is_constant = allocation.parameters().usage.contains(BufferUsage::SHARING_IMMUTABLE);
    is_constant && length > SMALL_CONSTANT
}

fn forget_first(log: &mut Log) {
    let Some(entry) = log.entries.pop_front() else { return };
    log.first += 1;
    log.bytes -= entry.size();
    if let Some(spilled) = entry.spilled {
        log.spill.drop_first(spilled);
        log.spilled -= 1;
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("is_on", &self.is_on()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use vm::ExecutionLimits;

    use super::*;
    use crate::flags::{MemoryAccess, MemoryType};
    use crate::memory::{Allocator, Buffer, BufferParameters, Origin};

    fn buffer(allocator: &Allocator, length: u64, usage: BufferUsage) -> Buffer {
        let parameters = BufferParameters {
            memory_type: MemoryType::DEVICE_LOCAL,
            usage,
            access: MemoryAccess::ALL,
        };
        let limits = ExecutionLimits::default();
        allocator.allocate(parameters, length, Origin::Alloca, &limits).expect("memory")
    }

    #[test]
    fn writes_are_undone_one_after_the_other() {
        let allocator = Allocator::default();
        let journal = allocator.journal();
        let memory = buffer(&allocator, 64, BufferUsage::DEFAULT);
        memory.write(0, &[1, 2, 3]).expect("fits");
        journal.keep(Keeps::All);
        let start = journal.mark();
        memory.fill(0, 4, &[9]).expect("fits");
        let between = journal.mark();
        memory.store(1, &[7, 7]).expect("fits");
        memory.copy_from(8, &memory, 0, 4).expect("fits");
        assert_eq!(memory.read(0, 12), [9, 7, 7, 9, 0, 0, 0, 0, 9, 7, 7, 9]);
        assert!(journal.undo_to(between));
        assert_eq!(memory.read(0, 12), [9, 9, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert!(journal.undo_to(start) && !journal.undo_to(between));
        assert_eq!(memory.read(0, 4), [1, 2, 3, 0]);
        assert_eq!(journal.size(), 0);
    }

    #[test]
    fn of_a_dispatch_the_blocks_that_it_changes_are_kept() {
        let allocator = Allocator::default();
        let journal = allocator.journal();
        journal.keep(Keeps::All);
        let memory = buffer(&allocator, 10 * BLOCK as u64, BufferUsage::DEFAULT);
        let start = journal.mark();
        let dispatch = |writes: &[usize]| {
            let allocation = memory.allocation().clone();
            journal.before_dispatch([(allocation, 0, memory.len())].into_iter());
            for at in writes {
                memory.allocation().storage().write(*at, &[5]).expect("fits");
            }
        };
        dispatch(&[3 * BLOCK + 1, 4 * BLOCK, 9 * BLOCK]);
        journal.after_dispatch();
        assert!((3 * BLOCK..3 * BLOCK + 1000).contains(&journal.size()), "{}", journal.size());
        // The next one fails in the middle.
        dispatch(&[0]);
        assert!(journal.undo_to(start));
        assert!(memory.read(0, memory.len()).iter().all(|byte| *byte == 0));
    }

    #[test]
    fn it_tells_what_was_overwritten() {
        let allocator = Allocator::default();
        let journal = allocator.journal();
        journal.keep(Keeps::All);
        let memory = buffer(&allocator, 64, BufferUsage::DEFAULT);
        let start = memory.allocation().storage().address() as usize;
        let first = journal.mark();
        memory.write(0, &[1, 2, 3, 4]).expect("fits");
        memory.write(8, &[5]).expect("fits");
        memory.write(2, &[6, 6, 6]).expect("fits");
        let at = |entry, offset, before: &[u8]| {
            let (address, before) = (start + offset, before.to_vec());
            let entry = first + entry;
            Overwritten { entry, address, before }
        };
        let found = journal.overwritten(&(start + 3..start + 9));
        assert_eq!(found, [at(2, 3, &[4, 0]), at(1, 8, &[0]), at(0, 3, &[0])]);
        let allocation = memory.allocation().clone();
        journal.before_dispatch([(allocation, 0, 4)].into_iter());
        assert_eq!(journal.overwritten(&(start..start + 1)), [at(3, 0, &[1]), at(0, 0, &[0])]);
        assert!(journal.overwritten(&(start + 20..start + 30)).is_empty());
        drop(memory);
        assert!(journal.overwritten(&(start..start + 64)).is_empty());
    }

    #[test]
    fn what_is_in_the_file_is_undone_too() {
        let allocator = Allocator::default();
        let journal = allocator.journal();
        let memory = buffer(&allocator, 256, BufferUsage::DEFAULT);
        journal.keep(Keeps::All);
        journal.set_file_limit(40);
        let mut states = Vec::new();
        for round in 0..12_u8 {
            states.push((journal.mark(), memory.read(0, 256)));
            memory.fill(u64::from(round) * 10, 12, &[round + 1]).expect("fits");
            // Three of them fit into the file.
            let before = journal.size();
            let freed = journal.spill(if round % 3 == 0 { 12 } else { 0 });
            assert_eq!(journal.size(), before - freed);
        }
        assert_eq!((journal.size_of_file(), journal.spill(1)), (36, 0));
        let address = memory.allocation().storage().address() as usize;
        let before = journal.overwritten(&(address + 11..address + 12));
        assert_eq!(before.iter().map(|it| it.before[0]).collect::<Vec<_>>(), [1, 0]);
        for (mark, state) in states.iter().rev().step_by(2) {
            assert!(journal.undo_to(*mark));
            assert!(memory.read(0, 256) == *state, "{mark}");
        }
        // Again, after one entry that is left in the file. What is in it is forgotten.
        for round in 0..6_u8 {
            memory.fill(0, 12, &[round]).expect("fits");
            journal.spill(12);
        }
        let first = journal.mark() - 6;
        journal.forget_before(first + 2);
        assert_eq!(journal.size_of_file(), 0);
        assert_eq!(journal.spill(100), 36);
        assert!(!journal.undo_to(first) && journal.undo_to(first + 2));
        assert_eq!((memory.read(0, 1), journal.size_of_file()), (vec![1], 0));
    }

    #[test]
    fn what_is_forgotten_cannot_be_undone() {
        let allocator = Allocator::default();
        let journal = allocator.journal();
        journal.keep(Keeps::All);
        let memory = buffer(&allocator, 8, BufferUsage::DEFAULT);
        memory.write(0, &[1]).expect("fits");
        let mark = journal.mark();
        memory.write(0, &[2]).expect("fits");
        journal.forget_before(mark);
        assert!(!journal.undo_to(mark - 1) && journal.undo_to(mark));
        assert_eq!(memory.read(0, 1), [1]);
    }
}
