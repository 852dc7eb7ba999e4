//! The folders whose programs the user trusts: `iree-dbg trust FOLDER`.
//!
//! A folder that was downloaded may have a `.venv` with any program in it, so a compiler that is
//! found only because it lies in the project is not run until the user says so, once. Editors that
//! ask their users themselves ([`trust_projects`]) need not ask again.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the program that has started this one vouches for its folders.
static TRUSTS_PROJECTS: AtomicBool = AtomicBool::new(false);

/// Whether the folders that this process opens are trusted: its editor has asked the user.
pub fn trust_projects(are_trusted: bool) {
    TRUSTS_PROJECTS.store(are_trusted, Ordering::SeqCst);
}

/// Whether programs of a folder may run.
pub(crate) fn is_trusted(folder: &Path) -> bool {
    TRUSTS_PROJECTS.load(Ordering::SeqCst) || TrustedFolders::of_user().has(folder)
}

/// Why folders cannot be trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The folder is not there.
    #[error("{}: {source}", folder.display())]
    NoFolder {
        /// The folder.
        folder: PathBuf,
        /// Why it cannot be used.
        source: io::Error,
    },
    /// Its name cannot be a line of the list.
    #[error("{}: the name has the end of a line in it", .0.display())]
    LongName(PathBuf),
    /// There is no place for the list.
    #[error("neither XDG_CONFIG_HOME nor a home folder says where settings are")]
    NoSettings,
    /// The list cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    NotWritten {
        /// The list.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A list of folders in the user's settings, one a line. What is trusted of a folder is trusted of
/// the folders in it.
#[derive(Clone, Debug, Default)]
pub struct TrustedFolders {
    list: Option<PathBuf>,
    folders: Vec<PathBuf>,
}

impl TrustedFolders {
    /// The list of this user: `$XDG_CONFIG_HOME/iree-dbg/trusted-folders`, which is `~/.config` if
    /// that is not set.
    #[must_use]
    pub fn of_user() -> Self {
        let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let settings = named
            .filter(|path| path.is_absolute())
            .or_else(|| Some(std::env::home_dir()?.join(".config")));
        settings.map(|it| Self::at(it.join("iree-dbg").join("trusted-folders"))).unwrap_or_default()
    }

    /// The list in a file.
    fn at(list: PathBuf) -> Self {
        // Without one, nothing is trusted.
        let text = std::fs::read(&list).unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let folders = lines.filter_map(path_of).collect();
        Self { list: Some(list), folders }
    }

    /// The folders.
    #[must_use]
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Whether a folder is one of them, or in one of them. Links are followed first.
    #[must_use]
    pub fn has(&self, folder: &Path) -> bool {
        let Ok(real) = folder.canonicalize() else { return false };
        self.folders.iter().any(|trusted| real.starts_with(trusted))
    }

    /// Adds a folder; returns its full path.
    ///
    /// # Errors
    /// There is no such folder, or the list cannot be written.
    pub fn add(&mut self, folder: &Path) -> Result<PathBuf, TrustError> {
        let no_folder = |source| TrustError::NoFolder { folder: folder.to_owned(), source };
        let real = folder.canonicalize().map_err(no_folder)?;
        if !real.is_dir() {
            return Err(no_folder(io::ErrorKind::NotADirectory.into()));
        }
        if real.as_os_str().as_encoded_bytes().contains(&b'\n') {
            return Err(TrustError::LongName(real));
        }
        if !self.folders.contains(&real) {
            self.folders.push(real.clone());
            self.write()?;
        }
        Ok(real)
    }

    /// Removes a folder; returns whether it was there.
    ///
    /// # Errors
    /// The list cannot be written.
    pub fn remove(&mut self, folder: &Path) -> Result<bool, TrustError> {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let before = self.folders.len();
        self.folders.retain(|it| *it != real);
        let is_removed = self.folders.len() != before;
        if is_removed {
            self.write()?;
        }
        Ok(is_removed)
    }

    /// Writes the list anew, whole.
    fn write(&self) -> Result<(), TrustError> {
        let path = self.list.as_ref().ok_or(TrustError::NoSettings)?;
        let not_written = |source| TrustError::NotWritten { path: path.clone(), source };
        let folder = path.parent().unwrap_or(path);
        std::fs::create_dir_all(folder).map_err(not_written)?;
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(not_written)?;
        for trusted in &self.folders {
            let line = [trusted.as_os_str().as_encoded_bytes(), b"\n"].concat();
            file.write_all(&line).map_err(not_written)?;
        }
        file.persist(path).map_err(|error| not_written(error.error))?;
        Ok(())
    }
}

#[cfg(unix)]
fn path_of(line: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    Some(OsString::from_vec(line.to_vec()).into())
}

#[cfg(not(unix))]
fn path_of(line: &[u8]) -> Option<PathBuf> {
    Some(OsString::from(std::str::from_utf8(line).ok()?).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_trusted_with_what_is_in_them_until_they_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let list = root.path().join("settings").join("trusted-folders");
        let (one, beside) = (root.path().join("one"), root.path().join("one-more"));
        std::fs::create_dir_all(one.join("inner")).unwrap();
        std::fs::create_dir(&beside).unwrap();
        let mut trusted = TrustedFolders::at(list.clone());
        assert!(!trusted.has(&one));
        trusted.add(&one).unwrap();
        trusted.add(&one).unwrap();
        let mut again = TrustedFolders::at(list.clone());
        assert_eq!(again.folders().len(), 1);
        assert!(again.has(&one) && again.has(&one.join("inner")));
        assert!(!again.has(&beside) && !again.has(root.path()));
        #[cfg(unix)]
        {
            // A link in a trusted folder does not lend its trust.
            std::os::unix::fs::symlink(&beside, one.join("link")).unwrap();
            assert!(!again.has(&one.join("link")));
        }
        assert!(again.add(&root.path().join("none")).is_err());
        assert!(again.remove(&one).unwrap() && !again.remove(&one).unwrap());
        assert!(!TrustedFolders::at(list).has(&one));
    }
}
