//! What instructions read and write. Watchpoints and traps ask once per instruction.

use debuginfo::RegisterSlot;
use vmfb::decode::{Instruction, Operand};
use vmfb::isa::Bank;
use vmfb::{BytecodeOffset, Module};

use super::arithmetic::Integer;
use super::registers::slot;

/// The effects of an instruction on data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    /// Registers, each with whether it is written.
    pub(crate) registers: Vec<(RegisterSlot, bool)>,
    /// Another place that it reads or writes.
    pub(crate) object: Option<Access>,
    /// Whether it is a call, which may change memory or objects in any way.
    pub(crate) is_call: bool,
    /// The register that receives a float computed from other floats.
    pub(crate) float: Option<RegisterSlot>,
    /// Its integer arithmetic, if it is any.
    pub(crate) integer: Option<Integer>,
    /// Registers that are written on the way to another block, which may not be taken.
    pub(crate) moves: Vec<(BytecodeOffset, RegisterSlot)>,
}

/// An access to something that is not a register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) is_write: bool,
    pub(crate) kind: AccessKind,
}

/// The place of an access. Registers that say which one are read just before the instruction runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AccessKind {
    /// Elements of a buffer: the element width in bytes and the register of the count, which is one
    /// if there is none.
    Buffer { buffer: u16, index: u16, width: usize, count: Option<u16> },
    /// A list and an index.
    List { list: u16, index: u16 },
    /// Primitive globals: an offset in bytes.
    GlobalBytes(u32),
    /// A ref global.
    GlobalRef(u32),
}

impl Effects {
    /// The effects of the instruction at an offset.
    pub(crate) fn of(code: &[u8], offset: BytecodeOffset) -> Self {
        vmfb::decode(code, offset).map_or_else(|_| Self::default(), |it| Self::of_instruction(&it))
    }

    fn of_instruction(instruction: &Instruction<'_>) -> Self {
        let mnemonic = instruction.op.mnemonic();
        let uses = instruction.register_uses();
        let registers = uses.map(|it| (slot(it.bank, it.register), it.is_write)).collect();
        let result = instruction.register_uses().find(|it| it.is_write);
        let reads_float = instruction
            .register_uses()
            .any(|it| !it.is_write && matches!(it.bank, Bank::F32 | Bank::F64));
        let moves_only = ["select", "switch", "bitcast", "buffer", "list", "global", "call"];
        let float = result
            .filter(|it| matches!(it.bank, Bank::F32 | Bank::F64))
            .filter(|_| reads_float && !moves_only.iter().any(|it| mnemonic.starts_with(it)))
            .map(|it| slot(it.bank, it.register));
        Self {
            registers,
            object: access(instruction, mnemonic),
            is_call: mnemonic.starts_with("call"),
            float,
            integer: Integer::of(instruction),
            moves: moves(instruction),
        }
    }

    /// Whether a module computes floats from floats.
    pub(crate) fn has_floats(module: &Module) -> bool {
        let functions = module.functions_with_ordinals();
        functions.into_iter().any(|(ordinal, _)| {
            let code = vmfb::instructions(module.function_bytecode(ordinal));
            code.map_while(Result::ok).any(|it| Self::of_instruction(&it).float.is_some())
        })
    }

    /// Whether it may change memory.
    pub(crate) fn may_write_memory(&self) -> bool {
        let writes_buffer = self.object.is_some_and(|access| {
            access.is_write && matches!(access.kind, AccessKind::Buffer { .. })
        });
        self.is_call || writes_buffer
    }
}

fn moves(instruction: &Instruction<'_>) -> Vec<(BytecodeOffset, RegisterSlot)> {
    let blocks = instruction.successors().into_iter();
    let moves = blocks.flat_map(|(block, moves)| moves.iter().map(move |(_, to)| (block, to)));
    moves.map(|(block, to)| (block, slot(Bank::Any, to))).collect()
}

fn access(instruction: &Instruction<'_>, mnemonic: &str) -> Option<Access> {
    let register = |index: usize| match instruction.operands.get(index)? {
        Operand::Register(register) => Some(register.ordinal()),
        _ => None,
    };
    let global = || {
        instruction.operands.iter().find_map(|operand| match operand {
            Operand::Global(at) => Some(*at),
            _ => None,
        })
    };
    let width = match mnemonic.rsplit('.').find(|part| part.starts_with(['i', 'f'])) {
        Some("i8") => 1,
        Some("i16") => 2,
        Some("i64" | "f64") => 8,
        _ => 4,
    };
    let buffer = |at: usize, width, count: Option<usize>| {
        let count = match count {
            Some(count) => Some(register(count)?),
            None => None,
        };
        Some(AccessKind::Buffer { buffer: register(at)?, index: register(at + 1)?, width, count })
    };
    let list = || Some(AccessKind::List { list: register(0)?, index: register(1)? });
    let (is_write, kind) = if mnemonic.starts_with("buffer.load") {
        (false, buffer(0, width, None)?)
    } else if mnemonic.starts_with("buffer.store") {
        (true, buffer(0, width, None)?)
    } else if mnemonic.starts_with("buffer.fill") {
        (true, buffer(0, width, Some(2))?)
    } else if mnemonic == "buffer.copy" {
        (true, buffer(2, 1, Some(4))?)
    } else if mnemonic.starts_with("list.get") {
        (false, list()?)
    } else if mnemonic.starts_with("list.set") {
        (true, list()?)
    } else if mnemonic == "global.load.ref" {
        (false, AccessKind::GlobalRef(global()?))
    } else if mnemonic == "global.store.ref" {
        (true, AccessKind::GlobalRef(global()?))
    } else if mnemonic.starts_with("global.load") {
        (false, AccessKind::GlobalBytes(global()?))
    } else if mnemonic.starts_with("global.store") {
        (true, AccessKind::GlobalBytes(global()?))
    } else {
        return None;
    };
    Some(Access { is_write, kind })
}
