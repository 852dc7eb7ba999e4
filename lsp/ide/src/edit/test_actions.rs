//! Code actions of tests: CHECK directives from what a run printed, and `expected-error` from what
//! iree-opt says.

use filecheck::{Options, run_lines, write_checks};
use syntax::{Language, OpClass, find_all};

use super::actions::CodeAction;
use crate::Replacement;
use crate::resolve::{label_above, line_end, line_start, symbol_at};
use crate::{Diagnostic, Document, Severity};

/// Writes the directives of the function at `offset`, or replaces them, so that they match what a
/// test printed.
pub fn write_checks_action(
    document: &Document,
    outputs: &[(Options, String)],
    offset: usize,
) -> Option<CodeAction> {
    let (name, place) = match label_above(document, offset) {
        Some((name, label)) => (name, line_start(document.text(), label)),
        None => {
            let found = symbol_at(document, offset)?;
            let is_function = found.symbol.class == OpClass::Function;
            let start = line_start(document.text(), found.symbol.head.start);
            is_function.then_some((found.symbol.name, start))?
        }
    };
    let text = document.text().slice(0..document.text().len());
    let written = write_checks(&text, outputs, &name, place)?;
    let title = if written.replaces {
        format!("Replace the CHECK lines of @{name} by what the test printed")
    } else {
        format!("Write CHECK lines for @{name} from what the test printed")
    };
    let edits = written.edits.into_iter().map(|(range, text)| Replacement { range, text });
    Some(CodeAction { title, is_fix: false, edits: edits.collect() })
}

/// What `--verify-diagnostics` understands.
const EXPECTATIONS: [&str; 4] =
    ["expected-error", "expected-warning", "expected-remark", "expected-note"];

/// Adds `// expected-error @+1 {{…}}` for what iree-opt says of the line at `offset`.
pub fn expect_errors(
    document: &Document,
    said: &[Diagnostic],
    offset: usize,
) -> Option<CodeAction> {
    if document.language() != Language::Mlir {
        return None;
    }
    let text = document.text();
    let start = line_start(text, offset);
    let line = start..line_end(text, offset);
    let mut messages: Vec<(&str, String)> = said
        .iter()
        .filter(|one| line.contains(&one.range.start) || line.start == one.range.start)
        .filter_map(|one| {
            let kind = match one.severity {
                Severity::Error => "expected-error",
                _ => "expected-warning",
            };
            expectation(&one.message).map(|message| (kind, message))
        })
        .collect();
    messages.dedup();
    if messages.is_empty() {
        return None;
    }
    let whole = text.slice(0..text.len());
    let verifies = verify_edit(&whole)?;
    // Those that are there count lines from themselves, so new ones go above them.
    let mut place = start;
    let mut lines_between = 0;
    while place > 0 {
        let above = line_start(text, place - 1);
        let content = text.slice(above..place);
        let is_one = content.trim_start().starts_with("//")
            && EXPECTATIONS.iter().any(|word| content.contains(word));
        if !is_one {
            break;
        }
        place = above;
        lines_between += 1;
    }
    if counts_across(&whole, place) {
        return None;
    }
    let indent: String = text.slice(line).chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    let count = messages.len();
    let new: String = messages
        .iter()
        .enumerate()
        .map(|(index, (kind, message))| {
            let distance = count - index + lines_between;
            format!("{indent}// {kind} @+{distance} {{{{{message}}}}}\n")
        })
        .collect();
    let mut edits = vec![Replacement { range: place..place, text: new }];
    edits.extend(verifies);
    let what = if count == 1 { "this message" } else { "these messages" };
    Some(CodeAction {
        title: format!("Expect {what} of iree-opt (`--verify-diagnostics`)"),
        is_fix: true,
        edits,
    })
}

/// A message as `--verify-diagnostics` compares it: the part that can stand in `{{…}}`.
fn expectation(message: &str) -> Option<String> {
    if message.starts_with("expected ") && message.ends_with("was not produced") {
        return None;
    }
    let message = ["unexpected error: ", "unexpected warning: "]
        .iter()
        .find_map(|prefix| message.strip_prefix(prefix))
        .unwrap_or(message);
    let line = message.lines().next().unwrap_or_default();
    let end = line.find("}}").unwrap_or(line.len());
    let line = line[..end].trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// The edit that adds `--verify-diagnostics` to the `RUN:` line, if it lacks that. `None` if the
/// output of iree-opt is compared, so that it must not change.
fn verify_edit(text: &str) -> Option<Option<Replacement>> {
    let lines = run_lines(text);
    if lines.is_empty() || lines.iter().any(|line| line.text.contains("verify-diagnostics")) {
        return Some(None);
    }
    let line = lines.iter().find(|line| line.text.starts_with("iree-opt "))?;
    if lines.iter().any(|line| line.text.contains('|')) {
        return None;
    }
    let at = line.range.start + text[line.range.clone()].find("iree-opt")? + "iree-opt".len();
    Some(Some(Replacement { range: at..at, text: " --verify-diagnostics".into() }))
}

/// Whether an expectation above `place` counts to a line below it, which new lines would move.
fn counts_across(text: &str, place: usize) -> bool {
    let before = &text[..place];
    let last = before.matches('\n').count();
    let hits = EXPECTATIONS.iter().flat_map(|word| find_all(before, 0..place, word));
    for hit in hits {
        let line = before[..hit].matches('\n').count();
        let rest = before[hit..].lines().next().unwrap_or_default();
        let distance = rest.split("@+").nth(1).and_then(|rest| {
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse::<usize>().ok()
        });
        if distance.is_some_and(|distance| line + distance >= last) {
            return true;
        }
    }
    false
}
