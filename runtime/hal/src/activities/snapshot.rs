//! The contents of a dispatch's bindings at one time, to compare with and to put back.

use std::collections::BTreeMap;
use std::sync::Arc;

use vm::Status;

use crate::executables::Dispatch;
use crate::memory::Binding;

/// The bytes of all memory that a dispatch works on. Bindings may share memory; shared bytes are
/// kept once where one binding contains the other.
#[derive(Default, Debug)]
pub(super) struct Snapshot {
    ranges: Vec<Kept>,
    /// For each binding: the range that contains it, and where in that range it begins.
    places: Vec<(usize, usize)>,
}

/// A byte: the kept range that has it, and its offset in that.
pub(super) type Place = (usize, usize);

#[derive(Debug)]
struct Kept {
    memory: Arc<vm::Buffer>,
    bytes: Vec<u8>,
}

impl Snapshot {
    /// The bytes as they are now.
    ///
    /// # Errors
    /// None: the bindings were checked.
    pub(super) fn of(dispatch: &Dispatch) -> Result<Self, Status> {
        let bindings = &dispatch.bindings;
        let begin = |index: usize| bindings[index].address().addr();
        let mut order: Vec<usize> = (0..bindings.len()).collect();
        order.sort_by_key(|index| (begin(*index), std::cmp::Reverse(bindings[*index].len())));
        let mut ranges: Vec<Kept> = Vec::new();
        let mut places = vec![(0, 0); bindings.len()];
        let mut last: Option<(usize, usize)> = None;
        for index in order {
            let binding: &Binding = &bindings[index];
            let (start, end) = (begin(index), begin(index) + binding.len());
            let (from, to) = match last {
                Some((from, to)) if end <= to => (from, to),
                _ => {
                    let memory = binding.view()?;
                    let bytes = memory.read(0, memory.len());
                    ranges.push(Kept { memory, bytes });
                    (start, end)
                }
            };
            places[index] = (ranges.len() - 1, start - from);
            last = Some((from, to));
        }
        Ok(Self { ranges, places })
    }

    /// The kept bytes of a binding.
    pub(super) fn of_binding(&self, dispatch: &Dispatch, index: usize) -> &[u8] {
        let found = self.places.get(index).zip(dispatch.bindings.get(index));
        let bytes = found.and_then(|((range, start), binding)| {
            self.ranges.get(*range)?.bytes.get(*start..start + binding.len())
        });
        bytes.unwrap_or_default()
    }

    /// How many bytes are kept.
    pub(super) fn len(&self) -> usize {
        self.ranges.iter().map(|kept| kept.bytes.len()).sum()
    }

    /// What memory holds now, where that is not what was kept.
    pub(super) fn differences(&self) -> BTreeMap<Place, u8> {
        let mut found = BTreeMap::new();
        for (range, Kept { memory, bytes }) in self.ranges.iter().enumerate() {
            let now = memory.read(0, memory.len());
            let pairs = bytes.iter().zip(&now).enumerate();
            let differing = pairs.filter(|(_, (old, new))| old != new);
            found.extend(differing.map(|(offset, (_, new))| ((range, offset), *new)));
        }
        found
    }

    /// A binding that has a byte, and where in it the byte is.
    pub(super) fn binding_at(&self, dispatch: &Dispatch, (range, offset): Place) -> Place {
        let bindings = self.places.iter().zip(&dispatch.bindings).enumerate();
        let mut found = bindings.filter_map(|(index, ((own, start), binding))| {
            let within = offset.checked_sub(*start).filter(|within| *within < binding.len())?;
            (*own == range).then_some((index, within))
        });
        found.next().unwrap_or((range, offset))
    }

    /// Puts the kept bytes back where the memory differs. Other memory is not touched: it may be
    /// constant.
    ///
    /// # Errors
    /// Memory that differs cannot be written.
    pub(super) fn put_back(&self) -> Result<(), Status> {
        for Kept { memory, bytes } in &self.ranges {
            let now = memory.read(0, memory.len());
            let differs = |(old, new): (&u8, &u8)| old != new;
            let Some(first) = bytes.iter().zip(&now).position(differs) else { continue };
            let last = bytes.iter().zip(&now).rposition(differs).unwrap_or(first);
            memory.write(first, &bytes[first..=last])?;
        }
        Ok(())
    }
}
