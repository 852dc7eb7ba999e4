//! The values of expressions, and the places that keep them, so that they can be changed.

use std::sync::Arc;

use debuginfo::RegisterSlot;
use vm::{Buffer, FrameIndex, List, ModuleIndex, Ref, Value};
use vmfb::isa::Bank;

use super::evaluation_error::EvaluationError;
use crate::tensor::Number;
use crate::tensor::TensorView;
use crate::view::absent::Absent;
use crate::view::text::{list_text, tensor_of};
use crate::view::value;
use crate::view::variable::{BufferView, Children, Node, Variable};

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Datum {
    Bool(bool),
    /// A computed number.
    Number(Number),
    /// A value of the program, in its own type.
    Value(Value),
    Tensor(TensorView),
    /// A buffer's bytes as numbers of one type.
    Buffer(Arc<Buffer>, BufferView),
    /// Some elements of a list: first and end.
    ListPart(Arc<List>, usize, usize),
    Text(String),
    /// A name that is in scope and has no value, for this reason.
    Missing(Absent),
    /// Several values that need an index: `binding`, `rwdata`.
    Family(Family),
}

/// Names that stand for several values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    /// The memory of a dispatch.
    Binding,
    /// The tensors in that memory that the dispatch reads and writes.
    Operand,
    /// The constants of a dispatch.
    Constant,
    /// Primitive globals, by byte offset.
    GlobalBytes,
    /// Reference globals, by ordinal.
    GlobalRefs,
}

impl Family {
    pub(crate) const ALL: [(&'static str, Self); 5] = [
        ("binding", Self::Binding),
        ("operand", Self::Operand),
        ("constant", Self::Constant),
        ("rwdata", Self::GlobalBytes),
        ("refs", Self::GlobalRefs),
    ];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, family)| *family)
    }

    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, family)| *family == self).map_or("", |(name, _)| name)
    }
}

/// The place that keeps a value.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    Register(FrameIndex, RegisterSlot),
    GlobalBytes(ModuleIndex, usize, Bank),
    GlobalRef(ModuleIndex, usize),
    ListElement(Arc<List>, usize),
    /// A tensor without dimensions: one element.
    Element(TensorView),
}

/// A value with the place that keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) datum: Datum,
    pub(crate) place: Option<Place>,
    /// Its type in the debug information.
    pub(crate) declared: Option<String>,
}

impl From<Datum> for Item {
    fn from(datum: Datum) -> Self {
        Self { datum, place: None, declared: None }
    }
}

impl Item {
    pub(crate) fn kept(datum: Datum, place: Place) -> Self {
        Self { datum, place: Some(place), declared: None }
    }

    /// The value as it is shown.
    pub(crate) fn variable(&self, name: &str) -> Variable {
        let shown = self.datum.variable(name);
        let type_name = self.declared.clone().unwrap_or_else(|| shown.type_name.clone());
        Variable { type_name, ..shown }
    }
}

impl Datum {
    /// A reference to a buffer.
    pub(crate) fn buffer(buffer: Arc<Buffer>) -> Self {
        Self::Value(Value::Ref(Ref::Buffer(buffer)))
    }

    pub(crate) fn integer(value: impl Into<i128>) -> Self {
        Self::Number(Number::Integer(value.into()))
    }

    pub(crate) fn float(value: f64) -> Self {
        Self::Number(Number::Float(value))
    }

    /// The value as a number; single elements of tensors are numbers, and truth is 0 or 1.
    pub(crate) fn number(&self) -> Option<Number> {
        match self {
            Self::Bool(value) => Some(Number::Integer((*value).into())),
            Self::Number(number) => Some(*number),
            Self::Value(Value::I32(value)) => Some(Number::Integer((*value).into())),
            Self::Value(Value::I64(value)) => Some(Number::Integer((*value).into())),
            Self::Value(Value::F32(value)) => Some(Number::Float((*value).into())),
            Self::Value(Value::F64(value)) => Some(Number::Float(*value)),
            Self::Tensor(tensor) => tensor.scalar(),
            _ => None,
        }
    }

    /// The value as a tensor, including the tensor of a buffer view.
    pub(crate) fn tensor(&self) -> Option<TensorView> {
        match self {
            Self::Tensor(tensor) => Some(tensor.clone()),
            Self::Value(Value::Ref(value)) => tensor_of(value),
            Self::Buffer(buffer, view) => view.tensor(buffer),
            _ => None,
        }
    }

    /// The memory of the value, from its first byte on.
    pub(crate) fn memory(&self) -> Option<Arc<Buffer>> {
        match self {
            Self::Buffer(buffer, _) | Self::Value(Value::Ref(Ref::Buffer(buffer))) => {
                Some(Arc::clone(buffer))
            }
            Self::Value(Value::Ref(value)) => match value.downcast::<hal::Buffer>() {
                Some(buffer) => Some(buffer.storage()),
                None => self.tensor()?.memory().ok(),
            },
            Self::Tensor(tensor) => tensor.memory().ok(),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Option<(&Arc<List>, usize, usize)> {
        match self {
            Self::Value(Value::Ref(Ref::List(list))) => Some((list, 0, list.len())),
            Self::ListPart(list, start, end) => Some((list, *start, (*end).min(list.len()))),
            _ => None,
        }
    }

    /// A description of the value's kind, for messages.
    pub(crate) fn kind(&self) -> String {
        match self {
            Self::Bool(_) => "true or false".to_owned(),
            Self::Number(Number::Integer(_)) => "an integer".to_owned(),
            Self::Number(Number::Float(_)) => "a float".to_owned(),
            Self::Value(Value::Ref(Ref::Null)) => "null".to_owned(),
            Self::Text(_) => "text".to_owned(),
            Self::Missing(reason) => reason.to_string(),
            Self::Tensor(tensor) => format!("a tensor of {}", tensor.type_name()),
            Self::ListPart(..) => "a list".to_owned(),
            Self::Family(family) => format!("`{}`, which needs an index", family.name()),
            Self::Buffer(_, _) => "a buffer".to_owned(),
            Self::Value(value) => format!("a value of {}", value::type_name(value)),
        }
    }

    /// That the value is not of a kind that is needed.
    pub(crate) fn is_no(&self, wanted: &'static str) -> EvaluationError {
        EvaluationError::NotA { is: self.kind(), wanted }
    }

    /// That the value lacks something.
    pub(super) fn has_no(&self, what: &'static str) -> EvaluationError {
        EvaluationError::Without { is: self.kind(), what }
    }

    /// The value as it is shown.
    pub(crate) fn variable(&self, name: &str) -> Variable {
        let plain = |value: String, type_name: &str| Variable::plain(name, value, type_name);
        match self {
            Self::Bool(value) => plain(value.to_string(), "bool"),
            Self::Missing(reason) => Variable::without_value(name, reason.clone(), ""),
            Self::Number(number @ Number::Integer(integer)) => Variable {
                bits: i64::try_from(*integer).ok().map(i64::cast_unsigned),
                ..plain(number.to_string(), "integer")
            },
            Self::Number(number @ Number::Float(_)) => plain(number.to_string(), "float"),
            Self::Value(value) => value::variable(name, value),
            Self::Tensor(tensor) => tensor.variable(name),
            Self::Buffer(buffer, view) => {
                Variable { name: name.to_owned(), ..value::view_choice(buffer, *view) }
            }
            Self::ListPart(list, start, end) => {
                let count = end.saturating_sub(*start);
                Variable {
                    children: Some(Children {
                        node: Node::ListPart(Arc::clone(list), *start, *end),
                        indexed: Some(count),
                    }),
                    ..plain(
                        list_text(list, *start..*end, false),
                        &format!("!vm.list<{}>", list.element_type()),
                    )
                }
            }
            Self::Text(text) => plain(text.clone(), "text"),
            Self::Family(family) => {
                plain(format!("{}[…]", family.name()), "needs an index, as in `rwdata[0]`")
            }
        }
    }
}
