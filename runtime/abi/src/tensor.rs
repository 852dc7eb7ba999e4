//! Tensors as text: `2x3xf32=[1 2 3][4 5 6]`, in and out.
//!
//! ```text
//! tensor   = (dimension "x")* element-type [ "=" values ]
//! values   = numbers between spaces, commas and brackets; none: zeros; one: in every element
//! ```
//!
//! Brackets are decoration on the way in. On the way out every dimension but the outermost has its
//! own. Both are as `iree-run-module` does it.

use std::fmt::{self, Write};

use crate::element_type::{ElementType, ElementTypeError};

/// Shape, element type and bytes, dense and in row-major order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tensor {
    /// The dimensions, outermost first; none for a single element.
    pub shape: Vec<u64>,
    /// The type of each element.
    pub element_type: ElementType,
    /// The elements, in the byte order of the machine's programs, little-endian.
    pub bytes: Vec<u8>,
}

/// Why text is no tensor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TensorError {
    /// There is no text.
    #[error("empty string input")]
    Empty,
    /// A dimension is no number.
    #[error("`{0}` is no dimension of a shape")]
    Dimension(String),
    /// The element type is none.
    #[error(transparent)]
    ElementType(#[from] ElementTypeError),
    /// Elements of this type have no bytes of their own.
    #[error("elements of type {0} share bytes, and cannot be written as values")]
    SubByte(ElementType),
    /// More bytes than were allowed.
    #[error("{shape} is larger than the {limit} bytes that are allowed")]
    TooLarge {
        /// The type as it was written.
        shape: String,
        /// The most that is allowed.
        limit: usize,
    },
    /// A value is not one of the element type.
    #[error("`{text}` is no value of type {element_type}")]
    Element {
        /// What was written.
        text: String,
        /// What it should be.
        element_type: ElementType,
    },
    /// The number of values is not that of the elements.
    #[error("{found} values for {expected} elements; give one for all, or all")]
    Count {
        /// How many were written.
        found: usize,
        /// How many the shape has.
        expected: usize,
    },
}

/// The part of a tensor's text before its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorType {
    /// The dimensions, outermost first.
    pub shape: Vec<u64>,
    /// The type of each element.
    pub element_type: ElementType,
}

impl TensorType {
    /// Reads `4x8xf32`.
    ///
    /// # Errors
    /// A part of it is no dimension, or the last is no element type.
    pub fn parse(text: &str) -> Result<Self, TensorError> {
        let (shape, element_type) = match text.rsplit_once('x') {
            Some((shape, element_type)) => (Some(shape), element_type),
            None => (None, text),
        };
        let dimension = |text: &str| {
            text.trim().parse().map_err(|_| TensorError::Dimension(text.trim().to_owned()))
        };
        let shape = shape.into_iter().flat_map(|shape| shape.split('x')).map(dimension);
        Ok(Self { shape: shape.collect::<Result<_, _>>()?, element_type: element_type.parse()? })
    }

    /// How many elements there are; `None` if they cannot be counted.
    #[must_use]
    pub fn element_count(&self) -> Option<usize> {
        self.shape.iter().try_fold(1_usize, |count, dimension| {
            count.checked_mul(usize::try_from(*dimension).ok()?)
        })
    }
}

/// `4x8xf32`
impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shape.iter().try_for_each(|dimension| write!(f, "{dimension}x"))?;
        self.element_type.fmt(f)
    }
}

impl Tensor {
    /// Reads a tensor with its values, of no more than `limit` bytes.
    ///
    /// # Errors
    /// See [`TensorError`].
    pub fn parse(text: &str, limit: usize) -> Result<Self, TensorError> {
        let text = text.trim();
        let text = text.strip_prefix('"').unwrap_or(text);
        let text = text.strip_suffix('"').unwrap_or(text);
        if text.is_empty() {
            return Err(TensorError::Empty);
        }
        let (tensor_type, values) = text.split_once('=').unwrap_or((text, ""));
        let TensorType { shape, element_type } = TensorType::parse(tensor_type)?;
        let tensor_type = TensorType { shape, element_type };
        if element_type.bits % 8 != 0 || element_type.bits == 0 {
            return Err(TensorError::SubByte(element_type));
        }
        let element_bytes = element_type.byte_count();
        let count = tensor_type
            .element_count()
            .filter(|count| *count <= limit / element_bytes)
            .ok_or_else(|| TensorError::TooLarge { shape: tensor_type.to_string(), limit })?;
        let bytes = parse_values(values, element_type, count)?;
        Ok(Self { shape: tensor_type.shape, element_type, bytes })
    }

    /// Its shape and element type.
    #[must_use]
    pub fn tensor_type(&self) -> TensorType {
        TensorType { shape: self.shape.clone(), element_type: self.element_type }
    }

    /// The text, with at most so many elements; what is left out leaves dots.
    #[must_use]
    pub fn format(&self, max_element_count: usize) -> String {
        let mut out = self.tensor_type().to_string();
        out.push('=');
        let mut printer = Printer { tensor: self, left: max_element_count, out: &mut out };
        printer.dimension(&self.shape, &self.bytes);
        out
    }
}

/// The text with up to 1024 elements, which is what `iree-run-module` prints.
impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format(1024))
    }
}

fn parse_values(
    text: &str,
    element_type: ElementType,
    count: usize,
) -> Result<Vec<u8>, TensorError> {
    let is_separator = |c: char| c.is_ascii_whitespace() || matches!(c, ',' | '[' | ']');
    let values = text.split(is_separator).filter(|value| !value.is_empty());
    let mut bytes = Vec::new();
    let mut found = 0;
    for value in values {
        found += 1;
        if found > count {
            continue;
        }
        element_type
            .parse_element(value, &mut bytes)
            .ok_or_else(|| TensorError::Element { text: value.to_owned(), element_type })?;
    }
    match found {
        _ if found == count => Ok(bytes),
        0 => Ok(vec![0; count * element_type.byte_count()]),
        1 if count > 0 => Ok(bytes.repeat(count)),
        _ => Err(TensorError::Count { found, expected: count }),
    }
}

struct Printer<'p> {
    tensor: &'p Tensor,
    left: usize,
    out: &'p mut String,
}

impl Printer<'_> {
    fn dimension(&mut self, shape: &[u64], bytes: &[u8]) {
        match shape {
            [] => self.row(bytes),
            [_] => self.row(bytes),
            [length, inner @ ..] => {
                // A shape that holds no element still has its brackets.
                let length = usize::try_from(*length).unwrap_or(usize::MAX);
                let stride = bytes.len().checked_div(length).unwrap_or(0);
                for index in 0..length {
                    if stride == 0 && index > self.left {
                        self.out.push_str("...");
                        break;
                    }
                    self.out.push('[');
                    let part = bytes.get(index * stride..(index + 1) * stride);
                    self.dimension(inner, part.unwrap_or_default());
                    self.out.push(']');
                }
            }
        }
    }

    fn row(&mut self, bytes: &[u8]) {
        let elements = bytes.chunks_exact(self.tensor.element_type.byte_count());
        let count = elements.len();
        let shown = count.min(self.left);
        for (index, element) in elements.take(shown).enumerate() {
            if index > 0 {
                let written = self.out.write_char(' ');
                debug_assert!(written.is_ok(), "writing to a String does not fail");
            }
            self.tensor.element_type.format_element(element, self.out);
        }
        self.left -= shown;
        if shown < count {
            self.out.push_str("...");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Tensor, TensorError};

    const LIMIT: usize = 1 << 20;

    #[test]
    fn reads_and_writes() {
        // The texts on the right are iree-run-module's.
        for (text, canonical) in [
            ("2x3xf32=[1 2 3][4 5 6]", "2x3xf32=[1 2 3][4 5 6]"),
            ("2x3xf32=1,2,3,4,5,6", "2x3xf32=[1 2 3][4 5 6]"),
            ("4xf32=1.5", "4xf32=1.5 1.5 1.5 1.5"),
            ("2xi32", "2xi32=0 0"),
            ("f32=3", "f32=3"),
            ("\"2xf64=1e-7 123456789\"", "2xf64=1E-07 1.23457E+08"),
            ("2xf16=0.1 65504", "2xf16=0.0999756 65504"),
            ("2xbf16=0.1 nan", "2xbf16=0.100098 NAN"),
            ("3xi8=-128 255 7", "3xi8=-128 -1 7"),
            ("2xui8=0 255", "2xui8=0 255"),
            ("2xi1=01 00", "2xi1=01 00"),
            ("1xcf64=0000803F00000040", "1xcf64=0000803F00000040"),
            ("4xf8E4M3FN=1.1 -448 500 1e9", "4xf8E4M3FN=1.125 -448 NAN NAN"),
            ("4xf8E5M2=1.1 57344 61440 1e9", "4xf8E5M2=1 57344 INF INF"),
            ("3xf8E5M2FNUZ=1.1 57344 -1e9", "3xf8E5M2FNUZ=1 57344 NAN"),
            ("3xf8E4M3FNUZ=240 244 -0.0", "3xf8E4M3FNUZ=240 240 0"),
            ("3xf8E8M0FNU=1 3 0.7", "3xf8E8M0FNU=1 4 0.5"),
            ("2x1x2xi16=1 2 3 4", "2x1x2xi16=[[1 2]][[3 4]]"),
            ("0x3xf32", "0x3xf32="),
            ("3x0xf32", "3x0xf32=[][][]"),
            ("2xui64=18446744073709551615 0x10", "2xui64=18446744073709551615 16"),
        ] {
            let tensor =
                Tensor::parse(text, LIMIT).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(tensor.to_string(), canonical, "{text}");
        }
    }

    #[test]
    fn long_ones_are_cut() {
        let tensor = Tensor::parse("2x4xi32=1 2 3 4 5 6 7 8", LIMIT).unwrap();
        assert_eq!(tensor.format(6), "2x4xi32=[1 2 3 4][5 6...]");
        assert_eq!(tensor.format(4), "2x4xi32=[1 2 3 4][...]");
    }

    #[test]
    fn mistakes_are_told() {
        for (text, message) in [
            ("", "empty string input"),
            ("4xg32=1", "no element type"),
            ("ax2xf32", "`a` is no dimension"),
            ("-1xf32", "`-1` is no dimension"),
            ("4xf32=1 2", "2 values for 4 elements"),
            ("2xf32=1 2 3", "3 values for 2 elements"),
            ("2xi32=1 b", "`b` is no value of type i32"),
            ("1xi8=256", "`256` is no value of type i8"),
            ("1xsi8=128", "`128` is no value of type si8"),
            ("1xi1=1", "`1` is no value of type i1"),
            ("2xi4=1 2", "share bytes"),
            ("4294967296x4294967296xf32=1", "larger than"),
            ("1000000xf32", "larger than"),
        ] {
            let error = Tensor::parse(text, LIMIT).unwrap_err();
            assert!(error.to_string().contains(message), "{text}: {error}");
        }
        assert_eq!(Tensor::parse("  ", LIMIT), Err(TensorError::Empty));
    }
}
