//! The VM program as text: a second level at which a module can be shown and stepped.
//!
//! For each function, its lines come from one of two texts:
//!
//! - the listing that the compiler wrote (`--iree-vm-bytecode-source-listing`), if locations refer
//!   to its lines and the file has the function there. Modules for devices refer to the same file,
//!   which the compiler then overwrites with the listing of the outer module, so lines are checked
//!   before they are used;
//! - the companion, which has the same lines and from which a listing is made
//!   ([`crate::CompanionText`]).
//!
//! Each is read when it is first needed.

use vmfb::{BytecodeOffset, FunctionOrdinal, Op};

use super::parts::{CodePlace, FunctionInfo, PlacesByLine};
use super::tables::DebugInfo;
use crate::companion::CompanionText;
use crate::locations::{FileId, Location, LocationId, SourcePosition, walk};

impl DebugInfo {
    /// Sets the text of the companion, and the name of the listing made of it.
    #[must_use]
    pub fn with_companion_text(mut self, text: CompanionText, name: &str) -> Self {
        if self.functions.iter().any(|function| function.companion.is_some()) {
            let file = self.table.add_file(name);
            self.files.add_made_listing(name, file, text);
        }
        self
    }

    /// The position of an instruction in the VM program's text, if there is one.
    #[must_use]
    pub fn listing_position_at(
        &self,
        function: FunctionOrdinal,
        offset: BytecodeOffset,
    ) -> Option<SourcePosition> {
        let function = self.function(function)?;
        *self.listed(function).get(function.code.index_at(offset)?)?
    }

    /// The position of a function in the VM program's text.
    #[must_use]
    pub fn function_listing_position(&self, function: FunctionOrdinal) -> Option<SourcePosition> {
        let function = self.function(function)?;
        let first = self.listed(function).iter().flatten().next().copied()?;
        let source = self.source(first.file)?;
        let line = *source.function_extent(first.line)?.start();
        let text = source.line(line)?;
        let column = u32::try_from(text.len() - text.trim_start().len() + 1).ok()?;
        Some(SourcePosition { line, column, ..first })
    }

    /// Whether the VM program's text has a function.
    #[must_use]
    pub fn is_listed(&self, function: FunctionOrdinal) -> bool {
        self.function(function).is_some_and(|it| self.listed(it).iter().any(Option::is_some))
    }

    /// Whether it has any function.
    #[must_use]
    pub fn has_listing(&self) -> bool {
        let mut ordinals = (0..self.functions.len()).map(FunctionOrdinal::from_index);
        ordinals.any(|ordinal| self.is_listed(ordinal))
    }

    /// Whether a file is a listing of the VM program.
    #[must_use]
    pub fn is_listing(&self, file: FileId) -> bool {
        self.listing_files().any(|listing| listing == file)
    }

    /// The files of listings.
    pub(super) fn listing_files(&self) -> impl Iterator<Item = FileId> {
        self.named_files().iter().copied().chain(self.files.made_file())
    }

    /// The code of the lines of a file, which is a source or a listing.
    pub(super) fn lines_of(&self, file: FileId) -> &PlacesByLine {
        if self.is_listing(file) {
            self.listing_lines.get_or_init(|| self.find_listing_lines())
        } else {
            &self.lines.entered
        }
    }

    /// The names of listings that locations refer to and that cannot be read.
    #[must_use]
    pub fn missing_listings(&self) -> Vec<&str> {
        let missing = self.named_files().iter().filter(|file| self.source(**file).is_none());
        missing.map(|file| self.table.file(*file)).collect()
    }

    fn named_files(&self) -> &[FileId] {
        self.named_listings.get_or_init(|| {
            let mut files = Vec::new();
            for index in 0..u32::try_from(self.table.len()).unwrap_or(u32::MAX) {
                let id = LocationId(index);
                if matches!(self.table.get(id), Location::Name { .. })
                    && let Some(position) = walk::listing_position(&self.table, id)
                    && !files.contains(&position.file)
                {
                    files.push(position.file);
                }
            }
            files
        })
    }

    fn find_listing_lines(&self) -> PlacesByLine {
        let mut lines = PlacesByLine::new();
        for (index, function) in self.functions.iter().enumerate() {
            let ordinal = FunctionOrdinal::from_index(index);
            for (position, code) in self.listed(function).iter().zip(&function.code.instructions) {
                let Some(position) = *position else { continue };
                let place = CodePlace { function: ordinal, offset: code.offset, position };
                lines.entry((position.file, position.line)).or_default().push(place);
            }
        }
        lines
    }

    fn listed<'f>(&self, function: &'f FunctionInfo) -> &'f [Option<SourcePosition>] {
        function.listed.get_or_init(|| {
            self.in_named_listing(function)
                .or_else(|| self.in_made_listing(function))
                .unwrap_or_default()
        })
    }

    /// The lines that locations refer to, if the listing has the function there.
    fn in_named_listing(&self, function: &FunctionInfo) -> Option<Vec<Option<SourcePosition>>> {
        if self.named_files().is_empty() {
            return None;
        }
        let mut found = Vec::with_capacity(function.rows.len());
        for (row, code) in function.rows.iter().zip(&function.code.instructions) {
            let position = row.location.and_then(|id| walk::listing_position(&self.table, id));
            let Some(position) = position else {
                found.push(None);
                continue;
            };
            let line = self.source(position.file)?.line(position.line)?;
            if !has_operation(line, code.op) {
                return None;
            }
            // The compiler counts columns of listings from zero.
            let column = position.column.saturating_add(1);
            found.push(Some(SourcePosition { column, ..position }));
        }
        found.iter().any(Option::is_some).then_some(found)
    }

    fn in_made_listing(&self, function: &FunctionInfo) -> Option<Vec<Option<SourcePosition>>> {
        let companion = function.companion.as_ref()?;
        self.files.made_file()?;
        let position = |operation: &u32| {
            let operation = companion.function.operations.get(*operation as usize)?;
            self.files.made_position(operation.start)
        };
        Some(companion.operations.iter().map(position).collect())
    }
}

/// Whether a line of VM text has an operation that becomes this instruction.
fn has_operation(line: &str, op: Op) -> bool {
    let has = |mnemonic: &str| {
        let mut words = line.split(|it: char| !(it.is_ascii_alphanumeric() || "._".contains(it)));
        words.any(|word| word.strip_prefix("vm.") == Some(mnemonic))
    };
    // A cast of references is encoded as an assignment.
    has(op.mnemonic()) || (op == Op::AssignRef && has("cast.ref.any"))
}
