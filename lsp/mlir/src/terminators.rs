//! How blocks end.
//!
//! An operation may end blocks in one version of MLIR and stand amid one in another, as
//! `scf.reduce` has. So there are two questions: what follows an operation that *always* ends its
//! block is an error, and a block may end with what *may* end one.
//!
//! The operations of the VM dialect are the VM's instructions; a test in `ide` holds this list
//! against their table.

/// Ends of names of operations that always end their block, whatever the dialect.
const ENDINGS: [&str; 5] = ["return", "yield", "br", "cond_br", "unreachable"];

/// Others that always do.
const ALWAYS: [&str; 10] = [
    "cf.switch",
    "gpu.terminator",
    "llvm.switch",
    "scf.condition",
    "vm.br_table",
    "vm.break",
    "vm.call.variadic.yieldable",
    "vm.call.yieldable",
    "vm.cond_break",
    "vm.fail",
];

/// Others that may.
const SOMETIMES: [&str; 16] = [
    "emitc.switch",
    "flow.executable_end",
    "llvm.indirectbr",
    "llvm.intr.unreachable",
    "llvm.invoke",
    "llvm.resume",
    "memref.atomic_yield",
    "nvvm.exit",
    "scf.forall.in_parallel",
    "scf.reduce",
    "shape.assuming_yield",
    "stream.executable.end",
    "util.scf.unreachable",
    "vhlo.return_v1",
    "vm.import.resolved",
    "vm.trap",
];

/// Whether an operation always ends its block.
#[must_use]
pub fn ends_block(operation: &str) -> bool {
    let last = operation.rsplit('.').next().unwrap_or(operation);
    let is_ending = ENDINGS.contains(&last) && operation != "util.scf.unreachable";
    is_ending || ALWAYS.contains(&operation)
}

/// Whether an operation may end a block.
#[must_use]
pub fn may_end_block(operation: &str) -> bool {
    const ENDINGS: [&str; 6] = ["yield", "return", "terminator", "end", "condition", "Exit"];
    ends_block(operation)
        || SOMETIMES.contains(&operation)
        || ENDINGS.iter().any(|ending| operation.ends_with(ending))
}
