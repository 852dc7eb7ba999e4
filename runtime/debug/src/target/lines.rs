//! Lines: the places of instructions in the text of a level, for frames and for steps.

use std::any::Any;

use debuginfo::{FileId, SourcePosition};
use hal::QueueActivity;
use vm::{FrameIndex, FunctionId, Invocation, Position};

use super::level::Level;
use super::program::Program;
use crate::view::frame::SourceLine;

/// The identity of a line: the file, the line, and the inlined copy. With a column, the identity of
/// a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LineKey {
    file: FileId,
    line: u32,
    column: Option<u32>,
    instance: u32,
}

impl LineKey {
    /// Whether it is the same line or statement of the text, in any inlined copy.
    #[cfg(test)]
    pub(crate) fn is_same_place(&self, other: &Self) -> bool {
        self.is_same_line(other) && self.column == other.column
    }

    /// Whether it is the same line of text, in any inlined copy.
    pub(crate) fn is_same_line(&self, other: &Self) -> bool {
        (self.file, self.line) == (other.file, other.line)
    }
}

/// A program in the text of one level.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'p> {
    pub(crate) program: &'p Program,
    pub(crate) level: Level,
}

impl Lines<'_> {
    /// Whether an instruction comes before the place where the user sees its function begin.
    pub(crate) fn is_ahead_of_entry(self, position: Position) -> bool {
        let module =
            self.program.module(position.function.module).filter(|_| self.level.is_source());
        let entry = module.and_then(|it| it.info.entry_of(position.function.function));
        entry.is_some_and(|entry| position.offset < entry)
    }

    /// The line of an instruction, for stepping.
    pub(crate) fn line_of(self, position: Position) -> Option<LineKey> {
        Some(LineKey { column: None, ..self.statement_of(position)? })
    }

    /// The statement of an instruction, for stepping: the line, and the column of the operation.
    pub(crate) fn statement_of(self, position: Position) -> Option<LineKey> {
        let module = self.program.module(position.function.module)?;
        let (function, offset) = (position.function.function, position.offset);
        let (place, instance) = match self.level {
            Level::Python | Level::Model if self.only_arranges(position) => return None,
            Level::Python | Level::Model | Level::Source => {
                let instance = module.info.row_at(function, offset)?.instance;
                (module.info.position_at(function, offset)?, instance)
            }
            Level::Vm => (module.info.listing_position_at(function, offset)?, 0),
            Level::Disassembly => return None,
        };
        Some(LineKey { file: place.file, line: place.line, column: Some(place.column), instance })
    }

    /// Whether a function has lines to step by.
    pub(crate) fn has_lines(self, function: FunctionId) -> bool {
        let Some(module) = self.program.module(function.module) else { return false };
        let info = &module.info;
        match self.level {
            Level::Python | Level::Model | Level::Source => {
                info.rows(function.function).iter().any(|row| row.position.is_some())
            }
            Level::Vm => info.is_listed(function.function),
            Level::Disassembly => false,
        }
    }

    /// Whether an instruction is one that the level of the model does not show: it arranges for
    /// tensors to be computed elsewhere.
    pub(crate) fn only_arranges(self, position: Position) -> bool {
        let module = self.program.module(position.function.module);
        let module = module.filter(|_| self.level.is_model());
        let (function, offset) = (position.function.function, position.offset);
        module.is_some_and(|it| !it.is_model_line(function, offset))
    }

    /// Whether all lines that a function has are those of the dispatches that it records, or that
    /// its other half records (`f` of an imported model only waits for what `f$async` does).
    pub(crate) fn is_all_dispatched(self, function: FunctionId) -> bool {
        let Some(module) = self.program.module(function.module) else { return false };
        let is_own = |recorder| {
            let recorder = FunctionId { function: recorder, ..function };
            recorder == function || self.program.is_half(recorder, function)
        };
        let mut recorded = module.recorded().iter();
        self.level.is_source()
            && !self.has_lines(function)
            && recorded.any(|it| !it.path.is_empty() && is_own(it.recording.function))
    }

    /// Whether the boundary at which native code stands is one of an operation to step to: a
    /// dispatch or, at the level of the model, a copy or a fill that the source says.
    pub(crate) fn is_at_operation(self, invocation: &Invocation) -> bool {
        let Some(boundary) = invocation.boundary() else { return false };
        if !boundary.name.is_empty() || !self.level.is_model() {
            return !boundary.name.is_empty();
        }
        let activity: Option<&dyn Any> = invocation.activity(FrameIndex(0)).map(|it| it as _);
        let activity = activity.and_then(<dyn Any>::downcast_ref::<QueueActivity>);
        let recorded_at = activity.and_then(QueueActivity::step).and_then(|it| it.recorded_at);
        recorded_at.is_some_and(|recorded_at| {
            let module = self.program.module(recorded_at.function.module);
            module.is_some_and(|it| it.is_model_transfer(&self.path_of(recorded_at)))
        })
    }

    /// Where a function begins in the text of the level; at the VM level, a function that is not in
    /// that text is looked up in the source.
    pub(crate) fn source_of(self, function: FunctionId) -> Option<SourceLine> {
        let module = self.program.module(function.module)?;
        let info = &module.info;
        let in_source = || {
            let known = info.function_position(function.function);
            let mut rows = info.rows(function.function).iter();
            known.or_else(|| rows.find_map(|row| row.position))
        };
        let place = match self.level {
            Level::Python | Level::Model | Level::Source => in_source(),
            Level::Vm => info.function_listing_position(function.function).or_else(in_source),
            Level::Disassembly => None,
        };
        Some(module.source_line(place?))
    }

    /// The path of an instruction: its places from the function inwards, through inlined calls.
    pub(crate) fn path_of(self, position: Position) -> Vec<SourcePosition> {
        self.program.path_at(self.level, position)
    }
}

impl Program {
    /// The program in the text of a level.
    pub(crate) fn lines(&self, level: Level) -> Lines<'_> {
        Lines { program: self, level }
    }

    /// Whether two functions are one function of the source.
    pub(crate) fn is_same_source(&self, one: FunctionId, other: FunctionId) -> bool {
        let Some(module) = self.module(one.module).filter(|_| one.module == other.module) else {
            return false;
        };
        let place = |function: FunctionId| module.info.function_position(function.function);
        match (place(one), place(other)) {
            (None, None) => self.is_half(one, other) || self.is_half(other, one),
            (one, other) => one == other,
        }
    }

    /// Whether a function is the half of another that does what that waits for, by its name.
    fn is_half(&self, function: FunctionId, whole: FunctionId) -> bool {
        let name = self.function_name(function);
        let half = name.as_deref().and_then(|it| it.strip_suffix("$async"));
        half.is_some() && self.function_name(whole).as_deref() == half
    }

    /// The path of an instruction at a level: its places from the function inwards, through inlined
    /// calls.
    pub(crate) fn path_at(&self, level: Level, position: Position) -> Vec<SourcePosition> {
        let Some(module) = self.module(position.function.module) else { return Vec::new() };
        let (function, offset) = (position.function.function, position.offset);
        match level {
            Level::Python | Level::Model | Level::Source => module.info.path_at(function, offset),
            Level::Vm => module.info.listing_position_at(function, offset).into_iter().collect(),
            Level::Disassembly => Vec::new(),
        }
    }

    /// The place of an instruction in the text of a level.
    #[must_use]
    pub fn source_line_at(&self, level: Level, position: Position) -> Option<SourceLine> {
        let module = self.module(position.function.module)?;
        let whole =
            || module.whole_dispatch(position.function.function).filter(|_| level.is_source());
        let path = self.path_at(level, position);
        module.line_of_path(level, &path).or_else(|| Some(module.source_line(whole()?)))
    }

    /// Whether a file is the text of the VM program in all modules that have it.
    pub(crate) fn is_listing(&self, file: &str) -> bool {
        self.modules.iter().any(|module| {
            let files = module.info.match_file(file).map(|(_, files)| files);
            files.is_some_and(|files| files.iter().all(|it| module.info.is_listing(*it)))
        })
    }
}
