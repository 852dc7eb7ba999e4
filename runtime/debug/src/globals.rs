//! The globals of a module, found in its instructions.
//!
//! A module says how many bytes and refs of globals it has, not what they are. The loads and stores
//! in its functions do: each names an offset and a type.

use std::collections::BTreeMap;

use vm::{Context, ModuleIndex, Value};
use vmfb::decode::Operand;
use vmfb::isa::{Bank, FieldKind};
use vmfb::{Module, instructions};

use crate::inspect::variable;
use crate::view::Variable;

/// Offsets of primitive globals with the types that instructions use them with.
#[derive(Debug, Default)]
pub(crate) struct Globals {
    primitives: BTreeMap<u32, Bank>,
}

impl Globals {
    /// Scans all functions of a module.
    pub(crate) fn find(module: &Module) -> Self {
        let mut primitives = BTreeMap::new();
        for (ordinal, _) in module.functions_with_ordinals() {
            for instruction in instructions(module.function_bytecode(ordinal)).map_while(Result::ok)
            {
                let mut offset = None;
                for (field, operand) in instruction.fields() {
                    match (field.kind, operand) {
                        (FieldKind::Global, Operand::Global(at)) => offset = Some(*at),
                        (
                            FieldKind::Read(bank @ (Bank::I32 | Bank::I64 | Bank::F32 | Bank::F64))
                            | FieldKind::Write(
                                bank @ (Bank::I32 | Bank::I64 | Bank::F32 | Bank::F64),
                            ),
                            _,
                        ) => {
                            if let Some(at) = offset {
                                primitives.insert(at, bank);
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
        Self { primitives }
    }

    /// The globals with their values, primitives first, named as the disassembly names them.
    pub(crate) fn variables(&self, context: &Context, module: ModuleIndex) -> Vec<Variable> {
        let bytes = context.global_bytes(module);
        let primitives = self.primitives.iter().filter_map(|(at, bank)| {
            let value = read(bytes, *at as usize, *bank)?;
            Some(variable(format!("rwdata[{at}]"), &value))
        });
        let refs = context.global_refs(module).iter().enumerate();
        let refs =
            refs.map(|(index, it)| variable(format!("refs[{index}]"), &Value::Ref(it.clone())));
        let named = |it: Variable| Variable { evaluate_name: Some(it.name.clone()), ..it };
        primitives.chain(refs).map(named).collect()
    }
}

impl Globals {
    /// The type of the primitive global at an offset, as instructions use it.
    pub(crate) fn bank_at(&self, at: usize) -> Option<Bank> {
        self.primitives.get(&u32::try_from(at).ok()?).copied()
    }
}

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
