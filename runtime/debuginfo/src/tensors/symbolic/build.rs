//! From operations to terms: operations on scalars, elementwise operations and constants. What
//! moves elements is in [`super::shapes`], what has loops in [`super::loops`].

use std::collections::HashMap;

use syntax::TokenKind;

use super::index::{Atom, Index};
use super::maps::{self, Maps};
use super::terms::{Node, NodeId, NodeKind, Term, TermId, Terms};
use crate::source::functions::{OperationIndex, SourceFunction, ValueIndex};
use crate::tensors::head::Head;
use crate::tensors::reader::parameter;

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    Tensor(NodeId),
    Scalar(TermId),
}

impl Value {
    pub(crate) fn tensor(self) -> Option<NodeId> {
        match self {
            Self::Tensor(node) => Some(node),
            Self::Scalar(_) => None,
        }
    }

    pub(crate) fn scalar(self) -> Option<TermId> {
        match self {
            Self::Scalar(term) => Some(term),
            Self::Tensor(_) => None,
        }
    }
}

/// The values of a function, as far as they are known.
pub(crate) struct Scope<'f> {
    pub(crate) function: &'f SourceFunction,
    pub(crate) values: HashMap<ValueIndex, Value>,
}

/// How constants of a program are treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Constants {
    /// As they are written: each is a constant of its own.
    Written,
    /// The compiler may have computed them.
    Compiled,
}

/// Makes terms from operations of one text.
pub(crate) struct Builder<'b> {
    pub(crate) terms: &'b mut Terms,
    /// The tensors that are others in another shape.
    pub(crate) reshaped: &'b mut HashMap<NodeId, NodeId>,
    pub(crate) maps: &'b Maps<'b>,
    pub(crate) constants: Constants,
}

/// An operation, with what is needed to read it.
pub(crate) struct Operation<'o, 'f> {
    pub(crate) name: &'f str,
    pub(crate) head: Head<'f>,
    pub(crate) scope: &'o Scope<'f>,
    pub(crate) index: OperationIndex,
}

impl<'o, 'f> Operation<'o, 'f> {
    pub(crate) fn value(&self, at: ValueIndex) -> Option<Value> {
        self.scope.values.get(&at).copied()
    }

    pub(crate) fn operand(&self, at: usize) -> Option<Value> {
        self.value(*self.scope.function.operations.get(self.index)?.operands.get(at)?)
    }

    /// The tensors in the parentheses after a word: `ins(%a, %b : …)`.
    pub(crate) fn group(&self, word: &str) -> Option<Vec<Value>> {
        let range = self.head.group_after(word)?;
        self.head.values(range).into_iter().map(|it| self.value(it)).collect()
    }

    /// The type that the text gives a result.
    pub(crate) fn declared(&self, result: usize) -> Option<String> {
        let operation = self.scope.function.operations.get(self.index)?;
        if operation.name.starts_with("flow.") || operation.name.ends_with("dispatch.tensor.load") {
            let start = self.head.after_arrow().or_else(|| self.head.after_colon())?;
            return self.head.types(start).into_iter().nth(result)?.text;
        }
        let value = self.scope.function.values.get(*operation.results.get(result)?)?;
        value.type_text.clone()
    }

    /// Shape and element type that the text gives a result.
    pub(crate) fn result(&self, result: usize) -> Option<(Vec<Option<i64>>, String)> {
        maps::tensor(&self.declared(result)?)
    }
}

impl Builder<'_> {
    /// Defines the results of an operation. What it cannot read are inputs of which nothing is
    /// known.
    pub(crate) fn operation(&mut self, scope: &mut Scope<'_>, index: OperationIndex) {
        let function = scope.function;
        let Some(written) = function.operations.get(index) else { return };
        let head = Head::of(function, index);
        let read = {
            let operation = Operation { name: &written.name, head, scope, index };
            let read = self.known(&operation);
            let unknown = || -> Vec<Option<(Vec<Option<i64>>, String)>> {
                (0..written.results.len()).map(|it| operation.result(it)).collect()
            };
            match read {
                Some(read) if read.len() == written.results.len() => Ok(read),
                _ => Err(unknown()),
            }
        };
        let values = match read {
            Ok(values) => values,
            Err(types) => types
                .into_iter()
                .map(|it| match it {
                    Some((shape, element)) => Value::Tensor(self.terms.input(shape, element)),
                    None => Value::Scalar(self.unknown_scalar()),
                })
                .collect(),
        };
        scope.values.extend(written.results.iter().copied().zip(values));
    }

    /// A scalar of which nothing is known.
    pub(crate) fn unknown_scalar(&mut self) -> TermId {
        let node = self.terms.input(Vec::new(), String::new());
        self.terms.read(node, Vec::new())
    }

    fn known(&mut self, operation: &Operation<'_, '_>) -> Option<Vec<Value>> {
        let name = operation.name;
        match name {
            "arith.constant" | "flow.tensor.constant" => self.constant(operation),
            "arith.index_cast" | "arith.index_castui" if operation.result(0).is_none() => {
                Some(vec![operation.operand(0)?])
            }
            "tensor.extract" => self.extract(operation),
            "linalg.index" => None,
            "tensor.dim" => {
                let (tensor, at) = (operation.operand(0)?.tensor()?, operation.operand(1)?);
                let Term::Literal(axis) = self.terms.get(at.scalar()?) else { return None };
                let axis: usize = axis.split(' ').next()?.parse().ok()?;
                let size = (*self.terms.node(tensor).shape.get(axis)?)?;
                let text = maps::literal(&size.to_string(), "index");
                Some(vec![Value::Scalar(self.terms.add(Term::Literal(text)))])
            }
            _ if name.starts_with("arith.") || name.starts_with("math.") => {
                self.elementwise(operation)
            }
            _ if name.starts_with("linalg.") => self.loops(operation),
            _ => self.moved(operation).map(|node| vec![Value::Tensor(node)]),
        }
    }

    fn constant(&mut self, operation: &Operation<'_, '_>) -> Option<Vec<Value>> {
        let declared = operation.declared(0)?;
        let head = &operation.head;
        let end = head.after_colon().map_or(head.len(), |it| it.saturating_sub(1));
        // Attributes may come first.
        let mut start = 0;
        if head.kind(0) == Some(TokenKind::Punct(b'{')) {
            start = head.group_end(0);
        }
        let text = head.text(start..end.max(start));
        let Some((shape, element)) = maps::tensor(&declared) else {
            let text = maps::literal(&text, &declared);
            return Some(vec![Value::Scalar(self.terms.add(Term::Literal(text)))]);
        };
        Some(vec![Value::Tensor(self.constant_tensor(&text, shape, element))])
    }

    /// A constant tensor from the text of its elements.
    pub(crate) fn constant_tensor(
        &mut self,
        text: &str,
        shape: Vec<Option<i64>>,
        element: String,
    ) -> NodeId {
        let dense = text.strip_prefix("dense<").and_then(|it| it.strip_suffix('>'));
        if let Some(splat) = dense.filter(|it| !it.is_empty() && !it.contains(['[', '"', '_'])) {
            let term = self.terms.add(Term::Literal(maps::literal(splat, &element)));
            return self.terms.elements(shape, element, term);
        }
        let is_hidden = text.contains("__elided__") || text.is_empty();
        let elements = match parameter(text) {
            Some((scope, key)) => format!("parameter {scope:?} {key:?}"),
            None if is_hidden || dense.is_none() => String::new(),
            None => format!("{text} : {shape:?}x{element}"),
        };
        let kind = match self.constants {
            _ if elements.starts_with("parameter") => NodeKind::Constant(elements),
            Constants::Compiled => NodeKind::Folded(elements),
            Constants::Written if elements.is_empty() => {
                NodeKind::Constant(format!("constant {}", self.terms.count()))
            }
            Constants::Written => NodeKind::Constant(elements),
        };
        self.terms.add_node(Node { kind, shape, element, is_constant: true })
    }

    fn extract(&mut self, operation: &Operation<'_, '_>) -> Option<Vec<Value>> {
        let tensor = operation.operand(0)?.tensor()?;
        let rank = self.terms.node(tensor).shape.len();
        let index = (1..=rank).map(|at| {
            let term = operation.operand(at)?.scalar()?;
            Some(self.index_of(term))
        });
        let index: Option<Vec<Index>> = index.collect();
        Some(vec![Value::Scalar(self.terms.read(tensor, index?))])
    }

    /// A scalar as an index.
    pub(crate) fn index_of(&self, term: TermId) -> Index {
        match self.terms.get(term) {
            Term::Index(index) => index.clone(),
            Term::Literal(text) => {
                let number = text.split(' ').next().and_then(|it| it.parse().ok());
                number.map_or_else(|| Index::atom(Atom::Value(term)), Index::constant)
            }
            _ => Index::atom(Atom::Value(term)),
        }
    }

    /// Operations of `arith` and `math`, on scalars or on tensors.
    fn elementwise(&mut self, operation: &Operation<'_, '_>) -> Option<Vec<Value>> {
        let written = operation.scope.function.operations.get(operation.index)?;
        let name = operation_text(operation);
        let Some((shape, element)) = operation.result(0) else {
            let operands: Option<Vec<TermId>> = written
                .operands
                .iter()
                .map(|it| operation.value(*it).and_then(Value::scalar))
                .collect();
            return Some(vec![Value::Scalar(self.apply(name, operands?))]);
        };
        let index: Vec<Index> = (0..shape.len() as u32).map(Index::variable).collect();
        let operands = written.operands.iter().map(|it| match operation.value(*it)? {
            Value::Tensor(node) => Some(self.terms.read(node, index.clone())),
            // The condition of a `select`.
            Value::Scalar(term) => Some(term),
        });
        let operands: Option<Vec<TermId>> = operands.collect();
        let term = self.apply(name, operands?);
        Some(vec![Value::Tensor(self.terms.elements(shape, element, term))])
    }

    pub(crate) fn apply(&mut self, name: String, operands: Vec<TermId>) -> TermId {
        self.terms.add(Term::Operation(name, operands))
    }
}

/// An operation's name, attributes and element types.
fn operation_text(operation: &Operation<'_, '_>) -> String {
    let head = &operation.head;
    let colon = head.after_colon().unwrap_or(head.len());
    let mut text = operation.name.to_owned();
    let mut at = 0;
    while at + 1 < colon {
        // Attributes that do not change what is computed, such as `fastmath<contract>`.
        let token = head.token(at);
        if token == "fastmath" || token == "overflow" {
            at = head.group_end(at + 1);
            continue;
        }
        if head.kind(at) == Some(TokenKind::Punct(b'{')) {
            at = head.group_end(at);
            continue;
        }
        if head.value(at).is_none() && token != "," && head.kind(at) != Some(TokenKind::Value) {
            text.push(' ');
            text.push_str(token);
        }
        at += 1;
    }
    let types = head.text(colon..head.len());
    let types = match operation.name {
        "arith.select" => types.rsplit(',').next().unwrap_or_default().to_owned(),
        _ => types,
    };
    text.push_str(" : ");
    for (at, part) in types.split("tensor<").enumerate() {
        let scalar = match part.split_once('>') {
            Some((shape, rest)) if at > 0 => {
                maps::shaped(shape).map_or_else(String::new, |it| it.1) + rest
            }
            _ => part.to_owned(),
        };
        text.push_str(&scalar);
    }
    text
}
