//! The bytecode verifier, between a file and the interpreter.
//!
//! A [`VerifiedModule`] promises, and the interpreter relies on this: every instruction decodes;
//! registers, globals, rodata, types and functions that instructions name exist; register pairs are
//! aligned; branches lead to block markers; calls pass what their callee's signature asks for;
//! control never runs off the end of a function.
//!
//! The rules are those of IREE's `vm/bytecode/verifier.c`, with its gaps closed: ordinals of called
//! functions are compared with the table, and global offsets are compared without wrapping. All
//! defects are reported, not only the first.

mod defect;
mod function;
mod signatures;
mod verified_module;

pub use defect::Defect;
pub use verified_module::{VerifiedModule, verify};
