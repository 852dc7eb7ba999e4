//! From offsets in a text to lines and columns.

use super::function::LineColumn;

/// Offsets to lines.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn new(text: &str) -> Self {
        let newlines = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Self(std::iter::once(0).chain(newlines).collect())
    }

    pub(super) fn place(&self, offset: usize) -> LineColumn {
        let line = self.0.partition_point(|start| *start <= offset);
        let start = self.0.get(line.saturating_sub(1)).copied().unwrap_or(0);
        (line as u32, (offset - start) as u32 + 1)
    }
}
