//! One file or folder per convention: text to a signature and back, and its values in memory.
//! Conventions meet only in the model, [`crate::signature`]; [`convention`] lists them.

pub mod cconv_layout;
pub mod convention;
pub mod iree_abi;
pub mod mlir;
pub mod raw;
pub mod raw_buffers;
pub mod sip;
mod tagged;
pub mod tvm;
