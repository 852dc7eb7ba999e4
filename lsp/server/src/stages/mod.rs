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

pub(crate) mod cache;
mod making;
mod names;
mod passes;
mod set;
mod stage_error;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use making::{Job, Problem, Source, digest_of, make};
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
    /// One compilation at a time.
    pub(crate) turn: Arc<tokio::sync::Mutex<()>>,
}

impl Stages {
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
