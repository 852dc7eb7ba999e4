//! Differential test: every instruction that computes something, with operands at the edges and at
//! random, run by iree-run-module and by us; results are compared bit for bit.
//!
//! | file | holds |
//! | --- | --- |
//! | `operands` | the values that instructions are tried with |
//! | `program` | a generated module, its calls, and how two answers to a call are compared |
//! | `scalar` | arithmetic, comparisons, conversions: written from the instruction table alone |
//! | `choice` | constants, switches, branch tables |
//! | `memory` | buffers and globals, in range and out of range |
//! | `lists` | elements of every type, written and read as every type |
//! | `traps` | what is undefined in the reference and defined here |
//!
//! A function loops over columns of operands that are rodata, and returns a list with the bits of
//! each result; so a few hundred calls cover some hundred thousand cases. Operands are the same
//! each time; `DIFFERENTIAL_SEED=7` draws the random ones anew.

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

/// Instructions that are about control, calls and identity, not about values; the corpus has runs
/// of each of them.
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

/// That every instruction is in a generated program, or listed above.
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
    let is_missing = |op: &Op| !seen.contains(op) && !NOT_VALUES.contains(&op.mnemonic());
    let missing: Vec<&str> = Op::all().filter(is_missing).map(Op::mnemonic).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("no generated program has: {}", missing.join(", ")))
}
