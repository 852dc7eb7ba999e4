//! Which value of an import is which tensor of the ONNX model that it was made from.
//!
//! The importer writes arguments, constants and nodes in the order of the model, one operation
//! each. Names are given only if all of the function agrees with the model: the number of
//! arguments and results, each operation's kind, and each operand of each operation.
//!
//! The importer may have brought the model to a newer version of ONNX first, in which some
//! attributes are operands: constants that no node made, and that follow a node's own operands, are
//! passed over.

use std::collections::{HashMap, HashSet};

use syntax::TokenKind;

use super::NodeName;
use super::onnx::{Attribute, Graph, Node, Tensor};
use crate::source::functions::{SourceFunction, SourceOperation, ValueIndex, symbol_name};

/// The kind of an operation that has its result in the text.
const CONSTANT: &str = "onnx.Constant";

/// Names the values of a function.
///
/// # Errors
/// The function was not made from this model; the text says where they part.
pub(super) fn names(
    function: &SourceFunction,
    graph: &Graph,
) -> Result<HashMap<String, NodeName>, String> {
    let (known, added, names) = Default::default();
    let mut import = Import { function, known, added, names };
    import.arguments(graph)?;
    let body = function.operations.first().and_then(|it| it.regions.first());
    let block = body.and_then(|body| body.blocks.first()).ok_or("it has no body")?;
    let operations = block.operations.iter().filter_map(|at| {
        let operation = function.operations.get(*at)?;
        (operation.name != "torch.constant.none").then_some((*at, operation))
    });
    let mut operations: Vec<_> = operations.collect();
    let (_, end) = operations.pop().ok_or("it is empty")?;
    let constants: HashSet<&str> = graph.initializer.iter().map(|it| it.name.as_str()).collect();
    if constants.len() != graph.initializer.len() {
        return Err("two of its constants have one name".to_owned());
    }
    let given = graph.initializer.iter().map(Origin::Initializer);
    let origins: Vec<Origin<'_>> = given.chain(graph.node.iter().map(Origin::Node)).collect();
    let mut operations = operations.into_iter();
    for origin in origins {
        let (operation, kind) = loop {
            let missing = || format!("the text ends before {origin}");
            let (at, operation) = operations.next().ok_or_else(missing)?;
            let kind = operation_kind(function, at);
            if kind != CONSTANT || origin.is_constant() {
                break (operation, kind);
            }
            import.added.extend(&operation.results);
        };
        let fits = match origin {
            Origin::Initializer(tensor) => import.constant(operation, &kind, tensor, &tensor.name),
            Origin::Node(node) => import.node(operation, &kind, node),
        };
        fits.ok_or_else(|| format!("{} is not what line {} has", origin, operation.place.0))?;
    }
    if let Some((_, operation)) = operations.next() {
        return Err(format!("it ends before line {}", operation.place.0));
    }
    let returned = graph.output.iter().map(|it| import.known.get(it.name.as_str()).copied());
    let is_return = end.name.ends_with("return");
    if !is_return || !returned.eq(end.operands.iter().map(|it| Some(*it))) {
        return Err("it has other results".to_owned());
    }
    Ok(import.names)
}

/// What an operation was made from.
#[derive(Clone, Copy)]
enum Origin<'g> {
    Initializer(&'g Tensor),
    Node(&'g Node),
}

impl Origin<'_> {
    fn is_constant(self) -> bool {
        match self {
            Self::Initializer(_) => true,
            Self::Node(node) => tensor_of_constant(node).is_some(),
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

struct Import<'g> {
    function: &'g SourceFunction,
    /// The values by the names of the model.
    known: HashMap<&'g str, ValueIndex>,
    /// Constants that are not the model's own.
    added: HashSet<ValueIndex>,
    /// What is known, by the names of the text.
    names: HashMap<String, NodeName>,
}

impl<'g> Import<'g> {
    fn arguments(&mut self, graph: &'g Graph) -> Result<(), String> {
        let is_constant =
            |name: &str| graph.initializer.iter().any(|constant| constant.name == name);
        let inputs: Vec<&str> =
            graph.input.iter().map(|it| it.name.as_str()).filter(|it| !is_constant(it)).collect();
        let arguments = self.function.arguments();
        if inputs.len() != arguments.len() {
            let (theirs, ours) = (inputs.len(), arguments.len());
            return Err(format!("it has {theirs} inputs, the function {ours} arguments"));
        }
        for (name, value) in inputs.into_iter().zip(arguments) {
            self.bind(name, *value);
        }
        Ok(())
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

    fn constant(
        &mut self,
        operation: &SourceOperation,
        kind: &str,
        tensor: &Tensor,
        name: &'g str,
    ) -> Option<()> {
        let [result] = operation.results[..] else { return None };
        let dims: Vec<String> = tensor.dims.iter().map(i64::to_string).collect();
        let shape = format!("!torch.vtensor<[{}],", dims.join(","));
        let declared = self.function.values.get(result)?.type_text.as_deref()?;
        let fits =
            kind == CONSTANT && operation.operands.is_empty() && declared.starts_with(&shape);
        fits.then(|| self.bind(name, result))
    }

    fn node(&mut self, operation: &SourceOperation, kind: &str, node: &'g Node) -> Option<()> {
        if let Some(tensor) = tensor_of_constant(node) {
            return self.constant(operation, kind, tensor, node.output.first()?);
        }
        let own_kind = kind.strip_prefix("onnx.")?;
        let is_input = |(name, given): (&String, &ValueIndex)| match name.as_str() {
            "" => self.is_none(*given),
            name => self.known.get(name) == Some(given),
        };
        let (own, added) = operation.operands.split_at_checked(node.input.len())?;
        let fits = own_kind == node.op_type
            && node.input.iter().zip(own).all(is_input)
            && added.iter().all(|it| self.added.contains(it) || self.is_none(*it))
            && operation.results.len() == node.output.len();
        if !fits {
            return None;
        }
        for (name, result) in node.output.iter().zip(&operation.results) {
            self.bind(name, *result);
        }
        if let [result] = operation.results[..]
            && let Some(written) = self.function.values.get(result)
            && let Some(known) = self.names.get_mut(&written.name)
        {
            known.node = Some(node.name.clone()).filter(|name| !name.is_empty());
        }
        Some(())
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
