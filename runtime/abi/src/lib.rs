//! Signatures as data, and typed values as text.
//!
//! This crate knows how functions describe their arguments and results across a boundary. It knows nothing of module
//! files and executes nothing.
//!
//! - [`cconv`]: the VM's calling-convention strings (`0rii_r`), the one description that every function of a module has.
//! - [`scalar`], [`tensor`], [`element_type`]: values as the text of command lines, in and out.
//! - [`npy`]: tensors as NumPy files; [`compare`]: whether tensors are equal, or near.
//! - [`c_float`]: floats as C prints them, because IREE's tools do.

pub mod c_float;
pub mod cconv;
pub mod compare;
pub mod element_type;
pub mod npy;
pub mod scalar;
mod small_float;
pub mod tensor;
