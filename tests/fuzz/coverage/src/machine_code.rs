//! A shared object is loaded, or refused, and an executable of shaders; nothing of them runs.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = hal::examine_machine_code(bytes);
    let _ = hal::examine_gpu_code(bytes);
});
