//! Signatures as data, and typed values as text.
//!
//! This crate knows how functions describe their arguments and results to callers in other
//! languages. It knows nothing of module files and executes nothing.
//!
//! Each module uses only modules above it in this table; the modules inside the folders are public
//! at the root:
//!
//! | module | what lives there |
//! | --- | --- |
//! | `text` | [`SyntaxError`], [`json`], floats as C prints them ([`c_float`]), patterns ([`glob`]), texts for terminals ([`shown`](fn@shown)) |
//! | `cconv` | the VM's calling-convention strings (`0rii_r`), which every function of a module has |
//! | `values` | values as text and files: [`scalar`], [`tensor`], [`element_type`], [`npy`], [`compare`] |
//! | `unrepresentable` | why a type cannot be written in a convention |
//! | `signature` | the model that every convention is parsed into and printed from |
//! | `conventions` | one module per [`convention`]: [`cconv_layout`], [`iree_abi`], [`raw`], [`raw_buffers`], [`sip`], [`tvm`], [`mlir`] |
//! | `explain` | a compiled function under all conventions |
//! | `native_values` | values of native conventions in memory, as text, for debuggers |

pub mod cconv;
mod conventions;
pub mod explain;
pub mod native_values;
pub mod signature;
mod text;
mod unrepresentable;
mod values;

pub use conventions::{cconv_layout, convention, iree_abi, mlir, raw, raw_buffers, sip, tvm};
pub use text::{SyntaxError, c_float, glob, json, shown};
pub use values::{compare, element_type, npy, scalar, tensor};
