//! The form of the file: a header, then chunks with checksums.
//!
//! ```text
//! header   "IREEDBGR"  version u32  0 u32
//! chunk    tag [u8; 4]  checksum u32  length u64  payload
//! ```
//! Numbers are little-endian. The checksum (CRC-32) is of tag, length and payload.

use std::io::{self, Read, Write};
use std::path::Path;

const MAGIC: &[u8; 8] = b"IREEDBGR";

/// The version that is written and read.
pub(crate) const VERSION: u32 = 1;

/// Bytes of the header.
pub(crate) const HEADER: usize = 16;

/// Bytes of a chunk before its payload.
const CHUNK_HEADER: usize = 16;

/// What a chunk is.
pub(crate) type Tag = [u8; 4];

/// Whether a file is a recording, by its first bytes.
#[must_use]
pub fn is_recording(path: &Path) -> bool {
    let mut begin = [0; MAGIC.len()];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == *MAGIC
}

pub(crate) fn write_header(out: &mut impl Write) -> io::Result<()> {
    out.write_all(MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    out.write_all(&[0; 4])
}

/// Writes a chunk whose payload is in several pieces.
pub(crate) fn write_chunk(out: &mut impl Write, tag: Tag, payload: &[&[u8]]) -> io::Result<()> {
    let length: u64 = payload.iter().map(|piece| piece.len() as u64).sum();
    out.write_all(&tag)?;
    out.write_all(&checksum(tag, length, payload).to_le_bytes())?;
    out.write_all(&length.to_le_bytes())?;
    payload.iter().try_for_each(|piece| out.write_all(piece))
}

fn checksum(tag: Tag, length: u64, payload: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&tag);
    hasher.update(&length.to_le_bytes());
    payload.iter().for_each(|piece| hasher.update(piece));
    hasher.finalize()
}

/// The version of a file that begins so, if it is a recording.
pub(crate) fn version_of(bytes: &[u8]) -> Option<u32> {
    let rest = bytes.strip_prefix(MAGIC)?;
    Some(u32::from_le_bytes(*rest.first_chunk()?))
}

/// A chunk of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chunk<'a> {
    /// A whole one.
    Whole { tag: Tag, offset: usize, payload: &'a [u8] },
    /// The file ends in it.
    CutShort,
    /// Its checksum is another.
    Damaged { offset: usize },
}

/// The chunks of a file, up to its end or the first one that is not whole.
pub(crate) fn chunks(bytes: &[u8]) -> impl Iterator<Item = Chunk<'_>> {
    let mut next = Some(HEADER.min(bytes.len()));
    std::iter::from_fn(move || {
        let offset = next.take()?;
        if offset == bytes.len() {
            return None;
        }
        let Some((header, rest)) = bytes[offset..].split_at_checked(CHUNK_HEADER) else {
            return Some(Chunk::CutShort);
        };
        let tag = [header[0], header[1], header[2], header[3]];
        let stored = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
        let length = header.last_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let payload = usize::try_from(length).ok().and_then(|length| rest.get(..length));
        let Some(payload) = payload else { return Some(Chunk::CutShort) };
        if checksum(tag, length, &[payload]) != stored {
            return Some(Chunk::Damaged { offset });
        }
        next = Some(offset + CHUNK_HEADER + payload.len());
        Some(Chunk::Whole { tag, offset, payload })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Vec<u8> {
        let mut file = Vec::new();
        write_header(&mut file).expect("memory");
        write_chunk(&mut file, *b"ONE ", &[b"ab", b"c"]).expect("memory");
        write_chunk(&mut file, *b"TWO ", &[]).expect("memory");
        file
    }

    #[test]
    fn chunks_are_read_as_they_were_written() {
        let file = file();
        assert_eq!(version_of(&file), Some(VERSION));
        let expected = [
            Chunk::Whole { tag: *b"ONE ", offset: HEADER, payload: b"abc" },
            Chunk::Whole { tag: *b"TWO ", offset: HEADER + 19, payload: b"" },
        ];
        assert_eq!(chunks(&file).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_file_that_ends_early_is_cut_short_and_changed_bytes_are_damage() {
        let whole = file();
        for length in HEADER..whole.len() {
            let found: Vec<_> = chunks(&whole[..length]).collect();
            let is_between = length == HEADER || length == HEADER + 19;
            assert_eq!(found.last() == Some(&Chunk::CutShort), !is_between, "{length}");
        }
        // The length is at bytes 8 to 16 of a chunk: a greater one is past the end of the file.
        for (index, bit) in
            (HEADER..whole.len()).flat_map(|index| (0..8).map(move |bit| (index, bit)))
        {
            let mut changed = whole.clone();
            changed[index] ^= 1 << bit;
            let is_whole = |chunk: Chunk<'_>| matches!(chunk, Chunk::Whole { .. });
            assert!(!chunks(&changed).all(is_whole), "byte {index}, bit {bit}");
        }
    }
}
