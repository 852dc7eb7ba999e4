//! The named values of the source: which of them are one value, and which of them no sample tells
//! apart. [`super::evidence`] asks that of each register.

use std::collections::{HashMap, HashSet};

use super::arithmetic::Scalar;
use super::equal::{Sample, Side, mix};
use super::graph::Node;
use super::source_graph::{InstanceIndex, SourceGraph};
use super::terms::Term;
use crate::source::functions::ValueIndex;

/// The named values of the source, as far as they may be taken for each other.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// By term, the names with it.
    pub(super) by_term: HashMap<Term, Vec<(InstanceIndex, ValueIndex)>>,
    /// By value, the values with other terms that no sample tells from it.
    pub(super) doubles: HashMap<Node, Vec<Node>>,
}

impl Named {
    pub(super) fn of(source: &SourceGraph, side: &Side) -> Self {
        let mut by_term: HashMap<Term, Vec<(InstanceIndex, ValueIndex)>> = HashMap::new();
        let mut nodes = HashSet::new();
        for (name, node) in &source.values {
            let node = source.graph.resolve(*node);
            nodes.insert(node);
            if let Some(term) = side.term(&source.graph, node) {
                by_term.entry(term).or_default().push(*name);
            }
        }
        let mut groups: HashMap<(Option<Scalar>, u64), Vec<Node>> = HashMap::new();
        let mut is_open: Option<Vec<bool>> = None;
        for node in nodes {
            let scalar = source.graph.nodes[node].scalar;
            if let (Some(_), Some(sample)) = (scalar, side.sample(node)) {
                let is_open = is_open.get_or_insert_with(|| side.all_open(sample.len()));
                groups.entry((scalar, digest(sample, is_open))).or_default().push(node);
            }
        }
        let mut doubles: HashMap<Node, Vec<Node>> = HashMap::new();
        let term = |node: &Node| side.term(&source.graph, *node);
        for group in groups.values().filter(|group| group.len() > 1) {
            for node in group {
                let others = group.iter().filter(|other| term(other) != term(node));
                let others: Vec<Node> = others.copied().collect();
                if !others.is_empty() {
                    doubles.insert(*node, others);
                }
            }
        }
        Self { by_term, doubles }
    }
}

fn digest(sample: &Sample, is_open: &[bool]) -> u64 {
    let told = sample.iter().zip(is_open).filter(|(_, is_open)| !**is_open);
    told.fold(0, |all, (bits, _)| mix(all ^ bits))
}
