//! Arguments from text: tensors become device memory, everything else is the VM's.

use std::sync::Arc;

use abi::cconv::{Signature, ValueType};
use abi::tensor::{Tensor, TensorError};
use vm::text::InputError;
use vm::{Ref, Status, Value};

use crate::allocator::Origin;
use crate::buffer::BufferParameters;
use crate::buffer_view::{BufferView, Encoding};
use crate::flags::{BufferUsage, MemoryAccess, MemoryType};
use crate::modules::Host;

/// Why text is no argument.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// The VM cannot read it.
    #[error(transparent)]
    Value(#[from] InputError),
    /// It is no tensor.
    #[error("INVALID_ARGUMENT; {reason}; parsing input `{text}`")]
    Tensor {
        /// What was read.
        text: String,
        /// What is wrong with it.
        reason: TensorError,
    },
    /// There is no memory for it.
    #[error(transparent)]
    Memory(#[from] Status),
}

/// Tensors of more bytes than this are not made from text.
const LARGEST: usize = 16 << 30;

/// Reads arguments for the first parameters of `signature`.
///
/// # Errors
/// The first text that is no value of its parameter's type, or is one too many.
pub fn parse_inputs<T: AsRef<str>>(
    host: &Host,
    signature: &Signature,
    texts: &[T],
) -> Result<Vec<Value>, ArgumentError> {
    let mut values = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let text = text.as_ref();
        let parameter = signature.arguments.get(index);
        if parameter == Some(&ValueType::Ref) && !vm::text::is_ignored(text.trim()) {
            let tensor = Tensor::parse(text, LARGEST)
                .map_err(|reason| ArgumentError::Tensor { text: text.to_owned(), reason })?;
            values.push(Value::Ref(Ref::object(import(host, &tensor)?)));
            continue;
        }
        let types: Vec<ValueType> = parameter.into_iter().cloned().collect();
        values.extend(vm::text::parse_values(&types, &[text])?);
    }
    Ok(values)
}

/// A tensor in the host's device memory.
///
/// # Errors
/// There is no memory.
pub fn import(host: &Host, tensor: &Tensor) -> Result<BufferView, Status> {
    let storage = Arc::new(vm::Buffer::from_bytes(&tensor.bytes)?);
    let parameters = BufferParameters {
        memory_type: MemoryType::DEVICE_LOCAL,
        usage: BufferUsage::DEFAULT | BufferUsage::MAPPING,
        access: MemoryAccess::ALL,
    };
    let buffer = host.device().allocator().wrap(storage, parameters, Origin::Host);
    let element_type = tensor.element_type.code();
    Ok(BufferView::new(buffer, tensor.shape.clone(), element_type, Encoding::DENSE_ROW_MAJOR))
}
