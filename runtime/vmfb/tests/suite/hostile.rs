//! Modules with damaged bytes: they load or are refused, they print, and nothing panics.

use std::path::Path;

use vmfb::Module;
use vmfb::print::{DisassemblyOptions, Rodata, disassemble, flatbuffer_json, metadata, model_json};

fn example() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/example/newton.vmfb");
    std::fs::read(path).unwrap()
}

/// Prints everything that can be printed; whether the bytes were a module.
fn print(bytes: Vec<u8>) -> bool {
    let Ok(module) = Module::from_bytes(bytes) else { return false };
    for bytecode_offsets in [false, true] {
        let options = DisassemblyOptions { bytecode_offsets, function: None, rodata: Rodata::Full };
        let disassembly = disassemble(&module, &options);
        let lines: Vec<&str> = disassembly.text.lines().collect();
        for origin in &disassembly.lines {
            // The line table leads to the line, and back.
            let line = lines[origin.line as usize];
            assert!(!bytecode_offsets || line.starts_with(&format!("[{}]", origin.offset)));
            assert_eq!(disassembly.at_line(origin.line), Some(*origin));
            assert_eq!(disassembly.line_of(origin.function, origin.offset), Some(origin.line));
        }
    }
    assert!(metadata(&module).contains("// Sections"));
    flatbuffer_json(&module, std::io::sink()).unwrap();
    model_json(&module, std::io::sink()).unwrap();
    let _ = vmfb::verify::verify(module);
    true
}

#[test]
fn every_byte_damaged_in_turn() {
    let intact = example();
    assert!(print(intact.clone()));
    let mut modules = 0;
    for position in 0..intact.len() {
        for value in [0xFF, intact[position] ^ 1] {
            let mut damaged = intact.clone();
            damaged[position] = value;
            modules += usize::from(print(damaged));
        }
    }
    // Most damage is to bytecode and names, which loading does not judge.
    assert!(modules > intact.len() / 2, "only {modules} of the damaged files were modules");
}

#[test]
fn cut_short_at_every_length() {
    let intact = example();
    for length in 0..intact.len() {
        print(intact[..length].to_vec());
    }
}
