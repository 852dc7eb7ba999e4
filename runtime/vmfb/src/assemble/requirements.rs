//! The feature bits of functions, which the text lacks, by the rules of the compiler (its
//! `AnnotateFunctions` pass).
//!
//! | bit | function |
//! | --- | --- |
//! | `EXT_F32`, `EXT_F64` | has an instruction of that opcode space |
//! | `YIELD` | may yield, itself or in a function that it calls |
//! | `UNWIND` | holds refs while something in it may fail, or calls such a function |

use abi::cconv::{Signature, ValueType};

use crate::isa::{Bank, FieldKind, Op, OpcodeSet};
use crate::module::Features;

/// The features that a function needs by itself, and its callees.
#[derive(Default, Debug)]
pub(super) struct Needs {
    features: Features,
    has_refs: bool,
    may_fail: bool,
    callees: Vec<usize>,
}

impl Needs {
    pub(super) fn of_signature(signature: &Signature) -> Self {
        let mut types = signature.arguments.iter().chain(&signature.results);
        Self { has_refs: types.any(|it| *it == ValueType::Ref), ..Self::default() }
    }

    /// Adds an instruction; `writes_ref` tells of results that the table cannot tell the bank of.
    pub(super) fn add(&mut self, op: Op, writes_ref: bool) {
        let info = op.info();
        self.features = self.features
            | match info.set {
                OpcodeSet::Core => Features::default(),
                OpcodeSet::ExtF32 => Features::EXT_F32,
                OpcodeSet::ExtF64 => Features::EXT_F64,
            };
        if matches!(op, Op::Yield | Op::CallYieldable | Op::CallVariadicYieldable) {
            self.features = self.features | Features::YIELD;
        }
        let is_ref = |kind| matches!(kind, FieldKind::Write(Bank::Ref | Bank::RefMove));
        self.has_refs |= writes_ref || info.fields.iter().any(|field| is_ref(field.kind));
        self.may_fail |= may_fail(op);
    }

    pub(super) fn add_callee(&mut self, function: usize) {
        self.callees.push(function);
    }

    fn own(&self) -> Features {
        let unwinds = self.has_refs && self.may_fail;
        self.features | if unwinds { Features::UNWIND } else { Features::default() }
    }
}

/// Instructions that access a list or buffer, call, or fail explicitly.
fn may_fail(op: Op) -> bool {
    let mnemonic = op.mnemonic();
    // The length of a buffer cannot be wrong.
    op != Op::BufferLength
        && ["buffer.", "list.", "call", "fail"].iter().any(|prefix| mnemonic.starts_with(prefix))
}

/// The features of each function, including those of its callees: `YIELD` and `UNWIND` spread from
/// callee to caller until nothing changes.
pub(super) fn features(needs: &[Needs]) -> Vec<Features> {
    let mut features: Vec<Features> = needs.iter().map(Needs::own).collect();
    let mut callers = vec![Vec::new(); needs.len()];
    for (caller, need) in needs.iter().enumerate() {
        for callee in need.callees.iter().filter(|callee| **callee < needs.len()) {
            callers[*callee].push(caller);
        }
    }
    let mut changed: Vec<usize> = (0..needs.len()).collect();
    while let Some(callee) = changed.pop() {
        let spreads = Features(features[callee].0 & (Features::YIELD | Features::UNWIND).0);
        for caller in &callers[callee] {
            if !features[*caller].contains(spreads) {
                features[*caller] = features[*caller] | spreads;
                changed.push(*caller);
            }
        }
    }
    features
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_callees_need_their_callers_need() {
        let mut leaf = Needs { has_refs: true, ..Needs::default() };
        leaf.add(Op::ListSize, false);
        let mut middle = Needs::default();
        middle.add(Op::AddF32, false);
        middle.add_callee(0);
        middle.add_callee(2);
        let mut root = Needs::default();
        root.add_callee(1);
        root.add(Op::Yield, false);
        root.add_callee(99);
        let (yields, unwinds) = (Features::YIELD, Features::UNWIND);
        assert_eq!(
            features(&[leaf, middle, root]),
            [unwinds, Features::EXT_F32 | yields | unwinds, yields | unwinds]
        );
    }
}
