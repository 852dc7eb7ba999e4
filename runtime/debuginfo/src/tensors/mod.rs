//! The program of tensors: what iree-compile has made of a model after it formed dispatches, and
//! before it assigned buffers. Its text is printed by the phase `flow`
//! (`--dump-compilation-phases-to=`, with `--mlir-print-debuginfo`).
//!
//! Each operation has tensors as operands and results, and the location of the source operation
//! that it was made from. So it says which command computes which tensor, and, with a proof, which
//! name of the source that tensor has.
//!
//! - [`head`]: the tokens of an operation between its name and its regions
//! - [`program`]: functions, operations and values of the program
//! - [`reader`]: reads them
//! - [`sources`]: the texts that it is read from
//! - [`alignment`]: which instruction records which operation
//! - [`arrangement`]: dispatches in the order in which a module records them
//! - [`reordering`]: loops and branches in that order, too
//! - [`symbolic`]: tensors as functions of their indices, and when two are equal
//! - [`reference`](mod@reference): the tensors of the source
//! - [`steps`]: the operations of the source one by one, to be evaluated
//! - [`places`]: where the operations of dispatches come from
//! - [`names`]: which values are which tensors of the source
//! - [`constructs`]: loops and branches, by induction
//! - [`sizes`]: how tensors are looked up
//! - [`account`]: why a value is a tensor of the source, or why none is
//! - [`derived`]: names for what has none in the source
//! - [`fates`]: what became of the others
//! - [`matches`](mod@matches): which tensor of the source a dispatch leaves
//! - [`parameters`]: which parameters a text names, and of which type
//! - [`interface`]: which value each tensor of a dispatch's interface is
//! - [`work`]: how many arithmetic operations a dispatch does

mod account;
mod alignment;
mod arrangement;
mod constructs;
mod derived;
mod fates;
mod head;
mod implied;
mod interface;
mod matches;
mod names;
mod parameters;
mod places;
mod program;
mod reader;
mod reference;
mod reordering;
mod sizes;
mod sources;
mod steps;
mod symbolic;
#[cfg(test)]
mod tests;
mod work;

pub use alignment::{RecordedDispatch, UnalignedProgram};
pub use parameters::{DeclaredParameter, declared_parameters};
pub use program::{
    DerivedName, Fate, RegionId, SourceTensor, TensorFunction, TensorName, TensorOperation,
    TensorOperationId, TensorOperationKind, TensorPart, TensorProgram, TensorRegion,
    TensorRelation, TensorValue, TensorValueId, Unrecognised,
};
pub use sources::TensorSources;
pub use steps::{SourceStep, SourceSteps, StepOrigin, StepValue, StepValueId};
