//! Byte vectors whose contents are aligned: the builder aligns a vector by its element type only,
//! and rodata is bytes that are read as wider elements.

use flatbuffers::{FlatBufferBuilder, Push, PushAlignment, Vector, WIPOffset};

/// Pushes nothing, at a multiple of 16.
struct Boundary;

impl Push for Boundary {
    type Output = Boundary;

    // SAFETY: it writes nothing, so it has no conditions.
    unsafe fn push(&self, _destination: &mut [u8], _written: usize) {}

    fn size() -> usize {
        0
    }

    fn alignment() -> PushAlignment {
        PushAlignment::new(16)
    }
}

/// A vector of bytes at a multiple of `alignment` (at most 16) in the finished buffer.
///
/// The buffer grows from its end, and its length is a multiple of the largest alignment requested.
/// So a position is aligned if its distance from the end is.
pub(super) fn aligned_bytes<'f>(
    builder: &mut FlatBufferBuilder<'f>,
    bytes: &[u8],
    alignment: usize,
) -> WIPOffset<Vector<'f, u8>> {
    debug_assert!(alignment.is_power_of_two() && alignment <= Boundary::alignment().value());
    builder.push(Boundary);
    let padding = bytes.len().next_multiple_of(alignment) - bytes.len();
    for _ in 0..padding {
        builder.push(0_u8);
    }
    builder.create_vector(bytes)
}
