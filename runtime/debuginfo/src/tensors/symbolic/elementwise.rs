//! Functions of numbers as terms: operations of `arith` and `math`, on scalars or on tensors.

use mlir::rules::Form;
use mlir::{Element, Scalar};
use syntax::TokenKind;

use super::build::{Builder, Declared, Operation, Value};
use super::index::Index;
use super::maps;
use super::terms::{Function, Term, TermId};
use crate::source::functions::ValueIndex;

impl Builder<'_> {
    /// Operations of `arith` and `math`, on scalars or on tensors.
    pub(super) fn elementwise(&mut self, operation: &Operation<'_, '_>) -> Option<Vec<Value>> {
        let written = operation.scope.function.operations.get(operation.index)?;
        let function = function(operation);
        let Some(Declared { element, .. }) = operation.result(0) else {
            let operands: Option<Vec<TermId>> = written
                .operands
                .iter()
                .map(|it| operation.value(*it).and_then(Value::scalar))
                .collect();
            let operands = operands?;
            let element = operation.declared(0).unwrap_or_default();
            let read = self.integer(&function, &operands, &element);
            let term = read.unwrap_or_else(|| self.apply(function, operands));
            return Some(vec![Value::Scalar(term)]);
        };
        let mut tensors = written.operands.iter().filter_map(|it| operation.value(*it)?.tensor());
        let shape = self.terms.node(tensors.next()?).shape.clone();
        let index: Vec<Index> = (0..shape.len() as u32).map(Index::variable).collect();
        let operands = written.operands.iter().map(|it| match operation.value(*it)? {
            Value::Tensor(node) => Some(self.terms.read(node, index.clone())),
            // The condition of a `select`.
            Value::Scalar(term) => Some(term),
        });
        let operands: Option<Vec<TermId>> = operands.collect();
        let term = self.apply(function, operands?);
        Some(vec![Value::Tensor(self.terms.elements(shape, element, term))])
    }

    pub(crate) fn apply(&mut self, function: Function, operands: Vec<TermId>) -> TermId {
        match function.scalar().and_then(|it| self.simplified(*it, &operands)) {
            Some(known) => known,
            None => self.terms.add(Term::Operation(function, operands)),
        }
    }

    /// What a function of these operands is without it: the larger of a number and negative
    /// infinity is that number.
    fn simplified(&mut self, function: Scalar, operands: &[TermId]) -> Option<TermId> {
        // A select from two truths has one for its condition; from wider numbers, the condition
        // would be of another type.
        let is_of_truths = function == Scalar::SelectInteger
            && operands.iter().skip(1).all(
                |it| matches!(self.terms.get(*it), Term::Literal(text) if text.ends_with(" : i1")),
            );
        let known = (0..).zip(operands).map(|(at, it)| {
            let constant = match self.terms.get(*it) {
                Term::Literal(text) => maps::bits(text),
                _ => None,
            };
            let is_boolean = is_of_truths && at == 0;
            mlir::rules::Operand { constant, is_boolean, ..mlir::rules::Operand::unknown(it.0) }
        });
        let known: Vec<_> = known.collect();
        match mlir::rules::simplified(function, &known)? {
            Form::Operand(index) => operands.get(index).copied(),
            Form::Constant(bits, Element::Integer(1)) => {
                Some(self.terms.add(Term::Literal(maps::literal(&(bits == 1).to_string(), "i1"))))
            }
            _ => None,
        }
    }
}

/// The function of numbers that an operation is: by the table, or as it is written.
fn function(operation: &Operation<'_, '_>) -> Function {
    scalar(operation).map_or_else(|| Function::Written(operation_text(operation)), Function::Scalar)
}

fn scalar(operation: &Operation<'_, '_>) -> Option<Scalar> {
    let function = operation.scope.function;
    let written = function.operations.get(operation.index)?;
    let declared =
        |value: &ValueIndex| maps::element(function.values.get(*value)?.type_text.as_deref()?);
    let head = &operation.head;
    let colon = head.after_colon().unwrap_or(head.len());
    let types = head.text(colon..head.len());
    let to = written.results.first().and_then(declared);
    // Of a conversion, the type that it says; of a select, that of what it selects from.
    let from = match types.split_once(" to ") {
        Some((from, _)) => maps::element(from),
        None => written.operands.last().and_then(declared),
    };
    let predicate = match head.kind(0) {
        Some(TokenKind::Word) => head.token(0),
        _ => "",
    };
    mlir::table::scalar(operation.name, from.or(to)?, to.or(from)?, predicate)
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
