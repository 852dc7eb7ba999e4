//! The globals of a module, with their values.

use vm::{Context, ModuleIndex, Ref, Value};
use vmfb::isa::Bank;

use crate::target::globals::{Globals, Named};
use crate::view::value::variable;
use crate::view::variable::Variable;

/// The globals with their values: first those of the source, then those without a name, then the
/// compiler's own.
pub(crate) fn variables(
    globals: &Globals,
    context: &Context,
    module: ModuleIndex,
) -> Vec<Variable> {
    let bytes = context.global_bytes(module);
    let primitives = globals.primitives.iter().filter_map(|(at, primitive)| {
        let value = read(bytes, *at as usize, primitive.bank)?;
        let shown = variable(format!("rwdata[{at}]"), &value);
        Some((primitive.named.as_ref(), shown))
    });
    let refs = context.global_refs(module).iter().enumerate().map(|(index, it)| {
        let named = u32::try_from(index).ok().and_then(|index| globals.refs.get(&index));
        (named, ref_variable(format!("refs[{index}]"), named, it))
    });
    let mut found: Vec<(u8, Variable)> = primitives
        .chain(refs)
        .map(|(named, shown)| {
            let name = named.map_or_else(|| shown.name.clone(), Named::printed);
            let rank = named.map_or(1, Named::rank);
            (rank, Variable { evaluate_name: Some(name.clone()), name, ..shown })
        })
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, shown)| shown).collect()
}

fn ref_variable(name: String, named: Option<&Named>, value: &Ref) -> Variable {
    if let Some(tensor) = named.and_then(|named| named.tensor(value)) {
        return tensor.variable(&name);
    }
    let shown = variable(name, &Value::Ref(value.clone()));
    let declared = named.and_then(|named| named.mlir_type.clone());
    let type_name = declared.filter(|_| matches!(value, Ref::Null));
    Variable { type_name: type_name.unwrap_or(shown.type_name), ..shown }
}

/// The number at an offset of the globals' bytes.
pub(crate) fn read(bytes: &[u8], at: usize, bank: Bank) -> Option<Value> {
    let rest = bytes.get(at..)?;
    let word = || rest.first_chunk::<4>().map(|it| u32::from_le_bytes(*it));
    let pair = || rest.first_chunk::<8>().map(|it| u64::from_le_bytes(*it));
    match bank {
        Bank::I64 => pair().map(|bits| Value::I64(bits.cast_signed())),
        Bank::F64 => pair().map(|bits| Value::F64(f64::from_bits(bits))),
        Bank::F32 => word().map(|bits| Value::F32(f32::from_bits(bits))),
        _ => word().map(|bits| Value::I32(bits.cast_signed())),
    }
}
