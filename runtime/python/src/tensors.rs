//! Tensors that Python and a program hand to each other: copied, unless memory can be given away.

use std::sync::Arc;

use abi::element_type::ElementType;
use abi::tensor::{Tensor, TensorType};
use hal::{BufferView, Host};
use vm::Access;

use crate::error::Error;

/// A tensor in memory of Python's: its type, as `2x3xf32`, and its elements.
pub(crate) struct Given<'a> {
    pub(crate) tensor_type: String,
    pub(crate) bytes: &'a [u8],
}

impl Given<'_> {
    /// A copy of it.
    ///
    /// # Errors
    /// The type is none, or its elements are not there.
    pub(crate) fn to_tensor(&self) -> Result<Tensor, Error> {
        let TensorType { shape, element_type } = self.checked_type()?;
        Ok(Tensor { shape, element_type, bytes: self.bytes.to_vec() })
    }

    fn checked_type(&self) -> Result<TensorType, Error> {
        let tensor_type = TensorType::parse(&self.tensor_type)?;
        if tensor_type.byte_length(self.bytes.len()) != Ok(self.bytes.len()) {
            return Err(Error::TensorLength { tensor_type, bytes: self.bytes.len() });
        }
        Ok(tensor_type)
    }
}

/// A copy of a tensor in memory of the program.
///
/// # Errors
/// The type is none, its elements are not there, or there is no memory.
pub(crate) fn import(host: &Host, given: &Given<'_>) -> Result<BufferView, Error> {
    let tensor_type = given.checked_type()?;
    Ok(host.import_tensor(&tensor_type, given.bytes)?)
}

/// A tensor that Python may keep and change, with its elements.
pub(crate) struct Lent {
    pub(crate) storage: Arc<vm::Buffer>,
    pub(crate) tensor_type: TensorType,
}

impl Lent {
    /// Gives a tensor away if nothing else has its memory; otherwise a copy.
    ///
    /// # Errors
    /// The tensor has fewer elements than it claims, or there is no memory for a copy.
    pub(crate) fn new(view: &BufferView) -> Result<Self, Error> {
        view.check()?;
        let element_type = ElementType::from_any_code(view.element_code());
        let tensor_type = TensorType { shape: view.shape().to_vec(), element_type };
        let length = view.byte_length().unwrap_or(0);
        let buffer = view.buffer();
        let mut storage = buffer.view(0, length)?;
        // The view has one reference to the allocation, which has one to the memory.
        let is_own = Arc::strong_count(buffer.allocation()) == 1
            && Arc::strong_count(&storage) == 2
            && storage.access() == Access::ReadWrite;
        if !is_own {
            let copy = vm::Buffer::dense(length)?;
            copy.copy_from(0, &storage, 0, length)?;
            storage = Arc::new(copy);
        }
        Ok(Self { storage, tensor_type })
    }

    /// A tensor of the debugger's: a copy.
    ///
    /// # Errors
    /// There is no memory.
    pub(crate) fn copy(tensor: &Tensor) -> Result<Self, Error> {
        let storage = vm::Buffer::from_bytes(&tensor.bytes)?;
        Ok(Self { storage: Arc::new(storage), tensor_type: tensor.tensor_type() })
    }
}
