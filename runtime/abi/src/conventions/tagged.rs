//! The tagged text that `raw` and `sip` signatures consist of: components of a letter and an
//! integer, or of a letter, a length and bytes.
//!
//! ```text
//! component = ("_" | "a".."z") integer                 integer = "-"? digit+, of 32 bits
//!           | ("A".."Z") length "!" bytes              length  = number of bytes + 1, for the "!"
//! ```
//!
//! A reader never reads beyond its span, and every length is checked against the bytes that are
//! there, so the time is linear in the text, whatever its lengths claim.

use crate::text::cursor::SyntaxError;

/// One component and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Component<'a> {
    pub(crate) position: usize,
    pub(crate) tag: u8,
    pub(crate) body: Body<'a>,
}

/// What follows the letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body<'a> {
    Integer(i32),
    Span(Reader<'a>),
}

/// A span of components that are read one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reader<'a> {
    text: &'a [u8],
    position: usize,
    end: usize,
    /// Where the span that was read last begins, after its `!`, if the position is its end.
    span_before: Option<usize>,
    /// Whether it is only tried if the text consists of components.
    is_trial: bool,
}

/// By how many bytes a length is tried to be too small.
const MOST_MISSING: usize = 4;

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, position: 0, end: text.len(), span_before: None, is_trial: false }
    }

    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// The remaining bytes.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        &self.text[self.position..self.end]
    }

    /// The next component; `None` at the end of the span.
    pub(crate) fn next(&mut self) -> Result<Option<Component<'a>>, SyntaxError> {
        let Some(&tag) = self.bytes().first() else { return Ok(None) };
        let position = self.position;
        if !matches!(tag, b'_' | b'a'..=b'z' | b'A'..=b'Z') {
            return Err(self.no_tag());
        }
        self.position += 1;
        let number_at = self.position;
        let number = self.integer()?;
        let body = if tag.is_ascii_uppercase() {
            Body::Span(self.span(number, number_at)?)
        } else {
            self.span_before = None;
            Body::Integer(number)
        };
        Ok(Some(Component { position, tag, body }))
    }

    /// The length may end inside a character; the whole character is shown.
    fn no_tag(&self) -> SyntaxError {
        let is_inside = |at: &usize| self.text[*at] & 0xC0 == 0x80;
        let start = self.position.saturating_sub(3);
        let position = (start..=self.position).rev().find(|at| !is_inside(at));
        let position = position.unwrap_or(self.position);
        let end = (self.position + 4).min(self.text.len());
        let shown = String::from_utf8_lossy(&self.text[position..end]);
        let found = shown.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
        let found = found.escape_debug();
        let hint = self
            .longer_span()
            .map(|(start, length)| format!("; the span at {start} would fit with length {length}"));
        let hint = hint.unwrap_or_default();
        SyntaxError::at(
            position,
            format!("expected a tag (`_` or a letter), but `{found}` here{hint}"),
        )
    }

    /// Where the span before the position begins, after its `!`, and the length with which it and
    /// what comes after it consist of components.
    fn longer_span(&self) -> Option<(usize, usize)> {
        let start = self.span_before.filter(|_| !self.is_trial)?;
        let mut ends = (self.position + 1..=self.end).take(MOST_MISSING);
        let fits = |position, end| {
            let mut reader = Self { position, end, is_trial: true, ..*self };
            while let Ok(Some(_)) = reader.next() {}
            reader.position == end
        };
        let end = ends.find(|end| fits(start, *end) && fits(*end, self.end))?;
        Some((start, end - start + 1))
    }

    fn integer(&mut self) -> Result<i32, SyntaxError> {
        let at = self.position;
        let rest = self.bytes();
        let sign = usize::from(rest.first() == Some(&b'-'));
        let digits = rest[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = std::str::from_utf8(&rest[..sign + digits]).unwrap_or_default();
        if digits == 0 {
            return Err(SyntaxError::at(at + sign, "expected a digit"));
        }
        self.position += sign + digits;
        text.parse().map_err(|_| {
            SyntaxError::at(
                at,
                format!("{} does not fit 32 bits", crate::text::cursor::excerpt(text)),
            )
        })
    }

    fn span(&mut self, length: i32, number_at: usize) -> Result<Reader<'a>, SyntaxError> {
        if self.bytes().first() != Some(&b'!') {
            return Err(SyntaxError::at(self.position, "expected `!` after the length of a span"));
        }
        let Some(length) = usize::try_from(length).ok().filter(|length| *length > 0) else {
            return Err(SyntaxError::at(
                number_at,
                format!(
                    "length {length} is too small: it counts the `!`, so an empty span has length 1"
                ),
            ));
        };
        let left = self.end - self.position;
        if length > left {
            return Err(SyntaxError::at(
                number_at,
                format!("the span claims {} bytes, but {} are left", length - 1, left - 1),
            ));
        }
        let start = self.position + 1;
        self.position += length;
        self.span_before = Some(start);
        Ok(Reader { position: start, end: self.position, span_before: None, ..*self })
    }
}

/// Finds the spans `I` and `R` of a signature. Other components are skipped, as IREE's parser did.
pub(crate) fn inputs_and_results<'a>(
    text: &'a [u8],
    what: &str,
) -> Result<(Reader<'a>, Reader<'a>), SyntaxError> {
    let mut reader = Reader::new(text);
    let (mut inputs, mut results) = (None, None);
    while let Some(component) = reader.next()? {
        match (component.tag, component.body) {
            (b'I', Body::Span(span)) if inputs.is_none() => inputs = Some(span),
            (b'R', Body::Span(span)) if results.is_none() => results = Some(span),
            _ => {}
        }
    }
    let missing = |name: &str, tag: char| {
        SyntaxError::at(
            text.len(),
            format!("{name} {what} not found: a signature has a span `{tag}`"),
        )
    };
    Ok((
        inputs.ok_or_else(|| missing("Inputs", 'I'))?,
        results.ok_or_else(|| missing("Results", 'R'))?,
    ))
}

/// Appends an integer component.
pub(crate) fn write_integer(out: &mut Vec<u8>, tag: u8, value: i32) {
    out.push(tag);
    out.extend(value.to_string().into_bytes());
}

/// Appends a span component.
pub(crate) fn write_span(out: &mut Vec<u8>, tag: u8, contents: &[u8]) {
    out.push(tag);
    out.extend((contents.len() + 1).to_string().into_bytes());
    out.push(b'!');
    out.extend(contents);
}

#[cfg(test)]
mod tests {
    use super::{Body, Reader};

    #[test]
    fn components() {
        let mut reader = Reader::new(b"a5_-3Z4!abcZ1!");
        assert_eq!(reader.next().unwrap().unwrap().body, Body::Integer(5));
        assert_eq!(reader.next().unwrap().unwrap().body, Body::Integer(-3));
        let Body::Span(span) = reader.next().unwrap().unwrap().body else { panic!() };
        assert_eq!((span.bytes(), span.position()), (&b"abc"[..], 8));
        let Body::Span(span) = reader.next().unwrap().unwrap().body else { panic!() };
        assert_eq!(span.bytes(), b"");
        assert_eq!(reader.next(), Ok(None));
    }

    #[test]
    fn lengths_that_are_too_small_are_told() {
        let error = |text: &str| {
            let mut reader = Reader::new(text.as_bytes());
            loop {
                match reader.next() {
                    Ok(component) => assert!(component.is_some(), "{text}"),
                    Err(error) => return error.to_string(),
                }
            }
        };
        assert!(error("I4!a5b22R1!").contains("span at 3 would fit with length 6"));
        // No length is better.
        assert!(!error("I4!a5b!!R1!").contains("would fit"));
    }

    #[test]
    fn errors_point_at_the_fault() {
        for (text, position) in [
            ("X", 1),
            ("5", 0),
            ("a", 1),
            ("a-", 2),
            ("a99999999999999", 1),
            ("Z3abc", 2),
            ("Z99!abc", 1),
            ("Z0!", 1),
            ("Z-3!abc", 1),
            ("Z2147483648!", 1),
        ] {
            let error = Reader::new(text.as_bytes()).next().unwrap_err();
            assert_eq!(error.position, position, "{text}: {error}");
        }
    }
}
