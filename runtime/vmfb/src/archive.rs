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
//! directory, which nobody needs to read. Files are memory-mapped: what is not touched is not read.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::LoadError;

/// The bytes of a file: mapped or owned, shared and immutable.
#[derive(Clone)]
pub struct FileBytes(Arc<Storage>);

enum Storage {
    Mapped { map: memmap2::Mmap, file: File },
    Owned(Vec<u8>),
}

/// A part of a file as memory of our own: what is written to it stays here, and only pages that are
/// written are copied. Or memory of no file.
pub struct PrivateMapping(memmap2::MmapMut);

impl PrivateMapping {
    /// Zeroed memory of no file, in large pages where the system has them.
    #[must_use]
    pub fn anonymous(length: usize) -> Option<Self> {
        let map = memmap2::MmapMut::map_anon(length).ok()?;
        // Small pages do as well.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Some(Self(map))
    }

    /// Where it starts. It stays there while the mapping lives.
    pub fn address(&mut self) -> *mut u8 {
        self.0.as_mut_ptr()
    }

    /// How many bytes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FileBytes {
    /// Maps the file at `path`.
    ///
    /// # Errors
    /// The file cannot be opened or mapped.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let io = |source| LoadError::Io { path: PathBuf::from(path), source };
        let file = File::open(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        if !metadata.is_file() {
            return Err(io(std::io::Error::other("not a regular file")));
        }
        if metadata.len() == 0 {
            return Ok(Self::from(Vec::new()));
        }
        let map = mapping::map(&file).map_err(io)?;
        Ok(Self(Arc::new(Storage::Mapped { map, file })))
    }

    /// A second mapping of a range, which may be written; `None` if the bytes are not mapped, or the
    /// range is empty or not there.
    #[must_use]
    pub fn map_private(&self, range: Range<usize>) -> Option<PrivateMapping> {
        let Storage::Mapped { map, file } = &*self.0 else { return None };
        let length = map.get(range.clone())?.len();
        mapping::map_private(file, range.start as u64, length).ok().map(PrivateMapping)
    }
}

impl From<Vec<u8>> for FileBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Storage::Owned(bytes)))
    }
}

impl std::ops::Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &*self.0 {
            Storage::Mapped { map, .. } => map,
            Storage::Owned(bytes) => bytes,
        }
    }
}

impl std::fmt::Debug for FileBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FileBytes({} bytes)", self.len())
    }
}

mod mapping {
    //! The unsafe calls of this crate outside the FlatBuffer accessors.

    use std::fs::File;

    /// Maps a part of a file for reading and private writing.
    pub(super) fn map_private(
        file: &File,
        offset: u64,
        length: usize,
    ) -> std::io::Result<memmap2::MmapMut> {
        // SAFETY: as below; and the mapping is not shared with anybody, what is written to it is
        // ours alone. No reference to its bytes is made.
        unsafe { memmap2::MmapOptions::new().offset(offset).len(length).map_copy(file) }
    }

    /// Maps a file for reading.
    pub(super) fn map(file: &File) -> std::io::Result<memmap2::Mmap> {
        // SAFETY: the mapping is private and read-only. Another process that truncates the file
        // while we run would make reads fault: the same contract that every tool which maps its
        // input (linkers, IREE's `--module_mode=mmap`) has with its user. Values read from the
        // mapping are never trusted twice: tables are copied out and checked on the copy, and
        // the FlatBuffer accessors are bounds-checked on use.
        unsafe { memmap2::Mmap::map(file) }
    }
}

/// Where things are in the file, as byte ranges of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The FlatBuffer with its size prefix.
    pub flatbuffer: Range<usize>,
    /// What external rodata offsets count from.
    pub rodata_base: usize,
}

const ZIP_LOCAL_HEADER: &[u8] = b"PK\x03\x04";
const ZIP_LOCAL_HEADER_LENGTH: usize = 30;
const FILE_IDENTIFIER: &[u8] = b"IREE";
/// Size prefix, root offset, identifier and one table offset: nothing smaller is a module.
const MINIMUM_FLATBUFFER: usize = 16;

/// Finds the FlatBuffer and the start of the external rodata.
///
/// # Errors
/// The bytes do not hold a whole module FlatBuffer.
pub fn layout(bytes: &[u8]) -> Result<Layout, LoadError> {
    let start = if bytes.starts_with(ZIP_LOCAL_HEADER) { zip_member_start(bytes)? } else { 0 };
    let rest = &bytes[start..];
    if rest.len() < MINIMUM_FLATBUFFER {
        return Err(LoadError::NotAModule {
            offset: start,
            reason: format!("{} bytes are too few for a module", rest.len()),
        });
    }
    if &rest[8..12] != FILE_IDENTIFIER {
        return Err(LoadError::NotAModule {
            offset: start + 8,
            reason: format!(
                "the file identifier is {:?}, not \"IREE\"",
                String::from_utf8_lossy(&rest[8..12])
            ),
        });
    }
    let length = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]) as usize;
    if length > rest.len() - 4 {
        return Err(LoadError::Truncated {
            offset: start,
            needed: start as u64 + 4 + length as u64,
            available: bytes.len() as u64,
        });
    }
    let end = start + 4 + length;
    Ok(Layout { flatbuffer: start..end, rodata_base: end.next_multiple_of(64) })
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
        let layout = layout(&module_bytes(60, 100)).unwrap();
        assert_eq!(layout, Layout { flatbuffer: 0..64, rodata_base: 64 });
    }

    #[test]
    fn behind_a_zip_header_offsets_count_in_the_file() {
        let mut bytes = b"PK\x03\x04".to_vec();
        bytes.resize(26, 0);
        bytes.extend([9, 0, 25, 0]);
        bytes.resize(64, b'x');
        bytes.extend(module_bytes(20, 40));
        assert_eq!(layout(&bytes).unwrap(), Layout { flatbuffer: 64..88, rodata_base: 128 });
    }

    #[test]
    fn a_length_beyond_the_file_is_refused() {
        let error = layout(&module_bytes(u32::MAX, 100)).unwrap_err();
        assert!(matches!(error, LoadError::Truncated { needed: 4_294_967_299, .. }), "{error}");
    }

    #[test]
    fn other_files_are_told_apart() {
        for bytes in [&b""[..], b"PK\x03\x04", b"\x7fELF............................"] {
            assert!(matches!(layout(bytes), Err(LoadError::NotAModule { .. })));
        }
    }
}
