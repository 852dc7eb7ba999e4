//! Compiled modules: the ones near a source, what iree-compile makes of exports, and a module as a
//! document.
//!
//! The only folder that reads `.vmfb` files. It executes nothing.

mod as_compiled;
mod compiled;
mod disassembly;
mod inquiry;
mod overview;

pub(crate) use as_compiled::Answer;
pub use compiled::Modules;
pub(crate) use compiled::{CompiledFunction, NearbyModule, read as read_module};
pub use disassembly::{ModuleText, module_text};
pub use inquiry::{AbiInquiry, AbiRun};
pub use overview::{
    FunctionTime, ModuleOverview, NamedType, NeededFunction, NeededModule, NoGraph, NoProfile,
    OVERVIEW_FORMAT, OfferedFunction, PartKind, ProfileTimes, SizePart, SourceState,
    dispatch_graph, module_overview, profile_times,
};
