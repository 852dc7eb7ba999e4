//! Where values are defined, for what is known of them from outside of the text.

use syntax::TextRange;

use crate::Document;

/// A definition of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedValue {
    /// Its name, sigil included; of an operation with several results, the name of all: `%r`.
    pub name: String,
    /// The place of the name.
    pub range: TextRange,
}

/// The definitions in a range, in the order of the text. Incomplete if `cancelled`, which is asked
/// between chunks, becomes true.
pub fn value_names(
    document: &Document,
    range: &TextRange,
    cancelled: &dyn Fn() -> bool,
) -> Vec<NamedValue> {
    let mut found = Vec::new();
    for placed in document.chunks().iter_from(range.start) {
        if placed.start >= range.end || cancelled() {
            break;
        }
        let analysed = document.analysis(&placed);
        let places = analysed.analysis.names.values.iter().map(|it| analysed.absolute(&it.span));
        let wanted = places.filter(|it| range.start <= it.end && it.end <= range.end);
        found.extend(wanted.map(|range| {
            let name = document.text().slice(range.clone()).into_owned();
            NamedValue { name, range }
        }));
    }
    found.sort_by_key(|it| it.range.start);
    found
}
