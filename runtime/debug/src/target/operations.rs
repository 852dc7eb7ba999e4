//! Several operations on one line: where the code of each is entered.
//!
//! The line index of the debug information says where a line is entered. This file finds the same
//! for one operation on the line, when it is asked for. An operation is entered at an instruction
//! if the instruction's path (the inlined calls, and the operation last) contains it, and the paths
//! of the code from which control comes do not all contain it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use debuginfo::{FileId, SourcePosition};
use vm::{FunctionId, Position};
use vmfb::{BytecodeOffset, FunctionOrdinal, Op};

use super::module::LoadedModule;
use super::program::Program;

/// An operation on a line, and the instructions where its code is entered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Operation {
    /// The column of its name, counted from 1.
    pub(crate) column: u32,
    /// Its columns on this line, from its results to its end, as far as the source can be read.
    pub(crate) extent: Range<u32>,
    pub(crate) places: Vec<Position>,
}

impl LoadedModule {
    /// The operations on a line of a file that have code, from the left.
    pub(crate) fn operations(&self, file: FileId, line: u32) -> Vec<Operation> {
        let found = self.info.places_on(file, line);
        let mut entered: BTreeMap<u32, BTreeSet<(FunctionOrdinal, BytecodeOffset)>> =
            BTreeMap::new();
        let mut functions = BTreeSet::new();
        for place in found {
            // Fused operations that are on no path are known only from the line index.
            let column = entered.entry(place.position.column).or_default();
            column.insert((place.function, place.offset));
            functions.insert(place.function);
        }
        for function in functions {
            let is_here = |at: &SourcePosition| at.file == file && at.line == line;
            for (at, offset) in self.entries(function).iter().filter(|(at, _)| is_here(at)) {
                entered.entry(at.column).or_default().insert((function, *offset));
            }
        }
        let source = self.info.source(file);
        let operation = |(column, places): (u32, BTreeSet<(FunctionOrdinal, BytecodeOffset)>)| {
            let places = places.into_iter().map(|(function, offset)| {
                let function = FunctionId { module: self.index, function };
                Position { function, offset }
            });
            let read = source.and_then(|source| source.operation_extent(line, column));
            let extent = read.unwrap_or(column..column.saturating_add(1));
            Operation { column, extent, places: places.collect() }
        };
        entered.into_iter().map(operation).collect()
    }

    /// Where the operations of a function and its inlined calls are entered.
    fn entries(&self, function: FunctionOrdinal) -> Arc<[(SourcePosition, BytecodeOffset)]> {
        self.cache.entries.get(function, || self.find_entries(function).into())
    }

    fn find_entries(&self, function: FunctionOrdinal) -> Vec<(SourcePosition, BytecodeOffset)> {
        let paths = self.paths(function);
        let path_at = |offset| paths.get(&offset).map_or(&[][..], Vec::as_slice);
        let mut entries = Vec::new();
        let entering = self.paths_entering(function, &path_at);
        let mut before: &[SourcePosition] = &[];
        for instruction in self.code(function) {
            if instruction.op == Op::Block {
                before = entering.get(&instruction.offset).copied().unwrap_or_default();
                continue;
            }
            let path = path_at(instruction.offset);
            if path.is_empty() {
                continue;
            }
            let known = shared(before, path).len();
            entries.extend(path[known..].iter().map(|at| (*at, instruction.offset)));
            before = path;
        }
        entries
    }

    /// The block starts of a function, ascending.
    pub(crate) fn block_starts(&self, function: FunctionOrdinal) -> Arc<[BytecodeOffset]> {
        let blocks = || self.code(function).filter(|it| it.op == Op::Block).map(|it| it.offset);
        self.cache.block_starts.get(function, || blocks().collect())
    }

    fn code(&self, function: FunctionOrdinal) -> impl Iterator<Item = vmfb::Instruction<'_>> {
        vmfb::instructions(self.module.function_bytecode(function)).map_while(Result::ok)
    }

    /// The paths of the instructions that have a line.
    fn paths(&self, function: FunctionOrdinal) -> HashMap<BytecodeOffset, Vec<SourcePosition>> {
        let rows = self.info.rows(function).iter().filter(|row| row.position.is_some());
        rows.map(|row| (row.offset, self.info.path_at(function, row.offset))).collect()
    }

    /// For each block, by its marker, the common part of the paths at the ends of its predecessors.
    fn paths_entering<'p>(
        &self,
        function: FunctionOrdinal,
        path_at: &dyn Fn(BytecodeOffset) -> &'p [SourcePosition],
    ) -> HashMap<BytecodeOffset, &'p [SourcePosition]> {
        let mut entering: HashMap<BytecodeOffset, &[SourcePosition]> = HashMap::new();
        let mut last: &[SourcePosition] = &[];
        for (index, instruction) in self.code(function).enumerate() {
            if index == 0 {
                // A call enters as well.
                entering.insert(instruction.offset, &[]);
            }
            if instruction.op == Op::Block {
                last = &[];
                continue;
            }
            let path = path_at(instruction.offset);
            if !path.is_empty() {
                last = path;
            }
            for (target, _) in instruction.successors() {
                let known = entering.entry(target).or_insert(last);
                *known = shared(known, last);
            }
        }
        entering
    }
}

impl Program {
    /// The operations on a line of a file, each with whether it belongs to a dispatch.
    pub(crate) fn operations_on(&self, file: &str, line: u32) -> Vec<(bool, Operation)> {
        let mut found = Vec::new();
        for module in &self.modules {
            for id in module.info.match_file(file).map(|(_, files)| files).unwrap_or_default() {
                let here = module.operations(id, line).into_iter();
                found.extend(here.map(|operation| (module.is_nested, operation)));
            }
        }
        found
    }

    /// Where the statement of the operation at a column begins, if its line has no other one that
    /// has code. A mark in the middle of a line is there to tell several operations apart.
    #[must_use]
    pub fn lone_statement(&self, file: &str, line: u32, column: u32) -> Option<u32> {
        lone_statement(&self.operations_on(file, line), column)
    }
}

/// The same, given the operations of the line.
pub(crate) fn lone_statement(operations: &[(bool, Operation)], column: u32) -> Option<u32> {
    let is_alone = operations.iter().all(|(_, it)| it.column == column);
    operations.first().filter(|_| is_alone).map(|(_, operation)| operation.extent.start)
}

/// The common part of two paths, from the function inwards.
fn shared<'p>(one: &'p [SourcePosition], other: &[SourcePosition]) -> &'p [SourcePosition] {
    let length = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    &one[..length]
}
