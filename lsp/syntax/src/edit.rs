//! [`TextEdit`]: a replacement of text, as lengths in bytes.

/// A replacement of text, in bytes: `inserted` bytes replace the range `start..start + removed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextEdit {
    /// The offset where it begins, in the old and in the new text.
    pub start: usize,
    /// The number of bytes removed.
    pub removed: usize,
    /// The number of bytes inserted.
    pub inserted: usize,
}

impl TextEdit {
    /// The one edit that covers this edit and the `next` one.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        let start = self.start.min(next.start);
        let middle_end = (self.start + self.inserted).max(next.start + next.removed);
        let removed = middle_end + self.removed - self.inserted - start;
        let inserted = middle_end + next.inserted - next.removed - start;
        Self { start, removed, inserted }
    }
}
