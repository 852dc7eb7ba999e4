//! Calls within a module as IREE's runtimes up to 3.12 make them: 32 bits of each number are
//! passed, one register after the other, whatever the signature says.
//!
//! That is a defect of those runtimes. Here all bits are passed, unless somebody wants to see what
//! a program does there ([`crate::ContextBuilder::imitate_narrow_calls`]).

use abi::cconv::{Signature, ValueType};
use vmfb::decode::Operand;
use vmfb::{Callee, FunctionOrdinal, Module};

/// The last version of bytecode that only runtimes with the defect run. Version 17 is that of 3.11
/// and 3.12, which have it, and of 3.13, which has not.
const LAST_MAJOR: u16 = 16;

/// What to tell of a module that may give other results on the runtime that it was made for: it
/// calls functions of its own with numbers of 64 bits.
#[must_use]
pub fn narrow_calls_note(module: &Module) -> Option<String> {
    let mut ordinals = (0..module.functions().len()).map(FunctionOrdinal::from_index);
    let may_differ = module.bytecode_version().major <= LAST_MAJOR
        && ordinals.any(|ordinal| calls_with_wide_numbers(module, ordinal));
    may_differ.then(|| {
        format!(
            "module {}: IREE's runtime of its time passes 32 of the 64 bits of i64 and f64 in calls within \
             a module, while here all are passed, so results may differ. --imitate-narrow-calls (when launched \
             by an editor: \"imitateNarrowCalls\": true) has it as there",
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
