//! What the last run of a source left on its lines: a small file that the debugger writes and that
//! the language server reads.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `folder` | the user's folder for caches, and the one of these files |
//! | `values` | [`LastRun`]: the run and its values, written and read |
//!
//! A file is found by the digest of the text that was compiled. So values are those of this text or
//! there are none: an edit leads to no file, and taking it back leads to the same one again.

mod folder;
mod values;

pub use folder::{NoFolder, user_cache, values_folder};
pub use values::{LastRun, LineValue, Run, SourceId};
