//! Plans calls: which registers arguments come from, and where results go.
//!
//! Arguments arrive left-aligned in each bank, in order: an i32 or f32 in the next 32-bit register,
//! an i64 or f64 in the next aligned register pair, a ref in the next ref register. The bytecode
//! lists one register per argument, the first of a pair; the callee's calling convention says which
//! are pairs. A function without a calling convention is called by registers alone, 32 bits each.

use abi::cconv::{Signature, ValueType};
use vmfb::decode::{Operand, RegisterList};
use vmfb::{Callee, FunctionOrdinal, Instruction, Register};

use super::call_plan::{CallPlan, NativeArgument, Slot, argument_slots, slot, slot_by_bank};
use super::function::FunctionSlot;
use crate::modules::{LinkedKind, LinkedModule, Target};
use crate::position::FunctionId;

/// What calls lead to: the modules and the bytecode functions of a linkage.
#[derive(Debug)]
pub(crate) struct Linkage<'a, H> {
    pub(crate) modules: &'a [LinkedModule],
    pub(crate) functions: &'a [FunctionSlot<H>],
    /// Whether calls within modules pass 32 bits of each number only: see `narrow_calls`.
    pub(crate) has_narrow_calls: bool,
}

impl<'a, H> Linkage<'a, H> {
    /// The signature of whatever a call leads to.
    fn signature(&self, target: Target) -> Option<&'a Signature> {
        let (module, function) = match target {
            Target::Bytecode(slot) => {
                let FunctionId { module, function } = self.functions.get(slot as usize)?.id();
                (module.index(), function)
            }
            Target::Native(module, function) => (module as usize, FunctionOrdinal(function)),
            Target::Missing(_) => return None,
        };
        self.modules.get(module)?.signature(function)
    }
}

/// Prepares the calls of one function.
pub(crate) struct CallPlanner<'a, H> {
    linkage: &'a Linkage<'a, H>,
    first_function: u32,
    signatures: &'a [Option<Signature>],
    imports: &'a [Target],
    /// Whether calls within the module are made by registers alone.
    is_narrow: bool,
}

impl<'a, H> CallPlanner<'a, H> {
    /// A planner for the function `id`.
    pub(crate) fn new(linkage: &'a Linkage<'a, H>, id: FunctionId) -> Self {
        match linkage.modules.get(id.module.index()).map(|module| &module.kind) {
            Some(LinkedKind::Bytecode { first_function, signatures, imports, .. }) => {
                let is_narrow = linkage.has_narrow_calls;
                let first_function = *first_function;
                Self { linkage, first_function, signatures, imports, is_narrow }
            }
            _ => {
                Self { linkage, first_function: 0, signatures: &[], imports: &[], is_narrow: false }
            }
        }
    }

    /// Plans a call instruction; the caller fills in where it resumes.
    pub(crate) fn plan(&self, instruction: &Instruction<'_>) -> CallPlan {
        let mut callee = None;
        let mut segments = None;
        let mut arguments = None;
        let mut results = None;
        for (field, operand) in instruction.fields() {
            match (field.name, operand) {
                (_, Operand::Function(function)) => callee = Some(*function),
                ("segment_sizes", Operand::Registers(list)) => segments = Some(*list),
                ("operands", Operand::Registers(list)) => arguments = Some(*list),
                ("results", Operand::Registers(list)) => results = Some(*list),
                _ => {}
            }
        }
        let (target, signature) = self.resolve(callee);
        let mut plan = CallPlan {
            target,
            words: Box::default(),
            pairs: Box::default(),
            refs: Box::default(),
            arguments: Box::default(),
            results: results_of(results, signature),
            next: 0,
        };
        match target {
            Target::Bytecode(_) => copy_arguments(&mut plan, arguments, signature),
            Target::Native(..) => {
                plan.arguments = native_arguments(segments, arguments, signature);
            }
            Target::Missing(_) => {}
        }
        plan
    }

    fn resolve(&self, callee: Option<Callee>) -> (Target, Option<&Signature>) {
        match callee {
            Some(Callee::Internal(ordinal)) => (
                Target::Bytecode(self.first_function + ordinal.0),
                self.signatures
                    .get(ordinal.index())
                    .and_then(Option::as_ref)
                    .filter(|_| !self.is_narrow),
            ),
            Some(Callee::Import(ordinal)) => {
                let target = self.imports.get(ordinal.index()).copied();
                let target = target.unwrap_or(Target::Missing(ordinal.0));
                (target, self.linkage.signature(target))
            }
            None => (Target::Missing(0), None),
        }
    }
}

fn registers(list: Option<RegisterList<'_>>) -> impl Iterator<Item = Register> {
    list.into_iter().flat_map(RegisterList::iter)
}

fn results_of(list: Option<RegisterList<'_>>, signature: Option<&Signature>) -> Box<[Slot]> {
    match signature {
        Some(signature) => registers(list)
            .zip(&signature.results)
            .map(|(register, value_type)| slot(register, value_type))
            .collect(),
        None => registers(list).map(slot_by_bank).collect(),
    }
}

fn copy_arguments(
    plan: &mut CallPlan,
    list: Option<RegisterList<'_>>,
    signature: Option<&Signature>,
) {
    let targets: Vec<Slot> = match signature {
        Some(signature) => argument_slots(&signature.arguments).collect(),
        None => {
            let by_bank: Vec<ValueType> = registers(list)
                .map(|register| if register.is_ref() { ValueType::Ref } else { ValueType::I32 })
                .collect();
            argument_slots(&by_bank).collect()
        }
    };
    let (mut words, mut pairs, mut refs) = (Vec::new(), Vec::new(), Vec::new());
    for (register, target) in registers(list).zip(targets) {
        match target {
            Slot::Word(target) => words.push((register.ordinal(), target)),
            Slot::Pair(target) => pairs.push((register.ordinal() / 2, target)),
            Slot::Ref(target) => refs.push((register.0, target)),
        }
    }
    (plan.words, plan.pairs, plan.refs) = (words.into(), pairs.into(), refs.into());
}

/// The arguments of a native function. Segment sizes come one per argument, span or not.
fn native_arguments(
    segments: Option<RegisterList<'_>>,
    list: Option<RegisterList<'_>>,
    signature: Option<&Signature>,
) -> Box<[NativeArgument]> {
    let mut registers = registers(list);
    let segments: Vec<u16> = segments.into_iter().flat_map(RegisterList::iter_u16).collect();
    let mut arguments = Vec::new();
    let types = signature.map_or(&[][..], |signature| &signature.arguments);
    for (index, value_type) in types.iter().enumerate() {
        if let ValueType::Span(tuple) = value_type {
            let count = segments.get(index).copied().unwrap_or(0);
            arguments.push(NativeArgument::Count(count));
            for _ in 0..count {
                arguments.extend(tuple.iter().zip(&mut registers).map(native_argument));
            }
        } else {
            arguments.extend([value_type].into_iter().zip(registers.next()).map(native_argument));
        }
    }
    arguments.into()
}

fn native_argument((value_type, register): (&ValueType, Register)) -> NativeArgument {
    match value_type {
        ValueType::I32 | ValueType::Span(_) => NativeArgument::I32(register.ordinal()),
        ValueType::I64 => NativeArgument::I64(register.ordinal() / 2),
        ValueType::F32 => NativeArgument::F32(register.ordinal()),
        ValueType::F64 => NativeArgument::F64(register.ordinal() / 2),
        ValueType::Ref => NativeArgument::Ref(register.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_left_aligned_in_each_bank_and_pairs_aligned() {
        let signature = Signature::parse("0iIrfFri_v").unwrap();
        let slots: Vec<Slot> = argument_slots(&signature.arguments).collect();
        assert_eq!(
            slots,
            [
                Slot::Word(0),
                Slot::Pair(1),
                Slot::Ref(0),
                Slot::Word(4),
                Slot::Pair(3),
                Slot::Ref(1),
                Slot::Word(8),
            ]
        );
    }
}
