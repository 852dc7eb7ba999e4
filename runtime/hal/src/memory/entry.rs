//! An entry of the journal: what was in a range of memory before it was written.

use std::borrow::Cow;
use std::hash::Hasher;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Weak};

use twox_hash::XxHash3_64;

use super::buffer::Allocation;
use super::lost::PastLost;
use super::spill::{Spill, Spilled};

/// What a dispatch has changed is kept in blocks of this size.
pub(super) const BLOCK: usize = 4096;

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

/// What a dispatch has left in a part of one of its bindings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenBytes {
    /// The number of the binding.
    pub binding: usize,
    /// Where in it the first byte is.
    pub offset: usize,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// What was in a range.
pub(super) struct Entry {
    allocation: Weak<Allocation>,
    offset: usize,
    held: Held,
}

/// Where the bytes of an entry are.
enum Held {
    Here(Vec<u8>),
    File(Spilled),
    /// They were too many.
    Nowhere(usize),
}

impl Entry {
    /// What is in a range now.
    pub(super) fn new(allocation: &Arc<Allocation>, offset: usize, length: usize) -> Self {
        Self::of(allocation, offset, allocation.storage().read(offset, length))
    }

    /// The same in memory that was used before.
    pub(super) fn again(
        allocation: &Arc<Allocation>,
        offset: usize,
        length: usize,
        mut memory: Vec<u8>,
    ) -> Self {
        memory.resize(length, 0);
        match allocation.storage().read_to(offset, &mut memory) {
            true => Self::of(allocation, offset, memory),
            false => Self::new(allocation, offset, length),
        }
    }

    /// A range that held these bytes.
    pub(super) fn of(allocation: &Arc<Allocation>, offset: usize, before: Vec<u8>) -> Self {
        Self { allocation: Arc::downgrade(allocation), offset, held: Held::Here(before) }
    }

    /// A range of which is only known that it will be written.
    pub(super) fn unknown(allocation: &Arc<Allocation>, offset: usize, length: usize) -> Self {
        Self { allocation: Arc::downgrade(allocation), offset, held: Held::Nowhere(length) }
    }

    fn len(&self) -> usize {
        match &self.held {
            Held::Here(before) => before.len(),
            Held::File(spilled) => spilled.length,
            Held::Nowhere(length) => *length,
        }
    }

    /// How much memory it takes.
    pub(super) fn size(&self) -> usize {
        let here = match &self.held {
            Held::Here(before) => before.len(),
            Held::File(_) | Held::Nowhere(_) => 0,
        };
        size_of::<Self>() + here
    }

    /// Whether memory can be made what it was.
    pub(super) fn is_known(&self) -> bool {
        !matches!(self.held, Held::Nowhere(_))
    }

    /// What it has of the bytes at some addresses; `None`: nothing, or the memory was released.
    pub(super) fn part(
        &self,
        number: u64,
        addresses: &Range<usize>,
        spill: &mut Spill,
    ) -> Option<Overwritten> {
        let (address, part) = self.place(addresses)?;
        let before = self.bytes(spill).ok()?.get(part)?.to_vec();
        Some(Overwritten { entry: number, address, before })
    }

    /// Puts what it has of the bytes at some addresses into a copy of these. Returns which that is.
    ///
    /// # Errors
    /// It has some, and what they were is not known.
    pub(super) fn put_back(
        &self,
        addresses: &Range<usize>,
        bytes: &mut [u8],
        spill: &mut Spill,
    ) -> Result<Option<Range<usize>>, PastLost> {
        let Some((address, part)) = self.place(addresses) else { return Ok(None) };
        let before = self.bytes(spill)?;
        let from = address - addresses.start;
        let range = from..from + part.len();
        let target = bytes.get_mut(range.clone()).ok_or(PastLost::Released)?;
        target.copy_from_slice(before.get(part).ok_or(PastLost::Unread)?);
        Ok(Some(range))
    }

    /// Which of its bytes are at some addresses, and the address of the first of these.
    fn place(&self, addresses: &Range<usize>) -> Option<(usize, Range<usize>)> {
        let start = self.allocation.upgrade()?.storage().address() as usize + self.offset;
        let from = addresses.start.max(start);
        let to = addresses.end.min(start + self.len());
        (from < to).then(|| (from, from - start..to - start))
    }

    fn bytes(&self, spill: &mut Spill) -> Result<Cow<'_, [u8]>, PastLost> {
        match &self.held {
            Held::Here(before) => Ok(Cow::Borrowed(before)),
            Held::File(spilled) => {
                spill.read(*spilled).map(Cow::Owned).map_err(|_| PastLost::Unread)
            }
            Held::Nowhere(_) => Err(PastLost::LargeDispatch),
        }
    }

    /// Moves the bytes to the file. Returns how much memory is free then; `None`: there is no room.
    pub(super) fn spill(&mut self, spill: &mut Spill) -> Option<usize> {
        let Held::Here(before) = &self.held else { return Some(0) };
        let place = spill.add(before)?;
        self.held = Held::File(place);
        Some(place.length)
    }

    /// Brings the bytes back from the file, which has them last. Returns how much memory they take.
    pub(super) fn unspill(&mut self, spill: &mut Spill) -> io::Result<usize> {
        let Held::File(place) = self.held else { return Ok(0) };
        self.held = Held::Here(spill.read(place)?);
        spill.drop_last(place);
        Ok(place.length)
    }

    /// Forgets the bytes, which the file has first if it has them.
    pub(super) fn forget(self, spill: &mut Spill) {
        if let Held::File(place) = self.held {
            spill.drop_first(place);
        }
    }

    /// Puts the bytes back. Memory that was released since is no one's.
    pub(super) fn undo(&self) {
        if let (Some(allocation), Held::Here(before)) = (self.allocation.upgrade(), &self.held) {
            // The range was read from there.
            let _ = allocation.storage().write(self.offset, before);
        }
    }

    /// The parts of the range that hold something else now. Their bytes of now go to the digest, if
    /// there is one. Returns the bytes, too, so that their memory can be used again.
    pub(super) fn changed(self, digest: Option<&mut XxHash3_64>) -> (Vec<Self>, Vec<u8>) {
        let ranges = self.changed_ranges(digest);
        let Self { allocation, offset, held } = self;
        let Held::Here(before) = held else { return (Vec::new(), Vec::new()) };
        let part = |range: Range<usize>| Self {
            allocation: allocation.clone(),
            offset: offset + range.start,
            held: Held::Here(before[range].to_vec()),
        };
        (ranges.into_iter().map(part).collect(), before)
    }

    /// Adds the parts of the range that hold something else now, as those of a binding, without
    /// what other bindings have added.
    pub(super) fn add_written(&self, binding: usize, added: &mut Added) {
        let Some(memory) = self.allocation.upgrade() else { return };
        let start = memory.storage().address() as usize + self.offset;
        for range in self.changed_ranges(None) {
            let (from, to) = (start + range.start, start + range.end);
            let has = |it: &Range<usize>| it.start <= from && to <= it.end;
            if !added.bindings.iter().any(has) {
                let bytes = memory.storage().read(self.offset + range.start, range.len());
                added.written.push(WrittenBytes { binding, offset: range.start, bytes });
            }
        }
        added.bindings.push(start..start + self.len());
    }

    /// The parts of the range that hold something else now, counted from its begin, in blocks.
    fn changed_ranges(&self, mut digest: Option<&mut XxHash3_64>) -> Vec<Range<usize>> {
        let Held::Here(before) = &self.held else { return Vec::new() };
        let Some(memory) = self.allocation.upgrade() else { return Vec::new() };
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut now = [0; BLOCK];
        for (index, before) in before.chunks(BLOCK).enumerate() {
            let start = index * BLOCK;
            let now = &mut now[..before.len()];
            if !memory.storage().read_to(self.offset + start, now) || now == before {
                continue;
            }
            if let Some(digest) = &mut digest {
                digest.write(&(self.offset + start).to_le_bytes());
                digest.write(now);
            }
            match ranges.last_mut() {
                Some(last) if last.end == start => last.end += before.len(),
                _ => ranges.push(start..start + before.len()),
            }
        }
        ranges
    }
}

/// What a dispatch has left, binding by binding. Bindings often share memory.
#[derive(Default)]
pub(super) struct Added {
    pub(super) written: Vec<WrittenBytes>,
    /// The addresses of those that were looked at.
    bindings: Vec<Range<usize>>,
}
