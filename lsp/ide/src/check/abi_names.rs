//! Attributes of IREE's ABI whose name or value means nothing to the compiler: `iree.abi.sped`, a
//! model that is none, an output that the function does not have.

use strsim::levenshtein;
use syntax::{Lexer, OpClass, Symbol, Token, TokenKind};

use super::diagnostic::Diagnostic;
use crate::Document;

/// The attributes that the compiler and its runtime read.
const KNOWN: [&str; 19] = [
    "iree.abi",
    "iree.abi.affinity",
    "iree.abi.consume",
    "iree.abi.declaration",
    "iree.abi.device",
    "iree.abi.dims",
    "iree.abi.encoding",
    "iree.abi.model",
    "iree.abi.name",
    "iree.abi.names",
    "iree.abi.output",
    "iree.abi.result_dims",
    "iree.abi.streamable",
    "iree.abi.stub",
    "iree.abi.tied",
    "iree.abi.tied_operands",
    "iree.abi.transients",
    "iree.abi.transients.size",
    "iree.abi.transients.size.constant",
];

/// The models of invocation that the compiler knows.
const MODELS: [&str; 2] = ["sync", "coarse-fences"];

/// The faults of such attributes in a function's head.
pub(super) fn faults(document: &Document, symbol: &Symbol) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if !matches!(symbol.class, OpClass::Function | OpClass::Import | OpClass::Export) {
        return found;
    }
    let text = document.text();
    let end = symbol.attributes.as_ref().map_or(symbol.head.end, |range| range.end);
    let end = end.max(symbol.head.end);
    let tokens: Vec<Token> =
        Lexer::new(text, symbol.head.start).take_while(|token| token.range.end <= end).collect();
    for (index, token) in tokens.iter().enumerate() {
        if !matches!(token.kind, TokenKind::Word | TokenKind::String) {
            continue;
        }
        // Only a key: the word before `=`, `,` or `}`.
        let is_key = tokens
            .get(index + 1)
            .is_some_and(|next| next.is(b'=') || next.is(b',') || next.is(b'}'))
            && index > 0
            && (tokens[index - 1].is(b'{') || tokens[index - 1].is(b','));
        let key = token.name(text);
        if !is_key || !key.starts_with("iree.") {
            continue;
        }
        let value = tokens.get(index + 1).filter(|next| next.is(b'=')).and(tokens.get(index + 2));
        match key.as_str() {
            "iree.abi.model" => found.extend(value.and_then(|value| model(document, value))),
            "iree.abi.output" => {
                found.extend(value.and_then(|value| output(document, symbol, value)));
            }
            _ if key.starts_with("iree.abi") && !KNOWN.contains(&key.as_str())
                || key.starts_with("iree.refl") && key != "iree.reflection" =>
            {
                let known = KNOWN.iter().copied().chain(["iree.reflection"]);
                let meant = known.min_by_key(|known| levenshtein(&key, known));
                let meant = meant.filter(|meant| levenshtein(&key, meant) <= 3);
                let hint =
                    meant.map(|meant| format!(": did you mean `{meant}`?")).unwrap_or_default();
                let message = format!("nothing reads the attribute `{key}`{hint}");
                let fault = Diagnostic::warning(token.range.clone(), "abi-attribute", message);
                let quote = if token.kind == TokenKind::String { "\"" } else { "" };
                found.push(fault.meaning(meant.map(|meant| format!("{quote}{meant}{quote}"))));
            }
            _ => {}
        }
    }
    found
}

fn model(document: &Document, value: &Token) -> Option<Diagnostic> {
    let name = value.name(document.text());
    if value.kind != TokenKind::String || MODELS.contains(&name.as_str()) {
        return None;
    }
    let message = format!(
        "the compiler knows no model of invocation `{name}` and takes `sync`: there are {}",
        MODELS.map(|model| format!("`{model}`")).join(" and ")
    );
    let near = MODELS.into_iter().find(|model| levenshtein(&name, model) <= 4);
    let fault = Diagnostic::warning(value.range.clone(), "abi-attribute", message);
    Some(fault.meaning(near.map(|model| format!("\"{model}\""))))
}

fn output(document: &Document, symbol: &Symbol, value: &Token) -> Option<Diagnostic> {
    let results = symbol.function_type.as_ref()?.results.len();
    let index: usize = value.text(document.text()).parse().ok()?;
    if index < results {
        return None;
    }
    let message = match results {
        0 => format!("@{} has no result that could be written here", symbol.name),
        1 => format!("@{} has no result {index}: its only one is 0", symbol.name),
        _ => format!("@{} has no result {index}: they are 0 to {}", symbol.name, results - 1),
    };
    Some(Diagnostic::warning(value.range.clone(), "abi-attribute", message))
}
