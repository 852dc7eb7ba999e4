//! Text of files as terminals and editors may show it.
//!
//! A name or a message of a file may have control characters, with which a terminal sets its title
//! or the clipboard, and characters that turn the direction of writing, with which a line reads
//! other than it is. Both are shown as they are written in Rust: `\u{1b}`.

use std::borrow::Cow;

/// Whether a character is shown as it is. Ends of lines and tabs are layout.
const fn is_plain(character: char) -> bool {
    match character {
        '\n' | '\t' => true,
        // C0, DEL and C1.
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => false,
        // Directions of writing.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        _ => true,
    }
}

/// A text with other characters than plain ones escaped.
#[must_use]
pub fn shown(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_plain(character) {
            shown.push(character);
        } else {
            shown.extend(character.escape_unicode());
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        for (text, expected) in [
            ("plain, é, ▀ 漢\n\tnext", "plain, é, ▀ 漢\n\tnext"),
            ("\x1b]52;c;eA==\x07", "\\u{1b}]52;c;eA==\\u{7}"),
            ("a\r\x08b\x7f", "a\\u{d}\\u{8}b\\u{7f}"),
            ("\u{9b}2J", "\\u{9b}2J"),
            ("a\u{202e}b\u{2066}", "a\\u{202e}b\\u{2066}"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }
}
