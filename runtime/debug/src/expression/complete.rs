//! Completions of expressions.

use super::datum::Family;
use super::evaluate::FIELDS;
use super::reduce::FUNCTIONS;

/// The kinds of completions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CompletionKind {
    /// A value of the program.
    Value,
    /// A register.
    Register,
    /// A function of the language.
    Function,
    /// A function of the program.
    Export,
    /// A field of a value.
    Field,
}

/// A text that can be inserted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The text to insert.
    pub text: String,
    /// A short description.
    pub detail: String,
    /// Its kind.
    pub kind: CompletionKind,
    /// The bytes of the expression that it replaces.
    pub replaces: std::ops::Range<usize>,
}

/// What can be inserted into an expression at `cursor`, a byte offset.
///
/// `values` are the names of values there, each with a short text and its kind; `functions` are the
/// functions that the program exports.
pub(crate) fn completions(
    text: &str,
    cursor: usize,
    values: impl FnOnce() -> Vec<(String, String, CompletionKind)>,
    functions: impl FnOnce() -> Vec<String>,
) -> Vec<Completion> {
    let cursor = (0..=cursor.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    let cursor = cursor.unwrap_or(0);
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#' | ':');
    let before = &text[..cursor];
    let start = before.trim_end_matches(is_name).len();
    let (sigil_start, sigil) = match before[..start].chars().next_back() {
        Some(c @ ('%' | '@' | '.')) => (start - 1, Some(c)),
        _ => (start, None),
    };
    let word = &before[start..];
    let mut found = Vec::new();
    let mut add = |text: &str, detail: &str, kind| {
        if text.trim_start_matches(['%', '@']).starts_with(word) {
            let replaces = if text.starts_with(['%', '@']) { sigil_start } else { start };
            let (text, detail) = (text.to_owned(), detail.to_owned());
            found.push(Completion { text, detail, kind, replaces: replaces..cursor });
        }
    };
    if sigil == Some('.') {
        FIELDS.iter().for_each(|(name, help)| add(name, help, CompletionKind::Field));
        return found;
    }
    if sigil != Some('@') {
        for (name, detail, kind) in values() {
            add(&name, &detail, kind);
        }
    }
    if sigil.is_none() {
        let families = Family::ALL.iter().map(|(name, _)| *name);
        families.for_each(|name| add(name, "needs an index", CompletionKind::Value));
        for function in FUNCTIONS {
            let text = format!("{}(", function.name);
            let detail = format!("({}): {}", function.arguments, function.help);
            add(&text, &detail, CompletionKind::Function);
        }
    }
    if sigil != Some('%') {
        for name in functions() {
            add(&format!("@{name}("), "function of the program", CompletionKind::Export);
        }
    }
    found
}
