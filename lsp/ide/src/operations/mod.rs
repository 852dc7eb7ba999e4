//! What is known of operations: their names, how their blocks end, and which of their types agree.
//!
//! The tables are facts of our own, checked against iree-opt; a compiler that is installed brings
//! more. An operation of a dialect that is not listed may have any form.

mod enumerations;
mod facts;
mod forms;
mod installed;
mod names;
mod types;
mod words;

pub(crate) use facts::known;
pub use facts::{shipped as shipped_operations, write as write_operations};
pub(crate) use forms::{examples, form};
pub(crate) use installed::installed;
pub use installed::{
    Count, InstalledOperation, InstalledOperations, Part, installed_dialects,
    use_installed_operations,
};
pub(crate) use names::{Standing, beginning, dialect_of, is_listed, may_end_block, standing};
pub(crate) use types::{Stated, TypeRule, element, is_type, type_rules};
pub(crate) use words::words_of;
