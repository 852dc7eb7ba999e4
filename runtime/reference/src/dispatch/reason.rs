//! Why a bound is as large as it is, in words: the sums and functions that lead to a value.

use std::collections::{BTreeMap, HashSet};

use crate::complex::CONVENTION;
use crate::evaluate::Reduced;
use crate::lanes::Sum;
use crate::operations::{Function, Id, Kind, Operation, Region};
use mlir::{FloatBinary, Scalar};

/// Says what leads to a value: `sum over 128 products of f32, exp of f32`.
pub(crate) fn reason(function: &Function, of: Id, reduced: &[(Id, Reduced)]) -> String {
    let mut needed: HashSet<Id> = HashSet::from([of]);
    let mut parts: Vec<String> = Vec::new();
    let mut functions: BTreeMap<String, usize> = BTreeMap::new();
    for operation in function.body.operations.iter().rev() {
        if !operation.results.iter().any(|id| needed.contains(id)) {
            continue;
        }
        needed.extend(inputs(operation));
        let it = reduced.iter().rev().find(|(id, _)| Some(id) == operation.results.first());
        if let Some((_, it)) = it
            && let Some(sum) = it.sum
            && it.rounds > 1
        {
            parts.push(sentence(sum, it.rounds));
        }
        count(operation, &mut functions);
    }
    parts.reverse();
    for (name, times) in functions {
        parts.push(if times == 1 { name } else { several(times, &name) });
    }
    if parts.is_empty() { "moves elements only".to_owned() } else { parts.join(", ") }
}

/// Names of functions have no plural; other words do: `2 exp of f32`, `2 divisions of f32`.
fn several(times: usize, name: &str) -> String {
    let noun = ["operation", "division", "rounding", "power"].into_iter().find(|noun| {
        let of = name.split(' ').take_while(|word| !matches!(*word, "of" | "to")).last();
        of == Some(*noun)
    });
    match noun {
        Some(noun) => format!("{times} {}", name.replacen(noun, &format!("{noun}s"), 1)),
        None => format!("{times} {name}"),
    }
}

fn sentence(sum: Sum, rounds: u128) -> String {
    let what = if sum.of_products { "products" } else { "terms" };
    let terms = rounds.saturating_mul(sum.additions as u128);
    let format = mlir::Element::Float(sum.format);
    format!("sum over {terms} {what} of {format}")
}

/// All values that an operation needs, with those of its regions.
fn inputs(operation: &Operation) -> Vec<Id> {
    let mut ids = match &operation.kind {
        Kind::Scalar(_, ids) | Kind::Alias(ids) | Kind::FromElements(ids) => ids.clone(),
        Kind::Generic(generic) => generic.inputs.iter().chain(&generic.outputs).copied().collect(),
        Kind::Load { source, .. }
        | Kind::TieShape { source, .. }
        | Kind::Extract { source, .. }
        | Kind::ExtractSlice { source, .. }
        | Kind::Pad { source, .. }
        | Kind::Pack { source, .. }
        | Kind::Unpack { source, .. }
        | Kind::Reshape { source, .. } => vec![*source],
        Kind::Insert { value, target, .. }
        | Kind::InsertSlice { value, target, .. }
        | Kind::Store { value, target, .. } => vec![*value, *target],
        Kind::Splat { value, .. } | Kind::Ordinal { value, .. } => vec![*value],
        Kind::Concat { sources, .. } => sources.clone(),
        Kind::For { initial, .. } => initial.clone(),
        Kind::Extension { inputs, outputs, .. } => inputs.iter().chain(outputs).copied().collect(),
        _ => Vec::new(),
    };
    for region in regions(operation) {
        ids.extend(region.yields.iter().copied());
        ids.extend(region.operations.iter().flat_map(inputs));
    }
    ids
}

fn regions(operation: &Operation) -> Vec<&Region> {
    match &operation.kind {
        Kind::Generic(generic) => vec![&generic.body],
        Kind::Pad { body, .. } | Kind::Generate { body, .. } | Kind::For { body, .. } => vec![body],
        Kind::If { then, otherwise, .. } => vec![then, otherwise],
        _ => Vec::new(),
    }
}

/// Counts the functions of floats in an operation.
fn count(operation: &Operation, functions: &mut BTreeMap<String, usize>) {
    if matches!(operation.kind, Kind::Extension { .. }) {
        let name = operation.name.rsplit('.').next().unwrap_or_default();
        *functions.entry(name.to_owned()).or_default() += 1;
    }
    if let Kind::Scalar(what, _) = &operation.kind
        && operation.name != CONVENTION
    {
        let name = match what {
            Scalar::FloatUnary(function, element) => {
                Some(format!("{} of {element}", format!("{function:?}").to_lowercase()))
            }
            Scalar::FloatBinary(FloatBinary::Divide, element) => {
                Some(format!("division of {element}"))
            }
            Scalar::FloatBinary(FloatBinary::Power, element) => Some(format!("power of {element}")),
            Scalar::FloatBinary(FloatBinary::Atan2, element) => Some(format!("atan2 of {element}")),
            Scalar::Convert { to: element, .. } => Some(format!("rounding to {element}")),
            Scalar::FloatBinary(
                FloatBinary::Add | FloatBinary::Subtract | FloatBinary::Multiply,
                element,
            ) => Some(format!("basic operation of {element}")),
            Scalar::ToSigned { to, .. } | Scalar::ToUnsigned { to, .. } => {
                Some(format!("rounding to i{to}"))
            }
            _ => None,
        };
        if let Some(name) = name {
            *functions.entry(name).or_default() += 1;
        }
    }
    for region in regions(operation) {
        for operation in &region.operations {
            count(operation, functions);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::several;

    #[test]
    fn words_have_plurals_and_functions_have_none() {
        assert_eq!(several(2, "basic operation of f32"), "2 basic operations of f32");
        assert_eq!(several(3, "rounding to i8"), "3 roundings to i8");
        assert_eq!(several(2, "exp of f32"), "2 exp of f32");
    }
}
