//! Copies of memory that a device cannot use where it lies: made before a dispatch, and written
//! back after it.

use std::ops::Range;
use std::sync::Arc;

use crate::error::GpuError;
use crate::pieces::{Block, PieceSource, Pieces};
use crate::work::Span;

/// The copies that dispatches work on.
#[derive(Debug)]
pub struct Staging<S: PieceSource>(Vec<Copied<S>>);

/// Memory of the device in the place of other memory.
#[derive(Debug)]
struct Copied<S: PieceSource> {
    /// The address of the original.
    start: usize,
    /// What was in it.
    before: Vec<u8>,
    block: Block<S>,
}

/// Why memory cannot be staged.
#[derive(Debug)]
pub enum StagingError {
    /// It overlaps memory that is used where it lies, so that one of both would miss what is
    /// written to the other.
    Overlap(Span),
    /// There is no memory for the copy.
    Gpu(GpuError),
}

impl<S: PieceSource> Staging<S> {
    /// Copies the spans that are `outside`. Those that overlap have one copy; `direct` are the
    /// spans that are used where they lie.
    ///
    /// # Errors
    /// One overlaps what is used where it lies, or there is no memory.
    ///
    /// # Safety
    /// All spans can be read.
    pub unsafe fn copied(
        outside: &[Span],
        direct: &[Span],
        pieces: &Arc<Pieces<S>>,
    ) -> Result<Self, StagingError> {
        let range_of = |it: &Span| it.address.expose_provenance()..it.address.addr() + it.length;
        let mut ranges: Vec<Range<usize>> = outside.iter().map(range_of).collect();
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        let mut merged: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            match merged.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        let mut copies = Vec::with_capacity(merged.len());
        for range in merged {
            let overlaps = |span: &&Span| {
                let other = range_of(span);
                other.start < range.end && range.start < other.end
            };
            if let Some(span) = direct.iter().find(overlaps) {
                return Err(StagingError::Overlap(*span));
            }
            let block = pieces.allocate(range.len(), 1).map_err(StagingError::Gpu)?;
            let source = std::ptr::with_exposed_provenance::<u8>(range.start);
            // SAFETY: by the contract; the block is new, and as long.
            let before = unsafe {
                source.copy_to_nonoverlapping(block.address().as_ptr(), range.len());
                std::slice::from_raw_parts(block.address().as_ptr(), range.len()).to_vec()
            };
            copies.push(Copied { start: range.start, before, block });
        }
        Ok(Self(copies))
    }

    /// The address of the copy of a span.
    #[must_use]
    pub fn copy_of(&self, span: Span) -> Option<usize> {
        self.0.iter().find_map(|copy| {
            let offset = span.address.addr().checked_sub(copy.start)?;
            let is_inside = offset + span.length <= copy.before.len();
            is_inside.then(|| copy.block.address().as_ptr().addr() + offset)
        })
    }

    /// Copies back what the device has written: bytes that are others than before.
    ///
    /// # Safety
    /// All spans can be written, and nothing is in flight.
    pub unsafe fn copy_back(self) {
        for Copied { start, before, block } in self.0 {
            let (source, target) =
                (block.address().as_ptr(), std::ptr::with_exposed_provenance_mut::<u8>(start));
            for (index, old) in before.iter().enumerate() {
                // SAFETY: by the contract; the block has as many bytes.
                unsafe {
                    let new = source.add(index).read();
                    if new != *old {
                        target.add(index).write(new);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::tests::Heap;

    fn span(bytes: &mut [u8]) -> Span {
        Span { address: bytes.as_mut_ptr(), length: bytes.len() }
    }

    fn part(whole: Span, from: usize, length: usize) -> Span {
        Span { address: whole.address.wrapping_add(from), length }
    }

    #[test]
    fn spans_that_overlap_have_one_copy_and_only_changes_come_back() {
        let pieces = Pieces::new(Heap::default(), 1 << 12);
        let mut memory: Vec<u8> = (0..32).collect();
        let whole = span(&mut memory);
        let (first, second, apart) = (part(whole, 0, 8), part(whole, 4, 8), part(whole, 20, 4));
        // SAFETY: the memory is there, and nothing else uses it.
        let staging = unsafe { Staging::copied(&[first, second, apart], &[], &pieces) };
        let staging = staging.expect("memory");
        let [a, b, c] = [first, second, apart].map(|it| staging.copy_of(it).expect("a copy"));
        assert_eq!(b, a + 4, "they share a copy");
        assert_eq!(staging.copy_of(part(whole, 12, 4)), None);
        // What a device would write.
        let write = |address: usize, value: u8| {
            // SAFETY: an address of a copy.
            unsafe { std::ptr::with_exposed_provenance_mut::<u8>(address).write(value) };
        };
        write(a + 5, 200);
        write(c, 201);
        // SAFETY: as above. What the host writes meanwhile, beside what the device writes, stays.
        unsafe {
            whole.address.add(1).write(99);
            staging.copy_back();
        }
        let mut expected: Vec<u8> = (0..32).collect();
        (expected[1], expected[5], expected[20]) = (99, 200, 201);
        assert_eq!(memory, expected);
    }

    #[test]
    fn a_copy_of_what_is_used_where_it_lies_is_refused() {
        let pieces = Pieces::new(Heap::default(), 1 << 12);
        let mut memory = vec![0; 16];
        let whole = span(&mut memory);
        let (outside, direct) = (part(whole, 0, 8), part(whole, 7, 2));
        // SAFETY: the memory is there, and nothing else uses it.
        let refused = unsafe { Staging::copied(&[outside], &[direct], &pieces) };
        assert!(matches!(refused, Err(StagingError::Overlap(span)) if span == direct));
        // SAFETY: as above.
        let apart = unsafe { Staging::copied(&[outside], &[part(whole, 8, 2)], &pieces) };
        assert!(apart.is_ok());
    }
}
