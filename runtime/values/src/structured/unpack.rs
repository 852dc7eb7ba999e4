//! Results: VM values in the structure of a signature, as text and as JSON.

use std::fmt::Write;

use abi::cconv::ValueType;
use abi::element_type::{ElementType, NumericalKind};
use abi::explain::CallForm;
use abi::json::write_string;
use abi::signature::{Array, Function, ScalarType, SequenceForm, Slot, Type};
use abi::tensor::TensorType;
use hal::BufferView;
use half::{bf16, f16};
use vm::{List, Ref, Value};

use super::error::{StructureError, describe, fail, is_untyped};
use super::spread::collect;

/// The most elements of a tensor in text.
const PRINTED_ELEMENTS: usize = 1024;

/// The brackets of a list.
const LIST: [&str; 2] = ["[", "]"];

/// The style of a text of results.
struct Style<'a> {
    tensor: &'a dyn Fn(&BufferView, &mut String),
    /// The brackets of a tuple.
    tuple: [&'static str; 2],
    /// Whether it is JSON, which lacks some floats.
    is_json: bool,
}

/// A result in the structure of its signature.
#[derive(Clone, Debug)]
pub enum Unpacked {
    /// Null.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A float, and its width in bits.
    Float(f64, u32),
    /// A tensor.
    Tensor(BufferView),
    /// Text.
    String(String),
    /// A list, or a tuple.
    Sequence(SequenceForm, Vec<Unpacked>),
    /// Named values, in the order of the signature.
    Dictionary(Vec<(String, Unpacked)>),
    /// The type of another object.
    Opaque(String),
}

/// The results of a call in the structure of its signature.
///
/// # Errors
/// A value does not fit the signature. The error names its place.
pub fn unpack(form: &CallForm, values: &[Value]) -> Result<Vec<Unpacked>, StructureError> {
    let Some(spread) = &form.spread else { return unpack_as(&form.function, values) };
    let raw = unpack_as(&spread.raw, values)?;
    Ok(spread.structure.results.iter().map(|slot| collect(&slot.ty, &raw)).collect())
}

fn unpack_as(function: &Function, values: &[Value]) -> Result<Vec<Unpacked>, StructureError> {
    let values: Vec<Option<Value>> = values.iter().cloned().map(Some).collect();
    // A structure that is the only result is returned as separate values.
    if let [Slot { ty: ty @ (Type::Sequence(..) | Type::Dictionary(_)), .. }] =
        function.results.as_slice()
    {
        let is_whole =
            matches!(values.as_slice(), [Some(Value::Ref(Ref::List(_)))]) && arity(ty) != 1;
        if !is_whole {
            return Ok(vec![structure(ty, &values, "results", 0)?]);
        }
    }
    if function.results.len() != values.len() {
        return fail(
            "results",
            format!("expected {} results, got {}", function.results.len(), values.len()),
        );
    }
    let pairs = function.results.iter().zip(&values).enumerate();
    pairs
        .map(|(index, (slot, value))| {
            convert(&slot.ty, value.as_ref(), &format!("results[{index}]"), 0)
        })
        .collect()
}

fn arity(ty: &Type) -> usize {
    match ty {
        Type::Sequence(_, items) => items.len(),
        Type::Dictionary(fields) => fields.len(),
        _ => 1,
    }
}

fn structure(
    ty: &Type,
    values: &[Option<Value>],
    path: &str,
    depth: usize,
) -> Result<Unpacked, StructureError> {
    if arity(ty) != values.len() {
        return fail(
            path,
            format!("expected {} values for {}, got {}", arity(ty), describe(ty), values.len()),
        );
    }
    match ty {
        Type::Sequence(form, types) => {
            let items = types.iter().zip(values).enumerate().map(|(index, (ty, value))| {
                convert(ty, value.as_ref(), &format!("{path}[{index}]"), depth + 1)
            });
            Ok(Unpacked::Sequence(*form, items.collect::<Result<_, _>>()?))
        }
        Type::Dictionary(fields) => {
            let items = fields.iter().zip(values).map(|((key, ty), value)| {
                Ok((
                    key.clone(),
                    convert(ty, value.as_ref(), &format!("{path}[{key:?}]"), depth + 1)?,
                ))
            });
            Ok(Unpacked::Dictionary(items.collect::<Result<_, _>>()?))
        }
        other => fail(path, format!("{} is no structure", describe(other))),
    }
}

fn elements(list: &List) -> Vec<Option<Value>> {
    (0..list.len()).map(|index| list.get(index)).collect()
}

fn convert(
    ty: &Type,
    value: Option<&Value>,
    path: &str,
    depth: usize,
) -> Result<Unpacked, StructureError> {
    if depth > 64 {
        return fail(path, "nested more than 64 levels deep");
    }
    let Some(value) = value else {
        return match ty {
            ty if is_untyped(ty) => Ok(Unpacked::Null),
            Type::Optional(_) => Ok(Unpacked::Null),
            ty => fail(path, format!("expected {}, got nothing", describe(ty))),
        };
    };
    let mismatch = || fail(path, format!("expected {}, got {}", describe(ty), shown(value)));
    Ok(match (ty, value) {
        (Type::Scalar(scalar), value) => match number(scalar, value) {
            Some(number) => number,
            None => return mismatch(),
        },
        (Type::Optional(_), Value::Ref(Ref::Null)) => Unpacked::Null,
        (Type::Optional(inner), _) => convert(inner, Some(value), path, depth + 1)?,
        (Type::Array(array), Value::Ref(reference)) => match reference.downcast::<BufferView>() {
            Some(view) => Unpacked::Tensor(checked(array, view, path)?),
            None => match reference {
                Ref::List(list) if !matches!(*array.element, Type::Scalar(_)) => {
                    references(&array.element, list, path, depth)?
                }
                _ => return mismatch(),
            },
        },
        (Type::Sequence(..) | Type::Dictionary(_), Value::Ref(Ref::List(list))) => {
            structure(ty, &elements(list), path, depth)?
        }
        (Type::String, Value::Ref(Ref::List(list))) => Unpacked::String(text(list)),
        (Type::List(element), Value::Ref(Ref::List(list))) => {
            let items = elements(list).into_iter().enumerate().map(|(index, value)| {
                convert(element, value.as_ref(), &format!("{path}[{index}]"), depth + 1)
            });
            Unpacked::Sequence(SequenceForm::List, items.collect::<Result<_, _>>()?)
        }
        (ty, value) if is_untyped(ty) => dynamic(value, depth),
        _ => return mismatch(),
    })
}

/// Unpacks a value by its own type.
fn dynamic(value: &Value, depth: usize) -> Unpacked {
    match value {
        Value::I32(value) => Unpacked::Int((*value).into()),
        Value::I64(value) => Unpacked::Int((*value).into()),
        Value::F32(value) => Unpacked::Float((*value).into(), 32),
        Value::F64(value) => Unpacked::Float(*value, 64),
        Value::Ref(Ref::Null) => Unpacked::Null,
        Value::Ref(Ref::List(list)) if depth < 64 => {
            let items = elements(list);
            let items = items.iter().map(|value| {
                value.as_ref().map_or(Unpacked::Null, |value| dynamic(value, depth + 1))
            });
            Unpacked::Sequence(SequenceForm::List, items.collect())
        }
        Value::Ref(reference) => match reference.downcast::<BufferView>() {
            Some(view) => Unpacked::Tensor(view.clone()),
            None => Unpacked::Opaque(format!("!{}", reference.type_name())),
        },
    }
}

fn number(scalar: &ScalarType, value: &Value) -> Option<Unpacked> {
    Some(match (scalar, value) {
        (ScalarType::Integer(_, 1), Value::I32(value)) => Unpacked::Bool(*value & 1 != 0),
        (ScalarType::Index | ScalarType::Integer(..), Value::I32(value)) => {
            // `index` may travel in 32 bits.
            let scalar = if scalar.bits() > 32 { &ScalarType::signless(32) } else { scalar };
            Unpacked::Int(scalar.integer_of((*value).into()))
        }
        (ScalarType::Index | ScalarType::Integer(..), Value::I64(value)) => {
            Unpacked::Int(scalar.integer_of(*value))
        }
        (ScalarType::Float(16), Value::I32(bits)) => {
            Unpacked::Float(f16::from_bits(*bits as u16).to_f64(), 16)
        }
        (scalar, Value::I32(bits)) if *scalar == ScalarType::BF16 => {
            Unpacked::Float(bf16::from_bits(*bits as u16).to_f64(), 16)
        }
        (ScalarType::Float(32 | 64), Value::F32(value)) => Unpacked::Float((*value).into(), 32),
        (ScalarType::Float(32 | 64), Value::F64(value)) => Unpacked::Float(*value, 64),
        _ => return None,
    })
}

/// The view with the element type of the signature, which may be another one of the same width.
fn checked(array: &Array, view: &BufferView, path: &str) -> Result<BufferView, StructureError> {
    let found = ElementType::from_any_code(view.element_code());
    let shape = view.shape().to_vec();
    let tensor_type = TensorType { shape: shape.clone(), element_type: found };
    let fits = array.has_shape(&shape);
    let wanted = match &*array.element {
        Type::Scalar(scalar) => scalar.element_type(),
        _ => None,
    };
    let is_same_width = wanted.is_none_or(|wanted| {
        wanted.bits == found.bits || wanted.kind == NumericalKind::Boolean && found.bits == 8
    });
    if !fits || !is_same_width {
        return fail(
            path,
            format!("expected {}, got {tensor_type}", describe(&Type::Array(array.clone()))),
        );
    }
    let code = wanted.map_or(view.element_code(), ElementType::code);
    Ok(BufferView::new(view.buffer().clone(), shape, code, view.encoding()))
}

/// An array of references, from its list of values and its list of dimensions.
fn references(
    element: &Type,
    list: &List,
    path: &str,
    depth: usize,
) -> Result<Unpacked, StructureError> {
    let [Some(Value::Ref(Ref::List(values))), Some(Value::Ref(Ref::List(shape)))] =
        elements(list).try_into().unwrap_or([None, None])
    else {
        return fail(
            path,
            "an array of references is a list of its values and a list of its dimensions",
        );
    };
    let mut rows = Vec::new();
    for (index, value) in elements(&values).into_iter().enumerate() {
        rows.push(convert(element, value.as_ref(), &format!("{path}[{index}]"), depth + 1)?);
    }
    let shape: Vec<usize> = elements(&shape)
        .into_iter()
        .map(|length| match length {
            Some(Value::I64(length)) => usize::try_from(length).unwrap_or(0),
            Some(Value::I32(length)) => usize::try_from(length).unwrap_or(0),
            _ => 0,
        })
        .collect();
    let count = shape.iter().try_fold(1_usize, |count, length| count.checked_mul(*length));
    if count != Some(rows.len()) {
        return fail(path, format!("{} values for the shape {shape:?}", rows.len()));
    }
    for length in shape.iter().skip(1).rev().filter(|length| **length > 0) {
        let mut next = Vec::new();
        let mut rest = rows.into_iter();
        while rest.len() > 0 {
            next.push(Unpacked::Sequence(
                SequenceForm::List,
                rest.by_ref().take(*length).collect(),
            ));
        }
        rows = next;
    }
    Ok(Unpacked::Sequence(SequenceForm::List, rows))
}

/// The text of a list of bytes.
fn text(list: &List) -> String {
    let bytes: Vec<u8> = elements(list)
        .into_iter()
        .map(|value| match value {
            Some(Value::I32(byte)) => byte as u8,
            Some(Value::I64(byte)) => byte as u8,
            _ => 0,
        })
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn shown(value: &Value) -> String {
    match value {
        Value::Ref(reference) => match reference.downcast::<BufferView>() {
            Some(view) => {
                let element_type = ElementType::from_any_code(view.element_code());
                format!("a tensor {}", TensorType { shape: view.shape().to_vec(), element_type })
            }
            None => format!("!{}", reference.type_name()),
        },
        other => match other.value_type() {
            ValueType::Ref | ValueType::Span(_) => String::new(),
            scalar => format!("{scalar}"),
        },
    }
}

impl Unpacked {
    /// Text such as `{"a": 2xf32=1 2, "b": [5, null]}`.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let tensor = |view: &BufferView, out: &mut String| {
            let text = view.text(PRINTED_ELEMENTS);
            out.push_str(&text.unwrap_or_else(|status| format!("<{status}>")));
        };
        self.write(&mut out, &Style { tensor: &tensor, tuple: ["(", ")"], is_json: false });
        out
    }

    /// JSON, with tensors as nested lists of numbers.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, &Style { tensor: &write_tensor_json, tuple: LIST, is_json: true });
        out
    }

    fn write(&self, out: &mut String, style: &Style<'_>) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => {
                let _ = write!(out, "{value}");
            }
            Self::Int(value) => {
                let _ = write!(out, "{value}");
            }
            Self::Float(value, bits) if style.is_json => write_json_float(out, *value, *bits),
            Self::Float(value, bits) => write_float(out, *value, *bits),
            Self::Tensor(view) => (style.tensor)(view, out),
            Self::String(text) => write_string(out, text),
            Self::Opaque(name) => write_string(out, name),
            Self::Sequence(form, items) => {
                let [open, close] = match form {
                    SequenceForm::List => LIST,
                    SequenceForm::Tuple => style.tuple,
                };
                out.push_str(open);
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    item.write(out, style);
                }
                out.push_str(close);
            }
            Self::Dictionary(fields) => {
                out.push('{');
                for (index, (key, item)) in fields.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    write_string(out, key);
                    out.push_str(": ");
                    item.write(out, style);
                }
                out.push('}');
            }
        }
    }
}

/// Writes the shortest text that is read back as the same float of that width. Values that JSON
/// lacks are written as in Python.
fn write_float(out: &mut String, value: f64, bits: u32) {
    let _ = match value {
        value if value.is_nan() => write!(out, "NaN"),
        value if value.is_infinite() => {
            write!(out, "{}Infinity", if value < 0.0 { "-" } else { "" })
        }
        value if bits < 64 => write!(out, "{:?}", value as f32),
        value => write!(out, "{value:?}"),
    };
}

/// The same in JSON, where a text stands for a value that JSON lacks: `"NaN"`, `"-Infinity"`.
fn write_json_float(out: &mut String, value: f64, bits: u32) {
    let quote = if value.is_finite() { "" } else { "\"" };
    out.push_str(quote);
    write_float(out, value, bits);
    out.push_str(quote);
}

fn write_tensor_json(view: &BufferView, out: &mut String) {
    let ty = ElementType::from_any_code(view.element_code());
    let width = ty.byte_count();
    let elements: Vec<String> = match view.read() {
        Ok(bytes) if width > 0 && !ty.is_packed() => {
            bytes.chunks_exact(width).map(|bytes| element_json(ty, bytes)).collect()
        }
        _ => return write_string(out, &view.text(PRINTED_ELEMENTS).unwrap_or_default()),
    };
    let shape: Vec<usize> = view.shape().iter().map(|length| *length as usize).collect();
    write_nested(out, &shape, &mut elements.iter());
}

fn write_nested<'a>(
    out: &mut String,
    shape: &[usize],
    elements: &mut impl Iterator<Item = &'a String>,
) {
    let Some((length, inner)) = shape.split_first() else {
        return out.push_str(elements.next().map_or("null", String::as_str));
    };
    out.push('[');
    for index in 0..*length {
        out.push_str(if index > 0 { ", " } else { "" });
        write_nested(out, inner, elements);
    }
    out.push(']');
}

fn element_json(ty: ElementType, bytes: &[u8]) -> String {
    let mut text = String::new();
    match ty.kind {
        NumericalKind::Boolean => {
            return (bytes.first().is_some_and(|byte| *byte != 0)).to_string();
        }
        NumericalKind::Integer | NumericalKind::SignedInteger | NumericalKind::UnsignedInteger => {
            ty.format_element(bytes, &mut text);
        }
        _ => match ty.float_value(bytes) {
            Some(value) => write_json_float(&mut text, value, ty.bits.into()),
            None => {
                let mut inner = String::new();
                ty.format_element(bytes, &mut inner);
                write_string(&mut text, &inner);
            }
        },
    }
    text
}
