//! What became of the tensors of the source that no value of the program is proven to be.

use std::collections::HashMap;

use super::places::is_at;
use super::program::{Fate, TensorFunction, TensorOperationId, TensorValueId, Unrecognised};
use super::reference::{ReferenceValue, type_text};
use super::sizes::{SizeKey, size_key};
use super::symbolic::terms::{NodeId, Terms};
use crate::mlir_text::CallChain;

/// The most candidates that are named.
const MOST_LINES: usize = 4;

/// What dispatches leave that no tensor of the source is known to be.
pub(super) struct Nameless {
    found: Vec<Found>,
}

/// A tensor that a dispatch leaves: its size if that is known, and the line of the dispatch.
type Found = (Option<SizeKey>, TensorValueId, Option<u32>);

impl Nameless {
    pub(super) fn of(
        function: &TensorFunction,
        values: &HashMap<TensorValueId, NodeId>,
        terms: &Terms,
    ) -> Self {
        let dispatches = function.operations.iter().filter(|it| it.export().is_some());
        let results = dispatches.flat_map(|it| {
            let line = it.chains.first().and_then(|chain| chain.first()).map(|at| at.line);
            it.results.iter().map(move |result| (*result, line))
        });
        let nameless = results.filter(|(result, _)| {
            let value = function.value(*result);
            value.names.is_empty() && value.parts.is_empty()
        });
        let found = nameless.map(|(result, line)| {
            let size = values.get(&result).map(|node| size_key(terms.node(*node)));
            (size, result, line)
        });
        Self { found: found.collect() }
    }

    /// The lines of the dispatches that leave those of a size.
    fn of_size(&self, size: &SizeKey) -> Vec<u32> {
        self.lines(|(it, ..)| it.as_ref() == Some(size))
    }

    /// The lines of the dispatches that leave some of these.
    fn among(&self, values: &[TensorValueId]) -> Vec<u32> {
        self.lines(|(_, it, _)| values.contains(it))
    }

    fn lines(&self, may_be: impl Fn(&Found) -> bool) -> Vec<u32> {
        let may_be = self.found.iter().filter(|it| may_be(it));
        let mut lines: Vec<u32> = may_be.filter_map(|(_, _, line)| *line).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}

/// Tensors of the source that no value is known to be.
pub(super) struct Lost<'l> {
    pub(super) fused: &'l HashMap<CallChain, Vec<TensorOperationId>>,
    pub(super) withheld: &'l HashMap<NodeId, Unrecognised>,
    pub(super) near: &'l HashMap<NodeId, Vec<TensorValueId>>,
    pub(super) nameless: &'l Nameless,
}

impl Lost<'_> {
    /// What became of one.
    pub(super) fn fate(
        &self,
        function: &TensorFunction,
        value: &ReferenceValue,
        terms: &Terms,
    ) -> Fate {
        let node = terms.node(value.node);
        if node.is_constant {
            let tensor_type = type_text(node);
            return match terms.written_elements(value.node) {
                Some(elements) => Fate::Constant { elements, tensor_type },
                None => Fate::ConstantFolded,
            };
        }
        if let Some(reason) = self.withheld.get(&value.node) {
            return Fate::Unknown(reason.clone());
        }
        // Its dispatch may as well leave only what is made from it.
        let near = self.near.get(&value.node).map(Vec::as_slice).unwrap_or_default();
        if let Some(reason) = perhaps(&self.nameless.among(near)) {
            return Fate::Unknown(reason);
        }
        let computed = self.fused.iter().filter(|(chain, _)| is_at(chain, &value.chain));
        let mut operations: Vec<TensorOperationId> =
            computed.flat_map(|(_, it)| it).copied().collect();
        operations.sort_unstable();
        operations.dedup();
        let results = operations.iter().filter_map(|it| function.operations.get(it.index));
        let results: Vec<TensorValueId> = results.flat_map(|it| it.results.clone()).collect();
        let may_be_left = |it: &TensorValueId| {
            let size = size_key(node);
            let mut nameless = self.nameless.found.iter();
            nameless.any(|(known, other, _)| {
                other == it && known.as_ref().is_none_or(|known| *known == size)
            })
        };
        if !results.is_empty() && !results.iter().any(may_be_left) {
            return Fate::FusedInto(results);
        }
        if self.nameless.found.is_empty() {
            return Fate::Unknown(Unrecognised::AllNamed);
        }
        let lines = self.nameless.of_size(&size_key(node));
        Fate::Unknown(perhaps(&lines).unwrap_or(match lines.len() {
            0 => Unrecognised::Nowhere,
            count => Unrecognised::ManyOfItsSize(count),
        }))
    }
}

/// That a tensor may be what dispatches of these lines leave, if they are few.
fn perhaps(lines: &[u32]) -> Option<Unrecognised> {
    (1..=MOST_LINES).contains(&lines.len()).then(|| Unrecognised::Perhaps(lines.to_vec()))
}
