//! What is known before each block of a function: a pass forward along its branches, until nothing
//! changes.

use std::collections::BTreeMap;

use vmfb::decode::{Instruction, RemapList};
use vmfb::{BytecodeOffset, Op};

/// What is known at one point of a function.
pub(super) trait Facts: Clone {
    /// The copies of a branch. They are made at once: each reads what its source had before.
    fn remap(&mut self, copies: RemapList<'_>);

    /// Keeps what is also so on another path; whether anything changed. It must end: each change
    /// leaves less to change.
    fn merge(&mut self, other: &Self) -> bool;
}

/// What is known at each block marker that control may reach. `step` is what an instruction does.
/// Bytecode that does not decode counts as the function's end.
pub(super) fn blocks<F: Facts>(
    code: &[u8],
    entry: F,
    step: impl Fn(&mut F, &Instruction<'_>),
) -> BTreeMap<BytecodeOffset, F> {
    let mut blocks = BTreeMap::from([(BytecodeOffset(0), entry)]);
    let mut pending = vec![BytecodeOffset(0)];
    while let Some(block) = pending.pop() {
        let Some(mut facts) = blocks.get(&block).cloned() else { continue };
        for instruction in instructions_from(code, block) {
            if instruction.op == Op::Block && instruction.offset != block {
                flow_into(&mut blocks, instruction.offset, facts, &mut pending);
                break;
            }
            step(&mut facts, &instruction);
            for (target, copies) in instruction.successors() {
                let mut carried = facts.clone();
                carried.remap(copies);
                flow_into(&mut blocks, target, carried, &mut pending);
            }
            if instruction.op.is_terminator() {
                break;
            }
        }
    }
    blocks
}

/// Merges facts into those of a block, which is queued if that changed them.
fn flow_into<F: Facts>(
    blocks: &mut BTreeMap<BytecodeOffset, F>,
    target: BytecodeOffset,
    facts: F,
    pending: &mut Vec<BytecodeOffset>,
) {
    match blocks.get_mut(&target) {
        None => {
            blocks.insert(target, facts);
            pending.push(target);
        }
        Some(known) => {
            if known.merge(&facts) {
                pending.push(target);
            }
        }
    }
}

/// The instructions from an offset on, as far as they decode.
pub(super) fn instructions_from(
    code: &[u8],
    start: BytecodeOffset,
) -> impl Iterator<Item = Instruction<'_>> {
    let mut next = Some(start);
    std::iter::from_fn(move || {
        let at = next.filter(|at| at.index() < code.len())?;
        let instruction = vmfb::decode(code, at).ok()?;
        next = Some(instruction.end);
        Some(instruction)
    })
}
