//! [`DebugInfo`]: the one interface to all debug information of a module. Here are its tables and
//! plain look-ups in them; each other file of this folder answers one kind of question.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use vmfb::{BytecodeOffset, FunctionOrdinal};

use super::completeness::Completeness;
use super::parts::{FunctionInfo, Lines, PlacesByLine};
use super::source_files::SourceFiles;
use crate::companion::CompanionGlobal;
use crate::locations::{FileId, LocationTable, SourcePosition};
use crate::source::{SourceMap, SourceText};
use crate::statements::LineRow;

/// All debug information of a module, from its companion and its debug database.
#[derive(Debug)]
pub struct DebugInfo {
    pub(super) table: LocationTable,
    pub(super) functions: Vec<FunctionInfo>,
    pub(super) lines: Lines,
    pub(super) completeness: Completeness,
    pub(super) globals: Vec<CompanionGlobal>,
    pub(super) files: SourceFiles,
    /// The files of listings that locations name.
    pub(super) named_listings: OnceLock<Vec<FileId>>,
    /// The lines of listings.
    pub(super) listing_lines: OnceLock<PlacesByLine>,
}

impl DebugInfo {
    /// Ties the parts together. Sources are read when they are needed.
    pub(super) fn new(
        table: LocationTable,
        functions: Vec<FunctionInfo>,
        lines: Lines,
        completeness: Completeness,
        globals: Vec<CompanionGlobal>,
    ) -> Self {
        let files = SourceFiles::new(table.files().to_vec());
        let (named_listings, listing_lines) = Default::default();
        Self {
            table,
            functions,
            lines,
            completeness,
            globals,
            files,
            named_listings,
            listing_lines,
        }
    }

    /// Sets the directories in which relative source file names may be found. Names are tried as
    /// they are first.
    #[must_use]
    pub fn with_source_roots(mut self, roots: impl IntoIterator<Item = PathBuf>) -> Self {
        self.files.set_roots(roots.into_iter().collect());
        self
    }

    /// Sets where the directories are now that the compiler knew by other names.
    #[must_use]
    pub fn with_source_map(mut self, map: SourceMap) -> Self {
        self.files.set_map(map);
        self
    }

    /// Sets the text of a source file that is not on disk.
    pub fn set_source(&mut self, file: FileId, text: String) {
        self.files.set_text(file, text);
    }

    /// The locations that rows refer to.
    #[must_use]
    pub fn locations(&self) -> &LocationTable {
        &self.table
    }

    /// What is known and what is missing.
    #[must_use]
    pub fn completeness(&self) -> &Completeness {
        &self.completeness
    }

    /// The name of a function: the compiler's, or the exported one where that is all there is.
    #[must_use]
    pub fn function_name(&self, function: FunctionOrdinal) -> Option<&str> {
        self.function(function)?.name.as_deref()
    }

    /// The function of this name, as [`DebugInfo::function_name`] gives them.
    #[must_use]
    pub fn function_named(&self, name: &str) -> Option<FunctionOrdinal> {
        let index =
            self.functions.iter().position(|function| function.name.as_deref() == Some(name))?;
        Some(FunctionOrdinal::from_index(index))
    }

    /// Where a function was written.
    #[must_use]
    pub fn function_position(&self, function: FunctionOrdinal) -> Option<SourcePosition> {
        self.function(function)?.own_position
    }

    /// A row for each instruction of a function, by offset; block markers have none.
    #[must_use]
    pub fn rows(&self, function: FunctionOrdinal) -> &[LineRow] {
        self.function(function).map_or(&[], |function| &function.rows)
    }

    /// The row of the instruction at an offset; of a block marker, that of the instruction behind
    /// it.
    #[must_use]
    pub fn row_at(&self, function: FunctionOrdinal, offset: BytecodeOffset) -> Option<&LineRow> {
        let function = self.function(function)?;
        function.rows.get(function.code.index_at(offset)?)
    }

    /// The text of a source file, if it can be found.
    #[must_use]
    pub fn source(&self, file: FileId) -> Option<&Arc<SourceText>> {
        self.files.text(file)
    }

    /// Whether the text of a file can be found. A listing is not made to find out.
    #[must_use]
    pub fn has_source(&self, file: FileId) -> bool {
        self.files.has_text(file)
    }

    /// Where a source file is on disk.
    #[must_use]
    pub fn source_path(&self, file: FileId) -> Option<PathBuf> {
        self.files.path(file)
    }

    /// A line of a source, from one; of a very long one the beginning.
    #[must_use]
    pub fn line_text(&self, file: FileId, line: u32) -> Option<Cow<'_, str>> {
        self.files.line(file, line)
    }

    /// The name of the function that a position is in, where the source can be read.
    #[must_use]
    pub fn function_around(&self, position: SourcePosition) -> Option<&str> {
        self.source(position.file)?.function_around(position.line)
    }

    /// The name of the operation that the source has at a position.
    #[must_use]
    pub fn operation_at(&self, position: SourcePosition) -> Option<String> {
        let SourcePosition { file, line, column } = position;
        self.files
            .with_structure(file, |structure, text| structure.operation_at(text, line, column))?
    }

    pub(super) fn function(&self, function: FunctionOrdinal) -> Option<&FunctionInfo> {
        self.functions.get(function.index())
    }
}
