//! The contents of a dispatch's bindings at one time, to compare with and to put back.

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
