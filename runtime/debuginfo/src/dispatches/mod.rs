//! The tensors that dispatches read and write, and the source operations that each call of a
//! dispatch stands for, all from text that iree-compile prints and that the debug file keeps.
//! Nothing here reads bytecode.
//!
//! - [`statements`]: operations of a text, line by line
//! - [`body`]: the operations of a dispatch
//! - [`calls`]: the calls of a dispatch that several operations share
//! - [`layouts`]: how encoded tensors lie in memory
//! - [`interface`]: the tensors of a dispatch, given its numbers
//! - [`reads`]: which elements of its tensors it loads
//! - [`file`](mod@file): the text of all of them
//! - [`workgroups`]: how many workgroups a dispatch has
//! - [`targets`]: what dispatches were compiled for
//! - [`twin`]: the source of a dispatch, to be compiled to bytecode
//! - [`no_function`]: why a dispatch has no function over tensors
//! - [`function_parts`]: slices, types and aliases of a dispatch's text
//! - [`function`]: a dispatch as a function over tensors

mod body;
mod calls;
mod file;
mod function;
mod function_parts;
#[cfg(test)]
mod function_tests;
mod interface;
mod layouts;
mod no_function;
mod reads;
mod statements;
mod targets;
#[cfg(test)]
mod tests;
mod twin;
mod workgroups;

pub use calls::DispatchCall;
pub use file::DispatchInterfaces;
pub use function::{ArgumentOrigin, DispatchFunction, FunctionArgument, FunctionResult, Shapes};
pub(crate) use interface::DeclaredTensor;
#[cfg(test)]
pub(crate) use interface::Needs;
pub use interface::{
    DispatchInterface, DispatchOperand, EncodedOperand, OperandAccess, TiledOperand,
};
pub use no_function::{Incomplete, NoFunction};
pub use reads::{AxisRange, OperandReads};
pub use targets::DispatchTargets;
pub use twin::{NoSource, TwinCall, dispatch_text, most_scratch, takes_numbers, twin_sources};
pub use workgroups::{WorkgroupCount, bytecode_counts};
