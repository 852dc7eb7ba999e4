//! Which frame a breakpoint means on an instruction of inlined calls.

use debuginfo::SourcePosition;
use vm::Position;

use super::spec::BreakpointSpec;
use super::table::Breakpoint;
use crate::machine::Machine;
use crate::target::level::Level;
use crate::target::program::Program;

/// A line and a column, as far as they are known.
pub(crate) type LineAndColumn = (Option<u32>, Option<u32>);

impl BreakpointSpec {
    /// The index of the meant frame in the path of an instruction.
    pub(crate) fn frame_meant(
        &self,
        program: &Program,
        (line, column): LineAndColumn,
        position: Position,
        path: &[SourcePosition],
    ) -> usize {
        let innermost = path.len().saturating_sub(1);
        match self {
            Self::Line { file, .. } if program.is_listing(file) => innermost,
            Self::Line { .. } => {
                let on_line = |place: &SourcePosition| {
                    Some(place.line) == line && column.is_none_or(|column| place.column == column)
                };
                path.iter().rposition(on_line).unwrap_or(innermost)
            }
            Self::Function { name } => program.frame_named(name, position, path),
            _ => innermost,
        }
    }

    /// How many calls of Python lead to the frame that is meant where the program stands, if it is
    /// one of Python.
    pub(crate) fn python_calls_meant(
        &self,
        machine: &Machine,
        level: Level,
        line: Option<u32>,
    ) -> Option<usize> {
        match self {
            Self::Line { file, .. } => machine.python_calls_on(level, file, line?),
            Self::Function { name } => machine.python_calls_of(level, name),
            _ => None,
        }
    }
}

impl Breakpoint {
    /// How many inlined calls lead to the meant frame at a place of the breakpoint; none if no call
    /// was inlined there.
    pub(crate) fn calls_meant(&self, program: &Program, position: Position) -> Option<usize> {
        let path = program.path_at(Level::Source, position);
        let at = (self.line, self.column);
        (path.len() > 1).then(|| self.spec.frame_meant(program, at, position, &path))
    }
}
