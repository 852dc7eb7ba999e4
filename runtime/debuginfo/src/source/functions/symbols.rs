//! The names of symbols.

/// The name of a symbol: `@"a b"` or `@f` without sigil, quotes and escapes.
pub(crate) fn symbol_name(text: &str) -> String {
    let text = text.strip_prefix('@').unwrap_or(text);
    match text.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
        Some(quoted) => syntax::unquote(quoted),
        None => text.to_owned(),
    }
}
