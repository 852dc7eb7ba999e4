//! How a type crosses the boundary of a module: what the export that iree-compile makes passes for
//! it, under the compiler's default options.
//!
//! The rules are measured, not read: a test compiles an export of every type and compares. What the
//! compiler refuses is said to be refused; what only a dialect's own lowering decides is unknown.

use abi::cconv::ValueType;
use syntax::{FunctionType, Slot, Symbol};

use crate::Document;
use crate::resolve::alias_definition;

/// How a type crosses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Crossing {
    /// As this value of the VM. The type is the one that a host sees: `f64` is `f32` by then.
    As(ValueType, String),
    /// The compiler refuses it.
    Refused,
    /// Only compiling tells.
    Unknown,
}

/// Dialects whose types are objects of the VM, whatever else the program does.
const OBJECTS: [&str; 6] = ["!hal.", "!util.", "!vm.", "!iree_input.", "!stream.", "!flow."];

/// How a type crosses. Remarks for the reader are added to `notes`.
pub(crate) fn crossing(ty: &str, notes: &mut Vec<String>) -> Crossing {
    if let Some(torch) = ty.strip_prefix("!torch.") {
        return match torch_type(torch) {
            Some(builtin) => crossing(&builtin, notes),
            None => Crossing::Unknown,
        };
    }
    if ty.starts_with("!flow.dispatch.tensor") {
        return Crossing::Refused;
    }
    if OBJECTS.iter().any(|dialect| ty.starts_with(dialect)) {
        return Crossing::As(ValueType::Ref, ty.to_owned());
    }
    if ty.starts_with('!') {
        return Crossing::Unknown;
    }
    let shown = demoted(ty);
    if shown != ty {
        note(notes, "`f64` is demoted to `f32` unless `--iree-input-demote-f64-to-f32=false`");
    }
    if let Some(bits) = integer_bits(&shown) {
        return match bits {
            1..32 => {
                note(notes, "integers narrower than 32 bits travel as `i32`");
                Crossing::As(ValueType::I32, shown)
            }
            32 => Crossing::As(ValueType::I32, shown),
            64 => Crossing::As(ValueType::I64, shown),
            _ => Crossing::Refused,
        };
    }
    let value = match shown.as_str() {
        "index" => {
            note(notes, "`index` travels as `i64`");
            ValueType::I64
        }
        "f32" => ValueType::F32,
        "f80" | "f128" => return Crossing::Refused,
        "none" => ValueType::Ref,
        _ if is_narrow_float(&shown) => {
            note(notes, "floats narrower than 32 bits travel as their raw bits in an `i32`");
            ValueType::I32
        }
        _ if shown.starts_with("tensor<*") => return Crossing::Refused,
        _ if shown.starts_with("tensor<") => {
            note(notes, "a tensor travels as a ref to a `!hal.buffer_view`");
            ValueType::Ref
        }
        _ if shown.starts_with("vector<") => {
            note(notes, "a vector travels as a ref");
            ValueType::Ref
        }
        _ if shown.starts_with("memref<") || shown.starts_with("tuple<") => {
            note(notes, "IREE's runtime has no such type: the module compiles and does not load");
            ValueType::Ref
        }
        _ if shown.starts_with("complex<") => return Crossing::Refused,
        _ => return Crossing::Unknown,
    };
    Crossing::As(value, shown)
}

/// The builtin type that the importer of PyTorch programs makes of `!torch.` and this.
pub(super) fn torch_type(ty: &str) -> Option<String> {
    let shaped = |ty: &str| {
        let inner = ty.strip_prefix('<')?.strip_suffix('>')?;
        let (shape, element) = inner.strip_prefix('[')?.split_once("],")?;
        let element = element.trim();
        // PyTorch's integers have signs; IREE's have none.
        let element = match element.strip_prefix("si").or_else(|| element.strip_prefix("ui")) {
            Some(bits) => format!("i{bits}"),
            None => element.to_owned(),
        };
        let dimensions = shape.split(',').map(str::trim).filter(|dimension| !dimension.is_empty());
        let dimensions: String = dimensions.map(|dimension| format!("{dimension}x")).collect();
        Some(format!("tensor<{dimensions}{element}>"))
    };
    match ty {
        "int" => Some("i64".into()),
        "bool" => Some("i1".into()),
        "float" => Some("f64".into()),
        _ => shaped(ty.strip_prefix("vtensor").or_else(|| ty.strip_prefix("tensor"))?),
    }
}

/// Whether a function belongs to a program of PyTorch. The compiler imports a module with one type
/// or operation of PyTorch's dialect as such a program: each export has a twin whose name ends in
/// `$async`, with a wait fence and a signal fence.
pub(crate) fn is_torch(document: &Document, ty: &FunctionType) -> bool {
    let is_type = |slot: &Slot| slot.ty.starts_with("!torch.");
    ty.parameters.iter().chain(&ty.results).any(is_type) || document.inputs().torch
}

/// The width of `i8`, `si8` and `ui8`.
fn integer_bits(ty: &str) -> Option<u32> {
    let digits = ty.strip_prefix("si").or_else(|| ty.strip_prefix("ui"));
    let digits = digits.or_else(|| ty.strip_prefix('i'))?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_number)
}

/// Whether a type is a float of fewer than 32 bits.
fn is_narrow_float(ty: &str) -> bool {
    matches!(ty, "f16" | "bf16" | "tf32")
        || ["f8E", "f6E", "f4E"].iter().any(|start| ty.starts_with(start))
            && ty.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The type with `f32` for each `f64`, also as the element of a tensor.
fn demoted(ty: &str) -> String {
    let mut out = String::with_capacity(ty.len());
    let mut rest = ty;
    while let Some(at) = rest.find("f64") {
        let (before, after) = (&rest[..at], &rest[at + 3..]);
        // `4xf64` ends a shape.
        let begins = before.chars().next_back().is_none_or(|c| c == 'x' || "<,( ".contains(c));
        let ends = after.chars().next().is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
        out += before;
        out += if begins && ends { "f32" } else { "f64" };
        rest = after;
    }
    out + rest
}

/// The type that an alias names, such as `!tensor`; other types are themselves.
pub(crate) fn without_alias(document: &Document, from: usize, ty: &str) -> String {
    let mut found = ty.to_owned();
    // An alias may name an alias, but not for ever.
    for _ in 0..8 {
        if !found.starts_with('!') || found.contains(['.', '<']) {
            break;
        }
        let Some((definition, _)) = alias_definition(document, &found, from) else { break };
        let text = document.text().slice(definition);
        let Some((_, meaning)) = text.split_once('=') else { break };
        let meaning = meaning.split("//").next().unwrap_or(meaning).trim();
        found = meaning.strip_prefix("type ").unwrap_or(meaning).trim().to_owned();
    }
    found
}

/// A function's type with each alias replaced by what it names.
pub(crate) fn written_type(document: &Document, symbol: &Symbol) -> Option<FunctionType> {
    let mut ty = symbol.function_type.clone()?;
    for slot in ty.parameters.iter_mut().chain(&mut ty.results) {
        slot.ty = without_alias(document, symbol.op_range.start, &slot.ty);
    }
    Some(ty)
}

/// The type that hosts see of an export: types that do not cross stay as they are written.
pub(crate) fn host_type(document: &Document, symbol: &Symbol) -> Option<FunctionType> {
    let mut ty = written_type(document, symbol)?;
    let see = |slot: &mut Slot| {
        if let Crossing::As(_, shown) = crossing(&slot.ty, &mut Vec::new()) {
            slot.ty = shown;
        }
    };
    ty.parameters.iter_mut().chain(&mut ty.results).for_each(see);
    Some(ty)
}

/// Adds a remark, once.
pub(crate) fn note(notes: &mut Vec<String>, text: &str) {
    if !notes.iter().any(|known| known == text) {
        notes.push(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::{Crossing, crossing, demoted};

    #[test]
    fn types_cross() {
        for (ty, expected) in [
            ("i7", "i i7"),
            ("si16", "i si16"),
            ("ui64", "I ui64"),
            ("f64", "f f32"),
            ("tensor<4x?xf64>", "r tensor<4x?xf32>"),
            ("vector<2xf64>", "r vector<2xf32>"),
            ("f8E4M3FN", "i f8E4M3FN"),
            ("!torch.vtensor<[4,?],si64>", "r tensor<4x?xi64>"),
            ("!torch.vtensor<[],f64>", "r tensor<f32>"),
            ("!torch.float", "f f32"),
            ("!torch.bool", "i i1"),
            ("!hal.buffer_view", "r !hal.buffer_view"),
            ("i33", "refused"),
            ("i128", "refused"),
            ("complex<f32>", "refused"),
            ("tensor<*xf32>", "refused"),
            ("!torch.str", "unknown"),
            ("!torch.vtensor", "unknown"),
            ("!mine.thing<f64>", "unknown"),
        ] {
            let found = match crossing(ty, &mut Vec::new()) {
                Crossing::As(value, shown) => {
                    let code = abi::cconv::Signature { arguments: vec![value], results: vec![] };
                    format!("{} {shown}", &code.to_cconv()[1..2])
                }
                Crossing::Refused => "refused".into(),
                Crossing::Unknown => "unknown".into(),
            };
            assert_eq!(found, expected, "{ty}");
        }
        assert_eq!(demoted("tuple<f64, bf64, f640, f64>"), "tuple<f32, bf64, f640, f32>");
    }
}
