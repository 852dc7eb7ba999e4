//! What memory held earlier, read without going back: a copy of what is there now, from which the
//! [journal](super::Journal) takes back what was written since.
//!
//! That is exact only for memory of which the journal sees every write. So there is a reason
//! instead ([`PastLost`]) for memory that something else than the device may write, and for large
//! constants, which the journal leaves out.

use std::ops::Range;

use super::buffer::Allocation;
use super::journal::{Journal, is_left_out};
use super::lost::{Past, PastLost};

impl Allocation {
    /// What a range of it held at a mark of its journal.
    ///
    /// # Errors
    /// That is not known.
    pub(crate) fn bytes_at(&self, mark: u64, range: Range<usize>) -> Result<Past, PastLost> {
        let (journal, mut bytes, addresses) = self.to_rewind(range)?;
        let is_certain = journal.rewind(mark, &addresses, &mut bytes)?;
        Ok(Past { bytes, is_certain })
    }

    /// What a range of it held before a command that has overwritten all of it.
    ///
    /// # Errors
    /// That is not known.
    pub(crate) fn bytes_before(
        &self,
        command: &Range<u64>,
        range: Range<usize>,
    ) -> Result<Vec<u8>, PastLost> {
        let (journal, mut bytes, addresses) = self.to_rewind(range)?;
        journal.rewind_one(command, &addresses, &mut bytes)?;
        Ok(bytes)
    }

    /// The journal, what a range of it holds now, and the addresses of that.
    fn to_rewind(
        &self,
        range: Range<usize>,
    ) -> Result<(&Journal, Vec<u8>, Range<usize>), PastLost> {
        let journal = self.journal().ok_or(PastLost::NotKept)?;
        if self.is_shared() {
            return Err(PastLost::Shared);
        }
        if is_left_out(self, self.storage().len()) {
            return Err(PastLost::Constant);
        }
        let bytes = self.storage().read(range.start, range.len());
        if bytes.len() != range.len() {
            return Err(PastLost::Released);
        }
        let start = self.storage().address() as usize;
        Ok((journal, bytes, start + range.start..start + range.end))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use vm::ExecutionLimits;

    use super::*;
    use crate::flags::{BufferUsage, MemoryAccess, MemoryType};
    use crate::memory::{Allocator, Buffer, BufferParameters, Journal, Keeps, Origin, Room};

    const DEVICE: BufferParameters = BufferParameters {
        memory_type: MemoryType::DEVICE_LOCAL,
        usage: BufferUsage::DEFAULT,
        access: MemoryAccess::ALL,
    };

    fn buffer(allocator: &Allocator, length: u64) -> Buffer {
        let limits = ExecutionLimits::default();
        allocator.allocate(DEVICE, length, Origin::Alloca, &limits).expect("memory")
    }

    /// A dispatch that works on all of a buffer and writes one byte of it.
    fn dispatch(journal: &Journal, memory: &Buffer, at: usize, byte: u8) {
        begin_dispatch(journal, memory, at, byte);
        journal.after_dispatch();
    }

    fn begin_dispatch(journal: &Journal, memory: &Buffer, at: usize, byte: u8) {
        journal.begin_command();
        let allocation = memory.allocation().clone();
        journal.before_dispatch([(allocation, 0, memory.len())].into_iter());
        memory.allocation().storage().write(at, &[byte]).expect("fits");
    }

    fn at(memory: &Buffer, mark: u64) -> Result<Vec<u8>, PastLost> {
        let past = memory.allocation().bytes_at(mark, 0..memory.len())?;
        assert!(past.is_certain);
        Ok(past.bytes)
    }

    #[test]
    fn memory_is_read_as_it_was_after_each_write() {
        let allocator = Allocator::default();
        let journal = allocator.journal();
        let (memory, other) = (buffer(&allocator, 8), buffer(&allocator, 8));
        memory.write(0, &[7]).expect("fits");
        let unrecorded = journal.mark();
        journal.keep(Keeps::All);
        journal.set_file_limit(1 << 20);
        let mut states = Vec::new();
        for round in 1..10_u8 {
            states.push((journal.mark(), memory.read(0, 8)));
            match round % 3 {
                0 => memory.store(usize::from(round % 4), &[round, round]).expect("fits"),
                1 => dispatch(journal, &memory, usize::from(round % 8), round),
                _ => memory.fill(4, 4, &[round]).expect("fits"),
            }
            other.fill(0, 8, &[round]).expect("fits");
            journal.spill(6);
        }
        begin_dispatch(journal, &memory, 0, 100);
        for (mark, state) in &states {
            assert_eq!(at(&memory, *mark).as_ref(), Ok(state));
        }
        // Nothing has moved.
        assert_eq!(memory.read(0, 1), [100]);
        assert_eq!(at(&memory, unrecorded), Err(PastLost::NotKept));
        journal.keep(Keeps::Nothing);
        assert_eq!(at(&memory, states[0].0), Err(PastLost::NotKept));
        // A mark of an earlier recording is no mark of this one.
        journal.keep(Keeps::All);
        assert_eq!(at(&memory, states[0].0), Err(PastLost::NotKept));
    }

    #[test]
    fn what_a_failed_dispatch_has_changed_is_kept() {
        let allocator = Allocator::default();
        let journal = allocator.journal();
        journal.keep(Keeps::All);
        let memory = buffer(&allocator, 2);
        let before = journal.mark();
        begin_dispatch(journal, &memory, 0, 1);
        journal.dispatch_failed();
        assert_eq!(at(&memory, before), Ok(vec![0, 0]));
        let between = journal.begin_command();
        memory.fill(0, 2, &[2]).expect("fits");
        assert_eq!(at(&memory, before), Ok(vec![0, 0]));
        assert_eq!(at(&memory, between), Ok(vec![1, 0]));
    }

    /// What is kept without a recording: nothing of it is certain.
    fn kept(memory: &Buffer, mark: u64) -> Result<Vec<u8>, PastLost> {
        let past = memory.allocation().bytes_at(mark, 0..memory.len())?;
        assert!(!past.is_certain);
        Ok(past.bytes)
    }

    #[test]
    fn a_journal_with_little_room_forgets_the_oldest_and_says_so() {
        let allocator = Allocator::default();
        let journal = allocator.journal();
        let entries = 2 * (100 + size_of::<[usize; 8]>());
        journal.keep(Keeps::Within(Room { entries, dispatch: 99 }));
        let memory = buffer(&allocator, 100);
        let marks: Vec<u64> = (0..6)
            .map(|round| {
                let mark = journal.mark();
                memory.fill(0, 100, &[round + 1]).expect("fits");
                mark
            })
            .collect();
        assert!(journal.size() <= entries);
        assert_eq!(kept(&memory, marks[0]), Err(PastLost::NoRoom));
        assert_eq!(kept(&memory, marks[5]), Ok(vec![5; 100]));
        // Of a dispatch that writes more nothing is kept, and the rest stays.
        let large = buffer(&allocator, 100);
        let mark = journal.mark();
        journal.before_known_writes(&[(large.allocation().clone(), 0, 100)]);
        assert_eq!(kept(&large, mark), Err(PastLost::LargeDispatch));
        assert_eq!(kept(&memory, mark), Ok(vec![6; 100]));
        journal.before_known_writes(&[(memory.allocation().clone(), 0, 99)]);
        memory.allocation().storage().write(3, &[9]).expect("fits");
        assert_eq!(kept(&memory, mark), Ok(vec![6; 100]));
        assert!(!journal.undo_to(mark));
        journal.cut(PastLost::Changed);
        assert_eq!(kept(&memory, mark), Err(PastLost::Changed));
    }

    #[test]
    fn what_one_command_has_overwritten_is_certain() {
        let allocator = Allocator::default();
        let journal = allocator.journal();
        journal.keep(Keeps::Within(Room { entries: 1 << 20, dispatch: 1 << 20 }));
        let memory = buffer(&allocator, 8);
        let from = journal.mark();
        memory.write(0, &[1, 2]).expect("fits");
        memory.write(1, &[3, 4]).expect("fits");
        let command = from..journal.mark();
        memory.fill(0, 8, &[9]).expect("fits");
        let before = |range| memory.allocation().bytes_before(&command, range);
        assert_eq!(before(0..3), Ok(vec![0, 0, 0]));
        assert_eq!(before(1..3), Ok(vec![0, 0]));
        assert_eq!(before(0..4), Err(PastLost::Uncertain));
        assert_eq!(before(3..4), Err(PastLost::Uncertain));
        // A recording that begins later is certain from there on.
        journal.keep(Keeps::All);
        let mark = journal.mark();
        memory.fill(0, 8, &[5]).expect("fits");
        assert_eq!(at(&memory, mark), Ok(vec![9; 8]));
        assert_eq!(kept(&memory, from), Ok(vec![0; 8]));
    }

    #[test]
    fn memory_that_others_write_has_no_past() {
        let allocator = Allocator::default();
        let journal = allocator.journal();
        journal.keep(Keeps::All);
        let storage = Arc::new(vm::Buffer::from_bytes(&[1, 2]).expect("memory"));
        let shared = allocator.wrap(storage, DEVICE, Origin::Host);
        let own = buffer(&allocator, 2);
        let mark = journal.mark();
        assert_eq!((at(&shared, mark), at(&own, mark)), (Err(PastLost::Shared), Ok(vec![0, 0])));
        let usage = BufferUsage::DEFAULT | BufferUsage::SHARING_IMMUTABLE;
        let limits = ExecutionLimits::default();
        let constant = |length| {
            let parameters = BufferParameters { usage, ..DEVICE };
            allocator.allocate(parameters, length, Origin::Alloca, &limits).expect("memory")
        };
        assert_eq!(at(&constant(2), mark), Ok(vec![0, 0]));
        assert_eq!(at(&constant(2 << 20), mark), Err(PastLost::Constant));
    }
}
