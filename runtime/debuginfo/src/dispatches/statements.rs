//! Reads the text of dispatches as iree-compile prints it: operations line by line, with their
//! results, names and operands. Other text is skipped.

use crate::mlir_text::Cursor;

/// A printed operation.
pub(crate) struct Statement<'t> {
    /// The text, without locations.
    pub(crate) text: String,
    /// Its location, as text.
    pub(super) location: &'t str,
}

/// The operations of a text, each as one line even if the compiler has wrapped it.
pub(crate) fn statements(text: &str) -> impl Iterator<Item = Statement<'_>> {
    let mut lines = text.lines().map(str::trim).peekable();
    std::iter::from_fn(move || {
        let (mut text, mut location) = split_location(lines.next()?);
        // Only definitions are wrapped, after their operation or between its operands.
        while definition(&text).is_some()
            && let Some(more) = lines.next_if(|line| {
                definition(line).is_none() && (line.starts_with('%') || line.starts_with(": "))
            })
        {
            let (rest, last) = split_location(more);
            text.push(' ');
            text.push_str(&rest);
            location = last;
        }
        Some(Statement { text, location })
    })
}

/// A line without its locations, and the one that ends it.
fn split_location(line: &str) -> (String, &str) {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    let mut last = "";
    while let Some(at) = memchr::memmem::find(rest.as_bytes(), b" loc(") {
        text.push_str(&rest[..at]);
        let location = &rest[at + 1..];
        let mut cursor = Cursor::new(&location.as_bytes()["loc".len()..]);
        let length = match cursor.skip_group() {
            Ok(()) => "loc".len() + cursor.at(),
            Err(_) => location.len(),
        };
        last = &location[..length];
        rest = &location[length..];
    }
    text.push_str(rest);
    // A location in the middle of a line is a block argument's.
    let last = if rest.trim().is_empty() { last } else { "" };
    (text, last)
}

/// Splits `%4:2 = operation rest` into the names of its results, the operation and the rest.
pub(crate) fn definition(statement: &str) -> Option<(Vec<String>, &str, &str)> {
    let (result, rest) = statement.strip_prefix('%')?.split_once(" = ")?;
    let (name, count) = match result.split_once(':') {
        Some((name, count)) => (name, Some(count.parse::<usize>().ok()?)),
        None => (result, None),
    };
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let names = match count {
        // A malformed count is bounded by the length of the text.
        Some(count) => (0..count.min(rest.len())).map(|index| format!("{name}#{index}")).collect(),
        None => vec![name.to_owned()],
    };
    let end = rest.find([' ', '[', '(']).unwrap_or(rest.len());
    let (operation, rest) = rest.split_at(end);
    let rest = rest.strip_prefix([' ', '[']).unwrap_or(rest);
    Some((names, operation, rest))
}

pub(crate) fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '.' | '-')
}

/// The first symbol of a text, quoted or not, without its sigil, and the text after it.
pub(crate) fn symbol(text: &str) -> Option<(String, &str)> {
    let mut cursor = Cursor::new(text.as_bytes());
    cursor.jump(text.find('@')?);
    let name = cursor.symbol().ok()?.into_owned();
    Some((name, text.get(cursor.at()..)?))
}

/// The values that a text uses: `4#1` for `%4#1`.
pub(crate) fn operands(text: &str) -> impl Iterator<Item = String> {
    text.split('%').skip(1).map(|rest| {
        let end = rest.find(|character| !is_name(character) && character != '#');
        rest[..end.unwrap_or(rest.len())].to_owned()
    })
}
