//! How long an answer may be. An agent pays for each word of it, so every text and every list has
//! a bound, and what is left out is said, with the way to ask for it.

/// The most characters of a text in an answer.
pub(crate) const MOST_TEXT: usize = 3_000;

/// The most characters of one value.
pub(crate) const MOST_VALUE: usize = 200;

/// The most lines of source around a stop, before and after its line.
pub(crate) const LINES_AROUND: u32 = 3;

/// The most frames of a stack.
pub(crate) const MOST_FRAMES: usize = 6;

/// The most named values of a stop.
pub(crate) const MOST_VALUES: usize = 12;

/// The most elements of a tensor.
pub(crate) const MOST_ELEMENTS: usize = 256;

/// A text, cut at the end of a line if it is too long.
pub(crate) fn text(text: &str, most: usize) -> String {
    let text = text.trim_end();
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let cut = &text[..end];
    let cut = cut.rfind('\n').map_or(cut, |line| &cut[..line]);
    let left = text.len() - cut.len();
    format!("{cut}\n… {left} more bytes were left out")
}

/// A line, cut to so many characters.
pub(crate) fn line(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_at_a_line() {
        assert_eq!(text("a\nb\n", 10), "a\nb");
        assert_eq!(text("first\nsecond\nthird", 14), "first\nsecond\n… 6 more bytes were left out");
        assert_eq!(text("ééééé", 2), "éé\n… 6 more bytes were left out");
        assert_eq!(line("ééééé", 2), "éé…");
        assert_eq!(line("ab", 2), "ab");
    }
}
