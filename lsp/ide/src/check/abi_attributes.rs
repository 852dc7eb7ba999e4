//! ABI attributes that are malformed or disagree with the type of their function.

use abi::cconv_layout;
use abi::convention::Convention;
use abi::explain::Origin;
use syntax::{OpClass, Placed, Symbol};

use super::diagnostic::Diagnostic;
use crate::Document;
use crate::calling::{NoConvention, StringAttribute, convention, explanation, string_attributes};

/// The faults of a function's ABI attributes.
pub(crate) fn chunk(document: &Document, placed: &Placed) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if !matches!(placed.chunk.class, OpClass::Function | OpClass::Import) {
        return found;
    }
    let Some(symbol) = Symbol::read(document.text(), placed) else { return found };
    if let Err(NoConvention::Malformed(error)) = convention(document, &symbol, "")
        && let Some((_, range)) = &symbol.calling_convention
    {
        let start = (range.start + error.position).min(range.end);
        let range = start..range.end.max(start);
        found.push(Diagnostic::error(range, "calling-convention", error.to_string()));
    }
    let stated = string_attributes(document, &symbol);
    if stated.is_empty() {
        return found;
    }
    let Some(explained) = explanation(document, &symbol, None, true) else { return found };
    for attribute in &stated {
        let malformed = explained
            .rows
            .iter()
            .find(|row| row.origin == Origin::Malformed && row.text == attribute.value);
        if let Some(row) = malformed {
            let why = row.meaning.clone().unwrap_or_default();
            let message = format!("`{}` is malformed: {why}", attribute.key);
            found.push(Diagnostic::warning(attribute.range.clone(), "abi-malformed", message));
        } else if attribute.key == "iree.abi" || attribute.key == "iree.abi.declaration" {
            found.extend(disagreement(&symbol, attribute));
        }
    }
    found
}

/// The fault of an attribute that counts other arguments or results than the function has.
fn disagreement(symbol: &Symbol, attribute: &StringAttribute) -> Option<Diagnostic> {
    let ty = symbol.function_type.as_ref()?;
    let parsed = Convention::Iree.parse(&attribute.value).ok()?;
    let (lowered, _) = cconv_layout::lower(&parsed).ok()?;
    let described = (lowered.arguments.len(), lowered.results.len());
    let written = (ty.parameters.len(), ty.results.len());
    if described == written {
        return None;
    }
    let message = format!(
        "`{}` describes {} and {}, and @{} has {} and {}",
        attribute.key,
        count(described.0, "argument"),
        count(described.1, "result"),
        symbol.name,
        written.0,
        written.1
    );
    Some(Diagnostic::warning(attribute.range.clone(), "abi-disagrees", message))
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
