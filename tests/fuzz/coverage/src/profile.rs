//! A profile of any bytes is read, or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = profile::Profile::parse(bytes);
});
