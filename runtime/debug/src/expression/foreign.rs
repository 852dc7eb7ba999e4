//! Bytes of a program as values of native libraries: `r0 as any` is a tagged value of TVM FFI,
//! `r0 as memref<?xf32>` the tensor of a descriptor. [`abi::native_values`] knows these forms; this
//! file reads the memory at their addresses.

use std::sync::Arc;

use abi::native_values::{Memory, show};
use vm::Buffer;

use super::datum::{Datum, Item};
use super::evaluation_error::EvaluationError;
use crate::tensor::TensorView;

/// Whether a cast is to a type of native libraries.
pub(crate) fn is_type(name: &str) -> bool {
    name == "any" || name.starts_with("memref<")
}

/// The largest descriptor, in bytes.
const LARGEST_VALUE: usize = 4096;

/// The value at the start of a buffer.
///
/// # Errors
/// The buffer holds no such value.
pub(crate) fn cast(base: &Datum, type_name: &str) -> Result<Item, EvaluationError> {
    let memory = base.memory();
    let buffer = memory.ok_or_else(|| EvaluationError::NotMemory { is: base.kind() })?;
    let bytes = buffer.read(0, buffer.len().min(LARGEST_VALUE));
    let shown = show(&bytes, type_name, &ProcessMemory)?;
    let tensor = shown.tensor.filter(|tensor| tensor.element_type.has_numbers());
    let datum = match tensor {
        Some(tensor) => {
            let copy = Buffer::from_bytes(&tensor.bytes)?;
            Datum::Tensor(TensorView::new(Arc::new(copy), tensor.tensor_type())?)
        }
        None => Datum::Text(shown.text),
    };
    Ok(Item { datum, place: None, declared: Some(shown.type_name) })
}

/// The memory of this process, which native libraries share. The system does the reading, so a
/// wrong address is an error and not a fault.
struct ProcessMemory;

#[cfg(unix)]
impl Memory for ProcessMemory {
    fn read(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        use std::os::unix::fs::FileExt;

        let file = std::fs::File::open("/proc/self/mem").ok()?;
        // Memory is reserved as bytes arrive: the length comes from a word in memory, which may be
        // wrong.
        let mut bytes = Vec::new();
        while bytes.len() < length {
            let at = bytes.len();
            let piece = (length - at).min(1 << 16);
            bytes.resize(at + piece, 0);
            file.read_exact_at(&mut bytes[at..], address.checked_add(at as u64)?).ok()?;
        }
        Some(bytes)
    }
}

#[cfg(not(unix))]
impl Memory for ProcessMemory {
    fn read(&self, _address: u64, _length: usize) -> Option<Vec<u8>> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use vm::{Ref, Value};

    fn buffer(words: &[u64]) -> Datum {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Datum::Value(Value::Ref(Ref::Buffer(Arc::new(Buffer::from_bytes(&bytes).unwrap()))))
    }

    fn text(words: &[u64], type_name: &str) -> Result<(String, String), EvaluationError> {
        let item = cast(&buffer(words), type_name)?;
        let shown = item.variable("it");
        Ok((shown.type_name, shown.value))
    }

    #[test]
    fn descriptors_and_tagged_values() {
        let floats = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
        let address = floats.as_ptr() as u64;
        let (type_name, value) =
            text(&[address, address, 1, 2, 2, 3, 1], "memref<?x?xf32>").unwrap();
        assert_eq!(type_name, "memref<?x?xf32>");
        assert_eq!(value, "[2, 3, 5, 6]");
        assert_eq!(text(&[1, 7], "any").unwrap(), ("int".to_owned(), "7".to_owned()));
        // `ffi.String`: a header, then the address of the text.
        let content = *b"a string that is not small";
        let object = [1, 0, 0, content.as_ptr() as u64, content.len() as u64];
        let (type_name, value) = text(&[65, object.as_ptr() as u64], "any").unwrap();
        assert_eq!(type_name, "ffi.String");
        assert_eq!(value, "\"a string that is not small\"");
    }

    #[test]
    fn wrong_addresses_are_told() {
        let error = text(&[8, 8, 0, 4, 1], "memref<?xf32>").unwrap_err();
        assert_eq!(error.to_string(), "its 16 bytes at 0x8 cannot be read");
        assert_eq!(text(&[65, 8], "any").unwrap().1, "0x8, which cannot be read");
        assert!(text(&[8], "any").unwrap_err().to_string().contains("16 bytes"));
        assert!(cast(&Datum::integer(5), "any").is_err());
    }
}
