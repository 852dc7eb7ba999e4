//! An archive of parameters, of the kind that the first byte says.
#![no_main]

use std::io::Write as _;

use hal::Parameters;
use libfuzzer_sys::fuzz_target;

const KINDS: [&str; 4] = [".safetensors", ".gguf", ".irpa", ".npy"];

fuzz_target!(|bytes: &[u8]| {
    let [kind, contents @ ..] = bytes else { return };
    let suffix = KINDS[usize::from(*kind) % KINDS.len()];
    let mut file = tempfile::Builder::new().suffix(suffix).tempfile().expect("a file");
    file.write_all(contents).expect("there is room");
    let spec = format!("s={}", file.path().display());
    let Ok(parameters) = Parameters::open(&[spec]) else { return };
    let _ = parameters.table();
    let index = parameters.scope("s").expect("it was opened for it");
    for entry in index.entries() {
        let _ = entry.bytes(0, entry.length.min(1 << 16));
        assert!(entry.bytes(entry.length, 1).is_err(), "it is read beyond its end");
    }
});
