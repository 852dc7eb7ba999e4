//! Where a bytecode offset comes from and what is alive there.
//!
//! Two sources are read behind one interface, [`DebugInfo`]: the debug database inside a module
//! ([`vmfb::DebugDatabase`]), which since compiler 3.11 covers one function, and the debug
//! companion beside it ([`companion`]), which has everything. The companion wins where it aligns
//! with the bytecode, function by function ([`Mismatch`] says why not elsewhere). The user's own
//! `.mlir`, where it can be read, adds the names that only it has ([`source`]).
//!
//! | question | answer |
//! | --- | --- |
//! | where am I? | [`DebugInfo::frames_at`], [`DebugInfo::position_at`], [`DebugInfo::row_at`] |
//! | where is this line? | [`DebugInfo::match_file`], [`DebugInfo::places_on`], [`DebugInfo::lines_for`] |
//! | where are dispatches made of it? | [`DebugInfo::recordings`], [`DispatchInterfaces::calls`] |
//! | what can I see here? | [`DebugInfo::scope_at`] |
//! | and in the VM program? | [`DebugInfo::listing_position_at`], [`DebugInfo::live_values`] |
//! | what does a dispatch read and write? | [`DispatchInterfaces`] |
//! | what is missing? | [`DebugInfo::completeness`] |

mod align;
mod code;
pub mod companion;
mod completeness;
mod database;
mod dispatch_calls;
mod dispatch_text;
mod extent;
mod files;
mod frames;
mod info;
mod interface;
mod levels;
mod lines;
mod load;
mod locals;
pub mod location;
mod long_text;
mod places;
mod proof;
mod register;
mod register_types;
mod report;
mod scope;
pub mod source;
mod source_map;
mod structure;

pub use align::Mismatch;
pub use code::Role;
pub use companion::{Companion, CompanionError, CompanionLoadError, CompanionText};
pub use completeness::{Completeness, FunctionCompleteness, MapSource};
pub use dispatch_calls::DispatchCall;
pub use dispatch_text::{WrittenAt, WrittenPath};
pub use files::FileMatch;
pub use frames::SourceFrame;
pub use info::{CodePlace, DebugInfo, ResolvedLine};
pub use interface::{DispatchInterface, DispatchInterfaces, DispatchOperand, OperandAccess};
pub use lines::LineRow;
pub use locals::LocalValue;
pub use location::{FileId, Location, LocationId, LocationTable, SourcePosition};
pub use long_text::LongText;
pub use places::Recording;
pub use proof::{Answer, Given, Operation, Reason, Recipe, Scalar, ScopedValue};
pub use register::RegisterSlot;
pub use register_types::RegisterTypes;
pub use report::Report;
pub use source::SourceText;
pub use source_map::SourceMap;
