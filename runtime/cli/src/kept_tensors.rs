//! `diff --keep`: both sides of what is not equal, as files that NumPy reads, with the report that
//! names them, `diff.json`. The folder appears whole or not at all, and replaces only another one
//! of its kind.

use std::io;
use std::path::{Path, PathBuf};

use compare::{KeptIn, Report};
use repro::{Staged, is_empty};
use serde_json::Value;

/// The report.
const REPORT: &str = "diff.json";

/// Why tensors are not kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotKept {
    #[error("{0} has files that no `iree-dbg diff --keep` has written; name another folder")]
    Occupied(PathBuf),
    #[error("{0} is a file; name a folder")]
    File(PathBuf),
    #[error("cannot write {path}: {source}")]
    NotWritten { path: PathBuf, source: io::Error },
}

/// Refuses a folder that has anything else.
pub(crate) fn check_free(folder: &Path) -> Result<(), NotKept> {
    match folder {
        it if it.exists() && !it.is_dir() => Err(NotKept::File(it.to_owned())),
        it if is_empty(it) || is_ours(it) => Ok(()),
        it => Err(NotKept::Occupied(it.to_owned())),
    }
}

/// Whether a folder has a report, and nothing but tensors beside it.
fn is_ours(folder: &Path) -> bool {
    let Ok(mut entries) = std::fs::read_dir(folder) else { return false };
    let is_known = |name: &str| name == REPORT || is_tensor(name);
    let has_nothing_else =
        entries.all(|entry| entry.is_ok_and(|it| it.file_name().to_str().is_some_and(is_known)));
    let report = std::fs::read(folder.join(REPORT)).ok();
    let report = report.and_then(|it| serde_json::from_slice::<Value>(&it).ok());
    has_nothing_else && report.is_some_and(|it| it["kept"]["most_bytes"].is_u64())
}

/// Whether a file is a side of a tensor, by its name.
fn is_tensor(name: &str) -> bool {
    [".a.npy", ".b.npy"].iter().any(|side| name.ends_with(side))
}

/// Writes what a report has kept, and says in the report where.
pub(crate) fn write(report: &mut Report, folder: &Path, most: usize) -> Result<(), NotKept> {
    check_free(folder)?;
    let not_written = |source| NotKept::NotWritten { path: folder.to_owned(), source };
    let directory = std::path::absolute(folder).map_err(not_written)?;
    report.kept_in = Some(KeptIn { directory, most });
    let put = || -> io::Result<()> {
        let staged = Staged::begin(folder)?;
        for (name, bytes) in report.kept_files() {
            std::fs::write(staged.path().join(name), bytes)?;
        }
        std::fs::write(staged.path().join(REPORT), report.to_json().to_string())?;
        staged.finish(is_tensor)
    };
    put().map_err(not_written)
}

/// What is kept, in a sentence.
pub(crate) fn sentence(report: &Report, folder: &Path) -> String {
    let tensors = |count: usize| format!("{count} tensor{}", if count == 1 { "" } else { "s" });
    let (kept, folder) = (report.kept_files().count() / 2, folder.display());
    let kept = format!("both sides of what is not equal are in {folder}: {}", tensors(kept));
    match report.left_out() {
        0 => kept,
        count => format!("{kept}; {} left out, and its diff.json says why", tensors(count)),
    }
}
