//! Traps: numbers that go wrong, and dispatches that read or write what they must not.
//!
//! Finds out and says so; `watcher` and `running` decide when to look, and stop the program.

pub(crate) mod dispatch_floats;
pub(crate) mod dispatches;
pub(crate) mod float;
pub(crate) mod guarded_memory;
pub(crate) mod overflow;
pub(crate) mod sentence;
pub(crate) mod settings;
