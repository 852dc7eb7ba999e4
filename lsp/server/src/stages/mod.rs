//! What becomes of a source: its stages, made by one compilation and kept in a cache.
//!
//! ```text
//! text, flags, compiler ─► key ─► folder of the cache ─► StageSet (in memory, the last few)
//!                                  ├ info.json     what was compiled, by what
//!                                  ├ phases/       what iree-compile printed
//!                                  ├ module.vmfb   and its debug file
//!                                  └ passes-…/     one function after each pass
//! ```
//!
//! | file | what lives there |
//! | --- | --- |
//! | `names` | keys, and URIs of stages |
//! | `stage_error` | why a stage cannot be had from the cache |
//! | `cache` | the folder, and what is kept in it |
//! | `set` | the stages of a compilation in memory |
//! | `making` | running the compiler |
//! | `passes` | one function after each pass |
//! | `trails` | what each pass did with each operation |

pub(crate) mod cache;
mod making;
mod names;
mod passes;
mod set;
mod stage_error;
pub(crate) mod trails;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tower_lsp::lsp_types::Url;

pub(crate) use making::{Fault, Job, Problem, Source, digest_of, make};
pub(crate) use names::{Named, is_stage};
pub(crate) use passes::{PassList, make_passes, read_pass};
pub(crate) use set::{StageSet, TitledStage};
pub(crate) use stage_error::StageError;

/// How many compilations stay in memory.
const KEPT: usize = 3;

/// The stages that were asked for last, and the right to compile.
#[derive(Default)]
pub(crate) struct Stages {
    sets: Mutex<Vec<Arc<StageSet>>>,
    /// The compilation that each document which follows its source was given last.
    live: Mutex<HashMap<Url, String>>,
    /// One compilation at a time.
    pub(crate) turn: Arc<tokio::sync::Mutex<()>>,
}

impl Stages {
    /// What the URI of a stage names. A document that follows its source is what it was given last.
    pub(crate) fn named(&self, uri: &Url) -> Option<Named> {
        let Some(stage) = names::live_stage(uri) else { return Named::read(uri) };
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        Named::of_live(stage, live.get(uri)?)
    }

    /// What a document shows that follows its source, if it is given this compilation now. `None`
    /// for other documents.
    pub(crate) fn named_of(uri: &Url, key: &str) -> Option<Named> {
        Named::of_live(names::live_stage(uri)?, key)
    }

    /// Notes that a document which follows its source has this text now.
    pub(crate) fn gave(&self, uri: &Url, named: &Named) {
        if names::live_stage(uri).is_some() {
            let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
            live.insert(uri.clone(), named.key.clone());
        }
    }

    /// Notes that a document is closed.
    pub(crate) fn closed(&self, uri: &Url) {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    /// The stages of a key, from memory or from the folder of the cache.
    pub(crate) fn of_key(&self, folder: &Path, key: &str) -> Result<Arc<StageSet>, StageError> {
        let known = |sets: &[Arc<StageSet>]| sets.iter().position(|set| set.key == key);
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = known(&sets) {
            let set = sets.remove(index);
            sets.push(set.clone());
            return Ok(set);
        }
        drop(sets);
        let set = Arc::new(StageSet::load(folder, key)?);
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        if known(&sets).is_none() {
            sets.push(set.clone());
        }
        while sets.len() > KEPT {
            sets.remove(0);
        }
        Ok(set)
    }
}
