//! Calls within a module as IREE's runtimes up to 3.12 make them: they pass 32 bits of each number,
//! one register after the other, whatever the signature says.
//!
//! That is a defect of those runtimes. All bits are passed here, unless a user wants to see what a
//! program does there ([`crate::ContextBuilder::imitate_narrow_calls`]).

use abi::cconv::{Signature, ValueType};
use vmfb::decode::Operand;
use vmfb::{Callee, FunctionOrdinal, Module};

/// The last bytecode version that only runtimes with the defect run. Version 17 belongs to 3.11 and
/// 3.12, which have the defect, and to 3.13, which does not.
const LAST_MAJOR: u16 = 16;

/// A note on a module that may give other results on the runtime it was made for, because it calls
/// its own functions with 64-bit numbers; `None` for other modules.
#[must_use]
pub fn narrow_calls_note(module: &Module) -> Option<String> {
    let mut ordinals = (0..module.functions().len()).map(FunctionOrdinal::from_index);
    let may_differ = module.bytecode_version().major <= LAST_MAJOR
        && ordinals.any(|ordinal| calls_with_wide_numbers(module, ordinal));
    may_differ.then(|| {
        format!(
            "module {}: IREE's runtime of its time passes 32 of the 64 bits of i64 and f64 in \
             calls within a module, while here all are passed, so results may differ. \
             --imitate-narrow-calls (when launched by an editor: \"imitateNarrowCalls\": true) has \
             it as there",
            module.name()
        )
    })
}

fn calls_with_wide_numbers(module: &Module, ordinal: FunctionOrdinal) -> bool {
    let instructions = vmfb::instructions(module.function_bytecode(ordinal));
    instructions.map_while(Result::ok).any(|instruction| {
        instruction.operands.iter().any(|operand| match operand {
            Operand::Function(Callee::Internal(callee)) => takes_wide_numbers(module, *callee),
            _ => false,
        })
    })
}

fn takes_wide_numbers(module: &Module, ordinal: FunctionOrdinal) -> bool {
    let function = module.function(ordinal);
    let convention = function.and_then(|it| it.signature.calling_convention.as_deref());
    let signature = convention.and_then(|text| Signature::parse(text).ok()).unwrap_or_default();
    let mut values = signature.arguments.iter().chain(&signature.results);
    values.any(|value| matches!(value, ValueType::I64 | ValueType::F64))
}
