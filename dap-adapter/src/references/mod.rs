//! The numbers and names that the client holds for things of the debugger. Each file keeps one kind
//! of them; none evaluates or runs anything.

mod data_ids;
mod handles;
mod memory;
mod sources;
mod values;

pub(crate) use data_ids::DataIds;
pub(crate) use handles::Handles;
pub(crate) use memory::parse_address;
pub(crate) use sources::{SourceKey, Sources, file_source};
pub(crate) use values::{Content, Expandable, Parent, ValueReferences};
