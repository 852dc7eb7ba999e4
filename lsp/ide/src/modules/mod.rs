//! Compiled modules: the ones near a source, what iree-compile makes of exports, and a module as a
//! document.
//!
//! The only folder that reads `.vmfb` files. It executes nothing.

mod as_compiled;
mod compiled;
mod disassembly;
mod inquiry;

pub(crate) use as_compiled::Answer;
pub use compiled::Modules;
pub(crate) use compiled::{CompiledFunction, NearbyModule, read as read_module};
pub use disassembly::{ModuleText, module_text};
pub use inquiry::{AbiInquiry, AbiRun};
