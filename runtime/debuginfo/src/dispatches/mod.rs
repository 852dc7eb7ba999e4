//! What dispatches read and write, and which operations of the source each call of one stands for:
//! all from text that iree-compile prints, kept beside the module. Nothing here reads bytecode.
//!
//! - [`statements`]: operations of a text, line by line
//! - [`positions`]: where they were written
//! - [`body`]: the operations of a dispatch that are its work
//! - [`calls`]: the calls of a dispatch that several operations share
//! - [`interface`]: the tensors of a dispatch, given its numbers
//! - [`file`]: the file beside a module

mod body;
mod calls;
mod file;
mod interface;
mod positions;
mod statements;
#[cfg(test)]
mod tests;

pub use calls::DispatchCall;
pub use file::DispatchInterfaces;
pub use interface::{DispatchInterface, DispatchOperand, OperandAccess};
pub use positions::{CallChain, NamedPosition};
