//! The text of a directive: literals, `{{expressions}}`, and `[[variables]]`.

use std::ops::Range;

use crate::faults::PatternError;
use crate::options::Options;
use crate::regex::Regex;

/// A part of a pattern.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Literal(Vec<u8>),
    Expression(Regex),
    /// `[[NAME:expression]]`.
    Define(String, Regex),
    /// `[[NAME]]`.
    Use(String),
    /// `[[NAME]]`, where the piece of this index defines it in the same directive.
    Same(usize),
    /// `[[#]]`, `[[#%x,NAME:]]`, `[[#NAME: 1+2]]`.
    DefineNumber(Option<String>, Format, Option<Sum>),
    /// `[[#NAME+1]]`, `[[@LINE]]`.
    Number(Option<Format>, Sum),
}

/// The form of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Unsigned,
    Signed,
    HexLower,
    HexUpper,
}

impl Format {
    /// What a number of this form matches.
    pub(crate) fn expression(self) -> Regex {
        let digits = |belongs: fn(u8) -> bool| Regex::some_of(belongs);
        match self {
            Self::Unsigned => digits(|byte| byte.is_ascii_digit()),
            Self::Signed => Regex::Sequence(vec![
                Regex::Repeat {
                    of: Box::new(Regex::Literal(b"-".to_vec())),
                    least: 0,
                    most: Some(1),
                },
                digits(|byte| byte.is_ascii_digit()),
            ]),
            Self::HexLower => digits(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
            Self::HexUpper => digits(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F')),
        }
    }

    /// A number in this form.
    pub(crate) fn show(self, number: i128) -> Option<String> {
        match self {
            Self::Signed => Some(number.to_string()),
            _ if number < 0 => None,
            Self::Unsigned => Some(number.to_string()),
            Self::HexLower => Some(format!("{number:x}")),
            Self::HexUpper => Some(format!("{number:X}")),
        }
    }

    /// The number that a text in this form is.
    pub(crate) fn read(self, text: &str) -> Option<i128> {
        let radix = if matches!(self, Self::Unsigned | Self::Signed) { 10 } else { 16 };
        i128::from_str_radix(text, radix).ok()
    }
}

/// A sum of numbers and variables, each with its sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sum(pub(crate) Vec<(bool, Term)>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Term {
    Number(i128),
    Variable(String),
}

/// A variable that a directive names, for editors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// The name, with `$` if it has one.
    pub(crate) name: String,
    /// Its place in the directive's text.
    pub(crate) range: Range<usize>,
    pub(crate) is_definition: bool,
}

/// What a directive must match.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pattern {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) named: Vec<Named>,
}

/// Runs of blanks count as one space.
pub(crate) fn canonical(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' ' | '\t' if found.ends_with(' ') => {}
            '\t' => found.push(' '),
            c => found.push(c),
        }
    }
    found
}

impl Pattern {
    /// The pattern of a text without regard to `{{` and `[[`.
    pub(crate) fn literal(text: &str, options: &Options) -> Self {
        Self { pieces: vec![literal(text, options)], named: Vec::new() }
    }

    /// Reads a directive's text. `line` is its number, from 1.
    ///
    /// # Errors
    /// Why FileCheck would refuse it, or what is not known here; and its place.
    pub(crate) fn parse(
        text: &str,
        line: usize,
        options: &Options,
    ) -> Result<Self, (usize, PatternError)> {
        let mut reader = PatternReader { text, line, options, pattern: Self::default() };
        reader.read()?;
        Ok(reader.pattern)
    }
}

fn literal(text: &str, options: &Options) -> Piece {
    let text = if options.strict_whitespace { text.to_owned() } else { canonical(text) };
    Piece::Literal(text.into_bytes())
}

struct PatternReader<'a> {
    text: &'a str,
    line: usize,
    options: &'a Options,
    pattern: Pattern,
}

/// A name of a variable at the start of a text: its length.
fn name_length(text: &str) -> usize {
    let sigil = usize::from(text.starts_with('$'));
    let name = text[sigil..].bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let length = name.count();
    let starts = text.as_bytes().get(sigil).is_some_and(|byte| !byte.is_ascii_digit());
    if length == 0 || !starts { 0 } else { sigil + length }
}

/// Where the `]]` that ends a block stands; brackets inside count.
fn block_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while at < bytes.len() {
        if depth == 0 && bytes[at..].starts_with(b"]]") {
            return Some(at);
        }
        match bytes[at] {
            b'\\' => at += 1,
            b'[' => depth += 1,
            b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
    None
}

fn unclosed(opening: &'static str, closing: &'static str) -> PatternError {
    PatternError::Unclosed { opening, closing }
}

fn unknown(kind: &'static str, name: String) -> PatternError {
    PatternError::Unknown { kind, name }
}

impl PatternReader<'_> {
    fn read(&mut self) -> Result<(), (usize, PatternError)> {
        let mut at = 0;
        while at < self.text.len() {
            let rest = &self.text[at..];
            if let Some(inner) = rest.strip_prefix("{{") {
                let end = inner.find("}}").ok_or((at, unclosed("{{", "}}")))?;
                let regex = self.regex(&inner[..end]).map_err(|why| (at, why))?;
                self.pattern.pieces.push(Piece::Expression(regex));
                at += end + 4;
            } else if let Some(inner) = rest.strip_prefix("[[") {
                let end = block_end(inner).ok_or((at, unclosed("[[", "]]")))?;
                self.block(&inner[..end], at + 2).map_err(|why| (at, why))?;
                at += end + 4;
            } else {
                let next = |opening: &str| {
                    let first = rest.chars().next().map_or(1, char::len_utf8);
                    rest[first..].find(opening).map_or(rest.len(), |found| found + first)
                };
                let end = next("{{").min(next("[["));
                self.pattern.pieces.push(literal(&rest[..end], self.options));
                at += end;
            }
        }
        Ok(())
    }

    fn regex(&self, text: &str) -> Result<Regex, PatternError> {
        let text = if self.options.strict_whitespace { text.into() } else { canonical(text) };
        Regex::parse(&text).map_err(|source| PatternError::Regex { text, source })
    }

    /// The inside of `[[…]]`, which begins at `base`.
    fn block(&mut self, inner: &str, base: usize) -> Result<(), PatternError> {
        if let Some(number) = inner.strip_prefix('#') {
            return self.number(number, base + 1);
        }
        if inner.starts_with('@') {
            let sum = self.sum(inner, base)?;
            self.pattern.pieces.push(Piece::Number(Some(Format::Unsigned), sum));
            return Ok(());
        }
        let length = name_length(inner);
        let (name, rest) = inner.split_at(length);
        if name.is_empty() {
            return Err(PatternError::BeginsWithNoName(inner.to_owned()));
        }
        let range = base..base + length;
        let Some(regex) = rest.strip_prefix(':') else {
            if !rest.is_empty() {
                return Err(PatternError::AfterName(name.to_owned()));
            }
            let same =
                self.pattern.pieces.iter().rposition(
                    |piece| matches!(piece, Piece::Define(defined, _) if defined == name),
                );
            self.named(name, range, false);
            self.pattern.pieces.push(same.map_or(Piece::Use(name.to_owned()), Piece::Same));
            return Ok(());
        };
        let regex = self.regex(regex)?;
        self.named(name, range, true);
        self.pattern.pieces.push(Piece::Define(name.to_owned(), regex));
        Ok(())
    }

    fn named(&mut self, name: &str, range: Range<usize>, is_definition: bool) {
        let name = name.to_owned();
        self.pattern.named.push(Named { name, range, is_definition });
    }

    /// The inside of `[[#…]]`.
    fn number(&mut self, inner: &str, base: usize) -> Result<(), PatternError> {
        let (mut rest, mut at) = (inner, base);
        let trim = |rest: &mut &str, at: &mut usize| {
            let trimmed = rest.trim_start_matches([' ', '\t']);
            *at += rest.len() - trimmed.len();
            *rest = trimmed;
        };
        trim(&mut rest, &mut at);
        let mut format = None;
        if let Some(after) = rest.strip_prefix('%') {
            let end = after.find(',').unwrap_or(after.len());
            format = Some(match after[..end].trim_end_matches([' ', '\t']) {
                "u" => Format::Unsigned,
                "d" => Format::Signed,
                "x" => Format::HexLower,
                "X" => Format::HexUpper,
                other => return Err(unknown("format", format!("%{other}"))),
            });
            let used = (1 + end + 1).min(rest.len());
            rest = &rest[used..];
            at += used;
            trim(&mut rest, &mut at);
        }
        let mut defined = None;
        let mut is_definition = rest.is_empty();
        if let Some(colon) = rest.find(':') {
            let name = rest[..colon].trim_end_matches([' ', '\t']);
            if name_length(name) != name.len() || name.is_empty() {
                return Err(PatternError::NoName(name.to_owned()));
            }
            self.named(name, at..at + name.len(), true);
            defined = Some(name.to_owned());
            is_definition = true;
            rest = &rest[colon + 1..];
            at += colon + 1;
            trim(&mut rest, &mut at);
        }
        if let Some(after) = rest.strip_prefix("==") {
            if after.trim().is_empty() {
                return Err(PatternError::EqualsNothing);
            }
            rest = after;
            at += 2;
            trim(&mut rest, &mut at);
        }
        let sum = if rest.is_empty() { None } else { Some(self.sum(rest, at)?) };
        self.pattern.pieces.push(match (is_definition, sum) {
            (false, Some(sum)) => Piece::Number(format, sum),
            (_, sum) => {
                if format.is_none() && sum.as_ref().is_some_and(has_variables) {
                    return Err(PatternError::NeedsFormat);
                }
                Piece::DefineNumber(defined, format.unwrap_or(Format::Unsigned), sum)
            }
        });
        Ok(())
    }

    fn sum(&mut self, text: &str, base: usize) -> Result<Sum, PatternError> {
        let mut terms = Vec::new();
        let (mut at, mut is_added) = (0, true);
        loop {
            let spaces =
                |at: usize| text.len() - at - text[at..].trim_start_matches([' ', '\t']).len();
            at += spaces(at);
            let rest = &text[at..];
            let length = name_length(rest);
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let term = if rest.starts_with("@LINE") {
                at += 5;
                Term::Number(self.line as i128)
            } else if length > 0 {
                let name = &rest[..length];
                if text[at + length..].trim_start().starts_with('(') {
                    return Err(unknown("function", name.to_owned()));
                }
                self.named(name, base + at..base + at + length, false);
                at += length;
                Term::Variable(name.to_owned())
            } else if digits > 0 && !rest.starts_with("0x") {
                at += digits;
                let number = rest[..digits].parse();
                Term::Number(number.map_err(|_| PatternError::NumberTooLarge)?)
            } else {
                return Err(PatternError::NoTerm(rest.to_owned()));
            };
            terms.push((is_added, term));
            at += spaces(at);
            match text[at..].chars().next() {
                None => return Ok(Sum(terms)),
                Some('+') => is_added = true,
                Some('-') => is_added = false,
                Some(other) => return Err(unknown("operator", other.to_string())),
            }
            at += 1;
        }
    }
}

fn has_variables(sum: &Sum) -> bool {
    sum.0.iter().any(|(_, term)| matches!(term, Term::Variable(_)))
}
