//! From a function to its machine code.

use std::sync::{Arc, OnceLock};

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::settings::{self, Configurable};

use super::emit::{Source, emit};
use super::flow::Blocks;
use super::unit::{VIEWS, machine_code};
use crate::code::{Compiled, MachineCode};
use crate::machine::{Dispatch, FunctionCode, FunctionSlot, Observed};
use crate::modules::Globals;

/// Functions of more instructions stay with the interpreter: compiling takes longer than linearly.
const MOST: usize = 3_000;

/// Compiles a function, if it can be; once it was tried, nothing more is done.
#[cold]
pub(crate) fn compile_slot(slot: &FunctionSlot, globals: &[Globals]) {
    let Some(code) = slot.code.get() else { return };
    let global_bytes = globals[slot.module.index()].bytes.len();
    code.compiled.get_or_init(|| {
        let machine_code = compile(slot, code, global_bytes)?;
        Some(Compiled::new(&code.instructions, &code.free, machine_code))
    });
}

/// The machine code of a function of a module with so many bytes of primitive globals; `None` if it
/// cannot be had here.
fn compile(slot: &FunctionSlot, code: &FunctionCode, global_bytes: usize) -> Option<MachineCode> {
    let isa = isa()?;
    if code.instructions.len() > MOST {
        return None;
    }
    let blocks = Blocks::of(code);
    let observed = std::ptr::from_ref(Observed::code(slot)?.1);
    let buffers = blocks.buffers(code, VIEWS);
    let source = Source { code, blocks: &blocks, buffers: &buffers, observed, global_bytes };
    let function = emit(&source, &*isa);
    let mut context = Context::for_function(function);
    let compiled = context.compile(&*isa, &mut ControlPlane::default()).ok()?;
    if !compiled.buffer.relocs().is_empty() {
        return None;
    }
    let entries = blocks.entries.iter().map(|entry| *entry as u32).collect();
    // SAFETY: it is what `emit` and Cranelift have made, for this processor, these
    // entries and these buffers.
    unsafe { machine_code(compiled.code_buffer(), entries, buffers.into()) }
}

/// This processor, as Cranelift knows it.
fn isa() -> Option<Arc<dyn TargetIsa>> {
    static ISA: OnceLock<Option<Arc<dyn TargetIsa>>> = OnceLock::new();
    ISA.get_or_init(|| {
        // Miri runs no machine code.
        if cfg!(miri) {
            return None;
        }
        let mut flags = settings::builder();
        for (name, value) in [
            ("opt_level", "speed"),
            ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
            ("unwind_info", "false"),
            ("probestack_strategy", "inline"),
        ] {
            flags.set(name, value).ok()?;
        }
        let builder = cranelift_native::builder().ok()?;
        builder.finish(settings::Flags::new(flags)).ok()
    })
    .clone()
}
