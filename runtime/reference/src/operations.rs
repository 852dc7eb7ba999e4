//! A function as operations: what the text says, with names resolved and notation gone. Named
//! operations of linalg are generic ones here.

use std::collections::HashMap;

use mlir::table::{Affine, Complex};
use mlir::{Map, Scalar, TensorType, Type};

/// A value of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub(crate) struct Id(pub(crate) usize);

/// A size or an offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Size {
    Fixed(i64),
    Value(Id),
}

/// Offsets, sizes and strides of a part of a tensor.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Slice {
    pub(crate) offsets: Vec<Size>,
    pub(crate) sizes: Vec<Size>,
    pub(crate) strides: Vec<Size>,
}

/// What a constant is.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Constant {
    /// In every element.
    Float(f64),
    /// In every element.
    Integer(i64),
    Floats(Vec<f64>),
    Integers(Vec<i64>),
    /// Complex numbers; a single one is in every element.
    Pairs(Vec<(f64, f64)>),
}

/// The kind of a loop of a generic operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Iterator {
    Parallel,
    Reduction,
}

/// Operations with the names of the values that they begin with.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Region {
    pub(crate) arguments: Vec<Id>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) yields: Vec<Id>,
}

/// A loop nest over elements.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Generic {
    pub(crate) maps: Vec<Map>,
    pub(crate) iterators: Vec<Iterator>,
    /// Tensors or scalars.
    pub(crate) inputs: Vec<Id>,
    pub(crate) outputs: Vec<Id>,
    pub(crate) body: Region,
}

/// How a scan, a softmax or a gather treats a dimension, and other operations of IREE.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Extension {
    Softmax {
        dimension: usize,
    },
    /// Sorts all operands together.
    Sort {
        dimension: usize,
        body: Region,
    },
    /// The best element of each row.
    ArgCompare {
        dimension: usize,
        body: Region,
        inputs: usize,
    },
    TopK {
        dimension: usize,
        body: Region,
        inputs: usize,
    },
    Scatter {
        dimension_map: Vec<usize>,
        body: Region,
    },
    Gather {
        dimension_map: Vec<usize>,
    },
    Scan {
        dimension: usize,
        inclusive: bool,
        body: Region,
    },
    /// `softmax(Q · Kᵀ · scale + mask) · V`; the maps are those of Q, K, V, of the mask if there is
    /// one, and of the result.
    Attention {
        scale: Id,
        maps: Vec<Map>,
    },
    /// A stage of a fast Fourier transform along the last dimension, on real and imaginary parts.
    Fft {
        stage: Id,
    },
}

/// How a tensor is cut into tiles that lie one after the other.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Tiling {
    /// Which dimension each outer dimension of the packed tensor counts the tiles of.
    pub(crate) outer: Vec<usize>,
    /// Which dimension each inner dimension is a tile of.
    pub(crate) inner: Vec<usize>,
    /// The sizes of tiles, as many as inner dimensions.
    pub(crate) tiles: Vec<Size>,
}

/// What an operation does.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Kind {
    Constant(Constant),
    /// A scalar operation, on scalars or on each element.
    Scalar(Scalar, Vec<Id>),
    /// The same of complex numbers; the module `complex` makes others of it.
    Complex(Complex, Vec<Id>),
    /// Another name of values.
    Alias(Vec<Id>),
    /// A number that the count of workgroups is computed from, by its ordinal.
    Ordinal {
        value: Id,
        ordinal: usize,
    },
    /// The index of a loop; only in the body of a generic operation.
    LoopIndex(usize),
    Generic(Box<Generic>),
    Load {
        source: Id,
        slice: Slice,
    },
    Store {
        value: Id,
        target: Id,
        slice: Slice,
    },
    /// Fails unless a condition holds.
    Assert {
        condition: Id,
        message: String,
    },
    /// Gives a bound tensor its dynamic dimensions.
    TieShape {
        source: Id,
        sizes: Vec<Id>,
    },
    Empty {
        sizes: Vec<Id>,
    },
    Splat {
        value: Id,
        sizes: Vec<Id>,
    },
    FromElements(Vec<Id>),
    Extract {
        source: Id,
        indices: Vec<Id>,
    },
    Insert {
        value: Id,
        target: Id,
        indices: Vec<Id>,
    },
    ExtractSlice {
        source: Id,
        slice: Slice,
    },
    InsertSlice {
        value: Id,
        target: Id,
        slice: Slice,
    },
    Pad {
        source: Id,
        low: Vec<Size>,
        high: Vec<Size>,
        body: Region,
    },
    Generate {
        sizes: Vec<Id>,
        body: Region,
    },
    /// The same elements in the same order under another shape.
    Reshape {
        source: Id,
        sizes: Shape,
    },
    Dimension {
        source: Id,
        index: Id,
    },
    Rank {
        source: Id,
    },
    Concat {
        dimension: usize,
        sources: Vec<Id>,
    },
    /// The tiles of a tensor; what is beyond its end is the padding.
    Pack {
        source: Id,
        padding: Option<Id>,
        target: Id,
        tiling: Tiling,
    },
    Unpack {
        source: Id,
        target: Id,
        tiling: Tiling,
    },
    /// The result of a map, or the least or greatest of several.
    Affine {
        map: Map,
        which: Affine,
        operands: Vec<Id>,
    },
    For {
        low: Id,
        high: Id,
        step: Id,
        initial: Vec<Id>,
        body: Region,
    },
    If {
        condition: Id,
        then: Region,
        otherwise: Region,
    },
    Extension {
        what: Extension,
        inputs: Vec<Id>,
        outputs: Vec<Id>,
    },
}

/// Where the shape of a reshaped tensor comes from.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Shape {
    /// The same.
    Same,
    /// Written.
    Sizes(Vec<Size>),
    /// Each dimension is the product of these.
    Products(Vec<Vec<usize>>),
    /// In a tensor of integers.
    Tensor(Id),
}

/// An operation.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Operation {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) results: Vec<Id>,
    pub(crate) kind: Kind,
}

/// A function.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) parameters: Vec<Id>,
    pub(crate) body: Region,
    /// The type of each value.
    pub(crate) types: Vec<Type>,
    /// The values that are the imaginary parts of others. These are the real parts then.
    pub(crate) imaginary: HashMap<Id, Id>,
}

impl Function {
    pub(crate) fn type_of(&self, id: Id) -> &Type {
        &self.types[id.0]
    }

    pub(crate) fn tensor_type(&self, id: Id) -> Option<&TensorType> {
        self.types[id.0].tensor()
    }
}
