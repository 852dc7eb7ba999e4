//! Nested modules in the program's own context, so that a debugger can look into dispatches.
//!
//! A VMVX executable runs in contexts of its own, on any thread. If a debugger inspects the program
//! ([`vm::Context::is_inspected`]), the executable's module is also attached to the program's
//! context: a watched dispatch then runs there, on the program's stack, with breakpoints, steps and
//! registers as everywhere else. The device remembers which module of the context an executable is.

use std::sync::Arc;

use vm::{Context, HostContext, LinkError, ModuleIndex, Ref};
use vmfb::verify::VerifiedModule;
use vmfb::{FileBytes, Module};

use crate::microkernels;

/// The first bytes of a module: the header of an archive, or the identifier of a FlatBuffer at
/// offset 8.
const ARCHIVE: &[u8] = b"PK\x03\x04";
const FLATBUFFER: (usize, &[u8]) = (8, b"IREE");

/// Attaches the nested modules in the rodata of a module before the program runs, so that they can
/// be inspected, and breakpoints set in them, from the start. Skips data that is not a module, and
/// damaged modules, which give an error when their executable is created.
pub fn attach_nested_modules(context: &mut Context, module: ModuleIndex) {
    for segment in context.rodata(module).to_vec() {
        if let Ref::Buffer(buffer) = &segment
            && looks_like_module(buffer)
        {
            attach_bytecode(context, buffer);
        }
    }
}

/// Attaches a module of bytecode before the program runs. A damaged one gives an error when its
/// executable is created.
pub fn attach_bytecode(context: &mut Context, buffer: &Arc<vm::Buffer>) {
    let loaded = Module::from_bytes(FileBytes::from(buffer.read(0, buffer.len())));
    let verified = loaded.ok().and_then(|module| vmfb::verify::verify(module).ok());
    if let Some(verified) = verified {
        // A module that does not link cannot be executed either.
        let _ = attach(context, &verified, Ref::Buffer(buffer.clone()));
    }
}

fn looks_like_module(buffer: &vm::Buffer) -> bool {
    let (at, identifier) = FLATBUFFER;
    buffer.read(0, ARCHIVE.len()) == ARCHIVE || buffer.read(at, identifier.len()) == identifier
}

/// Attaches a nested module, which can import from the `vmvx` module only.
pub(super) fn attach(
    context: &mut dyn HostContext,
    module: &VerifiedModule,
    origin: Ref,
) -> Result<ModuleIndex, LinkError> {
    let known = context.native_module(microkernels::NAME);
    let provider = known.unwrap_or_else(|| context.attach_native(microkernels::module()));
    context.attach(module.module().name(), module, &[provider], origin)
}
