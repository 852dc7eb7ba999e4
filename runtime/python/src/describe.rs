//! Modules and signatures as JSON, for `inspect.signature`, docstrings, and the conversion of
//! arguments.

use abi::explain::{Explanation, explain};
use abi::mlir;
use abi::signature::{Function, Slot, Type};
use serde_json::{Value as Json, json};
use vmfb::FunctionSignature;

/// A function's signature, with the names of its arguments where another text has them: those of
/// the source, `%k`, where the compiler names them `input0`. The same for types: an argument that
/// is only a reference is the tensor as which the program reads it, `4x?xf32`.
pub(crate) fn explained(
    signature: &FunctionSignature,
    written: &[String],
    tensors: &[Option<String>],
) -> Explanation {
    let attributes = signature.pairs();
    let cconv = signature.calling_convention.as_deref();
    let mut explained = explain(cconv, &attributes);
    let arguments = &mut explained.function.arguments;
    let is_written = written.len() == arguments.len();
    let written = written.iter().filter(|_| is_written).map(|name| name.trim_start_matches('%'));
    for (index, (slot, name)) in arguments.iter_mut().zip(written).enumerate() {
        if slot.name.as_ref().is_none_or(|name| *name == format!("input{index}")) {
            slot.name = Some(name.to_owned());
        }
    }
    for (slot, tensor) in arguments.iter_mut().zip(tensors) {
        let read = tensor.as_ref().and_then(|it| mlir::types::parse(&format!("tensor<{it}>")).ok());
        if let (Type::Reference(_), Some(read)) = (&slot.ty, read) {
            slot.ty = read;
        }
    }
    let named = abi::explain::argument_names(cconv, &attributes);
    for (slot, named) in arguments.iter_mut().zip(named) {
        slot.name.get_or_insert(named.name);
    }
    explained
}

/// An export that users call: its name, the text of its calling convention, and its declaration.
pub(crate) fn export(name: &str, signature: &FunctionSignature, explained: &Explanation) -> Json {
    let declaration = signature.attributes.iter().find(|it| it.key == "iree.abi.declaration");
    let mut described = function(&explained.function);
    let outputs = abi::explain::outputs(&signature.pairs()).unwrap_or_default();
    for (index, output) in outputs.into_iter().enumerate() {
        if let Some(argument) = described["arguments"].get_mut(index) {
            argument["output"] = output.into();
        }
    }
    described["name"] = name.into();
    described["asynchronous"] = explained.has_fences.into();
    described["declaration"] = declaration.map(|it| it.value.as_str()).into();
    described["convention"] = signature.calling_convention.as_deref().into();
    described
}

/// A signature.
pub(crate) fn function(function: &Function) -> Json {
    let arguments = function
        .arguments
        .iter()
        .map(|slot| json!({"name": slot.name, "keyword": slot.keyword, "type": type_of(&slot.ty)}));
    json!({
        "arguments": arguments.collect::<Vec<_>>(),
        "results": types(&function.results),
        "text": function.to_string(),
    })
}

/// The types of arguments or results.
pub(crate) fn types(slots: &[Slot]) -> Json {
    slots.iter().map(|slot| type_of(&slot.ty)).collect()
}

/// A type: its text, its kind, and what it is made of.
fn type_of(ty: &Type) -> Json {
    let mut described = match ty {
        Type::Scalar(scalar) => json!({"kind": "scalar", "element": scalar.to_string()}),
        Type::Array(array) => {
            let element = match &*array.element {
                Type::Scalar(scalar) => scalar.element_type().map(|it| it.to_string()),
                _ => None,
            };
            let of = match &*array.element {
                Type::Scalar(_) => Json::Null,
                other => type_of(other),
            };
            json!({"kind": "array", "element": element, "shape": array.shape, "of": of})
        }
        Type::Sequence(_, types) => {
            json!({"kind": "sequence", "items": types.iter().map(type_of).collect::<Vec<_>>()})
        }
        Type::List(element) => json!({"kind": "list", "of": type_of(element)}),
        Type::Dictionary(fields) => {
            let fields = fields.iter().map(|(key, ty)| json!([key, type_of(ty)]));
            json!({"kind": "dictionary", "fields": fields.collect::<Vec<_>>()})
        }
        Type::Optional(inner) => json!({"kind": "optional", "of": type_of(inner)}),
        Type::String | Type::Bytes => json!({"kind": "text"}),
        _ => json!({"kind": "any"}),
    };
    described["text"] = ty.to_string().into();
    described
}
