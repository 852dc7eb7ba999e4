//! Where the compiled program departs from what MLIR says of an operation on floats.
//!
//! A debugger shows what the program computes, so the source is lowered to that.

use super::arithmetic::{Binary, Pure, Scalar};
use super::graph::{Graph, Kind, Node};

/// What an operation becomes. Outside dispatches, `minimumf` is an instruction that keeps only a
/// NaN on its left. The compiler moves constants to the right.
pub(super) fn as_compiled(graph: &Graph, is_part: bool, pure: Pure, operands: &[Node]) -> Pure {
    let has_constant = operands.iter().any(|it| graph.constant(*it).is_some());
    match pure {
        _ if is_part || has_constant => pure,
        Pure::Binary(Binary::Minimum, scalar) => Pure::Binary(Binary::EitherMinimum, scalar),
        Pure::Binary(Binary::Maximum, scalar) => Pure::Binary(Binary::EitherMaximum, scalar),
        _ => pure,
    }
}

/// What the compiler makes of an operation with a constant zero: `x + 0` becomes `x` and `x * 0`
/// becomes 0, whatever x is, a NaN too.
pub(super) fn without_zero(graph: &Graph, pure: Pure, operands: &[Node]) -> Option<Kind> {
    let is_zero = |node: Node| match graph.nodes[graph.resolve(node)].scalar {
        Some(Scalar::F32) => graph.constant(node).is_some_and(|it| (it as u32) << 1 == 0),
        Some(Scalar::F64) => graph.constant(node).is_some_and(|it| it << 1 == 0),
        _ => false,
    };
    match (pure, operands) {
        (Pure::Binary(Binary::FloatAdd | Binary::FloatSub, _), &[one, other]) if is_zero(other) => {
            Some(Kind::Same(one))
        }
        (Pure::Binary(Binary::FloatAdd, _), &[one, other]) if is_zero(one) => {
            Some(Kind::Same(other))
        }
        (Pure::Binary(Binary::FloatMul, _), &[one, other]) if is_zero(one) || is_zero(other) => {
            Some(Kind::Constant(0))
        }
        (Pure::Binary(Binary::FloatDiv, _), &[one, _]) if is_zero(one) => Some(Kind::Constant(0)),
        (Pure::MultiplyAdd(Scalar::F32 | Scalar::F64), &[one, other, third])
            if is_zero(one) || is_zero(other) =>
        {
            Some(Kind::Same(third))
        }
        _ => None,
    }
}
