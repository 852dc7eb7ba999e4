//! [`View`]: the data that a request may use, and whether the client still wants the answer.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ide::Document;
use tower_lsp::lsp_types::{Location, Position, Range as LspRange, Url};

use crate::documents::{Documents, Open};
use crate::positions::{self, Encoding, Walk};
use crate::session::Session;

/// The longest text, in bytes, with tokens for the whole document; also the longest range that is
/// read. Tokens for more would be hundreds of megabytes of numbers.
pub(crate) const LONGEST: usize = 4 << 20;

/// The data that a request may use: its document as it was when the request arrived, and the
/// session.
pub(crate) struct View<'a> {
    pub(crate) uri: &'a Url,
    pub(crate) open: &'a Open,
    pub(crate) documents: &'a Documents,
    pub(crate) session: &'a Session,
    pub(crate) cancelled: &'a Cancelled,
}

impl View<'_> {
    pub(crate) fn document(&self) -> &Document {
        &self.open.document
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.documents.encoding()
    }

    pub(crate) fn offset(&self, position: Position) -> usize {
        positions::to_byte(&self.open.rope, position, self.encoding())
    }

    pub(crate) fn bytes(&self, range: LspRange) -> Range<usize> {
        let start = self.offset(range.start);
        start..self.offset(range.end).max(start)
    }

    /// The bytes of a range. Only the beginning of one that is too long.
    pub(crate) fn bounded(&self, range: LspRange) -> Range<usize> {
        let range = self.bytes(range);
        range.start..range.end.min(range.start.saturating_add(LONGEST))
    }

    pub(crate) fn range(&self, range: &Range<usize>) -> LspRange {
        positions::to_range(&self.open.rope, range, self.encoding())
    }

    /// A walk, for ranges in mostly ascending order.
    pub(crate) fn walk(&self) -> Walk<'_> {
        Walk::new(&self.open.rope, self.encoding())
    }

    pub(crate) fn location(&self, range: &Range<usize>) -> Location {
        Location { uri: self.uri.clone(), range: self.range(range) }
    }
}

/// Whether the client cancelled a request. Long work asks now and then.
#[derive(Clone, Default)]
pub(crate) struct Cancelled(Arc<AtomicBool>);

impl Cancelled {
    pub(crate) fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Sets the flag when the handler's future is dropped: that is how tower-lsp cancels.
pub(crate) struct CancelOnDrop(pub(crate) Cancelled);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
