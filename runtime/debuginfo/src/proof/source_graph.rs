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

/// A leaf that is a result of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    pub(crate) node: Node,
    pub(crate) instance: InstanceIndex,
    pub(crate) operation: OperationIndex,
    /// Which of its results.
    pub(crate) result: usize,
}

/// The body of a tensor operation: its scalar code for one element.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) instance: InstanceIndex,
    pub(crate) operation: OperationIndex,
    /// The leaves that stand for the arguments of its body, in order.
    pub(crate) arguments: Vec<Node>,
    /// For each argument, the tensor that it is an element of.
    pub(super) tensors: Vec<ValueIndex>,
    /// The values that its body yields.
    pub(super) yielded: Vec<Node>,
    /// The operations of its body.
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
    /// Whether the control flow of some operation was not understood; then the graph is useless.
    pub(crate) is_broken: bool,
    /// The block of each operation.
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

    /// The arguments of a tensor operation's body that its code loads. If another tensor operation
    /// makes an argument, the compiler may have fused the two: then the arguments of that one are
    /// loaded instead (`is_fused`).
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

    /// Replaces the arguments of a tensor operation's body by the results of the operations that
    /// make them.
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

    /// The earlier tensor operation that makes a tensor.
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
