//! Coverage: the corpus contains every instruction.

use std::collections::HashSet;

use conformance::corpus::Source;
use vmfb::{Module, Op};

pub(crate) fn check(sources: &[Source]) -> Result<(), String> {
    let mut seen: HashSet<Op> = HashSet::new();
    for source in sources {
        let Some(variant) = source.variants().first().copied() else { continue };
        let path = source.module(variant)?;
        let module = Module::open(&path).map_err(|error| format!("{path:?}: {error}"))?;
        for (ordinal, _) in module.functions_with_ordinals() {
            for instruction in vmfb::instructions(module.function_bytecode(ordinal)) {
                seen.insert(instruction.map_err(|error| format!("{path:?}: {error}"))?.op);
            }
        }
    }
    let missing: Vec<&str> = Op::all().filter(|op| !seen.contains(op)).map(Op::mnemonic).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("no file of the corpus has: {}", missing.join(", ")))
}
