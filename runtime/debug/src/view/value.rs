//! Values with what is inside them, which is expanded on demand, one page at a time. Their texts
//! are made in [`super::text`].

use std::ops::Range;
use std::sync::Arc;

use vm::{Buffer, List, Ref, Value};

use super::text::{tensor_of, value_text};
use super::variable::{BufferView, Children, Node, Variable};
use crate::tensor::TensorView;

/// Elements of an indexed node that are shown if the client gives no range.
const DEFAULT_PAGE: usize = 1000;

/// A value of a program as a tensor, if it is a buffer view.
#[must_use]
pub fn tensor_of_value(value: &Value) -> Option<TensorView> {
    match value {
        Value::Ref(value) => tensor_of(value),
        _ => None,
    }
}

pub(crate) fn type_name(value: &Value) -> String {
    match value {
        Value::I32(_) => "i32".to_owned(),
        Value::I64(_) => "i64".to_owned(),
        Value::F32(_) => "f32".to_owned(),
        Value::F64(_) => "f64".to_owned(),
        Value::Ref(Ref::Null) => "!vm.ref<?>".to_owned(),
        Value::Ref(Ref::List(list)) => format!("!vm.list<{}>", list.element_type()),
        Value::Ref(other) => format!("!{}", other.type_name()),
    }
}

fn children_of(value: &Value) -> Option<Children> {
    match value {
        Value::Ref(Ref::Buffer(buffer)) => Some(Children {
            node: Node::Buffer(Arc::clone(buffer), BufferView::Choice),
            indexed: None,
        }),
        Value::Ref(value @ Ref::Object(_)) => {
            if let Some(tensor) = tensor_of(value) {
                let indexed = tensor.length();
                return indexed.map(|_| Children { node: Node::Tensor(tensor), indexed });
            }
            let buffer: &hal::Buffer = value.downcast()?;
            let node = Node::Buffer(buffer.storage(), BufferView::Choice);
            Some(Children { node, indexed: None })
        }
        Value::Ref(Ref::List(list)) => {
            Some(Children { node: Node::List(Arc::clone(list)), indexed: Some(list.len()) })
        }
        _ => None,
    }
}

/// A value under a name.
#[must_use]
pub(crate) fn variable(name: impl Into<String>, value: &Value) -> Variable {
    Variable {
        name: name.into(),
        value: value_text(value),
        type_name: type_name(value),
        evaluate_name: None,
        children: children_of(value),
        bits: match value {
            Value::I32(value) => Some(value.cast_unsigned().into()),
            Value::I64(value) => Some(value.cast_unsigned()),
            Value::F32(_) | Value::F64(_) | Value::Ref(_) => None,
        },
        absent: None,
        as_of: None,
    }
}

/// The elements of `part` of a list; `range` picks some of them, counted from the first of the
/// part.
#[must_use]
pub(crate) fn list_children(
    list: &List,
    part: Range<usize>,
    range: Option<Range<usize>>,
) -> Vec<Variable> {
    page(range, part.end.min(list.len()).saturating_sub(part.start))
        .map(|index| {
            let index = part.start + index;
            let name = format!("[{index}]");
            list.get(index).map_or_else(
                || Variable {
                    name: name.clone(),
                    value: "unset".to_owned(),
                    type_name: "?".to_owned(),
                    evaluate_name: None,
                    children: None,
                    bits: None,
                    absent: None,
                    as_of: None,
                },
                |value| variable(&name, &value),
            )
        })
        .collect()
}

/// The ways to view a buffer, or its elements in one of them.
#[must_use]
pub(crate) fn buffer_children(
    buffer: &Arc<Buffer>,
    view: BufferView,
    range: Option<Range<usize>>,
) -> Vec<Variable> {
    let Some(width) = view.element_width() else {
        return BufferView::ELEMENTS.iter().map(|view| view_choice(buffer, *view)).collect();
    };
    page(range, buffer.len() / width)
        .map(|index| {
            let bytes = buffer.read(index * width, width);
            variable(format!("[{index}]"), &view.decode(&bytes))
        })
        .collect()
}

pub(crate) fn view_choice(buffer: &Arc<Buffer>, view: BufferView) -> Variable {
    let count = buffer.len() / view.element_width().unwrap_or(1);
    Variable {
        name: view.name().to_owned(),
        value: view.tensor(buffer).map(|it| it.short()).unwrap_or_default(),
        type_name: format!("{count}x{}", view.name()),
        evaluate_name: None,
        children: Some(Children {
            node: Node::Buffer(Arc::clone(buffer), view),
            indexed: Some(count),
        }),
        bits: None,
        absent: None,
        as_of: None,
    }
}

pub(crate) fn page(range: Option<Range<usize>>, length: usize) -> Range<usize> {
    let range = range.unwrap_or(0..DEFAULT_PAGE);
    range.start.min(length)..range.end.min(length)
}

impl TensorView {
    /// The tensor as a variable.
    #[must_use]
    pub fn variable(&self, name: impl Into<String>) -> Variable {
        let children = self
            .length()
            .map(|length| Children { node: Node::Tensor(self.clone()), indexed: Some(length) });
        Variable {
            name: name.into(),
            value: self.short() + &self.mark(),
            type_name: self.type_name(),
            evaluate_name: None,
            children,
            bits: self.is_of_integers().then(|| self.scalar_bits()).flatten(),
            absent: None,
            as_of: self.as_of(),
        }
    }

    /// The parts at indices of the outermost dimension.
    pub(crate) fn children(&self, range: Range<usize>) -> Vec<Variable> {
        range.map(|index| self.at(index).unmarked().variable(format!("[{index}]"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use abi::tensor::TensorType;

    use super::*;
    use crate::tensor::{Number, ViewError};

    fn view(bytes: &[u8], tensor_type: &str) -> Result<TensorView, ViewError> {
        let limits = vm::ExecutionLimits::default();
        let buffer = Buffer::alloc(bytes.len(), 0, &limits).unwrap();
        buffer.write(0, bytes).unwrap();
        TensorView::new(Arc::new(buffer), TensorType::parse(tensor_type).unwrap())
    }

    #[test]
    fn rows_are_tensors_of_their_own() {
        let bytes: Vec<u8> = (0..6_u8).flat_map(|n| f32::from(n).to_le_bytes()).collect();
        let tensor = view(&bytes, "2x3xf32").unwrap();
        assert_eq!(tensor.short(), "[0, 1, 2, 3, 4, 5]");
        let rows = tensor.children(0..2);
        assert_eq!((rows[1].name.as_str(), rows[1].value.as_str()), ("[1]", "[3, 4, 5]"));
        let Some(Children { node: Node::Tensor(row), indexed: Some(3) }) = &rows[1].children else {
            panic!("{:?}", rows[1]);
        };
        let last = row.children(2..3).pop().unwrap();
        assert_eq!((last.value.as_str(), last.type_name.as_str()), ("5", "f32"));
        assert!(last.children.is_none());
    }

    #[test]
    fn elements_of_less_than_a_byte_share_bytes() {
        let truth = view(&[1, 0, 1], "3xi1").unwrap();
        assert_eq!(truth.short(), "[1, 0, 1]");
        truth.at(1).set_scalar(Number::Integer(1)).unwrap();
        assert_eq!(truth.short(), "[1, 1, 1]");
        assert!(truth.at(1).set_scalar(Number::Integer(2)).is_err());
        let tensor = view(&[0x21, 0x43, 0xF5], "6xi4").unwrap();
        assert_eq!(tensor.short(), "[1, 2, 3, 4, 5, -1]");
        let shown = tensor.variable("t").in_hexadecimal();
        assert_eq!(shown.value, "[0x1, 0x2, 0x3, 0x4, 0x5, 0xf]");
        assert_eq!(tensor.children(5..6)[0].clone().in_hexadecimal().value, "0xf");
    }

    #[test]
    fn lists_and_views_of_buffers_show_their_elements_in_either_base() {
        let list = List::new(vm::Type::parse("i32").unwrap(), &vm::ExecutionLimits::default());
        (9..12).for_each(|it| list.push(Value::I32(it)).unwrap());
        let shown = variable("l", &Value::Ref(Ref::List(Arc::new(list))));
        assert_eq!(shown.value, "[9, 10, 11]");
        assert_eq!(shown.in_hexadecimal().value, "[0x9, 0xa, 0xb]");
        let buffer = Arc::new(Buffer::from_bytes(&[0, 0, 128, 63, 7]).unwrap());
        let views = buffer_children(&buffer, BufferView::Choice, None);
        let texts: Vec<&str> = views.iter().map(|it| it.value.as_str()).collect();
        assert_eq!(texts, ["[0, 0, 128, 63, 7]", "[1065353216]", "[]", "[1]", "[]"]);
        let bytes = views[0].clone().in_hexadecimal().value;
        assert_eq!(bytes, "[0x0, 0x0, 0x80, 0x3f, 0x7]");
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let error = view(&[0; 8], "3xf32").unwrap_err();
        assert!(matches!(error, ViewError::DoesNotFitBuffer { length: 8, .. }), "{error}");
        assert!(view(&[0; 8], "99999999999x99999999999xf32").is_err());
        let empty = view(&[], "0x4xf32").unwrap();
        assert_eq!(empty.short(), "[]");
    }
}
