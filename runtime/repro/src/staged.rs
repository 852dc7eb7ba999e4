//! [`Staged`]: a folder that appears whole, or not at all.
//!
//! Its files are written into a hidden folder beside it, or where it is there already, within it;
//! they are moved at the end. If they cannot be written, or something ends the process before, what
//! was there stays as it was, and nothing is left.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use compile::Scratch;

/// What the names of unfinished folders begin with.
const PREFIX: &str = ".iree-dbg-unfinished-";

/// A folder that is not finished.
#[derive(Debug)]
pub struct Staged {
    target: PathBuf,
    scratch: Scratch,
    /// Where its files are written.
    path: PathBuf,
}

impl Staged {
    /// Begins a folder that will have this path.
    ///
    /// # Errors
    /// It cannot be written there.
    pub fn begin(target: &Path) -> io::Result<Self> {
        let target = std::path::absolute(target)?;
        let around = match (target.is_dir(), target.parent()) {
            (false, Some(parent)) => {
                fs::create_dir_all(parent)?;
                parent
            }
            _ => &target,
        };
        let scratch = Scratch::beside(around, PREFIX)?;
        // The scratch folder is private; this one is as other folders of the user.
        let path = scratch.path().join("folder");
        fs::create_dir(&path)?;
        Ok(Self { target, scratch, path })
    }

    /// Where its files are written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the folder its name, or its files to the folder that is there; files of an earlier
    /// one, by their names, go if the new one has none of that name.
    ///
    /// # Errors
    /// They cannot be moved.
    pub fn finish(self, is_earlier: impl Fn(&str) -> bool) -> io::Result<()> {
        let Self { target, scratch, path } = self;
        if target.is_dir() {
            let names = names(&path)?;
            for name in &names {
                replace(&path.join(name), &target.join(name))?;
            }
            drop_earlier(&target, &names, is_earlier)?;
        } else {
            fs::rename(&path, &target)?;
        }
        drop(scratch);
        Ok(())
    }
}

/// Whether a folder has nothing, or only what an earlier process could not remove.
#[must_use]
pub fn is_empty(folder: &Path) -> bool {
    let is_ours = |name: &OsStr| name.to_string_lossy().starts_with(PREFIX);
    names(folder).map_or(true, |names| names.iter().all(|name| is_ours(name)))
}

fn names(folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

/// Moves a file, or a folder, over another one.
fn replace(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() && to.is_dir() {
        fs::remove_dir_all(to)?;
    }
    fs::rename(from, to)
}

/// Drops what an earlier folder has and this one has not.
fn drop_earlier(
    folder: &Path,
    kept: &[std::ffi::OsString],
    is_earlier: impl Fn(&str) -> bool,
) -> io::Result<()> {
    for name in names(folder)? {
        if is_earlier(&name.to_string_lossy()) && !kept.contains(&name) {
            fs::remove_file(folder.join(&name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files of a folder with their texts, in the order of their names.
    fn files(folder: &Path) -> Vec<(String, String)> {
        let read = |name: std::ffi::OsString| {
            let text = fs::read_to_string(folder.join(&name)).unwrap_or_default();
            (name.to_string_lossy().into_owned(), text)
        };
        let mut files: Vec<_> = names(folder).unwrap().into_iter().map(read).collect();
        files.sort();
        files
    }

    fn write(folder: &Path, files: &[(&str, &str)]) {
        files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    }

    #[test]
    fn a_folder_that_is_not_finished_leaves_nothing() {
        let around = tempfile::tempdir().unwrap();
        let target = around.path().join("new").join("folder");
        let staged = Staged::begin(&target).unwrap();
        write(staged.path(), &[("run.sh", "half")]);
        assert!(!target.exists());
        drop(staged);
        assert_eq!(files(&around.path().join("new")), []);
    }

    #[test]
    fn an_earlier_folder_stays_as_it_was_until_the_new_one_is_whole() {
        let around = tempfile::tempdir().unwrap();
        let target = around.path().join("folder");
        let staged = Staged::begin(&target).unwrap();
        write(staged.path(), &[("run.sh", "1"), ("input0.npy", "1"), ("input1.bin", "1")]);
        fs::create_dir(staged.path().join("run")).unwrap();
        staged.finish(|name| name.starts_with("input")).unwrap();
        write(&target, &[("notes", "mine")]);
        write(&target.join("run"), &[("old", "")]);
        let before = files(&target);
        let staged = Staged::begin(&target).unwrap();
        write(staged.path(), &[("run.sh", "2"), ("input0.npy", "2")]);
        fs::create_dir(staged.path().join("run")).unwrap();
        // Half of it is not seen.
        let hidden = |it: &(String, String)| !it.0.starts_with(PREFIX);
        assert_eq!(files(&target).into_iter().filter(hidden).collect::<Vec<_>>(), before);
        assert!(!is_empty(&target));
        staged.finish(|name| name.starts_with("input")).unwrap();
        let expected =
            [("input0.npy", "2"), ("notes", "mine"), ("run", ""), ("run.sh", "2")].map(owned);
        assert_eq!(files(&target), expected);
        assert_eq!(files(&target.join("run")), []);
        assert_eq!(files(around.path()), [owned(("folder", ""))]);
    }

    fn owned((name, text): (&str, &str)) -> (String, String) {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn a_folder_that_has_what_nothing_could_remove_is_empty() {
        let around = tempfile::tempdir().unwrap();
        assert!(is_empty(around.path()) && is_empty(&around.path().join("none")));
        fs::create_dir(around.path().join(format!("{PREFIX}x"))).unwrap();
        assert!(is_empty(around.path()));
        write(around.path(), &[("x", "")]);
        assert!(!is_empty(around.path()));
    }
}
