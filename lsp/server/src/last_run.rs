//! The values of the last run of an open text, from the file that `iree-dbg run --values` keeps.
//!
//! The text itself says which file: its digest is the name. A request looks whether that has
//! changed; nothing watches or polls.

use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use lastrun::{LastRun, SourceId};
use ropey::Rope;
use twox_hash::XxHash3_64;

/// The most texts whose digests are remembered, and the most files.
const MOST: usize = 8;
/// Of longer texts no values are looked for: each edit would need a new digest.
const LONGEST: usize = 64 << 20;

/// The runs that requests have asked for.
#[derive(Default)]
pub(crate) struct LastRuns {
    /// Texts, the latest last. They share their memory with the documents.
    texts: Mutex<Vec<(Rope, SourceId)>>,
    files: Mutex<Vec<ReadFile>>,
}

/// A file as it was read.
struct ReadFile {
    path: PathBuf,
    state: (SystemTime, u64),
    run: Arc<LastRun>,
}

impl LastRuns {
    /// The last run of a text, whose file is in this cache or in the user's own.
    pub(crate) fn of(&self, text: &Rope, cache: Option<&Path>) -> Option<Arc<LastRun>> {
        if text.len_bytes() > LONGEST {
            return None;
        }
        let folder = lastrun::values_folder(cache).ok()?;
        let source = self.digest(text);
        let path = source.file_in(&folder)?;
        let found = path.metadata().ok()?;
        let state = (found.modified().ok()?, found.len());
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = files.iter().find(|it| it.path == path && it.state == state) {
            return Some(Arc::clone(&known.run));
        }
        let run = Arc::new(LastRun::read(&folder, &source)?);
        files.retain(|it| it.path != path);
        files.push(ReadFile { path, state, run: Arc::clone(&run) });
        keep_latest(&mut files);
        Some(run)
    }

    fn digest(&self, text: &Rope) -> SourceId {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        // The same pieces of memory, which no edit changes in place.
        if let Some((_, known)) = texts.iter().find(|(it, _)| it.is_instance(text)) {
            return known.clone();
        }
        let mut digest = XxHash3_64::new();
        text.chunks().for_each(|chunk| digest.write(chunk.as_bytes()));
        let (length, xxh3) = (text.len_bytes() as u64, format!("{:016x}", digest.finish()));
        let source = SourceId { length, xxh3 };
        texts.push((text.clone(), source.clone()));
        keep_latest(&mut texts);
        source
    }
}

fn keep_latest<T>(all: &mut Vec<T>) {
    all.drain(..all.len().saturating_sub(MOST));
}
