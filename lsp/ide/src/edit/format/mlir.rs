//! Formatting of MLIR of any dialect, chunk by chunk.
//!
//! The author's lines stay lines. A chunk that cannot be read is left as it is, so what is being
//! typed disturbs nothing and a fault does not spread. Tests that refer to lines by their distance
//! (`expected-error @+1`) keep every line where it is.
//!
//! The result is formatted again, until nothing changes; then its tokens are compared with those of
//! the text. So formatting twice is formatting once, and only white space changes, whatever the
//! rules do. A text for which that fails is left alone.

use std::sync::Arc;

use syntax::{Lexer, Shape, TextRange, Token, TokenKind, Tree, find_all};

use super::breaking::break_long_lines;
use super::chunk_view::ChunkView;
use super::layout::{Before, Indent, lay_out, line_end};
use crate::Document;
use crate::text::Replacement;

/// How often a result is formatted again. Once shows that it stays; that it does not takes lines
/// whose indentation tells where a symbol begins.
const TURNS: usize = 4;

/// The replacements that format the lines in `range`.
pub(super) fn format(document: &Document, range: &TextRange) -> Vec<Replacement> {
    let text = document.text();
    let whole = text.slice(0..text.len());
    if whole.len() != text.len() {
        return Vec::new(); // Damaged UTF-8 was replaced, and offsets have shifted.
    }
    let Some(formatted) = formatted(document, &whole) else { return Vec::new() };
    let (start, end) = lines_of(&whole, range);
    let mut edits = differences(&whole, &formatted).unwrap_or_default();
    edits.retain(|(_, next)| {
        start <= *next && *next < end || *next == whole.len() && end >= whole.len()
    });
    edits.into_iter().map(|(edit, _)| edit).collect()
}

/// The bytes of the lines that a range touches. One that ends where a line begins does not have
/// that line.
fn lines_of(whole: &str, range: &TextRange) -> (usize, usize) {
    let bytes = whole.as_bytes();
    let start = bytes[..range.start.min(bytes.len())].iter().rposition(|&byte| byte == b'\n');
    let last = range.end.saturating_sub(1).max(range.start).min(bytes.len());
    let end = bytes[last..].iter().position(|&byte| byte == b'\n');
    (start.map_or(0, |at| at + 1), end.map_or(bytes.len(), |at| last + at))
}

/// The text, formatted until it stays as it is; `None` if it does not.
fn formatted(document: &Document, whole: &str) -> Option<String> {
    let mut text = once(document, whole);
    for _ in 0..TURNS {
        let path = document.path().map(Into::into);
        let next = Document::new(document.language(), path, Arc::new(text.clone()));
        let again = once(&next, &text);
        if again == text {
            return Some(text);
        }
        text = again;
    }
    None
}

/// The text, formatted once.
fn once(document: &Document, whole: &str) -> String {
    let keeps_lines = counts_lines(whole);
    let mut out = String::with_capacity(whole.len() + whole.len() / 8);
    let mut before = Before::default();
    for placed in document.chunks().iter() {
        let shape = Shape::of(placed.chunk.kind);
        let tree = Tree::parse(whole, placed.range(), document.language(), shape);
        let damage = placed.chunk.damage;
        let is_damaged = damage.unclosed || damage.open_string || damage.stray_close;
        if is_damaged || !tree.errors().is_empty() {
            let after = left_alone(whole, placed.range().end, before);
            out.push_str(&whole[before.end..after.end]);
            before = after;
            continue;
        }
        let view = ChunkView::new(whole, &placed, &tree);
        let mut breaks = vec![false; view.tokens().len()];
        let mut layout = lay_out(&view, whole, before, &breaks, keeps_lines);
        while !keeps_lines && break_long_lines(&view, &layout.places, &mut breaks) {
            layout = lay_out(&view, whole, before, &breaks, keeps_lines);
        }
        for (token, gap) in layout.gaps.iter().enumerate() {
            out.push_str(gap);
            out.push_str(&whole[view.range(token)]);
        }
        before = layout.after;
    }
    let rest = &whole[before.end..];
    let is_blank = rest.bytes().all(|byte| byte.is_ascii_whitespace());
    match is_blank && !keeps_lines {
        true if before.end == 0 => {}
        true => out.push_str(line_end(whole)),
        false => out.push_str(rest),
    }
    out
}

/// What precedes the next chunk after one that stays as it is.
fn left_alone(whole: &str, end: usize, before: Before) -> Before {
    let text = whole[..end].trim_end();
    if text.len() <= before.end {
        return before;
    }
    let line = &text[text.rfind('\n').map_or(0, |at| at + 1)..];
    let indent = line.len() - line.trim_start().len();
    let same = Indent { old: indent, new: indent };
    Before { end: text.len(), column: line.chars().count(), line: same, code_line: same }
}

/// Whether comments refer to lines by their distance.
fn counts_lines(whole: &str) -> bool {
    let marks = ["error", "warning", "remark", "note"].map(|kind| format!("expected-{kind}"));
    let mut marks = marks.iter().map(String::as_str).chain(["@LINE"]);
    marks.any(|mark| find_all(whole, 0..whole.len(), mark).next().is_some())
}

/// The replacements of white space that make one text the other, each with the place of the token
/// after it; `None` if more than white space differs.
fn differences(old: &str, new: &str) -> Option<Vec<(Replacement, usize)>> {
    let mut found = Vec::new();
    let (mut left, mut right) = (Lexer::new(old, 0), Lexer::new(new, 0));
    let (mut old_end, mut new_end) = (0, 0);
    loop {
        let (from, to) = (left.next(), right.next());
        let start = |token: &Option<Token>, text: &str| {
            token.as_ref().map_or(text.len(), |token| token.range.start)
        };
        let (old_start, new_start) = (start(&from, old), start(&to, new));
        let (old_gap, new_gap) = (&old[old_end..old_start], &new[new_end..new_start]);
        if !(old_gap.trim().is_empty() && new_gap.trim().is_empty()) {
            return None;
        }
        if old_gap != new_gap {
            let text = new_gap.to_owned();
            found.push((Replacement { range: old_end..old_start, text }, old_start));
        }
        let (Some(from), Some(to)) = (&from, &to) else {
            return (from.is_none() && to.is_none()).then_some(found);
        };
        let (old_token, new_token) = (written(old, from), written(new, to));
        if from.kind != to.kind || old_token != new_token {
            return None;
        }
        old_end = old_start + old_token.len();
        new_end = new_start + new_token.len();
    }
}

/// A token as written; of a comment, without the white space at its end.
fn written<'t>(text: &'t str, token: &Token) -> &'t str {
    let written = &text[token.range.clone()];
    if token.kind == TokenKind::Comment { written.trim_end() } else { written }
}
