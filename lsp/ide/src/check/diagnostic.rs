//! [`Diagnostic`]: one fault of a document.

use syntax::TextRange;

use crate::text::Replacement;

/// A fault and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The text to underline.
    pub range: TextRange,
    /// What is wrong and how to mend it.
    pub message: String,
    /// Its severity.
    pub severity: Severity,
    /// A short name for this kind of fault. Repairs go by it.
    pub code: &'static str,
    /// Related places, each with a message.
    pub related: Vec<(TextRange, String)>,
    /// Edits of which one mends the fault; a single one is what was meant.
    pub mends: Vec<Replacement>,
    /// Two types that disagree: what is there, and what is asked for.
    pub types: Option<[String; 2]>,
}

/// The severity of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A compiler refuses the text.
    Error,
    /// A compiler accepts the text, but it is probably a mistake.
    Warning,
    /// Nothing is wrong, but the reader should know.
    Information,
}

impl Diagnostic {
    /// An error without related places.
    pub fn error(range: TextRange, code: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        let (related, mends) = (Vec::new(), Vec::new());
        Self { range, message, severity: Severity::Error, code, related, mends, types: None }
    }

    /// The same fault, which this edit mends.
    #[must_use]
    pub(crate) fn mended(mut self, range: TextRange, text: impl Into<String>) -> Self {
        self.mends.push(Replacement { range, text: text.into() });
        self
    }

    /// The same fault, which another text in its place mends, if there is one.
    #[must_use]
    pub(crate) fn meaning(self, text: Option<String>) -> Self {
        let range = self.range.clone();
        match text {
            Some(text) => self.mended(range, text),
            None => self,
        }
    }

    /// The same fault, of these two types.
    #[must_use]
    pub(crate) fn of_types(self, there: &str, wanted: &str) -> Self {
        Self { types: Some([there.to_owned(), wanted.to_owned()]), ..self }
    }

    /// A warning without related places.
    pub fn warning(range: TextRange, code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(range, code, message) }
    }
}
