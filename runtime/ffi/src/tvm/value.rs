//! Tagged values and VM values, in both directions.
//!
//! | tagged | VM |
//! | --- | --- |
//! | int, bool, float | i32, i64, f32, f64, by what the function takes; integers are checked, 16-bit floats travel as bits |
//! | tensor | buffer view, memory shared |
//! | string, bytes | byte buffer |
//! | array, list, shape, tuple | list; where the signature has an array of references, that |
//! | map, dict, where the signature has keys | list, in the order of the signature |
//! | None | null |

use std::cell::RefCell;
use std::sync::Arc;

use abi::cconv::ValueType;
use abi::element_type::{ElementType as TensorElement, NumericalKind};
use abi::signature::{Array, ScalarType, Type};
use abi::tvm::any::AnyValue;
use abi::tvm::index;
use abi::tvm::layout::Any;
use hal::{BufferView, Host};
use half::{bf16, f16};
use vm::{ElementType, ExecutionLimits, List, Ref, Value};

use super::core::{Core, Handle, byte_array};
use super::error::FfiError;
use super::lenders::Lenders;
use super::object::{Lent, Object, bytes_of, import, items_of, raised};

/// The context of conversions.
#[derive(Clone, Copy)]
pub(crate) struct Boundary<'a> {
    pub(crate) core: &'a Core,
    pub(crate) host: &'a Host,
    /// The alignment that shared memory needs, in bytes.
    pub(crate) alignment: usize,
    /// The tensors of a call of the program, whose caller hears what is written into them.
    pub(crate) lenders: Option<&'a RefCell<Lenders>>,
}

/// Releases the reference of an owned value.
pub(crate) fn release(core: &Core, any: Any) {
    if any.type_index >= index::OBJECT && any.payload != 0 {
        // SAFETY: an owned value has a strong reference.
        drop(unsafe { Object::owned(core, any.payload as Handle) });
    }
}

impl Boundary<'_> {
    /// Converts a tagged value to a VM value of type `wanted`. `declared` is its type in the
    /// signature, if there is one.
    pub(crate) fn to_vm(
        self,
        any: &Any,
        wanted: &ValueType,
        declared: Option<&Type>,
    ) -> Result<Value, FfiError> {
        let mismatch =
            || expected(&declared.map_or_else(|| wanted.to_string(), ToString::to_string), any);
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
                    let narrow = match declared {
                        Some(Type::Scalar(scalar)) if scalar.bits() <= 32 => scalar.clone(),
                        _ => ScalarType::signless(32),
                    };
                    let (lowest, highest) = narrow.integer_range();
                    if !(lowest..=highest).contains(&value.into()) {
                        return Err(FfiError::new(
                            "ValueError",
                            format!("{value} does not fit {narrow}"),
                        ));
                    }
                    Value::I32(value as i32)
                }
            },
            ValueType::I64 => Value::I64(integer.ok_or_else(mismatch)?),
            ValueType::F32 => Value::F32(float.ok_or_else(mismatch)? as f32),
            ValueType::F64 => Value::F64(float.ok_or_else(mismatch)?),
            ValueType::Ref => Value::Ref(self.to_ref(any, declared, 0)?.ok_or_else(mismatch)?),
            ValueType::Span(_) => return Err(mismatch()),
        })
    }

    fn to_ref(
        self,
        any: &Any,
        declared: Option<&Type>,
        depth: usize,
    ) -> Result<Option<Ref>, FfiError> {
        if depth > 64 {
            return Err(FfiError::new("ValueError", "nested more than 64 levels deep"));
        }
        if matches!(any.type_index, index::TENSOR | index::DL_TENSOR_PTR) {
            // SAFETY: arguments and results are alive while they are converted.
            let view = unsafe { import(self.core, self.host, any, self.alignment, self.lenders) }?;
            check_tensor(declared, &view)?;
            return Ok(Some(Ref::object(view)));
        }
        if let Some(Type::Array(array)) = declared {
            return match of_references(array) {
                Some(element) => self.references(any, array, element, depth).map(Some),
                None => Ok(None),
            };
        }
        if any.type_index == index::NONE {
            return Ok(Some(Ref::Null));
        }
        // SAFETY: as above.
        if let Some(bytes) = unsafe { bytes_of(any) } {
            if is_text(declared) {
                return list_of_bytes(&bytes).map(Some);
            }
            let buffer = vm::Buffer::from_bytes(&bytes).map_err(memory)?;
            return Ok(Some(Ref::Buffer(Arc::new(buffer))));
        }
        if let (Some(Type::Dictionary(fields)), index::MAP | index::DICT) =
            (declared, any.type_index)
        {
            return self.dictionary(any, fields, depth).map(Some);
        }
        // SAFETY: as above.
        let Some(items) = (unsafe { items_of(any) }) else { return Ok(None) };
        if let Some(Type::Sequence(_, types)) = declared
            && types.len() != items.len()
        {
            return Err(FfiError::new(
                "ValueError",
                format!("expected {} items, got {}", types.len(), items.len()),
            ));
        }
        let list = List::new(ElementType::Variant, &ExecutionLimits::default());
        for (number, item) in items.iter().enumerate() {
            let value = self
                .item(item, item_type(declared, number), depth + 1)
                .map_err(|error| error.within(&format!("[{number}]")))?;
            list.push(value).map_err(memory)?;
        }
        Ok(Some(Ref::List(Arc::new(list))))
    }

    /// An array of references, from arrays inside of arrays: the list of its values in row-major
    /// order and the list of its dimensions, both in a list.
    fn references(
        self,
        any: &Any,
        array: &Array,
        element: &Type,
        depth: usize,
    ) -> Result<Ref, FfiError> {
        let mut rows = vec![*any];
        let mut shape = Vec::new();
        for _ in 0..array.shape.as_ref().map_or(1, Vec::len) {
            let mut next = Vec::new();
            let mut length = None;
            for row in &rows {
                // SAFETY: arguments and results are alive while they are converted.
                let items = unsafe { items_of(row) };
                let items = items.ok_or_else(|| expected(&nested_text(array, element), row))?;
                if length.is_some_and(|length| length != items.len()) {
                    return Err(FfiError::new(
                        "ValueError",
                        format!("expected rows of one length, got {} items", items.len()),
                    ));
                }
                length = Some(items.len());
                next.extend(items);
            }
            shape.push(length.unwrap_or(0) as u64);
            rows = next;
        }
        if !array.has_shape(&shape) {
            return Err(FfiError::new(
                "ValueError",
                format!("expected {}, got the shape {shape:?}", nested_text(array, element)),
            ));
        }
        let values = rows.iter().map(|row| self.item(row, Some(element), depth + 1));
        let values = list_of(values)?;
        let dimensions = list_of(shape.into_iter().map(|length| Ok(Value::I64(length as i64))))?;
        let both = [values, dimensions].map(|list| Ok(Value::Ref(list)));
        list_of(both)
    }

    /// The values of a mapping, in the order of the signature.
    fn dictionary(
        self,
        map: &Any,
        fields: &[(String, Type)],
        depth: usize,
    ) -> Result<Ref, FfiError> {
        let kind = if map.type_index == index::MAP { "ffi.Map" } else { "ffi.Dict" };
        let size = self.call_global(&format!("{kind}Size"), &mut [*map])?;
        if size.payload != fields.len() as u64 {
            return Err(FfiError::new(
                "ValueError",
                format!("expected {} keys, got {}", fields.len(), size.payload),
            ));
        }
        let list = List::new(ElementType::Variant, &ExecutionLimits::default());
        for (name, ty) in fields {
            let key = self.string(name)?;
            let found = self.call_global(&format!("{kind}GetItem"), &mut [*map, key]);
            release(self.core, key);
            let item = found.map_err(|_| {
                FfiError::new("KeyError", format!("missing; expected {ty}"))
                    .within(&format!("[{name:?}]"))
            })?;
            let value = self.item(&item, Some(ty), depth + 1);
            release(self.core, item);
            list.push(value.map_err(|error| error.within(&format!("[{name:?}]")))?)
                .map_err(memory)?;
        }
        Ok(Ref::List(Arc::new(list)))
    }

    /// Converts an item of a list, by its type in the signature, or by its tag.
    fn item(self, any: &Any, declared: Option<&Type>, depth: usize) -> Result<Value, FfiError> {
        match declared {
            Some(ty @ Type::Scalar(_)) => {
                let wanted = abi::cconv_layout::lower_type(ty, &mut Vec::new())
                    .map_err(|why| FfiError::new("TypeError", why))?;
                self.to_vm(any, &wanted, declared)
            }
            Some(
                ty @ (Type::Array(_) | Type::Sequence(..) | Type::Dictionary(_) | Type::List(_)),
            ) => {
                let found = self.to_ref(any, declared, depth)?;
                Ok(Value::Ref(found.ok_or_else(|| expected(&ty.to_string(), any))?))
            }
            _ => self.dynamic(any, depth),
        }
    }

    /// Converts a tagged value by its tag.
    fn dynamic(self, any: &Any, depth: usize) -> Result<Value, FfiError> {
        Ok(match any.decode().map_err(|error| FfiError::new("TypeError", error.to_string()))? {
            AnyValue::Int(value) => Value::I64(value),
            AnyValue::Bool(value) => Value::I32(value.into()),
            AnyValue::Float(value) => Value::F64(value),
            _ => Value::Ref(self.to_ref(any, None, depth)?.ok_or_else(|| {
                FfiError::new(
                    "TypeError",
                    format!("{} has no form in the VM", index::describe(any.type_index)),
                )
            })?),
        })
    }

    /// Converts a VM value to an owned tagged value.
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
            (Value::I32(value), Some(Type::Scalar(scalar @ ScalarType::Integer(_, 1..=32)))) => {
                let value = scalar.integer_of((*value).into());
                Any::int(i64::try_from(value).unwrap_or_default())
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
            (Value::Ref(Ref::List(list)), Some(Type::Array(array)))
                if of_references(array).is_some() =>
            {
                let (rows, ty) = rows_of(list, array)?;
                self.to_any_at(&rows, Some(&ty), depth + 1)?
            }
            (Value::Ref(Ref::List(list)), _) => {
                let items: Vec<Value> = (0..list.len())
                    .map(|index| list.get(index).unwrap_or(Value::Ref(Ref::Null)))
                    .collect();
                self.structure(&items, declared, depth)?
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

    /// Converts values to the structure of a type: a mapping, a string, or an array object.
    pub(crate) fn structure(
        self,
        values: &[Value],
        declared: Option<&Type>,
        depth: usize,
    ) -> Result<Any, FfiError> {
        if declared == Some(&Type::String)
            && let Some(text) = text_of(values)
        {
            return self.string(&text);
        }
        let keys: &[(String, Type)] = match declared {
            Some(Type::Dictionary(fields)) if fields.len() == values.len() => fields,
            _ => &[],
        };
        let mut items = Vec::new();
        let mut made = Ok(());
        for (number, value) in values.iter().enumerate() {
            let key = keys.get(number).map(|(name, _)| self.string(name)).transpose();
            let item = self.to_any_at(value, item_type(declared, number), depth + 1);
            match key {
                Ok(key) => items.extend(key),
                Err(error) => made = Err(error),
            }
            match item {
                Ok(item) => items.push(item),
                Err(error) => made = Err(error.within(&format!("[{number}]"))),
            }
            if made.is_err() {
                break;
            }
        }
        let is_map = matches!(declared, Some(Type::Dictionary(_))) && keys.len() == values.len();
        let make = if is_map { "ffi.Map" } else { "ffi.Array" };
        let made = made.and_then(|()| self.call_global(make, &mut items));
        items.into_iter().for_each(|item| release(self.core, item));
        made
    }

    /// A part of the structure of results, from the raw results and their types.
    pub(crate) fn collected(
        self,
        part: &Type,
        raw: &[Value],
        types: &[Type],
    ) -> Result<Any, FfiError> {
        let (keys, parts): (Vec<&str>, Vec<&Type>) = match part {
            Type::Position(index) => {
                let index = *index as usize;
                let value = raw.get(index).ok_or_else(|| {
                    FfiError::new("ValueError", format!("there is no raw result {index}"))
                })?;
                return self.to_any(value, types.get(index));
            }
            Type::Sequence(_, parts) => (Vec::new(), parts.iter().collect()),
            Type::Dictionary(parts) => parts.iter().map(|(key, part)| (&**key, part)).unzip(),
            _ => return Ok(Any::default()),
        };
        let make = if matches!(part, Type::Dictionary(_)) { "ffi.Map" } else { "ffi.Array" };
        let mut items = Vec::new();
        let made = parts.into_iter().enumerate().try_for_each(|(number, part)| {
            if let Some(key) = keys.get(number) {
                items.push(self.string(key)?);
            }
            items.push(self.collected(part, raw, types)?);
            Ok(())
        });
        let made = made.and_then(|()| self.call_global(make, &mut items));
        items.into_iter().for_each(|item| release(self.core, item));
        made
    }

    /// Calls a global function of the runtime library; the result is owned.
    pub(crate) fn call_global(self, name: &str, arguments: &mut [Any]) -> Result<Any, FfiError> {
        self.call_object(&Object::global(self.core, name)?, arguments)
    }

    /// Calls a function object; the result is owned.
    pub(crate) fn call_object(
        self,
        function: &Object,
        arguments: &mut [Any],
    ) -> Result<Any, FfiError> {
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

/// The type of an item of a list.
fn item_type(declared: Option<&Type>, number: usize) -> Option<&Type> {
    match declared? {
        Type::Sequence(_, types) => types.get(number),
        Type::Dictionary(fields) => fields.get(number).map(|(_, ty)| ty),
        Type::List(element) => Some(element),
        _ => None,
    }
}

/// Whether a signature passes text as a list of bytes.
fn is_text(declared: Option<&Type>) -> bool {
    match declared {
        Some(Type::String) => true,
        Some(Type::List(element)) => **element == Type::scalar("i8"),
        _ => false,
    }
}

fn list_of_bytes(bytes: &[u8]) -> Result<Ref, FfiError> {
    let ty = ElementType::parse("i8").unwrap_or(ElementType::Variant);
    let list = List::new(ty, &ExecutionLimits::default());
    list.reserve(bytes.len()).map_err(memory)?;
    for byte in bytes {
        list.push(Value::I32(byte.cast_signed().into())).map_err(memory)?;
    }
    Ok(Ref::List(Arc::new(list)))
}

/// The text with these bytes.
fn text_of(values: &[Value]) -> Option<String> {
    let bytes = values.iter().map(|value| match value {
        Value::I32(byte) => Some(*byte as u8),
        _ => None,
    });
    String::from_utf8(bytes.collect::<Option<_>>()?).ok()
}

/// The type of the elements of an array that is no tensor.
fn of_references(array: &Array) -> Option<&Type> {
    match &*array.element {
        Type::Scalar(_) | Type::Unknown | Type::Any => None,
        element => Some(element),
    }
}

fn nested_text(array: &Array, element: &Type) -> String {
    let rank = array.shape.as_ref().map_or(1, Vec::len);
    format!("arrays of {element}, {rank} deep")
}

fn list_of(values: impl IntoIterator<Item = Result<Value, FfiError>>) -> Result<Ref, FfiError> {
    let list = List::new(ElementType::Variant, &ExecutionLimits::default());
    for value in values {
        list.push(value?).map_err(memory)?;
    }
    Ok(Ref::List(Arc::new(list)))
}

/// An array of references as lists inside of lists, and the type of that.
fn rows_of(list: &List, array: &Array) -> Result<(Value, Type), FfiError> {
    let wrong = || {
        FfiError::new("ValueError", "an array of references is a list of values and one of lengths")
    };
    let (Some(Value::Ref(Ref::List(values))), Some(Value::Ref(Ref::List(lengths)))) =
        (list.get(0), list.get(1))
    else {
        return Err(wrong());
    };
    let item = |list: &List, at| list.get(at).unwrap_or(Value::Ref(Ref::Null));
    let mut rows: Vec<Value> = (0..values.len()).map(|at| item(&values, at)).collect();
    let mut ty = Type::List(array.element.clone());
    let lengths = (0..lengths.len()).map(|at| match item(&lengths, at) {
        Value::I64(length) => usize::try_from(length).ok(),
        Value::I32(length) => usize::try_from(length).ok(),
        _ => None,
    });
    let lengths: Vec<usize> = lengths.collect::<Option<_>>().ok_or_else(wrong)?;
    let count = lengths.iter().try_fold(1_usize, |count, length| count.checked_mul(*length));
    if count != Some(rows.len()) {
        return Err(wrong());
    }
    for length in lengths.iter().skip(1).rev().filter(|length| **length > 0) {
        let chunks = rows.chunks(*length);
        let chunks = chunks.map(|row| Ok(Value::Ref(list_of(row.iter().cloned().map(Ok))?)));
        rows = chunks.collect::<Result<_, FfiError>>()?;
        ty = Type::List(Box::new(ty));
    }
    Ok((Value::Ref(list_of(rows.into_iter().map(Ok))?), ty))
}

fn expected(what: &str, any: &Any) -> FfiError {
    let found = index::describe(any.type_index);
    FfiError::new("TypeError", format!("expected {what}, got {found}"))
}

/// Checks that a tensor has the element type and shape that the signature declares. The module
/// checks them too, with less clear errors.
fn check_tensor(declared: Option<&Type>, view: &BufferView) -> Result<(), FfiError> {
    let Some(ty @ Type::Array(array)) = declared else { return Ok(()) };
    let found = TensorElement::from_any_code(view.element_code());
    let fits = array.has_shape(view.shape());
    let same_element = match &*array.element {
        Type::Scalar(scalar) => scalar.element_type().is_none_or(|wanted| {
            let found_integer = matches!(
                found.kind,
                NumericalKind::Integer
                    | NumericalKind::SignedInteger
                    | NumericalKind::UnsignedInteger
            );
            wanted == found || scalar.is_integer() && found_integer && wanted.bits == found.bits
        }),
        _ => true,
    };
    if fits && same_element {
        return Ok(());
    }
    let shape = abi::tensor::TensorType { shape: view.shape().to_vec(), element_type: found };
    Err(FfiError::new(
        if same_element { "ValueError" } else { "TypeError" },
        format!("expected {ty}, got {shape}"),
    ))
}

#[allow(clippy::needless_pass_by_value)] // `map_err` passes it by value
fn memory(status: vm::Status) -> FfiError {
    FfiError::new("MemoryError", status.to_string())
}
