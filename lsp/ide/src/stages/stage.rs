//! One stage: a text, the places that its lines come from, and its functions.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use debuginfo::{OriginKind, PhaseText, SourcePosition};

/// A place in a file, as the compiler names it, counted from 1. The column is in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file.
    pub file: Arc<str>,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// A function of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageFunction {
    /// Its name, without `@` and quotes.
    pub name: String,
    /// Its first line, from 0.
    pub first: usize,
    /// Its last line.
    pub last: usize,
}

/// An instruction on a line of the last stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// Its function.
    pub function: Arc<str>,
    /// Where it begins in the function's bytecode.
    pub offset: u32,
    /// Its bytes.
    pub bytes: Box<[u8]>,
}

/// A line and why it belongs to a place.
pub(super) type Hit = (u32, OriginKind);

/// A stage of a compilation.
#[derive(Debug, Default)]
pub struct Stage {
    /// Its name: `flow`.
    pub name: String,
    phase: PhaseText,
    /// By line, for the last stage only.
    pub(super) instructions: HashMap<u32, Instruction>,
    index: OnceLock<HashMap<SourcePosition, Vec<Hit>>>,
    functions: OnceLock<Vec<StageFunction>>,
    /// Where each line begins.
    starts: OnceLock<Vec<usize>>,
}

impl Stage {
    /// A stage from the text that the compiler printed.
    pub fn read(name: &str, printed: &[u8]) -> Self {
        Self::of(name, PhaseText::read(printed))
    }

    pub(super) fn of(name: &str, phase: PhaseText) -> Self {
        Self { name: name.to_owned(), phase, ..Self::default() }
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.phase.text
    }

    /// A line (from 0), without its end.
    pub fn line(&self, number: usize) -> &str {
        let text = &self.phase.text;
        let starts = self.starts.get_or_init(|| {
            let ends = text.match_indices('\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(ends).collect()
        });
        let start = starts.get(number).copied().unwrap_or(text.len());
        let end = starts.get(number + 1).map_or(text.len(), |next| next - 1);
        text.get(start..end).unwrap_or_default()
    }

    /// The places that a line comes from (both from 0), its own first.
    pub fn origins(&self, line: usize) -> Vec<(Place, OriginKind)> {
        let origins = self.phase.origins(line).into_iter();
        origins.map(|origin| (self.place(origin.position), origin.kind)).collect()
    }

    /// The instruction on a line.
    pub fn instruction(&self, line: usize) -> Option<&Instruction> {
        self.instructions.get(&u32::try_from(line).ok()?)
    }

    fn place(&self, position: SourcePosition) -> Place {
        let file = self.phase.locations.file(position.file).into();
        Place { file, line: position.line, column: position.column }
    }

    /// The lines that come from a place.
    pub(super) fn lines_from(&self, place: &Place) -> &[Hit] {
        let files = self.phase.locations.files();
        let Some(file) = files.iter().position(|name| **name == *place.file) else { return &[] };
        let file = debuginfo::FileId(u32::try_from(file).unwrap_or(u32::MAX));
        let position = SourcePosition { file, line: place.line, column: place.column };
        self.index().get(&position).map_or(&[], Vec::as_slice)
    }

    /// The places that its lines come from in parts of a file. A part is a line and its columns, as
    /// in [`Place`], without the last one.
    pub fn places_within(&self, file: &str, parts: &[(u32, Range<u32>)]) -> Vec<Place> {
        let is_within = |position: &SourcePosition| {
            let mut parts = parts.iter();
            parts
                .any(|(line, columns)| *line == position.line && columns.contains(&position.column))
        };
        let found = self.index().keys().filter(|position| is_within(position));
        let found = found.map(|position| self.place(*position)).filter(|it| *it.file == *file);
        let mut found: Vec<Place> = found.collect();
        found.sort_unstable_by_key(|place| (place.line, place.column));
        found
    }

    /// All places, and the lines that come from each.
    pub(super) fn hits(&self) -> impl Iterator<Item = (Place, &[Hit])> {
        let files = self.phase.locations.files().iter();
        let files: Vec<Arc<str>> = files.map(|name| Arc::from(&**name)).collect();
        self.index().iter().filter_map(move |(position, hits)| {
            let file = files.get(position.file.0 as usize)?.clone();
            Some((Place { file, line: position.line, column: position.column }, hits.as_slice()))
        })
    }

    fn index(&self) -> &HashMap<SourcePosition, Vec<Hit>> {
        self.index.get_or_init(|| {
            let mut index: HashMap<SourcePosition, Vec<Hit>> = HashMap::new();
            for (number, line) in self.phase.text.lines().enumerate() {
                // An operation begins where its regions do not end.
                if line.trim_start().starts_with('}') {
                    continue;
                }
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                for origin in self.phase.origins(number as usize) {
                    index.entry(origin.position).or_default().push((number, origin.kind));
                }
            }
            index
        })
    }

    /// Its functions, in the order of the text.
    pub fn functions(&self) -> &[StageFunction] {
        self.functions.get_or_init(|| functions_in(&self.phase.text))
    }

    /// The function around a line.
    pub fn function_at(&self, line: usize) -> Option<&StageFunction> {
        let functions = self.functions();
        let after = functions.partition_point(|function| function.first <= line);
        functions[..after].iter().rev().find(|function| line <= function.last)
    }

    /// How many operations of each function come from lines `first..=last` (from 1) of a file: the
    /// functions that a part of the source became, by their index.
    pub fn functions_from(&self, file: &str, first: u32, last: u32) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let is_there = |(place, kind): &(Place, OriginKind)| {
            *kind != OriginKind::Caller
                && &*place.file == file
                && (first..=last).contains(&place.line)
        };
        for (index, function) in self.functions().iter().enumerate() {
            let inside = function.first + 1..=function.last;
            let starts = |line: &usize| !self.line(*line).trim_start().starts_with('}');
            let count = inside
                .filter(starts)
                .filter(|line| self.origins(*line).iter().any(is_there))
                .count();
            if count > 0 {
                found.push((index, count));
            }
        }
        found
    }
}

/// The functions of a printed text. Printers indent, so a function ends at the first `}` that is
/// indented like its head.
pub(super) fn functions_in(text: &str) -> Vec<StageFunction> {
    let mut found: Vec<StageFunction> = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if trimmed.starts_with('}') {
            if let Some((_, index)) = open.pop_if(|(other, _)| *other == indent) {
                found[index].last = number;
            }
        } else if let Some(name) = function_name(trimmed) {
            if line.trim_end().ends_with('{') {
                open.push((indent, found.len()));
            }
            found.push(StageFunction { name, first: number, last: number });
        }
    }
    found
}

/// The name of the function whose head a line is.
pub(super) fn function_name(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let operation = words.next()?;
    if !matches!(operation, "func.func" | "util.func" | "vm.func" | "llvm.func") {
        return None;
    }
    let (_, name) = line.split_once('@')?;
    Some(match name.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?.to_owned(),
        // A disassembly does not quote.
        None => name.split('(').next()?.trim_end().to_owned(),
    })
}
