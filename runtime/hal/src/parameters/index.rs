//! The parameters of a scope: names, lengths, and where the bytes are.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use vm::{Buffer, Status};
use vmfb::FileBytes;

use super::reader;

/// An archive from which entries come.
#[derive(Clone, Debug)]
pub struct Source {
    bytes: FileBytes,
    path: Arc<Path>,
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, Status> {
        let bytes = FileBytes::open(path).map_err(|error| Status::not_found(error.to_string()))?;
        Ok(Self { bytes, path: Arc::from(path) })
    }

    #[cfg(test)]
    pub(super) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes: FileBytes::from(bytes), path: Arc::from(Path::new("test")) }
    }

    /// The archive.
    #[must_use]
    pub fn bytes(&self) -> &FileBytes {
        &self.bytes
    }

    /// Where the archive is.
    #[must_use]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// A pattern that fills a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Splat {
    bytes: [u8; 16],
    length: u8,
}

impl Splat {
    /// A pattern of 1, 2, 4, 8 or 16 bytes; `None` if it has another length, or one that does not
    /// divide the parameter's.
    pub(super) fn new(pattern: &[u8], parameter_length: u64) -> Option<Self> {
        if !matches!(pattern.len(), 1 | 2 | 4 | 8 | 16)
            || !parameter_length.is_multiple_of(pattern.len() as u64)
        {
            return None;
        }
        let mut bytes = [0; 16];
        bytes[..pattern.len()].copy_from_slice(pattern);
        Some(Self { bytes, length: pattern.len() as u8 })
    }

    /// The pattern's bytes.
    #[must_use]
    pub(crate) fn pattern(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Where the bytes of a parameter come from.
#[derive(Clone, Debug)]
pub(crate) enum Contents {
    /// A range that the archive has.
    File {
        /// The archive.
        source: Source,
        /// Where the bytes begin in the archive.
        offset: u64,
    },
    /// A repeated pattern.
    Splat(Splat),
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name in the scope.
    pub(crate) key: String,
    /// Its length in bytes.
    pub length: u64,
    /// Its shape and the type of its elements, if the archive states them.
    stated_type: Option<String>,
    /// Where they come from.
    pub(crate) contents: Contents,
}

impl Entry {
    /// Its name in the scope.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Its shape and the type of its elements, `4x8xf32`, if the archive states them. Formats of
    /// blocks have their own names, `4x32xQ4_0`.
    #[must_use]
    pub fn stated_type(&self) -> Option<&str> {
        self.stated_type.as_deref()
    }

    /// Checks that the parameter has the range.
    ///
    /// # Errors
    /// It does not.
    pub(crate) fn check_range(&self, offset: u64, length: u64) -> Result<(), Status> {
        if offset <= self.length && length <= self.length - offset {
            return Ok(());
        }
        let stated = self.stated_type.as_ref().map(|stated| format!("; it is {stated}"));
        Err(Status::out_of_range(format!(
            "parameter `{}` range out of bounds (offset={offset}, length={length}, size={}){}",
            self.key,
            self.length,
            stated.unwrap_or_default()
        )))
    }

    /// Checks that the parameter ends where the program stops reading it, if its archive states
    /// what it is. One that goes on has elements of another type, so its first bytes mean something
    /// else.
    ///
    /// # Errors
    /// It goes on.
    pub(crate) fn check_end(&self, end: u64) -> Result<(), Status> {
        match &self.stated_type {
            Some(stated) if end < self.length => Err(Status::invalid_argument(format!(
                "parameter `{}` has {} bytes ({stated}), and the program reads only the first \
                 {end}; it wants another type of elements, or fewer of them",
                self.key, self.length
            ))),
            _ => Ok(()),
        }
    }

    /// A range as a read-only buffer that shares the archive's memory; `None` for a splat, which
    /// has no bytes of its own.
    ///
    /// # Errors
    /// The parameter does not have the range.
    pub fn mapped(&self, offset: u64, length: u64) -> Result<Option<Buffer>, Status> {
        self.check_range(offset, length)?;
        let Contents::File { source, offset: start } = &self.contents else { return Ok(None) };
        // `Index::add_data` checked that the archive has the range.
        let start = (start + offset) as usize;
        Ok(Buffer::of_file(source.bytes.clone(), start..start + length as usize))
    }

    /// A copy of a range.
    ///
    /// # Errors
    /// The parameter does not have the range.
    pub fn bytes(&self, offset: u64, length: u64) -> Result<Vec<u8>, Status> {
        if let Some(buffer) = self.mapped(offset, length)? {
            return Ok(buffer.read(0, buffer.len()));
        }
        let Contents::Splat(splat) = &self.contents else { return Ok(Vec::new()) };
        let pattern = splat.pattern();
        let skipped = (offset % pattern.len() as u64) as usize;
        Ok(pattern.iter().copied().cycle().skip(skipped).take(length as usize).collect())
    }
}

/// The parameters of a scope.
#[derive(Clone, Debug, Default)]
pub struct Index {
    entries: Vec<Entry>,
    by_key: HashMap<String, usize>,
}

impl Index {
    /// All parameters, in the order of their archives.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.entries.iter()
    }

    /// The parameter with the key.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, key: &str) -> Result<&Entry, Status> {
        self.by_key.get(key).map(|at| &self.entries[*at]).ok_or_else(|| {
            Status::not_found(format!("no parameter found in index with key '{key}'"))
        })
    }

    pub(super) fn add_splat(&mut self, key: &str, length: u64, splat: Splat) {
        let contents = Contents::Splat(splat);
        self.add(Entry { key: key.to_owned(), length, stated_type: None, contents });
    }

    /// Adds a range of an archive, if the archive has it.
    pub(super) fn add_data(
        &mut self,
        key: &str,
        source: &Source,
        offset: u64,
        length: u64,
    ) -> Result<(), Status> {
        reader::range_within(&source.bytes, offset, length, &format!("the data of `{key}`"))?;
        let contents = Contents::File { source: source.clone(), offset };
        self.add(Entry { key: key.to_owned(), length, stated_type: None, contents });
        Ok(())
    }

    /// States the type of the entry that was added last.
    pub(super) fn state_type(&mut self, shape: &[u64], element_type: &str) {
        let sizes = shape.iter().map(|size| format!("{size}x"));
        let text = sizes.chain([element_type.to_owned()]).collect();
        if let Some(last) = self.entries.last_mut() {
            last.stated_type = Some(text);
        }
    }

    fn add(&mut self, entry: Entry) {
        self.by_key.entry(entry.key.clone()).or_insert(self.entries.len());
        self.entries.push(entry);
    }
}
