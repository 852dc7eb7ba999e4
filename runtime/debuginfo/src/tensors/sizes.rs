//! Tensors are looked up by their sizes: two that differ there are not the same.

use super::symbolic::index::Index;
use super::symbolic::reshape::count;
use super::symbolic::terms::Node;

/// Number of elements and element type.
pub(super) type SizeKey = (Index, String);

pub(super) fn size_key(node: &Node) -> SizeKey {
    (count(&node.shape), node.element.clone())
}
