//! A module of any bytes is read, printed and verified, or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vmfb::Module;
use vmfb::print::{DisassemblyOptions, disassemble};

fuzz_target!(|bytes: &[u8]| {
    let Ok(module) = Module::from_bytes(bytes.to_vec()) else { return };
    let _ = disassemble(&module, &DisassemblyOptions::default());
    let _ = vmfb::print::metadata(&module);
    let _ = debuginfo::DebugInfo::load(&module, None);
    let _ = vmfb::verify::verify(module);
});
