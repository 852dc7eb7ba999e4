//! Locations as trees in one table per module, and walks over them. Nothing here knows where a
//! location was read from.

pub(crate) mod python;
mod table;
pub(crate) mod walk;

pub use python::is_python;
pub(crate) use table::LocationBuilder;
pub use table::{FileId, Location, LocationId, LocationTable, SourcePosition};
