//! What the registers and globals of a program lead to.

use std::collections::HashSet;

use crate::context::Context;
use crate::objects::{Ref, Value};

/// Every object that registers and globals lead to, directly or by lists, once each. What only
/// native modules lead to is not among them.
pub(super) fn reached(context: &Context, refs: &[Ref]) -> Vec<Ref> {
    let globals = context.globals.iter().flat_map(|globals| &globals.refs);
    let (mut seen, mut next, mut found) = (HashSet::new(), Vec::new(), Vec::new());
    let mut visit = |reference: &Ref, next: &mut Vec<Ref>| {
        if !reference.is_null() && seen.insert(reference.address()) {
            next.push(reference.clone());
        }
    };
    refs.iter().chain(globals).for_each(|reference| visit(reference, &mut next));
    while let Some(reference) = next.pop() {
        if let Ref::List(list) = &reference {
            for index in 0..list.len() {
                if let Some(Value::Ref(element)) = list.get(index) {
                    visit(&element, &mut next);
                }
            }
        }
        found.push(reference);
    }
    found
}
