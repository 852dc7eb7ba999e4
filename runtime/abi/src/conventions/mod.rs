//! One file or folder per convention: its text to a signature and back, and its values in memory.
//! [`convention`] lists them all; what they share is the model, [`crate::signature`].

pub mod cconv_layout;
pub mod convention;
pub mod iree_abi;
pub mod mlir;
pub mod raw;
pub mod raw_buffers;
pub mod sip;
mod tagged;
pub mod tvm;
