//! Quick fixes: edits that mend the faults that diagnostics name.
//!
//! Some faults have one meaning, and the check that finds them knows the edit. Others leave a
//! choice, such as another value or a cast: `search` makes candidates, and a server has a
//! compiler try them before they are offered.

mod search;

use syntax::TextRange;

use crate::Document;
use crate::check::{Diagnostic, diagnostics};
use crate::text::Replacement;

/// A possible repair of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// Its title in a menu.
    pub title: String,
    /// Its edits, none of which touch another.
    pub edits: Vec<Replacement>,
    /// Whether this is what was meant. If not, a compiler should accept the text with it before it
    /// is offered.
    pub is_sure: bool,
    /// The range of the fault.
    pub fault: TextRange,
    /// The code of the fault.
    pub code: &'static str,
}

/// The longest text, in bytes, whose faults are looked for.
const LONGEST: usize = 4 << 20;
/// The most fixes of one fault.
const MOST: usize = 12;

/// The fixes of the faults that touch a range.
pub fn quick_fixes(document: &Document, range: &TextRange) -> Vec<Fix> {
    if document.text().len() > LONGEST {
        return Vec::new();
    }
    let touches = |fault: &Diagnostic| {
        let line = crate::resolve::line_start(document.text(), fault.range.start);
        let end = crate::resolve::line_end(document.text(), fault.range.start);
        line <= range.end && range.start <= end.max(fault.range.end)
    };
    let mut faults = diagnostics(document);
    faults.retain(touches);
    // Those under the cursor come first.
    faults.sort_by_key(|fault| !(fault.range.start <= range.end && range.start <= fault.range.end));
    let mut found: Vec<Fix> = Vec::new();
    for fault in &faults {
        for fix in fixes(document, fault) {
            if !found.iter().any(|other| other.edits == fix.edits) {
                found.push(fix);
            }
        }
    }
    found
}

/// The fixes of a fault.
fn fixes(document: &Document, fault: &Diagnostic) -> Vec<Fix> {
    let is_sure = fault.mends.len() == 1;
    let known = fault.mends.iter().map(|edit| Candidate {
        title: title(document, edit),
        edits: vec![edit.clone()],
        is_sure,
    });
    let searched = if is_sure { Vec::new() } else { search::candidates(document, fault) };
    let all = known.chain(searched).take(MOST);
    let made = all.map(|Candidate { title, edits, is_sure }| Fix {
        title,
        edits,
        is_sure,
        fault: fault.range.clone(),
        code: fault.code,
    });
    made.collect()
}

/// Edits that may mend a fault.
pub(super) struct Candidate {
    title: String,
    edits: Vec<Replacement>,
    is_sure: bool,
}

/// What an edit does.
fn title(document: &Document, edit: &Replacement) -> String {
    let old = short(&document.text().slice(edit.range.clone()));
    let new = short(edit.text.trim());
    match (old.is_empty(), new.is_empty()) {
        (true, _) => format!("Insert `{new}`"),
        (false, true) => format!("Remove `{old}`"),
        (false, false) => format!("Change `{old}` to `{new}`"),
    }
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// A text with a fix, where the text is a part of the document: `place` gives the place in the text
/// of a place in the document. `None` if an edit is outside of the text.
pub fn with_fix(text: &str, fix: &Fix, place: &dyn Fn(usize) -> Option<usize>) -> Option<String> {
    let mut edits: Vec<&Replacement> = fix.edits.iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.start));
    let mut made = text.to_owned();
    for edit in edits {
        let start = place(edit.range.start)?;
        let end = start + edit.range.len();
        made.get(start..end)?;
        made.replace_range(start..end, &edit.text);
    }
    Some(made)
}
