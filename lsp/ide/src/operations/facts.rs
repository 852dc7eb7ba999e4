//! What operations take, as facts in a text: names of operands, attributes, their words, results,
//! regions. `facts.txt` has those of IREE 3.13, for where no compiler is installed; `read` and
//! `write` are its notation.
//!
//! ```text
//! 1 none reassoc nnan …                    a list of words, by its number
//! <arith.fastmath 1                        the words in `fastmath<…>`
//! arith                                    a dialect
//!   addf lhs rhs -> result; fastmath=1     an operation; `?` after what may be left out, `*` after
//!   if cond -> results*; {}                lists, `{}` where there are regions
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::{Arc, OnceLock};

use super::installed::{Count, InstalledOperation, InstalledOperations, Part, installed};

/// The operations of the installed compiler, else those of IREE 3.13.
pub(crate) fn known() -> Arc<InstalledOperations> {
    static SHIPPED: OnceLock<Arc<InstalledOperations>> = OnceLock::new();
    installed().unwrap_or_else(|| SHIPPED.get_or_init(|| Arc::new(shipped())).clone())
}

/// The operations of IREE 3.13, without documentation.
pub fn shipped() -> InstalledOperations {
    read(include_str!("facts.txt"))
}

/// Reads facts. A line that has another form is passed over.
fn read(text: &str) -> InstalledOperations {
    let mut lists: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut found = InstalledOperations::default();
    let mut dialect = "";
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some((number, words)) = line.split_once(' ').filter(|(number, _)| is_number(number))
        {
            lists.insert(number, words.split(' ').map(str::to_owned).collect());
        } else if let Some((attribute, number)) =
            line.strip_prefix('<').and_then(|line| line.split_once(' '))
        {
            let words = lists.get(number).cloned().unwrap_or_default();
            found.add_words(attribute, words);
        } else if let Some(operation) = line.strip_prefix("  ") {
            let (name, operation) = operation_of(operation, &lists);
            found.add(format!("{dialect}.{name}"), operation);
        } else {
            dialect = line;
        }
    }
    found
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn operation_of<'t>(
    line: &'t str,
    lists: &BTreeMap<&str, Vec<String>>,
) -> (&'t str, InstalledOperation) {
    let (values, attributes) = line.split_once(';').unwrap_or((line, ""));
    let (operands, results) = values.split_once("->").unwrap_or((values, ""));
    let mut operands = operands.split_whitespace();
    let name = operands.next().unwrap_or_default();
    let part = |text: &str| {
        let (name, list) = text.split_once('=').unwrap_or((text, ""));
        let count = match name.as_bytes().last() {
            Some(b'?') => Count::Optional,
            Some(b'*') => Count::Many,
            _ => Count::One,
        };
        let name = name.trim_end_matches(['?', '*']).to_owned();
        Part { name, count, words: lists.get(list).cloned().unwrap_or_default() }
    };
    let operation = InstalledOperation {
        documentation: String::new(),
        operands: operands.map(part).collect(),
        results: results.split_whitespace().map(part).collect(),
        has_regions: attributes.split_whitespace().any(|word| word == "{}"),
        attributes: attributes.split_whitespace().filter(|word| *word != "{}").map(part).collect(),
    };
    (name, operation)
}

/// The facts of operations, sorted.
pub fn write(all: &InstalledOperations) -> String {
    let operations: BTreeMap<_, _> = all.beginning("").collect();
    let by_attribute: BTreeMap<_, _> = all.words_by_attribute().collect();
    let of_operations = operations.values().flat_map(|it| &it.attributes).map(|it| &it.words);
    let lists: BTreeSet<&Vec<String>> =
        of_operations.chain(by_attribute.values().copied()).filter(|it| !it.is_empty()).collect();
    let numbers: BTreeMap<&Vec<String>, usize> = lists.into_iter().zip(1..).collect();
    let mut out = String::new();
    for (words, number) in &numbers {
        let _ = writeln!(out, "{number} {}", words.join(" "));
    }
    for (attribute, words) in by_attribute {
        let _ = writeln!(out, "<{attribute} {}", numbers.get(words).unwrap_or(&0));
    }
    let mut last = "";
    for (name, operation) in operations {
        let Some((dialect, name)) = name.split_once('.') else { continue };
        if dialect != last {
            let _ = writeln!(out, "{dialect}");
            last = dialect;
        }
        let _ = write!(out, "  {name}");
        let mut parts = |before: &str, parts: &[Part]| {
            if !parts.is_empty() {
                out.push_str(before);
            }
            for part in parts {
                let mark = match part.count {
                    Count::One => "",
                    Count::Optional => "?",
                    Count::Many => "*",
                };
                let _ = write!(out, " {}{mark}", part.name);
                if let Some(number) = numbers.get(&part.words) {
                    let _ = write!(out, "={number}");
                }
            }
        };
        parts("", &operation.operands);
        parts(" ->", &operation.results);
        parts(";", &operation.attributes);
        if operation.has_regions {
            out.push_str(if operation.attributes.is_empty() { "; {}" } else { " {}" });
        }
        out.push('\n');
    }
    out
}
