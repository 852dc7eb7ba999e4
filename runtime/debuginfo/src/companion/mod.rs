//! The debug companion: what iree-compile prints for a module besides its bytecode.
//!
//! The same compilation that writes a module can print the VM program just as it is serialised
//! (`--iree-vm-bytecode-module-output-format=annotated-mlir-text --mlir-print-debuginfo`): every
//! function in the order of its ordinal, every operation with its location, the names and types of
//! its results, the registers it reads and writes, and the names that are alive while it runs. That
//! is the complete debug information of a module, where the debug database since compiler 3.11
//! covers a single function.
//!
//! ```text
//! vm.module public @demo {
//!   vm.rodata private @weights dense<"0x…"> : tensor<…> loc(…)          skipped, however long
//!   vm.func private @sum(%arg0: i32 loc("a.mlir":14:3)) -> i32 {        a function
//!     %0 = vm.add.i32 %arg0, %arg0 {live = ["%0", "%arg0"],             an operation, one instruction
//!          operand_registers = ["i0", "i0"], result_registers = ["i1"]} : i32 loc("a.mlir":15:8)
//!     vm.br ^bb1(%0 : i32) {…, remap_registers = [["i1->i0"]]} loc(…)
//!   ^bb1(%1: i32 loc(…)):                                               named %bb1_arg0 in `live`
//! ```
//!
//! This file holds what was read; [`parse`] (modules `module`, `function`, `operation`, `location`
//! and `cursor`) reads it in one pass. Whether the text belongs to a given module is decided in
//! [`crate::align`].

pub(crate) mod cursor;
mod function;
mod listing;
mod liveness;
pub(crate) mod location;
mod module;
mod operation;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vmfb::{FileBytes, LoadError, RodataOrdinal};

use crate::location::{LocationId, LocationTable};
use crate::register::RegisterSlot;

pub use listing::CompanionText;
pub(crate) use listing::Listing;
pub use liveness::LiveRange;

/// The text could not be read: where and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct CompanionError {
    /// The line, from one.
    pub line: usize,
    /// The column, from one, in bytes.
    pub column: usize,
    /// What was expected.
    pub message: String,
}

/// A companion file could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum CompanionLoadError {
    /// The file cannot be read.
    #[error("cannot read the debug companion {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not what iree-compile prints.
    #[error("the debug companion {} is damaged: {}:{source}", path.display(), path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: CompanionError,
    },
}

/// Everything that a companion says.
#[derive(Debug, Default)]
pub struct Companion {
    /// The module's name.
    pub module_name: String,
    /// The functions in serialised order: the index is the function's ordinal.
    pub functions: Vec<CompanionFunction>,
    /// Exported names with the function that each stands for.
    pub exports: Vec<CompanionExport>,
    /// Global variables by their symbols.
    pub globals: Vec<CompanionGlobal>,
    /// Constants that hold the text of a nested VM module.
    pub nested: Vec<NestedText>,
    /// The locations that the rest refers to.
    pub locations: LocationTable,
}

/// A global variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanionGlobal {
    /// Its symbol, without `@` and quotes.
    pub name: String,
    /// What it holds: `i64`, or a reference's type as printed.
    pub mlir_type: String,
}

/// An exported function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanionExport {
    /// The name that callers use.
    pub name: String,
    /// The name of the function.
    pub function: String,
}

/// A constant that is itself annotated VM text, written as hexadecimal digits: an executable for
/// the VMVX back end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NestedText {
    /// The symbol of the constant.
    pub name: String,
    /// The segment of the module that holds the executable.
    pub rodata: RodataOrdinal,
    /// The digits, as bytes of the companion.
    pub digits: Range<usize>,
}

/// One function.
#[derive(Debug, Default, Clone)]
pub struct CompanionFunction {
    /// Its name, as calls use it.
    pub name: String,
    /// Where it was written.
    pub location: Option<LocationId>,
    /// Arguments, block arguments and results, in the order of their definition.
    pub values: Vec<Value>,
    /// The blocks in layout order.
    pub blocks: Vec<Block>,
    /// The operations in layout order, each one instruction.
    pub operations: Vec<Operation>,
    /// Which values the operations read; each operation has a range of it.
    pub operands: Vec<ValueId>,
    /// The operations that use a global, in order, with its symbol.
    pub globals: Vec<(u32, Arc<str>)>,
    /// Whether registers and liveness were printed (the format was `annotated-mlir-text`).
    pub is_annotated: bool,
}

/// Index into [`CompanionFunction::values`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ValueId(pub u32);

/// How a value came to be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Definition {
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
pub struct Value {
    /// The name that is unique in the function, with its `%`: `%sum`, `%7#1`, `%bb1_arg0`.
    pub name: String,
    /// The name that the text itself has for it, where that is another one: `%1` for `%bb1_arg0`.
    pub printed_name: Option<String>,
    /// What defines it.
    pub definition: Definition,
    /// The MLIR type as printed.
    pub mlir_type: Arc<str>,
    /// The register that holds it while it is alive.
    pub register: Option<RegisterSlot>,
    /// Where it was written.
    pub location: LocationId,
    /// The operations during which it is alive, in layout order.
    pub live: Arc<[LiveRange]>,
    /// The last operation in layout order that reads it.
    pub last_use: Option<u32>,
}

/// A basic block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Its first operation.
    pub first_operation: u32,
    /// Its arguments, as indices into [`CompanionFunction::values`].
    pub arguments: Range<u32>,
}

/// One operation.
#[derive(Debug, Clone)]
pub struct Operation {
    /// Its full name: `vm.add.i32`.
    pub mnemonic: Arc<str>,
    /// Its results, as indices into [`CompanionFunction::values`].
    pub results: Range<u32>,
    /// The values it reads, as a range of [`CompanionFunction::operands`].
    pub operands: Range<u32>,
    /// Where it comes from.
    pub location: LocationId,
    /// Where its text begins, in bytes of the companion.
    pub start: usize,
}

impl Companion {
    /// The file that belongs to a module: the module's own name with `.companion.mlir` appended
    /// (`model.vmfb` has `model.vmfb.companion.mlir`).
    #[must_use]
    pub fn path_beside(module: &Path) -> PathBuf {
        let mut name = module.as_os_str().to_owned();
        name.push(".companion.mlir");
        PathBuf::from(name)
    }

    /// Reads the text of a companion.
    ///
    /// # Errors
    /// Says where the text stops being what iree-compile prints.
    pub fn parse(text: &[u8]) -> Result<Self, CompanionError> {
        module::parse(text)
    }

    /// Reads a companion from a file.
    ///
    /// # Errors
    /// The file cannot be read, or is not a companion.
    pub fn read(path: &Path) -> Result<Self, CompanionLoadError> {
        let text = FileBytes::read(path).map_err(|error| CompanionLoadError::Unreadable {
            path: path.to_owned(),
            source: match error {
                LoadError::Io { source, .. } => source,
                other => std::io::Error::other(other),
            },
        })?;
        Self::parse(text.owned())
            .map_err(|source| CompanionLoadError::Malformed { path: path.to_owned(), source })
    }

    /// Reads the companion that lies beside a module, if there is one.
    ///
    /// # Errors
    /// There is one, but it cannot be read.
    pub fn beside(module: &Path) -> Result<Option<Self>, CompanionLoadError> {
        let path = Self::path_beside(module);
        match Self::read(&path) {
            Ok(companion) => Ok(Some(companion)),
            Err(CompanionLoadError::Unreadable { source, .. })
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The text of a nested module that [`Companion::nested`] lists, from the same text.
    #[must_use]
    pub fn nested_text(text: &[u8], nested: &NestedText) -> Vec<u8> {
        let digits = text.get(nested.digits.clone()).unwrap_or_default();
        digits
            .chunks_exact(2)
            .map(|pair| cursor::hex_digit(pair[0]) << 4 | cursor::hex_digit(pair[1]))
            .collect()
    }
}

impl CompanionFunction {
    /// The results of an operation.
    #[must_use]
    pub fn results(&self, operation: &Operation) -> &[Value] {
        self.values
            .get(operation.results.start as usize..operation.results.end as usize)
            .unwrap_or_default()
    }

    /// The values that an operation reads.
    pub fn operands(&self, operation: &Operation) -> impl Iterator<Item = ValueId> {
        let range = operation.operands.start as usize..operation.operands.end as usize;
        self.operands.get(range).unwrap_or_default().iter().copied()
    }

    /// The arguments of the function.
    pub fn arguments(&self) -> impl Iterator<Item = &Value> {
        self.values
            .iter()
            .take_while(|value| matches!(value.definition, Definition::Argument { .. }))
    }

    /// The values that can be read while the machine stands *before* an operation: those alive
    /// during it, but not its own results, which do not exist yet. An operand is alive by
    /// definition.
    pub fn live_before(&self, operation: usize) -> impl Iterator<Item = &Value> {
        let index = u32::try_from(operation).unwrap_or(u32::MAX);
        let mut read: Vec<ValueId> = self
            .operations
            .get(operation)
            .into_iter()
            .flat_map(|operation| self.operands(operation))
            .collect();
        read.sort_unstable();
        self.values.iter().zip(0..).filter_map(move |(value, id)| {
            let is_own_result =
                matches!(value.definition, Definition::Result { operation, .. } if operation == index);
            let is_live = !is_own_result && (liveness::is_live(value, index) || read.binary_search(&ValueId(id)).is_ok());
            is_live.then_some(value)
        })
    }
}
