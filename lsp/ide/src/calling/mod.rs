//! How functions are called: the VM's convention, from the types as written, and all conventions in
//! one table.
//!
//! Reads only signatures in a text. What a compiled module contains is in `modules`.

mod abi_table;
mod boundary;
mod convention;
mod skeleton;

pub(crate) use abi_table::{
    StringAttribute, abi_table, declaration, explanation, string_attributes,
};
pub(crate) use boundary::{host_type, written_type};
pub(crate) use convention::{
    CallingConvention, NoConvention, SignatureOrigin, convention, is_exported, type_line,
};
pub(crate) use skeleton::{AbiQuestion, key_of, question};
