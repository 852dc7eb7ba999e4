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
//! that says of memory is in `past.rs`). For that alone a journal stays within a limit, and
//! forgets the oldest entries ([`Keeps::Within`]).
//!
//! A journal is off until something wants to go back, and costs a look at a flag until then. Marks
//! are never used twice, so what ran while it was off is not taken for something that it knows.

use std::collections::VecDeque;
use std::fmt;
use std::hash::Hasher;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use twox_hash::XxHash3_64;

use super::buffer::Allocation;
use super::entry::{Added, Entry, Overwritten, WrittenBytes};
use super::ledger::{Ledger, Noted};
use super::lost::PastLost;
use super::spill::Spill;
use crate::flags::BufferUsage;

/// Constants of up to this size are copied aside too: compilers let dispatches work in place on
/// constants that are not used again, although they are declared immutable (see
/// `modules/hal/allocator`).
const SMALL_CONSTANT: usize = 1 << 20;

/// So many bytes of memory are kept to copy bindings aside.
const MOST_SPARE: usize = 256 << 20;

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
    /// What one dispatch overwrites. Of one that overwrites more, nothing is kept.
    pub dispatch: usize,
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
    /// From which mark on all writes are known; `None`: some may not be.
    certain_from: Option<u64>,
    /// How much memory they take.
    bytes: usize,
    /// Where the oldest ones are,
    spill: Spill,
    /// and how many that are.
    spilled: usize,
    /// The bindings of the dispatch in progress, with their numbers.
    aside: Vec<(usize, Entry)>,
    /// Memory of bindings that were copied aside before.
    spare: Vec<Vec<u8>>,
    /// Whether that one has failed.
    has_failed: bool,
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
            self.keep_changes(None);
        }
    }

    /// Keeps what the dispatch in progress has changed so far.
    fn keep_changes(&mut self, mut digest: Option<&mut XxHash3_64>) {
        for (_, entry) in std::mem::take(&mut self.aside) {
            if let Some(digest) = &mut digest {
                digest.write(&[BEGINS_BINDING]);
            }
            let (changed, memory) = entry.changed(digest.as_deref_mut());
            changed.into_iter().for_each(|changed| self.push(changed));
            let spare: usize = self.spare.iter().map(Vec::capacity).sum();
            if spare + memory.capacity() <= MOST_SPARE {
                self.spare.push(memory);
            }
        }
    }

    /// Memory for a binding, which may be of another length.
    fn take_spare(&mut self, length: usize) -> Vec<u8> {
        let fitting = self.spare.iter().position(|it| it.capacity() >= length);
        match fitting {
            Some(index) => self.spare.swap_remove(index),
            None => self.spare.pop().unwrap_or_default(),
        }
    }

    /// The place of an entry, or of the end, among those that there are.
    fn index(&self, number: u64) -> usize {
        let index = usize::try_from(number - self.first).unwrap_or(usize::MAX);
        index.min(self.entries.len())
    }

    fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    /// Brings entries from this one on back into memory.
    fn unspill(&mut self, number: u64) -> io::Result<()> {
        let from = usize::try_from(number - self.first).unwrap_or(usize::MAX);
        while self.spilled > from {
            self.bytes += self.entries[self.spilled - 1].unspill(&mut self.spill)?;
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
            (log.aside, log.spare, log.has_failed) = (Vec::new(), Vec::new(), false);
        }
        match keeps {
            Keeps::All => log.certain_from = log.certain_from.or(Some(log.end())),
            Keeps::Nothing | Keeps::Within(_) => {
                log.certain_from = None;
                self.ledger.clear();
            }
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
            let Some(moved) = entry.spill(spill) else { break };
            freed += moved;
            *bytes -= moved;
            *spilled += 1;
        }
        freed
    }

    /// Makes memory what it was at a mark, and goes on from there. Returns whether the journal
    /// reaches back so far, and its file can be read.
    pub fn undo_to(&self, mark: u64) -> bool {
        let mut log = self.lock();
        if mark < log.first || mark > log.end() {
            return false;
        }
        let is_known = log.entries.range(log.index(mark)..).all(Entry::is_known);
        if !is_known || log.unspill(mark).is_err() {
            return false;
        }
        log.has_failed = false;
        std::mem::take(&mut log.aside).iter().rev().for_each(|(_, entry)| entry.undo());
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
        let running = aside.iter().map(|(_, entry)| (end, entry));
        let known = entries.iter().enumerate().rev();
        let known = known.map(|(index, entry)| (*first + index as u64, entry));
        let all = running.chain(known);
        all.filter_map(|(number, entry)| entry.part(number, addresses, spill)).collect()
    }

    /// Makes a copy of the bytes that are at some addresses now what was there at a mark. The
    /// program does not go back. Returns whether that is certain; else some dispatch may have
    /// written more than its text says.
    ///
    /// # Errors
    /// The journal does not reach back so far, or its file cannot be read.
    pub(super) fn rewind(
        &self,
        mark: u64,
        addresses: &Range<usize>,
        bytes: &mut [u8],
    ) -> Result<bool, PastLost> {
        let mut log = self.lock();
        if log.keeps == Keeps::Nothing {
            return Err(PastLost::NotKept);
        }
        if mark < log.first || mark > log.end() {
            return Err(log.lost);
        }
        let later = log.index(mark);
        let is_certain = log.certain_from.is_some_and(|from| mark >= from);
        let Log { aside, entries, spill, .. } = &mut *log;
        // The bindings of a dispatch are copied before any of them changes.
        let aside = aside.iter().map(|(_, entry)| entry);
        for entry in aside.chain(entries.range(later..).rev()) {
            entry.put_back(addresses, bytes, spill)?;
        }
        Ok(is_certain)
    }

    /// The same for bytes that one command has overwritten, all of them: these are its entries. So
    /// whatever is not known of other commands, that is what was there.
    pub(super) fn rewind_one(
        &self,
        command: &Range<u64>,
        addresses: &Range<usize>,
        bytes: &mut [u8],
    ) -> Result<(), PastLost> {
        let mut log = self.lock();
        if command.start < log.first || command.end > log.end() {
            return Err(log.lost);
        }
        let (from, to) = (log.index(command.start), log.index(command.end));
        let Log { entries, spill, .. } = &mut *log;
        let mut ranges = Vec::new();
        for entry in entries.range(from..to).rev() {
            ranges.extend(entry.put_back(addresses, bytes, spill)?);
        }
        ranges.sort_by_key(|range| range.start);
        let covered = ranges
            .iter()
            .try_fold(0, |end, range| (range.start <= end).then_some(range.end.max(end)));
        match covered {
            Some(end) if end == addresses.len() => Ok(()),
            _ => Err(PastLost::Uncertain),
        }
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
            let mut log = self.lock();
            log.settle();
            log.push(Entry::of(allocation, offset, before));
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
        let mut log = self.lock();
        log.aside.clear();
        for (binding, (allocation, offset, length)) in ranges.enumerate() {
            let is_writable = allocation.storage().access() == vm::Access::ReadWrite;
            if is_writable && !is_left_out(&allocation, length) {
                let memory = log.take_spare(length);
                log.aside.push((binding, Entry::again(&allocation, offset, length, memory)));
            }
        }
    }

    /// The same for a journal that is only looked at: all of these ranges will be written, by the
    /// dispatch's text, and no others.
    pub(crate) fn before_known_writes(&self, ranges: &[(Arc<Allocation>, usize, usize)]) {
        let mut log = self.lock();
        let Keeps::Within(room) = log.keeps else { return };
        let size: usize = ranges.iter().map(|(_, _, length)| length).sum();
        for (allocation, offset, length) in ranges {
            log.push(match size <= room.dispatch {
                true => Entry::new(allocation, *offset, *length),
                false => Entry::unknown(allocation, *offset, *length),
            });
        }
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
        log.keep_changes(digest.as_mut());
        digest.map(|it| it.finish())
    }

    /// What the dispatch in progress has changed so far, by its bindings.
    pub(crate) fn written_so_far(&self) -> Vec<WrittenBytes> {
        let mut added = Added::default();
        let log = self.lock();
        log.aside.iter().for_each(|(binding, entry)| entry.add_written(*binding, &mut added));
        added.written
    }

    /// A command has run, and this is the digest of what it has left: it is noted if the program
    /// can go back. `None`: it cannot.
    pub(crate) fn note(&self, number: u64, left: Option<u64>) -> Option<Noted> {
        let is_kept = self.is_on() && self.keeps() == Keeps::All;
        is_kept.then(|| self.ledger.note(number, left))
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
    entry.forget(&mut log.spill);
    log.spilled = log.spilled.saturating_sub(1);
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("is_on", &self.is_on()).finish_non_exhaustive()
    }
}
