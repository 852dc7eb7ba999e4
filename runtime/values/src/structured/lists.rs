//! Lists of the VM, as arguments need them.

use std::sync::Arc;

use abi::signature::{ScalarType, Type};
use vm::{ExecutionLimits, List, Ref, Value};

use super::error::StructureError;

/// The error of a list or tensor without memory.
pub(super) fn memory(path: &str, status: &vm::Status) -> StructureError {
    StructureError { path: path.to_owned(), reason: status.to_string() }
}

/// An empty list of elements of a type, by its name.
pub(super) fn new_list(element_type: &str) -> List {
    let ty = vm::ElementType::parse(element_type).unwrap_or(vm::ElementType::Variant);
    List::new(ty, &ExecutionLimits::default())
}

/// The element type of a list of values of one type.
pub(super) fn list_type(element: &Type) -> &'static str {
    match element {
        Type::Scalar(ScalarType::Float(32)) => "f32",
        Type::Scalar(ScalarType::Float(64)) => "f64",
        Type::Scalar(scalar @ (ScalarType::Index | ScalarType::Integer(..))) => match scalar.bits()
        {
            8 => "i8",
            16 => "i16",
            1..=32 => "i32",
            _ => "i64",
        },
        _ => "?",
    }
}

/// Appends a value to a list.
pub(super) fn push(list: &List, value: Value, path: &str) -> Result<(), StructureError> {
    list.push(value).map_err(|status| memory(path, &status))
}

/// A list of the bytes of a text.
pub(super) fn list_of_bytes(bytes: &[u8], path: &str) -> Result<Value, StructureError> {
    let list = new_list("i8");
    list.reserve(bytes.len()).map_err(|status| memory(path, &status))?;
    for byte in bytes {
        push(&list, Value::I32(i32::from(byte.cast_signed())), path)?;
    }
    Ok(Value::Ref(Ref::List(Arc::new(list))))
}
