//! How functions are called: the VM's convention, from types as written, and all other conventions
//! as a table.
//!
//! Reads signatures of a text only; what a compiled module contains is in `modules`.

mod abi_table;
mod convention;

pub(crate) use abi_table::{
    StringAttribute, abi_table, declaration, explanation, string_attributes,
};
pub(crate) use convention::{
    CallingConvention, NoConvention, Origin, convention, is_exported, type_line,
};
