//! Coverage: the corpus contains every instruction, and the table has every instruction that the
//! compiler knows.

use std::collections::HashSet;

use conformance::corpus::Source;
use conformance::tools::compiler_library;
use vmfb::{Module, Op};

/// What the compiler's VM dialect has besides instructions: operations that become others or
/// tables of the module, types, and attributes.
const NOT_INSTRUCTIONS: &str = "buffer cast.ref.any check.eq check.ne check.nearly_eq check.nz cmp.eq.f32.near \
    cmp.eq.f64.near cmp.gt.f32.o cmp.gt.f32.u cmp.gt.f64.o cmp.gt.f64.u cmp.gt.i32.s \
    cmp.gt.i32.u cmp.gt.i64.s cmp.gt.i64.u cmp.gte.f32.o cmp.gte.f32.u cmp.gte.f64.o \
    cmp.gte.f64.u cmp.gte.i32.s cmp.gte.i32.u cmp.gte.i64.s cmp.gte.i64.u cmp.lte.i32.s \
    cmp.lte.i32.u cmp.lte.i64.s cmp.lte.i64.u cmp.nz.f32.o cmp.nz.f32.u cmp.nz.f64.o \
    cmp.nz.f64.u cond_fail export ext.i16.i64.s ext.i16.i64.u ext.i8.i64.s ext.i8.i64.u \
    fallback func global.address global.f32 global.f64 global.i32 global.i64 global.ref \
    import import.module initializer list module module_terminator name opaque \
    optimization_barrier ordinal_counts ref rodata rodata.inline rodata.table.inline \
    signature toplevel trunc.i16.i8 trunc.i64.i16 trunc.i64.i8 unwind variadic version";

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

/// The names that the compiler's library has in its VM dialect are those of instructions, or known
/// to be none. A new one is an instruction that modules may have and that is not in the table.
pub(crate) fn compiler() -> Result<(), String> {
    let path = compiler_library()?;
    let bytes = std::fs::read(&path).map_err(|error| format!("{path:?}: {error}"))?;
    let is_name = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'.';
    let names = bytes.split(|byte| *byte == 0).filter_map(|text| text.strip_prefix(b"vm."));
    let names = names.filter(|name| name.iter().all(|byte| is_name(byte) || *byte == b'_'));
    let names: HashSet<&str> = names.filter_map(|name| std::str::from_utf8(name).ok()).collect();
    if !names.contains("add.i32") {
        return Err(format!("{} has no instruction in it", path.display()));
    }
    let known: HashSet<&str> = NOT_INSTRUCTIONS.split(' ').collect();
    let is_new = |name: &&str| Op::from_mnemonic(name).is_none() && !known.contains(name);
    let mut new: Vec<&str> = names.into_iter().filter(is_new).collect();
    new.sort_unstable();
    if new.is_empty() { Ok(()) } else { Err(format!("not in the table: {}", new.join(", "))) }
}
