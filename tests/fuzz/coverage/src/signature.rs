//! Signatures of each convention, and calls as each convention makes them.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for convention in abi::convention::Convention::ALL {
        let _ = (convention.parse(text), convention.parse_call(text));
    }
});
