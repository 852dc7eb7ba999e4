//! From operations to terms: integers and indices, and constants. Functions of numbers are in
//! [`super::elementwise`], what moves elements is in [`super::shapes`], what has loops in
//! [`super::loops`].

use std::collections::HashMap;

use mlir::table::{Affine, Extension, Meaning, Tensor};
use mlir::{Cast, IntegerBinary as I, Numbers, Scalar};
use syntax::TokenKind;

use super::index::{Atom, Index};
use super::maps::{self, Maps};
use super::terms::{Function, Node, NodeId, NodeKind, SIZE, Term, TermId, Terms};
use crate::elided_name::ElidedName;
use crate::source::functions::{OperationIndex, SourceFunction, ValueIndex};
use crate::tensors::head::Head;
use crate::tensors::reader::{dispatch_tensor, parameter};

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

    /// The type that the text gives a result, and the values in braces after it: the sizes that
    /// are only known when the program runs.
    fn declared_with_sizes(&self, result: usize) -> Option<(String, Vec<ValueIndex>)> {
        let operation = self.scope.function.operations.get(self.index)?;
        if operation.name.starts_with("flow.") || operation.name.ends_with("dispatch.tensor.load") {
            let start = self.head.after_arrow().or_else(|| self.head.after_colon())?;
            let listed = self.head.types(start).into_iter().nth(result)?;
            return Some((listed.text?, listed.sizes));
        }
        let value = self.scope.function.values.get(*operation.results.get(result)?)?;
        Some((value.type_text.clone()?, Vec::new()))
    }

    pub(crate) fn declared(&self, result: usize) -> Option<String> {
        Some(self.declared_with_sizes(result)?.0)
    }

    /// Shape and element type that the text gives a result.
    pub(crate) fn result(&self, result: usize) -> Option<Declared> {
        let (declared, sizes) = self.declared_with_sizes(result)?;
        let (shape, element) = maps::tensor(&declared).or_else(|| {
            let (_, shaped) = dispatch_tensor(&declared)?;
            maps::shaped(&shaped)
        })?;
        Some(Declared { shape, element, sizes })
    }
}

/// A tensor type as it is written, with the sizes that follow it.
pub(crate) struct Declared {
    pub(crate) shape: Vec<Option<i64>>,
    pub(crate) element: String,
    pub(crate) sizes: Vec<ValueIndex>,
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
            match read.filter(|it| it.len() == written.results.len()) {
                Some(read) => read,
                None => (0..written.results.len()).map(|it| self.unknown(&operation, it)).collect(),
            }
        };
        scope.values.extend(written.results.iter().copied().zip(read));
    }

    /// Defines a result of which nothing but its type is known.
    pub(crate) fn sized(&mut self, scope: &mut Scope<'_>, index: OperationIndex) {
        let function = scope.function;
        let Some(written) = function.operations.get(index) else { return };
        let Some(result) = written.results.first() else { return };
        let value = {
            let operation =
                Operation { name: &written.name, head: Head::of(function, index), scope, index };
            self.unknown(&operation, 0)
        };
        scope.values.insert(*result, value);
    }

    /// A result of which nothing but its type is known.
    fn unknown(&mut self, operation: &Operation<'_, '_>, result: usize) -> Value {
        match self.result(operation, result) {
            Some((shape, element)) => Value::Tensor(self.terms.input(shape, element)),
            None => Value::Scalar(self.unknown_scalar()),
        }
    }

    /// Shape and element type of a result, as the text tells them.
    pub(crate) fn result(
        &mut self,
        operation: &Operation<'_, '_>,
        result: usize,
    ) -> Option<(Vec<Index>, String)> {
        let declared = operation.result(result)?;
        let shape = self.declared_shape(operation.scope, &declared);
        Some((shape, declared.element))
    }

    /// A declared shape, with the sizes that follow it.
    pub(crate) fn declared_shape(&mut self, scope: &Scope<'_>, declared: &Declared) -> Vec<Index> {
        let mut sizes = declared.sizes.iter().map(|it| scope.values.get(it)?.scalar());
        let shape = declared.shape.iter().map(|size| match size {
            Some(size) => Index::constant(*size),
            None => match sizes.next().flatten() {
                Some(size) => self.index_of(size),
                None => self.terms.unknown_size(),
            },
        });
        shape.collect()
    }

    /// A tensor where the text declares a shape: itself or reshaped; if that cannot be, one of
    /// which nothing is known.
    pub(crate) fn as_declared(
        &mut self,
        node: Option<NodeId>,
        declared: &[Option<i64>],
        element: String,
    ) -> NodeId {
        let known = node.and_then(|node| {
            let own = &self.terms.node(node).shape;
            let fits = |(own, declared): (&Index, &Option<i64>)| {
                own.as_constant().zip(*declared).is_none_or(|(one, other)| one == other)
            };
            let is_same = own.len() == declared.len() && own.iter().zip(declared).all(fits);
            if is_same && self.terms.node(node).element == element {
                return Some(node);
            }
            let given = declared.iter().map(|it| it.map(Index::constant)).collect();
            let shape = self.completed(given, node)?;
            self.reshaped(node, shape, element.clone())
        });
        known.unwrap_or_else(|| {
            let shape = self.terms.shape(declared);
            self.terms.input(shape, element)
        })
    }

    /// A scalar of which nothing is known.
    pub(crate) fn unknown_scalar(&mut self) -> TermId {
        let node = self.terms.input(Vec::new(), String::new());
        self.terms.read(node, Vec::new())
    }

    fn known(&mut self, operation: &Operation<'_, '_>) -> Option<Vec<Value>> {
        if operation.name == "hal.buffer_view.dim" {
            return self.view_size(operation);
        }
        let Some(meaning) = mlir::meaning(operation.name) else {
            let is_pure =
                operation.name.starts_with("arith.") || operation.name.starts_with("math.");
            return if is_pure { self.elementwise(operation) } else { None };
        };
        match meaning {
            Meaning::Constant => self.constant(operation),
            Meaning::Numbers(Numbers::Cast(Cast::Signed | Cast::Unsigned))
                if is_index_cast(operation) =>
            {
                let term = operation.operand(0)?.scalar()?;
                let index = self.index_of(term);
                Some(vec![match index.as_constant() {
                    Some(_) => Value::Scalar(self.term_of(index, &operation.declared(0)?)),
                    None => Value::Scalar(term),
                }])
            }
            Meaning::Alias => {
                let written = operation.scope.function.operations.get(operation.index)?;
                written.operands.iter().map(|it| operation.value(*it)).collect()
            }
            Meaning::Affine(Affine::Apply) => {
                let index = self.affine(operation)?;
                Some(vec![Value::Scalar(self.term_of(index, "index"))])
            }
            Meaning::Tensor(Tensor::Empty) => {
                let mut declared = operation.result(0)?;
                if declared.sizes.is_empty() {
                    let written = operation.scope.function.operations.get(operation.index)?;
                    declared.sizes.clone_from(&written.operands);
                }
                let shape = self.declared_shape(operation.scope, &declared);
                Some(vec![Value::Tensor(self.terms.input(shape, declared.element))])
            }
            Meaning::Tensor(Tensor::Extract) => self.extract(operation),
            Meaning::Tensor(Tensor::FromElements) => {
                let declared = operation.result(0)?;
                let written = operation.scope.function.operations.get(operation.index)?;
                let scalars = written.operands.iter().map(|it| operation.value(*it)?.scalar());
                let scalars: Option<Vec<TermId>> = scalars.collect();
                let is_list = declared.shape.len() == 1;
                is_list.then_some(())?;
                Some(vec![Value::Tensor(self.terms.list(declared.element, scalars?))])
            }
            Meaning::Tensor(Tensor::Dimension) => {
                let (tensor, at) = (operation.operand(0)?.tensor()?, operation.operand(1)?);
                let Term::Literal(axis) = self.terms.get(at.scalar()?) else { return None };
                let axis: usize = axis.split(' ').next()?.parse().ok()?;
                let size = self.terms.node(tensor).shape.get(axis)?.clone();
                Some(vec![Value::Scalar(self.term_of(size, "index"))])
            }
            Meaning::Numbers(_) | Meaning::Clamp | Meaning::Extended(..) => {
                self.elementwise(operation)
            }
            Meaning::Loops(loops) => self.loops(operation, loops),
            Meaning::Extension(Extension::Attention) => {
                self.attention(operation).map(|node| vec![Value::Tensor(node)])
            }
            Meaning::Tensor(which) => {
                self.moved(operation, which).map(|node| vec![Value::Tensor(node)])
            }
            _ => None,
        }
    }

    /// The size of an axis of a buffer view.
    fn view_size(&mut self, operation: &Operation<'_, '_>) -> Option<Vec<Value>> {
        let open = (0..operation.head.len()).find(|at| operation.head.token(*at) == "[")?;
        let axis = operation.head.text(operation.head.inside(open));
        let size = match operation.operand(0)? {
            Value::Tensor(node) => {
                let size = self.terms.node(node).shape.get(axis.parse::<usize>().ok()?)?;
                let size = size.clone();
                self.term_of(size, "index")
            }
            Value::Scalar(view) => self.apply(Function::ViewSize(axis), vec![view]),
        };
        Some(vec![Value::Scalar(size)])
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
        let Some((sizes, element)) = maps::tensor(&declared) else {
            let text = maps::literal(&text, &declared);
            return Some(vec![Value::Scalar(self.terms.add(Term::Literal(text)))]);
        };
        let shape = self.terms.shape(&sizes);
        Some(vec![Value::Tensor(self.constant_tensor(&text, shape, element))])
    }

    /// A constant tensor from the text of its elements.
    pub(crate) fn constant_tensor(
        &mut self,
        text: &str,
        shape: Vec<Index>,
        element: String,
    ) -> NodeId {
        let dense = text.strip_prefix("dense<").and_then(|it| it.strip_suffix('>'));
        if let Some(splat) = dense.filter(|it| !it.is_empty() && !it.contains(['[', '"', '_'])) {
            let term = self.terms.add(Term::Literal(maps::literal(splat, &element)));
            return self.terms.elements(shape, element, term);
        }
        // A name that is made of all elements tells them apart as well as they do. One of two texts
        // may have the name and the other one the digits.
        let name = ElidedName::of_constant(text);
        let is_hidden = text.contains("__elided__") || text.is_empty();
        let elements = match (parameter(text), name) {
            (Some((scope, key)), _) => format!("parameter {scope:?} {key:?}"),
            (None, Some(name)) if dense.is_some() => format!("{name} : {element}"),
            (None, _) if is_hidden || dense.is_none() => String::new(),
            // The same elements in another shape have other brackets.
            (None, _) => format!("{} : {element}", text.replace(['[', ']'], "")),
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
        let index = index.collect::<Option<Vec<Index>>>()?;
        if let (Some(listed), [at]) = (self.terms.listed(tensor), index.as_slice())
            && let Some(at) = at.as_constant().and_then(|it| usize::try_from(it).ok())
        {
            return Some(vec![Value::Scalar(*listed.get(at)?)]);
        }
        Some(vec![Value::Scalar(self.terms.read(tensor, index))])
    }

    /// A scalar as an index.
    pub(crate) fn index_of(&self, term: TermId) -> Index {
        match self.terms.get(term) {
            Term::Index(index) => index.clone(),
            Term::Literal(text) => {
                let number = text.split(' ').next().and_then(|it| it.parse().ok());
                number.map_or_else(|| Index::atom(Atom::Value(term)), Index::constant)
            }
            _ if self.is_size(term) => self.terms.known_size(&Index::atom(Atom::Size(term))),
            _ => Index::atom(Atom::Value(term)),
        }
    }

    /// Whether a scalar is a size, or the smaller or the larger of some.
    fn is_size(&self, term: TermId) -> bool {
        match self.terms.get(term) {
            Term::Read(node, _) => self.terms.node(*node).element == SIZE,
            Term::Operation(function, operands) => {
                let mut is_natural = operands.iter().map(|it| self.index_of(*it).is_natural());
                match function {
                    Function::ViewSize(_) => true,
                    Function::Scalar(Scalar::IntegerBinary(
                        I::MinimumSigned | I::MinimumUnsigned,
                        _,
                    )) => is_natural.all(|it| it),
                    Function::Scalar(Scalar::IntegerBinary(
                        I::MaximumSigned | I::MaximumUnsigned,
                        _,
                    )) => is_natural.any(|it| it),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// An index as a scalar.
    pub(crate) fn term_of(&mut self, index: Index, element: &str) -> TermId {
        if let Some(constant) = index.as_constant() {
            let text = maps::literal(&constant.to_string(), element);
            return self.terms.add(Term::Literal(text));
        }
        match index.as_value() {
            Some(term) => term,
            None => self.terms.add(Term::Index(index)),
        }
    }

    /// `affine.apply affine_map<(d0)[s0] -> (d0 * s0)>(%0)[%1]`.
    fn affine(&mut self, operation: &Operation<'_, '_>) -> Option<Index> {
        let head = &operation.head;
        let end = (0..head.len()).find(|at| head.value(*at).is_some()).unwrap_or(head.len());
        let map = head.text(0..end);
        let map = map.trim_end_matches(['(', '[', ')']);
        let map = match map.starts_with('#') {
            true => map.to_owned(),
            false => format!("{}>", map.rsplit_once('>')?.0),
        };
        let [result] = self.maps.read(&map)?.try_into().ok()?;
        let given = head.values(0..head.len()).into_iter();
        let given: Option<Vec<Index>> =
            given.map(|it| Some(self.index_of(operation.value(it)?.scalar()?))).collect();
        Some(result.replace(&given?, &mut |it| it, &[]))
    }

    /// Integer operations on sizes and constants.
    pub(super) fn integer(
        &mut self,
        function: &Function,
        operands: &[TermId],
        element: &str,
    ) -> Option<TermId> {
        let Function::Scalar(Scalar::IntegerBinary(which, width)) = function else { return None };
        if !matches!(element, "index" | "i64") {
            return None;
        }
        if let Some(one) = self.one_of_counters(*which, operands) {
            return Some(one);
        }
        let of = |at: usize| -> Option<Index> {
            let index = self.index_of(*operands.get(at)?);
            let is_known = index.all_atoms(&mut |it| !matches!(it, Atom::Value(_)));
            (element == "index" || is_known).then_some(index)
        };
        let (one, other) = (of(0)?, of(1)?);
        let are_natural = one.is_natural() && other.is_natural();
        let is_positive = other.is_natural() && other.as_constant() != Some(0);
        let one_less = other.subtract(&Index::constant(1));
        let found = match which {
            I::Add => one.add(&other),
            I::Subtract => one.subtract(&other),
            I::Multiply => one.multiply(&other),
            I::FloorDivideSigned if is_positive => one.quotient(&other, &[]),
            I::CeilDivideSigned if is_positive => one.add(&one_less).quotient(&other, &[]),
            I::DivideSigned | I::DivideUnsigned if is_positive && one.is_natural() => {
                one.quotient(&other, &[])
            }
            I::CeilDivideUnsigned if is_positive && one.is_natural() => {
                one.add(&one_less).quotient(&other, &[])
            }
            I::RemainderSigned | I::RemainderUnsigned if is_positive && one.is_natural() => {
                one.remainder(&other, &[])
            }
            I::MaximumSigned | I::MaximumUnsigned if one.subtract(&other).is_natural() => one,
            I::MaximumSigned | I::MaximumUnsigned if other.subtract(&one).is_natural() => other,
            I::MinimumSigned | I::MinimumUnsigned if one.subtract(&other).is_natural() => other,
            I::MinimumSigned | I::MinimumUnsigned if other.subtract(&one).is_natural() => one,
            // Neither is negative, so that they are the same function.
            I::MinimumUnsigned | I::MaximumUnsigned if are_natural => {
                let is_least = *which == I::MinimumUnsigned;
                let signed = if is_least { I::MinimumSigned } else { I::MaximumSigned };
                let function = Scalar::IntegerBinary(signed, *width);
                return Some(self.apply(Function::Scalar(function), operands.to_vec()));
            }
            _ => return None,
        };
        Some(self.term_of(found, element))
    }

    /// The smaller or the larger of two integers, if their bounds tell which that is: frameworks
    /// clamp the counter of a loop to what it is anyhow.
    fn one_of_counters(&self, which: I, operands: &[TermId]) -> Option<TermId> {
        let [one, other] = operands else { return None };
        let (own, others) = (self.terms.bounds(*one)?, self.terms.bounds(*other)?);
        let is_signed = matches!(which, I::MaximumSigned | I::MinimumSigned);
        if !is_signed && (own.0 < 0 || others.0 < 0) {
            return None;
        }
        let (is_smaller, is_larger) = (own.1 <= others.0, own.0 >= others.1);
        match which {
            I::MaximumSigned | I::MaximumUnsigned if is_larger => Some(*one),
            I::MaximumSigned | I::MaximumUnsigned if is_smaller => Some(*other),
            I::MinimumSigned | I::MinimumUnsigned if is_smaller => Some(*one),
            I::MinimumSigned | I::MinimumUnsigned if is_larger => Some(*other),
            _ => None,
        }
    }
}

/// Whether an operation makes an index of an integer, or the other way round.
fn is_index_cast(operation: &Operation<'_, '_>) -> bool {
    let function = operation.scope.function;
    let is_index = |value: &ValueIndex| {
        function.values.get(*value).is_some_and(|it| it.type_text.as_deref() == Some("index"))
    };
    let Some(written) = function.operations.get(operation.index) else { return false };
    written.operands.iter().chain(&written.results).any(is_index)
}
