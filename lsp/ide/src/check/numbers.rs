//! Types that a function of numbers does not take: integers for floats, casts between shapes that
//! differ.

use mlir::{Cast, Meaning, Numbers, meaning, table::Tensor};
use syntax::{NodeId, NodeKind, TokenKind};

use super::counts::dimensions;
use super::diagnostic::Diagnostic;
use super::reading::Reading;
use super::written_types::{Written, signature};
use crate::operations::{element, is_type};

/// What numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Float,
    Integer,
}

/// The faults of the types of a chunk's functions of numbers.
pub(super) fn faults(reading: &Reading, found: &mut Vec<Diagnostic>) {
    for (id, op) in reading.operations() {
        let is_tensor = matches!(meaning(op), Some(Meaning::Tensor(_)));
        let has_one_form = op.starts_with("arith.") || op.starts_with("math.") || is_tensor;
        if !has_one_form || reading.is_generic(id) {
            continue;
        }
        if let Some(fault) = of_operation(reading, id, op) {
            found.push(fault);
        }
    }
}

fn of_operation(reading: &Reading, id: NodeId, op: &str) -> Option<Diagnostic> {
    let signature = signature(reading, id);
    if signature.is_odd {
        let is_plain =
            ["arith.", "math.", "tensor.", "memref."].iter().any(|it| op.starts_with(it));
        return is_plain.then(|| no_type(reading, id)).flatten();
    }
    let (first, last) = (signature.types.first()?, signature.types.last()?);
    let wrong = |ty: &Written, what: &str| {
        let message = format!("`{op}` takes {what}, and `{}` is none", reading.span(ty.clone()));
        Some(Diagnostic::error(reading.analysed.absolute(ty), "type", message))
    };
    let is_other = |ty: &Written, wanted: Family| {
        family(reading.span(ty.clone())).is_some_and(|own| own != wanted)
    };
    let named = |family: Family| match family {
        Family::Float => "floats",
        Family::Integer => "integers",
    };
    match meaning(op)? {
        Meaning::Numbers(Numbers::Cast(cast)) => {
            let (from, to) = families(cast)?;
            if is_other(first, from) {
                return wrong(first, named(from));
            }
            if signature.types.len() == 2 && is_other(last, to) {
                return wrong(last, &format!("{} as its result", named(to)));
            }
            (signature.types.len() == 2).then(|| shapes(reading, op, first, last)).flatten()
        }
        Meaning::Tensor(Tensor::Cast) if signature.types.len() == 2 => {
            shapes(reading, op, first, last)
        }
        Meaning::Tensor(Tensor::ExpandShape | Tensor::CollapseShape | Tensor::ReshapeToType)
            if signature.types.len() == 2 =>
        {
            counts(reading, op, first, last)
        }
        Meaning::Numbers(
            Numbers::FloatBinary(_) | Numbers::FloatUnary(_) | Numbers::CompareFloats,
        ) if is_other(first, Family::Float) => wrong(first, "floats"),
        Meaning::Numbers(
            Numbers::IntegerBinary(_) | Numbers::IntegerUnary(_) | Numbers::CompareIntegers,
        ) if is_other(first, Family::Integer) => wrong(first, "integers"),
        _ => None,
    }
}

/// The families of what a cast takes and gives.
fn families(cast: Cast) -> Option<(Family, Family)> {
    use Family::{Float, Integer};
    match cast {
        Cast::Float => Some((Float, Float)),
        Cast::Signed | Cast::Unsigned => Some((Integer, Integer)),
        Cast::FromSigned | Cast::FromUnsigned => Some((Integer, Float)),
        Cast::ToSigned | Cast::ToUnsigned => Some((Float, Integer)),
        Cast::Bits => None,
    }
}

/// The family of a type or of its elements; `None` if that is not certain.
fn family(ty: &str) -> Option<Family> {
    let ty = element(ty).unwrap_or(ty);
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    match ty {
        "index" => Some(Family::Integer),
        "f16" | "bf16" | "f32" | "f64" | "tf32" | "f80" | "f128" => Some(Family::Float),
        _ if ty.strip_prefix('i').is_some_and(number) => Some(Family::Integer),
        _ => None,
    }
}

/// Sizes that a cast cannot change: a size may become unknown or known, never another one.
fn shapes(reading: &Reading, op: &str, from: &Written, to: &Written) -> Option<Diagnostic> {
    let (before, after) = (reading.span(from.clone()), reading.span(to.clone()));
    let (left, right) = (dimensions(before)?, dimensions(after)?);
    let differs = left.len() != right.len()
        || left.iter().zip(&right).any(|sizes| match sizes {
            (Some(left), Some(right)) => left != right,
            _ => false,
        });
    let message = format!("`{op}` keeps the shape, and `{after}` has another than `{before}`");
    differs.then(|| Diagnostic::error(reading.analysed.absolute(to), "shape", message))
}

/// Shapes that do not hold as many elements, or elements of other types.
fn counts(reading: &Reading, op: &str, from: &Written, to: &Written) -> Option<Diagnostic> {
    let (before, after) = (reading.span(from.clone()), reading.span(to.clone()));
    let count = |ty: &str| -> Option<usize> {
        let mut sizes = dimensions(ty)?.into_iter();
        sizes.try_fold(1_usize, |count, size| count.checked_mul(size?))
    };
    let fault =
        |message: String| Some(Diagnostic::error(reading.analysed.absolute(to), "shape", message));
    match (count(before), count(after)) {
        (Some(left), Some(right)) if left != right => fault(format!(
            "`{op}` keeps the elements: `{before}` has {left}, and `{after}` has {right}"
        )),
        _ if family(before).zip(family(after)).is_some() && element(before) != element(after) => {
            fault(format!("`{op}` keeps the elements, and `{after}` has others than `{before}`"))
        }
        _ => None,
    }
}

/// A word after the last colon that is no type, at the end of its operation.
fn no_type(reading: &Reading, id: NodeId) -> Option<Diagnostic> {
    let tree = reading.tree;
    let tokens = tree.tokens_of(id);
    let [.., colon, word] = tokens else { return None };
    let text = reading.text(word);
    let is_name = text.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_wrong = colon.is(b':')
        && word.kind == TokenKind::Word
        && !word.line_start
        && is_name
        && !is_type(text)
        && tree.children(id).all(|child| tree.node(child).kind != NodeKind::Region);
    let message = format!("`{text}` is no type");
    is_wrong.then(|| Diagnostic::error(reading.range(word), "type", message))
}
