//! What is known of operations: their names, how their blocks end, and which of their types agree.
//!
//! The tables are facts of our own, checked against iree-opt; a compiler that is installed brings
//! more. An operation of a dialect that is not listed may have any form.

mod forms;
mod installed;
mod names;
mod types;

pub(crate) use forms::form;
pub(crate) use installed::installed;
pub use installed::{
    Count, InstalledOperation, InstalledOperations, Part, installed_dialects,
    use_installed_operations,
};
pub(crate) use names::{Standing, beginning, dialect_of, is_listed, may_end_block, standing};
pub(crate) use types::{Stated, TypeRule, element, type_rules};
