//! The debug information of lines and functions, as data.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use vmfb::{BytecodeOffset, FunctionOrdinal};

use crate::alignment::Aligned;
use crate::bytecode::Code;
use crate::locations::{FileId, SourcePosition};
use crate::proof::Proof;
use crate::statements::LineRow;

/// An instruction where a source line is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodePlace {
    /// The function.
    pub function: FunctionOrdinal,
    /// The instruction.
    pub offset: BytecodeOffset,
    /// The source position that it comes from.
    pub position: SourcePosition,
}

/// The code of a line, or of the line that stands for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedLine {
    /// The line that has code.
    pub line: u32,
    /// The instructions where it is entered, by function and offset.
    pub places: Vec<CodePlace>,
}

/// The line of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FusedLine {
    /// That of its location: it is no fused multiply-add, or its source cannot be read.
    AsLocated,
    /// That of the sum.
    Sum(SourcePosition),
    /// None of its own.
    Unknown,
}

/// Code by file and line.
pub(crate) type PlacesByLine = BTreeMap<(FileId, u32), Vec<CodePlace>>;

/// The code of a module's lines.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// The instructions where statements begin.
    pub(crate) entered: PlacesByLine,
    /// Instructions that come from lines without being statements of them.
    pub(crate) aside: PlacesByLine,
    /// The returns of functions on the lines that only the source has.
    pub(crate) returns: OnceLock<PlacesByLine>,
    /// Fused multiply-adds on the lines of their sums.
    pub(crate) sums: OnceLock<PlacesByLine>,
}

/// The debug information of one function.
#[derive(Debug)]
pub(crate) struct FunctionInfo {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) code: Code,
    pub(crate) rows: Vec<LineRow>,
    /// The position of the function itself.
    pub(crate) own_position: Option<SourcePosition>,
    /// Where the function begins for its user.
    pub(crate) entry: Option<BytecodeOffset>,
    /// The position of its return in the source, if the instruction has the function's position
    /// instead.
    pub(crate) return_position: OnceLock<Option<SourcePosition>>,
    /// By instruction, the lines of fused multiply-adds.
    pub(crate) fused: OnceLock<HashMap<usize, FusedLine>>,
    pub(crate) companion: Option<Aligned>,
    /// The position of each instruction in the VM program's text.
    pub(crate) listed: OnceLock<Vec<Option<SourcePosition>>>,
    /// Which of its values equal which of the source.
    pub(crate) proof: OnceLock<Option<Box<Proof>>>,
}
