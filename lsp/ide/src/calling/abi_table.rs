//! A function under each convention that applies to it, as a Markdown table. [`abi::explain`] knows
//! the conventions; this file collects what the text says about the function and lays out the
//! table.

use std::fmt::Write;

use abi::explain::{Explanation, Row, RowOrigin, explain};
use syntax::{Lexer, OpClass, Symbol, TextRange, TokenKind};

use super::boundary::host_type;
use crate::Document;

/// A string attribute of a function: `key = "value"`, also inside `iree.reflection`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StringAttribute {
    /// Its key.
    pub key: String,
    /// Its value, without escapes.
    pub value: String,
    /// Where the value stands, without quotes.
    pub range: TextRange,
}

/// The string attributes of a function as written.
pub(crate) fn string_attributes(document: &Document, symbol: &Symbol) -> Vec<StringAttribute> {
    let mut found = Vec::new();
    let Some(range) = symbol.attributes.clone() else { return found };
    let text = document.text();
    let mut key = None;
    let mut assigned = false;
    for token in Lexer::new(text, range.start).take_while(|token| token.range.end <= range.end) {
        match token.kind {
            TokenKind::String if assigned => {
                if let Some(key) = key.take() {
                    let range = token.name_range(text);
                    found.push(StringAttribute { key, value: token.name(text), range });
                }
            }
            TokenKind::Word | TokenKind::String => key = Some(token.name(text)),
            TokenKind::Punct(b'=') => {
                assigned = true;
                continue;
            }
            _ => {}
        }
        assigned = false;
    }
    found
}

/// The declaration that a compiler would attach: `sync func @f(%a: i32) -> (f32)`.
pub(crate) fn declaration(document: &Document, symbol: &Symbol) -> Option<String> {
    let ty = match symbol.op.as_str() {
        "vm.func" | "vm.import" => symbol.function_type.clone()?,
        _ => host_type(document, symbol)?,
    };
    let parameters: Vec<String> = ty
        .parameters
        .iter()
        .enumerate()
        .map(|(index, slot)| {
            let name = slot.name.clone().unwrap_or_else(|| format!("input{index}"));
            format!("%{name}: {}", slot.ty)
        })
        .collect();
    let results: Vec<String> = ty
        .results
        .iter()
        .enumerate()
        .map(|(index, slot)| format!("%output{index}: {}", slot.ty))
        .collect();
    Some(format!(
        "sync func @{}({}) -> ({})",
        symbol.name,
        parameters.join(", "),
        results.join(", ")
    ))
}

/// The calling conventions of a function in a text, with the declaration that the compiler attaches
/// or would attach. `None` for other operations. Without a declaration, only those that the text
/// states, and what follows from them.
pub(crate) fn explanation(
    document: &Document,
    symbol: &Symbol,
    cconv: Option<&str>,
    declared: Option<&str>,
) -> Option<Explanation> {
    if !matches!(symbol.class, OpClass::Function | OpClass::Import) {
        return None;
    }
    let stated = string_attributes(document, symbol);
    let mut pairs: Vec<(&str, &str)> =
        stated.iter().map(|attribute| (attribute.key.as_str(), attribute.value.as_str())).collect();
    if let Some(declared) = declared
        && !pairs.iter().any(|(key, _)| *key == "iree.abi.declaration")
    {
        pairs.push(("iree.abi.declaration", declared));
    }
    Some(explain(cconv, &pairs))
}

/// The table as Markdown, without the rows named in `skip`, which a hover shows elsewhere. A note
/// has a row of its own: `<br>` is a break only in editors that take HTML.
pub(crate) fn abi_table<'a>(rows: impl IntoIterator<Item = &'a Row>, skip: &[&str]) -> String {
    let mut out = String::new();
    for row in rows.into_iter().filter(|row| !skip.contains(&row.name)) {
        if out.is_empty() {
            out.push_str("| ABI | | signature |\n| --- | --- | --- |\n");
        }
        let word = match row.origin {
            RowOrigin::Malformed => "**malformed**",
            origin => origin.word(),
        };
        let mut lines = cells(&row.text);
        if let (Some(last), Some(meaning)) = (lines.last_mut(), &row.meaning) {
            let mut meant = cells(meaning).into_iter();
            let _ = write!(last, " = {}", meant.next().unwrap_or_default());
            lines.extend(meant);
        }
        lines.extend(row.notes.iter().flat_map(|note| note.lines().map(plain_cell)));
        for (index, line) in lines.iter().enumerate() {
            let (name, word) = if index == 0 { (row.name, word) } else { ("", "") };
            let _ = writeln!(out, "| {} | {word} | {line} |", plain_cell(name));
        }
    }
    out
}

/// Longer texts are cut, in characters: they would make the table unreadable.
const LONGEST: usize = 600;

/// Code in a cell for each line; at least one. A bar would end the cell, a backquote the code.
fn cells(text: &str) -> Vec<String> {
    let cut: String = text.chars().take(LONGEST).collect();
    let more = if cut.len() < text.len() { " …" } else { "" };
    let lines = cut.lines().filter(|line| !line.trim().is_empty());
    let mut cells: Vec<String> = lines
        .map(|line| {
            let line = line.replace('|', "\\|");
            if line.contains('`') { line } else { format!("`{line}`") }
        })
        .collect();
    match cells.last_mut() {
        Some(last) => last.push_str(more),
        None => cells.push(String::new()),
    }
    cells
}

fn plain_cell(text: &str) -> String {
    text.replace('|', "\\|")
}
