//! What assembles is printed as a text that assembles.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vmfb::Module;
use vmfb::assemble::assemble;
use vmfb::print::{DisassemblyOptions, Rodata, disassemble};

fuzz_target!(|text: &[u8]| {
    let Ok(assembly) = assemble(text) else { return };
    let Ok(bytes) = assembly.image.to_bytes() else { return };
    let module = Module::from_bytes(bytes).expect("what was assembled can be read");
    let options = DisassemblyOptions { rodata: Rodata::Full, ..Default::default() };
    let printed = disassemble(&module, &options).text;
    assert!(assemble(printed.as_bytes()).is_ok(), "what was printed assembles");
});
