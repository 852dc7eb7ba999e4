//! The program of tensors as a picture: its dispatches as boxes, and the tensors between them as
//! edges, each with its place.
//!
//! - [`build`]: which operations have boxes, and which tensors lead from one to another
//! - [`layout`]: layers from top to bottom, with few crossings
//! - [`order`]: the order of the boxes within each layer
//! - [`spread`]: boxes of a layer as near as possible to where they want to be

mod build;
mod layout;
mod order;
mod spread;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::tensors::TensorOperationId;

/// The format of [`DispatchGraph`] as JSON. It changes when a field changes its meaning or goes.
pub const GRAPH_FORMAT: u32 = 1;

/// The dispatches of a module.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DispatchGraph {
    /// [`GRAPH_FORMAT`].
    pub version: u32,
    /// The functions that have dispatches, in the order of the program.
    pub functions: Vec<FunctionGraph>,
}

/// A function with dispatches.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FunctionGraph {
    /// Its name; empty for an initializer.
    pub name: String,
    /// How wide the picture is.
    pub width: f32,
    /// How high it is.
    pub height: f32,
    /// The boxes, in the order of the program.
    pub nodes: Vec<GraphNode>,
    /// The tensors between them.
    pub edges: Vec<GraphEdge>,
}

/// What a box stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum NodeKind {
    /// An argument of the function.
    Argument,
    /// A result of the function.
    Result,
    /// A dispatch.
    Dispatch,
    /// All or a part of a tensor is copied.
    Copy,
    /// A call of another function.
    Call,
    /// Any other operation on tensors.
    Other,
}

/// A box.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphNode {
    /// Tells it from others: `d0.12` is operation 12 of function 0.
    pub id: String,
    /// What it stands for.
    pub kind: NodeKind,
    /// The tensor of the source that it makes, else what it does.
    pub title: String,
    /// The export that a dispatch runs, or what else is done.
    pub operation: String,
    /// The file that it comes from, as the compiler was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in it, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The tensors that it takes.
    pub inputs: Vec<GraphTensor>,
    /// The tensors that it makes.
    pub outputs: Vec<GraphTensor>,
    /// How many bytes it reads and writes; nothing if a size is only known when it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How many arithmetic operations it does, as far as its code says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// How many loops are around it.
    pub loops: u32,
    /// Its left side.
    pub x: f32,
    /// Its upper side.
    pub y: f32,
    /// Its width.
    pub width: f32,
    /// Its height.
    pub height: f32,
}

/// A tensor at a box.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphTensor {
    /// Its name in the source, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Shape and element type: `1x16xf32`.
    #[serde(rename = "type")]
    pub tensor_type: String,
    /// Its bytes, if its sizes are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// What it is if no box makes it: `constant`, `parameter SCOPE::KEY`, `global @NAME`, `fill`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// A tensor that leads from one box to another.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphEdge {
    /// The index of the box that makes it.
    pub from: usize,
    /// The index of the box that takes it.
    pub to: usize,
    /// The tensor.
    pub tensor: GraphTensor,
    /// Whether it leads to the next turn of a loop.
    pub is_back: bool,
    /// The points that its line goes through.
    pub points: Vec<[f32; 2]>,
}

/// The identity of the box of an operation.
#[must_use]
pub fn node_id(operation: TensorOperationId) -> String {
    format!("d{}.{}", operation.function, operation.index)
}
