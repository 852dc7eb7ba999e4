//! The bytes of a file, which may change on disk while they are held.
//!
//! ```text
//! small file    owned: read once, whole
//! large file    owned: its head (tables, code), read once; mapped: all of it, for constants
//! ```
//!
//! Owned bytes never change. Mapped bytes are reached in two ways only: [`FileBytes::get`] copies
//! them with a read of the file, which fails if the file no longer has them, and
//! [`FileBytes::address`] gives their address to guest memory, which may change at any time (see
//! `mapping`). [`FileBytes::change`] tells whether the file on disk is still the same.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use super::mapping::{FileMapping, PrivateMapping};
use crate::load_error::LoadError;

/// Files up to this size are read whole. Reading so much takes some ten milliseconds.
const READ_WHOLE: u64 = 32 << 20;

/// The owned beginning of a large file of unknown format, in bytes.
const HEAD: usize = 4 << 20;

/// The owned end of a large file, in bytes: an archive has the checksums of its members there.
const TAIL: usize = 64 << 10;

/// How archives begin.
pub(crate) const ZIP_LOCAL_HEADER: &[u8] = b"PK\x03\x04";

/// The bytes that are read to find the length of the head.
const START: usize = 256 << 10;

/// How much is read at a time where nothing is kept.
const CHUNK: usize = 1 << 20;

/// How often a file is read again if it is written during the read.
const ATTEMPTS: usize = 3;

/// The shared bytes of a file. The owned ones never change.
#[derive(Clone)]
pub struct FileBytes(Arc<Storage>);

struct Storage {
    /// All bytes, or the first of them.
    owned: Vec<u8>,
    length: usize,
    /// All bytes, where not all are owned.
    mapped: Option<Mapped>,
    origin: Option<SourceFile>,
}

struct Mapped {
    mapping: FileMapping,
    file: File,
    /// The file's identity, time and size when it was opened.
    stamp: Stamp,
    /// The last bytes of the file, as they were when it was opened.
    tail: Vec<u8>,
}

/// The file that the bytes come from.
struct SourceFile {
    path: PathBuf,
    /// The stamp with which the file was last found to have these bytes.
    stamp: Mutex<Stamp>,
}

/// The identity, time and size of a file. While they stay the same, the file is taken to be the
/// same.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Stamp {
    identity: (u64, u64),
    modified: Option<std::time::SystemTime>,
    length: u64,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let identity = (0, 0);
        Self { identity, modified: metadata.modified().ok(), length: metadata.len() }
    }
}

/// What has happened to a file since it was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileChange {
    /// It has the same bytes, as far as is known.
    Unchanged,
    /// It has other bytes.
    Changed,
    /// It no longer exists, or cannot be read.
    Gone,
}

impl FileBytes {
    /// Opens the file at `path`. Of a large one only the beginning is read.
    ///
    /// # Errors
    /// The file cannot be read, or is none.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        Self::open_with_head(path, |_| HEAD)
    }

    /// Opens the file at `path`. Of a large file, `head` decides from its first bytes how many are
    /// read.
    pub(crate) fn open_with_head(
        path: &Path,
        head: impl Fn(&[u8]) -> usize,
    ) -> Result<Self, LoadError> {
        Self::open_up_to(path, READ_WHOLE, head)
    }

    /// Reads the whole file at `path`, however large.
    ///
    /// # Errors
    /// The file cannot be read, or is none.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        Self::open_up_to(path, u64::MAX, |_| HEAD)
    }

    fn open_up_to(
        path: &Path,
        read_whole: u64,
        head: impl Fn(&[u8]) -> usize,
    ) -> Result<Self, LoadError> {
        let io = |source| LoadError::Io { path: PathBuf::from(path), source };
        for _ in 0..ATTEMPTS {
            if let Some(read) = Storage::read(path, read_whole, &head).map_err(io)? {
                return Ok(Self(Arc::new(read)));
            }
        }
        Err(io(io::Error::other("it is being written; try again when that is done")))
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.length
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes that are owned: the first ones, or all.
    #[must_use]
    pub fn owned(&self) -> &[u8] {
        &self.0.owned
    }

    /// The bytes that are owned, without a copy if nothing else holds them.
    #[must_use]
    pub fn into_owned(self) -> Vec<u8> {
        Arc::try_unwrap(self.0).map_or_else(|shared| shared.owned.clone(), |it| it.owned)
    }

    /// The bytes of a range, copied if they are not owned; `None` if they do not exist, or no
    /// longer.
    #[must_use]
    pub fn get(&self, range: Range<usize>) -> Option<Cow<'_, [u8]>> {
        if let Some(owned) = self.0.owned.get(range.clone()) {
            return Some(Cow::Borrowed(owned));
        }
        let mapped = self.0.mapped.as_ref()?;
        let length = self.checked(&range)?;
        let mut bytes = vec![0; length];
        read_exact_at(&mapped.file, &mut bytes, range.start as u64).ok()?;
        Some(Cow::Owned(bytes))
    }

    /// Passes the bytes of a range to `visit` in chunks; `None` as for [`Self::get`].
    pub(crate) fn for_each_chunk(
        &self,
        range: Range<usize>,
        mut visit: impl FnMut(&[u8]),
    ) -> Option<()> {
        self.checked(&range)?;
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start + CHUNK);
            visit(&self.get(start..end)?);
            start = end;
        }
        Some(())
    }

    /// The address of a range; `None` if it is out of range. The bytes stay there while this lives.
    /// They may be read while nothing else writes them, and mapped bytes may change at any time.
    #[must_use]
    pub fn address(&self, range: Range<usize>) -> Option<NonNull<u8>> {
        if let Some(owned) = self.0.owned.get(range.clone()) {
            return Some(NonNull::from(owned).cast());
        }
        self.checked(&range)?;
        let address = self.0.mapped.as_ref()?.mapping.address();
        NonNull::new(address.wrapping_add(range.start).cast_mut())
    }

    /// A second, writable mapping of a range; `None` if the bytes are not mapped, or the range is
    /// empty or out of range.
    #[must_use]
    pub fn map_private(&self, range: Range<usize>) -> Option<PrivateMapping> {
        let mapped = self.0.mapped.as_ref()?;
        if range.start < self.0.owned.len() {
            return None;
        }
        let length = self.checked(&range).filter(|length| *length > 0)?;
        PrivateMapping::of_file(&mapped.file, range.start, length)
    }

    /// The length of a range, if it is within the bytes.
    fn checked(&self, range: &Range<usize>) -> Option<usize> {
        (range.end <= self.len()).then(|| range.end.checked_sub(range.start)).flatten()
    }

    /// Where the bytes were read from, if from a file.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.0.origin.as_ref().map(|origin| origin.path.as_path())
    }

    /// Whether some of the bytes are only mapped, so that they change with the file.
    #[cfg(test)]
    fn is_mapped(&self) -> bool {
        self.0.mapped.is_some()
    }

    /// Whether the mapped file is as it was when it was opened: true if another file has taken its
    /// name, false if this one was written.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.0.mapped.as_ref().is_none_or(|mapped| {
            let now = mapped.file.metadata().map(|metadata| Stamp::of(&metadata));
            now.is_ok_and(|now| now == mapped.stamp)
        })
    }

    /// Whether the file at the path has changed. While its time, size and identity are the ones
    /// that it was read with, its content is not examined. Otherwise the owned bytes are compared,
    /// so a file that was only touched is unchanged. The rest of a mapped file cannot be compared,
    /// so one that is not an archive with checksums counts as changed.
    #[must_use]
    pub fn change(&self) -> FileChange {
        let Some(origin) = &self.0.origin else { return FileChange::Unchanged };
        let Ok(metadata) = std::fs::metadata(&origin.path) else { return FileChange::Gone };
        let now = Stamp::of(&metadata);
        let mut stamp = origin.stamp.lock().unwrap_or_else(PoisonError::into_inner);
        if *stamp == now {
            return FileChange::Unchanged;
        }
        match self.has_bytes_of(&origin.path, &metadata) {
            Ok(true) => {
                *stamp = now;
                FileChange::Unchanged
            }
            Ok(false) => FileChange::Changed,
            Err(_) => FileChange::Gone,
        }
    }

    /// Whether a file has these bytes, as far as they are owned.
    fn has_bytes_of(&self, path: &Path, metadata: &Metadata) -> io::Result<bool> {
        if !metadata.is_file() || metadata.len() != self.len() as u64 {
            return Ok(false);
        }
        let file = File::open(path)?;
        let owned = self.owned();
        let Some(mapped) = &self.0.mapped else { return has_bytes(&file, 0, owned) };
        let is_archive = owned.starts_with(ZIP_LOCAL_HEADER);
        let tail_start = self.len() - mapped.tail.len();
        Ok(is_archive
            && has_bytes(&file, 0, owned)?
            && has_bytes(&file, tail_start as u64, &mapped.tail)?)
    }
}

/// Whether a file has these bytes at an offset.
fn has_bytes(file: &File, offset: u64, bytes: &[u8]) -> io::Result<bool> {
    let mut chunk = vec![0; CHUNK.min(bytes.len())];
    let mut at = offset;
    for expected in bytes.chunks(CHUNK) {
        let found = &mut chunk[..expected.len()];
        match read_exact_at(file, found, at) {
            Ok(()) if found == expected => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
        at += expected.len() as u64;
    }
    Ok(true)
}

impl Storage {
    /// Reads a file; `None` if it was written during the read.
    fn read(
        path: &Path,
        read_whole: u64,
        head: &impl Fn(&[u8]) -> usize,
    ) -> io::Result<Option<Self>> {
        let file = open_regular(path)?;
        let before = Stamp::of(&file.metadata()?);
        let length = usize::try_from(before.length).map_err(io::Error::other)?;
        let mapped =
            if before.length <= read_whole { None } else { FileMapping::new(&file, length) };
        let head = match &mapped {
            None => length,
            Some(_) => head(&read_at(&file, 0, START.min(length))?).min(length),
        };
        let owned = read_at(&file, 0, head)?;
        let tail = match &mapped {
            None => Vec::new(),
            Some(_) => {
                let kept = TAIL.min(length);
                read_at(&file, (length - kept) as u64, kept)?
            }
        };
        let is_whole = owned.len() == head && Stamp::of(&file.metadata()?) == before;
        if !is_whole {
            return Ok(None);
        }
        let mapped = mapped.map(|mapping| Mapped { mapping, file, stamp: before.clone(), tail });
        let origin = Some(SourceFile { path: path.to_owned(), stamp: Mutex::new(before) });
        Ok(Some(Self { owned, length, mapped, origin }))
    }
}

/// Opens a file that is no device, pipe or folder. One that is not is not even opened: a pipe would
/// wait for its writer.
fn open_regular(path: &Path) -> io::Result<File> {
    let not_regular = || io::Error::other("not a regular file");
    if !std::fs::metadata(path)?.is_file() {
        return Err(not_regular());
    }
    let file = File::open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

/// Up to `length` bytes of a file, as many as exist.
fn read_at(file: &File, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    use std::io::{Seek, SeekFrom};
    let mut file = file;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::with_capacity(length);
    file.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, bytes, offset)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes = &mut bytes[read..];
        offset += read as u64;
    }
    Ok(())
}

impl From<Vec<u8>> for FileBytes {
    fn from(owned: Vec<u8>) -> Self {
        let length = owned.len();
        Self(Arc::new(Storage { owned, length, mapped: None, origin: None }))
    }
}

impl std::fmt::Debug for FileBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FileBytes({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: usize = READ_WHOLE as usize + 3 * (1 << 20);

    fn written(name: &str, length: usize) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let bytes: Vec<u8> = (0..length).map(|at| (at / 7) as u8).collect();
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    fn write_at(path: &Path, offset: u64, bytes: &[u8]) {
        use std::io::{Seek, SeekFrom, Write};
        let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        file.seek(SeekFrom::Start(offset)).unwrap();
        file.write_all(bytes).unwrap();
    }

    fn age(path: &Path) {
        let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
    }

    #[test]
    fn what_is_owned_stays_whatever_becomes_of_the_file() {
        let (_folder, path) = written("small", 10_000);
        let bytes = FileBytes::open(&path).unwrap();
        let before = bytes.owned().to_vec();
        write_at(&path, 0, &[9; 10_000]);
        assert_eq!((bytes.owned(), bytes.change()), (&before[..], FileChange::Changed));
        std::fs::write(&path, b"").unwrap();
        assert_eq!((bytes.owned(), bytes.change()), (&before[..], FileChange::Changed));
        std::fs::remove_file(&path).unwrap();
        assert_eq!((bytes.owned(), bytes.change()), (&before[..], FileChange::Gone));
        assert_eq!(bytes.get(9_999..10_000).unwrap()[0], (9_999 / 7) as u8);
        assert!(bytes.get(9_999..10_001).is_none());
    }

    #[test]
    fn a_file_that_was_only_touched_is_the_same() {
        let (folder, path) = written("small", 1000);
        let bytes = FileBytes::open(&path).unwrap();
        age(&path);
        assert_eq!(bytes.change(), FileChange::Unchanged);
        let copy = folder.path().join("copy");
        std::fs::copy(&path, &copy).unwrap();
        std::fs::rename(&copy, &path).unwrap();
        assert_eq!((bytes.change(), bytes.is_intact()), (FileChange::Unchanged, true));
        write_at(&path, 999, b"!");
        assert_eq!(bytes.change(), FileChange::Changed);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no mappings")]
    fn a_large_file_that_is_cut_short_reads_as_zeros() {
        let (_folder, path) = written("large", LARGE);
        let bytes = FileBytes::open(&path).unwrap();
        assert!(bytes.is_mapped());
        let at = LARGE - 5;
        let last = bytes.address(at..at + 1).unwrap();
        let mut private = bytes.map_private(at..LARGE).unwrap();
        // SAFETY: the address is in the mapping that `bytes` and `private` keep.
        let read = |address: *const u8| unsafe { address.read_volatile() };
        assert_eq!(read(last.as_ptr()), (at / 7) as u8);
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(5000).unwrap();
        assert_eq!((read(last.as_ptr()), read(private.address())), (0, 0));
        // SAFETY: as above, and the private mapping is writable.
        unsafe { private.address().write_volatile(7) };
        assert_eq!(read(private.address()), 7);
        assert!(bytes.get(at..LARGE).is_none());
        assert_eq!(bytes.get(100..101).unwrap()[0], 14, "the head is owned");
        assert_eq!((bytes.change(), bytes.is_intact()), (FileChange::Changed, false));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri knows no mappings")]
    fn large_archives_are_told_apart_by_their_ends() {
        let (_folder, path) = written("large", LARGE);
        write_at(&path, 0, ZIP_LOCAL_HEADER);
        let bytes = FileBytes::open_with_head(&path, |start| start.len() / 2).unwrap();
        assert_eq!(bytes.owned().len(), START / 2);
        age(&path);
        assert_eq!(bytes.change(), FileChange::Unchanged);
        write_at(&path, LARGE as u64 - 1, b"!");
        assert_eq!(bytes.change(), FileChange::Changed);
    }

    #[test]
    fn only_regular_files_are_read() {
        for path in ["/dev/zero", "/"] {
            let error = FileBytes::open(Path::new(path)).unwrap_err().to_string();
            assert!(error.contains("not a regular file"), "{error}");
        }
    }
}
