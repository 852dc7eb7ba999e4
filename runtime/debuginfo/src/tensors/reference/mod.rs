//! The tensors of the source: its functions with all calls inlined, as terms. It is read from the
//! phase `input`, or from the user's own text. [`names`]: what the source calls them;
//! [`identities`] and [`duplicates`]: also where the importer or the compiler leaves them out.
//! [`returned`]: what calls give, [`passed`]: what they and loops are given. [`constructs`]: loops,
//! branches and calls. [`sums`]: tensors on the way to those of the source.

mod constructs;
mod duplicates;
mod identities;
mod names;
mod passed;
mod returned;
mod sums;

use std::collections::HashMap;
use std::sync::Arc;

use mlir::linalg::Loops;
use mlir::table::{Control, Global, Meaning, Tensor};

pub(super) use self::constructs::{Construct, carried_numbers, is_number, step};
use super::program::SourceTensor;
use super::reader::imported;
use super::steps::{Recorded, SourceStep, StepValue, StepValueId, Steps};
use super::symbolic::build::{Builder, Constants, Declared, Scope, Value};
use super::symbolic::maps::{Maps, tensor};
use super::symbolic::terms::{Node, NodeId, NodeKind, Terms};
use crate::mlir_text::{CallChain, LocationReader, NamedPosition, RangeEnd};
use crate::source::SourceText;
use crate::source::functions::{
    FunctionIndex, OperationIndex, SourceFunction, ValueIndex, symbol_name,
};
use crate::tensors::head::Head;

/// Calls nested deeper are not followed.
const DEEPEST: usize = 32;
/// The most times that a function is read to find out which sizes are equal.
const PASSES: usize = 3;
/// The most operations of a function with all calls inlined.
const MOST: usize = 200_000;

/// The source of a program.
pub(super) struct Reference<'r> {
    text: &'r str,
    /// The name of its file, if its operations are where they stand.
    own_file: Option<&'r str>,
    index: FunctionIndex,
    functions: HashMap<usize, SourceFunction>,
    locations: LocationReader<'r>,
    pub(super) maps: Maps<'r>,
    file: &'r dyn Fn(&str) -> Option<Arc<SourceText>>,
    files: HashMap<String, Option<Arc<SourceText>>>,
}

/// A tensor of the source.
#[derive(Clone, Debug)]
pub(super) struct ReferenceValue {
    /// The position of its operation, then of the inlined calls around it.
    pub(super) chain: CallChain,
    /// Where the expressions of Python end that begin at these positions, as far as it is known.
    ends: Vec<RangeEnd>,
    /// The position of what it only moves, padded or in another order.
    pub(super) moves: CallChain,
    pub(super) node: NodeId,
    /// What it is among the steps of its function.
    pub(super) step: Option<StepValueId>,
    pub(super) tensor_type: String,
    /// Its operation, by its number in the function with all calls inlined.
    operation: usize,
    /// What its operation is called.
    pub(super) made_by: String,
    /// Which result of its operation it is.
    result: usize,
    /// Whether nothing uses it, but perhaps other results of its operation.
    is_left_over: bool,
    /// Whether it is not computed: a constant, which the compiler moves to the beginning of a
    /// function, or a tensor without elements yet.
    pub(super) is_written: bool,
    /// Whether an operation at the same place uses it.
    is_inner: bool,
    /// Whether Python's own function computes it, not one that the framework made of that, as for
    /// a batch or a gradient.
    is_direct: bool,
    /// Whether it is an argument of a call that was inlined: another name of what it was given.
    pub(super) is_given: bool,
    pub(super) tensor: Option<SourceTensor>,
}

impl ReferenceValue {
    /// A tensor of which nothing else is known.
    fn of(node: NodeId) -> Self {
        Self {
            chain: CallChain::new(),
            ends: Vec::new(),
            moves: CallChain::new(),
            node,
            step: None,
            tensor_type: String::new(),
            operation: 0,
            made_by: String::new(),
            result: 0,
            is_left_over: false,
            is_written: false,
            is_inner: false,
            is_direct: false,
            is_given: false,
            tensor: None,
        }
    }
}

/// A function of the source.
#[derive(Default)]
pub(super) struct ReferenceFunction {
    pub(super) arguments: Vec<Option<Value>>,
    pub(super) values: Vec<ReferenceValue>,
    pub(super) constructs: Vec<Construct>,
    pub(super) steps: Steps,
    operations: usize,
}

/// What a function returns, as terms and as steps.
type Left = (Vec<Option<Value>>, Vec<Option<StepValueId>>);

/// What reading a function adds to.
struct Walk<'w> {
    terms: &'w mut Terms,
    reshaped: &'w mut HashMap<NodeId, NodeId>,
    function: ReferenceFunction,
}

impl<'r> Reference<'r> {
    pub(super) fn new(
        text: &'r str,
        own_file: Option<&'r str>,
        file: &'r dyn Fn(&str) -> Option<Arc<SourceText>>,
    ) -> Self {
        Self {
            text,
            own_file,
            index: FunctionIndex::scan(text),
            functions: HashMap::new(),
            locations: LocationReader::of(text),
            maps: Maps::of(text),
            file,
            files: HashMap::new(),
        }
    }

    /// A function with all calls inlined.
    pub(super) fn function(
        &mut self,
        name: &str,
        terms: &mut Terms,
        reshaped: &mut HashMap<NodeId, NodeId>,
    ) -> Option<ReferenceFunction> {
        let plain = name.strip_suffix("$async").unwrap_or(name);
        let asynchronous = format!("{plain}$async");
        let index = [name, asynchronous.as_str(), plain]
            .into_iter()
            .find_map(|name| self.index.named(name).filter(|it| self.has_tensors(*it)))?;
        let mut walk = Walk { terms, reshaped, function: ReferenceFunction::default() };
        let read = self.read(index)?;
        let arguments = read.arguments().iter().map(|it| {
            let declared = read.values.get(*it)?.type_text.as_deref()?;
            Some(match tensor_of_argument(declared) {
                Some((shape, element)) => {
                    let shape = walk.terms.shape(&shape);
                    Value::Tensor(walk.terms.input(shape, element))
                }
                None => {
                    let node = walk.terms.input(Vec::new(), declared.to_owned());
                    Value::Scalar(walk.terms.read(node, Vec::new()))
                }
            })
        });
        let arguments: Vec<Option<Value>> = arguments.collect();
        let types = read.arguments().iter().map(|it| read.values.get(*it)?.type_text.clone());
        let types: Vec<Option<String>> = types.collect();
        self.functions.insert(index, read);
        // Sizes that turn out to be equal are so from the beginning.
        for _ in 0..PASSES {
            let known = walk.terms.equal_sizes();
            walk.function =
                ReferenceFunction { arguments: arguments.clone(), ..Default::default() };
            walk.function.steps = Steps::of(types.clone());
            let given: Vec<_> = (0..arguments.len()).map(|it| Some(Steps::argument(it))).collect();
            let read = self.read(index)?;
            self.name_arguments(&read, &mut walk);
            self.functions.insert(index, read);
            self.walk(index, (&arguments, &given), &CallChain::new(), &mut walk);
            if walk.terms.equal_sizes() == known {
                break;
            }
        }
        let mut function = walk.function;
        self.name(&mut function);
        Some(function)
    }

    /// Whether a function computes tensors, and is no wrapper around one that does.
    fn has_tensors(&self, index: usize) -> bool {
        let Some(read) = self.index.read(self.text, index) else { return false };
        let computes = |name: &str| {
            ["linalg.", "tensor.", "flow.", "torch.", "scf.", "func.call", "stablehlo.", "tosa."]
                .iter()
                .any(|it| name.starts_with(it))
                || mlir::meaning(name) == Some(Meaning::Tensor(Tensor::Import))
        };
        read.operations.iter().any(|it| computes(&it.name))
            || read
                .values
                .iter()
                .any(|it| it.type_text.as_deref().is_some_and(|it| it.starts_with("tensor<")))
    }

    fn read(&mut self, index: usize) -> Option<SourceFunction> {
        self.functions.remove(&index).or_else(|| self.index.read(self.text, index))
    }

    /// The position of an operation.
    fn place(&mut self, function: &SourceFunction, operation: OperationIndex) -> CallChain {
        if let Some(file) = self.own_file {
            let place = function.operations.get(operation).map_or((0, 0), |it| it.place);
            return vec![NamedPosition { file: file.to_owned(), line: place.0, column: place.1 }];
        }
        let location = function.location(operation).unwrap_or_default();
        if location.is_empty() {
            return CallChain::new();
        }
        let paths = self.locations.paths_of(location);
        paths.into_iter().next().unwrap_or_default()
    }

    fn walk(
        &mut self,
        index: usize,
        (arguments, given): (&[Option<Value>], &[Option<StepValueId>]),
        calls: &CallChain,
        walk: &mut Walk<'_>,
    ) -> Option<Left> {
        let function = self.read(index)?;
        let outer = walk.function.steps.begin(index, function.arguments(), given);
        let mut scope = Scope { function: &function, values: HashMap::new() };
        for (value, given) in function.arguments().iter().zip(arguments) {
            if let Some(given) = given {
                scope.values.insert(*value, *given);
            }
        }
        if !calls.is_empty() {
            self.name_given(&function, (arguments, given), calls, walk);
        }
        let blocks = function.operations.first()?.regions.first()?.blocks.clone();
        let is_plain = blocks.len() == 1;
        let results = match blocks.first().filter(|_| is_plain) {
            Some(block) => self.block(&mut scope, &block.operations, calls, walk),
            None => None,
        };
        drop(scope);
        self.functions.insert(index, function);
        let ids = walk.function.steps.end(outer);
        results.map(|it| (it, ids))
    }

    /// Reads the operations of a block; returns what it ends with.
    fn block(
        &mut self,
        scope: &mut Scope<'_>,
        operations: &[OperationIndex],
        calls: &CallChain,
        walk: &mut Walk<'_>,
    ) -> Option<Vec<Option<Value>>> {
        let function = scope.function;
        for index in operations {
            let written = function.operations.get(*index)?;
            walk.function.operations += 1;
            if walk.function.operations > MOST {
                return None;
            }
            let mut chain = self.place(function, *index);
            let own = chain.clone();
            chain.extend(calls.iter().cloned());
            match mlir::meaning(&written.name) {
                Some(Meaning::Control(Control::Return | Control::Yield | Control::Condition)) => {
                    walk.function.steps.ends_with(&written.operands);
                    let values = written.operands.iter();
                    return Some(values.map(|it| scope.values.get(it).copied()).collect());
                }
                Some(Meaning::Control(Control::Call)) => {
                    self.call(scope, *index, &chain, walk);
                }
                Some(Meaning::Control(Control::For | Control::If | Control::While)) => {
                    walk.function.steps.operation(function, *index);
                    self.construct(scope, *index, &chain, calls, walk);
                }
                Some(Meaning::Tensor(Tensor::Import)) => self.import(scope, *index, walk),
                Some(Meaning::Global(Global::Load)) => self.global(scope, *index, walk),
                Some(Meaning::Tensor(Tensor::Export)) => continue,
                _ => self.builder(walk).operation(scope, *index),
            }
            walk.function.steps.unless_known(function, *index);
            self.note(scope, *index, &own, &chain, walk);
        }
        None
    }

    fn builder<'b>(&'b self, walk: &'b mut Walk<'_>) -> Builder<'b> {
        Builder {
            terms: walk.terms,
            reshaped: walk.reshaped,
            maps: &self.maps,
            constants: Constants::Written,
        }
    }

    /// Adds the tensors that an operation defines.
    fn note(
        &mut self,
        scope: &Scope<'_>,
        index: OperationIndex,
        own: &CallChain,
        chain: &CallChain,
        walk: &mut Walk<'_>,
    ) {
        let Some(written) = scope.function.operations.get(index) else { return };
        if own.is_empty() {
            return;
        }
        let used: Vec<NodeId> =
            written.operands.iter().filter_map(|it| scope.values.get(it)?.tensor()).collect();
        let from = walk.function.values.len().saturating_sub(64);
        for value in &mut walk.function.values[from..] {
            if value.chain == *chain && used.contains(&value.node) {
                value.is_inner = true;
            }
        }
        let is_direct = self.is_direct(scope.function, index, own);
        let ends = self.ends(scope.function, index, own);
        let mut moves = CallChain::new();
        if matches!(
            mlir::meaning(&written.name),
            Some(Meaning::Tensor(Tensor::Pad) | Meaning::Loops(Loops::Transpose))
        ) {
            let moved = walk.function.values.iter().rev().find(|it| used.first() == Some(&it.node));
            moves = moved.map(|it| it.chain.clone()).unwrap_or_default();
        }
        for (result, value) in written.results.iter().enumerate() {
            let Some(node) = scope.values.get(value).and_then(|it| it.tensor()) else { continue };
            let tensor_type = type_text(walk.terms.node(node));
            let sum = walk.sum_of(node).map(|it| ReferenceValue {
                chain: chain.clone(),
                tensor_type: tensor_type.clone(),
                operation: walk.function.operations,
                ..it
            });
            walk.function.values.extend(sum);
            walk.function.values.push(ReferenceValue {
                chain: chain.clone(),
                ends: ends.clone(),
                moves: moves.clone(),
                step: walk.function.steps.value(*value),
                tensor_type,
                operation: walk.function.operations,
                made_by: called(scope.function, index),
                result,
                is_left_over: written.results.len() > 1 && is_unused(scope.function, *value),
                is_written: matches!(
                    mlir::meaning(&written.name),
                    Some(Meaning::Constant | Meaning::Tensor(Tensor::Empty))
                ),
                is_direct,
                ..ReferenceValue::of(node)
            });
        }
    }

    fn call(
        &mut self,
        scope: &mut Scope<'_>,
        index: OperationIndex,
        chain: &CallChain,
        walk: &mut Walk<'_>,
    ) {
        let Some(written) = scope.function.operations.get(index) else { return };
        let head = scope.function.head(index);
        let callee = head.iter().find(|(_, it)| it.starts_with('@'));
        let callee = callee.and_then(|(_, it)| self.index.named(&symbol_name(it)));
        let arguments: Vec<Option<Value>> =
            written.operands.iter().map(|it| scope.values.get(it).copied()).collect();
        let given: Vec<_> =
            written.operands.iter().map(|it| walk.function.steps.value(*it)).collect();
        let results = match callee.filter(|_| chain.len() < DEEPEST) {
            Some(callee) => self.walk(callee, (&arguments, &given), chain, walk),
            None => None,
        };
        let (results, ids) = results.unwrap_or_default();
        for (value, id) in written.results.iter().zip(ids) {
            walk.function.steps.bind(*value, id);
        }
        let mut construct =
            Construct { chain: chain.clone(), name: "call".to_owned(), ..Default::default() };
        construct.initial = tensors(arguments.into_iter());
        for (at, value) in written.results.iter().enumerate() {
            let known = results.get(at).copied().flatten();
            let known = known.or_else(|| Some(Value::Tensor(unknown(scope, *value, walk.terms)?)));
            if let Some(known) = known {
                scope.values.insert(*value, known);
            }
        }
        construct.results = tensors(written.results.iter().map(|it| scope.values.get(it).copied()));
        walk.function.constructs.push(construct);
    }

    fn import(&mut self, scope: &mut Scope<'_>, index: OperationIndex, walk: &mut Walk<'_>) {
        let function = scope.function;
        let Some(written) = function.operations.get(index) else { return };
        let argument = imported(function, &Head::of(function, index));
        let Some(result) = written.results.first() else { return };
        let Some(declared) = import_shape(function, index) else { return };
        let shape = self.builder(walk).declared_shape(scope, &declared);
        let node = walk.terms.input(shape, declared.element);
        if let Some(slot) = argument.and_then(|at| walk.function.arguments.get_mut(at)) {
            *slot = Some(Value::Tensor(node));
        }
        walk.function.steps.bind(*result, argument.map(Steps::argument));
        scope.values.insert(*result, Value::Tensor(node));
        if let Some(argument) = argument {
            for value in &mut walk.function.values {
                // The argument's name was noted before its tensor was known.
                if value.result == argument && value.tensor_type.is_empty() {
                    value.node = node;
                    value.tensor_type = type_text(walk.terms.node(node));
                    if let Some(tensor) = &mut value.tensor {
                        tensor.tensor_type.clone_from(&value.tensor_type);
                    }
                }
            }
        }
    }

    fn global(&mut self, scope: &mut Scope<'_>, index: OperationIndex, walk: &mut Walk<'_>) {
        let Some(written) = scope.function.operations.get(index) else { return };
        let Some(result) = written.results.first() else { return };
        let declared = scope.function.values.get(*result).and_then(|it| it.type_text.clone());
        let Some((shape, element)) = declared.as_deref().and_then(tensor) else { return };
        let head = scope.function.head(index);
        let symbol = head.iter().find(|(_, it)| it.starts_with('@'));
        let symbol = symbol.map(|(_, it)| symbol_name(it)).unwrap_or_default();
        let mut builder = self.builder(walk);
        let node = global(&mut builder, &self.index, self.text, &symbol, &shape, element);
        scope.values.insert(*result, Value::Tensor(node));
    }

    /// An operation as a step, with its text.
    pub(super) fn written_step(
        &mut self,
        recorded: Recorded,
        place: CallChain,
    ) -> Option<SourceStep> {
        let function = self.read(recorded.function)?;
        let written = |values: Vec<(ValueIndex, StepValueId)>| {
            let written = values.into_iter().filter_map(|(index, value)| {
                let written = function.values.get(index)?;
                let (name, type_text) = (written.name.clone(), written.type_text.clone());
                Some(StepValue { name, type_text, value })
            });
            written.collect()
        };
        let step = SourceStep {
            operation: function.operations.get(recorded.operation)?.name.clone(),
            text: function.operation_text(recorded.operation)?.to_owned(),
            place,
            operands: written(recorded.operands),
            results: written(recorded.results),
        };
        self.functions.insert(recorded.function, function);
        Some(step)
    }
}

fn tensors(values: impl Iterator<Item = Option<Value>>) -> Vec<NodeId> {
    values.filter_map(|it| it?.tensor()).collect()
}

/// Whether no operation of a function uses a value.
fn is_unused(function: &SourceFunction, value: ValueIndex) -> bool {
    !function.operations.iter().any(|it| it.operands.contains(&value))
}

/// A tensor of the declared type of which nothing is known.
fn unknown(scope: &Scope<'_>, value: ValueIndex, terms: &mut Terms) -> Option<NodeId> {
    let declared = scope.function.values.get(value)?.type_text.as_deref()?;
    let (shape, element) = tensor(declared)?;
    let shape = terms.shape(&shape);
    Some(terms.input(shape, element))
}

fn tensor_of_argument(declared: &str) -> Option<(Vec<Option<i64>>, String)> {
    // Attributes may follow the type.
    let end = declared.find("> {").map_or(declared.len(), |at| at + 1);
    tensor(&declared[..end])
}

/// The type of an imported argument.
pub(super) fn import_shape(function: &SourceFunction, index: OperationIndex) -> Option<Declared> {
    let head = Head::of(function, index);
    let start = head.after_arrow()?;
    let listed = head.types(start).into_iter().next()?;
    let (shape, element) = tensor(&listed.text?)?;
    Some(Declared { shape, element, sizes: listed.sizes })
}

/// What an operation is called: the last part of its name, or that of the function of numbers that
/// a loop over elements computes.
fn called(function: &SourceFunction, index: OperationIndex) -> String {
    let Some(operation) = function.operations.get(index) else { return String::new() };
    let short = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let inner = || {
        let block = operation.regions.first()?.blocks.first()?;
        let last = function.operations.get(*block.operations.last()?)?;
        let is_yield = mlir::meaning(&last.name) == Some(Meaning::Control(Control::Yield));
        let yielded = last.operands.first().filter(|_| is_yield)?;
        let (made_by, _) = function.values.get(*yielded)?.definition?;
        Some(short(&function.operations.get(made_by)?.name))
    };
    match mlir::meaning(&operation.name) {
        Some(Meaning::Loops(Loops::Generic)) => inner(),
        _ => None,
    }
    .unwrap_or_else(|| short(&operation.name))
}

/// The tensor of a global.
pub(super) fn global(
    builder: &mut Builder<'_>,
    index: &FunctionIndex,
    text: &str,
    symbol: &str,
    shape: &[Option<i64>],
    element: String,
) -> NodeId {
    let shape = builder.terms.shape(shape);
    let definition = index.global(text, symbol).unwrap_or_default();
    let (head, value) = with_value(definition);
    if head.contains(" mutable ") || definition.is_empty() {
        return builder.terms.input(shape, element);
    }
    let value = value.rsplit_once(" : ").map_or(value, |(value, _)| value);
    // A global that the source declares keeps its name.
    let is_own = !symbol.starts_with("__");
    if is_own && !value.starts_with("dense<") && super::reader::parameter(value).is_none() {
        let kind = NodeKind::Constant(format!("global @{symbol}"));
        return builder.terms.add_node(Node { kind, shape, element, is_constant: true });
    }
    builder.constant_tensor(value, shape, element)
}

/// A definition before and after its `=`, which is none of its attributes:
/// `private @g <policy = #p> {a = #b} = dense<0> : tensor<4xi32>`.
fn with_value(definition: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    for (at, byte) in definition.bytes().enumerate() {
        match byte {
            b'{' | b'<' => depth += 1,
            b'}' | b'>' => depth = depth.saturating_sub(1),
            b'=' if depth == 0 && definition[..at].ends_with(' ') => {
                return (&definition[..at], definition[at + 1..].trim_start());
            }
            _ => {}
        }
    }
    (definition, "")
}

/// `1x?xf32`.
pub(super) fn type_text(node: &Node) -> String {
    let sizes = node.shape.iter().map(|size| match size.as_constant() {
        Some(size) => format!("{size}x"),
        None => "?x".to_owned(),
    });
    sizes.collect::<String>() + &node.element
}
