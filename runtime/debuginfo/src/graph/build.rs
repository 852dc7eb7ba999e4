//! Which operations have boxes, and which tensors lead from one to another.

use std::collections::{HashMap, HashSet, VecDeque};

use abi::element_type::ElementType;

use super::groups::Groups;
use super::origins::{Origins, path_in};
use super::{
    DispatchProgram, FunctionProgram, GraphNode, GraphTensor, GroupedBy, NodeKind, ProgramEdge,
    node_id,
};
use crate::debug_info::DebugInfo;
use crate::tensors::{
    RegionId, TensorFunction, TensorOperation, TensorOperationId, TensorOperationKind,
    TensorProgram, TensorValueId,
};

/// The sizes of boxes.
const DISPATCH: (f32, f32) = (230.0, 78.0);
const SMALL: (f32, f32) = (170.0, 34.0);

/// More edges of one function are not drawn.
const MOST_EDGES: usize = 200_000;

impl DispatchProgram {
    /// The dispatches of a program. `info` knows the framework's names, and where operations came
    /// from.
    #[must_use]
    pub fn of(program: &TensorProgram, info: Option<&DebugInfo>) -> Self {
        let origins = Origins::of(info);
        let functions = program.functions().iter().enumerate();
        let has_dispatches =
            |it: &TensorFunction| it.operations.iter().any(|it| it.export().is_some());
        let functions = functions.filter(|(_, function)| has_dispatches(function));
        let functions = functions.map(|(index, function)| {
            Builder { program, function, index, origins: &origins }.function()
        });
        Self { functions: functions.collect() }
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
    origins: &'p Origins<'p>,
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
    fn function(&self) -> FunctionProgram {
        let mut nodes: Vec<GraphNode> = Vec::new();
        let mut operations: Vec<Option<&TensorOperation>> = Vec::new();
        let mut boxes: HashMap<Maker, usize> = HashMap::new();
        let arguments = self.function.arguments.iter().copied();
        for argument in arguments.filter(|it| self.function.value(*it).is_tensor) {
            boxes.insert(Maker::Argument(argument), nodes.len());
            nodes.push(self.argument(argument));
            operations.push(None);
        }
        let taken = self.taken();
        let is_taken: HashSet<Maker> =
            taken.iter().flat_map(|(_, makers)| makers.iter().map(|(maker, _)| *maker)).collect();
        for (index, operation) in self.function.operations.iter().enumerate() {
            let maker = Maker::Operation(index);
            let is_wanted =
                |kind: &NodeKind| *kind != NodeKind::Weight || is_taken.contains(&maker);
            if let Some(kind) = self.kind(operation).filter(is_wanted) {
                boxes.insert(maker, nodes.len());
                nodes.push(self.node(index, operation, kind));
                operations.push(Some(operation));
            }
        }
        let mut edges = Vec::new();
        for (index, makers) in taken {
            let Some(to) = boxes.get(&Maker::Operation(index)) else { continue };
            let mut known = HashSet::new();
            for (maker, value) in makers {
                let Some(from) = boxes.get(&maker) else { continue };
                if edges.len() < MOST_EDGES && known.insert((*from, value)) {
                    edges.push(ProgramEdge {
                        from: *from,
                        to: *to,
                        tensor: self.tensor(value),
                        value: value.0,
                        is_back: from >= to,
                    });
                }
            }
        }
        let groups = self.groups(&nodes, &operations, &edges);
        FunctionProgram {
            name: self.function.name.clone(),
            index: self.index,
            nodes,
            edges,
            groups,
        }
    }

    /// What makes the tensors that operations with boxes take.
    fn taken(&self) -> Vec<(usize, Vec<(Maker, TensorValueId)>)> {
        let operations = self.function.operations.iter().enumerate();
        let takes =
            operations.filter(|(_, it)| self.kind(it).is_some_and(|kind| kind != NodeKind::Weight));
        let taken = takes.map(|(index, operation)| {
            (index, operation.operands.iter().flat_map(|it| self.makers(*it)).collect())
        });
        taken.collect()
    }

    /// The groups of the boxes. A weight is where those are that take it.
    fn groups(
        &self,
        nodes: &[GraphNode],
        operations: &[Option<&TensorOperation>],
        edges: &[ProgramEdge],
    ) -> Groups {
        let is_inside = |node: &GraphNode| {
            use NodeKind::{Call, Copy, Dispatch, Other};
            matches!(node.kind, Dispatch | Copy | Call | Other)
        };
        let paths = |of: &dyn Fn(&GraphNode, &TensorOperation) -> Option<_>| {
            let all = nodes.iter().zip(operations).map(|(node, operation)| {
                operation.filter(|_| is_inside(node)).and_then(|it| of(node, it))
            });
            all.collect()
        };
        let sources = vec![
            (GroupedBy::Python, paths(&|_, it| self.origins.python(it))),
            (GroupedBy::Names, paths(&|node, _| node.full_name.as_deref().map(path_in))),
            (GroupedBy::Calls, paths(&|_, it| self.origins.calls(it))),
        ];
        let mut groups = Groups::best(nodes, sources);
        // What only moves tensors between boxes of one group has no place of its own.
        let is_placed = |node: usize| {
            nodes[node].kind != NodeKind::Weight
                && (nodes[node].kind == NodeKind::Dispatch || !is_inside(&nodes[node]))
        };
        let mut is_placed: Vec<bool> = (0..nodes.len()).map(is_placed).collect();
        for (placed, group) in is_placed.iter_mut().zip(&groups.of_node) {
            *placed |= group.is_some();
        }
        let mut beside: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for edge in edges.iter().filter(|it| nodes[it.from].kind != NodeKind::Weight) {
            beside[edge.from].push(edge.to);
            beside[edge.to].push(edge.from);
        }
        for node in 0..nodes.len() {
            let own = &beside[node];
            if !is_placed[node] && !own.is_empty() && own.iter().all(|it| is_placed[*it]) {
                groups.of_node[node] = groups.common(own.iter().map(|it| groups.of_node[*it]));
                is_placed[node] = true;
            }
        }
        let mut users: HashMap<usize, Vec<Option<usize>>> = HashMap::new();
        for edge in edges.iter().filter(|it| nodes[it.from].kind == NodeKind::Weight) {
            users.entry(edge.from).or_default().push(groups.of_node[edge.to]);
        }
        for (weight, users) in users {
            groups.of_node[weight] = groups.common(users);
        }
        groups
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
            TensorOperationKind::Constant { .. } | TensorOperationKind::GlobalLoad { .. } => {
                Some(NodeKind::Weight)
            }
            TensorOperationKind::Host { .. }
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
        // What a weight is, it also says where it is taken.
        let outputs = outputs.map(|it| match kind {
            NodeKind::Weight => self.input(*it),
            _ => self.tensor(*it),
        });
        let outputs: Vec<GraphTensor> = outputs.collect();
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
            _ => origin_of(operation).unwrap_or_default(),
        };
        // The ends of the picture are called by what they are, all others by what they make.
        let named = match kind {
            NodeKind::Result => inputs.first(),
            _ => outputs.first(),
        };
        let title = named.and_then(|it| it.name.clone());
        let title = title.unwrap_or_else(|| match &operation.kind {
            TensorOperationKind::Constant { parameter: Some((_, key)) } => key.clone(),
            TensorOperationKind::GlobalLoad { symbol } => format!("@{symbol}"),
            _ => short_name(&done, &self.function.name),
        });
        let sizes = inputs.iter().chain(&outputs).map(|it| it.bytes);
        let bytes = sizes.sum::<Option<u64>>().filter(|_| kind == NodeKind::Dispatch);
        let id = node_id(TensorOperationId { function: self.index, index });
        let place = operation.chains.first().and_then(|chain| chain.first());
        GraphNode {
            operations: operation.export().and_then(|it| self.program.operations_of(it)),
            full_name: self.origins.full_name(operation).filter(|_| kind != NodeKind::Weight),
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
        tensor.origin = self.root(value).1.and_then(origin_of);
        tensor
    }

    fn tensor(&self, value: TensorValueId) -> GraphTensor {
        let known = self.function.value(value);
        let own = |value: TensorValueId| {
            let names = self.function.value(value);
            let part = names.parts.first().map(|it| it.tensor.name.clone());
            let name = names.names.first().map(|it| it.name.clone()).or(part);
            self.origins.label(self.function, value).or(name)
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

/// What makes a tensor, if it is no work.
fn origin_of(operation: &TensorOperation) -> Option<String> {
    match &operation.kind {
        TensorOperationKind::Constant { parameter: Some((scope, key)) } => {
            Some(format!("parameter {scope}::{key}"))
        }
        TensorOperationKind::Constant { .. } => Some("constant".to_owned()),
        TensorOperationKind::GlobalLoad { symbol } => Some(format!("global @{symbol}")),
        TensorOperationKind::Splat => Some("fill".to_owned()),
        _ => None,
    }
}

fn nth_from_end(values: &[TensorValueId], from_end: usize) -> Option<TensorValueId> {
    values.len().checked_sub(from_end).and_then(|at| values.get(at)).copied()
}

/// A box of which nothing is known.
pub(super) fn empty(id: String, kind: NodeKind, title: String) -> GraphNode {
    let is_large = matches!(kind, NodeKind::Dispatch | NodeKind::Group);
    let (width, height) = if is_large { DISPATCH } else { SMALL };
    GraphNode {
        id,
        kind,
        title,
        operation: String::new(),
        full_name: None,
        file: None,
        line: None,
        inputs: Vec::new(),
        outputs: Vec::new(),
        bytes: None,
        operations: None,
        loops: 0,
        group: None,
        dispatches: None,
        is_open: false,
        is_hidden: false,
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
