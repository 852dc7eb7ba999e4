//! Tensors as text and as NumPy's files.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// The most bytes of a tensor: its shape is only a claim.
const MOST: usize = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    if let Ok((tensor, length)) = abi::npy::read(bytes) {
        assert!(length <= bytes.len(), "it is read beyond its end");
        if let Ok(written) = abi::npy::write(&tensor) {
            assert!(abi::npy::read(&written).is_ok(), "what was written is read");
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = abi::tensor::Tensor::parse(text, MOST);
    }
});
