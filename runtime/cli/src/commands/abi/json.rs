//! The model of signatures as JSON: written and read.
//!
//! ```text
//! function = {"name": …?, "arguments": [slot…], "results": [slot…]}
//! slot     = {"name": …?, "type": type, "ownership": "copied" | "borrowed" | "owned",
//!             "keyword": true?}
//! type     = "i32" … a scalar | "unknown" | "any" | "string" | "bytes" | "ref" | "function"
//!          | null
//!          | {"array": {"element": type, "shape": [4, null] | null, "strides": […]?,
//!                       "offset": …?, "layout": …?, "memory_space": …?}}
//!          | {"vector": {"element": type, "shape": [4], "scalable": [false]}}
//!          | {"ref": name} | {"list": type} | {"sequence": [type…]} | {"tuple": [type…]}
//!          | {"dictionary": {key: type}} | {"map": [type, type]} | {"span": [type…]}
//!          | {"optional": type} | {"one_of": [type…]} | {"function": function}
//!          | {"position": 3}
//! ```

use abi::signature::{
    Array, Function, Layout, Ownership, ScalarType, SequenceForm, Slot, Type, Vector,
};
use serde_json::{Map, Value, json};

/// What is wrong with a function in JSON, and where.
#[derive(Debug, thiserror::Error)]
#[error("{path}{}{problem}", if path.is_empty() { "" } else { ": " })]
pub(super) struct Misplaced {
    path: String,
    problem: Problem,
}

/// What is wrong at a place.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("expected a list `{0}`")]
    NoList(String),
    #[error("expected {0}")]
    Expected(&'static str),
    #[error("expected a type: a name, null, or an object of one key, not {0}")]
    NoType(String),
    #[error("`{0}` is no type")]
    Name(String),
    #[error("`{0}` is no kind of type")]
    Kind(String),
    #[error("`{0}` is no ownership; it is copied, borrowed or owned")]
    Ownership(String),
    /// What holds of each such type.
    #[error("{0}")]
    Rule(&'static str),
}

fn at(path: &str, problem: Problem) -> Misplaced {
    Misplaced { path: path.to_owned(), problem }
}

pub(super) fn function(function: &Function) -> Value {
    let mut out = Map::new();
    if let Some(name) = &function.name {
        out.insert("name".to_owned(), json!(name));
    }
    out.insert("arguments".to_owned(), function.arguments.iter().map(slot).collect());
    out.insert("results".to_owned(), function.results.iter().map(slot).collect());
    Value::Object(out)
}

fn slot(slot: &Slot) -> Value {
    let mut out = Map::new();
    if let Some(name) = &slot.name {
        out.insert("name".to_owned(), json!(name));
    }
    out.insert("type".to_owned(), ty(&slot.ty));
    out.insert("ownership".to_owned(), json!(slot.ownership.to_string()));
    if slot.keyword {
        out.insert("keyword".to_owned(), json!(true));
    }
    Value::Object(out)
}

fn types(items: &[Type]) -> Value {
    items.iter().map(ty).collect()
}

pub(super) fn ty(of: &Type) -> Value {
    match of {
        Type::Null => Value::Null,
        Type::Unknown => json!("unknown"),
        Type::Any => json!("any"),
        Type::Scalar(scalar) => json!(scalar.to_string()),
        Type::String => json!("string"),
        Type::Bytes => json!("bytes"),
        Type::Reference(None) => json!("ref"),
        Type::Reference(Some(name)) => json!({"ref": name}),
        Type::Vector(vector) => {
            let (shape, scalable): (Vec<_>, Vec<_>) = vector.dimensions.iter().copied().unzip();
            let element = ty(&vector.element);
            json!({"vector": {"element": element, "shape": shape, "scalable": scalable}})
        }
        Type::Array(array) => {
            let mut out = Map::new();
            out.insert("element".to_owned(), ty(&array.element));
            out.insert("shape".to_owned(), json!(array.shape));
            match &array.layout {
                Layout::RowMajor => {}
                Layout::Strided { strides, offset } => {
                    out.insert("strides".to_owned(), json!(strides));
                    out.insert("offset".to_owned(), json!(offset));
                }
                Layout::Other(text) => {
                    out.insert("layout".to_owned(), json!(text));
                }
            }
            if let Some(space) = &array.memory_space {
                out.insert("memory_space".to_owned(), json!(space));
            }
            json!({"array": out})
        }
        Type::Sequence(SequenceForm::List, items) => json!({"sequence": types(items)}),
        Type::Sequence(SequenceForm::Tuple, items) => json!({"tuple": types(items)}),
        Type::List(item) => json!({"list": ty(item)}),
        Type::Dictionary(fields) => {
            let fields: Map<_, _> =
                fields.iter().map(|(key, item)| (key.clone(), ty(item))).collect();
            json!({"dictionary": fields})
        }
        Type::Map(key, value) => json!({"map": [ty(key), ty(value)]}),
        Type::Variadic(items) => json!({"span": types(items)}),
        Type::Optional(item) => json!({"optional": ty(item)}),
        Type::OneOf(items) => json!({"one_of": types(items)}),
        Type::Function(None) => json!("function"),
        Type::Function(Some(inner)) => json!({"function": function(inner)}),
        Type::Position(index) => json!({"position": index}),
    }
}

/// Reads a function, or the output of `decode`, which has one under `model`.
pub(super) fn read_function(value: &Value) -> Result<Function, Misplaced> {
    read_function_at(value.get("model").unwrap_or(value), "")
}

fn read_function_at(value: &Value, path: &str) -> Result<Function, Misplaced> {
    let name = value.get("name").and_then(Value::as_str).map(str::to_owned);
    let slots = |key: &str| {
        let items = value.get(key).and_then(Value::as_array);
        let items = items.ok_or_else(|| at(path, Problem::NoList(key.to_owned())))?;
        let paths = (0..).map(|index| format!("{path}{key}[{index}]"));
        items.iter().zip(paths).map(|(item, path)| read_slot(item, &path)).collect::<Result<_, _>>()
    };
    let results: Vec<Slot> = slots("results")?;
    Ok(Function {
        name,
        arguments: slots("arguments")?,
        results: results.into_iter().map(Slot::owned).collect(),
    })
}

/// Reads a slot, or a type without a slot.
fn read_slot(value: &Value, path: &str) -> Result<Slot, Misplaced> {
    let Some(inner) = value.get("type") else { return Ok(Slot::of(read_type(value, path)?)) };
    let mut slot = Slot::of(read_type(inner, path)?);
    slot.name = value.get("name").and_then(Value::as_str).map(str::to_owned);
    slot.keyword = value.get("keyword").and_then(Value::as_bool).unwrap_or(false);
    match value.get("ownership").and_then(Value::as_str) {
        None => {}
        Some("copied") => slot.ownership = Ownership::Copied,
        Some("borrowed") => slot.ownership = Ownership::Borrowed,
        Some("owned") => slot.ownership = Ownership::Owned,
        Some(other) => {
            return Err(at(path, Problem::Ownership(other.to_owned())));
        }
    }
    Ok(slot)
}

fn read_types(value: &Value, path: &str) -> Result<Vec<Type>, Misplaced> {
    let items = value.as_array().ok_or_else(|| at(path, Problem::Expected("a list of types")))?;
    items.iter().map(|item| read_type(item, path)).collect()
}

fn read_type(value: &Value, path: &str) -> Result<Type, Misplaced> {
    let boxed = |value: &Value| read_type(value, path).map(Box::new);
    let (kind, inner) = match value {
        Value::Null => return Ok(Type::Null),
        Value::String(name) => return read_named(name, path),
        Value::Object(fields) if fields.len() == 1 => {
            fields.iter().next().ok_or_else(|| at(path, Problem::Expected("a type")))?
        }
        _ => {
            return Err(at(path, Problem::NoType(value.to_string())));
        }
    };
    Ok(match kind.as_str() {
        "array" => Type::Array(read_array(inner, path)?),
        "vector" => {
            let lengths = inner.get("shape").and_then(Value::as_array).into_iter().flatten();
            let flags =
                inner.get("scalable").and_then(Value::as_array).cloned().unwrap_or_default();
            let dimensions = lengths.enumerate().map(|(index, length)| {
                let scalable = flags.get(index).and_then(Value::as_bool).unwrap_or(false);
                Some((length.as_u64()?, scalable))
            });
            let dimensions = dimensions.collect::<Option<_>>();
            Type::Vector(Vector {
                dimensions: dimensions
                    .ok_or_else(|| at(path, Problem::Rule("a vector has known lengths")))?,
                element: boxed(inner.get("element").unwrap_or(&Value::Null))?,
            })
        }
        "ref" => Type::Reference(inner.as_str().map(str::to_owned)),
        "list" => Type::List(boxed(inner)?),
        "sequence" => Type::Sequence(SequenceForm::List, read_types(inner, path)?),
        "tuple" => Type::Sequence(SequenceForm::Tuple, read_types(inner, path)?),
        "dictionary" => {
            let fields = inner
                .as_object()
                .ok_or_else(|| at(path, Problem::Expected("an object of types")))?;
            let fields = fields.iter().map(|(key, item)| Ok((key.clone(), read_type(item, path)?)));
            Type::Dictionary(fields.collect::<Result<_, Misplaced>>()?)
        }
        "map" => match read_types(inner, path)?.as_slice() {
            [key, value] => Type::Map(Box::new(key.clone()), Box::new(value.clone())),
            _ => return Err(at(path, Problem::Rule("a map has a type of keys and one of values"))),
        },
        "span" => Type::Variadic(read_types(inner, path)?),
        "optional" => Type::Optional(boxed(inner)?),
        "one_of" => Type::OneOf(read_types(inner, path)?),
        "function" => Type::Function(Some(Box::new(read_function_at(inner, path)?))),
        "position" => {
            let index = inner.as_u64().and_then(|index| u32::try_from(index).ok());
            Type::Position(
                index
                    .ok_or_else(|| at(path, Problem::Rule("a position is a small whole number")))?,
            )
        }
        other => return Err(at(path, Problem::Kind(other.to_owned()))),
    })
}

fn read_named(name: &str, path: &str) -> Result<Type, Misplaced> {
    Ok(match name {
        "unknown" => Type::Unknown,
        "any" => Type::Any,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "ref" => Type::Reference(None),
        "function" => Type::Function(None),
        name => match ScalarType::parse(name) {
            Some(scalar) => Type::Scalar(scalar),
            None => return Err(at(path, Problem::Name(name.to_owned()))),
        },
    })
}

fn read_array(value: &Value, path: &str) -> Result<Array, Misplaced> {
    let element =
        value.get("element").ok_or_else(|| at(path, Problem::Rule("an array has an `element`")))?;
    let shape =
        match value.get("shape") {
            None | Some(Value::Null) => None,
            Some(Value::Array(lengths)) => {
                let lengths = lengths.iter().map(|length| match length {
                    Value::Null => Some(None),
                    length => length.as_u64().map(Some),
                });
                let lengths = lengths.collect::<Option<Vec<_>>>();
                Some(lengths.ok_or_else(|| {
                    at(path, Problem::Rule("a dimension is a whole number or null"))
                })?)
            }
            Some(_) => return Err(at(path, Problem::Rule("a shape is a list or null"))),
        };
    let mut array = Array::dense(read_type(element, path)?, shape);
    if let Some(Value::Array(strides)) = value.get("strides") {
        array.layout = Layout::Strided {
            strides: strides.iter().map(Value::as_i64).collect(),
            offset: value.get("offset").and_then(Value::as_i64),
        };
    }
    if let Some(layout) = value.get("layout").and_then(Value::as_str) {
        array.layout = Layout::Other(layout.to_owned());
    }
    array.memory_space = value.get("memory_space").and_then(Value::as_str).map(str::to_owned);
    Ok(array)
}
