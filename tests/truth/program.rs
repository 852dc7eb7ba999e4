//! Programs as trees: the generator makes them, the printer prints them, the interpreter runs them.

/// A value of a function: an index into its `values`.
pub(crate) type Id = usize;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    I1,
    I32,
    I64,
    Index,
    F32,
    F64,
    /// A list of i64.
    List,
    /// A tensor of f32 with this many rows and columns; 0 columns make it a vector.
    Tensor(u8, u8),
}

impl Type {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::I1 => "i1",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::Index => "index",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::List => "!util.list<i64>",
            Self::Tensor(4, 6) => "tensor<4x6xf32>",
            Self::Tensor(6, 4) => "tensor<6x4xf32>",
            Self::Tensor(4, 4) => "tensor<4x4xf32>",
            Self::Tensor(4, 0) => "tensor<4xf32>",
            Self::Tensor(..) => "tensor<6xf32>",
        }
    }

    pub(crate) const fn bits(self) -> u32 {
        match self {
            Self::I1 => 1,
            Self::I32 | Self::F32 => 32,
            _ => 64,
        }
    }
}

/// A value at run time. Integers keep their sign; an i1 is 0 or 1.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    Integer(i64),
    F32(f32),
    F64(f64),
    List(usize),
    Tensor(usize),
}

/// Arguments of a call. Tensors are indices into `tensors`.
#[derive(Clone, Default)]
pub(crate) struct Inputs {
    pub(crate) values: Vec<Value>,
    pub(crate) tensors: Vec<Vec<f32>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// The name as in the source: `%x`, `%r#1`.
    pub(crate) name: String,
    pub(crate) kind: Type,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dialect {
    Util,
    Func,
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) dialect: Dialect,
    /// The module's name, if it has one.
    pub(crate) name: Option<String>,
    pub(crate) globals: Vec<Global>,
    /// The functions. Each calls only earlier ones; the last is the entry.
    pub(crate) functions: Vec<Function>,
}

#[derive(Clone, Debug)]
pub(crate) struct Global {
    pub(crate) name: String,
    pub(crate) kind: Type,
    pub(crate) initial: i64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) is_public: bool,
    /// Whether the compiler may not inline it.
    pub(crate) is_kept: bool,
    pub(crate) values: Vec<Variable>,
    pub(crate) results: Vec<Type>,
    /// One block, or several if control flow uses branches. The arguments of the first are the
    /// parameters.
    pub(crate) blocks: Vec<Block>,
    pub(crate) line: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub(crate) arguments: Vec<Id>,
    pub(crate) operations: Vec<Operation>,
}

#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// Its number in the function, in the order of the text, from 1. The printer assigns it.
    pub(crate) number: usize,
    pub(crate) line: u32,
    /// Whether it shares the line of the operation before it.
    pub(crate) joins: bool,
    pub(crate) kind: Kind,
    pub(crate) operands: Vec<Id>,
    pub(crate) results: Vec<Id>,
    pub(crate) regions: Vec<Block>,
}

/// The kind of an operation. The comments list its operands, in the order of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Constant(Value),
    Binary(Binary),
    NegateFloat,
    AbsoluteFloat,
    /// `arith.cmpi` or `arith.cmpf`.
    Compare(Predicate),
    Select,
    Cast(Cast),
    /// Lower and upper bound, step, initial values. Its region takes the counter and the carried
    /// values.
    For,
    /// A condition. One region or two.
    If,
    /// Initial values. A region before the test and one after it.
    While,
    Yield,
    /// Ends the first region of a `While`: the condition and the values passed on.
    Condition,
    Call(usize),
    Load(usize),
    Store(usize),
    /// Capacity.
    ListCreate,
    /// List, length.
    ListResize,
    /// List, index.
    ListGet,
    /// List, index, value.
    ListSet,
    ListSize,
    Branch(usize),
    /// Blocks for true and false. The operands are the condition, this many for the first block,
    /// and the rest for the second.
    BranchIf(usize, usize, usize),
    Return,
    TensorEmpty,
    /// A float, and the tensor to fill.
    Fill,
    /// Tensors, the last of which gives the shape of the result. Its region takes their elements.
    Generic,
    /// Ends the region of a `Generic`.
    ElementYield,
    /// Two matrices, and what to add to their product.
    MatrixProduct,
    /// A tensor and indices.
    Extract,
    /// A tensor and an index.
    Dimension,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRightSigned,
    ShiftRightUnsigned,
    DivideUnsigned,
    RemainderUnsigned,
    DivideSigned,
    MaximumSigned,
    MinimumUnsigned,
    MaximumFloat,
    MinimumFloat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Predicate {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    LessUnsigned,
    GreaterOrEqualUnsigned,
    /// Of floats: whether one is NaN.
    Unordered,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cast {
    Index,
    ExtendSigned,
    ExtendUnsigned,
    Truncate,
    /// i32 to f32.
    ToFloat,
}

impl Kind {
    /// Whether it has no effects.
    pub(crate) const fn is_pure(self) -> bool {
        matches!(
            self,
            Self::Constant(_)
                | Self::Binary(_)
                | Self::NegateFloat
                | Self::AbsoluteFloat
                | Self::Compare(_)
                | Self::Select
                | Self::Cast(_)
        )
    }

    pub(crate) const fn ends_block(self) -> bool {
        matches!(
            self,
            Self::Yield | Self::Condition | Self::Branch(_) | Self::BranchIf(..) | Self::Return
        )
    }
}

impl Function {
    pub(crate) fn parameters(&self) -> &[Id] {
        self.blocks.first().map_or(&[], |block| &block.arguments)
    }

    pub(crate) fn kind(&self, id: Id) -> Type {
        self.values[id].kind
    }

    /// All operations of the function in the order of the text, nested ones included.
    pub(crate) fn operations(&self) -> Vec<&Operation> {
        fn walk<'a>(blocks: &'a [Block], all: &mut Vec<&'a Operation>) {
            for operation in blocks.iter().flat_map(|block| &block.operations) {
                all.push(operation);
                walk(&operation.regions, all);
            }
        }
        let mut all = Vec::new();
        walk(&self.blocks, &mut all);
        all
    }
}

impl Program {
    pub(crate) fn entry(&self) -> &Function {
        &self.functions[self.functions.len() - 1]
    }
}
