//! The instructions of a function as far as debug information needs them: where each begins, where
//! control may go next, and which registers it writes.

use vmfb::decode::{Operand, RegisterUse};
use vmfb::{BytecodeOffset, Callee, FunctionOrdinal, Instruction, Module, Op};

use super::register_types;

/// The instructions of a function, without block markers.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) instructions: Vec<CodeInstruction>,
    /// Why decoding ended early, if it did.
    pub(crate) damage: Option<String>,
}

/// What an instruction means to a user who steps through the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It does the work of its line.
    Work,
    /// It loads a constant. The compiler moves these freely.
    Constant,
    /// It records a dispatch. The work of its line is done when the device executes the dispatch.
    Dispatch,
    /// It records or submits a transfer of memory.
    Transfer,
    /// It does other work for devices, such as creating command buffers.
    Device,
}

#[derive(Debug)]
pub(crate) struct CodeInstruction {
    pub(crate) op: Op,
    pub(crate) role: Role,
    pub(crate) offset: BytecodeOffset,
    pub(crate) end: BytecodeOffset,
    /// Whether it follows a block marker.
    pub(crate) begins_block: bool,
    /// The block markers where control may go next.
    pub(crate) successors: Vec<BytecodeOffset>,
    /// The registers that it writes; for a call, with the banks from the callee's signature.
    pub(crate) writes: Vec<RegisterUse>,
    /// The ref registers that it empties, by discarding their refs or moving them out.
    pub(crate) emptied: Vec<u16>,
}

impl Code {
    pub(crate) fn decode(module: &Module, ordinal: FunctionOrdinal) -> Self {
        let mut code = Self::default();
        let mut begins_block = true;
        for instruction in vmfb::instructions(module.function_bytecode(ordinal)) {
            let instruction = match instruction {
                Ok(instruction) => instruction,
                Err(error) => {
                    code.damage = Some(error.to_string());
                    break;
                }
            };
            if instruction.op == Op::Block {
                begins_block = true;
                continue;
            }
            code.instructions.push(CodeInstruction {
                op: instruction.op,
                role: Role::of(module, &instruction),
                offset: instruction.offset,
                end: instruction.end,
                begins_block,
                emptied: emptied(&instruction),
                successors: instruction
                    .successors()
                    .into_iter()
                    .map(|(target, _)| target)
                    .collect(),
                writes: register_types::writes(module, &instruction),
            });
            begins_block = false;
        }
        code
    }

    /// The index of the instruction that covers an offset; for a block marker, of the instruction
    /// after it.
    pub(crate) fn index_at(&self, offset: BytecodeOffset) -> Option<usize> {
        let index = self.instructions.partition_point(|instruction| instruction.end <= offset);
        (index < self.instructions.len()).then_some(index)
    }

    pub(crate) fn index_of(&self, offset: BytecodeOffset) -> Option<usize> {
        self.instructions.binary_search_by_key(&offset, |instruction| instruction.offset).ok()
    }
}

impl Role {
    pub(super) fn of(module: &Module, instruction: &Instruction<'_>) -> Self {
        match imported(module, instruction) {
            Some(name) => Self::of_import(name),
            None if instruction.op.mnemonic().starts_with("const.") => Self::Constant,
            None if instruction.op == Op::DiscardRefs => Self::Device,
            None => Self::Work,
        }
    }

    fn of_import(name: &str) -> Self {
        // Reads and writes of files are none: they move constants and parameters, which no
        // operation of the source does.
        const TRANSFERS: [&str; 6] = [
            "command_buffer.fill_buffer",
            "command_buffer.copy_buffer",
            "command_buffer.update_buffer",
            "device.queue.fill",
            "device.queue.copy",
            "device.queue.update",
        ];
        // Queries about tensors: their sizes and elements.
        const WORK: [&str; 7] = [
            "buffer_view.dim",
            "buffer_view.rank",
            "buffer_view.trace",
            "buffer_view.element_type",
            "buffer.load",
            "buffer.store",
            "buffer.length",
        ];
        match name.split_once('.') {
            Some(("hal", name)) if name.starts_with("command_buffer.dispatch") => Self::Dispatch,
            Some(("hal", name)) if TRANSFERS.contains(&name) => Self::Transfer,
            Some(("hal", name)) if WORK.contains(&name) => Self::Work,
            Some(("hal" | "io_parameters", _)) => Self::Device,
            _ => Self::Work,
        }
    }
}

/// The name of the import that an instruction calls.
pub(super) fn imported<'m>(module: &'m Module, instruction: &Instruction<'_>) -> Option<&'m str> {
    instruction.operands.iter().find_map(|operand| match operand {
        Operand::Function(Callee::Import(import)) => {
            Some(module.import(*import)?.full_name.as_str())
        }
        _ => None,
    })
}

fn emptied(instruction: &Instruction<'_>) -> Vec<u16> {
    let discards = instruction.op == Op::DiscardRefs;
    instruction
        .register_uses()
        .filter(|usage| !usage.is_write && (discards || usage.register.is_move()))
        .map(|usage| usage.register.ordinal())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upload_of_constants_is_no_transfer_of_the_source() {
        assert_eq!(Role::of_import("hal.device.queue.copy"), Role::Transfer);
        assert_eq!(Role::of_import("hal.device.queue.read"), Role::Device);
    }
}
