//! Compiled modules: the ones near a source, and a module as a document.
//!
//! The only folder that reads `.vmfb` files. It executes nothing.

mod compiled;
mod disassembly;

pub use compiled::Modules;
pub(crate) use compiled::{CompiledFunction, NearbyModule, read as read_module};
pub use disassembly::{ModuleText, module_text};
