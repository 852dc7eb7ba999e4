//! Formatting of `.vmasm`, with the disassembler's indentation. Comments keep their places.
//!
//! Only white space between tokens changes, so the text assembles to the same module. Lines that
//! begin with a bytecode offset belong to a listing and stay as they are.

use syntax::{Lexer, TextRange, TokenKind};

use crate::Document;
use crate::text::Replacement;

/// The replacements that format the lines in `range`.
pub(super) fn format(document: &Document, range: &TextRange) -> Vec<Replacement> {
    let text = document.text();
    let whole = text.slice(0..text.len());
    let mut edits = Vec::new();
    let mut depth = 0_usize;
    let mut blank = 0;
    let mut at = 0;
    for line in whole.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.trim_end_matches(['\n', '\r']);
        let trimmed = content.trim();
        let closes = trimmed.starts_with('}');
        let indent = match depth.saturating_sub(usize::from(closes)) {
            0 => 0,
            // Labels align with their function.
            1 if trimmed.starts_with('^') => 0,
            depth => 2 * depth,
        };
        depth = depth_after(depth, trimmed);
        blank = if trimmed.is_empty() { blank + 1 } else { 0 };
        if start >= range.end || at <= range.start {
            continue;
        }
        if blank > 1 {
            edits.push(Replacement { range: start..at, text: String::new() });
            continue;
        }
        if trimmed.starts_with('[') {
            continue;
        }
        let wanted = if trimmed.is_empty() {
            String::new()
        } else {
            format!("{}{}", " ".repeat(indent), spaced(trimmed))
        };
        if wanted != content {
            edits.push(Replacement { range: start..start + content.len(), text: wanted });
        }
    }
    if !whole.is_empty() && !whole.ends_with('\n') && range.end >= whole.len() {
        edits.push(Replacement { range: whole.len()..whole.len(), text: "\n".into() });
    }
    edits
}

fn depth_after(depth: usize, line: &str) -> usize {
    let mut depth = depth;
    for token in Lexer::new(line, 0) {
        match token.kind {
            TokenKind::Punct(b'{') => depth += 1,
            TokenKind::Punct(b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth
}

/// The line with one space between words, none before a comma and one after it. Strings and
/// comments stay as they are.
fn spaced(line: &str) -> String {
    let mut out = String::new();
    let mut last_end = 0;
    for token in Lexer::new(line, 0) {
        let gap = &line[last_end..token.range.start];
        let text = &line[token.range.clone()];
        let is_tail = token.kind == TokenKind::Comment && !out.is_empty();
        if is_tail {
            // Trailing comments may be aligned, so their gap stays.
            out.push_str(if gap.len() < 2 { "  " } else { gap });
        } else if token.is(b',') {
            // There is no space before a comma.
        } else if !gap.is_empty() || out.ends_with(',') {
            out.push(' ');
        }
        out.push_str(text);
        last_end = token.range.end;
    }
    out.trim_end().to_owned()
}
