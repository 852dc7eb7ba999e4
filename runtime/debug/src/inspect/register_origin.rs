//! Where the value of a register may come from, as the instructions of its function say: they write
//! it, the call has put an argument there, or nothing has.

use abi::cconv::Signature;
use vmfb::decode::Instruction;

use super::watch_target::WatchTarget;
use crate::machine::Machine;
use crate::target::instruction_effects::Effects;
use crate::target::registers::{overlap, takes_argument};

/// What may have written a register in a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RegisterOrigin {
    /// Instructions of the function.
    Instructions,
    /// The call, with an argument; no instruction of the function does.
    CallAlone,
    /// Neither.
    Nothing,
}

impl Machine {
    /// Where the value of a register may come from; `None`: it is no register, or its function is
    /// not known.
    pub(crate) fn origin_of_register(&self, target: &WatchTarget) -> Option<RegisterOrigin> {
        let (function, _, register) = target.register()?;
        let module = self.context.bytecode_module(function.module)?;
        let code = module.function_bytecode(function.function);
        let writes = |it: &Instruction<'_>| {
            let effects = Effects::of(code, it.offset);
            let mut registers = effects.registers.iter();
            registers.any(|(slot, is_written)| *is_written && overlap(*slot, register))
                || effects.moves.iter().any(|(_, slot)| overlap(*slot, register))
        };
        // What cannot be decoded may write anything.
        let is_written = vmfb::decode::instructions(code)
            .any(|instruction| instruction.as_ref().map_or(true, writes));
        Some(match (is_written, self.is_argument(target)) {
            (true, _) => RegisterOrigin::Instructions,
            (false, true) => RegisterOrigin::CallAlone,
            (false, false) => RegisterOrigin::Nothing,
        })
    }

    /// Whether the call of a register's frame puts an argument there.
    pub(crate) fn is_argument(&self, target: &WatchTarget) -> bool {
        let Some((function, _, register)) = target.register() else { return false };
        let module = self.context.bytecode_module(function.module);
        let called = module.and_then(|module| module.function(function.function));
        let convention = called.and_then(|it| it.signature.calling_convention.as_deref());
        let signature = convention.and_then(|text| Signature::parse(text).ok());
        // Where nothing says how it is called, it may be an argument.
        signature.is_none_or(|signature| takes_argument(&signature, register))
    }
}
