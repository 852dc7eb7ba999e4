//! Traps: numbers that go wrong, and dispatches that read or write what they must not, or leave
//! something else than their text says.
//!
//! The folder finds them and words the sentences; `watcher` and `runner` decide when to look, and
//! stop the program.

mod difference;
pub(crate) mod dispatch_floats;
pub(crate) mod dispatches;
pub(crate) mod float;
pub(crate) mod guarded_memory;
mod guarded_reads;
pub(crate) mod other_inputs;
pub(crate) mod overflow;
pub(crate) mod sentence;
pub(crate) mod settings;
