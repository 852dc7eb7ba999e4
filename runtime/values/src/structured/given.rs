//! Values that a caller has beside its JSON: tensors in memory, and bytes.

use std::fmt::Write;
use std::sync::Arc;

use abi::element_type::{ElementType, NumericalKind};
use abi::json::{Json, Value as JsonValue};
use abi::signature::{ScalarType, Type};
use abi::tensor::TensorType;
use hal::BufferView;
use vm::{Ref, Value};

use super::error::{StructureError, describe, fail, is_untyped};
use super::lists::{list_of_bytes, memory};

/// The only key of an object that stands for a tensor, by its number. No key of a user's begins so.
pub const TENSOR: &str = "\0tensor";

/// The only key of an object that stands for bytes, by their hexadecimal digits.
pub const BYTES: &str = "\0bytes";

/// What stands beside the JSON.
pub(super) enum Given<'a> {
    Tensor(&'a BufferView),
    Bytes(Vec<u8>),
}

impl<'a> Given<'a> {
    /// What the object `{key: value}` stands for.
    pub(super) fn of(key: &str, value: &Json, tensors: &'a [BufferView]) -> Option<Self> {
        match (key, &value.value) {
            (TENSOR, JsonValue::Number(number)) => {
                tensors.get(number.parse::<usize>().ok()?).map(Self::Tensor)
            }
            (BYTES, JsonValue::String(digits)) => {
                let digit = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
                (0..digits.len()).step_by(2).map(digit).collect::<Option<_>>().map(Self::Bytes)
            }
            _ => None,
        }
    }

    fn shown(&self) -> String {
        let mut out = String::new();
        let _ = match self {
            Self::Tensor(view) => {
                let element_type = ElementType::from_any_code(view.element_code());
                let tensor_type = TensorType { shape: view.shape().to_vec(), element_type };
                write!(out, "a tensor {tensor_type}")
            }
            Self::Bytes(bytes) => write!(out, "{} bytes", bytes.len()),
        };
        out
    }
}

/// The value of a type.
pub(super) fn given_value(
    ty: &Type,
    given: Given<'_>,
    path: &str,
) -> Result<Value, StructureError> {
    let mismatch = || fail(path, format!("expected {}, got {}", describe(ty), given.shown()));
    match (ty, &given) {
        (Type::Optional(inner), _) => given_value(inner, given, path),
        (Type::Array(array), Given::Tensor(view)) => {
            let found = ElementType::from_any_code(view.element_code());
            let wanted = match &*array.element {
                Type::Scalar(scalar) => scalar.element_type(),
                element if is_untyped(element) => Some(found),
                _ => None,
            };
            let Some(wanted) = wanted.filter(|wanted| is_same_element(*wanted, found)) else {
                return mismatch();
            };
            if !array.has_shape(view.shape()) {
                return mismatch();
            }
            let (buffer, shape) = (view.buffer().clone(), view.shape().to_vec());
            let view = BufferView::new(buffer, shape, wanted.code(), view.encoding());
            Ok(Value::Ref(Ref::object(view)))
        }
        (ty, Given::Tensor(view)) if is_untyped(ty) && *ty != Type::Null => {
            Ok(Value::Ref(Ref::object((*view).clone())))
        }
        (Type::String | Type::Bytes, Given::Bytes(bytes)) => list_of_bytes(bytes, path),
        (Type::List(element), Given::Bytes(bytes)) if is_byte(element) => {
            list_of_bytes(bytes, path)
        }
        (ty, Given::Bytes(bytes)) if is_untyped(ty) && *ty != Type::Null => {
            let buffer = vm::Buffer::from_bytes(bytes).map_err(|status| memory(path, &status))?;
            Ok(Value::Ref(Ref::Buffer(Arc::new(buffer))))
        }
        _ => mismatch(),
    }
}

fn is_byte(element: &Type) -> bool {
    matches!(element, Type::Scalar(ScalarType::Integer(_, 8)))
}

/// Whether element types are the same. A signless integer is the same as a signed or unsigned one
/// of its width.
pub(super) fn is_same_element(wanted: ElementType, found: ElementType) -> bool {
    let kind = |ty: ElementType| match ty.kind {
        NumericalKind::SignedInteger | NumericalKind::UnsignedInteger => NumericalKind::Integer,
        kind => kind,
    };
    let is_signless = wanted.kind == NumericalKind::Integer || found.kind == NumericalKind::Integer;
    wanted == found || is_signless && kind(wanted) == kind(found) && wanted.bits == found.bits
}
