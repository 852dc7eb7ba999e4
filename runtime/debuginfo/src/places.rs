//! Where lines are: the places of their statements, and what stands for lines that have none.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use syntax::Source;
use vmfb::{BytecodeOffset, FunctionOrdinal, Op};

use crate::code::Role;
use crate::frames;
use crate::info::{CodePlace, DebugInfo, FunctionInfo, ResolvedLine};
use crate::lines::LineRow;
use crate::location::{FileId, Location, SourcePosition};
use crate::long_text::LongText;
use crate::source::SourceText;
use crate::structure::Structure;

/// An instruction that records a command of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recording {
    /// The function.
    pub function: FunctionOrdinal,
    /// The instruction.
    pub offset: BytecodeOffset,
    /// Where what it records was written, then the calls that were inlined around that.
    pub chain: Vec<SourcePosition>,
    /// Where else, if operations were fused.
    pub others: Vec<SourcePosition>,
    /// Whether it is a dispatch, not a transfer.
    pub is_dispatch: bool,
}

/// A source as far as it can be had.
enum Text<'t> {
    Short(&'t str),
    Long(&'t LongText),
}

impl Source for Text<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Short(text) => text.len(),
            Self::Long(text) => text.len(),
        }
    }

    fn piece(&self, offset: usize) -> (&[u8], usize) {
        match self {
            Self::Short(text) => text.piece(offset),
            Self::Long(text) => text.piece(offset),
        }
    }
}

impl DebugInfo {
    /// The places where the statements of a line begin.
    #[must_use]
    pub fn places_on(&self, file: FileId, line: u32) -> Vec<CodePlace> {
        let known = self.lines_of(file).get(&(file, line)).cloned();
        let mut places = known.unwrap_or_default();
        if !self.is_listing(file) {
            places.extend(self.returns().get(&(file, line)).into_iter().flatten());
        }
        places
    }

    /// The instructions that came from a line without being a statement of it.
    #[must_use]
    pub fn aside_on(&self, file: FileId, line: u32) -> &[CodePlace] {
        self.lines.aside.get(&(file, line)).map_or(&[], Vec::as_slice)
    }

    /// Where a line of a file is entered. A line without code stands for the next one of its block
    /// that has some; outside of functions for none. Where the source cannot be read, for the next
    /// one below that is of the same function.
    #[must_use]
    pub fn resolve_line(&self, file: FileId, line: u32) -> Option<ResolvedLine> {
        let candidates = std::iter::once(line).chain(self.lines_for(file, line));
        candidates
            .map(|line| ResolvedLine { line, places: self.places_on(file, line) })
            .find(|found| !found.places.is_empty())
    }

    /// The lines that a line without code may stand for, the best first.
    pub fn lines_for(&self, file: FileId, line: u32) -> Vec<u32> {
        if self.is_listing(file) || !self.has_structure(file) {
            return self.lines_below(file, line);
        }
        let place = self.with_structure(file, |structure, text| structure.place(text, line));
        let place = place.flatten().unwrap_or_default();
        place.continues.into_iter().chain(place.following).collect()
    }

    /// Whether a line is inside of a function, as far as the source can be read.
    #[must_use]
    pub fn is_in_function(&self, file: FileId, line: u32) -> bool {
        let place = self.with_structure(file, |structure, text| structure.place(text, line));
        place.is_none_or(|place| place.is_some())
    }

    /// The line on which the operation begins that a line continues.
    #[must_use]
    pub fn continued_line(&self, file: FileId, line: u32) -> Option<u32> {
        self.with_structure(file, |structure, text| structure.continues(text, line))?
    }

    /// The next line with code in the functions that have code on both sides of a line.
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

    /// The lines of a file, in a range, that have code.
    pub fn lines_with_code(
        &self,
        file: FileId,
        lines: std::ops::RangeInclusive<u32>,
    ) -> impl Iterator<Item = u32> {
        let mut found = BTreeSet::new();
        if !lines.is_empty() {
            let range = (file, *lines.start())..=(file, *lines.end());
            found.extend(self.lines_of(file).range(range.clone()).map(|((_, line), _)| *line));
            let returns = (!self.is_listing(file)).then(|| self.returns().range(range));
            found.extend(returns.into_iter().flatten().map(|((_, line), _)| *line));
        }
        found.into_iter()
    }

    /// The lines of a file that something prepares devices for.
    pub fn lines_for_devices(&self, file: FileId) -> impl Iterator<Item = u32> + '_ {
        let lines = self.lines.aside.range((file, 0)..=(file, u32::MAX));
        let is_for_devices = |place: &CodePlace| {
            let row = self.row_at(place.function, place.offset);
            row.is_some_and(LineRow::is_for_devices)
        };
        let found = lines.filter(move |(_, places)| places.iter().any(is_for_devices));
        found.map(|((_, line), _)| *line)
    }

    /// The commands of devices that the program records.
    pub fn recordings(&self) -> impl Iterator<Item = Recording> + '_ {
        let functions = self.functions.iter().enumerate();
        functions.flat_map(move |(index, info)| {
            let rows = info.rows.iter();
            let recording = rows.filter(|it| matches!(it.role, Role::Dispatch | Role::Transfer));
            recording.map(move |row| {
                let chain = row.location.map(|id| frames::call_chain(&self.table, id));
                let chain = chain.unwrap_or_default();
                let others = row.location.map(|id| frames::alternatives(&self.table, id));
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

    /// Where a function begins, as its user sees it: behind constants, if its first line is there.
    #[must_use]
    pub fn entry_of(&self, function: FunctionOrdinal) -> Option<BytecodeOffset> {
        self.function(function)?.entry
    }

    /// The name of the operation that the source has at a position.
    #[must_use]
    pub fn operation_at(&self, position: SourcePosition) -> Option<String> {
        let SourcePosition { file, line, column } = position;
        self.with_structure(file, |structure, text| structure.operation_at(text, line, column))?
    }

    /// A line of a source, from one; of one that is very long the beginning.
    #[must_use]
    pub fn line_text(&self, file: FileId, line: u32) -> Option<Cow<'_, str>> {
        if let Some(source) = self.source(file) {
            return source.line(line).map(Cow::Borrowed);
        }
        self.long_source(file)?.line(line)
    }

    /// The places where functions return that only the source has: the compiler's wrappers around
    /// exported functions have the place of the function instead.
    fn returns(&self) -> &BTreeMap<(FileId, u32), Vec<CodePlace>> {
        self.lines.returns.get_or_init(|| {
            let mut returns: BTreeMap<(FileId, u32), Vec<CodePlace>> = BTreeMap::new();
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

    /// Where the source returns from a function, if its instruction says that it is at the
    /// function.
    pub(crate) fn return_position(&self, info: &FunctionInfo) -> Option<SourcePosition> {
        *info.return_position.get_or_init(|| {
            let own = info.own_position?;
            let mut instructions = info.code.instructions.iter().zip(&info.rows);
            instructions.find(|(it, row)| it.op == Op::Return && row.position == Some(own))?;
            let found = self
                .with_structure(own.file, |structure, text| structure.only_return(text, own.line));
            let (line, column) = found.flatten()?;
            Some(SourcePosition { line, column, ..own })
        })
    }

    /// Where somebody wrote what prepares devices himself: a line like any other.
    pub(crate) fn written_by_hand(
        &self,
        info: &FunctionInfo,
        index: usize,
    ) -> Option<SourcePosition> {
        let row = info.rows.get(index).filter(|row| row.is_for_devices())?;
        let position = *frames::call_chain(&self.table, row.location?).first()?;
        let written = self.operation_at(position).filter(|_| position.is_written())?;
        // Tensors at the border of a function are not what devices are made of.
        let is_of_devices = written.starts_with("hal.") && !written.starts_with("hal.tensor.");
        is_of_devices.then_some(position)
    }

    /// Where devices are prepared for several lines at once, that is none of them.
    pub(crate) fn is_for_several(&self, info: &FunctionInfo, index: usize) -> bool {
        let Some(row) = info.rows.get(index) else { return false };
        let location = row.location.map(|id| self.table.get(id));
        row.role == Role::Device && matches!(location, Some(Location::Fused(_)))
    }

    fn has_structure(&self, file: FileId) -> bool {
        self.source(file).is_some() || self.long_source(file).is_some()
    }

    fn with_structure<T>(
        &self,
        file: FileId,
        ask: impl FnOnce(&Structure, &Text<'_>) -> T,
    ) -> Option<T> {
        let short: Option<&Arc<SourceText>> = self.source(file);
        let text = match short {
            Some(text) => Text::Short(text.text()),
            None => Text::Long(self.long_source(file)?),
        };
        let structure = self.structures.get(file.0 as usize)?;
        Some(ask(structure.get_or_init(|| Structure::of(&text)), &text))
    }
}
