//! Which operations have boxes, and which tensors lead from one to another.

use std::collections::{HashMap, HashSet, VecDeque};

use abi::element_type::ElementType;

use super::layout::lay_out;
use super::{
    DispatchGraph, FunctionGraph, GRAPH_FORMAT, GraphEdge, GraphNode, GraphTensor, NodeKind,
    node_id,
};
use crate::tensors::{
    RegionId, TensorFunction, TensorOperation, TensorOperationId, TensorOperationKind,
    TensorProgram, TensorValueId,
};

/// The sizes of boxes.
const DISPATCH: (f32, f32) = (230.0, 78.0);
const SMALL: (f32, f32) = (170.0, 34.0);

/// More edges of one function are not drawn.
const MOST_EDGES: usize = 200_000;

impl DispatchGraph {
    /// The graph of a program. `label` has the framework's name of a value, by its function.
    #[must_use]
    pub fn of(
        program: &TensorProgram,
        label: &dyn Fn(usize, TensorValueId) -> Option<String>,
    ) -> Self {
        let functions = program.functions().iter().enumerate();
        let has_dispatches =
            |it: &TensorFunction| it.operations.iter().any(|it| it.export().is_some());
        let functions = functions.filter(|(_, function)| has_dispatches(function));
        let functions =
            functions.map(|(index, function)| Builder { program, function, index, label }.graph());
        Self { version: GRAPH_FORMAT, functions: functions.collect() }
    }

    /// How many bytes parameters have, by scope and key, in the order of the program.
    #[must_use]
    pub fn parameters(program: &TensorProgram) -> Vec<(String, Option<u64>)> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for function in program.functions() {
            for operation in &function.operations {
                let TensorOperationKind::Constant { parameter: Some((scope, key)) } =
                    &operation.kind
                else {
                    continue;
                };
                let name = format!("{scope}::{key}");
                let value = operation.results.first().map(|it| function.value(*it));
                let bytes = value.and_then(|it| bytes_of(&it.tensor_type));
                if seen.insert(name.clone()) {
                    found.push((name, bytes));
                }
            }
        }
        found
    }
}

/// The graph of one function in the making.
struct Builder<'p> {
    program: &'p TensorProgram,
    function: &'p TensorFunction,
    index: usize,
    label: &'p dyn Fn(usize, TensorValueId) -> Option<String>,
}

/// What makes a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Maker {
    /// An operation of the function, by its index.
    Operation(usize),
    /// An argument of the function that is a tensor.
    Argument(TensorValueId),
}

impl Builder<'_> {
    fn graph(&self) -> FunctionGraph {
        let mut graph = FunctionGraph { name: self.function.name.clone(), ..Default::default() };
        let mut boxes: HashMap<Maker, usize> = HashMap::new();
        let arguments = self.function.arguments.iter().copied();
        for argument in arguments.filter(|it| self.function.value(*it).is_tensor) {
            boxes.insert(Maker::Argument(argument), graph.nodes.len());
            graph.nodes.push(self.argument(argument));
        }
        for (index, operation) in self.function.operations.iter().enumerate() {
            if let Some(kind) = self.kind(operation) {
                boxes.insert(Maker::Operation(index), graph.nodes.len());
                graph.nodes.push(self.node(index, operation, kind));
            }
        }
        for (index, operation) in self.function.operations.iter().enumerate() {
            let Some(to) = boxes.get(&Maker::Operation(index)) else { continue };
            let mut known = HashSet::new();
            for operand in &operation.operands {
                for (maker, value) in self.makers(*operand) {
                    let Some(from) = boxes.get(&maker) else { continue };
                    if graph.edges.len() < MOST_EDGES && known.insert((*from, value)) {
                        graph.edges.push(GraphEdge {
                            from: *from,
                            to: *to,
                            tensor: self.tensor(value),
                            is_back: from >= to,
                            points: Vec::new(),
                        });
                    }
                }
            }
        }
        lay_out(&mut graph);
        graph
    }

    fn kind(&self, operation: &TensorOperation) -> Option<NodeKind> {
        let has_tensors = operation.operands.iter().any(|it| self.function.value(*it).is_tensor);
        match &operation.kind {
            TensorOperationKind::Dispatch { .. } => Some(NodeKind::Dispatch),
            TensorOperationKind::Import { .. } => Some(NodeKind::Argument),
            TensorOperationKind::Export => Some(NodeKind::Result),
            TensorOperationKind::Copy => Some(NodeKind::Copy),
            TensorOperationKind::Call { .. } => Some(NodeKind::Call),
            TensorOperationKind::Other { .. } => Some(NodeKind::Other),
            TensorOperationKind::Host { name } if name == "util.return" && has_tensors => {
                Some(NodeKind::Result)
            }
            TensorOperationKind::Host { name } if name == "util.global.store" && has_tensors => {
                Some(NodeKind::Result)
            }
            TensorOperationKind::Host { .. }
            | TensorOperationKind::Constant { .. }
            | TensorOperationKind::GlobalLoad { .. }
            | TensorOperationKind::Splat
            | TensorOperationKind::Alias => None,
        }
    }

    fn argument(&self, value: TensorValueId) -> GraphNode {
        let tensor = self.tensor(value);
        let title = tensor.name.clone().unwrap_or_else(|| "argument".to_owned());
        let id = format!("a{}.{}", self.index, value.0);
        GraphNode { outputs: vec![tensor], ..empty(id, NodeKind::Argument, title) }
    }

    fn node(&self, index: usize, operation: &TensorOperation, kind: NodeKind) -> GraphNode {
        let is_tensor = |it: &&TensorValueId| self.function.value(**it).is_tensor;
        let inputs = operation.operands.iter().filter(is_tensor);
        let inputs: Vec<GraphTensor> = inputs.map(|it| self.input(*it)).collect();
        let outputs = operation.results.iter().filter(is_tensor);
        let outputs: Vec<GraphTensor> = outputs.map(|it| self.tensor(*it)).collect();
        let done = match &operation.kind {
            TensorOperationKind::Dispatch { export } => export.clone(),
            TensorOperationKind::Import { argument } => format!("argument {argument}"),
            TensorOperationKind::Export => "result".to_owned(),
            TensorOperationKind::Copy => "copy".to_owned(),
            TensorOperationKind::Call { callee } => format!("call @{callee}"),
            TensorOperationKind::Host { name } if name == "util.return" => "result".to_owned(),
            TensorOperationKind::Host { name } | TensorOperationKind::Other { name } => {
                name.clone()
            }
            _ => String::new(),
        };
        // The ends of the picture are called by what they are, all others by what they make.
        let named = match kind {
            NodeKind::Result => inputs.first(),
            _ => outputs.first(),
        };
        let title = named.and_then(|it| it.name.clone());
        let title = title.unwrap_or_else(|| short_name(&done, &self.function.name));
        let sizes = inputs.iter().chain(&outputs).map(|it| it.bytes);
        let bytes = sizes.sum::<Option<u64>>().filter(|_| kind == NodeKind::Dispatch);
        let id = node_id(TensorOperationId { function: self.index, index });
        let place = operation.chains.first().and_then(|chain| chain.first());
        GraphNode {
            operations: operation.export().and_then(|it| self.program.operations_of(it)),
            operation: done,
            file: place.map(|it| it.file.clone()),
            line: place.map(|it| it.line),
            inputs,
            outputs,
            bytes,
            loops: self.loops(operation.region),
            ..empty(id, kind, title)
        }
    }

    /// A tensor as a box takes it: with where it comes from, if no box makes it.
    fn input(&self, value: TensorValueId) -> GraphTensor {
        let mut tensor = self.tensor(value);
        let made_by = self.root(value).1;
        tensor.origin = made_by.and_then(|operation| match &operation.kind {
            TensorOperationKind::Constant { parameter: Some((scope, key)) } => {
                Some(format!("parameter {scope}::{key}"))
            }
            TensorOperationKind::Constant { .. } => Some("constant".to_owned()),
            TensorOperationKind::GlobalLoad { symbol } => Some(format!("global @{symbol}")),
            TensorOperationKind::Splat => Some("fill".to_owned()),
            _ => None,
        });
        tensor
    }

    fn tensor(&self, value: TensorValueId) -> GraphTensor {
        let known = self.function.value(value);
        let own = |value: TensorValueId| {
            let names = self.function.value(value);
            let part = names.parts.first().map(|it| it.tensor.name.clone());
            let name = names.names.first().map(|it| it.name.clone()).or(part);
            match ((self.label)(self.index, value), name) {
                (Some(label), _) => Some(label),
                (None, name) => name,
            }
        };
        let name = own(value).or_else(|| own(self.root(value).0));
        let tensor_type = known.tensor_type.clone();
        GraphTensor { name, bytes: bytes_of(&tensor_type), tensor_type, origin: None }
    }

    /// The value that has the bytes of a value, and what made it.
    fn root(&self, value: TensorValueId) -> (TensorValueId, Option<&TensorOperation>) {
        let mut root = value;
        // A chain of reshapes is no longer than the function.
        for _ in 0..=self.function.operations.len() {
            let made_by = self.function.value(root).made_by;
            let Some(operation) = made_by.and_then(|id| self.program.operation(id)) else {
                return (root, None);
            };
            match (&operation.kind, operation.operands.first()) {
                (TensorOperationKind::Alias, Some(operand)) => root = *operand,
                _ => return (root, Some(operation)),
            }
        }
        (root, None)
    }

    /// What may have made a value, through reshapes, loops and branches.
    fn makers(&self, value: TensorValueId) -> Vec<(Maker, TensorValueId)> {
        let mut seen = HashSet::from([value]);
        let mut open = VecDeque::from([value]);
        let mut found = Vec::new();
        while let Some(value) = open.pop_front() {
            let (root, operation) = self.root(value);
            let mut onward = Vec::new();
            match operation {
                Some(operation) if self.kind(operation).is_some() => {
                    if let Some(id) = self.function.value(root).made_by {
                        found.push((Maker::Operation(id.index), root));
                    }
                }
                Some(operation) => onward = self.results_of_regions(operation, root),
                None if self.function.arguments.contains(&root) => {
                    found.push((Maker::Argument(root), root));
                }
                None => onward = self.passed_to_region(root),
            }
            onward.retain(|it| self.function.value(*it).is_tensor && seen.insert(*it));
            open.extend(onward);
        }
        found
    }

    /// The values that become a result of an operation with regions: what their ends yield.
    fn results_of_regions(
        &self,
        operation: &TensorOperation,
        value: TensorValueId,
    ) -> Vec<TensorValueId> {
        let Some(place) = operation.results.iter().position(|it| *it == value) else {
            return Vec::new();
        };
        let from_end = operation.results.len() - place;
        let id = self.function.value(value).made_by;
        let own = (0_u32..).map(RegionId).zip(&self.function.regions);
        let own = own.filter(|(_, region)| region.operation.is_some() && region.operation == id);
        own.flat_map(|(region, _)| self.yields(region, from_end)).collect()
    }

    /// The values that become the argument of a region: the first ones, and those of a turn before.
    fn passed_to_region(&self, value: TensorValueId) -> Vec<TensorValueId> {
        let regions = (0_u32..).map(RegionId).zip(&self.function.regions);
        let found = regions.filter_map(|(id, region)| {
            let place = region.arguments.iter().position(|it| *it == value)?;
            Some((id, region, region.arguments.len() - place))
        });
        let mut passed = Vec::new();
        for (_, region, from_end) in found {
            let Some(around) = region.operation.and_then(|id| self.program.operation(id)) else {
                continue;
            };
            passed.extend(nth_from_end(&around.operands, from_end));
            let siblings = (0_u32..).map(RegionId).zip(&self.function.regions);
            let siblings = siblings.filter(|(_, it)| it.operation == region.operation);
            passed.extend(siblings.flat_map(|(id, _)| self.yields(id, from_end)));
        }
        passed
    }

    /// What the end of a region passes on, counted from the last.
    fn yields(&self, region: RegionId, from_end: usize) -> Vec<TensorValueId> {
        let is_end = |it: &&TensorOperation| {
            let TensorOperationKind::Host { name } = &it.kind else { return false };
            it.region == region && matches!(name.as_str(), "scf.yield" | "scf.condition")
        };
        let ends = self.function.operations.iter().filter(is_end);
        ends.filter_map(|it| nth_from_end(&it.operands, from_end)).collect()
    }

    fn loops(&self, mut region: RegionId) -> u32 {
        let mut loops = 0;
        for _ in 0..self.function.regions.len() {
            let Some(known) = self.function.region(region) else { break };
            loops += u32::from(known.is_loop);
            let Some(parent) = known.parent else { break };
            region = parent;
        }
        loops
    }
}

fn nth_from_end(values: &[TensorValueId], from_end: usize) -> Option<TensorValueId> {
    values.len().checked_sub(from_end).and_then(|at| values.get(at)).copied()
}

fn empty(id: String, kind: NodeKind, title: String) -> GraphNode {
    let (width, height) = if kind == NodeKind::Dispatch { DISPATCH } else { SMALL };
    GraphNode {
        id,
        kind,
        title,
        operation: String::new(),
        file: None,
        line: None,
        inputs: Vec::new(),
        outputs: Vec::new(),
        bytes: None,
        operations: None,
        loops: 0,
        x: 0.0,
        y: 0.0,
        width,
        height,
    }
}

/// `main_dispatch_3_matmul_1x4` is `matmul_1x4`: the rest is the same for all dispatches.
fn short_name(export: &str, function: &str) -> String {
    let bare = export.strip_prefix(function).unwrap_or(export);
    let Some((_, numbered)) = bare.split_once("_dispatch_") else { return export.to_owned() };
    match numbered.split_once('_') {
        Some((number, rest)) if number.bytes().all(|it| it.is_ascii_digit()) => rest.to_owned(),
        _ => export.to_owned(),
    }
}

/// The bytes of a tensor of this shape and element type, if all sizes are known.
pub(crate) fn bytes_of(tensor_type: &str) -> Option<u64> {
    let (shape, element) = tensor_type.rsplit_once('x').unwrap_or(("", tensor_type));
    // A bit has a byte in memory.
    let element = if element == "i1" { "i8" } else { element };
    let element: ElementType = element.parse().ok()?;
    let sizes = shape.split('x').filter(|it| !it.is_empty());
    let mut count = 1_u64;
    for size in sizes {
        count = count.checked_mul(size.parse().ok()?)?;
    }
    u64::try_from(element.packed_byte_count(usize::try_from(count).ok()?)?).ok()
}
