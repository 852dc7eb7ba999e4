//! Files that are written whole or not at all, and files that may have no end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// The most bytes that are read of a pipe or a device, which may have no end.
const MOST_OF_A_STREAM: u64 = 256 << 20;

/// A file that is written beside its place and gets its name at the end. Until then, and if that
/// never comes, what was there before stays. A pipe or a device is written to directly.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Beside(NamedTempFile),
    Direct(File),
}

impl WholeFile {
    /// Begins a file that will have this path.
    ///
    /// # Errors
    /// It cannot be written there.
    pub fn create(path: &Path) -> io::Result<Self> {
        // A link stays one.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let before = path.metadata().ok();
        let direct = |path: &Path| OpenOptions::new().write(true).truncate(true).open(path);
        if before.as_ref().is_some_and(|before| !before.is_file()) {
            let target = Target::Direct(direct(&path)?);
            return Ok(Self { path, target });
        }
        if before.as_ref().is_some_and(|before| before.permissions().readonly()) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let target = match beside(&path, before.as_ref()) {
            Ok(file) => Target::Beside(file),
            // Where only the file itself may be written, there is no other way.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && before.is_some() => {
                Target::Direct(direct(&path)?)
            }
            Err(error) => return Err(error),
        };
        Ok(Self { path, target })
    }

    /// Writes a whole file.
    ///
    /// # Errors
    /// It cannot be written; what was there before is still there.
    pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = Self::create(path)?;
        file.write_all(bytes)?;
        file.finish()
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// It cannot be written; what was there before is still there.
    pub fn finish(self) -> io::Result<()> {
        match self.target {
            Target::Beside(file) => {
                file.as_file().sync_data().or_else(|error| match error.kind() {
                    // Some file systems cannot.
                    io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => Ok(()),
                    _ => Err(error),
                })?;
                file.persist(&self.path).map_err(|error| error.error)?;
                Ok(())
            }
            Target::Direct(mut file) => file.flush(),
        }
    }

    fn file(&mut self) -> &mut File {
        match &mut self.target {
            Target::Beside(file) => file.as_file_mut(),
            Target::Direct(file) => file,
        }
    }
}

fn beside(path: &Path, before: Option<&std::fs::Metadata>) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = Builder::new();
    builder.prefix(".iree-dbg-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As `File::create` makes files.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    if let Some(before) = before {
        file.as_file().set_permissions(before.permissions())?;
    }
    Ok(file)
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

impl Seek for WholeFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file().seek(to)
    }
}

/// Reads a file, a pipe or a device. One without an end is given up.
///
/// # Errors
/// It cannot be read, or does not end.
pub fn read_to_its_end(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let limit = if file.metadata()?.is_file() { u64::MAX - 1 } else { MOST_OF_A_STREAM };
    read_up_to(file, limit)
}

/// Reads a stream that has at most so many bytes.
///
/// # Errors
/// It cannot be read, or does not end.
pub fn read_up_to(stream: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("it does not end within {limit} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_stays_until_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "before").unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        drop(file);
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        WholeFile::write(&path, b"after").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"after");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
        assert!(WholeFile::create(&folder.path().join("none").join("file")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_modes_and_devices_are_kept() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&path, "before").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        WholeFile::write(&link, b"after").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read(&path).unwrap(), b"after");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        WholeFile::write(Path::new("/dev/null"), b"text").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o440)).unwrap();
        assert!(WholeFile::create(&path).is_err());
    }

    #[test]
    fn what_has_no_end_is_given_up() {
        let error = read_up_to(io::repeat(0), 1000).unwrap_err();
        assert_eq!(error.to_string(), "it does not end within 1000 bytes");
        assert_eq!(read_up_to(&b"text"[..], 4).unwrap(), b"text");
    }
}
