//! Signatures as data, and typed values as text.
//!
//! This crate knows how functions describe their arguments and results across a boundary. It knows
//! nothing of module files and executes nothing.
//!
//! - [`signature`]: the one model that every convention parses into and prints from.
//!   [`convention`]: the list of conventions.
//! - [`cconv`]: the VM's calling-convention strings (`0rii_r`), the one description that every
//!   function of a module has;
//!   [`cconv_layout`]: their values in memory.
//! - [`iree_v1`]: reflection records of `iree.abi`. [`raw`], [`sip`], [`oracle`]: what came before
//!   them, over tagged text.
//! - [`tvm`]: TVM FFI's types and values. [`mlir`]: MLIR's functions and memrefs.
//! - [`explain`]: a compiled function under all of them. [`foreign`]: their values in memory, for
//!   debuggers.
//! - [`scalar`], [`tensor`], [`element_type`]: values as the text of command lines, in and out.
//! - [`npy`]: tensors as NumPy files; [`compare`]: whether tensors are equal, or near. [`json`]:
//!   JSON with places.
//! - [`c_float`]: floats as C prints them, because IREE's tools do. [`glob`]: patterns for names.

pub mod c_float;
pub mod cconv;
pub mod cconv_layout;
pub mod compare;
pub mod convention;
pub mod element_type;
pub mod explain;
pub mod foreign;
pub mod glob;
pub mod iree_v1;
pub mod json;
pub mod mlir;
pub mod npy;
pub mod oracle;
pub mod raw;
pub mod scalar;
pub mod signature;
pub mod sip;
mod small_float;
pub mod syntax;
mod tagged;
pub mod tensor;
pub mod tvm;
