//! Folders and files that several tests need, such as compiled programs: the first test that comes
//! makes them, and others wait.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

type Made = HashMap<PathBuf, Arc<OnceLock<()>>>;

static MADE: Mutex<Option<Made>> = Mutex::new(None);

/// A folder with what `make` puts there, once in this process. What earlier processes left in it
/// is removed first, so that no test judges an old file.
///
/// # Panics
/// The folder cannot be made, or `make` panics; then the next test tries it again.
pub fn made_once(folder: impl AsRef<Path>, make: impl FnOnce(&Path)) -> PathBuf {
    written_once(folder, |folder| {
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder).expect("a folder can be made");
        make(folder);
    })
}

/// A file that `write` writes, once in this process.
///
/// # Panics
/// `write` panics; then the next test tries it again.
pub fn written_once(file: impl AsRef<Path>, write: impl FnOnce(&Path)) -> PathBuf {
    let file = file.as_ref();
    let cell = {
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(made.get_or_insert_default().entry(file.to_owned()).or_default())
    };
    cell.get_or_init(|| write(file));
    file.to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn many_threads_make_it_once_and_nothing_old_is_left() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("made");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("old"), "").unwrap();
        let count = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let there = made_once(&folder, |folder| {
                        count.fetch_add(1, Ordering::Relaxed);
                        std::fs::write(folder.join("new"), "").unwrap();
                    });
                    assert!(there.join("new").is_file() && !there.join("old").exists());
                });
            }
        });
        assert_eq!(count.into_inner(), 1);
    }

    #[test]
    fn what_fails_is_tried_again() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("made");
        let failed = std::panic::catch_unwind(|| made_once(&folder, |_| panic!("no compiler")));
        assert!(failed.is_err());
        made_once(&folder, |folder| std::fs::write(folder.join("new"), "").unwrap());
        assert!(folder.join("new").is_file());
    }
}
