//! Which workgroups of a dispatch race: they write the same byte, or one reads what another writes.
//!
//! Each workgroup runs alone on the memory that the dispatch found, which gives its effect. Two
//! effects that differ in a byte are a race. Then all run one after the other, in both orders: a
//! workgroup whose effect differs from its solo run has read what an earlier one wrote.

use std::collections::BTreeMap;
use std::ops::Range;

use vm::{RunControl, Status};

use super::snapshot::{Place, Snapshot};
use crate::commands::ResolvedDispatch;
use crate::executables::workgroup_at;
use crate::memory::Buffer;

/// The most bytes that are looked at: as many times all memory of the dispatch as it has
/// workgroups.
const MOST_BYTES: u64 = 1 << 33;

/// The most workgroups that run one by one to see which of them write some bytes.
const MOST_ALONE: u64 = 1 << 20;

/// Two workgroups whose order matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Race {
    /// What they do.
    pub kind: RaceKind,
    /// The workgroup that writes.
    pub writer: [u32; 3],
    /// The other one.
    pub other: [u32; 3],
    /// The binding with the contested byte, by its index.
    pub binding: usize,
    /// The byte's offset in the binding.
    pub offset: usize,
}

/// How two workgroups race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RaceKind {
    /// Both write the same byte.
    BothWrite,
    /// One reads what the other writes, so that it leaves another byte.
    ReadsWritten,
}

/// Why no race was looked for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RaceError {
    /// It has too many workgroups for its memory.
    #[error("it is too large to try its workgroups one by one")]
    TooLarge,
    /// A workgroup, run alone, fails.
    #[error("its workgroup {0:?} fails alone")]
    Fails([u32; 3]),
    /// Its workgroups do not run one by one.
    #[error("a graphics processor runs it whole, in an order of its own")]
    Whole,
    /// Its memory cannot be kept, or cannot be put back.
    #[error(transparent)]
    Memory(#[from] Status),
}

/// What a workgroup leaves in memory, where that differs from what was there.
type Effect = BTreeMap<Place, u8>;

impl ResolvedDispatch {
    /// Finds two workgroups that race, before the dispatch runs. Memory is the same afterwards.
    ///
    /// # Errors
    /// [`RaceError`]: there are too many of them, or one fails.
    pub fn find_race(&self) -> Result<Option<Race>, RaceError> {
        let snapshot = Snapshot::of(&self.dispatch)?;
        let count = self.dispatch.total_workgroups();
        if count.saturating_mul(snapshot.len() as u64) > MOST_BYTES {
            return Err(RaceError::TooLarge);
        }
        let search = Search { resolved: self, snapshot, count };
        let found = search.find();
        search.snapshot.put_back()?;
        found
    }

    /// The workgroups that write some of the bytes, in their order, when they run one after the
    /// other; the bytes hold a mark before each. Memory is the same afterwards.
    ///
    /// # Errors
    /// [`RaceError`]: there are too many of them, or one fails.
    pub fn writers_of(
        &self,
        places: &[(Buffer, Range<usize>)],
        mark: &[u8],
    ) -> Result<Vec<[u32; 3]>, RaceError> {
        let snapshot = Snapshot::of(&self.dispatch)?;
        let count = self.dispatch.total_workgroups();
        if count > MOST_ALONE {
            return Err(RaceError::TooLarge);
        }
        let search = Search { resolved: self, snapshot, count };
        let found = search.writers_of(places, mark);
        search.snapshot.put_back()?;
        found
    }
}

struct Search<'a> {
    resolved: &'a ResolvedDispatch,
    snapshot: Snapshot,
    count: u64,
}

impl Search<'_> {
    fn writers_of(
        &self,
        places: &[(Buffer, Range<usize>)],
        mark: &[u8],
    ) -> Result<Vec<[u32; 3]>, RaceError> {
        let marked = |(buffer, range): &(Buffer, Range<usize>)| {
            let bytes: Vec<u8> = mark.iter().copied().cycle().take(range.len()).collect();
            (buffer.storage(), range.start, bytes)
        };
        let marked: Vec<_> = places.iter().map(marked).collect();
        let set = || marked.iter().try_for_each(|(memory, at, bytes)| memory.write(*at, bytes));
        let is_written =
            || marked.iter().any(|(it, at, bytes)| it.read(*at, bytes.len()) != *bytes);
        let mut writers = Vec::new();
        set()?;
        for index in 0..self.count {
            self.run(index)?;
            if is_written() {
                writers.push(self.workgroup(index));
                set()?;
            }
        }
        Ok(writers)
    }

    fn find(&self) -> Result<Option<Race>, RaceError> {
        let effects = (0..self.count).map(|index| self.effect_after(&[], index));
        let effects: Vec<Effect> = effects.collect::<Result<_, _>>()?;
        if let Some(race) = self.both_write(&effects) {
            return Ok(Some(race));
        }
        let forward: Vec<u64> = (0..self.count).collect();
        let backward: Vec<u64> = forward.iter().rev().copied().collect();
        for order in [forward, backward] {
            if let Some(race) = self.reads_written(&effects, &order)? {
                return Ok(Some(race));
            }
        }
        Ok(None)
    }

    fn both_write(&self, effects: &[Effect]) -> Option<Race> {
        let mut owners: BTreeMap<Place, (u64, u8)> = BTreeMap::new();
        for (index, effect) in (0_u64..).zip(effects) {
            for (place, byte) in effect {
                let (owner, known) = *owners.entry(*place).or_insert((index, *byte));
                if known != *byte {
                    return Some(self.race(RaceKind::BothWrite, owner, index, *place));
                }
            }
        }
        None
    }

    fn reads_written(&self, effects: &[Effect], order: &[u64]) -> Result<Option<Race>, RaceError> {
        let alone = |index: u64| &effects[index as usize];
        self.snapshot.put_back()?;
        let mut expected = Effect::new();
        for (done, reader) in order.iter().enumerate() {
            self.run(*reader)?;
            expected.extend(alone(*reader));
            let left = self.snapshot.differences();
            if left == expected {
                continue;
            }
            for writer in &order[..done] {
                let both = self.effect_after(&[*writer], *reader)?;
                let mut expected = alone(*writer).clone();
                expected.extend(alone(*reader));
                if let Some(place) = differing(&both, &expected) {
                    // The byte is what it was before both: written again with that.
                    let is_rewritten =
                        !both.contains_key(&place) && !alone(*reader).contains_key(&place);
                    let kind =
                        if is_rewritten { RaceKind::BothWrite } else { RaceKind::ReadsWritten };
                    return Ok(Some(self.race(kind, *writer, *reader, place)));
                }
            }
            // It takes more than one before it; the last one is named.
            let (Some(place), Some(last)) = (differing(&left, &expected), done.checked_sub(1))
            else {
                return Ok(None);
            };
            return Ok(Some(self.race(RaceKind::ReadsWritten, order[last], *reader, place)));
        }
        Ok(None)
    }

    /// What is left by some workgroups and one more, run on what the dispatch found.
    fn effect_after(&self, before: &[u64], index: u64) -> Result<Effect, RaceError> {
        self.snapshot.put_back()?;
        before.iter().try_for_each(|before| self.run(*before))?;
        self.run(index)?;
        Ok(self.snapshot.differences())
    }

    fn run(&self, index: u64) -> Result<(), RaceError> {
        let ResolvedDispatch { executable, dispatch, .. } = self.resolved;
        if executable.whole().is_some() {
            return Err(RaceError::Whole);
        }
        let control = RunControl::default();
        let ran = executable.run(dispatch, index..index.saturating_add(1), &control);
        ran.map_err(|_| RaceError::Fails(self.workgroup(index)))
    }

    fn workgroup(&self, index: u64) -> [u32; 3] {
        workgroup_at(self.resolved.dispatch.workgroup_count, index)
    }

    fn race(&self, kind: RaceKind, writer: u64, other: u64, place: Place) -> Race {
        let (binding, offset) = self.snapshot.binding_at(&self.resolved.dispatch, place);
        let (writer, other) = (self.workgroup(writer), self.workgroup(other));
        Race { kind, writer, other, binding, offset }
    }
}

/// A byte in which two effects differ.
fn differing(left: &Effect, right: &Effect) -> Option<Place> {
    let one_way = left.iter().find(|(place, byte)| right.get(place) != Some(byte));
    let other_way = || right.iter().find(|(place, byte)| left.get(place) != Some(byte));
    one_way.or_else(other_way).map(|(place, _)| *place)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use vm::ExecutionLimits;

    use super::*;
    use crate::executables::{Dispatch, Executable, Export, Halt};
    use crate::flags::{BufferUsage, MemoryAccess, MemoryType};
    use crate::memory::{Allocator, BufferParameters, Origin};

    /// Workgroups as a function of their number, on the bytes of one binding.
    #[derive(Debug)]
    struct Workgroups(fn(u64, &vm::Buffer));

    impl Executable for Workgroups {
        fn format(&self) -> &str {
            "test"
        }

        fn exports(&self) -> &[Export] {
            &[]
        }

        fn run(&self, dispatch: &Dispatch, range: Range<u64>, _: &RunControl) -> Result<(), Halt> {
            let memory = dispatch.bindings[0].view().expect("a binding");
            range.for_each(|index| (self.0)(index, &memory));
            Ok(())
        }
    }

    fn find(count: u32, run: fn(u64, &vm::Buffer)) -> Option<Race> {
        let parameters = BufferParameters {
            memory_type: MemoryType::DEVICE_LOCAL,
            usage: BufferUsage::DEFAULT,
            access: MemoryAccess::ALL,
        };
        let allocator = Allocator::default();
        let limits = ExecutionLimits::default();
        let buffer = allocator.allocate(parameters, 16, Origin::Alloca, &limits).expect("memory");
        buffer.write(0, &[1; 16]).expect("fits");
        let dispatch = Dispatch {
            export: 0,
            workgroup_count: [count, 1, 1],
            workgroup_size: [1; 3],
            constants: Arc::default(),
            bindings: vec![buffer.binding(0, 16).expect("fits")],
            local_memory_bytes: 0,
        };
        let executable = Arc::new(Workgroups(run));
        let resolved = ResolvedDispatch { executable, dispatch, buffers: vec![buffer.clone()] };
        let race = resolved.find_race().expect("all of them run");
        assert_eq!(buffer.read(0, 16), [1; 16]);
        race
    }

    fn write(memory: &vm::Buffer, offset: u64, byte: u8) {
        memory.write(offset as usize, &[byte]).expect("fits");
    }

    #[test]
    fn workgroups_that_share_nothing_do_not_race() {
        assert_eq!(find(8, |index, memory| write(memory, index, index as u8)), None);
        // All write the same.
        assert_eq!(find(8, |_, memory| write(memory, 3, 7)), None);
    }

    #[test]
    fn two_that_write_one_byte_race() {
        let race = find(4, |index, memory| write(memory, index % 3, 10 + index as u8));
        let (writer, other) = ([0, 0, 0], [3, 0, 0]);
        let kind = RaceKind::BothWrite;
        assert_eq!(race, Some(Race { kind, writer, other, binding: 0, offset: 0 }));
        // One of them with what was there.
        let race = find(3, |index, memory| match index {
            0 => write(memory, 5, 9),
            1 => write(memory, 5, 1),
            _ => {}
        });
        let other = [1, 0, 0];
        assert_eq!(race, Some(Race { kind, writer, other, binding: 0, offset: 5 }));
    }

    #[test]
    fn one_that_reads_what_another_writes_races_with_it() {
        // Each writes its own byte; 2 reads that of 1, and 4 that of 6, which comes after it.
        let race = find(4, |index, memory| match index {
            2 => write(memory, 2, memory.read(1, 1)[0] + 1),
            _ => write(memory, index, 20 + index as u8),
        });
        let (kind, offset) = (RaceKind::ReadsWritten, 2);
        let (writer, other) = ([1, 0, 0], [2, 0, 0]);
        assert_eq!(race, Some(Race { kind, writer, other, binding: 0, offset }));
        let race = find(8, |index, memory| match index {
            4 => write(memory, 4, memory.read(6, 1)[0] + 1),
            _ => write(memory, index, 20 + index as u8),
        });
        let (writer, other) = ([6, 0, 0], [4, 0, 0]);
        assert_eq!(race, Some(Race { kind, writer, other, binding: 0, offset: 4 }));
    }
}
