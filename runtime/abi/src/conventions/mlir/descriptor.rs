//! Memref descriptors in memory, on little-endian 64-bit machines.
//!
//! ```text
//! rank N     0: allocated   8: aligned   16: offset   24: N sizes   24+8N: N strides
//!            (24 + 16 N bytes)
//! unranked   0: rank        8: address of a ranked descriptor
//!            (16 bytes)
//! ```
//!
//! Offset and strides count elements from `aligned`. `allocated` is the address to free.

/// The highest rank that is accepted. A rank in memory may be any word.
pub(crate) const HIGHEST_RANK: usize = 64;

/// A ranked descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// The address from the allocator.
    pub allocated: u64,
    /// The address from which elements are counted.
    pub aligned: u64,
    /// The position of the first element.
    pub offset: i64,
    /// Lengths, outermost first.
    pub sizes: Vec<i64>,
    /// The strides in elements, outermost first.
    pub strides: Vec<i64>,
}

/// Why bytes are no descriptor, or have no valid extent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptorError {
    /// Too few bytes.
    #[error("a descriptor of rank {rank} has {needed} bytes, here are {found}")]
    Truncated {
        /// The rank that was asked for.
        rank: usize,
        /// What it takes.
        needed: usize,
        /// What there is.
        found: usize,
    },
    /// A rank above 64.
    #[error("rank {0} is not believable; this is no unranked memref")]
    Rank(i64),
    /// A negative size.
    #[error("size {size} of dimension {dimension} is negative")]
    Size {
        /// Which.
        dimension: usize,
        /// What it is.
        size: i64,
    },
    /// The positions of elements overflow.
    #[error("the elements span more than the address space")]
    Overflow,
}

/// The size in bytes of a descriptor of this rank.
#[must_use]
pub const fn byte_count(rank: usize) -> usize {
    24 + 16 * rank
}

impl Descriptor {
    /// A dense array at an address.
    #[must_use]
    pub fn dense(address: u64, sizes: &[i64]) -> Self {
        let mut strides = vec![1_i64; sizes.len()];
        for index in (1..sizes.len()).rev() {
            strides[index - 1] = strides[index].saturating_mul(sizes[index].max(1));
        }
        Self { allocated: address, aligned: address, offset: 0, sizes: sizes.to_vec(), strides }
    }

    /// Reads a descriptor of a rank.
    ///
    /// # Errors
    /// There are too few bytes, the rank is above 64, or a size is negative.
    pub fn read(bytes: &[u8], rank: usize) -> Result<Self, DescriptorError> {
        if rank > HIGHEST_RANK {
            return Err(DescriptorError::Rank(rank as i64));
        }
        let needed = byte_count(rank);
        let bytes = bytes.get(..needed).ok_or(DescriptorError::Truncated {
            rank,
            needed,
            found: bytes.len(),
        })?;
        let words: Vec<i64> = bytes
            .chunks_exact(8)
            .map(|word| word.iter().rev().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte)))
            .map(u64::cast_signed)
            .collect();
        let sizes = words[3..3 + rank].to_vec();
        if let Some((dimension, &size)) = sizes.iter().enumerate().find(|(_, size)| **size < 0) {
            return Err(DescriptorError::Size { dimension, size });
        }
        Ok(Self {
            allocated: words[0].cast_unsigned(),
            aligned: words[1].cast_unsigned(),
            offset: words[2],
            sizes,
            strides: words[3 + rank..].to_vec(),
        })
    }

    /// Reads rank and address of an unranked descriptor.
    ///
    /// # Errors
    /// There are too few bytes, or the rank is above 64.
    pub fn read_unranked(bytes: &[u8]) -> Result<(usize, u64), DescriptorError> {
        let words = bytes.get(..16).ok_or(DescriptorError::Truncated {
            rank: 0,
            needed: 16,
            found: bytes.len(),
        })?;
        let word = |at: usize| {
            words[at..at + 8].iter().rev().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte))
        };
        let rank = word(0).cast_signed();
        match usize::try_from(rank) {
            Ok(believable @ 0..=HIGHEST_RANK) => Ok((believable, word(8))),
            _ => Err(DescriptorError::Rank(rank)),
        }
    }

    /// The descriptor as words.
    #[must_use]
    pub fn words(&self) -> Vec<u64> {
        let mut words = vec![self.allocated, self.aligned, self.offset.cast_unsigned()];
        words.extend(self.sizes.iter().chain(&self.strides).map(|word| word.cast_unsigned()));
        words
    }

    /// The number of elements.
    ///
    /// # Errors
    /// The number overflows.
    pub fn element_count(&self) -> Result<usize, DescriptorError> {
        let product = |count: usize, size: &i64| count.checked_mul(usize::try_from(*size).ok()?);
        self.sizes.iter().try_fold(1, product).ok_or(DescriptorError::Overflow)
    }

    /// The lowest and the highest element position, counted from `aligned`; `None` without
    /// elements.
    ///
    /// # Errors
    /// The positions of elements overflow.
    pub fn span(&self) -> Result<Option<(i64, i64)>, DescriptorError> {
        if self.sizes.contains(&0) {
            return Ok(None);
        }
        let (mut low, mut high) = (self.offset, self.offset);
        for (size, stride) in self.sizes.iter().zip(&self.strides) {
            let reach = (size - 1).checked_mul(*stride).ok_or(DescriptorError::Overflow)?;
            let end = if reach < 0 { &mut low } else { &mut high };
            *end = end.checked_add(reach).ok_or(DescriptorError::Overflow)?;
        }
        Ok(Some((low, high)))
    }

    /// The positions of the first `most` elements in row-major order.
    pub fn positions(&self, most: usize) -> impl Iterator<Item = i64> + '_ {
        let mut index = vec![0_i64; self.sizes.len()];
        let mut is_done = self.sizes.contains(&0);
        let positions = std::iter::from_fn(move || {
            if is_done {
                return None;
            }
            let steps = index.iter().zip(&self.strides);
            let position = steps
                .fold(self.offset, |sum, (i, stride)| sum.wrapping_add(i.wrapping_mul(*stride)));
            is_done = true;
            for (place, size) in index.iter_mut().zip(&self.sizes).rev() {
                *place += 1;
                if *place < *size {
                    is_done = false;
                    break;
                }
                *place = 0;
            }
            Some(position)
        });
        positions.take(most)
    }
}

#[cfg(test)]
mod tests {
    use super::{Descriptor, DescriptorError, byte_count};

    #[test]
    fn words_come_back() {
        let descriptor = Descriptor {
            allocated: 0x1000,
            aligned: 0x1040,
            offset: 5,
            sizes: vec![2, 3],
            strides: vec![-10, 2],
        };
        let bytes: Vec<u8> =
            descriptor.words().iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(bytes.len(), byte_count(2));
        assert_eq!(Descriptor::read(&bytes, 2), Ok(descriptor.clone()));
        assert_eq!(descriptor.positions(9).collect::<Vec<_>>(), [5, 7, 9, -5, -3, -1]);
        assert_eq!(descriptor.span(), Ok(Some((-5, 9))));
        assert_eq!(Descriptor::dense(0, &[2, 3, 4]).strides, [12, 4, 1]);
        assert_eq!(Descriptor::dense(0, &[]).positions(9).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(matches!(Descriptor::read(&[0; 24], 1), Err(DescriptorError::Truncated { .. })));
        assert_eq!(Descriptor::read_unranked(&[0xFF; 16]), Err(DescriptorError::Rank(-1)));
        let mut bytes = [0_u8; 40];
        bytes[24..32].copy_from_slice(&(-1_i64).to_le_bytes());
        assert!(matches!(Descriptor::read(&bytes, 1), Err(DescriptorError::Size { .. })));
        let huge = Descriptor { sizes: vec![i64::MAX; 2], ..Descriptor::dense(0, &[0, 0]) };
        assert_eq!(huge.element_count(), Err(DescriptorError::Overflow));
        assert_eq!(huge.span(), Err(DescriptorError::Overflow));
    }
}
