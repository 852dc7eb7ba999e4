//! Operations with more or fewer parts than they take: operands of functions of numbers, indices of
//! loads and stores, and types that are not written.

use mlir::table::{Complex, Tensor};
use mlir::{Meaning, meaning};
use syntax::{NodeId, NodeKind, TokenKind};

use super::diagnostic::Diagnostic;
use super::reading::Reading;
use super::written_types::{Operand, OperandPlace, Signature, signature};
use crate::operations::{Stated, TypeRule, element, type_rules};

/// The faults of a chunk's counts.
pub(super) fn faults(reading: &Reading, found: &mut Vec<Diagnostic>) {
    for (id, op) in reading.operations() {
        if reading.is_generic(id) || reading.is_opaque(id) || type_rules(op).is_empty() {
            continue;
        }
        let signature = signature(reading, id);
        if signature.is_odd {
            continue;
        }
        let fault = missing_types(reading, id, &signature, op)
            .or_else(|| operands(reading, id, &signature, op))
            .or_else(|| indices(reading, id, &signature, op))
            .or_else(|| lists(reading, id, op));
        if let Some(message) = fault {
            found.push(Diagnostic::error(reading.name_range(id), "arity", message));
        }
    }
}

fn outside(signature: &Signature) -> impl Iterator<Item = &Operand> {
    signature.operands.iter().filter(|operand| operand.place == OperandPlace::Outside)
}

/// Operands whose types the operation always writes, without types; or a name with nothing after
/// it, though the results have types.
fn missing_types(reading: &Reading, id: NodeId, signature: &Signature, op: &str) -> Option<String> {
    if !signature.types.is_empty() {
        return None;
    }
    let rules = type_rules(op);
    let states = |rule: &TypeRule| {
        matches!(
            rule,
            TypeRule::All(Stated::Type(_) | Stated::Element(_))
                | TypeRule::Operand(_, Stated::Type(_) | Stated::Element(_))
        )
    };
    let ends = rules.contains(&TypeRule::Each) && mlir::ends_block(op);
    let must = rules.iter().any(states) || ends;
    let tree = reading.tree;
    let name = tree.child(id, NodeKind::Name)?;
    // A result whose type is fixed needs no word: `vector.vscale`.
    let fixed = |rule: &TypeRule| {
        matches!(rule, TypeRule::Result(Stated::Index | Stated::Bool | Stated::Int))
    };
    let is_bare = !rules.iter().all(fixed)
        && tree.node(name).last == tree.node(id).last
        && tree.child(id, NodeKind::Results).is_some();
    (must && outside(signature).next().is_some() || is_bare)
        .then(|| format!("`{op}` ends with `:` and types, which are missing"))
}

/// The operands of a function of numbers.
fn operands(reading: &Reading, id: NodeId, signature: &Signature, op: &str) -> Option<String> {
    let taken = match meaning(op)? {
        Meaning::Numbers(numbers) => numbers.operands(),
        Meaning::Tensor(Tensor::Dimension) => 2,
        Meaning::Complex(complex) => operands_of(complex),
        _ => return None,
    };
    let given = outside(signature).count();
    if given == 0 && is_short_body(reading, id) {
        return None;
    }
    let is_listed = signature.operands.iter().any(|it| it.place != OperandPlace::Outside);
    let plural = if taken == 1 { "" } else { "s" };
    (taken != given && !is_listed)
        .then(|| format!("`{op}` takes {taken} operand{plural}, and has {given}"))
}

/// Whether this is the whole body of an operation of linalg: `linalg.reduce {arith.addi}`.
fn is_short_body(reading: &Reading, id: NodeId) -> bool {
    let tree = reading.tree;
    let block = tree.node(id).parent;
    let outer = tree.operation_of(block);
    tree.child(block, NodeKind::Label).is_none()
        && outer.is_some_and(|outer| reading.op(outer).starts_with("linalg."))
}

/// The operands of a function of complex numbers.
fn operands_of(complex: Complex) -> usize {
    match complex {
        Complex::Create
        | Complex::Add
        | Complex::Subtract
        | Complex::Multiply
        | Complex::Divide
        | Complex::Equal
        | Complex::NotEqual => 2,
        _ => 1,
    }
}

/// The indices in brackets against the rank of what they are indices of.
fn indices(reading: &Reading, id: NodeId, signature: &Signature, op: &str) -> Option<String> {
    let is_indexed = matches!(meaning(op), Some(Meaning::Tensor(Tensor::Extract | Tensor::Insert)))
        && op.starts_with("tensor.")
        || matches!(op, "memref.load" | "memref.store" | "vector.load" | "vector.store");
    if !is_indexed {
        return None;
    }
    let tree = reading.tree;
    let list = tree.child(id, NodeKind::Bracket)?;
    let tokens = tree.tokens_of(list);
    let is_plain = |leaf: &syntax::Leaf| {
        matches!(leaf.kind, TokenKind::Value | TokenKind::Attribute)
            || matches!(leaf.kind, TokenKind::Punct(b',' | b'[' | b']'))
    };
    if !tokens.iter().all(is_plain) {
        return None;
    }
    let given = tokens.iter().filter(|leaf| leaf.kind == TokenKind::Value).count();
    let ty = reading.span(signature.types.first()?.clone());
    let rank = rank(ty)?;
    let plural = if rank == 1 { "index" } else { "indices" };
    (given != rank).then(|| format!("`{ty}` takes {rank} {plural}, and {given} are given"))
}

/// The lists of offsets, sizes and strides, which are of one length.
fn lists(reading: &Reading, id: NodeId, op: &str) -> Option<String> {
    const SLICES: [&str; 6] = [
        "iree_tensor_ext.dispatch.tensor.load",
        "iree_tensor_ext.dispatch.tensor.store",
        "memref.subview",
        "tensor.extract_slice",
        "tensor.insert_slice",
        "tensor.parallel_insert_slice",
    ];
    if !SLICES.contains(&op) {
        return None;
    }
    let tree = reading.tree;
    let lists = tree.children(id).filter(|&child| tree.node(child).kind == NodeKind::Bracket);
    let lengths: Vec<usize> = lists
        .map(|list| {
            let tokens = tree.tokens_of(list);
            let commas = tokens.iter().filter(|leaf| leaf.is(b',')).count();
            if tokens.len() == 2 { 0 } else { commas + 1 }
        })
        .collect();
    let &[offsets, sizes, strides] = lengths.as_slice() else { return None };
    (offsets != sizes || sizes != strides)
        .then(|| format!("`{op}` has {offsets} offsets, {sizes} sizes and {strides} strides"))
}

/// The number of dimensions of a shaped type; `None` if that is not written.
pub(super) fn rank(ty: &str) -> Option<usize> {
    Some(dimensions(ty)?.len())
}

/// The sizes of a shaped type; a dynamic one is `None`.
pub(super) fn dimensions(ty: &str) -> Option<Vec<Option<usize>>> {
    let element = element(ty)?;
    let start = element.as_ptr() as usize - ty.as_ptr() as usize;
    let open = ty.find('<')? + 1;
    let shape = ty.get(open..start)?.trim().trim_end_matches('x');
    if shape.is_empty() {
        return Some(Vec::new());
    }
    let size = |text: &str| match text.trim() {
        "?" => Some(None),
        number => number.parse().ok().map(Some),
    };
    shape.split('x').map(size).collect()
}

#[cfg(test)]
mod tests {
    use super::dimensions;

    #[test]
    fn sizes_of_types() {
        assert_eq!(dimensions("tensor<4x?xf32, #e>"), Some(vec![Some(4), None]));
        assert_eq!(dimensions("memref<f32>"), Some(vec![]));
        assert_eq!(dimensions("tensor<*xf32>"), None);
        assert_eq!(dimensions("vector<[4]xf32>"), None);
        assert_eq!(dimensions("i32"), None);
    }
}
