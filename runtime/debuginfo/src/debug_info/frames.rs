//! The source position of an instruction: its line for stepping, its frames, and the calls that
//! were inlined around it.

use std::sync::Arc;

use vmfb::{BytecodeOffset, FunctionOrdinal, Op};

use super::parts::{FunctionInfo, FusedLine};
use super::tables::DebugInfo;
use crate::bytecode::Role;
use crate::locations::{Location, LocationId, SourcePosition, walk};

/// One frame of the call stack in terms of the source. Inlined calls give several for one frame of
/// the VM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFrame {
    /// The function's name, if it is known; for inlined frames, only if the source can be read.
    pub function: Option<Arc<str>>,
    /// The position in it; `None` in code that the compiler generated.
    pub position: Option<SourcePosition>,
    /// Whether the function was inlined into the frame that follows.
    pub is_inlined: bool,
}

impl DebugInfo {
    /// The line for stepping at an offset; `None` in generated code.
    #[must_use]
    pub fn position_at(
        &self,
        function: FunctionOrdinal,
        offset: BytecodeOffset,
    ) -> Option<SourcePosition> {
        let info = self.function(function)?;
        let index = info.code.index_at(offset)?;
        match self.fused_line(info, index) {
            FusedLine::AsLocated => {}
            FusedLine::Sum(position) => return Some(position),
            FusedLine::Unknown => return None,
        }
        let Some(position) = info.rows.get(index)?.position else {
            return self.written_by_hand(info, index);
        };
        let is_return = info.code.instructions[index].op == Op::Return;
        let returns = || self.return_position(info).filter(|_| is_return);
        let own = info.own_position.filter(|own| *own == position);
        own.and_then(|_| returns()).or(Some(position))
    }

    /// The frames of the source at an offset, innermost inlined call first. The last one is always
    /// the function itself, without a position if that is unknown.
    #[must_use]
    pub fn frames_at(&self, function: FunctionOrdinal, offset: BytecodeOffset) -> Vec<SourceFrame> {
        let Some(info) = self.function(function) else { return Vec::new() };
        let chain = self.chain_at(function, offset);
        let chain = self.without_wrapper(info, &chain);
        let Some((outermost, inlined)) = chain.split_last() else {
            return vec![SourceFrame {
                function: info.name.clone(),
                position: None,
                is_inlined: false,
            }];
        };
        let inlined = inlined.iter().map(|position| SourceFrame {
            function: self.function_around(*position).map(Arc::from),
            position: Some(*position).filter(SourcePosition::is_written),
            is_inlined: true,
        });
        let outermost = SourceFrame {
            function: self.python_function(*outermost).or_else(|| info.name.clone()),
            position: Some(*outermost).filter(SourcePosition::is_written),
            is_inlined: false,
        };
        inlined.chain([outermost]).collect()
    }

    /// The positions of an instruction from its function inwards: of each inlined call around it,
    /// and last its own. Empty if they are unknown. The last one equals the line for stepping, if
    /// there is one.
    #[must_use]
    pub fn path_at(
        &self,
        function: FunctionOrdinal,
        offset: BytecodeOffset,
    ) -> Vec<SourcePosition> {
        let Some(info) = self.function(function) else { return Vec::new() };
        let path = self.inwards(info, &self.chain_at(function, offset));
        let line = self.position_at(function, offset);
        if let Some(line) = line.filter(|line| path.last() != Some(line)) {
            return vec![line];
        }
        self.without_functions(path)
    }

    /// The same positions for a location in a function.
    pub(super) fn path_of(&self, info: &FunctionInfo, location: LocationId) -> Vec<SourcePosition> {
        self.without_functions(self.inwards(info, &walk::call_chain(&self.table, location)))
    }

    fn inwards(&self, info: &FunctionInfo, chain: &[SourcePosition]) -> Vec<SourcePosition> {
        let chain = self.without_wrapper(info, chain);
        chain.iter().rev().filter(|position| position.is_written()).copied().collect()
    }

    /// Removes positions of functions themselves, unless there are no others. Code that the
    /// compiler makes for declarations and around exports has such positions: calls of imports are
    /// inlined around code that only converts their operands.
    fn without_functions(&self, mut path: Vec<SourcePosition>) -> Vec<SourcePosition> {
        if path.iter().any(|position| !self.is_function(*position)) {
            path.retain(|position| !self.is_function(*position));
        }
        path
    }

    /// The chain of an instruction with a line: that line, if it is not that of its location.
    fn statement_chain(
        &self,
        function: FunctionOrdinal,
        offset: BytecodeOffset,
    ) -> Vec<SourcePosition> {
        let chain = self.chain_at(function, offset);
        let line = self.position_at(function, offset);
        let other = line.filter(|line| chain.first() != Some(line));
        other.map_or(chain, |line| vec![line])
    }

    fn chain_at(&self, function: FunctionOrdinal, offset: BytecodeOffset) -> Vec<SourcePosition> {
        let info = self.function(function);
        let found = info.and_then(|info| Some((info, info.code.index_at(offset)?)));
        if let Some((info, index)) = found
            && self.is_for_several(info, index)
        {
            return info.own_position.into_iter().collect();
        }
        if let Some((info, index)) = found
            && self.fused_line(info, index) == FusedLine::Unknown
        {
            let before = self.statement_before(info, index);
            let before = before.map(|it| info.code.instructions[it].offset);
            return before.map(|it| self.statement_chain(function, it)).unwrap_or_default();
        }
        let row = self.row_at(function, offset).filter(|row| !row.is_from_elsewhere);
        let location = row.and_then(|row| row.location);
        let mut chain = location.map(|id| walk::call_chain(&self.table, id)).unwrap_or_default();
        let line = found.map(|(info, index)| self.fused_line(info, index));
        if let (Some(FusedLine::Sum(sum)), Some(innermost)) = (line, chain.first_mut()) {
            *innermost = sum;
        }
        chain
    }

    /// The compiler wraps an exported function in one with the same position and inlines the user's
    /// function into it. The wrapper is no frame of its own to the user.
    fn without_wrapper<'c>(
        &self,
        info: &FunctionInfo,
        chain: &'c [SourcePosition],
    ) -> &'c [SourcePosition] {
        match chain.split_last() {
            Some((outermost, inner))
                if !inner.is_empty() && Some(*outermost) == info.own_position =>
            {
                inner
            }
            _ => chain,
        }
    }

    /// The function of Python around a position.
    #[must_use]
    pub fn python_function(&self, position: SourcePosition) -> Option<Arc<str>> {
        let source = self.source(position.file).filter(|source| source.is_python())?;
        source.function_around(position.line).map(Arc::from)
    }

    fn is_function(&self, position: SourcePosition) -> bool {
        let source = self.source(position.file);
        source.is_some_and(|source| source.is_function(position.line, position.column))
    }

    /// The position of a function's return in the source, if its instruction has the function's
    /// position instead.
    pub(super) fn return_position(&self, info: &FunctionInfo) -> Option<SourcePosition> {
        *info.return_position.get_or_init(|| {
            // The code of a dispatch has the position of an operation instead.
            let own = info.own_position.filter(|own| self.is_function(*own))?;
            let mut instructions = info.code.instructions.iter().zip(&info.rows);
            instructions.find(|(it, row)| it.op == Op::Return && row.position == Some(own))?;
            let (line, column) = self.source(own.file)?.only_return(own.line)?;
            Some(SourcePosition { line, column, ..own })
        })
    }

    /// The position of an instruction that prepares work for devices, if the user wrote that
    /// operation: then it has a line like any other.
    fn written_by_hand(&self, info: &FunctionInfo, index: usize) -> Option<SourcePosition> {
        let row = info.rows.get(index).filter(|row| row.is_for_devices())?;
        let position = *walk::call_chain(&self.table, row.location?).first()?;
        let written = self.operation_at(position).filter(|_| position.is_written())?;
        // Imports and exports of tensors at a function's border do not count.
        let is_of_devices = written.starts_with("hal.") && !written.starts_with("hal.tensor.");
        is_of_devices.then_some(position)
    }

    /// Whether an instruction prepares devices for several lines at once, and so belongs to none of
    /// them.
    fn is_for_several(&self, info: &FunctionInfo, index: usize) -> bool {
        let Some(row) = info.rows.get(index) else { return false };
        let location = row.location.map(|id| self.table.get(id));
        row.role == Role::Device && matches!(location, Some(Location::Fused(_)))
    }
}
