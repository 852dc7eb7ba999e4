//! [`DebugInfo`]: the one interface to all debug information of a module.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use vmfb::{BytecodeOffset, FileBytes, FunctionOrdinal, Module, Op};

use crate::align::Aligned;
use crate::code::Code;
use crate::companion::{Companion, CompanionGlobal, Definition};
use crate::completeness::Completeness;
use crate::files::{self, FileMatch};
use crate::frames::{self, SourceFrame};
use crate::levels::Listings;
use crate::lines::LineRow;
use crate::load::Loader;
use crate::locals::LocalValue;
use crate::location::{FileId, LocationId, LocationTable, SourcePosition};
use crate::long_text::LongText;
use crate::proof::Proof;
use crate::source::SourceText;
use crate::source_map::SourceMap;
use crate::structure::Structure;

/// Source files larger than this are not searched for names.
const MAX_SOURCE_BYTES: u64 = 64 << 20;

/// The most bytes of a source that is shown at all.
const MAX_LONG_BYTES: u64 = 2 << 30;

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

/// All debug information of a module, from its companion and its debug database.
#[derive(Debug)]
pub struct DebugInfo {
    pub(crate) table: LocationTable,
    pub(crate) functions: Vec<FunctionInfo>,
    pub(crate) lines: Lines,
    pub(crate) completeness: Completeness,
    pub(crate) listings: Listings,
    pub(crate) globals: Vec<CompanionGlobal>,
    source_roots: Vec<PathBuf>,
    source_map: SourceMap,
    sources: Vec<OnceLock<Option<Arc<SourceText>>>>,
    long_sources: Vec<OnceLock<Option<LongText>>>,
    pub(crate) structures: Vec<OnceLock<Structure>>,
}

/// Where the lines of a module are.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// Where their statements begin.
    pub(crate) entered: BTreeMap<(FileId, u32), Vec<CodePlace>>,
    /// What came from them without being a statement.
    pub(crate) aside: BTreeMap<(FileId, u32), Vec<CodePlace>>,
    /// Where functions return, as only the source has it.
    pub(crate) returns: OnceLock<BTreeMap<(FileId, u32), Vec<CodePlace>>>,
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

impl DebugInfo {
    /// Reads what a module and its companion say. Nothing here fails: what does not fit is left
    /// out, and [`DebugInfo::completeness`] says what and why.
    #[must_use]
    pub fn load(module: &Module, companion: Option<&Companion>) -> Self {
        Loader::new(module, companion).load()
    }

    /// Ties the parts together. Sources are read when somebody asks for them.
    pub(crate) fn new(
        table: LocationTable,
        functions: Vec<FunctionInfo>,
        lines: Lines,
        completeness: Completeness,
    ) -> Self {
        let mut info = Self {
            table,
            functions,
            lines,
            completeness,
            listings: Listings::default(),
            globals: Vec::new(),
            source_roots: Vec::new(),
            source_map: SourceMap::default(),
            sources: Vec::new(),
            long_sources: Vec::new(),
            structures: Vec::new(),
        };
        info.forget_sources();
        info
    }

    /// Says in which directories relative source file names may be found. Names are tried as they
    /// are first.
    #[must_use]
    pub fn with_source_roots(mut self, roots: impl IntoIterator<Item = PathBuf>) -> Self {
        self.source_roots = roots.into_iter().collect();
        self.forget_sources();
        self
    }

    /// Says where the directories are now that the compiler knew by other names.
    #[must_use]
    pub fn with_source_map(mut self, map: SourceMap) -> Self {
        self.source_map = map;
        self.forget_sources();
        self
    }

    /// Gives the text of a source file, for sources that are not on disk.
    pub fn set_source(&mut self, file: FileId, text: String) {
        if let Some(slot) = self.sources.get_mut(file.0 as usize) {
            *slot = OnceLock::from(Some(Arc::new(SourceText::new(text))));
        }
    }

    /// Adds a file that no location names.
    pub(crate) fn add_file(&mut self, name: &str) -> FileId {
        self.sources.push(OnceLock::new());
        self.long_sources.push(OnceLock::new());
        self.structures.push(OnceLock::new());
        self.table.add_file(name)
    }

    fn forget_sources(&mut self) {
        let files = self.table.files();
        self.sources = files.iter().map(|_| OnceLock::new()).collect();
        self.long_sources = files.iter().map(|_| OnceLock::new()).collect();
        self.structures = files.iter().map(|_| OnceLock::new()).collect();
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

    /// The global variables of the module, where the companion names them.
    #[must_use]
    pub fn globals(&self) -> &[CompanionGlobal] {
        &self.globals
    }

    /// The symbol of the global variable that an instruction uses.
    #[must_use]
    pub fn global_used_at(
        &self,
        function: FunctionOrdinal,
        offset: BytecodeOffset,
    ) -> Option<&str> {
        let info = self.function(function)?;
        let companion = info.companion.as_ref()?;
        let operation = companion.operations.get(info.code.index_of(offset)?)?;
        let globals = &companion.function.globals;
        let found = globals.binary_search_by_key(operation, |(operation, _)| *operation).ok()?;
        Some(&globals[found].1)
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

    /// The line for stepping at an offset; none in generated code.
    #[must_use]
    pub fn position_at(
        &self,
        function: FunctionOrdinal,
        offset: BytecodeOffset,
    ) -> Option<SourcePosition> {
        let info = self.function(function)?;
        let index = info.code.index_at(offset)?;
        let Some(position) = info.rows.get(index)?.position else {
            return self.written_by_hand(info, index);
        };
        let is_return = info.code.instructions[index].op == Op::Return;
        let returns = || self.return_position(info).filter(|_| is_return);
        let own = info.own_position.filter(|own| *own == position);
        own.and_then(|_| returns()).or(Some(position))
    }

    /// The frames of the source at an offset, innermost inlined call first. There is always one:
    /// the function itself, without a position where nothing is known.
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
            function: info.name.clone(),
            position: Some(*outermost).filter(SourcePosition::is_written),
            is_inlined: false,
        };
        inlined.chain([outermost]).collect()
    }

    /// Where an instruction is, from its function inwards: the place of each call that was inlined,
    /// and at last what the instruction itself was made from. Empty where nothing is known. It
    /// agrees with the line for stepping, where there is one.
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

    /// The same of a location in a function.
    pub(crate) fn path_of(&self, info: &FunctionInfo, location: LocationId) -> Vec<SourcePosition> {
        self.without_functions(self.inwards(info, &frames::call_chain(&self.table, location)))
    }

    fn inwards(&self, info: &FunctionInfo, chain: &[SourcePosition]) -> Vec<SourcePosition> {
        let chain = self.without_wrapper(info, chain);
        chain.iter().rev().filter(|position| position.is_written()).copied().collect()
    }

    /// What the compiler makes of declarations and around exports has the place of the function:
    /// calls of functions that are elsewhere have been inlined around what only converts their
    /// operands.
    fn without_functions(&self, mut path: Vec<SourcePosition>) -> Vec<SourcePosition> {
        if path.iter().any(|position| !self.is_function(*position)) {
            path.retain(|position| !self.is_function(*position));
        }
        path
    }

    fn chain_at(&self, function: FunctionOrdinal, offset: BytecodeOffset) -> Vec<SourcePosition> {
        let info = self.function(function);
        let found = info.and_then(|info| Some((info, info.code.index_at(offset)?)));
        if let Some((info, index)) = found
            && self.is_for_several(info, index)
        {
            return info.own_position.into_iter().collect();
        }
        let location = self.row_at(function, offset).and_then(|row| row.location);
        location.map(|id| frames::call_chain(&self.table, id)).unwrap_or_default()
    }

    /// The compiler wraps an exported function in one with the same place and inlines the user's
    /// into it. That wrapper is no frame of its own to the user.
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

    fn is_function(&self, position: SourcePosition) -> bool {
        let source = self.source(position.file);
        source.is_some_and(|source| source.is_function(position.line, position.column))
    }

    /// The name of the function that a position is in, where the source can be read.
    #[must_use]
    pub fn function_around(&self, position: SourcePosition) -> Option<&str> {
        self.source(position.file)?.function_around(position.line)
    }

    /// The values of the VM program that can be read before the instruction at an offset executes,
    /// by the names that the companion gives them; none without a companion.
    #[must_use]
    pub fn live_values(
        &self,
        function: FunctionOrdinal,
        offset: BytecodeOffset,
    ) -> Vec<LocalValue> {
        let Some(info) = self.function(function) else { return Vec::new() };
        let Some(index) = info.code.index_at(offset) else { return Vec::new() };
        let Some(companion) = &info.companion else { return Vec::new() };
        let values = companion.live_before(index, &info.code).into_iter().filter_map(|value| {
            Some(LocalValue {
                name: value.name.clone(),
                listing_name: value.printed_name.clone(),
                mlir_type: value.mlir_type.clone(),
                register: value.register?,
                argument: match value.definition {
                    Definition::Argument { index } => Some(index),
                    _ => None,
                },
            })
        });
        values.collect()
    }

    /// The file names that the code of the module names, each once.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &str)> {
        // From the first line of a file to the first line of the next: there are thousands of
        // lines.
        let first_behind = |line: (FileId, u32)| {
            let behind = (Bound::Excluded(line), Bound::Unbounded);
            self.lines.entered.range(behind).next().map(|((file, _), _)| *file)
        };
        let first = self.lines.entered.keys().next().map(|(file, _)| *file);
        let next = |file: &FileId| first_behind((*file, u32::MAX));
        let mut seen: Vec<FileId> = std::iter::successors(first, next).collect();
        seen.extend(self.listing_files());
        seen.into_iter().map(|file| (file, self.table.file(file)))
    }

    /// The files that a path may mean, and how sure that is.
    #[must_use]
    pub fn match_file(&self, path: &str) -> Option<(FileMatch, Vec<FileId>)> {
        let known = self.source_map.to_module(path);
        files::matching(known.as_deref().unwrap_or(path), self.files())
    }

    /// The text of a source file, if it can be found.
    #[must_use]
    pub fn source(&self, file: FileId) -> Option<&Arc<SourceText>> {
        self.sources.get(file.0 as usize)?.get_or_init(|| self.read_source(file)).as_ref()
    }

    /// Whether the text of a file can be had. That of a listing is not made to find out.
    #[must_use]
    pub fn has_source(&self, file: FileId) -> bool {
        self.is_made_listing(file)
            || self.source(file).is_some()
            || self.long_source(file).is_some()
    }

    /// Where a source file is on disk.
    #[must_use]
    pub fn source_path(&self, file: FileId) -> Option<PathBuf> {
        let name = self.table.file(file);
        if let Some(mapped) = self.source_map.to_machine(name).filter(|path| path.is_file()) {
            return Some(mapped);
        }
        let name = Path::new(name);
        if name.is_file() {
            return Some(name.to_owned());
        }
        // The compiler may have run elsewhere: each root is tried with ever fewer leading
        // components.
        let components: Vec<Component<'_>> =
            name.components().filter(|it| matches!(it, Component::Normal(_))).collect();
        let mut endings =
            (0..components.len()).map(|skipped| components[skipped..].iter().collect());
        endings.find_map(|ending: PathBuf| {
            self.source_roots.iter().map(|root| root.join(&ending)).find(|path| path.is_file())
        })
    }

    fn read_source(&self, file: FileId) -> Option<Arc<SourceText>> {
        if let Some(listing) = self.made_listing(file) {
            return Some(listing);
        }
        let path = self.source_path(file)?;
        if path.metadata().ok()?.len() > MAX_SOURCE_BYTES {
            return None;
        }
        let bytes = FileBytes::read(&path).ok()?;
        let text = String::from_utf8(bytes.owned().to_vec()).ok()?;
        Some(Arc::new(SourceText::new(text)))
    }

    /// The text of a source that is too long to be searched for names.
    pub(crate) fn long_source(&self, file: FileId) -> Option<&LongText> {
        self.long_sources.get(file.0 as usize)?.get_or_init(|| self.read_long_source(file)).as_ref()
    }

    fn read_long_source(&self, file: FileId) -> Option<LongText> {
        let path = self.source_path(file)?;
        let is_long = (MAX_SOURCE_BYTES..MAX_LONG_BYTES).contains(&path.metadata().ok()?.len());
        let bytes = if is_long { FileBytes::read(&path).ok()? } else { return None };
        Some(LongText::new(bytes))
    }

    pub(crate) fn function(&self, function: FunctionOrdinal) -> Option<&FunctionInfo> {
        self.functions.get(function.index())
    }
}
