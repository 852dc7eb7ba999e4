//! The differential test: iree-run-module and iree-dbg run every instruction that computes a value,
//! with edge cases and random operands. IREE is the oracle: results must be equal bit for bit.
//!
//! | file | holds |
//! | --- | --- |
//! | `operands` | the operands: edges and random values |
//! | `program` | a generated module, its calls, and the comparison of two answers |
//! | `scalar` | arithmetic, comparisons, conversions: written from the instruction table alone |
//! | `choice` | constants, switches, branch tables |
//! | `memory` | buffers and globals, in range and out of range |
//! | `lists` | elements of every type, written and read as every type |
//! | `traps` | operations that are undefined in the reference and defined here |
//!
//! A function loops over columns of operands in rodata and returns a list of the bits of each
//! result, so a few hundred calls cover some hundred thousand cases. The operands are the same in
//! every run; `DIFFERENTIAL_SEED=7` gives other random ones.

mod choice;
mod lists;
mod memory;
mod operands;
mod program;
mod scalar;
mod traps;

use std::collections::HashSet;
use std::process::ExitCode;

use conformance::runner::{self, Case};
use vmfb::{Module, Op};

use crate::program::Program;

/// Instructions about control, calls and identity instead of values. The corpus runs each of them.
const NOT_VALUES: &[&str] = &[
    "global.load.ref",
    "global.store.ref",
    "global.load.indirect.ref",
    "global.store.indirect.ref",
    "const.ref.zero",
    "list.reserve",
    "list.size",
    "list.get.ref",
    "list.set.ref",
    "select.ref",
    "switch.ref",
    "cmp.eq.ref",
    "cmp.ne.ref",
    "cmp.nz.ref",
    "cast.any.ref",
    "assign.ref",
    "discard.refs",
    "call",
    "call.variadic",
    "call.yieldable",
    "call.variadic.yieldable",
    "import.resolved",
    "fail",
    "yield",
    "trace",
    "print",
    "break",
    "cond_break",
];

fn main() -> ExitCode {
    let seed = std::env::var("DIFFERENTIAL_SEED").ok().and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or(1);
    println!("random operands of seed {seed}");
    let mut programs = scalar::programs(seed);
    programs.extend(choice::programs());
    programs.extend(memory::programs());
    programs.extend(lists::programs());
    programs.push(traps::program());
    let mut cases: Vec<Case> = programs
        .iter()
        .map(|program| {
            let program = program.clone();
            Case::new(program.name.clone(), move || program.check())
        })
        .collect();
    cases.push(Case::new("coverage of instructions", move || coverage(&programs)));
    runner::run(&cases)
}

/// Checks that every instruction is in a generated program or in the list above.
fn coverage(programs: &[Program]) -> Result<(), String> {
    let mut seen: HashSet<Op> = HashSet::new();
    for program in programs {
        let path = program.assemble()?;
        let module = Module::open(&path).map_err(|error| format!("{path:?}: {error}"))?;
        for (ordinal, _) in module.functions_with_ordinals() {
            for instruction in vmfb::instructions(module.function_bytecode(ordinal)) {
                seen.insert(instruction.map_err(|error| format!("{path:?}: {error}"))?.op);
            }
        }
    }
    let is_missing = |op: &Op| {
        let is_known = NOT_VALUES.contains(&op.mnemonic()) || scalar::NOT_ASSEMBLED.contains(op);
        !seen.contains(op) && !is_known
    };
    let missing: Vec<&str> = Op::all().filter(is_missing).map(Op::mnemonic).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("no generated program has: {}", missing.join(", ")))
}
