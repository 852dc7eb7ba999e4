//! [`TextEdit`]: a replacement of text, as lengths in bytes.

/// A replacement of text, in bytes: what lay in `start..start + removed` became `inserted` bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextEdit {
    /// Where it begins, in the old and in the new text.
    pub start: usize,
    /// Bytes that went away.
    pub removed: usize,
    /// Bytes that came.
    pub inserted: usize,
}

impl TextEdit {
    /// The one edit that covers this one and then `next`.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        let start = self.start.min(next.start);
        let middle_end = (self.start + self.inserted).max(next.start + next.removed);
        let removed = middle_end + self.removed - self.inserted - start;
        let inserted = middle_end + next.inserted - next.removed - start;
        Self { start, removed, inserted }
    }
}
