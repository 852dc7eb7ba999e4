//! Which value of an import is which tensor of the ONNX model that it was made from.
//!
//! The importer writes arguments, constants and nodes in the order of the model, one operation
//! each. A node gives its names if the operation in its place is of its kind, and has the values of
//! its inputs for operands.
//!
//! The importer may have brought the model to a newer version of ONNX first:
//!
//! - some attributes are operands now: constants that no node made, and that follow a node's own
//!   operands, are passed over;
//! - a node may have become several operations, one of its own kind among others that bring its
//!   input and result into form, as a Softmax of version 12 has. They stand for it if they compute
//!   one value only, and of its inputs alone.
//!
//! What else does not agree has no names, nor has what depends on it; the rest has.

use std::collections::{HashMap, HashSet};

use syntax::TokenKind;

use super::NodeName;
use super::mismatch::Mismatch;
use super::onnx::{Attribute, Graph, Node, Tensor};
use crate::source::functions::{SourceFunction, SourceOperation, ValueIndex, symbol_name};

/// The kind of an operation that has its result in the text.
const CONSTANT: &str = "onnx.Constant";

/// A node has become at most so many operations; at most so many nodes or operations are passed
/// over at once where a text and a model do not agree.
const MOST_BETWEEN: usize = 16;

/// The names of a function's values, by their names in the text; and where text and model first
/// part, if they do.
pub(super) type Named = (HashMap<String, NodeName>, Option<Mismatch>);

/// Names the values of a function.
///
/// # Errors
/// The function was not made from this model: no node agrees.
pub(super) fn names(function: &SourceFunction, graph: &Graph) -> Result<Named, Mismatch> {
    let body = function.operations.first().and_then(|it| it.regions.first());
    let block = body.and_then(|body| body.blocks.first()).ok_or(Mismatch::Empty)?;
    let operations = block.operations.iter().filter_map(|at| {
        let operation = function.operations.get(*at)?;
        let is_none = operation.name == "torch.constant.none";
        (!is_none).then(|| Step { operation, kind: operation_kind(function, *at) })
    });
    let mut steps: Vec<Step<'_>> = operations.collect();
    let end = steps.pop().ok_or(Mismatch::Empty)?;
    let constants: HashSet<&str> = graph.initializer.iter().map(|it| it.name.as_str()).collect();
    if constants.len() != graph.initializer.len() {
        return Err(Mismatch::TwoOfOneName);
    }
    let given = graph.initializer.iter().map(Origin::Initializer);
    let origins: Vec<Origin<'_>> = given.chain(graph.node.iter().map(Origin::Node)).collect();
    let mut import = Import::new(function, &steps, end.operation);
    import.arguments(graph)?;
    import.walk(&origins);
    let returned = graph.output.iter().map(|it| import.known.get(it.name.as_str()).copied());
    let is_return = end.operation.name.ends_with("return");
    let has_results =
        is_return && returned.eq(end.operation.operands.iter().map(|value| Some(*value)));
    let parted = import.parted.or((!has_results).then_some(Mismatch::OtherResults));
    match parted {
        Some(parted) if import.agreed == 0 => Err(parted),
        parted => Ok((import.names, parted)),
    }
}

/// What an operation was made from.
#[derive(Clone, Copy)]
enum Origin<'g> {
    Initializer(&'g Tensor),
    Node(&'g Node),
}

impl<'g> Origin<'g> {
    fn is_constant(self) -> bool {
        self.tensor().is_some()
    }

    /// The tensor of a constant.
    fn tensor(self) -> Option<&'g Tensor> {
        match self {
            Self::Initializer(tensor) => Some(tensor),
            Self::Node(node) => tensor_of_constant(node),
        }
    }

    fn node(self) -> Option<&'g Node> {
        match self {
            Self::Node(node) if !self.is_constant() => Some(node),
            _ => None,
        }
    }

    /// The names of what it makes.
    fn outputs(self) -> Vec<&'g str> {
        match self {
            Self::Initializer(tensor) => vec![&tensor.name],
            Self::Node(node) => node.output.iter().map(String::as_str).collect(),
        }
    }
}

/// The tensor of a node that is imported as an initializer is.
fn tensor_of_constant(node: &Node) -> Option<&Tensor> {
    let is_value = |it: &&Attribute| node.op_type == "Constant" && it.name == "value";
    node.attribute.iter().find(is_value)?.tensor.as_ref()
}

impl std::fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Initializer(tensor) => write!(f, "its constant {:?}", tensor.name),
            Self::Node(node) => write!(f, "its node {:?} ({})", node.name, node.op_type),
        }
    }
}

/// An operation of the text.
struct Step<'f> {
    operation: &'f SourceOperation,
    /// As in `onnx.Relu`.
    kind: String,
}

struct Import<'g, 'f> {
    function: &'f SourceFunction,
    steps: &'f [Step<'f>],
    /// The steps that use a value; the number of steps is the end of the function.
    users: HashMap<ValueIndex, Vec<usize>>,
    /// The values by the names of the model.
    known: HashMap<&'g str, ValueIndex>,
    /// Constants that are not the model's own.
    added: HashSet<ValueIndex>,
    /// What is known, by the names of the text.
    names: HashMap<String, NodeName>,
    /// How many nodes agree.
    agreed: usize,
    /// Where text and model first part.
    parted: Option<Mismatch>,
}

impl<'g, 'f> Import<'g, 'f> {
    fn new(function: &'f SourceFunction, steps: &'f [Step<'f>], end: &SourceOperation) -> Self {
        let mut users: HashMap<ValueIndex, Vec<usize>> = HashMap::new();
        for (at, operation) in steps.iter().map(|it| it.operation).chain([end]).enumerate() {
            operation.operands.iter().for_each(|it| users.entry(*it).or_default().push(at));
        }
        let (known, added, names) = Default::default();
        Self { function, steps, users, known, added, names, agreed: 0, parted: None }
    }

    fn arguments(&mut self, graph: &'g Graph) -> Result<(), Mismatch> {
        let is_constant =
            |name: &str| graph.initializer.iter().any(|constant| constant.name == name);
        let inputs: Vec<&str> =
            graph.input.iter().map(|it| it.name.as_str()).filter(|it| !is_constant(it)).collect();
        let arguments = self.function.arguments();
        if inputs.len() != arguments.len() {
            return Err(Mismatch::Inputs { theirs: inputs.len(), ours: arguments.len() });
        }
        for (name, value) in inputs.into_iter().zip(arguments) {
            self.bind(name, *value);
        }
        Ok(())
    }

    /// Goes through the model and the text.
    fn walk(&mut self, origins: &[Origin<'g>]) {
        let (mut next, mut at) = (0, 0);
        while let Some(origin) = origins.get(next).copied() {
            if !origin.is_constant() {
                at = self.without_added(at);
            }
            if self.agrees(origin, at) {
                self.take(origin, at);
                (next, at) = (next + 1, at + 1);
            } else if let Some((value, end)) = self.rewritten(origin, origins.get(next + 1), at) {
                self.names_of_node(origin, &[value]);
                (next, at) = (next + 1, end);
            } else {
                self.part(match self.steps.get(at) {
                    Some(step) => Mismatch::Differs {
                        origin: origin.to_string(),
                        line: step.operation.place.0,
                    },
                    None => Mismatch::TextEnds { origin: origin.to_string() },
                });
                match self.meet(&origins[next..], at) {
                    Some((nodes, steps)) => (next, at) = (next + nodes, at + steps),
                    None => return,
                }
            }
        }
        if let Some(step) = self.steps.get(self.without_added(at)) {
            self.part(Mismatch::ModelEnds { line: step.operation.place.0 });
        }
    }

    fn part(&mut self, mismatch: Mismatch) {
        self.parted.get_or_insert(mismatch);
    }

    /// The next step that is no constant of the importer's.
    fn without_added(&mut self, mut at: usize) -> usize {
        while let Some(step) = self.steps.get(at).filter(|step| step.kind == CONSTANT) {
            self.added.extend(&step.operation.results);
            at += 1;
        }
        at
    }

    /// How many nodes and steps are passed over until a node agrees that has the value of another
    /// one for input.
    fn meet(&self, origins: &[Origin<'g>], at: usize) -> Option<(usize, usize)> {
        let is_bound = |name: &String| {
            self.known.get(name.as_str()).is_some_and(|value| !self.is_made_constant(*value))
        };
        let mut between =
            (1..=MOST_BETWEEN).flat_map(|nodes| (0..=MOST_BETWEEN).map(move |it| (nodes, it)));
        between.find(|(nodes, steps)| {
            let origin = origins.get(*nodes).copied();
            origin.is_some_and(|origin| {
                self.agrees(origin, at + steps)
                    && origin.node().is_some_and(|node| node.input.iter().any(is_bound))
            })
        })
    }

    /// The value that several steps compute for a node, and the step after them.
    fn rewritten(
        &mut self,
        origin: Origin<'g>,
        following: Option<&Origin<'g>>,
        at: usize,
    ) -> Option<(ValueIndex, usize)> {
        let node = origin.node()?;
        let [output] = node.output.iter().filter(|it| !it.is_empty()).collect::<Vec<_>>()[..]
        else {
            return None;
        };
        let inputs: Option<HashSet<ValueIndex>> = node
            .input
            .iter()
            .filter(|it| !it.is_empty())
            .map(|name| self.known.get(name.as_str()).copied())
            .collect();
        let inputs = inputs?;
        for end in at + 2..=(at + MOST_BETWEEN).min(self.steps.len()) {
            let Some(value) = self.only_result(at..end, &inputs, &node.op_type) else { continue };
            let fits = match following {
                None => end == self.steps.len(),
                Some(following) => {
                    let before = self.known.insert(output, value);
                    let after = if following.is_constant() { end } else { self.without_added(end) };
                    let fits = self.agrees(*following, after);
                    match before {
                        Some(before) => self.known.insert(output, before),
                        None => self.known.remove(output.as_str()),
                    };
                    fits
                }
            };
            if fits {
                return Some((value, end));
            }
        }
        None
    }

    /// The only value of some steps that others use, if they compute it of these inputs and of
    /// constants alone, and one of them is of a kind.
    fn only_result(
        &self,
        range: std::ops::Range<usize>,
        inputs: &HashSet<ValueIndex>,
        kind: &str,
    ) -> Option<ValueIndex> {
        let steps = self.steps.get(range.clone())?;
        let made: HashSet<ValueIndex> =
            steps.iter().flat_map(|it| it.operation.results.iter().copied()).collect();
        let is_known = |it: &ValueIndex| {
            made.contains(it) || inputs.contains(it) || self.added.contains(it) || self.is_none(*it)
        };
        let is_of_inputs = steps.iter().all(|it| it.operation.operands.iter().all(is_known));
        let has_kind = steps.iter().any(|it| it.kind.strip_prefix("onnx.") == Some(kind));
        let is_used = |it: &&ValueIndex| {
            self.users.get(it).is_some_and(|users| users.iter().any(|at| *at >= range.end))
        };
        let used: Vec<&ValueIndex> = made.iter().filter(is_used).collect();
        match used[..] {
            [value] if is_of_inputs && has_kind => Some(*value),
            _ => None,
        }
    }

    /// Whether a step is what a constant or a node was imported as.
    fn agrees(&self, origin: Origin<'g>, at: usize) -> bool {
        let Some(Step { operation, kind }) = self.steps.get(at) else { return false };
        match (origin.tensor(), origin) {
            (Some(tensor), _) => self.is_constant(operation, kind, tensor),
            (None, Origin::Node(node)) => self.is_node(operation, kind, node),
            (None, Origin::Initializer(_)) => false,
        }
    }

    fn is_constant(&self, operation: &SourceOperation, kind: &str, tensor: &Tensor) -> bool {
        let [result] = operation.results[..] else { return false };
        let dims: Vec<String> = tensor.dims.iter().map(i64::to_string).collect();
        let shape = format!("!torch.vtensor<[{}],", dims.join(","));
        let declared = self.function.values.get(result).and_then(|it| it.type_text.as_deref());
        kind == CONSTANT
            && operation.operands.is_empty()
            && declared.is_some_and(|it| it.starts_with(&shape))
    }

    fn is_node(&self, operation: &SourceOperation, kind: &str, node: &Node) -> bool {
        let is_input = |(name, given): (&String, &ValueIndex)| match name.as_str() {
            "" => self.is_none(*given),
            name => self.known.get(name) == Some(given),
        };
        let operands = operation.operands.split_at_checked(node.input.len());
        operands.is_some_and(|(own, added)| {
            kind.strip_prefix("onnx.") == Some(&node.op_type)
                && node.input.iter().zip(own).all(is_input)
                && added.iter().all(|it| self.added.contains(it) || self.is_none(*it))
                && operation.results.len() == node.output.len()
        })
    }

    /// A step is what a constant or a node was imported as.
    fn take(&mut self, origin: Origin<'g>, at: usize) {
        let Some(step) = self.steps.get(at) else { return };
        self.names_of_node(origin, &step.operation.results);
    }

    fn names_of_node(&mut self, origin: Origin<'g>, results: &[ValueIndex]) {
        for (name, result) in origin.outputs().into_iter().zip(results) {
            self.bind(name, *result);
        }
        let Some(node) = origin.node() else { return };
        self.agreed += 1;
        if let [result] = results[..]
            && let Some(written) = self.function.values.get(result)
            && let Some(known) = self.names.get_mut(&written.name)
        {
            known.node = Some(node.name.clone()).filter(|name| !name.is_empty());
        }
    }

    fn bind(&mut self, name: &'g str, value: ValueIndex) {
        if name.is_empty() {
            return;
        }
        self.known.insert(name, value);
        if let Some(written) = self.function.values.get(value) {
            self.names.entry(written.name.clone()).or_default().tensor = name.to_owned();
        }
    }

    /// Whether a constant of the text makes a value.
    fn is_made_constant(&self, value: ValueIndex) -> bool {
        let definition = self.function.values.get(value).and_then(|it| it.definition);
        definition.is_some_and(|(at, _)| operation_kind(self.function, at) == CONSTANT)
    }

    /// Whether a value stands for an input that is left out.
    fn is_none(&self, value: ValueIndex) -> bool {
        let made_by = self.function.values.get(value).and_then(|it| it.definition);
        let made_by = made_by.and_then(|(at, _)| self.function.operations.get(at));
        made_by.is_some_and(|it| it.name == "torch.constant.none")
    }
}

/// The kind of a `torch.operator`: `onnx.Relu`.
fn operation_kind(function: &SourceFunction, at: usize) -> String {
    let head = function.head(at);
    let kind = head.first().filter(|(kind, _)| *kind == TokenKind::String);
    kind.map(|(_, text)| symbol_name(text)).unwrap_or_default()
}
