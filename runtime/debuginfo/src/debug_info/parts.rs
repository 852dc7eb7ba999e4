//! What is known of a module, by line and by function, as data.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use vmfb::{BytecodeOffset, FunctionOrdinal};

use crate::alignment::Aligned;
use crate::bytecode::Code;
use crate::locations::{FileId, SourcePosition};
use crate::proof::Proof;
use crate::statements::LineRow;

/// A place in bytecode where a source line is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodePlace {
    /// The function.
    pub function: FunctionOrdinal,
    /// The instruction.
    pub offset: BytecodeOffset,
    /// What it was made from.
    pub position: SourcePosition,
}

/// The places of a line, or of the nearest line that has any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedLine {
    /// The line that has code.
    pub line: u32,
    /// Where it is entered, by function and offset.
    pub places: Vec<CodePlace>,
}

/// Places by file and line.
pub(crate) type PlacesByLine = BTreeMap<(FileId, u32), Vec<CodePlace>>;

/// Where the lines of a module are.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// Where their statements begin.
    pub(crate) entered: PlacesByLine,
    /// What came from them without being a statement.
    pub(crate) aside: PlacesByLine,
    /// Where functions return, as only the source has it.
    pub(crate) returns: OnceLock<PlacesByLine>,
}

/// What is known of one function.
#[derive(Debug)]
pub(crate) struct FunctionInfo {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) code: Code,
    pub(crate) rows: Vec<LineRow>,
    /// Where the function itself was written.
    pub(crate) own_position: Option<SourcePosition>,
    /// Where its user sees it begin.
    pub(crate) entry: Option<BytecodeOffset>,
    /// Where the source returns from it, if the instruction does not say so.
    pub(crate) return_position: OnceLock<Option<SourcePosition>>,
    pub(crate) companion: Option<Aligned>,
    /// Where each instruction is in the VM program as text.
    pub(crate) listed: OnceLock<Vec<Option<SourcePosition>>>,
    /// Which of its values are which of the source.
    pub(crate) proof: OnceLock<Option<Box<Proof>>>,
}
