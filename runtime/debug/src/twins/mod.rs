//! Bytecode of dispatches, compiled from the sources in the debug file, whatever the dispatches
//! were compiled to. Nothing here looks at a running program.
//!
//! - [`maker`]: bytecode for calls of a module's dispatches
//! - [`stand_ins`]: bytecode for all dispatches of a program whose device is not here

pub(crate) mod maker;
pub(crate) mod stand_ins;
