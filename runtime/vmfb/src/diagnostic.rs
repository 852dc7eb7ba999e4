//! Problems of a text, and how they are shown.

use std::fmt::Write;
use std::ops::Range;

/// The severity of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// There is no module.
    Error,
    /// There is a module, maybe not the one that was meant.
    Warning,
}

/// Something wrong at a place of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// Byte range in the text; empty for a place between two bytes.
    pub span: Range<usize>,
    /// What was expected, and what was found.
    pub message: String,
}

/// The most diagnostics that are shown; the rest is counted.
const MAXIMUM_SHOWN: usize = 50;
/// How much of a line is shown, and how much of that before the place: lines of rodata are long.
const WINDOW: usize = 120;
const WINDOW_BEFORE: usize = 80;

/// Renders diagnostics as text: each with its line and a mark under the place.
///
/// ```text
/// error: expected an i32 register like %i0, found `%r1`
///  --> add.vmasm:4:23
///   |
/// 4 |   %i2 = vm.add.i32 %i0, %r1
///   |                         ^^^
/// ```
#[must_use]
pub fn render(diagnostics: &[Diagnostic], source: &[u8], path: &str) -> String {
    let mut out = String::new();
    for (index, diagnostic) in diagnostics.iter().take(MAXIMUM_SHOWN).enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let written = render_one(&mut out, diagnostic, source, path);
        debug_assert!(written.is_ok(), "writing to a String does not fail");
    }
    if diagnostics.len() > MAXIMUM_SHOWN {
        out.push_str(&format!("\n… and {} more\n", diagnostics.len() - MAXIMUM_SHOWN));
    }
    out
}

fn render_one(
    out: &mut String,
    diagnostic: &Diagnostic,
    source: &[u8],
    path: &str,
) -> std::fmt::Result {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let start = diagnostic.span.start.min(source.len());
    let place = TextLine::of(source, start);
    let line = &source[place.line_start..place.line_end];
    let column = String::from_utf8_lossy(&source[place.line_start..start]).chars().count() + 1;
    let number = place.number.to_string();
    let margin = " ".repeat(number.len());
    writeln!(out, "{severity}: {}", printable(&diagnostic.message))?;
    writeln!(out, "{margin}--> {path}:{number}:{column}")?;
    writeln!(out, "{margin} |")?;

    let line = String::from_utf8_lossy(line);
    let first = if column > WINDOW_BEFORE { column - 1 - WINDOW_BEFORE } else { 0 };
    let shown: String = line.trim_end().chars().skip(first).take(WINDOW).collect();
    let marked = diagnostic.span.end.clamp(start, place.line_end.max(start));
    let length = String::from_utf8_lossy(&source[start..marked]).chars().count();
    let length = length.clamp(1, WINDOW - WINDOW_BEFORE.min(column - 1 - first));
    writeln!(out, "{number} | {}", printable(&shown))?;
    // Tabs stay tabs, so that the mark is under its place.
    let before: String = shown
        .chars()
        .chain(std::iter::repeat(' '))
        .take(column - 1 - first)
        .map(|c| if c == '\t' { c } else { ' ' })
        .collect();
    writeln!(out, "{margin} | {before}{}", "^".repeat(length))
}

/// The text without characters that control a terminal.
fn printable(text: &str) -> String {
    let is_obeyed = |c: char| c.is_control() && c != '\t';
    text.chars().map(|c| if is_obeyed(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// A line of a text.
struct TextLine {
    /// Counted from 1.
    number: usize,
    line_start: usize,
    line_end: usize,
}

impl TextLine {
    fn of(source: &[u8], offset: usize) -> Self {
        let before = &source[..offset];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let rest = &source[line_start..];
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let number = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Self { number, line_start, line_end: line_start + length }
    }
}
