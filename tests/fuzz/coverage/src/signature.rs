//! Signatures of each convention; a calling convention prints as itself.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(signature) = abi::cconv::Signature::parse(text) {
        let again = abi::cconv::Signature::parse(&signature.to_string());
        assert_eq!(again.as_ref(), Ok(&signature), "{text:?}");
    }
    for convention in abi::convention::Convention::ALL {
        let _ = (convention.parse(text), convention.parse_call(text));
    }
});
