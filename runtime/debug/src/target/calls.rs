//! Calls in bytecode.

use vmfb::decode::{Instruction, Operand};
use vmfb::{Callee, Op};

/// The callee of an instruction, if it is a call.
pub(crate) fn callee(instruction: &Instruction<'_>) -> Option<Callee> {
    let is_call = matches!(
        instruction.op,
        Op::Call | Op::CallVariadic | Op::CallYieldable | Op::CallVariadicYieldable
    );
    let mut operands = instruction.operands.iter();
    operands.find_map(|operand| match operand {
        Operand::Function(callee) if is_call => Some(*callee),
        _ => None,
    })
}
