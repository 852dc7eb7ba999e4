//! What a place in a text means: its symbol, value, block or alias, every other place that names the
//! same, and a value's type.
//!
//! Uses `text` only. Features ask here; nothing here makes an answer for an editor.

mod entity;
mod symbols;
mod types;
mod usages;

pub(crate) use entity::{Entity, Named, entity_at};
pub(crate) use symbols::{
    Reference, SymbolDefinition, is_vm_export, line_start, reference_at, resolve_symbol, symbol_at,
};
pub(crate) use types::{element, stated_types, type_of};
pub use usages::{Usage, usages_at};
pub(crate) use usages::{alias_definition, file_around, usages};
