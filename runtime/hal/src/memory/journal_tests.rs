//! Tests of the journal.

use vm::ExecutionLimits;

use super::entry::{BLOCK, Overwritten};
use super::journal::Keeps;
use crate::flags::{BufferUsage, MemoryAccess, MemoryType};
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
