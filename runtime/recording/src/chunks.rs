//! The form of the file: a header, then chunks with checksums.
//!
//! ```text
//! header   "IREEDBGR"  version u32  0 u32
//! chunk    tag [u8; 4]  checksum u32  length u64  payload
//! ```
//! Numbers are little-endian. The checksum (CRC-32) is of tag, length and payload.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

const MAGIC: &[u8; 8] = b"IREEDBGR";

/// The version that is written and read.
pub(crate) const VERSION: u32 = 1;

/// Bytes of the header.
pub(crate) const HEADER: u64 = 16;

/// Bytes of a chunk before its payload.
const CHUNK_HEADER: u64 = 16;

/// How much is read at a time.
const PIECE: usize = 1 << 20;

/// What a chunk is.
pub(crate) type Tag = [u8; 4];

/// Whether a file is a recording, by its first bytes.
#[must_use]
pub fn is_recording(path: &Path) -> bool {
    let mut begin = [0; MAGIC.len()];
    // A pipe would wait for its writer.
    if !path.is_file() {
        return false;
    }
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
    let mut hasher = hasher(tag, length);
    payload.iter().for_each(|piece| hasher.update(piece));
    hasher.finalize()
}

/// What makes the checksum of a chunk, before its payload.
fn hasher(tag: Tag, length: u64) -> crc32fast::Hasher {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&tag);
    hasher.update(&length.to_le_bytes());
    hasher
}

/// The version of a file that begins so, if it is a recording.
pub(crate) fn version_of(bytes: &[u8]) -> Option<u32> {
    let rest = bytes.strip_prefix(MAGIC)?;
    Some(u32::from_le_bytes(*rest.first_chunk()?))
}

/// A chunk of a file, with its place. Its payload is not kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Chunk {
    /// A whole one.
    Whole { tag: Tag, offset: u64, payload: Range<u64> },
    /// The file ends in it.
    CutShort,
    /// Its checksum is another.
    Damaged { offset: u64 },
}

/// The chunks of a file of this length, up to its end or the first one that is not whole. All
/// bytes are read once, a piece at a time.
pub(crate) fn index(
    file: &mut (impl Read + Seek),
    length: u64,
) -> impl Iterator<Item = io::Result<Chunk>> {
    let mut next = Some(HEADER.min(length));
    std::iter::from_fn(move || {
        let offset = next.take().filter(|offset| *offset < length)?;
        let chunk = chunk_at(file, offset, length);
        if let Ok(Chunk::Whole { payload, .. }) = &chunk {
            next = Some(payload.end);
        }
        Some(chunk)
    })
}

fn chunk_at(file: &mut (impl Read + Seek), offset: u64, length: u64) -> io::Result<Chunk> {
    let begin = offset + CHUNK_HEADER;
    if begin > length {
        return Ok(Chunk::CutShort);
    }
    // Chunks follow each other, so a buffered reader keeps what it has.
    let mut header = [0; CHUNK_HEADER as usize];
    if offset == HEADER {
        file.seek(SeekFrom::Start(offset))?;
    }
    file.read_exact(&mut header)?;
    let [a, b, c, d, rest @ ..] = header;
    let [e, f, g, h, size @ ..] = rest;
    let (tag, stored) = ([a, b, c, d], u32::from_le_bytes([e, f, g, h]));
    let size = u64::from_le_bytes(size);
    let end = begin.checked_add(size).filter(|end| *end <= length);
    let Some(end) = end else { return Ok(Chunk::CutShort) };
    let mut hasher = hasher(tag, size);
    let mut left = size;
    let mut piece = vec![0; PIECE.min(usize::try_from(size).unwrap_or(PIECE))];
    while left > 0 {
        let count = PIECE.min(usize::try_from(left).unwrap_or(PIECE));
        file.read_exact(&mut piece[..count])?;
        hasher.update(&piece[..count]);
        left -= count as u64;
    }
    if hasher.finalize() != stored {
        return Ok(Chunk::Damaged { offset });
    }
    Ok(Chunk::Whole { tag, offset, payload: begin..end })
}

/// The bytes of a range that was found in the file.
pub(crate) fn read(file: &mut (impl Read + Seek), range: Range<u64>) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(range.start))?;
    let length = usize::try_from(range.end.saturating_sub(range.start));
    let mut bytes = vec![0; length.map_err(io::Error::other)?];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
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

    fn found(file: &[u8]) -> Vec<Chunk> {
        let mut reader = io::Cursor::new(file);
        index(&mut reader, file.len() as u64).collect::<Result<_, _>>().expect("memory")
    }

    #[test]
    fn chunks_are_read_as_they_were_written() {
        let file = file();
        assert_eq!(version_of(&file), Some(VERSION));
        let expected = [
            Chunk::Whole { tag: *b"ONE ", offset: 16, payload: 32..35 },
            Chunk::Whole { tag: *b"TWO ", offset: 35, payload: 51..51 },
        ];
        assert_eq!(found(&file), expected);
        let payload = read(&mut io::Cursor::new(&file), 32..35).expect("memory");
        assert_eq!(payload, b"abc");
    }

    #[test]
    fn a_file_that_ends_early_is_cut_short_and_changed_bytes_are_damage() {
        let whole = file();
        let header = usize::try_from(HEADER).expect("small");
        for length in header..whole.len() {
            let is_between = length == header || length == header + 19;
            let found = found(&whole[..length]);
            assert_eq!(found.last() == Some(&Chunk::CutShort), !is_between, "{length}");
        }
        // The length is at bytes 8 to 16 of a chunk: a greater one is past the end of the file.
        for (index, bit) in
            (header..whole.len()).flat_map(|index| (0..8).map(move |bit| (index, bit)))
        {
            let mut changed = whole.clone();
            changed[index] ^= 1 << bit;
            let is_whole = |chunk: Chunk| matches!(chunk, Chunk::Whole { .. });
            assert!(!found(&changed).into_iter().all(is_whole), "byte {index}, bit {bit}");
        }
    }
}
