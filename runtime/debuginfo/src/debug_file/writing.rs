//! Making a debug file, and adding to one.

use std::fs::{File, Metadata};
use std::io::{self, Cursor, Seek, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::error::DebugFileError;
use super::manifest::{MANIFEST, Manifest, ModuleIdentity};
use super::reading::{DebugFile, MAX_FILE, twin_member};

/// Writes a debug file: its manifest, then its members by their names.
///
/// # Errors
/// It cannot be written.
pub fn write_debug_file<'m>(
    to: impl Write + Seek,
    manifest: &Manifest,
    members: impl IntoIterator<Item = (&'m str, &'m [u8])>,
) -> io::Result<()> {
    let mut zip = ZipWriter::new(to);
    let text = serde_json::to_vec_pretty(manifest)?;
    add(&mut zip, MANIFEST, &text)?;
    for (name, bytes) in members {
        add(&mut zip, name, bytes)?;
    }
    zip.finish()?.flush()
}

fn add(zip: &mut ZipWriter<impl Write + Seek>, name: &str, bytes: &[u8]) -> io::Result<()> {
    let large = bytes.len() as u64 >= u64::from(u32::MAX);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .large_file(large);
    zip.start_file(name, options)?;
    zip.write_all(bytes)
}

impl DebugFile {
    /// Adds a twin to the debug file at a path, or replaces the one of that name. The file is
    /// replaced as a whole, so it is never seen half-written; two processes that add to it do so
    /// one after the other.
    ///
    /// # Errors
    /// The file is not the one of that module any more, is damaged, or cannot be written.
    pub fn add_twin(
        path: &Path,
        module: &ModuleIdentity,
        name: &str,
        bytes: &[u8],
    ) -> Result<(), DebugFileError> {
        Self::put(path, module, &twin_member(name), bytes)
    }

    /// Adds or replaces a member of the debug file at a path, as [`DebugFile::add_twin`] does.
    ///
    /// # Errors
    /// As there.
    pub fn put(
        path: &Path,
        module: &ModuleIdentity,
        member: &str,
        bytes: &[u8],
    ) -> Result<(), DebugFileError> {
        let not_written = |source| DebugFileError::NotWritten { path: path.to_owned(), source };
        let _lock = locked(path).map_err(not_written)?;
        let file = Self::open(path)?;
        let found = &file.manifest().module;
        if found != module {
            let text = format!("it is now of another module, one with {found}");
            return Err(not_written(io::Error::other(text)));
        }
        if std::fs::metadata(path).map_err(not_written)?.permissions().readonly() {
            return Err(not_written(io::ErrorKind::PermissionDenied.into()));
        }
        if (file.bytes().len() as u64).saturating_add(bytes.len() as u64) > MAX_FILE {
            return Err(not_written(io::ErrorKind::FileTooLarge.into()));
        }
        replaced(path, &file, member, bytes).map_err(not_written)
    }
}

/// Writes the file anew with one member changed, and renames it into place.
fn replaced(path: &Path, file: &DebugFile, member: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let mut scratch = tempfile::Builder::new()
        .prefix(".iree-dbg-")
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    let mut old = ZipArchive::new(Cursor::new(file.bytes().owned()))?;
    let mut zip = ZipWriter::new(scratch.as_file_mut());
    for index in 0..old.len() {
        let kept = old.by_index_raw(index)?;
        if kept.name()? != member {
            zip.raw_copy_file(kept)?;
        }
    }
    add(&mut zip, member, bytes)?;
    zip.finish()?.flush()?;
    std::fs::set_permissions(scratch.path(), std::fs::metadata(path)?.permissions())?;
    scratch.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The file at a path, locked. Another process may replace it while this one waits for the lock.
fn locked(path: &Path) -> io::Result<File> {
    loop {
        let file = File::open(path)?;
        file.lock()?;
        if is_same(&file.metadata()?, &std::fs::metadata(path)?) {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.len() == other.len() && one.modified().ok() == other.modified().ok()
}
