//! The source as a graph of values: structured control flow becomes blocks as the compiler makes
//! them, calls that it inlined are inlined here.
//!
//! A value of the source has a node in each *instance* of its function: the function itself, and
//! each copy of it that was inlined somewhere. What an operation means that is not listed here is
//! not known: its results are leaves.

use std::collections::HashMap;
use std::sync::Arc;

use super::arithmetic::{Binary, Compare, Pure, Scalar};
use super::graph::{Block, Edge, Graph, Kind, Node, When};
use super::operations::{self, Meaning};
use crate::source::functions::{
    FunctionIndex, LineColumn, OperationIndex, SourceFunction, SourceRegion, ValueIndex,
    symbol_name,
};

/// Operations of all instances together.
const MOST_OPERATIONS: usize = 60_000;
/// Regions in regions and calls in calls.
const DEEPEST: usize = 96;

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
    tensors: Vec<ValueIndex>,
    /// What it makes of them.
    yielded: Vec<Node>,
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

/// What is known of the machine code while the source is lowered.
pub(crate) trait Calls {
    /// How many results the calls have that remain at a place; none if there is no such call.
    fn results(&self, path: &[LineColumn]) -> Option<usize>;
}

/// The text that functions are read from.
pub(crate) struct Texts<'s> {
    pub(crate) file: &'s FunctionIndex,
    pub(crate) text: &'s str,
    /// Whether the compiler made f32 of f64.
    pub(crate) is_demoted: bool,
    /// Whether the code is that of a dispatch, which has a part of the function.
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
    /// Where operations are added.
    block: Block,
    depth: usize,
    operations: usize,
}

/// Where control leaves the blocks of a region, and with which values.
type Exits = Vec<(Block, When, Vec<Node>)>;

impl Lowering<'_> {
    fn scalar(&self, function: &SourceFunction, value: ValueIndex) -> Option<Scalar> {
        let scalar = Scalar::parse(function.values.get(value)?.type_text.as_deref()?)?;
        Some(if scalar == Scalar::F64 && self.sources.is_demoted { Scalar::F32 } else { scalar })
    }

    fn leaf(&mut self, scalar: Option<Scalar>) -> Node {
        self.result.graph.add(Kind::Leaf, scalar, self.block)
    }

    fn pure(&mut self, pure: Pure, operands: Vec<Node>, scalar: Option<Scalar>) -> Node {
        // The compiler has computed what follows from constants, and made loops and ways of it.
        let constants: Option<Vec<u64>> = operands.iter().map(|it| self.constant(*it)).collect();
        let kind = match constants.and_then(|constants| pure.apply(&constants)) {
            Some(bits) => Kind::Constant(bits),
            None => Kind::Pure(pure, operands),
        };
        self.result.graph.add(kind, scalar, self.block)
    }

    fn constant(&self, node: Node) -> Option<u64> {
        match self.result.graph.nodes[self.result.graph.resolve(node)].kind {
            Kind::Constant(bits) => Some(bits),
            _ => None,
        }
    }

    fn bind(&mut self, instance: InstanceIndex, value: ValueIndex, node: Node) {
        self.result.values.insert((instance, value), node);
    }

    /// Lowers the body of a function; gives what it returns.
    fn instance(
        &mut self,
        path: Vec<LineColumn>,
        function: &Arc<SourceFunction>,
        arguments: &[Node],
    ) -> Option<Vec<Node>> {
        let index = self.result.instances.len();
        self.result.instances.push(Instance { path, function: Arc::clone(function) });
        for (value, node) in function.arguments().iter().zip(arguments) {
            self.bind(index, *value, *node);
        }
        let body = function.operations.first()?.regions.first()?;
        let exits = self.region(index, function, body)?;
        Some(self.join(exits))
    }

    /// Brings exits of a region together in one block, and their values.
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

    /// Lowers the blocks of a region from the current block on; gives the ways out of it. None if
    /// control is not understood.
    fn region(
        &mut self,
        instance: InstanceIndex,
        function: &Arc<SourceFunction>,
        region: &SourceRegion,
    ) -> Option<Exits> {
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        let exits = match &region.blocks[..] {
            [] => Some(vec![(self.block, When::Always, Vec::new())]),
            [only] => {
                let values = self.block_of_operations(instance, function, &only.operations);
                values.map(|values| vec![(self.block, When::Always, values)])
            }
            _ => self.labelled(instance, function, region),
        };
        self.depth -= 1;
        exits
    }

    /// A region with labels.
    fn labelled(
        &mut self,
        instance: InstanceIndex,
        function: &Arc<SourceFunction>,
        region: &SourceRegion,
    ) -> Option<Exits> {
        let order = order_of(function, region);
        let mut heads: Vec<Block> = Vec::new();
        for (index, written) in region.blocks.iter().enumerate() {
            let head = if index == 0 { self.block } else { self.result.graph.add_block() };
            heads.push(head);
            if index == 0 {
                continue;
            }
            for value in &written.arguments {
                let scalar = self.scalar(function, *value);
                let phi = self.result.graph.add(Kind::Phi(Vec::new()), scalar, head);
                self.bind(instance, *value, phi);
            }
        }
        let mut exits = Vec::new();
        for index in order {
            self.block = heads[index];
            let operations = &region.blocks[index].operations;
            let values = self.block_of_operations(instance, function, operations)?;
            let terminator = &function.operations[*operations.last()?];
            let targets = function.successors(region, index);
            match terminator.name.as_str() {
                "cf.br" | "vm.br" | "cf.cond_br" | "vm.cond_br" => {}
                _ if targets.is_empty() => {
                    if !is_end(&terminator.name) {
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
                    let phi = self.result.values[&(instance, *argument)];
                    if let Kind::Phi(values) = &mut self.result.graph.nodes[phi].kind {
                        values.push((edge, *value));
                    }
                }
            }
        }
        Some(exits)
    }

    /// Lowers operations up to the terminator; gives the terminator's operands.
    fn block_of_operations(
        &mut self,
        instance: InstanceIndex,
        function: &Arc<SourceFunction>,
        operations: &[OperationIndex],
    ) -> Option<Vec<Node>> {
        // A block may end without a terminator, where the form implies it.
        let last = operations.last().filter(|it| is_terminator(&function.operations[**it].name));
        let before = operations.len() - usize::from(last.is_some());
        for operation in &operations[..before] {
            self.operation(instance, function, *operation);
        }
        let Some(last) = last else { return Some(Vec::new()) };
        self.result.blocks.insert((instance, *last), self.block);
        Some(self.operands(instance, function, *last))
    }

    fn operands(
        &mut self,
        instance: InstanceIndex,
        function: &SourceFunction,
        operation: OperationIndex,
    ) -> Vec<Node> {
        let operands = function.operations[operation].operands.clone();
        operands.into_iter().map(|value| self.value(instance, function, value)).collect()
    }

    fn value(
        &mut self,
        instance: InstanceIndex,
        function: &SourceFunction,
        value: ValueIndex,
    ) -> Node {
        if let Some(node) = self.result.values.get(&(instance, value)) {
            return *node;
        }
        // Made where control was not understood.
        let scalar = self.scalar(function, value);
        let node = self.leaf(scalar);
        self.bind(instance, value, node);
        node
    }

    fn operation(
        &mut self,
        instance: InstanceIndex,
        function: &Arc<SourceFunction>,
        operation: OperationIndex,
    ) {
        self.result.blocks.insert((instance, operation), self.block);
        self.operations += 1;
        let written = &function.operations[operation];
        if self.operations > MOST_OPERATIONS {
            return self.unknown(instance, function, operation);
        }
        let blocks = self.result.graph.incoming.len();
        let done = match written.name.as_str() {
            "scf.if" => self.choice(instance, function, operation),
            "scf.for" => self.counted(instance, function, operation),
            "scf.while" => self.repeated(instance, function, operation),
            "util.call" | "func.call" | "call" => self.call(instance, function, operation),
            "util.global.load" => self.global(instance, function, operation),
            "tensor.dim" => self.dimension(instance, function, operation),
            name if name.starts_with("linalg.") => {
                self.element(instance, function, operation);
                None
            }
            _ => self.computed(instance, function, operation),
        };
        if done.is_none() {
            // Blocks that were begun and not ended would make other values of what follows.
            self.result.is_broken |=
                self.result.graph.incoming.len() != blocks && !written.name.starts_with("linalg.");
            self.unknown(instance, function, operation);
        }
    }

    /// `linalg.generic … { ^bb0(%in: f32, %out: f32): … linalg.yield %x }`: its body is code of a
    /// dispatch.
    fn element(
        &mut self,
        instance: InstanceIndex,
        function: &Arc<SourceFunction>,
        operation: OperationIndex,
    ) -> Option<()> {
        let written = &function.operations[operation];
        let [region] = &written.regions[..] else { return None };
        let [block] = &region.blocks[..] else { return None };
        if !self.sources.is_part || block.arguments.len() > written.operands.len() {
            return None;
        }
        let mut arguments = Vec::new();
        for value in &block.arguments {
            let scalar = self.scalar(function, *value);
            let leaf = self.leaf(scalar);
            self.bind(instance, *value, leaf);
            arguments.push(leaf);
        }
        let yielded = self.block_of_operations(instance, function, &block.operations)?;
        self.result.elements.push(Element {
            instance,
            operation,
            arguments,
            tensors: written.operands.clone(),
            yielded,
            inside: block.operations.clone(),
        });
        Some(())
    }

    /// The results are leaves, to be found by the operation's place.
    fn unknown(
        &mut self,
        instance: InstanceIndex,
        function: &Arc<SourceFunction>,
        operation: OperationIndex,
    ) {
        for (result, value) in function.operations[operation].results.iter().enumerate() {
            let scalar = self.scalar(function, *value);
            let node = self.leaf(scalar);
            self.bind(instance, *value, node);
            self.result.made.push(Made { node, instance, operation, result });
        }
    }

    fn computed(
        &mut self,
        instance: InstanceIndex,
        function: &Arc<SourceFunction>,
        operation: OperationIndex,
    ) -> Option<()> {
        let written = &function.operations[operation];
        let [value] = written.results[..] else { return None };
        let operands = self.operands(instance, function, operation);
        let scalars: Vec<_> =
            operands.iter().map(|node| self.result.graph.nodes[*node].scalar).collect();
        let scalar = self.scalar(function, value);
        let head = function.head(operation);
        let node = match operations::meaning(&written.name, &head, &scalars, scalar) {
            Meaning::Constant(bits) => {
                let bits = match (scalar, self.is_demoted_at(function, value)) {
                    (Some(Scalar::F32), true) => demoted(&head)?,
                    _ => bits,
                };
                self.result.graph.add(Kind::Constant(bits), scalar, self.block)
            }
            Meaning::Same => operands.first().copied()?,
            Meaning::Pure(pure) => self.pure(pure, operands, scalar),
            Meaning::Other => return None,
        };
        self.bind(instance, value, node);
        Some(())
    }

    fn is_demoted_at(&self, function: &SourceFunction, value: ValueIndex) -> bool {
        let type_text = function.values.get(value).and_then(|it| it.type_text.as_deref());
        self.sources.is_demoted && type_text == Some("f64")
    }

    /// `%r = scf.if %c -> (i64) { … } else { … }`.
    fn choice(
        &mut self,
        instance: InstanceIndex,
        function: &Arc<SourceFunction>,
        operation: OperationIndex,
    ) -> Option<()> {
        let written = &function.operations[operation];
        let condition = *self.operands(instance, function, operation).first()?;
        let before = self.block;
        let mut exits = Exits::new();
        for (region, when) in written.regions.iter().zip([true, false]) {
            self.block = self.result.graph.add_block();
            self.result.graph.add_edge(before, self.block, When::If(condition, when));
            exits.extend(self.region(instance, function, region)?);
        }
        if written.regions.len() == 1 {
            exits.push((before, When::If(condition, false), Vec::new()));
        }
        let results = self.join(exits);
        for (value, node) in written.results.iter().zip(results) {
            self.bind(instance, *value, node);
        }
        Some(())
    }

    /// `%r = scf.for %i = %low to %high step %step iter_args(%a = %n) -> (i64) { … }`.
    fn counted(
        &mut self,
        instance: InstanceIndex,
        function: &Arc<SourceFunction>,
        operation: OperationIndex,
    ) -> Option<()> {
        let written = &function.operations[operation];
        let ((counter, Some(low)), carried) = written.initial.split_first()? else { return None };
        let mut bounds = self.operands(instance, function, operation).into_iter();
        let low = self.value(instance, function, *low);
        // The head names the lower bound, which is the counter's beginning, and then these; the
        // beginnings of what is carried come after them.
        let named: Vec<Node> = bounds.by_ref().collect();
        let [_, high, step, ..] = named[..] else { return None };
        let scalar = self.scalar(function, *counter);
        let initial: Vec<Node> = carried
            .iter()
            .map(|(_, value)| Some(self.value(instance, function, (*value)?)))
            .collect::<Option<_>>()?;

        match self.turns(low, high, step) {
            Some(0) => {
                for (value, node) in written.results.iter().zip(initial) {
                    self.bind(instance, *value, node);
                }
                return Some(());
            }
            // The compiler makes no loop of it.
            Some(1) => {
                self.bind(instance, *counter, low);
                for ((value, _), node) in carried.iter().zip(initial) {
                    self.bind(instance, *value, node);
                }
                let exits = self.region(instance, function, written.regions.first()?)?;
                let yielded = self.join(exits);
                for (value, node) in written.results.iter().zip(yielded) {
                    self.bind(instance, *value, node);
                }
                return Some(());
            }
            _ => {}
        }
        let before = self.block;
        let head = self.result.graph.add_block();
        let entry = self.result.graph.add_edge(before, head, When::Always);
        self.block = head;
        let count = self.phi(vec![(entry, low)]);
        self.bind(instance, *counter, count);
        let mut phis = Vec::new();
        for ((value, _), initial) in carried.iter().zip(initial) {
            let phi = self.phi(vec![(entry, initial)]);
            self.bind(instance, *value, phi);
            phis.push(phi);
        }
        let less = Pure::Compare(Compare::Slt, scalar?);
        let goes_on = self.pure(less, vec![count, high], Some(Scalar::Int(1)));
        let body = self.result.graph.add_block();
        self.result.graph.add_edge(head, body, When::If(goes_on, true));
        self.block = body;
        let exits = self.region(instance, function, written.regions.first()?)?;
        let yielded = self.join(exits);
        let next = Pure::Binary(Binary::Add, scalar?);
        let next = self.pure(next, vec![count, step], scalar);
        let back = self.result.graph.add_edge(self.block, head, When::Always);
        for (phi, value) in [count].iter().chain(&phis).zip([next].into_iter().chain(yielded)) {
            if let Kind::Phi(values) = &mut self.result.graph.nodes[*phi].kind {
                values.push((back, value));
            }
        }
        let after = self.result.graph.add_block();
        self.result.graph.add_edge(head, after, When::If(goes_on, false));
        self.block = after;
        for (value, phi) in written.results.iter().zip(phis) {
            self.bind(instance, *value, phi);
        }
        Some(())
    }

    /// How many turns a loop takes, where its text says so and they are at most two.
    fn turns(&self, low: Node, high: Node, step: Node) -> Option<u64> {
        let graph = &self.result.graph;
        if graph.resolve(low) == graph.resolve(high) {
            return Some(0);
        }
        let constant = |node: Node| self.constant(node).map(|bits| bits as i64);
        let (low, high, step) = (constant(low)?, constant(high)?, constant(step)?);
        if low >= high {
            return Some(0);
        }
        let second = low.checked_add(step).filter(|_| step > 0)?;
        (second >= high).then_some(1)
    }

    /// `%r = scf.while (%k = %n) : (i64) -> i64 { … scf.condition(%c) %k } do { … }`.
    fn repeated(
        &mut self,
        instance: InstanceIndex,
        function: &Arc<SourceFunction>,
        operation: OperationIndex,
    ) -> Option<()> {
        let written = &function.operations[operation];
        let [test, turn] = &written.regions[..] else { return None };
        let initial: Vec<Node> = written
            .initial
            .iter()
            .map(|(_, value)| Some(self.value(instance, function, (*value)?)))
            .collect::<Option<_>>()?;
        let before = self.block;
        let head = self.result.graph.add_block();
        let entry = self.result.graph.add_edge(before, head, When::Always);
        self.block = head;
        let mut phis = Vec::new();
        let taken = test.blocks.first()?.arguments.clone();
        for (value, initial) in taken.iter().zip(initial) {
            let phi = self.phi(vec![(entry, initial)]);
            self.bind(instance, *value, phi);
            phis.push(phi);
        }
        let exits = self.region(instance, function, test)?;
        let passed = self.join(exits);
        let (condition, passed) = passed.split_first()?;
        let decided = self.block;
        let body = self.result.graph.add_block();
        self.result.graph.add_edge(decided, body, When::If(*condition, true));
        self.block = body;
        for (value, node) in turn.blocks.first()?.arguments.iter().zip(passed) {
            self.bind(instance, *value, *node);
        }
        let exits = self.region(instance, function, turn)?;
        let yielded = self.join(exits);
        let back = self.result.graph.add_edge(self.block, head, When::Always);
        for (phi, value) in phis.iter().zip(yielded) {
            if let Kind::Phi(values) = &mut self.result.graph.nodes[*phi].kind {
                values.push((back, value));
            }
        }
        let after = self.result.graph.add_block();
        self.result.graph.add_edge(decided, after, When::If(*condition, false));
        self.block = after;
        for (value, node) in written.results.iter().zip(passed) {
            self.bind(instance, *value, *node);
        }
        Some(())
    }

    /// A call that remains is a leaf; others are gone into.
    fn call(
        &mut self,
        instance: InstanceIndex,
        function: &Arc<SourceFunction>,
        operation: OperationIndex,
    ) -> Option<()> {
        let written = &function.operations[operation];
        let mut path = self.result.instances[instance].path.clone();
        path.push(written.place);
        if self.calls.results(&path) == Some(written.results.len()) {
            return None;
        }
        let head = function.head(operation);
        let symbol = head.iter().find(|(kind, _)| *kind == syntax::TokenKind::Symbol)?;
        let callee = self.function(&symbol_name(symbol.1))?;
        // A function that calls itself cannot have been inlined into itself for ever.
        let is_within = |it: &Instance| Arc::ptr_eq(&it.function, &callee);
        let around = &self.result.instances[instance].path;
        let recursion = self.result.instances.iter();
        let is_recursive = recursion.filter(|it| around.starts_with(&it.path)).any(is_within);
        if !callee.is_defined() || is_recursive || self.depth >= DEEPEST {
            return None;
        }
        let arguments = self.operands(instance, function, operation);
        if arguments.len() != callee.arguments().len() {
            return None;
        }
        let returned = self.instance(path, &callee, &arguments)?;
        if returned.len() != written.results.len() {
            return None;
        }
        for (value, node) in written.results.iter().zip(returned) {
            self.bind(instance, *value, node);
        }
        Some(())
    }

    fn function(&mut self, name: &str) -> Option<Arc<SourceFunction>> {
        let index = self.sources.file.named(name)?;
        let read = || Some(Arc::new(self.sources.file.read(self.sources.text, index)?));
        self.functions.entry(index).or_insert_with(read).clone()
    }

    /// The size of a tensor that its type says.
    fn dimension(
        &mut self,
        instance: InstanceIndex,
        function: &Arc<SourceFunction>,
        operation: OperationIndex,
    ) -> Option<()> {
        let written = &function.operations[operation];
        let ([tensor, _], [value]) = (&written.operands[..], &written.results[..]) else {
            return None;
        };
        let index = *self.operands(instance, function, operation).get(1)?;
        let index = usize::try_from(self.constant(index)?).ok()?;
        let type_text = function.values.get(*tensor)?.type_text.as_deref()?;
        let shape = type_text.strip_prefix("tensor<")?;
        let size = shape.split('x').nth(index)?.parse().ok()?;
        let index_type = Some(Scalar::Int(64));
        let node = self.result.graph.add(Kind::Constant(size), index_type, self.block);
        self.bind(instance, *value, node);
        Some(())
    }

    /// A global that nobody stores to has the value that it is defined with.
    fn global(
        &mut self,
        instance: InstanceIndex,
        function: &Arc<SourceFunction>,
        operation: OperationIndex,
    ) -> Option<()> {
        let [value] = function.operations[operation].results[..] else { return None };
        let scalar = self.scalar(function, value)?;
        let head = function.head(operation);
        let symbol = head.iter().find(|(kind, _)| *kind == syntax::TokenKind::Symbol)?;
        let text = self.sources.file.global(self.sources.text, &symbol_name(symbol.1))?;
        if text.split('=').next()?.split_whitespace().any(|word| word == "mutable") {
            return None;
        }
        let initial = text.split_once('=')?.1.split(':').next()?.trim();
        let bits = operations::number(initial, scalar)?;
        let node = self.result.graph.add(Kind::Constant(bits), Some(scalar), self.block);
        self.bind(instance, value, node);
        Some(())
    }
}

impl SourceGraph {
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

/// The bits of a constant that was written as f64 and became f32.
fn demoted(head: &operations::Head<'_>) -> Option<u64> {
    let Meaning::Constant(bits) =
        operations::meaning("arith.constant", head, &[], Some(Scalar::F64))
    else {
        return None;
    };
    Some(u64::from((f64::from_bits(bits) as f32).to_bits()))
}

/// Whether an operation ends its block.
fn is_terminator(name: &str) -> bool {
    const LAST: [&str; 12] = [
        "yield",
        "return",
        "br",
        "cond_br",
        "switch",
        "condition",
        "unreachable",
        "reduce",
        "fail",
        "br_table",
        "in_parallel",
        "terminator",
    ];
    let last = name.rsplit('.').next().unwrap_or(name);
    LAST.contains(&last) && !name.starts_with("linalg.reduce")
}

/// Whether control ends with an operation, rather than returning values.
fn is_end(name: &str) -> bool {
    matches!(name, "util.unreachable" | "llvm.unreachable" | "ub.unreachable" | "vm.fail")
}

/// The blocks of a region that can be reached, each after one that leads to it, and after all of
/// those where there is no loop.
fn order_of(function: &SourceFunction, region: &SourceRegion) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; region.blocks.len()];
    let mut stack = Vec::new();
    if !seen.is_empty() {
        seen[0] = true;
        stack.push((0, function.successors(region, 0)));
    }
    while let Some((block, mut rest)) = stack.pop() {
        match rest.pop() {
            Some(next) => {
                stack.push((block, rest));
                if !std::mem::replace(&mut seen[next], true) {
                    stack.push((next, function.successors(region, next)));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}
