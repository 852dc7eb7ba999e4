//! The code of the lines of files, and the lines that stand for lines without code.

use std::collections::BTreeSet;
use std::ops::Bound;

use vmfb::{BytecodeOffset, FunctionOrdinal, Op};

use super::parts::{CodePlace, FusedLine, PlacesByLine, ResolvedLine};
use super::python::PythonLayer;
use super::tables::DebugInfo;
use crate::bytecode::Role;
use crate::locations::{FileId, SourcePosition, walk};
use crate::source::{FileMatch, matching};
use crate::statements::LineRow;

/// An instruction that records a device command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recording {
    /// The function.
    pub function: FunctionOrdinal,
    /// The instruction.
    pub offset: BytecodeOffset,
    /// The position of the recorded operation, then the calls that were inlined around it,
    /// innermost first.
    pub chain: Vec<SourcePosition>,
    /// The positions of other operations that were fused with it.
    pub others: Vec<SourcePosition>,
    /// Whether it is a dispatch; otherwise it is a transfer.
    pub is_dispatch: bool,
}

/// The files of lines. Jumps from the first line of a file to the first line of the next, as there
/// are thousands of lines.
fn files_of(lines: &PlacesByLine) -> Vec<FileId> {
    let first_after = |line: (FileId, u32)| {
        let after = (Bound::Excluded(line), Bound::Unbounded);
        lines.range(after).next().map(|((file, _), _)| *file)
    };
    let first = lines.keys().next().map(|(file, _)| *file);
    std::iter::successors(first, |file| first_after((*file, u32::MAX))).collect()
}

impl DebugInfo {
    /// The files that have code in the module, and the listings, each once.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &str)> {
        let mut seen = files_of(&self.lines.entered);
        // Of a program whose lines are all dispatched, none is entered.
        seen.extend(files_of(&self.lines.aside).into_iter().filter(|file| !self.is_listing(*file)));
        seen.extend(self.python_layer().into_iter().flat_map(PythonLayer::files));
        seen.sort_unstable();
        seen.dedup();
        seen.extend(self.listing_files());
        seen.into_iter().map(|file| (file, self.table.file(file)))
    }

    /// The files that a path may mean, and how certain the match is.
    #[must_use]
    pub fn match_file(&self, path: &str) -> Option<(FileMatch, Vec<FileId>)> {
        let known = self.files.map().to_module(path);
        matching(known.as_deref().unwrap_or(path), self.files())
    }

    /// The instructions where the statements of a line begin.
    #[must_use]
    pub fn places_on(&self, file: FileId, line: u32) -> Vec<CodePlace> {
        let known = self.lines_of(file).get(&(file, line)).cloned();
        let mut places = known.unwrap_or_default();
        if !self.is_listing(file) {
            places.retain(|place| self.is_as_located(place));
            places.extend(self.sums().get(&(file, line)).into_iter().flatten());
            places.extend(self.returns().get(&(file, line)).into_iter().flatten());
        }
        places
    }

    /// The instructions that come from a line without being statements of it.
    #[must_use]
    pub fn aside_on(&self, file: FileId, line: u32) -> &[CodePlace] {
        self.lines.aside.get(&(file, line)).map_or(&[], Vec::as_slice)
    }

    /// Where a line of a file is entered. A line without code stands for the next one of its block
    /// that has code; outside of functions, for none. If the source cannot be read, it stands for
    /// the next line with code below, if that is in the same function.
    #[must_use]
    pub fn resolve_line(&self, file: FileId, line: u32) -> Option<ResolvedLine> {
        let candidates = std::iter::once(line).chain(self.lines_for(file, line));
        candidates
            .map(|line| ResolvedLine { line, places: self.places_on(file, line) })
            .find(|found| !found.places.is_empty())
    }

    /// The lines that a line without code may stand for, the best one first.
    pub fn lines_for(&self, file: FileId, line: u32) -> Vec<u32> {
        if self.is_listing(file) || !self.files.has_text(file) {
            return self.lines_below(file, line);
        }
        let place = self.source(file).and_then(|source| source.place(line)).unwrap_or_default();
        place.continues.into_iter().chain(place.following).collect()
    }

    /// Whether a line is inside a function; true if the source cannot be read.
    #[must_use]
    pub fn is_in_function(&self, file: FileId, line: u32) -> bool {
        self.source(file).is_none_or(|source| source.place(line).is_some())
    }

    /// If a line continues an operation: the line on which that operation begins.
    #[must_use]
    pub fn continued_line(&self, file: FileId, line: u32) -> Option<u32> {
        self.source(file)?.continues(line)
    }

    /// The next line with code, if its function also has code above.
    fn lines_below(&self, file: FileId, line: u32) -> Vec<u32> {
        let lines = self.lines_of(file);
        let in_listing = self.source(file).filter(|_| self.is_listing(file));
        if let Some(listing) = in_listing {
            let last = listing.function_extent(line).map_or(line, |extent| *extent.end());
            let below = lines.range((file, line)..=(file, last)).next();
            return below.map(|((_, line), _)| *line).into_iter().collect();
        }
        let functions = |places: &[CodePlace]| -> BTreeSet<FunctionOrdinal> {
            places.iter().map(|place| place.function).collect()
        };
        let above = lines.range((file, 0)..(file, line)).next_back();
        let above = above.map(|(_, places)| functions(places)).unwrap_or_default();
        let below = lines.range((file, line)..=(file, u32::MAX)).next();
        let same = below.filter(|(_, places)| !functions(places).is_disjoint(&above));
        same.map(|((_, line), _)| *line).into_iter().collect()
    }

    /// The lines of a file, within a range, that have code.
    pub fn lines_with_code(
        &self,
        file: FileId,
        lines: std::ops::RangeInclusive<u32>,
    ) -> impl Iterator<Item = u32> {
        let mut found = BTreeSet::new();
        if !lines.is_empty() {
            let range = (file, *lines.start())..=(file, *lines.end());
            found.extend(self.lines_of(file).range(range.clone()).map(|((_, line), _)| *line));
            let listed = self.is_listing(file);
            let sums = (!listed).then(|| self.sums().range(range.clone()));
            found.extend(sums.into_iter().flatten().map(|((_, line), _)| *line));
            let returns = (!listed).then(|| self.returns().range(range));
            found.extend(returns.into_iter().flatten().map(|((_, line), _)| *line));
        }
        found.into_iter()
    }

    /// The lines of a file that some instruction prepares work for devices for.
    pub fn lines_for_devices(&self, file: FileId) -> impl Iterator<Item = u32> + '_ {
        let lines = self.lines.aside.range((file, 0)..=(file, u32::MAX));
        let is_for_devices = |place: &CodePlace| {
            let row = self.row_at(place.function, place.offset);
            row.is_some_and(LineRow::is_for_devices)
        };
        let found = lines.filter(move |(_, places)| places.iter().any(is_for_devices));
        found.map(|((_, line), _)| *line)
    }

    /// The device commands that the program records.
    pub fn recordings(&self) -> impl Iterator<Item = Recording> + '_ {
        let functions = self.functions.iter().enumerate();
        functions.flat_map(move |(index, info)| {
            let rows = info.rows.iter();
            let recording = rows.filter(|it| matches!(it.role, Role::Dispatch | Role::Transfer));
            recording.map(move |row| {
                let chain = row.location.map(|id| walk::call_chain(&self.table, id));
                let chain = chain.unwrap_or_default();
                let others = row.location.map(|id| walk::alternatives(&self.table, id));
                let others = others.unwrap_or_default();
                Recording {
                    function: FunctionOrdinal::from_index(index),
                    offset: row.offset,
                    others: others.into_iter().filter(|at| Some(at) != chain.first()).collect(),
                    chain,
                    is_dispatch: row.role == Role::Dispatch,
                }
            })
        })
    }

    /// Where a function begins for its user: after leading constants, if its first line is there.
    #[must_use]
    pub fn entry_of(&self, function: FunctionOrdinal) -> Option<BytecodeOffset> {
        self.function(function)?.entry
    }

    /// Where the lines are entered that only fused multiply-adds have.
    fn sums(&self) -> &PlacesByLine {
        self.lines.sums.get_or_init(|| {
            let mut sums = PlacesByLine::new();
            for (ordinal, info) in self.functions.iter().enumerate() {
                let function = FunctionOrdinal::from_index(ordinal);
                let lines = self.fused_lines(info);
                let mut indices: Vec<usize> = lines.keys().copied().collect();
                indices.sort_unstable();
                for index in indices {
                    let FusedLine::Sum(position) = lines[&index] else { continue };
                    let offset = info.code.instructions[index].offset;
                    let line = |at: SourcePosition| (at.file, at.line);
                    let before = self.statement_before(info, index);
                    let before = before.map(|it| info.code.instructions[it].offset);
                    let before = before.and_then(|it| self.position_at(function, it));
                    if before.map(line) != Some(line(position)) {
                        let place = CodePlace { function, offset, position };
                        sums.entry(line(position)).or_default().push(place);
                    }
                }
            }
            sums
        })
    }

    /// The returns of functions on lines that only the source has: in the compiler's wrappers
    /// around exported functions, they have the position of the function instead.
    fn returns(&self) -> &PlacesByLine {
        self.lines.returns.get_or_init(|| {
            let mut returns: PlacesByLine = PlacesByLine::new();
            for (index, info) in self.functions.iter().enumerate() {
                let Some(position) = self.return_position(info) else { continue };
                let function = FunctionOrdinal::from_index(index);
                let instructions = info.code.instructions.iter().zip(&info.rows);
                let places = instructions
                    .filter(|(it, row)| it.op == Op::Return && row.position == info.own_position)
                    .map(|(it, _)| CodePlace { function, offset: it.offset, position });
                returns.entry((position.file, position.line)).or_default().extend(places);
            }
            returns
        })
    }
}
