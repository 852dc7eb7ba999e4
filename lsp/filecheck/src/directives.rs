//! The directives of a text, in the order in which an output must fulfil them.

use std::ops::Range;

use crate::faults::DirectiveError;
use crate::options::Options;
use crate::pattern::{Named, Pattern, Piece};

/// What a directive asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectiveKind {
    /// `CHECK`, and `CHECK-COUNT-N` with its number.
    Plain(u32),
    /// `CHECK-NEXT`
    Next,
    /// `CHECK-SAME`
    Same,
    /// `CHECK-NOT`
    Not,
    /// `CHECK-DAG`
    Dag,
    /// `CHECK-LABEL`
    Label,
    /// `CHECK-EMPTY`
    Empty,
}

/// A directive.
#[derive(Debug, Clone)]
pub struct Directive {
    /// What it asks for.
    pub kind: DirectiveKind,
    /// From its prefix to its colon.
    pub head: Range<usize>,
    /// Its text after the colon, without blanks around it.
    pub text: Range<usize>,
    /// Its line, from 1.
    pub line: usize,
    /// Its prefix, such as `CHECK`.
    pub prefix: String,
    /// Whether its text is meant as it stands (`{LITERAL}`).
    pub is_literal: bool,
    pub(crate) pattern: Pattern,
}

/// A fault of a text with directives: FileCheck refuses it, or uses what is not known here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct CheckError {
    /// Where.
    pub range: Range<usize>,
    /// What is wrong.
    pub fault: DirectiveError,
}

/// A directive that an output must match at one place, after what stands before it.
#[derive(Debug, Clone)]
pub(crate) struct Check {
    /// The directive; `None` for the end of the output.
    pub(crate) at: Option<usize>,
    /// The `-DAG` and `-NOT` before it.
    pub(crate) before: Vec<usize>,
}

/// The directives of a text.
#[derive(Debug, Clone)]
pub struct CheckFile {
    /// All of them, in order. Those of `--implicit-check-not` come first, with empty places.
    pub directives: Vec<Directive>,
    pub(crate) checks: Vec<Check>,
}

/// A directive whose pattern is not read.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) kind: Result<DirectiveKind, DirectiveError>,
    pub(crate) prefix: String,
    pub(crate) head: Range<usize>,
    pub(crate) text: Range<usize>,
    pub(crate) line: usize,
    pub(crate) is_literal: bool,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// The kind of the directive whose text after the prefix begins here, with the length up to the
/// text; `None` if there is no directive.
type Suffix = (Result<DirectiveKind, DirectiveError>, usize, bool);

fn suffix(rest: &str) -> Option<Suffix> {
    let ending = |rest: &str| {
        if rest.starts_with(':') {
            return Some((1, false));
        }
        rest.starts_with("{LITERAL}:").then_some((10, true))
    };
    if let Some((length, is_literal)) = ending(rest) {
        return Some((Ok(DirectiveKind::Plain(1)), length, is_literal));
    }
    let name = rest.strip_prefix('-')?;
    if let Some(count) = name.strip_prefix("COUNT-") {
        let digits = count.bytes().take_while(u8::is_ascii_digit).count();
        let end = ending(&count[digits..]);
        let number = count[..digits].parse::<u32>().ok().filter(|&number| number > 0);
        return Some(match (number, end) {
            (Some(number), Some((length, is_literal))) => {
                (Ok(DirectiveKind::Plain(number)), 7 + digits + length, is_literal)
            }
            _ => (Err(DirectiveError::NoCount), 7, false),
        });
    }
    for pair in [
        "DAG-NOT:",
        "NOT-DAG:",
        "NEXT-NOT:",
        "NOT-NEXT:",
        "SAME-NOT:",
        "NOT-SAME:",
        "EMPTY-NOT:",
        "NOT-EMPTY:",
    ] {
        if name.starts_with(pair) {
            return Some((Err(DirectiveError::NoSuchDirective(pair)), 1 + pair.len(), false));
        }
    }
    let kinds = [
        ("NEXT", DirectiveKind::Next),
        ("SAME", DirectiveKind::Same),
        ("NOT", DirectiveKind::Not),
        ("DAG", DirectiveKind::Dag),
        ("LABEL", DirectiveKind::Label),
        ("EMPTY", DirectiveKind::Empty),
    ];
    kinds.into_iter().find_map(|(word, kind)| {
        let (length, is_literal) = ending(name.strip_prefix(word)?)?;
        Some((Ok(kind), 1 + word.len() + length, is_literal))
    })
}

/// All directives of a text under these prefixes.
pub(crate) fn scan(text: &str, prefixes: &[String]) -> Vec<Found> {
    let bytes = text.as_bytes();
    let mut by_length: Vec<(&str, bool)> = prefixes.iter().map(|p| (p.as_str(), false)).collect();
    by_length.extend([("COM", true), ("RUN", true)]);
    by_length.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
    let mut found = Vec::new();
    let (mut counted, mut line) = (0, 0);
    for start in lines_with(bytes, prefixes) {
        line += memchr::memchr_iter(b'\n', &bytes[counted..start]).count();
        counted = start;
        let content = text[start..].split('\n').next().unwrap_or_default();
        let content_end = start + content.trim_end_matches('\r').len();
        let mut at = start;
        while at < content_end {
            let here = by_length
                .iter()
                .find(|(prefix, _)| bytes[at..content_end].starts_with(prefix.as_bytes()));
            let is_inside_word = at > start && is_word(bytes[at - 1]);
            let Some(&(prefix, is_comment)) = here.filter(|_| !is_inside_word) else {
                at += 1;
                continue;
            };
            let after = at + prefix.len();
            let rest = &text[after..content_end];
            if is_comment {
                if rest.starts_with(':') {
                    break;
                }
            } else if let Some((kind, length, is_literal)) = suffix(rest) {
                let inner = &rest[length..];
                let trimmed = inner.trim_start_matches([' ', '\t']);
                let begin = content_end - trimmed.len();
                let end = begin + trimmed.trim_end_matches([' ', '\t']).len();
                found.push(Found {
                    kind,
                    prefix: prefix.to_owned(),
                    head: at..content_end - inner.len(),
                    text: begin..end,
                    line: line + 1,
                    is_literal,
                });
                // The rest of the line belongs to the directive.
                break;
            }
            at = after;
            while at < content_end && is_word(bytes[at]) {
                at += 1;
            }
        }
    }
    found
}

/// The starts of the lines that hold one of these prefixes.
fn lines_with(bytes: &[u8], prefixes: &[String]) -> Vec<usize> {
    let start = |at: usize| memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
    let hits = prefixes.iter().filter(|prefix| !prefix.is_empty()).flat_map(|prefix| {
        memchr::memmem::find_iter(bytes, prefix.as_bytes()).map(start).collect::<Vec<_>>()
    });
    let mut lines: Vec<usize> = hits.collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

impl CheckFile {
    /// Reads the directives of a text.
    ///
    /// # Errors
    /// The first fault.
    pub fn read(text: &str, options: &Options) -> Result<Self, CheckError> {
        let mut directives = Vec::new();
        for excluded in &options.excluded {
            let pattern = Pattern::parse(excluded, 1, options)
                .map_err(|(_, fault)| CheckError { range: 0..0, fault: fault.into() })?;
            directives.push(Directive {
                kind: DirectiveKind::Not,
                head: 0..0,
                text: 0..0,
                line: 1,
                prefix: "--implicit-check-not".into(),
                is_literal: false,
                pattern,
            });
        }
        let implicit: Vec<usize> = (0..directives.len()).collect();
        let (mut checks, mut before) = (Vec::new(), implicit.clone());
        for found in scan(text, &options.prefixes) {
            let directive = read(text, found, options)?;
            let kind = directive.kind;
            let needs_one_before =
                matches!(kind, DirectiveKind::Next | DirectiveKind::Same | DirectiveKind::Empty);
            if needs_one_before && checks.is_empty() {
                let head = text[directive.head.clone()].to_owned();
                let fault = DirectiveError::NeedsOneBefore { head, prefix: directive.prefix };
                return Err(CheckError { range: directive.head, fault });
            }
            let index = directives.len();
            directives.push(directive);
            if matches!(kind, DirectiveKind::Not | DirectiveKind::Dag) {
                before.push(index);
            } else {
                let before = std::mem::replace(&mut before, implicit.clone());
                checks.push(Check { at: Some(index), before });
            }
        }
        for prefix in &options.prefixes {
            let is_used = directives.iter().any(|directive| directive.prefix == *prefix);
            let only_excludes = options.has_default_prefix && !options.excluded.is_empty();
            if !is_used
                && !only_excludes
                && (!options.allows_unused_prefixes || directives.is_empty())
            {
                let fault = DirectiveError::Unused { prefix: prefix.clone() };
                return Err(CheckError { range: 0..0, fault });
            }
        }
        if !before.is_empty() {
            checks.push(Check { at: None, before });
        }
        Ok(Self { directives, checks })
    }
}

fn read(text: &str, found: Found, options: &Options) -> Result<Directive, CheckError> {
    let Found { kind, prefix, head, text: range, line, is_literal } = found;
    let fault = |range: Range<usize>, fault: DirectiveError| CheckError { range, fault };
    let kind = kind.map_err(|why| fault(head.clone(), why))?;
    let content = &text[range.clone()];
    if kind == DirectiveKind::Empty {
        if !content.is_empty() {
            return Err(fault(range, DirectiveError::EmptyHasText));
        }
    } else if content.is_empty() {
        return Err(fault(head, DirectiveError::NoText));
    }
    let is_plain = !content.contains("{{") && !content.contains("[[");
    let pattern = if is_literal || is_plain {
        Pattern::literal(content, options)
    } else {
        Pattern::parse(content, line, options)
            .map_err(|(at, why)| fault(range.start + at..range.end, why.into()))?
    };
    if kind == DirectiveKind::Label
        && let Some(Named { range: of, .. }) = pattern.named.first()
    {
        let range = range.start + of.start..range.start + of.end;
        return Err(fault(range, DirectiveError::LabelHasVariable));
    }
    let defined_here = |name: &str, before: usize| {
        pattern.pieces[..before]
            .iter()
            .any(|piece| matches!(piece, Piece::DefineNumber(Some(defined), ..) if defined == name))
    };
    for (index, piece) in pattern.pieces.iter().enumerate() {
        let crate::pattern::Piece::Number(_, sum) = piece else { continue };
        for (_, term) in &sum.0 {
            if let crate::pattern::Term::Variable(name) = term
                && defined_here(name, index)
            {
                return Err(fault(range, DirectiveError::DefinedHere(name.clone())));
            }
        }
    }
    Ok(Directive { kind, head, text: range, line, prefix, is_literal, pattern })
}
