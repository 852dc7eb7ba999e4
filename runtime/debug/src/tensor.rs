//! Buffers seen as tensors: rows to expand, the first elements in short.

use std::ops::Range;
use std::sync::Arc;

use abi::tensor::TensorType;
use vm::Buffer;

use crate::view::{Children, Node, Variable};

/// How many elements the short form shows.
const SHORT: usize = 8;

/// A part of a buffer as a tensor. Indexing its outermost dimension gives another one.
#[derive(Clone, Debug)]
pub struct TensorView {
    buffer: Arc<Buffer>,
    tensor_type: TensorType,
    /// The element of the buffer that it starts with.
    first: usize,
}

impl TensorView {
    /// A buffer from its start.
    ///
    /// # Errors
    /// The buffer has fewer bytes than the tensor, or elements are of no kind that has values.
    pub fn new(buffer: Arc<Buffer>, tensor_type: TensorType) -> Result<Self, String> {
        if !tensor_type.element_type.has_numbers() {
            return Err(format!("elements of type {} have no values", tensor_type.element_type));
        }
        let needed = tensor_type.byte_length(buffer.len()).map_err(|_| {
            format!("{tensor_type} does not fit the buffer, which has {} bytes", buffer.len())
        })?;
        if needed > buffer.len() {
            return Err(format!(
                "{tensor_type} has {needed} bytes, and the buffer only {}",
                buffer.len()
            ));
        }
        Ok(Self { buffer, tensor_type, first: 0 })
    }

    /// The type, such as `4x8xf32`.
    #[must_use]
    pub fn type_name(&self) -> String {
        self.tensor_type.to_string()
    }

    /// The memory from its first element on.
    pub(crate) fn memory(&self) -> Result<Arc<Buffer>, vm::Status> {
        let start = self.tensor_type.element_type.packed_byte_count(self.first).unwrap_or(0);
        if start == 0 {
            return Ok(Arc::clone(&self.buffer));
        }
        Ok(Arc::new(self.buffer.subspan(start, self.buffer.len() - start)?))
    }

    /// How many there are along the outermost dimension; None for a single element.
    #[must_use]
    pub fn length(&self) -> Option<usize> {
        let outermost = self.tensor_type.shape.first()?;
        Some(usize::try_from(*outermost).unwrap_or(usize::MAX))
    }

    /// The first elements, on one line.
    #[must_use]
    pub fn short(&self) -> String {
        let count = self.tensor_type.element_count().unwrap_or(0);
        if self.tensor_type.shape.is_empty() {
            return self.element(0);
        }
        let shown: Vec<String> = (0..count.min(SHORT)).map(|index| self.element(index)).collect();
        let more = if count > SHORT { ", …" } else { "" };
        format!("[{}{more}]", shown.join(", "))
    }

    fn element(&self, index: usize) -> String {
        let element_type = self.tensor_type.element_type;
        let index = self.first + index;
        // Elements narrower than a byte share one, so the bytes that are read begin with a whole byte.
        let per_byte = if element_type.is_packed() { 8 } else { 1 };
        let start = index / per_byte * per_byte;
        let from = element_type.packed_byte_count(start).unwrap_or(usize::MAX);
        let length = element_type.packed_byte_count(index - start + 1).unwrap_or(0);
        let mut text = String::new();
        element_type.format_element_at(&self.buffer.read(from, length), index - start, &mut text);
        text
    }

    /// What is at an index of the outermost dimension.
    fn at(&self, index: usize) -> Self {
        let shape = self.tensor_type.shape.get(1..).unwrap_or_default().to_vec();
        let tensor_type = TensorType { shape, ..self.tensor_type.clone() };
        let size = tensor_type.element_count().unwrap_or(0);
        Self { buffer: self.buffer.clone(), tensor_type, first: self.first + index * size }
    }

    /// Under a name.
    #[must_use]
    pub fn variable(&self, name: impl Into<String>) -> Variable {
        let children = self
            .length()
            .map(|length| Children { node: Node::Tensor(self.clone()), indexed: Some(length) });
        Variable {
            name: name.into(),
            value: self.short(),
            type_name: self.type_name(),
            evaluate_name: None,
            children,
        }
    }

    /// What is inside, within `range`.
    pub(crate) fn children(&self, range: Range<usize>) -> Vec<Variable> {
        range.map(|index| self.at(index).variable(format!("[{index}]"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(bytes: &[u8], tensor_type: &str) -> Result<TensorView, String> {
        let limits = vm::ExecutionLimits::default();
        let buffer = Buffer::alloc(bytes.len(), 0, &limits).unwrap();
        buffer.write(0, bytes).unwrap();
        TensorView::new(Arc::new(buffer), TensorType::parse(tensor_type).unwrap())
    }

    #[test]
    fn rows_are_tensors_of_their_own() {
        let bytes: Vec<u8> = (0..6_u8).flat_map(|n| f32::from(n).to_le_bytes()).collect();
        let tensor = view(&bytes, "2x3xf32").unwrap();
        assert_eq!(tensor.short(), "[0, 1, 2, 3, 4, 5]");
        let rows = tensor.children(0..2);
        assert_eq!((rows[1].name.as_str(), rows[1].value.as_str()), ("[1]", "[3, 4, 5]"));
        let Some(Children { node: Node::Tensor(row), indexed: Some(3) }) = &rows[1].children else {
            panic!("{:?}", rows[1]);
        };
        let last = row.children(2..3).pop().unwrap();
        assert_eq!((last.value.as_str(), last.type_name.as_str()), ("5", "f32"));
        assert!(last.children.is_none());
    }

    #[test]
    fn elements_of_less_than_a_byte_share_bytes() {
        let tensor = view(&[0x21, 0x43, 0x65], "6xi4").unwrap();
        assert_eq!(tensor.short(), "[1, 2, 3, 4, 5, 6]");
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let error = view(&[0; 8], "3xf32").unwrap_err();
        assert!(error.contains("8 bytes"), "{error}");
        assert!(view(&[0; 8], "99999999999x99999999999xf32").is_err());
        let empty = view(&[], "0x4xf32").unwrap();
        assert_eq!(empty.short(), "[]");
    }
}
