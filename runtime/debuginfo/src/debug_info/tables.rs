//! [`DebugInfo`]: the one interface to all debug information of a module. Its tables and plain
//! look-ups in them are here; every other kind of query has a file of its own.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use vmfb::{BytecodeOffset, FunctionOrdinal};

use super::completeness::Completeness;
use super::parts::{FunctionInfo, Lines, PlacesByLine};
use super::python::PythonLayer;
use super::source_files::SourceFiles;
use crate::companion::CompanionGlobal;
use crate::debug_file::DebugFile;
use crate::locations::{FileId, LocationTable, SourcePosition};
use crate::mlir_text::{CallChain, NamedPosition};
use crate::python_map::PythonMapError;
use crate::source::{NodeName, SourceMap, SourceText, WrittenTensor};
use crate::statements::LineRow;
use crate::tensors::SourceTensor;

/// All debug information of a module, from its companion and its debug database.
#[derive(Debug)]
pub struct DebugInfo {
    pub(super) table: LocationTable,
    pub(super) functions: Vec<FunctionInfo>,
    pub(super) lines: Lines,
    pub(super) completeness: Completeness,
    pub(super) globals: Vec<CompanionGlobal>,
    pub(super) files: SourceFiles,
    /// The Python that made one of the files; or why what is known of it cannot be used.
    pub(super) python: Result<Option<PythonLayer>, PythonMapError>,
    /// The files of listings that locations name.
    pub(super) named_listings: OnceLock<Vec<FileId>>,
    /// The lines of listings.
    pub(super) listing_lines: OnceLock<PlacesByLine>,
}

impl DebugInfo {
    /// Combines the tables. Sources are read when they are needed.
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
            python: Ok(None),
            named_listings,
            listing_lines,
        }
    }

    /// Sets the directories that are searched for source files with relative names. Each name is
    /// tried unchanged first.
    #[must_use]
    pub fn with_source_roots(mut self, roots: impl IntoIterator<Item = PathBuf>) -> Self {
        self.files.set_roots(roots.into_iter().collect());
        self
    }

    /// Confines the search to some folders, with links followed: a module may name any file as its
    /// source, and who asks may not be the one who may read it.
    #[must_use]
    pub fn with_sources_within(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.files.set_fence(folders.into_iter().collect());
        self
    }

    /// Sets the directories that have other paths now than when the module was compiled.
    #[must_use]
    pub fn with_source_map(mut self, map: SourceMap) -> Self {
        self.files.set_map(map);
        self
    }

    /// Sets the debug file. Its sources stand for those that are not on disk, or no longer as they
    /// were compiled.
    #[must_use]
    pub fn with_debug_file(mut self, file: DebugFile) -> Self {
        let input = &file.manifest().input;
        let source = self.table.files().iter().position(|name| **name == **input);
        let source = source.and_then(|index| Some(FileId(u32::try_from(index).ok()?)));
        let (map, names) = (file.python_map(), &mut self.files);
        names.set_kept(file);
        self.python = PythonLayer::read(map.as_deref(), source, &mut |name| {
            names.add(name);
            self.table.add_file(name)
        });
        self
    }

    /// A note for each source that has changed since the module was compiled.
    #[must_use]
    pub fn changed_sources(&self) -> Vec<String> {
        self.files.changed()
    }

    /// Sets the text of a source file that is not on disk.
    pub fn set_source(&mut self, file: FileId, text: String) {
        self.files.set_text(file, text);
    }

    /// The table of the locations in rows.
    #[must_use]
    pub fn locations(&self) -> &LocationTable {
        &self.table
    }

    /// Which functions have debug information, and what is missing.
    #[must_use]
    pub fn completeness(&self) -> &Completeness {
        &self.completeness
    }

    /// The name of a function: the compiler's, else the exported one.
    #[must_use]
    pub fn function_name(&self, function: FunctionOrdinal) -> Option<&str> {
        self.function(function)?.name.as_deref()
    }

    /// The function with this [`DebugInfo::function_name`].
    #[must_use]
    pub fn function_named(&self, name: &str) -> Option<FunctionOrdinal> {
        let index =
            self.functions.iter().position(|function| function.name.as_deref() == Some(name))?;
        Some(FunctionOrdinal::from_index(index))
    }

    /// The source position of a function.
    #[must_use]
    pub fn function_position(&self, function: FunctionOrdinal) -> Option<SourcePosition> {
        self.function(function)?.own_position
    }

    /// The rows of a function's instructions, by offset; block markers have none.
    #[must_use]
    pub fn rows(&self, function: FunctionOrdinal) -> &[LineRow] {
        self.function(function).map_or(&[], |function| &function.rows)
    }

    /// The row of the instruction at an offset; for a block marker, of the instruction after it.
    #[must_use]
    pub fn row_at(&self, function: FunctionOrdinal, offset: BytecodeOffset) -> Option<&LineRow> {
        let function = self.function(function)?;
        function.rows.get(function.code.index_at(offset)?)
    }

    /// The text of a source file, if it is found.
    #[must_use]
    pub fn source(&self, file: FileId) -> Option<&Arc<SourceText>> {
        self.files.text(file)
    }

    /// The framework's names of a value on a line: in the ONNX model beside its source, or the
    /// variable of Python that it became.
    #[must_use]
    pub fn node_name(&self, file: FileId, line: u32, value: &str) -> Option<&NodeName> {
        self.python_name(file, line, value).or_else(|| self.files.node_name(file, line, value))
    }

    /// Why the names of an ONNX model beside a source are not shown.
    #[must_use]
    pub fn foreign_model(&self, file: FileId) -> Option<String> {
        self.files.foreign_model(file)
    }

    /// Whether the text of a file can be found. This does not make a listing.
    #[must_use]
    pub fn has_source(&self, file: FileId) -> bool {
        self.files.has_text(file)
    }

    /// The path of a source file on this machine.
    #[must_use]
    pub fn source_path(&self, file: FileId) -> Option<PathBuf> {
        self.files.path(file)
    }

    /// A line of a source, from one; only the beginning of a very long one.
    #[must_use]
    pub fn line_text(&self, file: FileId, line: u32) -> Option<&str> {
        self.source(file)?.line(line)
    }

    /// The name of the function around a position, if the source can be read.
    #[must_use]
    pub fn function_around(&self, position: SourcePosition) -> Option<&str> {
        self.source(position.file)?.function_around(position.line)
    }

    /// The tensor that a name stands for at an operation of the source, as the source writes it.
    #[must_use]
    pub fn written_tensor(&self, position: SourcePosition, name: &str) -> Option<WrittenTensor> {
        self.source(position.file)?.written_tensor((position.line, position.column), name)
    }

    /// The tensors of the function around a place that follow from its constants.
    #[must_use]
    pub fn folded_constants(&self, around: SourcePosition) -> Vec<SourceTensor> {
        let Some(source) = self.source(around.file) else { return Vec::new() };
        let file = self.files().find(|(file, _)| *file == around.file).map(|(_, name)| name);
        let folded = source.folded_constants(around.line).into_iter();
        let named = folded.filter_map(|(name, (line, column), tensor_type)| {
            let at = NamedPosition { file: file?.to_owned(), line, column };
            Some(SourceTensor { name, at, calls: CallChain::new(), tensor_type })
        });
        named.collect()
    }

    /// The constant of a source that has a name ([`crate::ElidedName`]) in texts which leave it
    /// out, if there is one such.
    #[must_use]
    pub fn constant_named(&self, elided: &str) -> Option<SourceTensor> {
        let mut files = self.files().filter(|(file, _)| !self.is_listing(*file));
        files.find_map(|(file, path)| {
            let (name, place, tensor_type) = self.source(file)?.constant_named(elided)?.clone();
            let at = NamedPosition { file: path.to_owned(), line: place.0, column: place.1 };
            Some(SourceTensor { name, at, calls: CallChain::new(), tensor_type })
        })
    }

    /// Whether a source has a global with a symbol.
    #[must_use]
    pub fn has_global(&self, symbol: &str) -> bool {
        self.written_sources().any(|it| it.global(symbol).is_some())
    }

    /// What the compiler calls the parameter that a global of the source is, as
    /// [`crate::plain_symbol`] has it.
    #[must_use]
    pub fn parameter(&self, symbol: &str) -> Option<String> {
        let mut named = self.written_sources().filter_map(|it| it.parameter(symbol));
        let first = named.next()?;
        named.next().is_none().then_some(first)
    }

    /// The name of the operation at a position of the source.
    #[must_use]
    pub fn operation_at(&self, position: SourcePosition) -> Option<&str> {
        self.source(position.file)?.operation_at(position.line, position.column)
    }

    /// The sources that a user wrote.
    fn written_sources(&self) -> impl Iterator<Item = &Arc<SourceText>> {
        let files = self.files().map(|(file, _)| file).filter(|file| !self.is_listing(*file));
        files.filter_map(|file| self.source(file))
    }

    pub(super) fn function(&self, function: FunctionOrdinal) -> Option<&FunctionInfo> {
        self.functions.get(function.index())
    }
}
