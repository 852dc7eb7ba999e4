//! How operations hold blocks, and how blocks end: a row an operation that has regions, with what
//! is known of them.
//!
//! An operation may end blocks in one version of MLIR and stand amid one in another, as
//! `scf.reduce` has. So there are two questions: what follows an operation that *always* ends its
//! block is an error, and a block may end with what *may* end one.
//!
//! The operations of the VM dialect are the VM's instructions; a test in `ide` holds this list
//! against their table.

/// What is known of the regions of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fact {
    /// The text must show how each block ends.
    BlocksEnd,
    /// The same, if the operation has results.
    BlocksEndWithResults,
    /// `{}` is a region although a block in it would have to end. The verifier of these asks
    /// nothing of a region without blocks.
    MayBeEmpty,
    /// Its blocks are a function's: a branch may end them.
    Branches,
    /// Its blocks end with this operation, as far as they go to no other.
    EndsWith(&'static str),
    /// What ends a block with values gives the results of the operation.
    YieldsResults,
    /// The arguments are recognised in the head by their place alone: before `=`, after `as`, or in
    /// a list of names with types.
    ShowsArguments,
    /// The first list in the head names the arguments: `scf.forall (%i, %j) in …`.
    BeginsWithArguments,
    /// A second region counts workgroups, with a type of its own: `count(…) -> (…)`.
    HasCount,
}

use Fact::{
    BeginsWithArguments, BlocksEnd, BlocksEndWithResults, Branches, EndsWith, HasCount, MayBeEmpty,
    ShowsArguments, YieldsResults,
};

/// The rows, in the order of their names. A name that ends with a dot stands for the operations of
/// a dialect.
const TABLE: &[(&str, &[Fact])] = &[
    ("affine.for", &[BlocksEndWithResults, ShowsArguments]),
    ("affine.if", &[BlocksEndWithResults, ShowsArguments]),
    ("affine.parallel", &[ShowsArguments, BeginsWithArguments]),
    ("flow.dispatch.region", &[BlocksEnd, MayBeEmpty, HasCount]),
    ("flow.dispatch.workgroups", &[BlocksEnd, MayBeEmpty, HasCount]),
    ("flow.executable.export", &[BlocksEnd]),
    ("func.func", &[BlocksEnd, Branches, EndsWith("return")]),
    ("gpu.func", &[BlocksEnd]),
    ("hal.device.memoize", &[BlocksEnd, MayBeEmpty, ShowsArguments]),
    ("hal.dispatch.extern", &[BlocksEnd]),
    ("hal.executable.condition", &[BlocksEnd]),
    ("hal.executable.constant.block", &[BlocksEnd]),
    ("hal.executable.export", &[BlocksEnd]),
    ("iree_codegen.dispatch_config", &[BlocksEnd]),
    ("iree_gpu.barrier_region", &[BlocksEnd, ShowsArguments]),
    ("iree_linalg_ext.", &[ShowsArguments]),
    ("iree_linalg_ext.arg_compare", &[BlocksEnd]),
    ("iree_linalg_ext.custom_op", &[BlocksEnd]),
    ("iree_linalg_ext.map_load", &[BlocksEnd]),
    ("iree_linalg_ext.map_store", &[BlocksEnd]),
    ("iree_linalg_ext.scan", &[BlocksEnd]),
    ("iree_linalg_ext.scatter", &[BlocksEnd]),
    ("iree_linalg_ext.sort", &[BlocksEnd]),
    ("iree_linalg_ext.topk", &[BlocksEnd]),
    ("iree_linalg_ext.topk_v2", &[BlocksEnd]),
    ("iree_vector_ext.", &[ShowsArguments]),
    ("linalg.generic", &[BlocksEnd, EndsWith("linalg.yield"), ShowsArguments]),
    ("llvm.func", &[BlocksEnd]),
    ("memref.generic_atomic_rmw", &[BlocksEnd, ShowsArguments]),
    ("scf.execute_region", &[BlocksEnd, EndsWith("scf.yield"), YieldsResults]),
    ("scf.for", &[BlocksEndWithResults, EndsWith("scf.yield"), YieldsResults, ShowsArguments]),
    ("scf.forall", &[ShowsArguments, BeginsWithArguments]),
    ("scf.if", &[BlocksEndWithResults, EndsWith("scf.yield"), YieldsResults, ShowsArguments]),
    ("scf.index_switch", &[BlocksEndWithResults, EndsWith("scf.yield"), ShowsArguments]),
    ("scf.parallel", &[ShowsArguments, BeginsWithArguments]),
    ("scf.while", &[BlocksEnd, EndsWith("scf.condition"), EndsWith("scf.yield"), ShowsArguments]),
    ("stablehlo.all_reduce", &[BlocksEnd]),
    ("stablehlo.case", &[BlocksEnd]),
    ("stablehlo.if", &[BlocksEnd]),
    ("stablehlo.reduce", &[BlocksEnd]),
    ("stablehlo.reduce_scatter", &[BlocksEnd]),
    ("stablehlo.reduce_window", &[BlocksEnd]),
    ("stablehlo.scatter", &[BlocksEnd]),
    ("stablehlo.sort", &[BlocksEnd]),
    ("stablehlo.while", &[BlocksEnd]),
    ("stream.async.concurrent", &[BlocksEnd, ShowsArguments]),
    ("stream.async.execute", &[BlocksEnd, ShowsArguments]),
    ("stream.cmd.concurrent", &[ShowsArguments]),
    ("stream.cmd.execute", &[ShowsArguments]),
    ("stream.cmd.serial", &[ShowsArguments]),
    ("stream.executable.export", &[BlocksEnd]),
    ("tensor.generate", &[BlocksEnd, EndsWith("tensor.yield"), ShowsArguments]),
    ("tensor.pad", &[BlocksEnd, EndsWith("tensor.yield"), ShowsArguments]),
    ("util.func", &[BlocksEnd, Branches, EndsWith("util.return")]),
    ("util.initializer", &[BlocksEnd, MayBeEmpty, Branches, EndsWith("util.return")]),
    ("vector.mask", &[ShowsArguments]),
    ("vm.func", &[BlocksEnd, Branches, EndsWith("vm.return")]),
    ("vm.initializer", &[BlocksEnd, MayBeEmpty, Branches, EndsWith("vm.return")]),
];

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

/// The facts of an operation, then those of its dialect.
fn facts(operation: &str) -> impl Iterator<Item = Fact> {
    let dialect = operation.split_inclusive('.').next().unwrap_or_default();
    [operation, dialect].into_iter().flat_map(|name| {
        let at = TABLE.binary_search_by_key(&name, |(name, _)| name);
        at.map_or(&[][..], |at| TABLE[at].1).iter().copied()
    })
}

/// Whether a fact is known of an operation's regions.
#[must_use]
pub fn has(operation: &str, fact: Fact) -> bool {
    facts(operation).any(|it| it == fact)
}

/// Whether anything is known of an operation's regions. Then none of them is a graph, where a value
/// may be used before the operation that makes it.
#[must_use]
pub fn is_known(operation: &str) -> bool {
    facts(operation).next().is_some()
}

/// Whether the text must show how each block in the regions of this operation ends.
#[must_use]
pub fn blocks_must_end(operation: &str, has_results: bool) -> bool {
    has(operation, BlocksEnd) || has_results && has(operation, BlocksEndWithResults)
}

/// The operations that end the blocks of this one, as far as the blocks go to no other.
pub fn terminators(operation: &str) -> impl Iterator<Item = &'static str> {
    facts(operation).filter_map(|fact| match fact {
        EndsWith(name) => Some(name),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order_and_terminators_end_blocks() {
        assert!(TABLE.is_sorted_by_key(|(name, _)| *name));
        for (name, _) in TABLE {
            assert!(terminators(name).all(may_end_block), "{name}");
        }
    }

    #[test]
    fn facts_of_operations_and_of_dialects() {
        assert!(blocks_must_end("scf.for", true) && !blocks_must_end("scf.for", false));
        assert!(has("iree_linalg_ext.sort", BlocksEnd));
        assert!(has("iree_linalg_ext.sort", ShowsArguments));
        assert!(!has("scf.mine", ShowsArguments) && !has("", ShowsArguments));
        assert_eq!(terminators("scf.while").collect::<Vec<_>>(), ["scf.condition", "scf.yield"]);
    }
}
