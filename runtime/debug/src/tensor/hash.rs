//! A short name for the contents of a tensor.

use twox_hash::XxHash3_64;

use super::view::TensorView;

impl TensorView {
    /// The XXH3 of its elements in row-major order, each as its little-endian bytes; equal tensors
    /// have equal hashes in all runs, versions and layouts.
    #[must_use]
    pub fn hash(&self) -> u64 {
        let is_whole = self.is_contiguous() && self.first() == 0 && !self.is_packed();
        let length = self.count().saturating_mul(self.element_width());
        if is_whole {
            return XxHash3_64::oneshot(&self.buffer().read(0, length));
        }
        XxHash3_64::oneshot(&self.unpacked())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use abi::tensor::TensorType;

    use super::*;

    #[test]
    fn layout_does_not_count() {
        let tensor = |bytes: &[u8], shape: &str| {
            let buffer = Arc::new(vm::Buffer::from_bytes(bytes).expect("memory"));
            TensorView::new(buffer, TensorType::parse(shape).expect("a type")).expect("fits")
        };
        let square = tensor(&[1, 3, 2, 4], "2x2xi8");
        assert_eq!(square.hash(), tensor(&[1, 3, 2, 4, 9], "4xi8").hash());
        assert_ne!(square.hash(), tensor(&[1, 2, 3, 4], "2x2xi8").hash());
    }
}
