//! ABI attributes that are malformed or disagree with their function: other types, another name,
//! another number of arguments. Names and values that mean nothing are in `abi_names`.

use abi::cconv::ValueType;
use abi::convention::Convention;
use abi::explain::{RowOrigin, explain};
use abi::mlir;
use abi::signature::{Function, ScalarType, Slot, Type};
use syntax::{FunctionType, OpClass, Placed, Symbol};

use super::abi_names;
use super::diagnostic::Diagnostic;
use crate::Document;
use crate::calling::{
    NoConvention, StringAttribute, convention, host_type, string_attributes, written_type,
};
use crate::resolve::{Reference, is_vm_export, resolve_symbol};

/// The faults of the ABI attributes of a function or an export.
pub(crate) fn chunk(document: &Document, placed: &Placed) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if !matches!(placed.chunk.class, OpClass::Function | OpClass::Import | OpClass::Export) {
        return found;
    }
    let Some(symbol) = Symbol::read(document.text(), placed) else { return found };
    found.extend(abi_names::faults(document, &symbol));
    if is_vm_export(&symbol) {
        found.extend(dangling(document, placed, &symbol));
    }
    if let Err(NoConvention::Malformed(error)) = convention(document, &symbol, "")
        && let Some((_, range)) = &symbol.calling_convention
    {
        let start = (range.start + error.position).min(range.end);
        let range = start..range.end.max(start);
        found.push(Diagnostic::error(range, "calling-convention", error.to_string()));
    }
    found.extend(twin(document, placed, &symbol));
    let stated = string_attributes(document, &symbol);
    if stated.is_empty() {
        return found;
    }
    let pairs: Vec<(&str, &str)> =
        stated.iter().map(|attribute| (attribute.key.as_str(), attribute.value.as_str())).collect();
    let explained = explain(None, &pairs);
    for attribute in &stated {
        let malformed = explained
            .rows
            .iter()
            .find(|row| row.origin == RowOrigin::Malformed && row.text == attribute.value);
        if let Some(row) = malformed {
            let why = row.meaning.clone().unwrap_or_default();
            let message = format!("`{}` is malformed: {why}", attribute.key);
            found.push(Diagnostic::warning(attribute.range.clone(), "abi-malformed", message));
        } else if let Some(message) = disagreement(document, &symbol, attribute) {
            found.push(Diagnostic::warning(attribute.range.clone(), "abi-disagrees", message));
        }
    }
    found
}

/// An export of a function that is not there.
fn dangling(document: &Document, placed: &Placed, symbol: &Symbol) -> Option<Diagnostic> {
    let (name, range) = match &symbol.target {
        Some((target, range)) => (target.clone(), range.clone()),
        None => (symbol.name.clone(), symbol.name_token.clone()),
    };
    let reference = Reference { path: vec![name.clone()], ordinal: None, range: range.clone() };
    if resolve_symbol(document, &reference, placed.op_start()).is_some() {
        return None;
    }
    let message = format!("no function `@{name}` is in this file to export");
    Some(Diagnostic::error(range, "undefined-symbol", message))
}

/// What an attribute describes otherwise than the function is.
fn disagreement(
    document: &Document,
    symbol: &Symbol,
    attribute: &StringAttribute,
) -> Option<String> {
    let key = &attribute.key;
    let described = match key.as_str() {
        "iree.abi" => Convention::Iree.parse(&attribute.value).ok()?,
        "iree.abi.declaration" => {
            let declared = mlir::function::parse(&attribute.value).ok()?.function;
            if let Some(name) = declared.name.as_ref().filter(|name| **name != symbol.name) {
                return Some(format!(
                    "`{key}` describes @{name}, and the function is @{}",
                    symbol.name
                ));
            }
            declared
        }
        _ => return None,
    };
    let written = written_type(document, symbol)?;
    let shown = (described.arguments.len(), wire_count(&described));
    let own = (written.parameters.len(), written.results.len());
    if shown != own {
        return Some(format!(
            "`{key}` describes {} and {}, and @{} has {} and {}",
            count(shown.0, "argument"),
            count(shown.1, "result"),
            symbol.name,
            count(own.0, "argument"),
            count(own.1, "result"),
        ));
    }
    if described.results.len() != own.1 {
        return None; // A structure that travels as its values.
    }
    let host = host_type(document, symbol)?;
    let sides = [
        ("argument", &described.arguments, &written.parameters, &host.parameters),
        ("result", &described.results, &written.results, &host.results),
    ];
    for (what, described, written, host) in sides {
        for (index, described) in described.iter().enumerate() {
            // Before or after the compiler's demotions: which one applies depends on its flags.
            let is_so =
                [&written[index], &host[index]].iter().any(|slot| agree(&described.ty, &slot.ty));
            if !is_so {
                return Some(format!(
                    "`{key}` says that {what} {index} is `{}`, and it is `{}`",
                    described.ty, written[index].ty
                ));
            }
        }
    }
    None
}

/// The number of values that a function's results travel as.
fn wire_count(function: &Function) -> usize {
    match abi::cconv_layout::lower(function) {
        Ok((lowered, _)) => lowered.results.len(),
        Err(_) => function.results.len(),
    }
}

/// Whether a described type can be the written one. What is not known to differ agrees.
fn agree(described: &Type, written: &str) -> bool {
    let declaration = format!("func @f(%a: {written}) -> ()");
    let Ok(parsed) = mlir::function::parse(&declaration) else { return true };
    let [Slot { ty: written, .. }] = parsed.function.arguments.as_slice() else { return true };
    match (described, written) {
        (Type::Scalar(left), Type::Scalar(right)) => same_scalar(left, right),
        (Type::Array(left), Type::Array(right)) => {
            let same_element = match (&*left.element, &*right.element) {
                (Type::Scalar(left), Type::Scalar(right)) => same_scalar(left, right),
                _ => true,
            };
            let same_shape = match (&left.shape, &right.shape) {
                (Some(left), Some(right)) => {
                    left.len() == right.len()
                        && left.iter().zip(right).all(|sizes| match sizes {
                            (Some(left), Some(right)) => left == right,
                            _ => true,
                        })
                }
                _ => true,
            };
            same_element && same_shape
        }
        (Type::Scalar(_), Type::Array(_)) | (Type::Array(_), Type::Scalar(_)) => false,
        _ => true,
    }
}

/// Whether two scalars are equal but for their signedness, which the VM does not know.
fn same_scalar(left: &ScalarType, right: &ScalarType) -> bool {
    match (left, right) {
        (ScalarType::Integer(_, left), ScalarType::Integer(_, right)) => left == right,
        (ScalarType::Index, ScalarType::Integer(_, 64))
        | (ScalarType::Integer(_, 64), ScalarType::Index) => true,
        _ => left == right,
    }
}

/// A twin `f$async` that does not take the arguments of `f` and two fences.
fn twin(document: &Document, placed: &Placed, symbol: &Symbol) -> Option<Diagnostic> {
    let base = symbol.name.strip_suffix("$async")?;
    let reference =
        Reference { path: vec![base.to_owned()], ordinal: None, range: symbol.name_token.clone() };
    let other = resolve_symbol(document, &reference, placed.op_start())?.symbol;
    let shapes = |symbol: &Symbol| {
        let attributes = symbol.attributes.clone().map(|range| document.text().slice(range));
        convention(document, symbol, attributes.as_deref().unwrap_or_default()).ok()
    };
    let (own, plain) = (shapes(symbol)?.signature, shapes(&other)?.signature);
    let mut expected = plain.clone();
    expected.arguments.extend([ValueType::Ref, ValueType::Ref]);
    let ends_in_fences = fences(symbol.function_type.as_ref()?);
    // Without fences it is a function of its own that happens to have this name.
    if own == expected || !ends_in_fences {
        return None;
    }
    let message = format!(
        "`@{}` is `{}`, and the twin of `@{base}` with two fences would be `{}`",
        symbol.name,
        own.to_cconv(),
        expected.to_cconv()
    );
    Some(Diagnostic {
        related: vec![(other.name_token, "its twin".into())],
        ..Diagnostic::warning(symbol.name_token.clone(), "abi-disagrees", message)
    })
}

fn fences(ty: &FunctionType) -> bool {
    let last: Vec<_> = ty.parameters.iter().rev().take(2).collect();
    last.len() == 2 && last.iter().all(|slot| slot.ty == "!hal.fence")
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
