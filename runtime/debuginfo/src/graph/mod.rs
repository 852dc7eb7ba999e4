//! The program of tensors as a picture: its dispatches as boxes, in groups that are open or
//! collapsed, and the tensors between them as edges, each with its place.
//!
//! [`DispatchProgram`] is what a module has, read once; [`DispatchProgram::arranged`] makes a
//! picture of it, in which some groups are open.
//!
//! - [`origins`]: where operations came from: names of nodes, calls of Python, inlined calls
//! - [`groups`]: a tree of groups, made of that
//! - [`build`]: which operations have boxes, and which tensors lead from one to another
//! - [`spread`]: boxes of a layer as near as possible to where they want to be
//! - [`order`]: the order of the boxes within each layer
//! - [`layout`]: the inside of one group: layers from top to bottom, with few crossings
//! - [`arrange`]: which groups are open, and all of them as one picture

mod arrange;
mod build;
mod groups;
mod layout;
mod order;
mod origins;
mod spread;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde::Serialize;

use crate::tensors::TensorOperationId;
use groups::Groups;

/// The format of [`DispatchGraph`] as JSON. It changes when a field changes its meaning or goes.
pub const GRAPH_FORMAT: u32 = 2;

/// The dispatches of a module, of which pictures can be made.
#[derive(Debug)]
pub struct DispatchProgram {
    functions: Vec<FunctionProgram>,
}

/// A function with dispatches.
#[derive(Debug)]
struct FunctionProgram {
    name: String,
    /// Its index in the program.
    index: usize,
    /// In the order of the program; nothing has a place yet.
    nodes: Vec<GraphNode>,
    edges: Vec<ProgramEdge>,
    groups: Groups,
}

/// A tensor between two boxes.
#[derive(Clone, Debug)]
struct ProgramEdge {
    from: usize,
    to: usize,
    tensor: GraphTensor,
    /// Tells the tensor from others.
    value: u32,
    is_back: bool,
}

/// What of a program is to be seen.
#[derive(Clone, Debug, Default)]
pub struct GraphView {
    /// The groups that are open.
    pub open: OpenGroups,
    /// Whether constants, parameters and globals have boxes; by default, if there are few boxes.
    pub weights: Option<bool>,
}

/// The groups that are open.
#[derive(Clone, Debug, Default)]
pub enum OpenGroups {
    /// As many levels from the outermost as can be read.
    #[default]
    Readable,
    /// All.
    All,
    /// Those with these identities.
    These(HashSet<String>),
}

/// The dispatches of a module as a picture.
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
    /// What its groups are made of; nothing if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grouped_by: Option<GroupedBy>,
    /// Whether constants, parameters and globals have boxes.
    pub shows_weights: bool,
    /// The boxes, in the order of the program, then the groups, each after the one around it. Their
    /// indices are the same whatever is open.
    pub nodes: Vec<GraphNode>,
    /// The tensors between what is not hidden.
    pub edges: Vec<GraphEdge>,
}

/// What groups are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum GroupedBy {
    /// What Python called when it made the program.
    Python,
    /// The names of nodes of an ONNX model, or of operations.
    Names,
    /// The calls in the locations of operations.
    Calls,
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
    /// A constant, a parameter or a global.
    Weight,
    /// A group of boxes.
    Group,
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
    /// Its name in the model: `/encoder/layer.0/MatMul`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_name: Option<String>,
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
    /// The index of the group that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<usize>,
    /// Of a group, how many dispatches are in it, at any depth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatches: Option<usize>,
    /// Of a group, whether its boxes are seen: then it is a frame around them.
    #[serde(skip_serializing_if = "is_false")]
    pub is_open: bool,
    /// Whether it has no place: a group around it is collapsed, or weights are not shown.
    #[serde(skip_serializing_if = "is_false")]
    pub is_hidden: bool,
    /// Its left side.
    pub x: f32,
    /// Its upper side.
    pub y: f32,
    /// Its width.
    pub width: f32,
    /// Its height.
    pub height: f32,
}

fn is_false(value: &bool) -> bool {
    !*value
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
    /// What it is if no operation makes it: `constant`, `parameter SCOPE::KEY`, `global @NAME`,
    /// `fill`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// A tensor that leads from one box to another.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphEdge {
    /// The index of the box that makes it, or of the collapsed group that has that box.
    pub from: usize,
    /// The index of the box that takes it, or of the collapsed group that has that box.
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

/// The operation of a box, by the identity of the box.
#[must_use]
pub fn operation_of_node(id: &str) -> Option<TensorOperationId> {
    let (function, index) = id.strip_prefix('d')?.split_once('.')?;
    Some(TensorOperationId { function: function.parse().ok()?, index: index.parse().ok()? })
}
