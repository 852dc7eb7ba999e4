//! Why an expression has no value: what is wrong with its text, its operands, or what it names.

use std::time::Duration;

use abi::native_values::NotShown;

use crate::tensor::ViewError;

/// Why an expression, or a part of one, has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// The text is no expression, or one that may not stand here.
    #[error("{0}")]
    Text(String),
    /// Nothing has the name, with a hint at what has.
    #[error("{0}")]
    Unknown(String),
    /// A value of the wrong kind.
    #[error("{is} is no {wanted}")]
    NotA {
        /// What it is, as in "a tensor of 4xf32".
        is: String,
        /// What is needed.
        wanted: &'static str,
    },
    /// A value that lacks something.
    #[error("{is} has no {what}")]
    Without {
        /// What it is.
        is: String,
        /// What it lacks.
        what: &'static str,
    },
    /// A field that no value of the kind has.
    #[error(
        "{is} has no field {name:?}; there are T, shape, rank, count, type, bytes, references, \
         and u8, i32, i64, f32, f64 of memory"
    )]
    NoField {
        /// What the value is.
        is: String,
        /// The field.
        name: String,
    },
    /// A value that no type can be put on.
    #[error("{is} is no memory, so it cannot be cast")]
    NotMemory {
        /// What it is.
        is: String,
    },
    /// A number that the type cannot have.
    #[error("{is} cannot be cast to {type_name}")]
    CannotCast {
        /// What it is.
        is: String,
        /// The type.
        type_name: String,
    },
    /// Elements with gaps between them have no bytes that a type could be put on.
    #[error("a slice with gaps cannot be cast; cast first, then take the slice")]
    Gaps,
    /// A buffer whose elements have no type.
    #[error(
        "these bytes have no type yet; cast them, as in `x as 4x8xf32`, or take them as \
         `x.f32[0]`"
    )]
    WithoutType,
    /// A value that is neither true nor false.
    #[error("{is} is neither true nor false")]
    NoTruth {
        /// What it is.
        is: String,
    },
    /// A tensor of several elements, some of which may be true.
    #[error("{is} is neither true nor false; any(…) or all(…) of it is")]
    AmbiguousTruth {
        /// What it is.
        is: String,
    },
    /// An operator between values that it is not for.
    #[error("`{operator}` does not take {left} and {right}")]
    Operands {
        /// The operator.
        operator: &'static str,
        /// What is on its left.
        left: String,
        /// What is on its right.
        right: String,
    },
    /// An operator of integers between floats.
    #[error("`{operator}` takes integers; bits(x) gives a float's")]
    TakesIntegers {
        /// The operator.
        operator: &'static str,
    },
    /// `~` of something else than an integer.
    #[error("`~` takes integers, not {is}")]
    Complement {
        /// What it is.
        is: String,
    },
    /// Two tensors whose elements do not pair.
    #[error("tensors of {left} and {right} do not have the same shape")]
    Shapes {
        /// The type of the first.
        left: String,
        /// The type of the second.
        right: String,
    },
    /// A number where a matrix is multiplied.
    #[error("`@` multiplies tensors of one axis or more, not {is}; `*` takes numbers")]
    NoMatrix {
        /// What it is.
        is: String,
    },
    /// Matrices whose rows and columns do not pair.
    #[error(
        "`@` takes rows as long as the columns: the rows of {left} have {inner}, the columns of \
         {right} {other}"
    )]
    InnerAxes {
        /// The type of the left tensor.
        left: String,
        /// The type of the right one.
        right: String,
        /// How long a row of the left one is.
        inner: usize,
        /// How long a column of the right one is.
        other: usize,
    },
    /// Batches of matrices that do not pair.
    #[error(
        "`@` pairs the axes of {left} and {right} before the last two from the last on, and each \
         pair is of one size, or one of the two is 1"
    )]
    OuterAxes {
        /// The type of the left tensor.
        left: String,
        /// The type of the right one.
        right: String,
    },
    /// An axis that a tensor does not have.
    #[error(
        "there is no axis {axis}; {}",
        match rank {
            0 => "the tensor has none".to_owned(),
            1 => "there is only 0, which is also -1".to_owned(),
            rank => format!("there are 0 to {}, which are also -{rank} to -1", rank - 1),
        }
    )]
    NoAxis {
        /// The axis.
        axis: i128,
        /// How many there are.
        rank: usize,
    },
    /// A percentage that is none.
    #[error("a percentage is a number from 0 to 100, not {is}")]
    NoPercentage {
        /// What it is.
        is: String,
    },
    /// A division by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// More than 128 bits.
    #[error("the result is too large for an integer")]
    TooLarge,
    /// A shift by a negative number, or by far too many bits.
    #[error("nothing is shifted by {bits} bits")]
    Shift {
        /// By how many.
        bits: i128,
    },
    /// A number that does not fit.
    #[error("{value} does not fit {bits} bits")]
    DoesNotFit {
        /// The number.
        value: i128,
        /// How many bits there are.
        bits: u32,
    },
    /// A call without arguments.
    #[error("{function}({arguments}) needs an argument")]
    NeedsArgument {
        /// The function.
        function: &'static str,
        /// What it takes.
        arguments: &'static str,
    },
    /// A call with too many or too few arguments.
    #[error(
        "{given} {} given, it takes {takes}",
        if *given == 1 { "argument was" } else { "arguments were" }
    )]
    Arguments {
        /// How many were given.
        given: usize,
        /// How many it takes, in words.
        takes: &'static str,
    },
    /// A function of the language cannot be computed.
    #[error("{function}: {why}")]
    InFunction {
        /// The function.
        function: &'static str,
        /// Why not.
        why: Box<Self>,
    },
    /// A function that neither the program nor the language has.
    #[error("there is no function {name}(), neither in the program nor in the language")]
    NoFunction {
        /// The name.
        name: String,
    },
    /// A function of the program where none is called.
    #[error(
        "there is no function {name}() here; functions of the program are called in the console \
         only"
    )]
    NoCallsHere {
        /// The name.
        name: String,
    },
    /// A function that changes something outside itself.
    #[error("@{name} is not pure: {why}")]
    NotPure {
        /// The function.
        name: String,
        /// What it does.
        why: &'static str,
    },
    /// A function without bytecode.
    #[error("@{name} is native; it may change anything")]
    Native {
        /// The function.
        name: String,
    },
    /// A function of the program with too many or too few arguments.
    #[error("@{name} takes {takes} arguments, not {given}: {signature}")]
    Signature {
        /// The function.
        name: String,
        /// How many it takes.
        takes: usize,
        /// How many were given.
        given: usize,
        /// What they are.
        signature: String,
    },
    /// A function without a result.
    #[error("@{name} returns nothing")]
    NoResult {
        /// The function.
        name: String,
    },
    /// A function whose arguments only bytecode can make.
    #[error("the function takes spans, and can be called by bytecode only")]
    TakesSpans,
    /// A number that the type of an argument does not have.
    #[error("the number is too large for the argument")]
    ArgumentTooLarge,
    /// A call that was ended.
    #[error("the call was cancelled or took too long")]
    CallEnded,
    /// A call that has stopped again and again.
    #[error("the call met too many breakpoints")]
    TooManyBreakpoints,
    /// A call that has failed.
    #[error("{0}")]
    CallFailed(String),
    /// An index beyond the end.
    #[error("there is no element {index}; there are {count}")]
    NoElement {
        /// The index.
        index: i128,
        /// How many elements there are.
        count: usize,
    },
    /// The same, by the index in row-major order.
    #[error("there is no element {index}; the tensor has {count}")]
    NoElementOfTensor {
        /// The index.
        index: i128,
        /// How many elements there are.
        count: usize,
    },
    /// An element of a list that nothing was put into.
    #[error("element {index} is not set")]
    NotSet {
        /// The index.
        index: usize,
    },
    /// An element of a list that is no number.
    #[error("element {index} is no number")]
    NoNumber {
        /// The index.
        index: usize,
    },
    /// An index that is none.
    #[error("an index is an integer, not {is}")]
    Index {
        /// What it is.
        is: String,
    },
    /// A coordinate beyond its axis.
    #[error("coordinate {axis} is no index below {length}")]
    Coordinate {
        /// The axis.
        axis: usize,
        /// The length of the axis.
        length: u64,
    },
    /// Too many indices.
    #[error("{type_name} has {rank} dimensions, not {given}")]
    Rank {
        /// The type of the tensor.
        type_name: String,
        /// How many dimensions it has.
        rank: usize,
        /// How many indices were given.
        given: usize,
    },
    /// Several indices, or a slice, where there is one index.
    #[error("{what} one index")]
    OneIndex {
        /// What takes it, with its verb: "a list takes".
        what: String,
    },
    /// A step of a slice that is none.
    #[error("a step is not 0; a negative one goes back")]
    Step,
    /// A step in a slice of a list.
    #[error("slices of lists have no step")]
    ListStep,
    /// A member that a dispatch or a module does not have.
    #[error("there is no {what} {index}; the {owner} has {count}")]
    NoMember {
        /// What it would be: "operand".
        what: &'static str,
        /// Its number.
        index: usize,
        /// What could have it: "dispatch".
        owner: &'static str,
        /// How many there are.
        count: usize,
    },
    /// An operand that its binding is too small for.
    #[error("binding[{binding}] does not have {tensor_type} at byte {offset}")]
    NotInBinding {
        /// The binding.
        binding: usize,
        /// The type of the operand.
        tensor_type: String,
        /// Where it would begin.
        offset: u64,
    },
    /// Operands of a dispatch whose source is not there.
    #[error(
        "what tensors the dispatch has is not known: that is written by `iree-dbg compile`; its \
         bindings are there"
    )]
    OperandsUnknown,
    /// A frame outside of all dispatches.
    #[error("this frame belongs to no dispatch")]
    NoDispatch,
    /// A field of `dispatch` where none runs.
    #[error("no dispatch runs here")]
    NoDispatchRuns,
    /// A frame of native code.
    #[error("native code has no globals")]
    NoGlobals,
    /// A number of what was printed, before anything was.
    #[error("nothing was printed so far; `print` numbers what it shows: $1, $2")]
    NothingPrinted,
    /// A number of what was printed that is too large.
    #[error("the values that were printed are $1 to ${count}")]
    NotPrinted {
        /// How many were.
        count: usize,
    },
    /// A file that has no such tensor.
    #[error("{path}: {why}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// Memory of the debugger's own process, in a session that may not read it.
    #[error(
        "this reads the debugger's own memory by address, which this session may not; allow it \
         with `\"foreignMemory\": true` in the launch, or `--foreign-memory` of `run --listen`"
    )]
    ForeignMemory,
    /// A tensor that cannot be made, read or set.
    #[error(transparent)]
    View(#[from] ViewError),
    /// Memory that cannot be had, or not be written.
    #[error(transparent)]
    Memory(#[from] vm::Status),
    /// Bytes that are no value of foreign memory.
    #[error(transparent)]
    Foreign(#[from] NotShown),
    /// What cannot be set, or not to this.
    #[error("{0}")]
    NotSettable(String),
    /// The user has ended the evaluation.
    #[error("the evaluation was cancelled")]
    Cancelled,
    /// The evaluation has taken too long.
    #[error("the evaluation took longer than {} s; take a slice", .limit.as_secs_f64())]
    TooLong {
        /// How long it may take.
        limit: Duration,
    },
    /// A computed tensor that would be too large.
    #[error("the result has {count} elements, more than {most}; take a slice")]
    TooManyElements {
        /// How many it would have.
        count: usize,
        /// How many it may have.
        most: usize,
    },
}
