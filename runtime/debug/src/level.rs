//! Which text of a program is shown and stepped: what the user wrote, the VM program that the
//! compiler made of it, or the instructions.
//!
//! A level decides where instructions are (and so what frames show, and where steps end) and which
//! names values have. Everything else is the same at all of them; in particular breakpoints are
//! where they were set, whatever the level is. The level may change while the program stands still.
//!
//! Where a level has no text for an instruction, the instruction itself is what is there to show.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use debuginfo::{FileId, LocalValue, SourcePosition};
use vm::{FunctionId, Position};

use crate::breakpoint::BreakpointSpec;
use crate::debugger::Debugger;
use crate::program::Program;
use crate::view::SourceLine;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Level {
    /// What the user wrote, with the calls that were inlined.
    #[default]
    Source,
    /// The VM program as text, one operation a line.
    Vm,
    /// Instructions.
    Disassembly,
}

impl Level {
    /// All of them, from the user's to the machine's.
    pub const ALL: [Self; 3] = [Self::Source, Self::Vm, Self::Disassembly];

    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Vm => "vm",
            Self::Disassembly => "disassembly",
        }
    }

    /// What a value of the VM program is called.
    pub(crate) fn name_of(self, local: &LocalValue) -> &str {
        let in_listing = local.listing_name.as_deref().filter(|_| self == Self::Vm);
        in_listing.unwrap_or(&local.name)
    }

    /// The value of the VM program that a name means, without its `%`.
    pub(crate) fn named<'l>(self, locals: &'l [LocalValue], name: &str) -> Option<&'l LocalValue> {
        let is_it = |text: &str| text.trim_start_matches('%') == name;
        let is_in_listing = |it: &LocalValue| is_it(it.listing_name.as_ref().unwrap_or(&it.name));
        let in_listing = || locals.iter().find(|it| is_in_listing(it));
        let unique = || locals.iter().find(|it| is_it(&it.name));
        match self {
            Self::Source => unique().or_else(in_listing),
            Self::Vm | Self::Disassembly => in_listing().or_else(unique),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|level| level.name() == text);
        known.ok_or_else(|| {
            format!("there is no level {text:?}; the levels are source, vm and disassembly")
        })
    }
}

/// What makes two instructions belong to the same line: the file, the line, and which inlined copy
/// of it. To the same statement, if the column is that of both, too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LineKey {
    file: FileId,
    line: u32,
    column: Option<u32>,
    instance: u32,
}

impl LineKey {
    /// Whether it is the same line of text, wherever it was inlined.
    pub(crate) fn is_same_line(&self, other: &Self) -> bool {
        (self.file, self.line) == (other.file, other.line)
    }
}

impl Program {
    /// Whether two functions are one in the source.
    pub(crate) fn is_same_source(&self, one: FunctionId, other: FunctionId) -> bool {
        let Some(module) = self.module(one.module).filter(|_| one.module == other.module) else {
            return false;
        };
        let place = |function: FunctionId| module.info.function_position(function.function);
        place(one).is_some_and(|at| place(other) == Some(at))
    }

    /// Whether an instruction comes before the place where the user sees its function begin.
    pub(crate) fn is_ahead_of_entry(&self, position: Position) -> bool {
        let module = self.module(position.function.module).filter(|_| self.level == Level::Source);
        let entry = module.and_then(|it| it.info.entry_of(position.function.function));
        entry.is_some_and(|entry| position.offset < entry)
    }

    /// The line that an instruction belongs to for stepping.
    pub(crate) fn line_of(&self, position: Position) -> Option<LineKey> {
        Some(LineKey { column: None, ..self.statement_of(position)? })
    }

    /// The operation that an instruction belongs to for stepping: the line, and where on it the
    /// operation is.
    pub(crate) fn statement_of(&self, position: Position) -> Option<LineKey> {
        let module = self.module(position.function.module)?;
        let (function, offset) = (position.function.function, position.offset);
        let (place, instance) = match self.level {
            Level::Source => {
                let instance = module.info.row_at(function, offset)?.instance;
                (module.info.position_at(function, offset)?, instance)
            }
            Level::Vm => (module.info.listing_position_at(function, offset)?, 0),
            Level::Disassembly => return None,
        };
        Some(LineKey { file: place.file, line: place.line, column: Some(place.column), instance })
    }

    /// Where an instruction is, from its function inwards through the calls that were inlined.
    pub(crate) fn path_of(&self, position: Position) -> Vec<SourcePosition> {
        self.path_at(self.level, position)
    }

    pub(crate) fn path_at(&self, level: Level, position: Position) -> Vec<SourcePosition> {
        let Some(module) = self.module(position.function.module) else { return Vec::new() };
        let (function, offset) = (position.function.function, position.offset);
        match level {
            Level::Source => module.info.path_at(function, offset),
            Level::Vm => module.info.listing_position_at(function, offset).into_iter().collect(),
            Level::Disassembly => Vec::new(),
        }
    }

    /// Whether a function has lines to step by.
    pub(crate) fn has_lines(&self, function: FunctionId) -> bool {
        let Some(module) = self.module(function.module) else { return false };
        let info = &module.info;
        match self.level {
            Level::Source => info.rows(function.function).iter().any(|row| row.position.is_some()),
            Level::Vm => info.is_listed(function.function),
            Level::Disassembly => false,
        }
    }

    /// Where an instruction came from, in the text of a level.
    pub(crate) fn source_line_at(&self, level: Level, position: Position) -> Option<SourceLine> {
        let module = self.module(position.function.module)?;
        // Instructions of a dispatch that come from no line belong to the operation as a whole.
        let whole = || {
            let known = module.info.function_position(position.function.function);
            known.filter(|_| module.is_nested && level == Level::Source)
        };
        let place = self.path_at(level, position).last().copied().or_else(whole)?;
        Some(module.source_line(place))
    }

    /// Where a function is, in the text of the level; of an operation that only the source has,
    /// there.
    pub(crate) fn source_of(&self, function: FunctionId) -> Option<SourceLine> {
        let module = self.module(function.module)?;
        let info = &module.info;
        let in_source = || {
            let known = info.function_position(function.function);
            let mut rows = info.rows(function.function).iter();
            known.or_else(|| rows.find_map(|row| row.position))
        };
        let place = match self.level {
            Level::Source => in_source(),
            Level::Vm => info.function_listing_position(function.function).or_else(in_source),
            Level::Disassembly => None,
        };
        Some(module.source_line(place?))
    }

    /// The level that somebody thinks at who sets a breakpoint: that of the text that it is set in,
    /// if it is set in one.
    #[must_use]
    pub fn level_of(&self, spec: &BreakpointSpec) -> Level {
        match spec {
            BreakpointSpec::Line { file, .. } => {
                let is_listing = self.modules.iter().any(|module| {
                    let files = module.info.match_file(file).map(|(_, files)| files);
                    files.is_some_and(|files| files.iter().all(|it| module.info.is_listing(*it)))
                });
                if is_listing { Level::Vm } else { Level::Source }
            }
            BreakpointSpec::ListingLine { .. } => Level::Disassembly,
            BreakpointSpec::Function { .. }
            | BreakpointSpec::Instruction { .. }
            | BreakpointSpec::Dispatch { .. }
            | BreakpointSpec::Data { .. } => self.level,
        }
    }
}

impl Debugger {
    /// Which text the program is shown and stepped in.
    #[must_use]
    pub fn level(&self) -> Level {
        self.program.level
    }

    /// Shows and steps the program in another text, from where it stands.
    ///
    /// # Errors
    /// No module has that text; the message says how to get it.
    pub fn set_level(&mut self, level: Level) -> Result<(), String> {
        let has_listing = || self.program.modules.iter().any(|module| module.info.has_listing());
        if level == Level::Vm && !has_listing() {
            return Err(self.no_listing());
        }
        self.program.level = level;
        Ok(())
    }

    fn no_listing(&self) -> String {
        let modules = self.program.modules.iter();
        // Modules inside of others name the same one.
        let missing: BTreeSet<&str> = modules.flat_map(|it| it.info.missing_listings()).collect();
        if missing.is_empty() {
            "no module has its VM program as text; compile it with `iree-dbg compile`, or with \
             --iree-vm-bytecode-source-listing=FILE"
                .to_owned()
        } else {
            format!(
                "the listing of the VM program cannot be read: {}",
                missing.into_iter().collect::<Vec<_>>().join(", ")
            )
        }
    }

    /// Where an instruction came from, in the text that is shown.
    #[must_use]
    pub fn source_line(&self, position: Position) -> Option<SourceLine> {
        self.program.source_line_at(self.program.level, position)
    }

    /// Where an instruction came from, in the text of a level.
    #[must_use]
    pub fn source_line_at(&self, level: Level, position: Position) -> Option<SourceLine> {
        self.program.source_line_at(level, position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_names() {
        for level in Level::ALL {
            assert_eq!(level.name().parse(), Ok(level));
        }
        assert!("asm".parse::<Level>().unwrap_err().contains("disassembly"));
    }
}
