//! Sums before what they begin with is added: a convolution of the source begins with its bias,
//! and the program may add the bias in a later dispatch. What it leaves then is no tensor of the
//! source; it has a name after the one that it becomes.

use super::{ReferenceValue, Walk};
use crate::tensors::symbolic::terms::{NodeId, NodeKind, Term};

/// What a sum is called to which a constant is added, and one to which a tensor is.
const CALLED: [&str; 2] = ["before bias", "before addend"];

impl Walk<'_> {
    /// The sum of a tensor that an operation has just made of it and of what it began with.
    pub(super) fn sum_of(&self, node: NodeId) -> Option<ReferenceValue> {
        let NodeKind::Elements(term) = self.terms.node(node).kind else { return None };
        let Term::Operation(_, operands) = self.terms.get(term) else { return None };
        let [first, sum] = operands.as_slice() else { return None };
        let Term::Read(sum, _) = *self.terms.get(*sum) else { return None };
        let is_reduction = matches!(self.terms.node(sum).kind, NodeKind::Reduction { .. });
        // A sum of another operation is a value of its own.
        let is_own = sum.0.checked_add(1) == Some(node.0);
        let values = &self.function.values;
        if !(is_reduction && is_own) || values.iter().rev().take(8).any(|it| it.node == sum) {
            return None;
        }
        let called = CALLED[usize::from(!self.terms.is_constant(*first))];
        Some(ReferenceValue {
            made_by: called.to_owned(),
            is_inner: true,
            ..ReferenceValue::of(sum)
        })
    }
}
