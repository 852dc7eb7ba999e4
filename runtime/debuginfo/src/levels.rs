//! The VM program as text: a second level to show and step a module at.
//!
//! Its lines come from one of two places, function by function:
//!
//! - the listing that the compiler wrote (`--iree-vm-bytecode-source-listing`), where locations
//!   name its lines and the file has the function there. Modules for devices name the same file,
//!   which the compiler then overwrites by the listing of the module around them; so its lines are
//!   looked at before they are believed;
//! - the companion, which has the same lines and from which a listing is made
//!   ([`crate::companion::CompanionText`]).
//!
//! Neither is read before somebody wants to know.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use vmfb::{BytecodeOffset, FunctionOrdinal, Op};

use crate::companion::{CompanionText, Listing};
use crate::frames;
use crate::info::{CodePlace, DebugInfo, FunctionInfo};
use crate::location::{FileId, Location, SourcePosition};
use crate::source::SourceText;

/// Places by file and line.
type Lines = BTreeMap<(FileId, u32), Vec<CodePlace>>;

/// The listings of a module.
#[derive(Debug, Default)]
pub(crate) struct Listings {
    /// The file that stands for the listing made of the companion.
    made: Option<MadeListing>,
    /// The files of listings that locations name.
    named: OnceLock<Vec<FileId>>,
    lines: OnceLock<Lines>,
}

#[derive(Debug)]
struct MadeListing {
    file: FileId,
    text: CompanionText,
    listing: OnceLock<Listing>,
}

impl MadeListing {
    fn listing(&self) -> &Listing {
        self.listing.get_or_init(|| Listing::of(&self.text.printed()))
    }
}

impl DebugInfo {
    /// Says where the text of the companion is that this was read from, and how its listing is to
    /// be called.
    #[must_use]
    pub fn with_companion_text(mut self, text: CompanionText, name: &str) -> Self {
        if self.functions.iter().any(|function| function.companion.is_some()) {
            let file = self.add_file(name);
            self.listings.made = Some(MadeListing { file, text, listing: OnceLock::new() });
        }
        self
    }

    /// Where the instruction at an offset is in the text of the VM program, if there is one.
    #[must_use]
    pub fn listing_position_at(
        &self,
        function: FunctionOrdinal,
        offset: BytecodeOffset,
    ) -> Option<SourcePosition> {
        let function = self.function(function)?;
        *self.listed(function).get(function.code.index_at(offset)?)?
    }

    /// Where a function is in the text of the VM program.
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

    /// Whether a function can be shown as text of the VM program.
    #[must_use]
    pub fn is_listed(&self, function: FunctionOrdinal) -> bool {
        self.function(function).is_some_and(|it| self.listed(it).iter().any(Option::is_some))
    }

    /// Whether some function can.
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
    pub(crate) fn listing_files(&self) -> impl Iterator<Item = FileId> {
        let made = self.listings.made.as_ref().map(|made| made.file);
        self.named_files().iter().copied().chain(made)
    }

    /// The places of the lines of a file: of a source, or of a listing.
    pub(crate) fn lines_of(&self, file: FileId) -> &Lines {
        if self.is_listing(file) {
            self.listings.lines.get_or_init(|| self.listing_lines())
        } else {
            &self.lines.entered
        }
    }

    /// The listings that the compiler wrote and that cannot be read, by the names that it was given
    /// for them.
    #[must_use]
    pub fn missing_listings(&self) -> Vec<&str> {
        let missing = self.named_files().iter().filter(|file| self.source(**file).is_none());
        missing.map(|file| self.table.file(*file)).collect()
    }

    pub(crate) fn is_made_listing(&self, file: FileId) -> bool {
        self.listings.made.as_ref().is_some_and(|made| made.file == file)
    }

    /// The text of the listing that is made of the companion, if the file is that.
    pub(crate) fn made_listing(&self, file: FileId) -> Option<Arc<SourceText>> {
        let made = self.listings.made.as_ref().filter(|made| made.file == file)?;
        Some(Arc::clone(&made.listing().text))
    }

    fn named_files(&self) -> &[FileId] {
        self.listings.named.get_or_init(|| {
            let mut files = Vec::new();
            for index in 0..u32::try_from(self.table.len()).unwrap_or(u32::MAX) {
                let id = crate::LocationId(index);
                if matches!(self.table.get(id), Location::Name { .. })
                    && let Some(position) = frames::listing_position(&self.table, id)
                    && !files.contains(&position.file)
                {
                    files.push(position.file);
                }
            }
            files
        })
    }

    fn listing_lines(&self) -> Lines {
        let mut lines = Lines::new();
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

    /// The lines that locations name, if the listing has the function there.
    fn in_named_listing(&self, function: &FunctionInfo) -> Option<Vec<Option<SourcePosition>>> {
        if self.named_files().is_empty() {
            return None;
        }
        let mut found = Vec::with_capacity(function.rows.len());
        for (row, code) in function.rows.iter().zip(&function.code.instructions) {
            let position = row.location.and_then(|id| frames::listing_position(&self.table, id));
            let Some(position) = position else {
                found.push(None);
                continue;
            };
            let line = self.source(position.file)?.line(position.line)?;
            if !has_operation(line, code.op) {
                return None;
            }
            // The compiler counts the columns of listings from zero.
            let column = position.column.saturating_add(1);
            found.push(Some(SourcePosition { column, ..position }));
        }
        found.iter().any(Option::is_some).then_some(found)
    }

    fn in_made_listing(&self, function: &FunctionInfo) -> Option<Vec<Option<SourcePosition>>> {
        let (made, companion) = (self.listings.made.as_ref()?, function.companion.as_ref()?);
        let listing = made.listing();
        let position = |operation: &u32| {
            let operation = companion.function.operations.get(*operation as usize)?;
            let (line, column) = listing.position(operation.start);
            Some(SourcePosition { file: made.file, line, column })
        };
        Some(companion.operations.iter().map(position).collect())
    }
}

/// Whether a line of VM text is of an operation that becomes an instruction.
fn has_operation(line: &str, op: Op) -> bool {
    let has = |mnemonic: &str| {
        let mut words = line.split(|it: char| !(it.is_ascii_alphanumeric() || "._".contains(it)));
        words.any(|word| word.strip_prefix("vm.") == Some(mnemonic))
    };
    // A cast of references is encoded as an assignment.
    has(op.mnemonic()) || (op == Op::AssignRef && has("cast.ref.any"))
}
