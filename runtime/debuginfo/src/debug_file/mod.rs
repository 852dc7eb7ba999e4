//! The debug file of a module, `model.vmfb.debug`: all that `iree-dbg compile` keeps for debugging,
//! in one zip archive.
//!
//! ```text
//! manifest.json      which module it is of, compiler, flags, digests of the sources
//! companion.mlir     the debug companion (`crate::companion`)
//! dispatches.mlir    the sources of dispatches, and the account of their calls (`dispatches`)
//! counts.mlir        counts of workgroups, if the module has bytecode beside other variants
//! flow.mlir          the program of tensors
//! input.mlir         the source as the compiler has read it
//! nodes.onnx         nodes and names of the ONNX model that it was imported from, without weights
//! python-map.json    which Python has made which line of the source
//! sources/N-NAME     the sources themselves, if they are small
//! constants/NAME     bytes of constants that the texts leave out and the module has not
//! twins/NAME         bytecode twins of dispatches, added while debugging
//! ```
//!
//! Large constants are left out of all texts; the manifest says where the module has their bytes.
//! The file may be damaged, made to harm, or of another
//! module: sizes are bounded before anything is unpacked, and the manifest is checked against the
//! module.
//!
//! - [`budget`]: how much may be unpacked
//! - [`manifest`]: what the file says of itself
//! - [`error`]: why it cannot be used
//! - [`reading`]: an open debug file
//! - [`writing`]: making one, and adding to it

mod budget;
mod error;
mod manifest;
mod reading;
#[cfg(test)]
mod tests;
mod writing;

pub use budget::{Budget, OverBudget, Use};
pub use error::{Damage, DebugFileError};
pub use manifest::{KeptSource, Manifest, ModuleIdentity};
pub use reading::{DebugFile, MODEL_NODES, PYTHON_MAP, PackedDebugFile, constant_member};
pub use writing::write_debug_file;
