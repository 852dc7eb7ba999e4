//! The JSON of `decode` for each convention: the signature in the terms of its own convention, then
//! the model that all conventions share.

use abi::SyntaxError;
use abi::cconv::ValueType;
use abi::cconv_layout::{self, Layout, Packing, layout};
use abi::convention::{Convention, is_declaration, parse_memref};
use abi::mlir::{self, lowering};
use abi::raw::{RawSignature, RawType};
use abi::raw_buffers::{ResultAllocation, result_allocation};
use abi::signature::{Function, Type};
use abi::sip::{SipSignature, Tree};
use abi::tvm::layout::Any;
use abi::tvm::schema::Schema;
use abi::{iree_abi, tvm};
use serde_json::{Value, json};

use super::json as model;

type View = Result<Value, SyntaxError>;

/// The parts of the JSON that all conventions share, around those of one.
fn envelope(kind: Convention, function: &Function, own: Value) -> Value {
    let mut shown = json!({"kind": kind.name()});
    if let (Value::Object(shown), Value::Object(own)) = (&mut shown, own) {
        shown.extend(own);
        shown.insert("model".to_owned(), model::function(function));
    }
    shown
}

pub(super) fn cconv(text: &str) -> View {
    let (signature, is_old) = cconv_layout::parse_any_age(text)
        .map_err(|error| SyntaxError::at(error.position, error.kind.to_string()))?;
    let own = json!({
        "cconv": signature.to_cconv(),
        "signature": signature.to_string(),
        "spelling": if is_old { "until February 2021" } else { "today's" },
        "variadic": signature.is_variadic(),
        "arguments": signature.arguments.iter().map(value_type).collect::<Vec<_>>(),
        "results": signature.results.iter().map(value_type).collect::<Vec<_>>(),
        "layout": {
            "arguments": places(&layout(&signature.arguments, Packing::Aligned)),
            "results": places(&layout(&signature.results, Packing::Aligned)),
        },
        "layout_before_3_10": {
            "arguments": places(&layout(&signature.arguments, Packing::Packed)),
            "results": places(&layout(&signature.results, Packing::Packed)),
        },
    });
    Ok(envelope(Convention::Cconv, &cconv_layout::to_function(&signature), own))
}

/// A scalar by its name, a span as an object with the types of its tuple.
fn value_type(of: &ValueType) -> Value {
    match of {
        ValueType::Span(tuple) => json!({"span": tuple.iter().map(value_type).collect::<Vec<_>>()}),
        scalar => json!(scalar.to_string()),
    }
}

fn places(layout: &Layout) -> Value {
    fn list(places: &[cconv_layout::ValuePlace]) -> Vec<Value> {
        let place = |place: &cconv_layout::ValuePlace| {
            if place.tuple.is_empty() {
                return json!({"offset": place.offset, "size": place.size});
            }
            json!({"offset": place.offset, "tuple_size": place.size, "tuple": list(&place.tuple)})
        };
        places.iter().map(place).collect()
    }
    json!({"size": layout.size, "values": list(&layout.places)})
}

pub(super) fn iree(text: &str) -> View {
    let (function, own) = if is_declaration(text) {
        let declaration = mlir::function::parse(text)?;
        let own = json!({"form": "iree.abi.declaration", "async": declaration.is_async});
        (declaration.function, own)
    } else {
        let parsed = iree_abi::parse(text)?;
        let own = json!({"form": "iree.abi", "version": parsed.version, "notes": parsed.notes});
        (parsed.function, own)
    };
    let mut own = own;
    own["signature"] = json!(function.to_string());
    own["json"] = printed(iree_abi::print(&function).map(|printed| printed.text));
    own["wire_results"] = iree_abi::wire_results(&function).into_iter().map(model::ty).collect();
    Ok(envelope(Convention::Iree, &function, own))
}

/// A text, or null if the convention has none for this function.
fn printed<E>(text: Result<String, E>) -> Value {
    text.map_or(Value::Null, |text| json!(text))
}

pub(super) fn raw(text: &str) -> View {
    let signature = RawSignature::parse(text)?;
    let types = |types: &[RawType]| types.iter().map(raw_type).collect::<Vec<_>>();
    let own = json!({
        "raw": signature.to_text(),
        "signature": signature.to_string(),
        "inputs": types(&signature.inputs),
        "results": types(&signature.results),
        "result_allocation": allocation(&signature),
    });
    Ok(envelope(Convention::Raw, &signature.to_function(), own))
}

fn raw_type(ty: &RawType) -> Value {
    match ty {
        RawType::Buffer { code, dimensions } => {
            let (element, code) = (code.name(), code.number());
            json!({"buffer": {"element": element, "code": code, "dimensions": dimensions}})
        }
        RawType::Scalar(code) => json!({"scalar": {"element": code.name(), "code": code.number()}}),
        RawType::Object => json!("object"),
        RawType::Unrecognized => json!("unrecognized"),
    }
}

fn allocation(signature: &RawSignature) -> Value {
    match result_allocation(signature, true) {
        Ok(all) => all
            .iter()
            .map(|one| match one {
                ResultAllocation::Host(buffer) => {
                    json!({"by": "host", "bytes": buffer.length, "strides": buffer.strides})
                }
                ResultAllocation::Allocator => json!({"by": "fbr"}),
                ResultAllocation::Function => json!({"by": "function"}),
            })
            .collect(),
        Err(error) => json!({"error": error.to_string()}),
    }
}

pub(super) fn sip(text: &str, raw: Option<&str>) -> View {
    let signature = SipSignature::parse(text.as_bytes())?;
    let raw = match raw {
        Some(raw) => Some(RawSignature::parse(raw).map_err(|error| {
            SyntaxError::at(
                0,
                format!("the raw signature is wrong at byte {}: {}", error.position, error.message),
            )
        })?),
        None => None,
    };
    let function = signature
        .to_function(raw.as_ref())
        .map_err(|error| SyntaxError::at(0, error.to_string()))?;
    let side = |tree: &Option<Tree>| match tree {
        None => json!({"paths": [], "rendered": ""}),
        Some(tree) => {
            let path = |(path, index): (Vec<abi::sip::Key>, u32)| {
                let text: String = path.iter().map(ToString::to_string).collect();
                let keys: Vec<Value> = path
                    .iter()
                    .map(|key| match key {
                        abi::sip::Key::Index(index) => json!(index),
                        abi::sip::Key::Name(name) => json!(String::from_utf8_lossy(name)),
                    })
                    .collect();
                json!({"path": keys, "text": text, "raw": index})
            };
            let paths: Vec<Value> = tree.paths().into_iter().map(path).collect();
            json!({"paths": paths, "rendered": tree.render()})
        }
    };
    let own = json!({
        "sip": String::from_utf8_lossy(&signature.to_bytes()),
        "signature": function.to_string(),
        "inputs": side(&signature.inputs),
        "results": side(&signature.results),
    });
    Ok(envelope(Convention::Sip, &function, own))
}

pub(super) fn tvm(text: &str) -> View {
    if let Some(bytes) = hexadecimal(text) {
        return any(&bytes);
    }
    let schema = Schema::parse(text)?;
    let own = json!({
        "written": schema.to_string(),
        "schema": schema.to_json(),
        "metadata": json!({"type_schema": schema.to_json()}).to_string(),
        "type": model::ty(&schema.to_type()),
    });
    Ok(envelope(Convention::Tvm, &schema.to_function(), own))
}

/// Bytes of two digits each, with any spaces between them. At least eight bytes, so that no type is
/// taken for them.
fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: String = text.trim_start_matches("0x").split_whitespace().collect();
    let is_hex = digits.len() >= 16
        && digits.len().is_multiple_of(2)
        && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let pairs = (0..digits.len()).step_by(2);
    is_hex
        .then(|| pairs.filter_map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok()).collect())
}

fn any(bytes: &[u8]) -> View {
    let fail = |error: tvm::any::AnyError| SyntaxError::at(0, error.to_string());
    let any = Any::from_bytes(bytes).map_err(fail)?;
    let value = any.decode().map_err(fail)?;
    let name = tvm::index::INDICES.iter().find(|(index, ..)| *index == any.type_index);
    Ok(json!({
        "kind": "tvm",
        "type_index": any.type_index,
        "name": name.map(|(_, name, _)| *name),
        "type_key": tvm::index::describe(any.type_index),
        "is_object": any.type_index >= tvm::index::OBJECT,
        "value": value.to_string(),
        "type": model::ty(&tvm::any::type_of_index(any.type_index)),
    }))
}

pub(super) fn memref(text: &str) -> View {
    let declaration = parse_memref(text)?;
    let function = &declaration.function;
    let lowered = lowering::lower(function);
    let own = match &lowered {
        Ok(lowered) => json!({
            "expanded": signature(&lowered.expanded),
            "c_interface": signature(&lowered.c_interface),
            "bare_pointers": match &lowered.bare_pointers {
                Ok(bare) => signature(bare),
                Err(error) => json!({"error": error.to_string()}),
            },
            "descriptors": function.arguments.iter().chain(&function.results)
                .filter_map(|slot| descriptor(&slot.ty)).collect::<Vec<_>>(),
        }),
        Err(error) => json!({"error": error.to_string()}),
    };
    let mut own = own;
    own["signature"] = printed(Convention::Memref.print(function).map(|printed| printed.text));
    let name = function.name.as_deref().unwrap_or("f");
    own["symbols"] = json!({"function": name, "c_interface": format!("_mlir_ciface_{name}")});
    Ok(envelope(Convention::Memref, function, own))
}

fn signature(of: &lowering::Signature) -> Value {
    let parameters = of.parameters.iter();
    let parameters = parameters.map(|it| json!({"role": it.role, "type": it.ty.to_string()}));
    json!({
        "llvm": of.to_string(),
        "parameters": parameters.collect::<Vec<_>>(),
        "result": of.result.to_string(),
    })
}

/// The descriptor of a memref, and who frees it.
fn descriptor(ty: &Type) -> Option<Value> {
    let Type::Array(array) = ty else { return None };
    let llvm = lowering::convert(ty).ok()?;
    let size = llvm.size_and_alignment().map(|(size, _)| size);
    let ownership = if array.shape.is_some() {
        "the caller keeps the data; for a result, the owner frees `allocated`"
    } else {
        "for an argument, the ranked descriptor is the caller's; for a result, the caller frees the \
         ranked descriptor"
    };
    Some(json!({
        "type": ty.to_string(),
        "llvm": llvm.to_string(),
        "size": size,
        "ownership": ownership,
    }))
}
