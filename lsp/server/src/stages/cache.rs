//! The folder of the cache. It is the user's own, and the oldest compilations leave it.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::stage_error::StageError;

/// The most compilations that are kept.
const MOST: usize = 16;
/// The most bytes that they may have together.
const LARGEST: u64 = 2 << 30;
/// The extension of a folder with a text that was not saved.
const UNSAVED: &str = "unsaved";
/// The file that a use of a compilation writes again.
const USED: &str = "used";

/// The folder with a folder for each compilation: in `named`, or in the user's folder for caches.
pub(crate) fn folder(named: Option<&Path>) -> Result<PathBuf, StageError> {
    let own = named.map(Path::to_owned).or_else(|| lastrun::user_cache().ok());
    let own = own.ok_or(StageError::NoFolder)?;
    let folder = own.join("stages");
    match make_private(&folder) {
        Ok(()) => Ok(folder),
        Err(source) => Err(StageError::FolderNotMade { folder, source }),
    }
}

/// Sources may be confidential.
#[cfg(unix)]
fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;

    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)
}

/// The folder of the text that a compilation was made of, where that was not saved.
pub(super) fn unsaved(compilation: &Path) -> PathBuf {
    compilation.with_extension(UNSAVED)
}

/// Notes that a compilation was used now.
pub(super) fn touch(compilation: &Path) {
    // If this fails, it leaves the cache sooner.
    let _ = std::fs::write(compilation.join(USED), "");
}

/// Removes what was not used for longest, until the rest is few and small enough.
pub(super) fn trim(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    // A text that was not saved goes with its compilation.
    let folders = folders.filter(|path| path.extension().is_none_or(|it| it != UNSAVED));
    let used = |path: &Path| {
        let marked = path.join(USED).metadata().or_else(|_| path.metadata());
        marked.and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let mut found: Vec<(SystemTime, PathBuf)> = folders.map(|path| (used(&path), path)).collect();
    found.sort();
    let mut bytes = 0;
    for (index, (_, path)) in found.iter().rev().enumerate() {
        bytes += size(path) + size(&unsaved(path));
        // The newest one stays, however large.
        if index > 0 && (index >= MOST || bytes > LARGEST) {
            let _ = std::fs::remove_dir_all(path);
            let _ = std::fs::remove_dir_all(unsaved(path));
        }
    }
}

fn size(path: &Path) -> u64 {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => size(&entry.path()),
        _ => entry.metadata().map_or(0, |found| found.len()),
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::{MOST, touch, trim};

    #[test]
    fn the_oldest_leave() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..MOST + 3 {
            let path = folder.path().join(format!("{number:03}"));
            std::fs::create_dir(&path).unwrap();
            touch(&path);
            std::thread::sleep(std::time::Duration::from_millis(12));
        }
        touch(&folder.path().join("000"));
        std::fs::create_dir(folder.path().join("001.unsaved")).unwrap();
        trim(folder.path());
        let there = |name: &str| folder.path().join(name).is_dir();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), MOST);
        assert!(there("000") && !there("001") && there(&format!("{:03}", MOST + 2)));
    }
}
