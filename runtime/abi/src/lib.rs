//! Signatures as data, and typed values as text.
//!
//! This crate knows how functions describe their arguments and results across a boundary. It knows nothing of module
//! files and executes nothing.
//!
//! - [`c_float`]: floats as C prints them, because IREE's tools do.
//! - [`scalar`]: scalars as text, in and out.
//! - [`cconv`]: the VM's calling-convention strings (`0rii_r`), the one description that every function of a module has.

pub mod c_float;
pub mod cconv;
pub mod scalar;
