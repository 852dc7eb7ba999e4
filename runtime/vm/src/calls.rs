//! Where arguments and results of calls are.
//!
//! Arguments arrive left-aligned in each bank, in order: an i32 or f32 in the next 32-bit register,
//! an i64 or f64 in the next register pair that is aligned, a ref in the next ref register. The
//! bytecode lists one register an argument, the first of a pair; the callee's calling convention
//! says which are pairs. A function without one is called by its registers alone, 32 bits each.

use abi::cconv::{Signature, ValueType};
use vmfb::decode::{Operand, RegisterList};
use vmfb::{Callee, FunctionOrdinal, Instruction, Register};

use crate::code::{CallPlan, NativeArgument, Slot, Target};
use crate::context::{Context, FunctionId, LinkedKind};

/// Where the arguments of a function with this signature arrive. Spans have no registers.
pub(crate) fn argument_slots(types: &[ValueType]) -> impl Iterator<Item = Slot> {
    let mut word = 0;
    let mut reference = 0;
    types.iter().filter_map(move |value_type| match value_type {
        ValueType::I32 | ValueType::F32 => {
            word += 1;
            Some(Slot::Word(word - 1))
        }
        ValueType::I64 | ValueType::F64 => {
            word = (word + 1) & !1;
            word += 2;
            Some(Slot::Pair(word / 2 - 1))
        }
        ValueType::Ref => {
            reference += 1;
            Some(Slot::Ref(reference - 1))
        }
        ValueType::Span(_) => None,
    })
}

/// A register of a list as its type says.
pub(crate) fn slot(register: Register, value_type: &ValueType) -> Slot {
    match value_type {
        ValueType::I32 | ValueType::F32 | ValueType::Span(_) => Slot::Word(register.ordinal()),
        ValueType::I64 | ValueType::F64 => Slot::Pair(register.ordinal() / 2),
        ValueType::Ref => Slot::Ref(register.0),
    }
}

/// A register of a list of which nothing is known but the bank.
pub(crate) fn slot_by_bank(register: Register) -> Slot {
    if register.is_ref() { Slot::Ref(register.0) } else { Slot::Word(register.ordinal()) }
}

/// Prepares the calls of one function.
pub(crate) struct CallPlanner<'a> {
    context: &'a Context,
    first_function: u32,
    signatures: &'a [Option<Signature>],
    imports: &'a [Target],
    /// Whether calls within the module are made by registers alone.
    is_narrow: bool,
}

impl<'a> CallPlanner<'a> {
    /// A planner for the function `id`.
    pub(crate) fn new(context: &'a Context, id: FunctionId) -> Self {
        match context.modules.get(id.module.index()).map(|module| &module.kind) {
            Some(LinkedKind::Bytecode { first_function, signatures, imports, .. }) => {
                let is_narrow = context.has_narrow_calls;
                let first_function = *first_function;
                Self { context, first_function, signatures, imports, is_narrow }
            }
            _ => {
                Self { context, first_function: 0, signatures: &[], imports: &[], is_narrow: false }
            }
        }
    }

    /// Prepares a call instruction; where it goes on is filled in by the caller.
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
                (target, self.context.target_signature(target))
            }
            None => (Target::Missing(0), None),
        }
    }
}

impl Context {
    /// The signature of whatever a call leads to.
    pub(crate) fn target_signature(&self, target: Target) -> Option<&Signature> {
        match target {
            Target::Bytecode(slot) => self.signature_of(self.functions.get(slot as usize)?.id()),
            Target::Native(module, function) => {
                self.modules.get(module as usize)?.signature(FunctionOrdinal(function))
            }
            Target::Missing(_) => None,
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

/// What a native function is passed. Segment sizes stand one an argument, spans or not.
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
