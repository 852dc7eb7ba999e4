//! Where a pattern matches first: the leftmost place, and there the longest text.

use std::collections::HashMap;
use std::ops::Range;

use memchr::memmem;

use crate::faults::ValueError;
use crate::pattern::{Format, Pattern, Piece, Sum, Term};
use crate::regex::{Regex, literal_ends};

/// The values of variables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    pub(crate) texts: HashMap<String, Vec<u8>>,
    pub(crate) numbers: HashMap<String, (i128, Format)>,
}

impl Values {
    /// Forgets what no `$` keeps.
    pub(crate) fn forget_local(&mut self) {
        self.texts.retain(|name, _| name.starts_with('$'));
        self.numbers.retain(|name, _| name.starts_with('$'));
    }

    fn sum(&self, sum: &Sum) -> Result<(i128, Option<Format>), ValueError> {
        let (mut total, mut format) = (0_i128, None);
        for (is_added, term) in &sum.0 {
            let number = match term {
                Term::Number(number) => *number,
                Term::Variable(name) => {
                    let (number, its) = self.numbers.get(name).ok_or_else(|| undefined(name))?;
                    if format.is_some_and(|format| format != *its) {
                        return Err(ValueError::FormatConflict(name.clone()));
                    }
                    format = Some(*its);
                    *number
                }
            };
            let next =
                if *is_added { total.checked_add(number) } else { total.checked_sub(number) };
            total = next.ok_or(ValueError::TooLarge)?;
        }
        Ok((total, format))
    }
}

fn undefined(name: &str) -> ValueError {
    ValueError::Undefined(name.to_owned())
}

/// A piece whose variables have their values.
pub(crate) enum Step<'a> {
    Literal(Vec<u8>),
    Expression(std::borrow::Cow<'a, Regex>),
    Capture(std::borrow::Cow<'a, Regex>),
    Same(usize),
}

/// The steps of a pattern.
///
/// # Errors
/// A variable that has no value.
pub(crate) fn steps<'a>(
    pattern: &'a Pattern,
    values: &Values,
) -> Result<Vec<Step<'a>>, ValueError> {
    use std::borrow::Cow::{Borrowed, Owned};
    let number = |format: Option<Format>, sum: &Sum| {
        let (number, implied) = values.sum(sum)?;
        let format = format.or(implied).unwrap_or(Format::Unsigned);
        let shown = format.show(number).ok_or(ValueError::NotUnsigned(number))?;
        Ok::<_, ValueError>(shown.into_bytes())
    };
    let step = |piece: &'a Piece| {
        Ok(match piece {
            Piece::Literal(text) => Step::Literal(text.clone()),
            Piece::Expression(regex) => Step::Expression(Borrowed(regex)),
            Piece::Define(_, regex) => Step::Capture(Borrowed(regex)),
            Piece::Use(name) => {
                let value = values.texts.get(name).cloned();
                Step::Literal(value.ok_or_else(|| undefined(name))?)
            }
            Piece::Same(index) => Step::Same(*index),
            Piece::DefineNumber(_, format, None) => Step::Capture(Owned(format.expression())),
            Piece::DefineNumber(_, format, Some(sum)) => {
                Step::Capture(Owned(Regex::Literal(number(Some(*format), sum)?)))
            }
            Piece::Number(format, sum) => Step::Literal(number(*format, sum)?),
        })
    };
    pattern.pieces.iter().map(step).collect()
}

impl Step<'_> {
    /// Where the step may end. What a `Same` repeats is not known yet: anything that its
    /// definition matches.
    fn ends(&self, text: &[u8], starts: &[usize], steps: &[Self]) -> Vec<usize> {
        match self {
            Self::Literal(literal) => literal_ends(text, starts, literal),
            Self::Expression(regex) | Self::Capture(regex) => regex.ends(text, starts),
            Self::Same(index) => match &steps[*index] {
                Self::Capture(regex) => regex.ends(text, starts),
                _ => Vec::new(),
            },
        }
    }

    fn crosses_lines(&self) -> bool {
        match self {
            Self::Literal(literal) => literal.contains(&b'\n'),
            Self::Expression(regex) | Self::Capture(regex) => regex.crosses_lines(),
            Self::Same(_) => false,
        }
    }
}

/// A match: its range, and the text of each piece that captures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) range: Range<usize>,
    captures: Vec<Option<Range<usize>>>,
}

impl Match {
    /// Keeps what the match defines.
    pub(crate) fn define(&self, pattern: &Pattern, text: &[u8], values: &mut Values) {
        for (piece, capture) in pattern.pieces.iter().zip(&self.captures) {
            let Some(value) = capture.clone().and_then(|range| text.get(range)) else { continue };
            match piece {
                Piece::Define(name, _) => {
                    values.texts.insert(name.clone(), value.to_vec());
                }
                Piece::DefineNumber(Some(name), format, _) => {
                    if let Some(number) = format.read(&String::from_utf8_lossy(value)) {
                        values.numbers.insert(name.clone(), (number, *format));
                    }
                }
                _ => {}
            }
        }
    }
}

/// The first match of these steps in a text.
pub(crate) fn find(steps: &[Step<'_>], text: &[u8]) -> Option<Match> {
    let required = steps.iter().filter_map(|step| match step {
        Step::Literal(literal) => Some(literal),
        _ => None,
    });
    let required = required.max_by_key(|literal| literal.len());
    let mut line = 0;
    if steps.iter().any(Step::crosses_lines) {
        let all: Vec<usize> = (0..=text.len()).collect();
        return first_of(steps, text, &all);
    }
    while line <= text.len() {
        if let Some(literal) = required {
            // Only a line with this text can match.
            let found = line + memmem::find(&text[line..], literal)?;
            line = memchr::memrchr(b'\n', &text[line..found]).map_or(line, |at| line + at + 1);
        }
        let end = memchr::memchr(b'\n', &text[line..]).map_or(text.len(), |at| line + at);
        let starts: Vec<usize> = (line..=end).collect();
        if let Some(found) = first_of(steps, text, &starts) {
            return Some(found);
        }
        line = end + 1;
    }
    None
}

/// The leftmost match that begins at one of `starts`.
fn first_of(steps: &[Step<'_>], text: &[u8], starts: &[usize]) -> Option<Match> {
    let possible = match steps.first() {
        Some(Step::Literal(literal)) => {
            let at = literal_ends(text, starts, literal);
            at.iter().map(|end| end - literal.len()).collect()
        }
        _ => starts.to_vec(),
    };
    if ends(steps, 0, text, &possible).is_empty() {
        return None;
    }
    possible.iter().find_map(|&start| match_at(steps, text, start))
}

/// Where the steps from `first` on may end.
fn ends(steps: &[Step<'_>], first: usize, text: &[u8], starts: &[usize]) -> Vec<usize> {
    let mut at = starts.to_vec();
    for step in &steps[first..] {
        if at.is_empty() {
            break;
        }
        at = step.ends(text, &at, steps);
    }
    at
}

/// How many of the steps match in a row at the best place of a line, for naming near misses.
pub(crate) fn steps_matched(steps: &[Step<'_>], text: &[u8]) -> usize {
    let mut at: Vec<usize> = (0..=text.len()).collect();
    for (index, step) in steps.iter().enumerate() {
        at = step.ends(text, &at, steps);
        if at.is_empty() {
            return index;
        }
    }
    steps.len()
}

fn match_at(steps: &[Step<'_>], text: &[u8], start: usize) -> Option<Match> {
    let captures = steps.iter().any(|step| matches!(step, Step::Capture(_)));
    let ends = ends(steps, 0, text, &[start]);
    for &end in ends.iter().rev() {
        let mut found = Match { range: start..end, captures: vec![None; steps.len()] };
        if !captures || assign(steps, text, &mut found, 0, start) {
            return Some(found);
        }
    }
    None
}

/// Gives each step from `index` on the longest text with which the rest still matches.
fn assign(steps: &[Step<'_>], text: &[u8], found: &mut Match, index: usize, at: usize) -> bool {
    let end = found.range.end;
    let Some(step) = steps.get(index) else { return at == end };
    let possible = match step {
        Step::Same(of) => {
            let captured = found.captures[*of].clone().unwrap_or(at..at);
            literal_ends(text, &[at], &text[captured])
        }
        step => step.ends(text, &[at], steps),
    };
    for &next in possible.iter().rev().filter(|&&next| next <= end) {
        if ends(steps, index + 1, text, &[next]).binary_search(&end).is_err() {
            continue;
        }
        if matches!(step, Step::Capture(_)) {
            found.captures[index] = Some(at..next);
        }
        if assign(steps, text, found, index + 1, next) {
            return true;
        }
    }
    false
}

impl Match {
    /// The match without its first `count` captures, of steps that were added.
    pub(crate) fn without(mut self, count: usize) -> Self {
        self.captures.drain(..count.min(self.captures.len()));
        self
    }
}
