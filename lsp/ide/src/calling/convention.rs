//! How the VM passes arguments and results, from a function's type.
//!
//! There are two cases, one a fact and the other a prediction. The types of a VM function
//! (`vm.func`, `vm.import`, `.vmasm`) *are* the convention. A `func.func` or `util.func` becomes an
//! export through a wrapper that iree-compile makes. Its convention follows from the types by the
//! rules of the compiler's default options; a compiled module shows the real one (`modules`).

use abi::cconv::{Signature, ValueType};
use syntax::{FunctionType, OpClass, Slot, Symbol, Visibility};

use super::boundary::{Crossing, crossing, is_torch, note, written_type};
use crate::Document;

/// The origin of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignatureOrigin {
    /// The text states it.
    Stated,
    /// It follows from the types, by iree-compile's default options.
    Derived,
}

/// A function's calling convention in the VM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallingConvention {
    /// The arguments and results.
    pub signature: Signature,
    /// Whether the signature is stated or derived.
    pub origin: SignatureOrigin,
    /// The signature of the export `NAME$async` that iree-compile adds to a program of PyTorch.
    pub async_twin: Option<Signature>,
    /// Remarks on the derivation, for the reader.
    pub notes: Vec<String>,
}

/// Why a symbol has no convention to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoConvention {
    /// The symbol is not a function.
    NoFunction,
    /// It is private: the compiler makes no wrapper and may inline it.
    Private,
    /// The compiler exports no function with this type.
    Type(String),
    /// What becomes of this type is known after compiling.
    Unknown(String),
    /// The convention that the text states is malformed.
    Malformed(abi::cconv::CconvError),
}

/// The convention of a function or import.
///
/// # Errors
/// The reason why there is none.
pub(crate) fn convention(
    document: &Document,
    symbol: &Symbol,
    attributes: &str,
) -> Result<CallingConvention, NoConvention> {
    if let Some((text, _)) = &symbol.calling_convention {
        let signature = Signature::parse(text).map_err(NoConvention::Malformed)?;
        return Ok(CallingConvention {
            signature,
            origin: SignatureOrigin::Stated,
            async_twin: None,
            notes: Vec::new(),
        });
    }
    let Some(function_type) = &symbol.function_type else { return Err(NoConvention::NoFunction) };
    match symbol.op.as_str() {
        "vm.func" | "vm.import" => stated(function_type),
        "func.func" | "func" | "util.func" => derived(document, symbol, attributes),
        _ => Err(NoConvention::NoFunction),
    }
}

fn stated(function_type: &FunctionType) -> Result<CallingConvention, NoConvention> {
    let items = |slots: &[Slot]| slots.iter().map(vm_item).collect::<Result<Vec<_>, _>>();
    let signature = Signature {
        arguments: items(&function_type.parameters)?,
        results: items(&function_type.results)?,
    };
    Ok(CallingConvention {
        signature,
        origin: SignatureOrigin::Stated,
        async_twin: None,
        notes: Vec::new(),
    })
}

fn vm_item(slot: &Slot) -> Result<ValueType, NoConvention> {
    if !slot.variadic {
        return vm_type(&slot.ty);
    }
    let inner = slot.ty.strip_prefix("tuple<").and_then(|text| text.strip_suffix('>'));
    let tuple = match inner {
        Some(list) => split_types(list).into_iter().map(vm_type).collect::<Result<_, _>>()?,
        None => vec![vm_type(&slot.ty)?],
    };
    Ok(ValueType::Span(tuple))
}

fn vm_type(ty: &str) -> Result<ValueType, NoConvention> {
    Ok(match ty {
        "i32" => ValueType::I32,
        "i64" => ValueType::I64,
        "f32" => ValueType::F32,
        "f64" => ValueType::F64,
        _ if ty.starts_with('!') => ValueType::Ref,
        _ => return Err(NoConvention::Type(ty.to_owned())),
    })
}

/// Splits `a, b<c, d>` at the commas outside brackets.
fn split_types(list: &str) -> Vec<&str> {
    let (mut parts, mut start, mut nest) = (Vec::new(), 0, 0_u32);
    for (at, c) in list.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => nest += 1,
            '>' | ')' | ']' | '}' => nest = nest.saturating_sub(1),
            ',' if nest == 0 => {
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(list[start..].trim());
    parts
}

fn derived(
    document: &Document,
    symbol: &Symbol,
    attributes: &str,
) -> Result<CallingConvention, NoConvention> {
    if !symbol.is_public() {
        return Err(NoConvention::Private);
    }
    let function_type = written_type(document, symbol).ok_or(NoConvention::NoFunction)?;
    // The compiler makes no wrapper of a function that says it is one.
    let is_stub = symbol.op == "util.func" && attributes.contains("iree.abi.stub");
    let mut notes = Vec::new();
    let mut items = |slots: &[Slot]| {
        let values = slots.iter().map(|slot| match crossing(&slot.ty, &mut notes) {
            Crossing::As(ValueType::Ref, _) if is_stub && slot.ty.starts_with("tensor<") => {
                Err(NoConvention::Unknown(slot.ty.clone()))
            }
            Crossing::As(value, _) => Ok(value),
            Crossing::Refused => Err(NoConvention::Type(slot.ty.clone())),
            Crossing::Unknown => Err(NoConvention::Unknown(slot.ty.clone())),
        });
        values.collect::<Result<Vec<_>, _>>()
    };
    let mut arguments = items(&function_type.parameters)?;
    let results = items(&function_type.results)?;
    let fences = [ValueType::Ref, ValueType::Ref];
    let mut async_twin = None;
    if symbol.op == "util.func" && attributes.contains("coarse-fences") {
        arguments.extend(fences);
        note(
            &mut notes,
            "`iree.abi.model` = `coarse-fences` appends a wait fence and a signal fence",
        );
    } else if symbol.op != "util.func" && is_torch(document, &function_type) {
        let arguments = arguments.iter().cloned().chain(fences).collect();
        async_twin = Some(Signature { arguments, results: results.clone() });
    }
    Ok(CallingConvention {
        signature: Signature { arguments, results },
        origin: SignatureOrigin::Derived,
        async_twin,
        notes,
    })
}

/// The types alone: `(i32, tensor<4xf32>) -> (i64)`.
pub(crate) fn type_line(function_type: &FunctionType) -> String {
    let list = |slots: &[Slot]| {
        let shown: Vec<_> = slots
            .iter()
            .map(|slot| format!("{}{}", slot.ty, if slot.variadic { " ..." } else { "" }))
            .collect();
        shown.join(", ")
    };
    format!("({}) -> ({})", list(&function_type.parameters), list(&function_type.results))
}

/// Whether iree-compile exports a symbol, given that the file is its input.
pub(crate) fn is_exported(symbol: &Symbol) -> bool {
    symbol.class == OpClass::Function
        && !matches!(symbol.visibility, Some(Visibility::Private | Visibility::Nested))
}
