//! A function of the source as a graph of values: each value has a node in each *instance* of its
//! function, which is the function itself or a copy of it that was inlined somewhere.

use std::collections::HashMap;
use std::sync::Arc;

use super::graph::{Block, Graph, Kind, Node};
use crate::source::functions::{LineColumn, OperationIndex, SourceFunction, ValueIndex};

/// The index of an instance.
pub(crate) type InstanceIndex = usize;

/// A function, or a copy of it that was inlined.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    /// The places of the calls that lead to it, outermost first.
    pub(crate) path: Vec<LineColumn>,
    pub(crate) function: Arc<SourceFunction>,
}

/// A leaf that an operation makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    pub(crate) node: Node,
    pub(crate) instance: InstanceIndex,
    pub(crate) operation: OperationIndex,
    /// Which of its results.
    pub(crate) result: usize,
}

/// The scalar code of a tensor operation: what it computes for one element.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) instance: InstanceIndex,
    pub(crate) operation: OperationIndex,
    /// What the operation is given for an element, in order, as leaves.
    pub(crate) arguments: Vec<Node>,
    /// For each of these the tensor that it is of.
    pub(super) tensors: Vec<ValueIndex>,
    /// What it makes of them.
    pub(super) yielded: Vec<Node>,
    /// The operations inside.
    pub(crate) inside: Vec<OperationIndex>,
}

/// The values of a function of the source.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceGraph {
    pub(crate) graph: Graph,
    pub(crate) instances: Vec<Instance>,
    pub(crate) values: HashMap<(InstanceIndex, ValueIndex), Node>,
    pub(crate) made: Vec<Made>,
    pub(crate) elements: Vec<Element>,
    /// Whether the control flow of some operation was not understood: nothing is what it seems
    /// then.
    pub(crate) is_broken: bool,
    /// Where operations are.
    pub(crate) blocks: HashMap<(InstanceIndex, OperationIndex), Block>,
}

impl SourceGraph {
    /// The places of the calls around an operation, outermost first, and its own.
    pub(crate) fn path(
        &self,
        instance: InstanceIndex,
        operation: OperationIndex,
    ) -> Vec<LineColumn> {
        let Instance { path, function } = &self.instances[instance];
        path.iter().copied().chain([function.operations[operation].place]).collect()
    }

    /// The values that an element operation is given, and that its code loads. Where what it is
    /// given is made by another one, the compiler may have put both into one: then the values of
    /// that one are loaded in its place (`is_fused`).
    pub(crate) fn loaded(&self, element: usize, is_fused: bool) -> Vec<Node> {
        let Some(it) = self.elements.get(element) else { return Vec::new() };
        let arguments = it.arguments.iter().zip(&it.tensors);
        let loaded = arguments.flat_map(|(argument, tensor)| {
            match self.producer(element, *tensor).filter(|_| is_fused) {
                Some(producer) => self.loaded(producer, true),
                None => vec![*argument],
            }
        });
        let mut found: Vec<Node> = Vec::new();
        for node in loaded {
            if self.is_used(node) && !found.contains(&node) {
                found.push(node);
            }
        }
        found
    }

    /// What an element operation is given is what those before it have made.
    pub(crate) fn fuse(&mut self, element: usize) {
        let Some(it) = self.elements.get(element) else { return };
        let pairs: Vec<(Node, usize)> = it
            .arguments
            .iter()
            .zip(&it.tensors)
            .filter_map(|(argument, tensor)| Some((*argument, self.producer(element, *tensor)?)))
            .collect();
        for (argument, producer) in pairs {
            if let [only] = self.elements[producer].yielded[..] {
                self.graph.nodes[argument].kind = Kind::Same(only);
                self.fuse(producer);
            }
        }
    }

    /// The element operation before one that makes a tensor which it is given.
    fn producer(&self, element: usize, tensor: ValueIndex) -> Option<usize> {
        let it = self.elements.get(element)?;
        let function = &self.instances[it.instance].function;
        let (made_by, _) = function.values.get(tensor)?.definition?;
        self.elements[..element].iter().position(|other| {
            other.instance == it.instance && other.operation == made_by && other.yielded.len() == 1
        })
    }

    fn is_used(&self, node: Node) -> bool {
        let in_nodes = self.graph.nodes.iter().any(|it| match &it.kind {
            Kind::Pure(_, operands) => operands.contains(&node),
            Kind::Same(other) => *other == node,
            _ => false,
        });
        in_nodes || self.elements.iter().any(|it| it.yielded.contains(&node))
    }
}
