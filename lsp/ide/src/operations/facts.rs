//! How blocks end: the operations that end one, and those whose regions must be ended in the text.

/// Whether an operation may end a block, for all that is known of it.
pub(crate) fn may_end_block(op: &str) -> bool {
    const DIALECTS: &[&str] = &["pdl", "pdl_interp", "spirv", "transform", "smt", "pcf"];
    let dialect = super::dialect_of(op);
    dialect.is_empty()
        || !super::is_listed(dialect)
        || DIALECTS.contains(&dialect)
        || mlir::may_end_block(op)
}

/// Whether the text must show how each block in the regions of this operation ends. The operation
/// has results or has none.
pub(crate) fn must_end(op: &str, has_results: bool) -> bool {
    match op {
        "scf.for" | "scf.if" | "scf.index_switch" | "affine.for" | "affine.if" => has_results,
        "func.func"
        | "util.func"
        | "vm.func"
        | "llvm.func"
        | "gpu.func"
        | "util.initializer"
        | "vm.initializer"
        | "scf.execute_region"
        | "scf.while"
        | "linalg.generic"
        | "tensor.generate"
        | "tensor.pad"
        | "flow.dispatch.region"
        | "flow.dispatch.workgroups"
        | "hal.executable.export"
        | "hal.executable.condition"
        | "hal.executable.constant.block"
        | "hal.device.memoize"
        | "hal.dispatch.extern"
        | "flow.executable.export"
        | "stream.executable.export"
        | "stream.async.execute"
        | "stream.async.concurrent"
        | "memref.generic_atomic_rmw"
        | "iree_codegen.dispatch_config"
        | "iree_gpu.barrier_region"
        | "iree_linalg_ext.arg_compare"
        | "iree_linalg_ext.custom_op"
        | "iree_linalg_ext.map_load"
        | "iree_linalg_ext.map_store"
        | "iree_linalg_ext.scan"
        | "iree_linalg_ext.scatter"
        | "iree_linalg_ext.sort"
        | "iree_linalg_ext.topk"
        | "iree_linalg_ext.topk_v2"
        | "stablehlo.all_reduce"
        | "stablehlo.case"
        | "stablehlo.if"
        | "stablehlo.reduce"
        | "stablehlo.reduce_scatter"
        | "stablehlo.reduce_window"
        | "stablehlo.scatter"
        | "stablehlo.sort"
        | "stablehlo.while" => true,
        _ => false,
    }
}

/// Whether `{}` is a region of this operation although a block in it would have to end. The
/// verifier of these asks nothing of a region without blocks.
pub(crate) fn may_be_empty(op: &str) -> bool {
    matches!(
        op,
        "flow.dispatch.region"
            | "flow.dispatch.workgroups"
            | "hal.device.memoize"
            | "util.initializer"
            | "vm.initializer"
    )
}

/// Whether the arguments of an operation's regions are recognised in its head by their place alone:
/// before `=`, after `as`, or in a list of names with types.
pub(crate) fn shows_arguments(op: &str) -> bool {
    matches!(
        op,
        "scf.for"
            | "scf.forall"
            | "scf.if"
            | "scf.index_switch"
            | "scf.parallel"
            | "scf.while"
            | "affine.for"
            | "affine.if"
            | "affine.parallel"
            | "linalg.generic"
            | "tensor.generate"
            | "tensor.pad"
            | "hal.device.memoize"
            | "iree_gpu.barrier_region"
            | "memref.generic_atomic_rmw"
            | "stream.async.concurrent"
            | "stream.async.execute"
            | "stream.cmd.concurrent"
            | "stream.cmd.execute"
            | "stream.cmd.serial"
            | "vector.mask"
    ) || op.starts_with("iree_linalg_ext.")
        || op.starts_with("iree_vector_ext.")
}

/// Whether the first list in the head of this operation names the arguments of its region:
/// `scf.forall (%i, %j) in …`.
pub(crate) fn begins_with_arguments(op: &str) -> bool {
    matches!(op, "scf.forall" | "scf.parallel" | "affine.parallel")
}

#[cfg(test)]
mod tests {
    use vmfb::Op;

    /// What `mlir` says of the VM dialect is what the table of the VM's instructions says.
    #[test]
    fn instructions_that_end_blocks_are_operations_that_do() {
        for op in Op::all() {
            let name = format!("vm.{}", op.mnemonic());
            assert_eq!(mlir::ends_block(&name), op.is_terminator(), "{name}");
            assert!(!op.is_terminator() || mlir::may_end_block(&name), "{name}");
        }
    }
}
