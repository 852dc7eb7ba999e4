//! From a function of the source to a graph of values: structured control flow becomes blocks as
//! the compiler makes them, and calls that it inlined are inlined here.
//!
//! An operation whose meaning is not listed here is not known: its results are leaves.

mod loops;

use std::collections::HashMap;
use std::sync::Arc;

use mlir::table::{Control, Global, Meaning as Known, Tensor};

use super::arithmetic::{Pure, Scalar};
use super::folding;
use super::graph::{Block, Edge, Kind, Node, When};
use super::operations::{self, Meaning};
use super::source_graph::{Element, Instance, InstanceIndex, Made, SourceGraph};
use crate::source::SourceText;
use crate::source::functions::{
    LineColumn, OperationIndex, SourceFunction, SourceOperation, SourceRegion, ValueIndex,
    symbol_name,
};

/// Operations of all instances together.
const MOST_OPERATIONS: usize = 60_000;
/// Regions in regions and calls in calls.
const DEEPEST: usize = 96;

/// The calls that remain in the bytecode.
pub(crate) trait Calls {
    /// The number of results of the call that remains at a path; `None` if there is none, or more
    /// than one.
    fn results(&self, path: &[LineColumn]) -> Option<usize>;
}

/// The source that functions are read from.
pub(crate) struct Texts<'s> {
    pub(crate) text: &'s SourceText,
    /// Whether the compiler has demoted f64 to f32.
    pub(crate) is_demoted: bool,
    /// Whether the code is a dispatch, which has only a part of the function.
    pub(crate) is_part: bool,
}

/// Lowers a function.
pub(crate) fn lower(
    sources: &Texts<'_>,
    function: &Arc<SourceFunction>,
    calls: &dyn Calls,
) -> SourceGraph {
    let mut lowering = Lowering {
        sources,
        calls,
        result: SourceGraph::default(),
        functions: HashMap::new(),
        block: 0,
        depth: 0,
        operations: 0,
    };
    lowering.block = lowering.result.graph.add_block();
    let arguments: Vec<Node> = function
        .arguments()
        .iter()
        .map(|value| {
            let scalar = lowering.scalar(function, *value);
            lowering.result.graph.add(Kind::Leaf, scalar, 0)
        })
        .collect();
    let returned = lowering.instance(Vec::new(), function, &arguments);
    lowering.result.is_broken |= returned.is_none();
    lowering.result
}

struct Lowering<'s> {
    sources: &'s Texts<'s>,
    calls: &'s dyn Calls,
    result: SourceGraph,
    functions: HashMap<usize, Option<Arc<SourceFunction>>>,
    /// The block to which operations are added.
    block: Block,
    depth: usize,
    operations: usize,
}

/// Where control leaves a region, under which condition, and with which values.
type Exits = Vec<(Block, When, Vec<Node>)>;

/// An operation in an instance of its function.
#[derive(Clone, Copy)]
struct At<'f> {
    instance: InstanceIndex,
    function: &'f Arc<SourceFunction>,
    operation: OperationIndex,
}

impl<'f> At<'f> {
    fn written(self) -> &'f SourceOperation {
        &self.function.operations[self.operation]
    }

    /// Another operation of the same instance.
    fn with(self, operation: OperationIndex) -> Self {
        Self { operation, ..self }
    }

    /// The first symbol that its head names.
    fn symbol(self) -> Option<String> {
        let head = self.function.head(self.operation);
        let (_, text) = head.iter().find(|(kind, _)| *kind == syntax::TokenKind::Symbol)?;
        Some(symbol_name(text))
    }
}

impl Lowering<'_> {
    fn scalar(&self, function: &SourceFunction, value: ValueIndex) -> Option<Scalar> {
        let scalar = Scalar::parse(function.values.get(value)?.type_text.as_deref()?)?;
        Some(if scalar == Scalar::F64 && self.sources.is_demoted { Scalar::F32 } else { scalar })
    }

    fn leaf(&mut self, scalar: Option<Scalar>) -> Node {
        self.result.graph.add(Kind::Leaf, scalar, self.block)
    }

    fn pure(&mut self, pure: Pure, operands: Vec<Node>, scalar: Option<Scalar>) -> Node {
        let graph = &self.result.graph;
        let pure = folding::as_compiled(graph, self.sources.is_part, pure, &operands);
        // The compiler folds operations on constants, and simplifies loops and branches
        // accordingly.
        let constants: Option<Vec<u64>> = operands.iter().map(|it| self.constant(*it)).collect();
        let folded = constants.and_then(|constants| pure.apply(&constants)).map(Kind::Constant);
        let folded = folded.or_else(|| folding::without_zero(graph, pure, &operands));
        let kind = folded.unwrap_or(Kind::Pure(pure, operands));
        self.result.graph.add(kind, scalar, self.block)
    }

    fn constant(&self, node: Node) -> Option<u64> {
        self.result.graph.constant(node)
    }

    fn bind(&mut self, instance: InstanceIndex, value: ValueIndex, node: Node) {
        self.result.values.insert((instance, value), node);
    }

    fn bind_all(
        &mut self,
        instance: InstanceIndex,
        values: &[ValueIndex],
        nodes: impl IntoIterator<Item = Node>,
    ) {
        for (value, node) in values.iter().zip(nodes) {
            self.bind(instance, *value, node);
        }
    }

    /// Begins a block that control enters from another one.
    fn enter(&mut self, from: Block, when: When) -> Edge {
        self.block = self.result.graph.add_block();
        self.result.graph.add_edge(from, self.block, when)
    }

    /// Lowers the body of a function; returns the values that it returns.
    fn instance(
        &mut self,
        path: Vec<LineColumn>,
        function: &Arc<SourceFunction>,
        arguments: &[Node],
    ) -> Option<Vec<Node>> {
        let instance = self.result.instances.len();
        self.result.instances.push(Instance { path, function: Arc::clone(function) });
        self.bind_all(instance, function.arguments(), arguments.iter().copied());
        let at = At { instance, function, operation: 0 };
        self.body(at, function.operations.first()?.regions.first()?)
    }

    /// Lowers a region from the current block on and continues in a block where its exits meet;
    /// returns the values that it yields. `None` if its control flow is not understood.
    fn body(&mut self, at: At<'_>, region: &SourceRegion) -> Option<Vec<Node>> {
        let exits = self.region(at, region)?;
        Some(self.join(exits))
    }

    /// Joins the exits of a region in one block, and their values in phis.
    fn join(&mut self, exits: Exits) -> Vec<Node> {
        if let [(block, When::Always, values)] = &exits[..] {
            self.block = *block;
            return values.clone();
        }
        self.block = self.result.graph.add_block();
        let count = exits.iter().map(|(.., values)| values.len()).min().unwrap_or(0);
        let mut choices = vec![Vec::new(); count];
        for (block, when, values) in exits {
            let edge = self.result.graph.add_edge(block, self.block, when);
            for (choice, value) in choices.iter_mut().zip(values) {
                choice.push((edge, value));
            }
        }
        choices.into_iter().map(|choice| self.phi(choice)).collect()
    }

    fn phi(&mut self, values: Vec<(Edge, Node)>) -> Node {
        let scalar = values.first().and_then(|(_, node)| self.result.graph.nodes[*node].scalar);
        self.result.graph.add(Kind::Phi(values), scalar, self.block)
    }

    fn add_to_phi(&mut self, phi: Node, edge: Edge, value: Node) {
        if let Kind::Phi(values) = &mut self.result.graph.nodes[phi].kind {
            values.push((edge, value));
        }
    }

    /// Lowers the blocks of a region from the current block on; returns its exits. `None` if its
    /// control flow is not understood.
    fn region(&mut self, at: At<'_>, region: &SourceRegion) -> Option<Exits> {
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        let exits = match &region.blocks[..] {
            [] => Some(vec![(self.block, When::Always, Vec::new())]),
            [only] => {
                let values = self.block_of_operations(at, &only.operations);
                values.map(|values| vec![(self.block, When::Always, values)])
            }
            _ => self.labelled(at, region),
        };
        self.depth -= 1;
        exits
    }

    /// A region with labels.
    fn labelled(&mut self, at: At<'_>, region: &SourceRegion) -> Option<Exits> {
        let order = at.function.order(region);
        let mut heads = vec![self.block];
        for written in region.blocks.iter().skip(1) {
            let head = self.result.graph.add_block();
            heads.push(head);
            for value in &written.arguments {
                let scalar = self.scalar(at.function, *value);
                let phi = self.result.graph.add(Kind::Phi(Vec::new()), scalar, head);
                self.bind(at.instance, *value, phi);
            }
        }
        let mut exits = Vec::new();
        for index in order {
            self.block = heads[index];
            let operations = &region.blocks[index].operations;
            let values = self.block_of_operations(at, operations)?;
            let terminator = at.with(*operations.last()?).written();
            let targets = at.function.successors(region, index);
            match mlir::table::control(&terminator.name) {
                Some(Control::Branch | Control::ConditionalBranch) => {}
                _ if targets.is_empty() => {
                    if !operations::is_end(&terminator.name) {
                        exits.push((self.block, When::Always, values));
                    }
                    continue;
                }
                _ => {
                    for target in targets {
                        self.result.graph.add_edge(self.block, heads[target], When::Unknown);
                    }
                    continue;
                }
            }
            let is_conditional = targets.len() == 2;
            let mut rest = &values[usize::from(is_conditional).min(values.len())..];
            for (number, target) in targets.iter().enumerate() {
                let when = match values.first() {
                    Some(condition) if is_conditional => When::If(*condition, number == 0),
                    _ => When::Always,
                };
                let edge = self.result.graph.add_edge(self.block, heads[*target], when);
                let arguments = &region.blocks[*target].arguments;
                let (own, others) = rest.split_at(arguments.len().min(rest.len()));
                rest = others;
                for (argument, value) in arguments.iter().zip(own) {
                    let phi = self.result.values[&(at.instance, *argument)];
                    self.add_to_phi(phi, edge, *value);
                }
            }
        }
        Some(exits)
    }

    /// Lowers operations up to the terminator; returns the terminator's operands.
    fn block_of_operations(
        &mut self,
        at: At<'_>,
        operations: &[OperationIndex],
    ) -> Option<Vec<Node>> {
        // The pretty form may leave out the terminator.
        let last =
            operations.last().filter(|it| mlir::may_end_block(&at.with(**it).written().name));
        let before = operations.len() - usize::from(last.is_some());
        for operation in &operations[..before] {
            self.operation(at.with(*operation));
        }
        let Some(last) = last else { return Some(Vec::new()) };
        self.result.blocks.insert((at.instance, *last), self.block);
        Some(self.operands(at.with(*last)))
    }

    fn operands(&mut self, at: At<'_>) -> Vec<Node> {
        at.written().operands.iter().map(|value| self.value(at, *value)).collect()
    }

    /// The node of a value of the function.
    fn value(&mut self, at: At<'_>, value: ValueIndex) -> Node {
        if let Some(node) = self.result.values.get(&(at.instance, value)) {
            return *node;
        }
        // Its definition is in a region whose control flow was not understood.
        let scalar = self.scalar(at.function, value);
        let node = self.leaf(scalar);
        self.bind(at.instance, value, node);
        node
    }

    fn operation(&mut self, at: At<'_>) {
        self.result.blocks.insert((at.instance, at.operation), self.block);
        self.operations += 1;
        if self.operations > MOST_OPERATIONS {
            return self.unknown(at);
        }
        let blocks = self.result.graph.incoming.len();
        let name = at.written().name.as_str();
        let done = match mlir::meaning(name) {
            Some(Known::Control(Control::If)) => self.choice(at),
            Some(Known::Control(Control::For)) => self.counted(at),
            Some(Known::Control(Control::While)) => self.repeated(at),
            Some(Known::Control(Control::Call)) => self.call(at),
            Some(Known::Global(Global::Load)) => self.global(at),
            Some(Known::Tensor(Tensor::Dimension)) => self.dimension(at),
            _ if name.starts_with("linalg.") => {
                self.element(at);
                None
            }
            _ => self.computed(at),
        };
        if done.is_none() {
            // Blocks that were begun but not ended would give wrong values to the code after them.
            self.result.is_broken |=
                self.result.graph.incoming.len() != blocks && !name.starts_with("linalg.");
            self.unknown(at);
        }
    }

    /// `linalg.generic … { ^bb0(%in: f32, %out: f32): … linalg.yield %x }`: its body is code of a
    /// dispatch.
    fn element(&mut self, at: At<'_>) -> Option<()> {
        let written = at.written();
        let [region] = &written.regions[..] else { return None };
        let [block] = &region.blocks[..] else { return None };
        if !self.sources.is_part || block.arguments.len() > written.operands.len() {
            return None;
        }
        let mut arguments = Vec::new();
        for value in &block.arguments {
            let scalar = self.scalar(at.function, *value);
            let leaf = self.leaf(scalar);
            self.bind(at.instance, *value, leaf);
            arguments.push(leaf);
        }
        let yielded = self.block_of_operations(at, &block.operations)?;
        self.result.elements.push(Element {
            instance: at.instance,
            operation: at.operation,
            arguments,
            tensors: written.operands.clone(),
            yielded,
            inside: block.operations.clone(),
        });
        Some(())
    }

    /// Makes leaves of the results, to be matched by the operation's location.
    fn unknown(&mut self, at: At<'_>) {
        let At { instance, operation, .. } = at;
        for (result, value) in at.written().results.iter().enumerate() {
            let scalar = self.scalar(at.function, *value);
            let node = self.leaf(scalar);
            self.bind(instance, *value, node);
            self.result.made.push(Made { node, instance, operation, result });
        }
    }

    fn computed(&mut self, at: At<'_>) -> Option<()> {
        let written = at.written();
        let [value] = written.results[..] else { return None };
        let operands = self.operands(at);
        let scalars: Vec<_> =
            operands.iter().map(|node| self.result.graph.nodes[*node].scalar).collect();
        let scalar = self.scalar(at.function, value);
        let head = at.function.head(at.operation);
        let node = match operations::meaning(&written.name, &head, &scalars, scalar) {
            Meaning::Constant(bits) => {
                let bits = match (scalar, self.is_demoted_at(at.function, value)) {
                    (Some(Scalar::F32), true) => operations::demoted(&head)?,
                    _ => bits,
                };
                self.result.graph.add(Kind::Constant(bits), scalar, self.block)
            }
            Meaning::Same => operands.first().copied()?,
            Meaning::Pure(pure) => self.pure(pure, operands, scalar),
            Meaning::Other => return None,
        };
        self.bind(at.instance, value, node);
        Some(())
    }

    fn is_demoted_at(&self, function: &SourceFunction, value: ValueIndex) -> bool {
        let type_text = function.values.get(value).and_then(|it| it.type_text.as_deref());
        self.sources.is_demoted && type_text == Some("f64")
    }

    /// `%r = scf.if %c -> (i64) { … } else { … }`.
    fn choice(&mut self, at: At<'_>) -> Option<()> {
        let written = at.written();
        let condition = *self.operands(at).first()?;
        let before = self.block;
        let mut exits = Exits::new();
        for (region, when) in written.regions.iter().zip([true, false]) {
            self.enter(before, When::If(condition, when));
            exits.extend(self.region(at, region)?);
        }
        if written.regions.len() == 1 {
            exits.push((before, When::If(condition, false), Vec::new()));
        }
        let results = self.join(exits);
        self.bind_all(at.instance, &written.results, results);
        Some(())
    }

    /// Inlines a call, unless it remains in the bytecode.
    fn call(&mut self, at: At<'_>) -> Option<()> {
        let results = &at.written().results;
        let path = self.result.path(at.instance, at.operation);
        if self.calls.results(&path) == Some(results.len()) {
            return None;
        }
        let callee = self.function(&at.symbol()?)?;
        // A function that calls itself cannot have been inlined into itself for ever.
        let is_within = |it: &Instance| Arc::ptr_eq(&it.function, &callee);
        let around = &self.result.instances[at.instance].path;
        let recursion = self.result.instances.iter();
        let is_recursive = recursion.filter(|it| around.starts_with(&it.path)).any(is_within);
        if !callee.is_defined() || is_recursive || self.depth >= DEEPEST {
            return None;
        }
        let arguments = self.operands(at);
        if arguments.len() != callee.arguments().len() {
            return None;
        }
        let returned = self.instance(path, &callee, &arguments)?;
        if returned.len() != results.len() {
            return None;
        }
        self.bind_all(at.instance, results, returned);
        Some(())
    }

    fn function(&mut self, name: &str) -> Option<Arc<SourceFunction>> {
        let index = self.sources.text.written().named(name)?;
        let read = || Some(Arc::new(self.sources.text.read_function(index)?));
        self.functions.entry(index).or_insert_with(read).clone()
    }

    /// The size of a static dimension of a tensor.
    fn dimension(&mut self, at: At<'_>) -> Option<()> {
        let written = at.written();
        let ([tensor, _], [value]) = (&written.operands[..], &written.results[..]) else {
            return None;
        };
        let index = *self.operands(at).get(1)?;
        let index = usize::try_from(self.constant(index)?).ok()?;
        let type_text = at.function.values.get(*tensor)?.type_text.as_deref()?;
        let shape = type_text.strip_prefix("tensor<")?;
        let size = shape.split('x').nth(index)?.parse().ok()?;
        let index_type = Some(Scalar::Int(64));
        let node = self.result.graph.add(Kind::Constant(size), index_type, self.block);
        self.bind(at.instance, *value, node);
        Some(())
    }

    /// A global that is never stored to has the value that it is defined with.
    fn global(&mut self, at: At<'_>) -> Option<()> {
        let [value] = at.written().results[..] else { return None };
        let scalar = self.scalar(at.function, value)?;
        let text = self.sources.text.global(&at.symbol()?)?;
        if text.split('=').next()?.split_whitespace().any(|word| word == "mutable") {
            return None;
        }
        let initial = text.split_once('=')?.1.split(':').next()?.trim();
        let bits = operations::number(initial, scalar)?;
        let node = self.result.graph.add(Kind::Constant(bits), Some(scalar), self.block);
        self.bind(at.instance, value, node);
        Some(())
    }
}
