//! The texts of a debug file, whatever they say.
#![no_main]

use debuginfo::{Companion, DispatchInterfaces, PhaseText};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = Companion::parse(bytes);
    let _ = PhaseText::read(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = DispatchInterfaces::parse(text);
    }
});
