//! Why a type cannot be written in a convention.

/// A type that a convention cannot express.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct Unrepresentable {
    /// The argument or result: `args[1]`, `results[0]["x"]`.
    pub path: String,
    /// Why, and what to do instead.
    pub reason: NoForm,
}

/// Why a type has no form in a convention, and what to do instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoForm {
    /// The convention has no such type.
    #[error("{convention} has no type for `{ty}`")]
    Type {
        /// Which convention.
        convention: &'static str,
        /// The type.
        ty: String,
    },
    /// MLIR has no such number.
    #[error("MLIR has no type `{0}`")]
    MlirNumber(String),
    /// MLIR has no elements of which only the size is known.
    #[error("MLIR has no opaque elements of {0} bits")]
    OpaqueElements(u32),
    /// A tensor whose element type no text states.
    #[error("the element type of the array is not known")]
    ElementUnknown,
    /// Only a place is known, no type.
    #[error("only an index path is known here, no type; give the raw signature too (--raw=…)")]
    PositionOnly,
    /// The VM does not pass it.
    #[error("`{0}` cannot be passed through the VM")]
    Vm(String),
    /// The VM does not pass integers of this width.
    #[error("the VM passes no integers of {0} bits; 1, 8, 16, 32 and 64 it does")]
    VmInteger(u32),
    /// The VM does not pass this number.
    #[error("the VM passes no scalars of type {0}; pass a tensor of one element")]
    VmScalar(String),
    /// Values in a number that is known at run time only have no span inside.
    #[error("a span inside a span")]
    SpanInSpan,
    /// Only imports of the VM have spans.
    #[error("only imports of the VM take a counted span; pass {instead}")]
    Span {
        /// What has a form.
        instead: &'static str,
    },
    /// The attribute `iree.abi` has no record of it.
    #[error("`{0}` has no record; pass a tensor")]
    Record(String),
    /// A raw signature has no structures.
    #[error("a raw signature is flat; describe the structure with sip beside it")]
    Structure,
    /// Index paths count values.
    #[error("an index path needs a fixed number of values")]
    OpenLength,
    /// An index path leads through another value; the text of a
    /// [`sip::InsertError`](crate::sip::InsertError).
    #[error("{0}")]
    Path(String),
    /// LLVM has no such type; the text is as it is shown.
    #[error("{0} has no form in LLVM")]
    Llvm(String),
    /// Tuples are none in LLVM.
    #[error("tuples have no form in LLVM; return several results instead")]
    Tuple,
    /// LLVM has no float of this width.
    #[error("LLVM has no float of {0} bits")]
    LlvmFloat(u32),
    /// LLVM has vectors of vectors only of fixed lengths.
    #[error("only the innermost dimension of a vector can be scalable in LLVM")]
    OuterScalable,
    /// A layout without strides.
    #[error("the layout {0} has no strides, so there is no descriptor for it")]
    Layout(String),
    /// A memory space that is another with each kind of GPU.
    #[error("the memory space {0} is address space 0 with NVVM and 5 with ROCDL; write the number")]
    AmbiguousSpace(String),
    /// A memory space without a number.
    #[error("the memory space {0} has no LLVM address space; only integers and those of GPUs have")]
    MemorySpace(String),
    /// A bare pointer tells no sizes.
    #[error("a bare pointer carries no sizes, so shape, strides and offset must be static")]
    BarePointer,
    /// An argument of a function that is itself an argument.
    #[error("of its own type, {0}")]
    Inner(Box<Unrepresentable>),
}

impl NoForm {
    /// Says which argument or result has no form.
    pub(crate) fn at(self, path: impl Into<String>) -> Unrepresentable {
        Unrepresentable { path: path.into(), reason: self }
    }
}
