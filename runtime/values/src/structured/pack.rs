//! Arguments: JSON to VM values, by the types of a signature.
//!
//! An array is given as nested JSON arrays of numbers, as `"@file.npy"`, or as text of the command
//! line (`"2x2xf32=1 2 3 4"`). Numbers are read from their text, so 64-bit integers keep all bits.

use std::fmt::Write;
use std::sync::Arc;

use abi::cconv::ValueType;
use abi::element_type::{ElementType, NumericalKind};
use abi::explain::CallForm;
use abi::json::{Json, Value as JsonValue};
use abi::signature::{Array, ScalarType, Type};
use abi::tensor::{Tensor, TensorType};
use hal::{BufferView, Host};
use vm::{List, Ref, Value};

use super::arguments::Inputs;
use super::error::{StructureError, describe, fail, is_untyped};
use super::given::{Given, given_value, is_same_element};
use super::lists::{list_of_bytes, list_type, memory, new_list, push};
use super::spread::spread_out;

/// The most bytes of a tensor from text.
const LARGEST: usize = 16 << 30;

/// The VM's arguments for a function that is called in this form, whose calling convention has
/// `types`.
///
/// # Errors
/// A value does not fit its type. The error names its place.
pub fn pack(
    host: &Host,
    form: &CallForm,
    types: &[ValueType],
    inputs: &Inputs,
) -> Result<Vec<Value>, StructureError> {
    pack_with(host, form, types, inputs, &[])
}

/// The same for a caller that has tensors and bytes, which JSON cannot hold: `TENSOR` and
/// `BYTES` stand for them.
///
/// # Errors
/// A value does not fit its type. The error names its place.
pub fn pack_with(
    host: &Host,
    form: &CallForm,
    types: &[ValueType],
    inputs: &Inputs,
    tensors: &[BufferView],
) -> Result<Vec<Value>, StructureError> {
    let packer = Packer { host, tensors };
    let given = inputs.in_order(&form.function)?;
    let given = match &form.spread {
        None => {
            let arguments = form.function.arguments.iter();
            arguments.zip(given).map(|(slot, (path, json))| (&slot.ty, path, json)).collect()
        }
        Some(spread) => spread_out(spread, given)?,
    };
    if types.len() < given.len() {
        let (found, taken) = (given.len(), types.len());
        return fail(
            "args",
            format!("the signature has {found} arguments, the calling convention {taken}"),
        );
    }
    let null = Json { position: 0, value: JsonValue::Null };
    let given = given.into_iter().zip(types);
    let values = given.map(|((ty, path, json), value_type)| {
        let is_optional = matches!(ty, Type::Optional(_));
        let Some(json) = json.or_else(|| is_optional.then_some(&null)) else {
            return fail(&path, format!("missing; expected {}", describe(ty)));
        };
        convert(packer.value(ty, json, &path, 0)?, value_type, &path)
    });
    values.collect()
}

/// Converts a value to the type in the calling convention: the compiler may have demoted f64 to
/// f32, or pass `index` as i32.
fn convert(value: Value, wanted: &ValueType, path: &str) -> Result<Value, StructureError> {
    let found = value.value_type();
    Ok(match (value, wanted) {
        (Value::F64(value), ValueType::F32) => Value::F32(value as f32),
        (Value::F32(value), ValueType::F64) => Value::F64(value.into()),
        (Value::I32(value), ValueType::I64) => Value::I64(value.into()),
        (Value::I64(value), ValueType::I32) => match i32::try_from(value) {
            Ok(value) => Value::I32(value),
            Err(_) => {
                return fail(
                    path,
                    format!("{value} does not fit the 32 bits that the function takes"),
                );
            }
        },
        (Value::I64(value), ValueType::F32) => Value::F32(value as f32),
        (Value::I64(value), ValueType::F64) => Value::F64(value as f64),
        (value, wanted) if found == *wanted => value,
        _ => return fail(path, format!("the function takes {wanted} here, the value is {found}")),
    })
}

struct Packer<'a> {
    host: &'a Host,
    tensors: &'a [BufferView],
}

/// A path followed by an index.
fn item(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}

impl Packer<'_> {
    fn value(
        &self,
        ty: &Type,
        json: &Json,
        path: &str,
        depth: usize,
    ) -> Result<Value, StructureError> {
        if depth > 64 {
            return fail(path, "nested more than 64 levels deep");
        }
        if let Some(given) = self.given(json) {
            return given_value(ty, given, path);
        }
        let mismatch = || fail(path, format!("expected {}, got {}", describe(ty), shown(json)));
        Ok(match (ty, &json.value) {
            (Type::Scalar(scalar), _) => self.scalar(scalar, json, path)?,
            (Type::Null, JsonValue::Null) => Value::Ref(Ref::Null),
            (Type::Array(array), _) => match &*array.element {
                Type::Scalar(_) => Value::Ref(self.array(array, json, path)?),
                element if is_untyped(element) => Value::Ref(self.array(array, json, path)?),
                element => self.references(element, array, json, path, depth)?,
            },
            (Type::String | Type::Bytes, JsonValue::String(text)) => {
                list_of_bytes(text.as_bytes(), path)?
            }
            (Type::List(element), JsonValue::String(text)) if **element == Type::scalar("i8") => {
                list_of_bytes(text.as_bytes(), path)?
            }
            (Type::List(element), JsonValue::Array(items)) => {
                let list = new_list(list_type(element));
                for (index, json) in items.iter().enumerate() {
                    let value = self.value(element, json, &item(path, index), depth + 1)?;
                    push(&list, value, path)?;
                }
                Value::Ref(Ref::List(Arc::new(list)))
            }
            (Type::Sequence(_, types), JsonValue::Array(items)) => {
                if types.len() != items.len() {
                    return fail(
                        path,
                        format!("expected {} items, got {}", types.len(), items.len()),
                    );
                }
                let list = new_list("?");
                for (index, (ty, json)) in types.iter().zip(items).enumerate() {
                    push_slot(&list, self, ty, json, &item(path, index), depth + 1)?;
                }
                Value::Ref(Ref::List(Arc::new(list)))
            }
            (Type::Dictionary(fields), JsonValue::Object(items)) => {
                if let Some((extra, _)) =
                    items.iter().find(|(key, _)| !fields.iter().any(|(name, _)| name == key))
                {
                    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
                    return fail(
                        &format!("{path}[{extra:?}]"),
                        format!("no such key; there are: {}", names.join(", ")),
                    );
                }
                let list = new_list("?");
                for (key, ty) in fields {
                    let path = format!("{path}[{key:?}]");
                    match json.get(key) {
                        Some(json) => push_slot(&list, self, ty, json, &path, depth + 1)?,
                        None if *ty == Type::Null => {
                            list.resize(list.len() + 1).map_err(|status| memory(&path, &status))?;
                        }
                        None => return fail(&path, format!("missing; expected {}", describe(ty))),
                    }
                }
                Value::Ref(Ref::List(Arc::new(list)))
            }
            (Type::Optional(_), JsonValue::Null) => Value::Ref(Ref::Null),
            (Type::Optional(inner), _) => self.value(inner, json, path, depth + 1)?,
            (Type::Reference(Some(name)), JsonValue::Null) if !name.is_empty() => {
                Value::Ref(Ref::Null)
            }
            (ty, _) if is_untyped(ty) && *ty != Type::Null => self.dynamic(json, path, depth)?,
            _ => return mismatch(),
        })
    }

    /// What an object of one key stands for.
    fn given(&self, json: &Json) -> Option<Given<'_>> {
        let JsonValue::Object(fields) = &json.value else { return None };
        let [(key, value)] = &fields[..] else { return None };
        Given::of(key, value, self.tensors)
    }

    /// Packs a value by its JSON type.
    fn dynamic(&self, json: &Json, path: &str, depth: usize) -> Result<Value, StructureError> {
        let list = |items: Vec<(String, &Json)>| {
            let list = new_list("?");
            for (path, json) in items {
                push(&list, self.value(&Type::Any, json, &path, depth + 1)?, &path)?;
            }
            Ok(Value::Ref(Ref::List(Arc::new(list))))
        };
        Ok(match &json.value {
            JsonValue::Null => Value::Ref(Ref::Null),
            JsonValue::Bool(value) => Value::I64((*value).into()),
            JsonValue::Number(text) => match text.parse::<i64>() {
                Ok(value) => Value::I64(value),
                Err(_) => Value::F64(float(text, path)?),
            },
            JsonValue::String(text)
                if text.starts_with('@')
                    || TensorType::parse(text.split('=').next().unwrap_or("")).is_ok() =>
            {
                Value::Ref(self.tensor_text(text, path)?)
            }
            JsonValue::String(text) => list_of_bytes(text.as_bytes(), path)?,
            JsonValue::Array(items) => list(
                items.iter().enumerate().map(|(index, json)| (item(path, index), json)).collect(),
            )?,
            JsonValue::Object(fields) => {
                let mut sorted: Vec<_> = fields.iter().map(|(key, json)| (key, json)).collect();
                sorted.sort_by_key(|(key, _)| *key);
                list(
                    sorted
                        .into_iter()
                        .map(|(key, json)| (format!("{path}[{key:?}]"), json))
                        .collect(),
                )?
            }
        })
    }

    fn scalar(
        &self,
        scalar: &ScalarType,
        json: &Json,
        path: &str,
    ) -> Result<Value, StructureError> {
        let mismatch = || fail(path, format!("expected {scalar}, got {}", shown(json)));
        let number = match &json.value {
            JsonValue::Number(text) => text.as_str(),
            JsonValue::Bool(true) => "1",
            JsonValue::Bool(false) => "0",
            JsonValue::String(text) if is_special(text) => text.as_str(),
            _ => return mismatch(),
        };
        match scalar {
            ScalarType::Index | ScalarType::Integer(..) => {
                let Ok(value) = number.parse::<i128>() else { return mismatch() };
                let (lowest, highest) = scalar.integer_range();
                if !(lowest..=highest).contains(&value) {
                    return fail(path, format!("{value} does not fit {scalar}"));
                }
                let is_wide = scalar.bits() > 32;
                Ok(if is_wide { Value::I64(value as i64) } else { Value::I32(value as i32) })
            }
            ScalarType::Float(64) => Ok(Value::F64(float(number, path)?)),
            ScalarType::Float(32) => Ok(Value::F32(float(number, path)? as f32)),
            // 16-bit floats are passed as bits, in an i32.
            scalar if scalar.bits() == 16 => {
                let mut bytes = Vec::new();
                let ty = scalar.element_type().ok_or_else(|| no_element(scalar, path))?;
                self.element(ty, number, &mut bytes, path)?;
                Ok(Value::I32(i32::from(u16::from_le_bytes([bytes[0], bytes[1]]))))
            }
            _ => fail(path, format!("the VM passes no scalars of type {scalar}")),
        }
    }

    /// Appends an element, with the parser of tensor text.
    fn element(
        &self,
        ty: ElementType,
        number: &str,
        out: &mut Vec<u8>,
        path: &str,
    ) -> Result<(), StructureError> {
        let tensor = Tensor::parse(&format!("{ty}={number}"), LARGEST);
        match tensor {
            Ok(tensor) => {
                out.extend(tensor.bytes);
                Ok(())
            }
            Err(_) => fail(path, format!("expected {ty}, got {number}")),
        }
    }

    fn tensor_text(&self, text: &str, path: &str) -> Result<Ref, StructureError> {
        let tensor = self.read_tensor(text, path)?;
        self.import(&tensor, path)
    }

    fn read_tensor(&self, text: &str, path: &str) -> Result<Tensor, StructureError> {
        if let Some(file) = text.strip_prefix('@') {
            let bytes = vmfb::read_to_its_end(file.as_ref())
                .or_else(|error| fail(path, format!("{file} cannot be read: {error}")))?;
            let (tensor, _) =
                abi::npy::read(&bytes).or_else(|error| fail(path, format!("{file}: {error}")))?;
            return Ok(tensor);
        }
        Tensor::parse(text, LARGEST)
            .or_else(|error| fail(path, format!("`{text}` is no tensor: {error}")))
    }

    fn import(&self, tensor: &Tensor, path: &str) -> Result<Ref, StructureError> {
        let view = self.host.import_tensor(&tensor.tensor_type(), &tensor.bytes);
        view.map(Ref::object).map_err(|status| memory(path, &status))
    }

    fn array(&self, array: &Array, json: &Json, path: &str) -> Result<Ref, StructureError> {
        let wanted = Type::Array(array.clone());
        let element = match &*array.element {
            Type::Scalar(scalar) => {
                Some(scalar.element_type().ok_or_else(|| no_element(scalar, path))?)
            }
            _ => None,
        };
        let mut tensor = match &json.value {
            JsonValue::String(text) => self.read_tensor(text, path)?,
            JsonValue::Null => return Ok(Ref::Null),
            _ => {
                let Some(element) = element else {
                    return fail(
                        path,
                        "the signature tells no element type; give a tensor as \"4xf32=…\" or \"@file.npy\"",
                    );
                };
                self.nested(element, &wanted, json, path)?
            }
        };
        if let Some(element) = element {
            if !is_same_element(element, tensor.element_type) {
                return fail(
                    path,
                    format!("expected {}, got {}", describe(&wanted), tensor.tensor_type()),
                );
            }
            tensor.element_type = element;
        }
        if !array.has_shape(&tensor.shape) {
            return fail(
                path,
                format!("expected {}, got {}", describe(&wanted), tensor.tensor_type()),
            );
        }
        self.import(&tensor, path)
    }

    /// Nested JSON arrays as a dense tensor.
    fn nested(
        &self,
        element: ElementType,
        wanted: &Type,
        json: &Json,
        path: &str,
    ) -> Result<Tensor, StructureError> {
        let shape = shape_of(json);
        let mut bytes = Vec::new();
        self.flatten(element, wanted, &shape, json, path, &mut bytes)?;
        let shape = shape.iter().map(|length| *length as u64).collect();
        Ok(Tensor { shape, element_type: element, bytes })
    }

    fn flatten(
        &self,
        element: ElementType,
        wanted: &Type,
        shape: &[usize],
        json: &Json,
        path: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), StructureError> {
        match (&json.value, shape.split_first()) {
            (JsonValue::Array(items), Some((length, inner))) if items.len() == *length => {
                for (index, json) in items.iter().enumerate() {
                    // Paths are made only for errors, not for each of a million elements.
                    if let Err(error) = self.flatten(element, wanted, inner, json, "", out) {
                        let path = format!("{path}[{index}]{}", error.path);
                        return fail(&path, error.reason);
                    }
                }
                Ok(())
            }
            (JsonValue::Array(items), Some((length, _))) => fail(
                path,
                format!("expected {length} items as in the rows before, got {}", items.len()),
            ),
            (JsonValue::Number(text), None) => {
                if element.kind == NumericalKind::Boolean {
                    return match text.as_str() {
                        "0" | "1" => {
                            out.push(u8::from(text == "1"));
                            Ok(())
                        }
                        _ => fail(path, format!("expected a truth value, got {text}")),
                    };
                }
                self.element(element, text, out, path)
            }
            (JsonValue::String(text), None) if is_special(text) => {
                self.element(element, text, out, path)
            }
            (JsonValue::Bool(value), None) if element.kind == NumericalKind::Boolean => {
                out.push(u8::from(*value));
                Ok(())
            }
            _ => fail(path, format!("expected {}, got {}", describe(wanted), shown(json))),
        }
    }

    /// An array of references: a list of its values in row-major order and a list of its
    /// dimensions, both in a list.
    fn references(
        &self,
        element: &Type,
        array: &Array,
        json: &Json,
        path: &str,
        depth: usize,
    ) -> Result<Value, StructureError> {
        let rank = array.shape.as_ref().map_or(1, Vec::len);
        let mut rows = vec![(path.to_owned(), json)];
        let mut shape = Vec::new();
        for _ in 0..rank {
            let mut next = Vec::new();
            let mut length = None;
            for (path, row) in rows {
                let Some(items) = row.as_array() else {
                    return fail(
                        &path,
                        format!(
                            "expected a list, as in {}, got {}",
                            describe_references(element, rank),
                            shown(row)
                        ),
                    );
                };
                if length.is_some_and(|length| length != items.len()) {
                    return fail(
                        &path,
                        format!(
                            "expected {} items as in the rows before, got {}",
                            length.unwrap_or(0),
                            items.len()
                        ),
                    );
                }
                length = Some(items.len());
                next.extend(
                    items.iter().enumerate().map(|(index, json)| (item(&path, index), json)),
                );
            }
            shape.push(length.unwrap_or(0) as u64);
            rows = next;
        }
        if !array.has_shape(&shape) {
            return fail(
                path,
                format!(
                    "expected {}, got the shape {shape:?}",
                    describe(&Type::Array(array.clone()))
                ),
            );
        }
        let (values, dimensions, pair) = (new_list("?"), new_list("i64"), new_list("?"));
        for (path, json) in rows {
            push(&values, self.value(element, json, &path, depth + 1)?, &path)?;
        }
        for length in shape {
            push(&dimensions, Value::I64(length as i64), path)?;
        }
        push(&pair, Value::Ref(Ref::List(Arc::new(values))), path)?;
        push(&pair, Value::Ref(Ref::List(Arc::new(dimensions))), path)?;
        Ok(Value::Ref(Ref::List(Arc::new(pair))))
    }
}

fn describe_references(element: &Type, rank: usize) -> String {
    format!("ndarray<{element}, rank {rank}>")
}

/// Whether a text is a float that JSON lacks, as results have it.
fn is_special(text: &str) -> bool {
    matches!(text, "NaN" | "Infinity" | "-Infinity")
}

fn no_element(scalar: &ScalarType, path: &str) -> StructureError {
    StructureError {
        path: path.to_owned(),
        reason: format!("buffer views have no elements of type {scalar}"),
    }
}

/// Appends a value to a list; a gap in a structure stays unset.
fn push_slot(
    list: &List,
    packer: &Packer<'_>,
    ty: &Type,
    json: &Json,
    path: &str,
    depth: usize,
) -> Result<(), StructureError> {
    if *ty == Type::Null && json.value == JsonValue::Null {
        return list.resize(list.len() + 1).map_err(|status| memory(path, &status));
    }
    push(list, packer.value(ty, json, path, depth)?, path)
}

fn float(text: &str, path: &str) -> Result<f64, StructureError> {
    let text = match text {
        "Infinity" => "inf",
        "-Infinity" => "-inf",
        text => text,
    };
    text.parse().or_else(|_| fail(path, format!("`{text}` is no number")))
}

/// The shape of nested arrays, by the first element of each level.
fn shape_of(json: &Json) -> Vec<usize> {
    let mut shape = Vec::new();
    let mut row = json;
    while let Some(items) = row.as_array() {
        shape.push(items.len());
        let Some(first) = items.first() else { break };
        row = first;
    }
    shape
}

/// A text of the given value, for errors.
fn shown(json: &Json) -> String {
    let mut out = String::new();
    match &json.value {
        JsonValue::Number(text) => out.push_str(text),
        JsonValue::String(text) => {
            let _ = write!(out, "the string {text:?}");
        }
        JsonValue::Bool(value) => {
            let _ = write!(out, "{value}");
        }
        JsonValue::Null => out.push_str("null"),
        JsonValue::Array(_) => {
            let _ = write!(out, "a list of shape {:?}", shape_of(json));
        }
        JsonValue::Object(fields) => {
            let keys: Vec<&str> = fields.iter().map(|(key, _)| key.as_str()).collect();
            let _ = write!(out, "an object with the keys {}", keys.join(", "));
        }
    }
    out
}
