//! [`FunctionIndex`]: where the functions and globals of a source are.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use syntax::{ChunkTable, OpClass};

use super::function::FunctionText;
use super::function::{LineColumn, SourceFunction};
use super::reader;
use super::types::TypeAliases;
use crate::source::lines::Lines;

/// The ranges of the functions and globals of a source. Each is read when it is needed.
#[derive(Debug, Default)]
pub(crate) struct FunctionIndex {
    functions: Vec<(String, Range<usize>, LineColumn)>,
    globals: HashMap<String, Range<usize>>,
    aliases: TypeAliases,
}

impl FunctionIndex {
    /// Finds the functions of a text.
    pub(crate) fn scan(text: &str) -> Self {
        Self::of(text, &ChunkTable::scan(text), &Lines::of(text))
    }

    /// Finds the functions of a text that was read before.
    pub(in crate::source) fn of(text: &str, table: &ChunkTable, lines: &Lines) -> Self {
        let mut file = Self::default();
        let mut long: Option<(String, usize, usize)> = None;
        for placed in table.iter() {
            let chunk = placed.chunk;
            if let Some((name, start, nesting)) = &long {
                if chunk.kind != syntax::ChunkKind::Close || chunk.nesting() != nesting + 1 {
                    continue;
                }
                let range = *start..placed.range().end;
                let place = lines.place(*start);
                file.functions.push((name.clone(), range, place));
                long = None;
                continue;
            }
            if chunk.class == OpClass::Alias {
                file.aliases.add(text.get(placed.op_start()..placed.range().end).unwrap_or(""));
                continue;
            }
            if chunk.class == OpClass::Initializer {
                let range = placed.op_start()..placed.range().end;
                let place = lines.place(range.start);
                file.functions.push((String::new(), range, place));
                continue;
            }
            let Some(symbol) = syntax::Symbol::read(text, &placed) else { continue };
            if symbol.target.is_some() {
                continue;
            }
            let range = placed.op_start()..placed.range().end;
            match chunk.class {
                OpClass::Function if chunk.is_long_function() => {
                    long = Some((symbol.name, range.start, chunk.nesting()));
                }
                OpClass::Function => {
                    let place = lines.place(range.start);
                    file.functions.push((symbol.name, range, place));
                }
                OpClass::Global => {
                    file.globals.insert(symbol.name, range);
                }
                _ => {}
            }
        }
        file
    }

    /// The number of functions.
    pub(crate) fn len(&self) -> usize {
        self.functions.len()
    }

    /// The function whose operation is at a position.
    pub(crate) fn at(&self, place: LineColumn) -> Option<usize> {
        self.functions.iter().position(|(.., at)| *at == place)
    }

    /// The function of a name, if there is exactly one.
    pub(crate) fn named(&self, name: &str) -> Option<usize> {
        let mut found = self.functions.iter().enumerate().filter(|(_, (it, ..))| it == name);
        let (index, _) = found.next().filter(|_| found.next().is_none())?;
        Some(index)
    }

    /// The symbol of a function.
    pub(crate) fn name(&self, function: usize) -> Option<&str> {
        self.functions.get(function).map(|(name, ..)| name.as_str())
    }

    /// The last function that begins at or before a line.
    pub(crate) fn around(&self, line: u32) -> Option<usize> {
        self.functions.iter().rposition(|(_, _, (first, _))| *first <= line)
    }

    /// Reads a function.
    pub(crate) fn read(&self, text: &str, function: usize) -> Option<SourceFunction> {
        let (_, range, place) = self.functions.get(function)?;
        let own = text.get(range.clone())?;
        Some(reader::read(FunctionText::from(own.to_owned()), *place, &self.aliases))
    }

    /// Reads a function that shares the text of its file.
    pub(crate) fn read_shared(
        &self,
        text: &Arc<String>,
        function: usize,
    ) -> Option<SourceFunction> {
        let (_, range, place) = self.functions.get(function)?;
        Some(reader::read(FunctionText::part(text, range.clone())?, *place, &self.aliases))
    }

    /// The symbols of globals.
    pub(crate) fn globals(&self) -> impl Iterator<Item = &str> {
        self.globals.keys().map(String::as_str)
    }

    /// The text of a global's definition.
    pub(crate) fn global<'t>(&self, text: &'t str, name: &str) -> Option<&'t str> {
        text.get(self.globals.get(name)?.clone())
    }
}
