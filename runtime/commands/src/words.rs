//! Words of a line: quoted names, arguments in quotes, and what an unknown word may have meant.

use strsim::osa_distance;

use crate::mistake::Mistake;

/// A name at the beginning of a text, and what follows it. In quotes it may contain anything:
/// `'a b'`, `"a \"b\""`, `@"a b"`. None: the text begins with no quote.
pub(crate) fn quoted_name(text: &str) -> Result<Option<(String, &str)>, Mistake> {
    let body = text.strip_prefix('@').unwrap_or(text);
    let Some(quote) = body.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return Ok(None);
    };
    let mut is_escaped = false;
    for (at, c) in body.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => {
                let inside = &body[1..at];
                let name = match quote {
                    '"' => debug::bare_symbol(&body[..=at]),
                    _ => inside.replace("\\'", "'").replace("\\\\", "\\"),
                };
                return Ok(Some((name, &body[at + 1..])));
            }
            _ => {}
        }
    }
    Err(Mistake::OpenQuote { quote, text: text.to_owned() })
}

/// A name, with or without quotes and `@`.
pub(crate) fn name(text: &str) -> Result<String, Mistake> {
    let text = text.trim();
    match quoted_name(text)? {
        Some((name, "")) => Ok(name),
        Some((_, rest)) => Err(Mistake::AfterName(rest.trim().to_owned())),
        None => Ok(text.strip_prefix('@').unwrap_or(text).to_owned()),
    }
}

/// A name as a command takes it: in quotes if it needs them.
pub(crate) fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '-' | '/');
    let is_word = !name.is_empty() && name.chars().all(is_plain) && !name.starts_with('-');
    if is_word {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A pattern as a command takes it, always in quotes.
pub(crate) fn quoted_pattern(pattern: &str) -> String {
    format!("'{}'", pattern.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Splits a text at blanks as a shell does: quotes keep blanks together, a backslash takes the next
/// character as it is.
pub(crate) fn split(text: &str) -> Result<Vec<String>, Mistake> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' | '"' => {
                let inside = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        None => {
                            return Err(Mistake::OpenQuote { quote: c, text: text.to_owned() });
                        }
                        Some(end) if end == c => break,
                        Some('\\') if c == '"' => inside.extend(characters.next()),
                        Some(other) => inside.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(characters.next()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

/// The parts of a text between separators that are in no brackets and no quotes.
pub(crate) fn outer_parts(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) => quote = Some(open).filter(|open| *open != c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, c) if c == separator && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// The first word of a text, and the rest.
pub(crate) fn first(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

/// The known word that is most like an unknown one, if one is like it at all.
pub(crate) fn closest<'a>(
    unknown: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let most = match unknown.chars().count() {
        0..=2 => return None,
        3..=5 => 1,
        _ => 2,
    };
    let near = known.into_iter().map(|word| (osa_distance(unknown, word), word));
    near.filter(|(distance, _)| *distance <= most).min().map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_quotes() {
        let cases = [
            ("'a b' if x", Some(("a b", " if x"))),
            ("@\"a-b.c$d\"", Some(("a-b.c$d", ""))),
            (r#""say \"hi\"" after"#, Some(("say \"hi\"", " after"))),
            (r"'it\'s'", Some(("it's", ""))),
            ("plain", None),
        ];
        for (text, expected) in cases {
            let found = quoted_name(text).unwrap();
            let found = found.as_ref().map(|(name, rest)| (name.as_str(), *rest));
            assert_eq!(found, expected, "{text}");
        }
        assert!(quoted_name("'open").is_err());
        for name in ["a b", "a-b", "a\"b\\c", "a$b", "it's"] {
            assert_eq!(super::name(&quoted(name)).unwrap(), name);
        }
    }

    #[test]
    fn words_as_in_a_shell() {
        let words = split(r#"3 '2x f32=1' "a \" b" c\ d """#).unwrap();
        assert_eq!(words, ["3", "2x f32=1", "a \" b", "c d", ""]);
        assert!(split("'open").is_err());
    }

    #[test]
    fn parts_are_between_outer_separators() {
        let parts = outer_parts("m.mlir:3, %x[0, 1], max(a, b), 'a, b'", ',');
        assert_eq!(parts, ["m.mlir:3", " %x[0, 1]", " max(a, b)", " 'a, b'"]);
        assert_eq!(outer_parts("", ','), [""]);
        assert_eq!(outer_parts("a),b", ','), ["a)", "b"]);
    }

    #[test]
    fn similar_words() {
        let known = ["break", "backtrace", "continue", "x"];
        assert_eq!(closest("braek", known), Some("break"));
        assert_eq!(closest("contnue", known), Some("continue"));
        assert_eq!(closest("y", known), None);
        assert_eq!(closest("skip", known), None);
    }
}
