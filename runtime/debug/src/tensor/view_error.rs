//! What a view of a tensor refuses.

use abi::element_type::ElementType;
use abi::tensor::TensorType;

/// Why a view of a tensor cannot be made, read, cut or written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ViewError {
    /// The elements are no numbers.
    #[error("elements of type {0} have no values")]
    WithoutValues(ElementType),
    /// The buffer has fewer bytes than the tensor.
    #[error("{tensor_type} does not fit the buffer, which has {length} bytes")]
    DoesNotFitBuffer {
        /// The type of the tensor.
        tensor_type: TensorType,
        /// How many bytes the buffer has.
        length: usize,
    },
    /// Elements are outside of the buffer.
    #[error("the tensor is larger than its memory")]
    LargerThanMemory,
    /// The elements have gaps between them.
    #[error("its elements do not lie together")]
    Gaps,
    /// A tensor of another type is to be copied.
    #[error("{is} is no {wanted}")]
    OtherType {
        /// The type of the tensor that is copied.
        is: TensorType,
        /// The type of the tensor that it is copied to.
        wanted: TensorType,
    },
    /// One number is to become a tensor that has axes.
    #[error("only single elements can be set")]
    SeveralElements,
    /// A number that an element cannot have.
    #[error("{text} does not fit an element of {element_type}")]
    DoesNotFitElement {
        /// The number.
        text: String,
        /// The type of the element.
        element_type: ElementType,
    },
    /// The text of a slice is none of the tensor.
    #[error(transparent)]
    Slice(#[from] SliceError),
    /// There is no axis with a number.
    #[error("there is no axis {axis}: the tensor has {axes}")]
    NoAxis {
        /// The number.
        axis: usize,
        /// How many axes there are.
        axes: usize,
    },
    /// Indices that an axis does not have.
    #[error("axis {axis} has {length} indices, and others are asked for")]
    OutsideAxis {
        /// The number of the axis.
        axis: usize,
        /// How many indices it has.
        length: usize,
    },
    /// The tensor is shown in rows and columns, and has more axes.
    #[error("{axes} axes are left, and two can be shown")]
    TooManyAxes {
        /// How many it has.
        axes: usize,
    },
    /// Two tensors whose elements do not pair.
    #[error("{a} and {b} have different shapes")]
    OtherShape {
        /// The type of the first.
        a: TensorType,
        /// The type of the second.
        b: TensorType,
    },
    /// Elements without a unit in the last place, or of two types.
    #[error("units in the last place are between floats of one type, not {a} and {b}")]
    WithoutUlps {
        /// The element type of the first tensor.
        a: ElementType,
        /// The element type of the second.
        b: ElementType,
    },
    /// Memory cannot be had, or not be written.
    #[error(transparent)]
    Memory(#[from] vm::Status),
}

/// Why a text such as `[3, :, 2:8]` is no slice of a tensor.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SliceError {
    /// There are more indices than axes.
    #[error("{indices} indices for {axes} axes")]
    TooManyIndices {
        /// How many indices there are.
        indices: usize,
        /// How many axes the tensor has.
        axes: usize,
    },
    /// A bound that is no number.
    #[error("{0} is no index")]
    NoIndex(String),
    /// A step that is no number, or 0.
    #[error("{0} is no step")]
    NoStep(String),
    /// An index that is no number, or is outside of its axis.
    #[error("{text} is no index of axis {axis}, which has {length}")]
    OutsideAxis {
        /// The text of the index.
        text: String,
        /// The number of the axis.
        axis: usize,
        /// How many elements the axis has.
        length: usize,
    },
}

/// Why a tensor is not written as `.npy`.
#[derive(Debug, thiserror::Error)]
pub enum NoNpy {
    /// Its elements are smaller than a byte, and not all of them one after another.
    #[error("its elements do not lie whole bytes apart")]
    Packed,
    /// NumPy has no type for it.
    #[error(transparent)]
    Npy(#[from] abi::npy::NpyError),
}
