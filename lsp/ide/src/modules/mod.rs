//! Compiled modules: the ones near a source, what iree-compile makes of exports, and a module as a
//! document.
//!
//! The only folder that reads `.vmfb` files. It executes nothing.

mod as_compiled;
mod compiled;
mod disassembly;
mod graph;
mod inquiry;
mod overview;

pub(crate) use as_compiled::Answer;
pub use compiled::Modules;
pub(crate) use compiled::{CompiledFunction, NearbyModule, read as read_module};
pub use disassembly::{ModuleText, module_text};
pub use graph::{DispatchGraphs, NoGraph};
pub use inquiry::{AbiInquiry, AbiRun};
pub use overview::{
    FunctionTime, ModuleOverview, NamedType, NeededFunction, NeededModule, NoProfile,
    OVERVIEW_FORMAT, OfferedFunction, PartKind, ProfileTimes, SizePart, SourceState,
    module_overview, profile_times,
};
