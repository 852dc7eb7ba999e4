//! Where the compiled program departs from what MLIR says of an operation on floats.
//!
//! A debugger shows what the program computes, so the source is lowered to that.

use mlir::{FloatBinary, Scalar as Function};

use super::arithmetic::{ExtremeRule, Pure, Scalar};
use super::graph::{Graph, Kind, Node};

/// What an operation becomes. Outside dispatches, `minimumf` is an instruction that keeps only a
/// NaN on its left. The compiler moves constants to the right.
pub(super) fn as_compiled(graph: &Graph, is_part: bool, pure: Pure, operands: &[Node]) -> Pure {
    let has_constant = operands.iter().any(|it| graph.constant(*it).is_some());
    let is_least = match pure {
        _ if is_part || has_constant => return pure,
        Pure::Of(Function::FloatBinary(FloatBinary::Minimum, _)) => true,
        Pure::Of(Function::FloatBinary(FloatBinary::Maximum, _)) => false,
        _ => return pure,
    };
    let scalar = operands.first().and_then(|it| graph.nodes[graph.resolve(*it)].scalar);
    let rule = ExtremeRule::Either;
    scalar.map_or(pure, |scalar| Pure::Extreme { is_least, rule, scalar })
}

/// What the compiler makes of an operation with a constant zero: `x + 0` becomes `x` and `x * 0`
/// becomes 0, whatever x is, a NaN too.
pub(super) fn without_zero(graph: &Graph, pure: Pure, operands: &[Node]) -> Option<Kind> {
    let is_zero = |node: Node| match graph.nodes[graph.resolve(node)].scalar {
        Some(Scalar::F32) => graph.constant(node).is_some_and(|it| (it as u32) << 1 == 0),
        Some(Scalar::F64) => graph.constant(node).is_some_and(|it| it << 1 == 0),
        _ => false,
    };
    let function = match (pure, operands) {
        (Pure::MultiplyAdd(Scalar::F32 | Scalar::F64), &[one, other, third]) => {
            return (is_zero(one) || is_zero(other)).then_some(Kind::Same(third));
        }
        (Pure::Of(Function::FloatBinary(function, _)), _) => function,
        _ => return None,
    };
    let &[one, other] = operands else { return None };
    match function {
        FloatBinary::Add | FloatBinary::Subtract if is_zero(other) => Some(Kind::Same(one)),
        FloatBinary::Add if is_zero(one) => Some(Kind::Same(other)),
        FloatBinary::Multiply if is_zero(one) || is_zero(other) => Some(Kind::Constant(0)),
        FloatBinary::Divide if is_zero(one) => Some(Kind::Constant(0)),
        _ => None,
    }
}
