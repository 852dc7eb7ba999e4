//! Tagged values and VM values, in both directions.
//!
//! | tagged | VM |
//! | --- | --- |
//! | int, bool, float | i32, i64, f32, f64, by what the function takes; integers are checked, 16-bit floats travel as bits |
//! | tensor | buffer view, memory shared |
//! | string, bytes | byte buffer |
//! | array, list, shape, tuple | list |
//! | None | null |

use std::sync::Arc;

use abi::cconv::ValueType;
use abi::signature::{ScalarType, Type};
use abi::tvm::any::AnyValue;
use abi::tvm::index;
use abi::tvm::layout::Any;
use hal::buffer_view::BufferView;
use hal::modules::Host;
use half::{bf16, f16};
use vm::{ElementType, ExecutionLimits, List, Ref, Value};

use super::FfiError;
use super::core::{Core, Handle, byte_array};
use super::object::{Lent, Object, bytes_of, error_of, import, items_of};

/// What conversions need.
#[derive(Clone, Copy)]
pub(crate) struct Boundary<'a> {
    pub(crate) core: &'a Core,
    pub(crate) host: &'a Host,
    /// What shared memory must be aligned to.
    pub(crate) alignment: usize,
}

/// The error that a failed call left.
pub(crate) fn raised(core: &Core) -> FfiError {
    let mut handle: Handle = std::ptr::null_mut();
    // SAFETY: the library writes the address of an error object, or null.
    unsafe { (core.error_take)(&mut handle) };
    if handle.is_null() {
        return FfiError::new("RuntimeError", "the function failed and left no error");
    }
    // SAFETY: the reference was moved to us.
    let error = unsafe { Object::owned(core, handle) };
    // SAFETY: it is alive.
    unsafe { error_of(error.handle()) }
}

/// Drops what an owned value refers to.
pub(crate) fn release(core: &Core, any: Any) {
    if any.type_index >= index::OBJECT && any.payload != 0 {
        // SAFETY: an owned value has a strong reference.
        drop(unsafe { Object::owned(core, any.payload as Handle) });
    }
}

impl Boundary<'_> {
    /// A tagged value as a VM value of a type. `declared` is what the signature says beyond that.
    pub(crate) fn to_vm(
        self,
        any: &Any,
        wanted: &ValueType,
        declared: Option<&Type>,
    ) -> Result<Value, FfiError> {
        let mismatch = || {
            let expected = declared.map_or_else(|| wanted.to_string(), ToString::to_string);
            FfiError::new(
                "TypeError",
                format!("expected {expected}, got {}", index::describe(any.type_index)),
            )
        };
        let value = any.decode().map_err(|error| FfiError::new("TypeError", error.to_string()))?;
        let integer = match value {
            AnyValue::Int(value) => Some(value),
            AnyValue::Bool(value) => Some(value.into()),
            _ => None,
        };
        let float = match value {
            AnyValue::Float(value) => Some(value),
            _ => integer.map(|value| value as f64),
        };
        Ok(match wanted {
            ValueType::I32 => match declared {
                Some(Type::Scalar(ScalarType::Float(16))) => {
                    Value::I32(f16::from_f64(float.ok_or_else(mismatch)?).to_bits().into())
                }
                Some(Type::Scalar(scalar)) if *scalar == ScalarType::BF16 => {
                    Value::I32(bf16::from_f64(float.ok_or_else(mismatch)?).to_bits().into())
                }
                _ => {
                    let value = integer.ok_or_else(mismatch)?;
                    let bits = match declared {
                        Some(Type::Scalar(scalar)) => scalar.bits().clamp(1, 32),
                        _ => 32,
                    };
                    if !(-(1_i64 << (bits.max(2) - 1))..1_i64 << bits).contains(&value) {
                        return Err(FfiError::new(
                            "OverflowError",
                            format!("{value} does not fit {bits} bits"),
                        ));
                    }
                    Value::I32(value as i32)
                }
            },
            ValueType::I64 => Value::I64(integer.ok_or_else(mismatch)?),
            ValueType::F32 => Value::F32(float.ok_or_else(mismatch)? as f32),
            ValueType::F64 => Value::F64(float.ok_or_else(mismatch)?),
            ValueType::Ref => Value::Ref(self.to_ref(any, 0)?.ok_or_else(mismatch)?),
            ValueType::Span(_) => return Err(mismatch()),
        })
    }

    fn to_ref(self, any: &Any, depth: usize) -> Result<Option<Ref>, FfiError> {
        if depth > 64 {
            return Err(FfiError::new("ValueError", "nested more than 64 levels deep"));
        }
        if any.type_index == index::NONE {
            return Ok(Some(Ref::Null));
        }
        if matches!(any.type_index, index::TENSOR | index::DL_TENSOR_PTR) {
            // SAFETY: arguments and results are alive while they are converted.
            let view = unsafe { import(self.core, self.host, any, self.alignment) }?;
            return Ok(Some(Ref::object(view)));
        }
        // SAFETY: as above.
        if let Some(bytes) = unsafe { bytes_of(any) } {
            let buffer = vm::Buffer::from_bytes(&bytes).map_err(memory)?;
            return Ok(Some(Ref::Buffer(Arc::new(buffer))));
        }
        // SAFETY: as above.
        let Some(items) = (unsafe { items_of(any) }) else { return Ok(None) };
        let list = List::new(ElementType::Variant, &ExecutionLimits::default());
        for item in &items {
            list.push(self.dynamic(item, depth + 1)?).map_err(memory)?;
        }
        Ok(Some(Ref::List(Arc::new(list))))
    }

    /// A tagged value by what it is.
    fn dynamic(self, any: &Any, depth: usize) -> Result<Value, FfiError> {
        Ok(match any.decode().map_err(|error| FfiError::new("TypeError", error.to_string()))? {
            AnyValue::Int(value) => Value::I64(value),
            AnyValue::Bool(value) => Value::I32(value.into()),
            AnyValue::Float(value) => Value::F64(value),
            _ => Value::Ref(self.to_ref(any, depth)?.ok_or_else(|| {
                FfiError::new(
                    "TypeError",
                    format!("{} has no form in the VM", index::describe(any.type_index)),
                )
            })?),
        })
    }

    /// A VM value as an owned tagged value.
    pub(crate) fn to_any(self, value: &Value, declared: Option<&Type>) -> Result<Any, FfiError> {
        self.to_any_at(value, declared, 0)
    }

    fn to_any_at(
        self,
        value: &Value,
        declared: Option<&Type>,
        depth: usize,
    ) -> Result<Any, FfiError> {
        if depth > 64 {
            return Err(FfiError::new("ValueError", "nested more than 64 levels deep"));
        }
        Ok(match (value, declared) {
            (Value::I32(value), Some(Type::Scalar(ScalarType::Float(16)))) => {
                Any::float(f16::from_bits(*value as u16).to_f64())
            }
            (Value::I32(value), Some(Type::Scalar(scalar))) if *scalar == ScalarType::BF16 => {
                Any::float(bf16::from_bits(*value as u16).to_f64())
            }
            (Value::I32(value), Some(Type::Scalar(ScalarType::Integer(_, 1)))) => {
                Any::bool(*value & 1 != 0)
            }
            (Value::I32(value), _) => Any::int((*value).into()),
            (Value::I64(value), _) => Any::int(*value),
            (Value::F32(value), _) => Any::float((*value).into()),
            (Value::F64(value), _) => Any::float(*value),
            (Value::Ref(Ref::Null), _) => Any::default(),
            (Value::Ref(Ref::Buffer(buffer)), _) => {
                let bytes = buffer.read(0, buffer.len());
                let array = byte_array(&bytes);
                let mut any = Any::default();
                // SAFETY: the bytes live until the call is over, which copies them.
                let code = unsafe { (self.core.bytes)(&array, &mut any) };
                if code != 0 {
                    return Err(raised(self.core));
                }
                any
            }
            (Value::Ref(Ref::List(list)), _) => {
                let items: Vec<Option<Value>> =
                    (0..list.len()).map(|index| list.get(index)).collect();
                let items: Vec<&Value> = items
                    .iter()
                    .map(|item| item.as_ref().unwrap_or(&Value::Ref(Ref::Null)))
                    .collect();
                self.array(&items, |_| None, depth)?
            }
            (Value::Ref(reference), _) => match reference.downcast::<BufferView>() {
                Some(view) => Any {
                    type_index: index::TENSOR,
                    small_len: 0,
                    payload: Lent::new(view)?.into_object(self.core)?.into_handle() as u64,
                },
                None => {
                    let name = reference.type_name();
                    return Err(FfiError::new(
                        "TypeError",
                        format!("!{name} has no form in TVM FFI"),
                    ));
                }
            },
        })
    }

    /// Values as an array object.
    pub(crate) fn array<'t>(
        self,
        values: &[&Value],
        declared: impl Fn(usize) -> Option<&'t Type>,
        depth: usize,
    ) -> Result<Any, FfiError> {
        let make = self.core.global("ffi.Array")?;
        let mut items = Vec::new();
        let mut result = Ok(());
        for (index, value) in values.iter().enumerate() {
            match self.to_any_at(value, declared(index), depth + 1) {
                Ok(any) => items.push(any),
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        let array = result.and_then(|()| self.call_object(&make, &mut items));
        items.into_iter().for_each(|item| release(self.core, item));
        array
    }

    /// Calls a function object; the result is owned.
    fn call_object(self, function: &Object, arguments: &mut [Any]) -> Result<Any, FfiError> {
        let mut result = Any::default();
        let count = i32::try_from(arguments.len())
            .map_err(|_| FfiError::new("ValueError", "more values than an array can be made of"))?;
        // SAFETY: a function object, and values that live until the call is over.
        let code = unsafe {
            (self.core.function_call)(function.handle(), arguments.as_mut_ptr(), count, &mut result)
        };
        if code != 0 {
            return Err(raised(self.core));
        }
        Ok(result)
    }

    /// A string as an owned tagged value.
    pub(crate) fn string(self, text: &str) -> Result<Any, FfiError> {
        let array = byte_array(text.as_bytes());
        let mut any = Any::default();
        // SAFETY: the text lives until the call is over, which copies it.
        let code = unsafe { (self.core.string)(&array, &mut any) };
        if code != 0 {
            return Err(raised(self.core));
        }
        Ok(any)
    }
}

#[allow(clippy::needless_pass_by_value)] // it is what `map_err` gives
fn memory(status: vm::Status) -> FfiError {
    FfiError::new("MemoryError", status.to_string())
}
