//! Code actions: repairs of diagnostics, and metadata for exports.

use abi::cconv::Signature;
use syntax::{Language, OpClass, Symbol, TextRange};

use crate::Document;
use crate::calling::{convention, declaration, host_type, is_exported};
use crate::resolve::symbol_at;
use crate::text::Replacement;

/// An action that changes the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeAction {
    /// Its title in a menu.
    pub title: String,
    /// Whether it repairs a fault.
    pub is_fix: bool,
    /// Its edits.
    pub edits: Vec<Replacement>,
}

/// The actions that apply to a range of the text.
pub fn code_actions(document: &Document, range: &TextRange) -> Vec<CodeAction> {
    let mut found = Vec::new();
    let Some(here) = symbol_at(document, range.start) else { return found };
    let symbol = here.symbol;
    found.extend(convention_fix(&symbol));
    let is_function = symbol.class == OpClass::Function && document.language() == Language::Mlir;
    if is_function
        && matches!(symbol.op.as_str(), "func.func" | "util.func")
        && is_exported(&symbol)
    {
        found.extend(declare(document, &symbol));
        found.extend(describe_as_json(document, &symbol));
    }
    found
}

/// Repairs a calling convention: `rii_r` lacks its version, `0i` its results; old spellings have
/// `.` and brackets.
fn convention_fix(symbol: &Symbol) -> Option<CodeAction> {
    let (text, range) = symbol.calling_convention.clone()?;
    let error = Signature::parse(&text).err()?;
    let mut repaired: String = text
        .chars()
        .map(|c| match c {
            '.' => '_',
            '[' => 'C',
            ']' => 'D',
            c => c,
        })
        .filter(|c| "0123456789iIfFrvCD_".contains(*c))
        .collect();
    if !repaired.starts_with('0') {
        repaired.insert(0, '0');
    }
    if !repaired.contains('_') {
        repaired.push_str("_v");
    }
    let repaired = Signature::parse(&repaired).ok()?.to_cconv();
    let title = format!("Change the calling convention to `{repaired}` ({error})");
    Some(CodeAction { title, is_fix: true, edits: vec![Replacement { range, text: repaired }] })
}

/// The edit that adds `entry` to a function's attributes; `None` if these contain `key` already.
fn attribute_edit(
    document: &Document,
    symbol: &Symbol,
    key: &str,
    entry: &str,
) -> Option<Replacement> {
    let text = document.text();
    if let Some(range) = &symbol.attributes {
        let content = text.slice(range.clone());
        if content.contains(key) {
            return None;
        }
        let at = range.start + 1;
        let is_empty = content[1..content.len().saturating_sub(1)].trim().is_empty();
        let comma = if is_empty { "" } else { ", " };
        return Some(Replacement { range: at..at, text: format!("{entry}{comma}") });
    }
    let at = symbol.function_type.as_ref()?.range.end;
    Some(Replacement { range: at..at, text: format!(" attributes {{{entry}}}") })
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Adds names for tools to show: `iree.reflection = {iree.abi.declaration = "sync func @f(%a: i32)
/// -> (%out0: i32)"}`.
fn declare(document: &Document, symbol: &Symbol) -> Option<CodeAction> {
    let declaration = declaration(document, symbol)?;
    let entry =
        format!("iree.reflection = {{iree.abi.declaration = \"{}\"}}", escaped(&declaration));
    let edit = attribute_edit(document, symbol, "iree.reflection", &entry)?;
    Some(CodeAction {
        title: format!("Name the arguments and results of @{} in `iree.reflection`", symbol.name),
        is_fix: false,
        edits: vec![edit],
    })
}

/// The JSON of a type, in the form of `iree.abi`.
fn record(ty: &str) -> String {
    let shaped = ty.strip_prefix("tensor<").and_then(|inner| inner.strip_suffix('>'));
    let Some(shaped) = shaped else {
        let known = abi::signature::ScalarType::parse(ty).is_some();
        return if known { format!("\"{ty}\"") } else { "\"unknown\"".into() };
    };
    let shaped = shaped.split(',').next().unwrap_or(shaped);
    let mut dimensions: Vec<&str> = shaped.split('x').collect();
    let element = dimensions.pop().unwrap_or_default();
    let shown: String = dimensions
        .iter()
        .map(|dimension| if *dimension == "?" { ",null".into() } else { format!(",{dimension}") })
        .collect();
    format!("[\"ndarray\",\"{element}\",{}{shown}]", dimensions.len())
}

/// Adds `iree.abi` metadata to an export.
fn describe_as_json(document: &Document, symbol: &Symbol) -> Option<CodeAction> {
    convention(document, symbol, "").ok()?;
    let ty = host_type(document, symbol)?;
    let list = |slots: &[syntax::Slot]| {
        slots.iter().map(|slot| record(&slot.ty)).collect::<Vec<_>>().join(",")
    };
    let json =
        format!("{{\"a\":[{}],\"r\":[{}],\"v\":1}}", list(&ty.parameters), list(&ty.results));
    // Of a `func.func`, only the attributes in `iree.reflection` reach the module.
    let (key, entry) = if symbol.op == "util.func" {
        ("iree.abi ", format!("iree.abi = \"{}\"", escaped(&json)))
    } else {
        ("iree.reflection", format!("iree.reflection = {{iree.abi = \"{}\"}}", escaped(&json)))
    };
    let edit = attribute_edit(document, symbol, key, &entry)?;
    Some(CodeAction {
        title: format!("Describe @{} for hosts with `iree.abi`", symbol.name),
        is_fix: false,
        edits: vec![edit],
    })
}

#[cfg(test)]
mod tests {
    use super::record;

    #[test]
    fn records_of_types() {
        assert_eq!(record("i32"), "\"i32\"");
        assert_eq!(record("tensor<4x?xf32>"), "[\"ndarray\",\"f32\",2,4,null]");
        assert_eq!(record("tensor<f64>"), "[\"ndarray\",\"f64\",0]");
        assert_eq!(record("!hal.buffer"), "\"unknown\"");
    }
}
