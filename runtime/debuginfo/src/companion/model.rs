//! The contents of a companion, as data.

use std::ops::Range;
use std::sync::Arc;

use vmfb::RodataOrdinal;

use crate::bytecode::RegisterSlot;
use crate::locations::{LocationId, LocationTable};

/// The contents of a companion.
#[derive(Debug, Default)]
pub struct Companion {
    /// The module's name.
    pub module_name: String,
    /// The functions by ordinal.
    pub(crate) functions: Vec<CompanionFunction>,
    /// The exported names, each with its function.
    pub(crate) exports: Vec<CompanionExport>,
    /// The global variables.
    pub(crate) globals: Vec<CompanionGlobal>,
    /// The constants that hold the text of a nested VM module.
    pub nested: Vec<NestedText>,
    /// The locations that everything else refers to.
    pub(crate) locations: LocationTable,
}

/// A global variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanionGlobal {
    /// Its symbol, without `@` and quotes.
    pub name: String,
    /// Its type: `i64`, or the type of a reference as printed.
    pub mlir_type: String,
}

/// An exported function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompanionExport {
    /// The name that callers use.
    pub(crate) name: String,
    /// The name of the function.
    pub(crate) function: String,
}

/// A constant that holds annotated VM text, printed as hexadecimal digits: an executable for the
/// VMVX back end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NestedText {
    /// The symbol of the constant.
    pub name: String,
    /// The segment of the module that holds the executable.
    pub rodata: RodataOrdinal,
    /// The byte range of the digits in the companion.
    pub digits: Range<usize>,
}

/// One function.
#[derive(Debug, Default, Clone)]
pub(crate) struct CompanionFunction {
    /// Its name, as calls use it.
    pub(crate) name: String,
    /// Where it was written.
    pub(crate) location: Option<LocationId>,
    /// Arguments, block arguments and results, in the order of their definition.
    pub(crate) values: Vec<Value>,
    /// The blocks in layout order.
    pub(crate) blocks: Vec<Block>,
    /// The operations in layout order. Each is one instruction, with the exceptions in
    /// [`crate::alignment`].
    pub(crate) operations: Vec<Operation>,
    /// The values that the operations read; each operation has a range of this list.
    pub(crate) operands: Vec<ValueId>,
    /// The operations that use a global, in order, each with the global's symbol.
    pub(crate) globals: Vec<(u32, Arc<str>)>,
    /// Whether registers and liveness were printed (the format was `annotated-mlir-text`).
    pub(crate) is_annotated: bool,
}

/// Index into [`CompanionFunction::values`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ValueId(pub(crate) u32);

/// What defines a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Definition {
    /// An argument of the function.
    Argument {
        /// Which one.
        index: u32,
    },
    /// An argument of a block other than the entry.
    BlockArgument {
        /// The block, in layout order.
        block: u32,
        /// Which of its arguments.
        index: u32,
    },
    /// A result of an operation.
    Result {
        /// The operation, in layout order.
        operation: u32,
        /// Which of its results.
        index: u32,
    },
}

/// An SSA value.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    /// Its name with the `%`, unique in the function: `%sum`, `%7#1`, `%bb1_arg0`.
    pub(crate) name: String,
    /// Its name in the text, if that is another one: `%1` for `%bb1_arg0`.
    pub(crate) printed_name: Option<String>,
    /// What defines it.
    pub(crate) definition: Definition,
    /// Its MLIR type as printed.
    pub(crate) mlir_type: Arc<str>,
    /// The register that holds it while it is alive.
    pub(crate) register: Option<RegisterSlot>,
    /// The operations during which it is alive, in layout order.
    pub(crate) live: Arc<[LiveRange]>,
    /// The last operation in layout order that reads it.
    pub(crate) last_use: Option<u32>,
}

/// A basic block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// Its first operation.
    pub(crate) first_operation: u32,
    /// Its arguments, as indices into [`CompanionFunction::values`].
    pub(crate) arguments: Range<u32>,
}

/// One operation.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    /// Its full name: `vm.add.i32`.
    pub(crate) mnemonic: Arc<str>,
    /// Its results, as indices into [`CompanionFunction::values`].
    pub(crate) results: Range<u32>,
    /// The values it reads, as a range of [`CompanionFunction::operands`].
    pub(crate) operands: Range<u32>,
    /// Where it comes from.
    pub(crate) location: LocationId,
    /// Where its text begins, in bytes of the companion.
    pub(crate) start: usize,
}

/// A range of operations, in layout order, during which a value is alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LiveRange {
    /// The operations.
    pub(crate) operations: Range<u32>,
    /// Whether this very value is alive, or only some of the results that share its name in the
    /// list. (`%7:2` stands for either result of one operation; it is listed once for each one
    /// alive.)
    pub(crate) is_certain: bool,
}

impl CompanionFunction {
    /// The results of an operation.
    #[must_use]
    pub(crate) fn results(&self, operation: &Operation) -> &[Value] {
        self.values
            .get(operation.results.start as usize..operation.results.end as usize)
            .unwrap_or_default()
    }

    /// The values that an operation reads.
    pub(crate) fn operands(&self, operation: &Operation) -> impl Iterator<Item = ValueId> {
        let range = operation.operands.start as usize..operation.operands.end as usize;
        self.operands.get(range).unwrap_or_default().iter().copied()
    }
}
