//! `!hal.buffer_view`: a buffer seen as a tensor.
//!
//! As in IREE, creating a view checks nothing: the shape may claim more than the buffer has, and
//! the element type may be any number. Code that reads elements calls [`BufferView::element_type`]
//! and [`BufferView::check`] first.

use std::any::Any;
use std::sync::Arc;

use abi::element_type::{ElementType, ElementTypeError};
use abi::tensor::TensorType;
use vm::{Kept, Object, Status};

use super::buffer::{Buffer, WHOLE_BUFFER};

/// How elements are laid out, as IREE numbers the layouts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Encoding(pub u32);

impl Encoding {
    /// An unknown layout.
    pub const OPAQUE: Self = Self(0);
    /// Contiguous, with the last dimension innermost.
    pub const DENSE_ROW_MAJOR: Self = Self(1);
}

/// A tensor in a buffer.
#[derive(Clone, Debug)]
pub struct BufferView {
    buffer: Buffer,
    shape: Vec<u64>,
    element_type: u32,
    encoding: Encoding,
}

impl BufferView {
    /// The buffer seen as a tensor. `element_type` is a code, as [`ElementType::code`] gives it.
    #[must_use]
    pub fn new(buffer: Buffer, shape: Vec<u64>, element_type: u32, encoding: Encoding) -> Self {
        Self { buffer, shape, element_type, encoding }
    }

    /// The bytes.
    #[must_use]
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The dimensions, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The code of the element type.
    #[must_use]
    pub fn element_code(&self) -> u32 {
        self.element_type
    }

    /// The element type.
    ///
    /// # Errors
    /// No element type has the code.
    pub fn element_type(&self) -> Result<ElementType, ElementTypeError> {
        ElementType::from_code(self.element_type)
    }

    /// How elements are laid out.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// How many elements the shape has; `None` if they cannot be counted.
    #[must_use]
    pub(crate) fn element_count(&self) -> Option<usize> {
        self.shape.iter().try_fold(1_usize, |count, dimension| {
            count.checked_mul(usize::try_from(*dimension).ok()?)
        })
    }

    /// Bytes that the elements take; elements smaller than a byte share bytes. `None` if they
    /// cannot be counted.
    #[must_use]
    pub fn byte_length(&self) -> Option<usize> {
        let bits = self.element_count()?.checked_mul(usize::from(self.element_type as u8))?;
        Some(bits.div_ceil(8))
    }

    /// Checks that the buffer has all elements that the shape claims.
    ///
    /// # Errors
    /// The buffer has fewer bytes.
    pub fn check(&self) -> Result<(), Status> {
        // An overflow is more than any buffer has. It must not become `WHOLE_BUFFER`, which always
        // fits.
        let length = self.byte_length().map_or(WHOLE_BUFFER - 1, |length| length as u64);
        self.buffer.range(0, length).map(drop)
    }

    /// A copy of the elements' bytes.
    ///
    /// # Errors
    /// The buffer has fewer bytes than the shape claims.
    pub fn read(&self) -> Result<Vec<u8>, Status> {
        self.check()?;
        Ok(self.buffer.read(0, self.byte_length().unwrap_or(usize::MAX)))
    }

    /// The tensor's text as IREE's tools print it, with at most `max_element_count` elements.
    ///
    /// # Errors
    /// The buffer has fewer bytes than the shape claims.
    pub fn text(&self, max_element_count: usize) -> Result<String, Status> {
        let element_type = ElementType::from_any_code(self.element_type);
        let tensor_type = TensorType { shape: self.shape.clone(), element_type };
        self.check()?;
        let bytes = self.buffer.read(0, tensor_type.printed_byte_count(max_element_count));
        Ok(tensor_type.format(&bytes, max_element_count))
    }
}

impl Object for BufferView {
    fn type_name(&self) -> &str {
        "hal.buffer_view"
    }

    fn keep(&self) -> Kept {
        self.buffer.keep()
    }

    fn storage(&self) -> Option<Arc<vm::Buffer>> {
        Object::storage(&self.buffer)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn contents(&self, max_element_count: usize) -> Option<String> {
        Some(self.text(max_element_count).unwrap_or_else(|status| format!("({status})")))
    }
}
