//! The container of a module: where its FlatBuffer and its external rodata are in the file.
//!
//! ```text
//! [zip local header]      only if the file starts with "PK\3\4"; skipped by its own lengths
//! u32 size prefix L       four bytes, little-endian
//! L bytes                 the FlatBuffer: root offset, "IREE", tables
//! padding                 to a multiple of 64 of the *file*
//! external rodata         offsets in the FlatBuffer count from here
//! ```
//!
//! Source of the rule: IREE's `vm/bytecode/archive.c`. A polyglot zip ends with a central
//! directory, which need not be read.

use std::hash::Hasher;
use std::ops::Range;
use std::path::Path;

use twox_hash::XxHash3_64;

use crate::file::{FileBytes, ZIP_LOCAL_HEADER};
use crate::load_error::LoadError;

/// Where things are in the file, as byte ranges of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The FlatBuffer with its size prefix.
    pub flatbuffer: Range<usize>,
    /// The start of external rodata offsets.
    pub rodata_base: usize,
}

const ZIP_LOCAL_HEADER_LENGTH: usize = 30;
const FILE_IDENTIFIER: &[u8] = b"IREE";
/// Size prefix, root offset, identifier and one table offset: nothing smaller is a module.
const MINIMUM_FLATBUFFER: usize = 16;

/// The bytes at the end of an archive that identify it: the checksums of its members are there.
const DIRECTORY: usize = 64 << 10;

/// Opens the file of a module; its FlatBuffer is in memory.
///
/// # Errors
/// The file cannot be read, or is none.
pub fn open(path: &Path) -> Result<FileBytes, LoadError> {
    FileBytes::open_with_head(path, flatbuffer_end)
}

/// The xxh3 digest that identifies a module: for an archive, of its FlatBuffer and its end, where
/// the checksums of the rest are; otherwise of all bytes. `None` if they cannot be read.
#[must_use]
pub fn digest(bytes: &FileBytes) -> Option<u64> {
    let mut digest = XxHash3_64::new();
    let length = bytes.len();
    if bytes.owned().starts_with(ZIP_LOCAL_HEADER) {
        let head = flatbuffer_end(bytes.owned()).min(length);
        bytes.for_each_chunk(0..head, |chunk| digest.write(chunk))?;
        let tail = length.saturating_sub(DIRECTORY);
        bytes.for_each_chunk(tail..length, |chunk| digest.write(chunk))?;
    } else {
        bytes.for_each_chunk(0..length, |chunk| digest.write(chunk))?;
    }
    Some(digest.finish())
}

/// The end of the FlatBuffer in a file that begins with these bytes. A file that is not a module
/// needs no more than its first bytes.
pub(crate) fn flatbuffer_end(start: &[u8]) -> usize {
    let at = zip_member_start_if_any(start).unwrap_or(0);
    match start.get(at..).and_then(|rest| rest.first_chunk::<MINIMUM_FLATBUFFER>()) {
        Some(first) if &first[8..12] == FILE_IDENTIFIER => at + 4 + prefixed_length(first),
        _ => at + MINIMUM_FLATBUFFER,
    }
}

/// The length in a FlatBuffer's size prefix.
fn prefixed_length(first: &[u8; MINIMUM_FLATBUFFER]) -> usize {
    u32::from_le_bytes([first[0], first[1], first[2], first[3]]) as usize
}

/// Finds the FlatBuffer and the start of the external rodata in a file of `file_length` bytes that
/// begins with `bytes`.
///
/// # Errors
/// The bytes do not hold a whole module FlatBuffer.
pub fn layout(bytes: &[u8], file_length: usize) -> Result<Layout, LoadError> {
    let start = zip_member_start_if_any(bytes)?;
    let rest = &bytes[start..];
    let Some(first) = rest.first_chunk::<MINIMUM_FLATBUFFER>() else {
        if bytes.is_empty() {
            return Err(LoadError::Empty);
        }
        let reason = format!("{} bytes are too few for a module", rest.len());
        return Err(LoadError::NotAModule { offset: start, reason });
    };
    if &first[8..12] != FILE_IDENTIFIER {
        return Err(LoadError::NotAModule {
            offset: start + 8,
            reason: format!(
                "the file identifier is {:?}, not \"IREE\"",
                String::from_utf8_lossy(&first[8..12])
            ),
        });
    }
    let length = prefixed_length(first);
    if length > rest.len() - 4 {
        return Err(LoadError::Truncated {
            offset: start,
            needed: start as u64 + 4 + length as u64,
            available: file_length as u64,
        });
    }
    let end = start + 4 + length;
    Ok(Layout { flatbuffer: start..end, rodata_base: end.next_multiple_of(64) })
}

/// Where the FlatBuffer starts.
fn zip_member_start_if_any(bytes: &[u8]) -> Result<usize, LoadError> {
    if bytes.starts_with(ZIP_LOCAL_HEADER) { zip_member_start(bytes) } else { Ok(0) }
}

/// The first byte after the header of a zip's first member.
fn zip_member_start(bytes: &[u8]) -> Result<usize, LoadError> {
    let header = bytes.get(..ZIP_LOCAL_HEADER_LENGTH).ok_or_else(|| LoadError::NotAModule {
        offset: 0,
        reason: "the zip header is cut short".to_owned(),
    })?;
    let length_at = |at: usize| usize::from(u16::from_le_bytes([header[at], header[at + 1]]));
    let start = ZIP_LOCAL_HEADER_LENGTH + length_at(26) + length_at(28);
    if start > bytes.len() {
        return Err(LoadError::Truncated {
            offset: 0,
            needed: start as u64,
            available: bytes.len() as u64,
        });
    }
    Ok(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module_bytes(length: u32, total: usize) -> Vec<u8> {
        let mut bytes = vec![0; total];
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        bytes[8..12].copy_from_slice(FILE_IDENTIFIER);
        bytes
    }

    #[test]
    fn a_bare_flatbuffer() {
        let layout = layout(&module_bytes(60, 100), 100).unwrap();
        assert_eq!(layout, Layout { flatbuffer: 0..64, rodata_base: 64 });
    }

    #[test]
    fn behind_a_zip_header_offsets_count_in_the_file() {
        let mut bytes = b"PK\x03\x04".to_vec();
        bytes.resize(26, 0);
        bytes.extend([9, 0, 25, 0]);
        bytes.resize(64, b'x');
        bytes.extend(module_bytes(20, 40));
        assert_eq!(flatbuffer_end(&bytes), 88);
        let layout = layout(&bytes, bytes.len()).unwrap();
        assert_eq!(layout, Layout { flatbuffer: 64..88, rodata_base: 128 });
    }

    #[test]
    fn a_length_beyond_the_file_is_refused() {
        let error = layout(&module_bytes(u32::MAX, 100), 100).unwrap_err();
        assert!(matches!(error, LoadError::Truncated { needed: 4_294_967_299, .. }), "{error}");
    }

    #[test]
    fn other_files_are_told_apart() {
        let error = layout(b"", 0).unwrap_err();
        assert!(error.to_string().starts_with("the file is empty: "), "{error}");
        for bytes in [&b"IREE"[..], b"PK\x03\x04", b"\x7fELF............................"] {
            assert!(matches!(layout(bytes, bytes.len()), Err(LoadError::NotAModule { .. })));
            assert!(flatbuffer_end(bytes) < 64);
        }
    }
}
