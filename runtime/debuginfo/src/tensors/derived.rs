//! Names for what has none in the source: a tensor that a dispatch leaves in the middle of an
//! operation of the source, padded, or in the order of the machine's tiles. Such a name says of
//! which tensor it is, and how it stands to it: `%y:subf` is what the subtraction computes on the
//! way to `%y`, `%y:before bias` the sum to which its bias is added. What it is was proven as names
//! are ([`super::matches`]): it is a value of the text that the compiler made of the source, whose
//! operations all stand at the place of `%y`.

use std::collections::HashMap;

use super::names::Walk;
use super::program::{DerivedName, SourceTensor, TensorRelation, TensorValueId};
use super::reference::ReferenceValue;
use super::symbolic::terms::NodeId;
use crate::mlir_text::CallChain;

impl Walk<'_, '_> {
    /// The names of values that have none of their own.
    pub(super) fn derived(&self) -> HashMap<TensorValueId, DerivedName> {
        let named = self.last_named();
        let mut derived = HashMap::new();
        for (value, at) in &self.packed {
            let Some(own) = self.source.values.get(*at) else { continue };
            let tensor = own.tensor.as_ref().or_else(|| self.result_of(*at, &named));
            let Some(tensor) = tensor.cloned() else { continue };
            derived.insert(*value, DerivedName { tensor, relation: TensorRelation::Packed });
        }
        for part in self.parts.values() {
            let (tensor, relation) = (part.tensor.clone(), TensorRelation::Padded);
            derived.entry(part.value).or_insert(DerivedName { tensor, relation });
        }
        let base = |node: NodeId| self.reshaped.get(&node).copied().unwrap_or(node);
        let mut inner: HashMap<NodeId, usize> = HashMap::new();
        for (at, value) in self.source.values.iter().enumerate() {
            let is_inner = value.tensor.is_none() && !value.is_written;
            if is_inner && value.node != NodeId(u32::MAX) {
                inner.insert(base(value.node), at);
            }
        }
        for (value, node) in &self.values {
            let Some(at) = inner.get(&base(*node)) else { continue };
            let Some(tensor) = self.result_of(*at, &named).cloned() else { continue };
            let relation = TensorRelation::Step(self.step(*at));
            derived.entry(*value).or_insert(DerivedName { tensor, relation });
        }
        derived
    }

    /// The last tensor with a name at each place.
    fn last_named(&self) -> HashMap<&CallChain, usize> {
        let values = self.source.values.iter().enumerate();
        let named = values.filter(|(_, it)| it.tensor.is_some() && !it.is_given);
        named.map(|(at, value)| (&value.chain, at)).collect()
    }

    /// The tensor that the operations at the place of a value are there for.
    fn result_of(&self, at: usize, named: &HashMap<&CallChain, usize>) -> Option<&SourceTensor> {
        let last = *named.get(&self.source.values.get(at)?.chain)?;
        self.source.values.get(last).filter(|_| last > at)?.tensor.as_ref()
    }

    /// What a value of a place is called: its operation, with a number from the second of a kind.
    fn step(&self, at: usize) -> String {
        let Some(value) = self.source.values.get(at) else { return String::new() };
        let is_before = |other: &&ReferenceValue| {
            other.chain == value.chain && other.made_by == value.made_by && other.node != value.node
        };
        let before = self.source.values[..at].iter().filter(is_before).count();
        match before {
            0 => value.made_by.clone(),
            _ => format!("{} {}", value.made_by, before + 1),
        }
    }
}
