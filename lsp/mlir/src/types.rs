//! Types of values: numbers, tensors, and tensors that a dispatch is bound to.

use std::fmt;

use crate::element::Element;

/// A ranked tensor. The type of its values only: an encoding, which says how bytes lie in memory,
/// is not kept.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct TensorType {
    /// The sizes; `None` is one that is known only when the program runs.
    pub dimensions: Vec<Option<usize>>,
    /// What each element is.
    pub element: Element,
}

impl TensorType {
    /// Reads `4x?xf32`, as it stands between `tensor<` and `>`.
    #[must_use]
    pub fn parse_shaped(text: &str) -> Option<Self> {
        let text = text.split(',').next()?.trim();
        let mut dimensions = Vec::new();
        let mut rest = text;
        while let Some((size, after)) = rest.split_once('x') {
            let is_number = !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit());
            match size {
                "?" => dimensions.push(None),
                _ if is_number => dimensions.push(Some(size.parse().ok()?)),
                // The name of an element type has an `x`, such as `complex`.
                _ => break,
            }
            rest = after;
        }
        Some(Self { dimensions, element: Element::parse(rest.trim())? })
    }

    /// Reads `tensor<4x?xf32>`; an encoding is skipped.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_shaped(text.trim().strip_prefix("tensor<")?.strip_suffix('>')?)
    }

    /// The shape, if no dimension is dynamic.
    #[must_use]
    pub fn fixed(&self) -> Option<Vec<usize>> {
        self.dimensions.iter().copied().collect()
    }

    /// The number of elements, if no dimension is dynamic; `None` also if it is too large.
    #[must_use]
    pub fn count(&self) -> Option<usize> {
        self.dimensions.iter().try_fold(1_usize, |count, size| count.checked_mul((*size)?))
    }

    /// The shape with these sizes in the place of dynamic dimensions; `None` if they are too few.
    #[must_use]
    pub fn with(&self, dynamic: &[i64]) -> Option<Vec<usize>> {
        let mut given = dynamic.iter();
        let shape = self.dimensions.iter().map(|dimension| match dimension {
            Some(size) => Some(*size),
            None => given.next().and_then(|size| usize::try_from(*size).ok()),
        });
        shape.collect()
    }

    /// Whether a tensor of this shape is of this type.
    #[must_use]
    pub fn accepts(&self, shape: &[usize]) -> bool {
        let fits = |(wanted, size): (&Option<usize>, &usize)| wanted.is_none_or(|it| it == *size);
        self.dimensions.len() == shape.len() && self.dimensions.iter().zip(shape).all(fits)
    }

    /// The same shape with another element.
    #[must_use]
    pub fn of(&self, element: Element) -> Self {
        Self { dimensions: self.dimensions.clone(), element }
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tensor<")?;
        for dimension in &self.dimensions {
            match dimension {
                Some(size) => write!(f, "{size}x")?,
                None => f.write_str("?x")?,
            }
        }
        write!(f, "{}>", self.element)
    }
}

/// What a dispatch may do with a tensor that it is bound to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Access {
    /// It reads.
    ReadOnly,
    /// It writes.
    WriteOnly,
    /// It reads and writes.
    ReadWrite,
}

impl Access {
    /// The access with this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "readonly" => Some(Self::ReadOnly),
            "writeonly" => Some(Self::WriteOnly),
            "readwrite" => Some(Self::ReadWrite),
            _ => None,
        }
    }
}

/// The type of a value.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Type {
    /// One number.
    Scalar(Element),
    /// A tensor.
    Tensor(TensorType),
    /// A tensor that a dispatch is bound to.
    Bound(Access, TensorType),
}

impl Type {
    /// What each element is.
    #[must_use]
    pub fn element(&self) -> Element {
        match self {
            Self::Scalar(element) => *element,
            Self::Tensor(tensor) | Self::Bound(_, tensor) => tensor.element,
        }
    }

    /// The tensor, if it is one.
    #[must_use]
    pub fn tensor(&self) -> Option<&TensorType> {
        match self {
            Self::Scalar(_) => None,
            Self::Tensor(tensor) | Self::Bound(_, tensor) => Some(tensor),
        }
    }

    /// The same shape with another element.
    #[must_use]
    pub fn of(&self, element: Element) -> Self {
        match self.tensor() {
            Some(tensor) => Self::Tensor(tensor.of(element)),
            None => Self::Scalar(element),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_are_read_and_printed() {
        for text in ["tensor<f32>", "tensor<4x?x0xbf16>", "tensor<?xindex>", "tensor<2xi1>"] {
            assert_eq!(TensorType::parse(text).map(|it| it.to_string()).as_deref(), Some(text));
        }
        let encoded = TensorType::parse("tensor<4xf32, #iree_encoding.testing<>>");
        assert_eq!(encoded.map(|it| it.to_string()).as_deref(), Some("tensor<4xf32>"));
        for other in ["tensor<*xf32>", "tensor<4xcomplex<f32>>", "tensor<4>", "vector<4xf32>"] {
            assert_eq!(TensorType::parse(other), None, "{other}");
        }
        let dynamic = TensorType::parse("tensor<4x?xf32>");
        assert_eq!(dynamic.as_ref().and_then(|it| it.with(&[3])), Some(vec![4, 3]));
        assert_eq!(dynamic.as_ref().and_then(|it| it.with(&[])), None);
    }
}
