//! [`Lines`]: from offsets in a text to lines and columns, and back.

use std::sync::Arc;

use super::functions::LineColumn;

/// The offsets at which the lines of a text begin.
#[derive(Clone, Debug)]
pub(super) struct Lines(Arc<[usize]>);

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let newlines = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Self(std::iter::once(0).chain(newlines).collect())
    }

    /// The number of lines.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// Where a line begins; lines are counted from one.
    pub(super) fn start(&self, line: u32) -> Option<usize> {
        self.0.get((line as usize).checked_sub(1)?).copied()
    }

    /// The line of an offset.
    pub(super) fn line(&self, offset: usize) -> u32 {
        u32::try_from(self.0.partition_point(|start| *start <= offset)).unwrap_or(u32::MAX)
    }

    pub(super) fn place(&self, offset: usize) -> LineColumn {
        let line = self.line(offset);
        let start = self.start(line).unwrap_or(0);
        (line, u32::try_from(offset - start + 1).unwrap_or(u32::MAX))
    }
}
