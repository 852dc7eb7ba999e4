//! Values that are used where they are not there: before the operation that makes them, by that
//! operation itself, or in a block that can be reached without it.

use syntax::NodeId;

use super::diagnostic::Diagnostic;
use super::reading::Reading;
use crate::text::{Collector, Dominance, NameKind, Use, Value, ValueKind, shares};

/// The faults of a chunk's uses of values. `earlier` knows the chunks before it.
pub(super) fn faults(reading: &Reading, earlier: &Collector, found: &mut Vec<Diagnostic>) {
    let placed = &reading.analysed.placed;
    let names = &reading.analysed.analysis.names;
    let op = |id: NodeId| reading.op(id).to_owned();
    let dominance = Dominance::new(reading.analysed, &op);
    let leaves = reading.tree.tokens();
    let mut tokens = reading.tokens.iter();
    // Both are in the order of the text.
    for used in &names.value_uses {
        let Some(&(_, node)) =
            tokens.by_ref().find(|(token, _)| leaves[*token].start == used.span.start)
        else {
            return;
        };
        let Some(value) = used.definition.map(|at| &names.values[at as usize]) else { continue };
        let user = reading.operation_of(node);
        // In a long function the name may be one of an earlier part, and defined again here.
        let is_earlier = || shares(placed) && earlier.knows(placed, NameKind::Value, used.hash);
        if user != 0 && !dominance.is_there(value, user) && !is_earlier() {
            found.push(fault(reading, used, value, user));
        }
    }
}

fn fault(reading: &Reading, used: &Use, value: &Value, user: NodeId) -> Diagnostic {
    let name = reading.span(used.span.clone());
    let is_result = matches!(value.kind, ValueKind::Result(_));
    let around = || reading.tree.ancestors(user).any(|outer| outer == value.node);
    let message = if is_result && value.node == user {
        format!("`{name}` is used by the operation that makes it")
    } else if is_result && around() {
        format!("`{name}` is used inside the operation that makes it")
    } else if value.span.start > used.span.start {
        format!("`{name}` is used before it is defined")
    } else {
        format!("`{name}` is defined in a block that is not on every way to here")
    };
    let range = reading.analysed.absolute(&used.span);
    let definition = reading.analysed.absolute(&value.span);
    Diagnostic {
        related: vec![(definition, "defined here".into())],
        ..Diagnostic::error(range, "dominance", message)
    }
}
