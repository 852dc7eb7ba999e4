//! Name resolution: the entity at a place, all places that name it, and the type of a value.
//!
//! Uses `text` only. Features ask here; nothing here is shaped for an editor.

mod check_lines;
mod entity;
mod symbols;
mod types;
mod usages;

pub use check_lines::{VariableNotRenamed, first_run_line};
pub(crate) use check_lines::{check_variable, label_above, symbol_in_directives};
pub(crate) use entity::{Entity, Named, entity_at};
pub(crate) use symbols::{
    Reference, SymbolDefinition, exported_function, is_vm_export, line_end, line_start,
    reference_at, resolve_symbol, symbol_at,
};
pub(crate) use types::{stated_types, type_of};
pub use usages::{Usage, usages_at};
pub(crate) use usages::{alias_definition, file_around, usages};
