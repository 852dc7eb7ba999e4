//! Why a dispatch has no function over tensors.

use super::twin::NoSource;

/// Why a dispatch is not written as a function over tensors.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoFunction {
    /// Its source cannot be had.
    #[error(transparent)]
    Source(#[from] NoSource),
    /// Its source has nothing that it runs.
    #[error("the source of @{export} has no function of that name")]
    NotThere {
        /// The dispatch.
        export: String,
    },
    /// It needs more than itself.
    #[error("@{export} calls functions of its executable, which are not kept with it")]
    Calls {
        /// The dispatch.
        export: String,
    },
    /// Its function has no text.
    #[error("the source of @{export} is empty")]
    Empty {
        /// The dispatch.
        export: String,
    },
    /// It leaves nothing.
    #[error("@{export} writes no tensor")]
    NoResult {
        /// The dispatch.
        export: String,
    },
    /// An operation that only the machine gives a meaning to.
    #[error("the dispatch has {operation}, which functions over tensors do not have")]
    OtherOperation {
        /// The name of the operation.
        operation: String,
    },
    /// An operation that lacks a part.
    #[error(transparent)]
    Incomplete(#[from] Incomplete),
    /// A slice without one of its lists.
    #[error("no {list} in: {text}")]
    Slice {
        /// The list that is not there.
        list: &'static str,
        /// The operation.
        text: String,
    },
    /// A tensor whose type is not read.
    #[error("the type of a tensor is not understood: {text}")]
    TensorType {
        /// The operation that has it.
        text: String,
    },
    /// A number of the call that is not read.
    #[error("a number is not understood: {text}")]
    Number {
        /// The operation that loads it.
        text: String,
    },
    /// The call lacks a number that the dispatch loads.
    #[error("the call has too few numbers")]
    TooFewNumbers,
    /// The order of a tensor's elements is known to the machine only.
    #[error(
        "operand {operand} of the dispatch has an encoding ({written_type}): only the machine \
         knows the order of its elements, so no file can have them; compile the program with \
         --iree-opt-data-tiling=false"
    )]
    Encoded {
        /// The number of the operand.
        operand: usize,
        /// Its type.
        written_type: String,
    },
    /// There are more tensors than the dispatch declares.
    #[error("the types of the dispatch's tensors are not known")]
    TypesNotKnown,
    /// The numbers of the call do not give the shape of a tensor.
    #[error("the shape of operand {operand} is not known: {shape}")]
    ShapeNotKnown {
        /// The number of the operand.
        operand: usize,
        /// What is known of it.
        shape: String,
    },
    /// A load or a store of something else than a tensor of the dispatch.
    #[error("%{value} is no tensor of the dispatch")]
    NoTensor {
        /// The value, without its sigil.
        value: String,
    },
    /// A load in a region, as of a loop.
    #[error("the dispatch loads a tensor inside of another operation")]
    LoadsInside,
    /// A store in a region, as of a loop.
    #[error("the dispatch stores a tensor inside of another operation")]
    StoresInside,
    /// A result whose size is not known before the dispatch runs.
    #[error("the size {size} of a result is computed by the dispatch")]
    ComputedSize {
        /// The value, with its sigil.
        size: String,
    },
}

/// What an operation of a dispatch lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Incomplete {
    /// A tensor that no value stands for.
    #[error("a tensor without a name")]
    TensorName,
    /// An ordinal of no number.
    #[error("an ordinal of nothing")]
    OrdinalOperand,
    /// A load that no value stands for.
    #[error("a load without a result")]
    LoadResult,
    /// A load of no tensor.
    #[error("a load of nothing")]
    LoadOperand,
    /// A load that does not say what it gives.
    #[error("a load without a type")]
    LoadType,
    /// A store of no value.
    #[error("a store of nothing")]
    StoreOperand,
    /// A store into no tensor.
    #[error("a store to nowhere")]
    StoreTarget,
    /// A store that does not say what it writes.
    #[error("a store without a type")]
    StoreType,
}
