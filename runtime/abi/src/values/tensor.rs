//! Tensors as text: `2x3xf32=[1 2 3][4 5 6]`, in and out.
//!
//! ```text
//! tensor   = (dimension "x")* element-type [ "=" values ]
//! values   = numbers between spaces, commas and brackets; none: zeros; one: in every element
//! ```
//!
//! Brackets in input are ignored; in output every dimension except the outermost has its own.
//! `iree-run-module` does both the same way. Elements narrower than a byte are packed. IREE's tool
//! reads them only as bytes in hexadecimal; here they can also be given as numbers, and they are
//! printed as numbers.

use std::fmt;

use crate::values::element_type::{ElementType, ElementTypeError};

/// Shape, element type and bytes, dense and in row-major order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tensor {
    /// The dimensions, outermost first; none for a single element.
    pub shape: Vec<u64>,
    /// The type of each element.
    pub element_type: ElementType,
    /// The elements, little-endian.
    pub bytes: Vec<u8>,
}

/// Why a text is no tensor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TensorError {
    /// The text is empty.
    #[error("empty string input")]
    Empty,
    /// A dimension is no number.
    #[error("shape[{index}] invalid value '{text}' of '{shape}'")]
    Dimension {
        /// The index of the dimension.
        index: usize,
        /// Its text.
        text: String,
        /// The whole shape.
        shape: String,
    },
    /// The element type is unknown.
    #[error(transparent)]
    ElementType(#[from] ElementTypeError),
    /// Elements of zero bits have no values.
    #[error("opaque element types cannot be indexed")]
    NoBits,
    /// The number of elements overflows.
    #[error("shape element count overflows: {0} has more elements than can be counted")]
    Uncountable(TensorType),
    /// The tensor has more bytes than the limit.
    #[error("{tensor_type} is larger than the {limit} bytes that are allowed")]
    TooLarge {
        /// What was written.
        tensor_type: TensorType,
        /// The limit in bytes.
        limit: usize,
    },
    /// A value is not one of the element type.
    #[error("`{text}` is no value of type {element_type}{}", hint(*element_type))]
    Element {
        /// What was written.
        text: String,
        /// The notation that the element type needs.
        element_type: ElementType,
    },
    /// The number of values differs from the number of elements.
    #[error("{found} values for {expected} elements; give one for all, or all")]
    Count {
        /// The number of values in the text.
        found: usize,
        /// The number of elements in the shape.
        expected: usize,
    },
}

impl TensorError {
    /// The name of the status with which IREE's tools fail in this case.
    #[must_use]
    pub fn status_name(&self) -> &'static str {
        match self {
            Self::Count { .. } | Self::Uncountable(_) => "OUT_OF_RANGE",
            Self::TooLarge { .. } => "RESOURCE_EXHAUSTED",
            _ => "INVALID_ARGUMENT",
        }
    }
}

/// The notation of values that are no numbers.
fn hint(element_type: ElementType) -> String {
    if element_type.has_numbers() {
        return String::new();
    }
    let digits = 2 * element_type.byte_count();
    format!("; write its bytes with {digits} hexadecimal digits")
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
    /// A part is no dimension, or the last part is no element type.
    pub fn parse(text: &str) -> Result<Self, TensorError> {
        // `complex<f32>` has an x too.
        let complex = text.find("complex<");
        let (shape, element_type) = match complex.or_else(|| Some(text.rfind('x')? + 1)) {
            Some(at) => (text[..at].trim_end().strip_suffix('x'), &text[at..]),
            None => (None, text),
        };
        let dimensions = shape.into_iter().flat_map(|shape| shape.split('x')).enumerate();
        let shape = dimensions.map(|(index, text)| {
            text.trim().parse().map_err(|_| TensorError::Dimension {
                index,
                text: text.trim().to_owned(),
                shape: shape.unwrap_or_default().to_owned(),
            })
        });
        let shape = shape.collect::<Result<_, _>>()?;
        Ok(Self { shape, element_type: element_type.trim_end().parse()? })
    }

    /// The number of elements; `None` if it overflows.
    #[must_use]
    pub fn element_count(&self) -> Option<usize> {
        self.shape.iter().try_fold(1_usize, |count, dimension| {
            count.checked_mul(usize::try_from(*dimension).ok()?)
        })
    }

    /// The number of bytes of the elements, at most `limit`.
    ///
    /// # Errors
    /// There are more bytes, their number overflows, or elements have zero bits.
    pub fn byte_length(&self, limit: usize) -> Result<usize, TensorError> {
        if self.element_type.bits == 0 {
            return Err(TensorError::NoBits);
        }
        let length =
            self.element_count().and_then(|count| self.element_type.packed_byte_count(count));
        let length = length.ok_or_else(|| TensorError::Uncountable(self.clone()))?;
        if length > limit {
            return Err(TensorError::TooLarge { tensor_type: self.clone(), limit });
        }
        Ok(length)
    }

    /// The number of bytes of a tensor that [`Self::format`] reads.
    #[must_use]
    pub fn printed_byte_count(&self, max_element_count: usize) -> usize {
        let count = self.element_count().unwrap_or(usize::MAX).min(max_element_count);
        self.element_type.packed_byte_count(count).unwrap_or(usize::MAX)
    }

    /// The text of a tensor with these bytes, with at most `max_element_count` elements. Dots stand
    /// for the others, whose bytes may be missing.
    #[must_use]
    pub fn format(&self, bytes: &[u8], max_element_count: usize) -> String {
        let mut out = format!("{self}=");
        let mut printer = Printer {
            element_type: self.element_type,
            bytes,
            next: 0,
            left: max_element_count,
            out: &mut out,
        };
        printer.dimension(&self.shape);
        out
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
        let text = unquote(text);
        if text.is_empty() {
            return Err(TensorError::Empty);
        }
        let (tensor_type, values) = text.split_once('=').unwrap_or((text, ""));
        let tensor_type = TensorType::parse(tensor_type)?;
        let length = tensor_type.byte_length(limit)?;
        let count = tensor_type.element_count().unwrap_or_default();
        let TensorType { shape, element_type } = tensor_type;
        let bytes = if element_type.is_packed() {
            parse_packed(values, element_type, count, length)?
        } else {
            parse_values(values, element_type, count)?
        };
        Ok(Self { shape, element_type, bytes })
    }

    /// Its shape and element type.
    #[must_use]
    pub fn tensor_type(&self) -> TensorType {
        TensorType { shape: self.shape.clone(), element_type: self.element_type }
    }

    /// The text, with at most `max_element_count` elements. Dots stand for the others.
    #[must_use]
    pub fn format(&self, max_element_count: usize) -> String {
        self.tensor_type().format(&self.bytes, max_element_count)
    }
}

/// The text with at most 1024 elements, as `iree-run-module` prints it.
impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format(1024))
    }
}

/// A text without the spaces and quotes around it.
#[must_use]
pub fn unquote(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix('"').unwrap_or(text);
    text.strip_suffix('"').unwrap_or(text)
}

fn tokens(text: &str) -> impl Iterator<Item = &str> + Clone {
    let is_separator = |c: char| c.is_ascii_whitespace() || matches!(c, ',' | '[' | ']');
    text.split(is_separator).filter(|value| !value.is_empty())
}

fn parse_values(
    text: &str,
    element_type: ElementType,
    count: usize,
) -> Result<Vec<u8>, TensorError> {
    let mut bytes = Vec::new();
    let mut found = 0;
    for value in tokens(text) {
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

/// Parses the values of elements that share bytes: either their bytes, two hexadecimal digits each
/// (one byte for all, or all bytes), or the elements as numbers.
fn parse_packed(
    text: &str,
    element_type: ElementType,
    count: usize,
    length: usize,
) -> Result<Vec<u8>, TensorError> {
    let values = tokens(text);
    let found = values.clone().count();
    if found == 0 {
        return Ok(vec![0; length]);
    }
    let is_hex =
        |value: &str| value.len() == 2 && value.bytes().all(|digit| digit.is_ascii_hexdigit());
    if (found == length || found == 1) && values.clone().all(is_hex) {
        let parsed = values.filter_map(|value| u8::from_str_radix(value, 16).ok());
        let parsed: Vec<u8> = parsed.collect();
        return Ok(if found == length { parsed } else { parsed.repeat(length) });
    }
    if found != count && found != 1 {
        return Err(TensorError::Count { found, expected: count });
    }
    let mut bytes = vec![0; length];
    for (index, value) in values.cycle().take(count).enumerate() {
        let number = element_type.parse_integer(value).filter(|_| element_type.has_numbers());
        let number =
            number.ok_or_else(|| TensorError::Element { text: value.to_owned(), element_type })?;
        element_type.pack(number as u64, index, &mut bytes);
    }
    Ok(bytes)
}

struct Printer<'p> {
    element_type: ElementType,
    bytes: &'p [u8],
    /// The index of the next element.
    next: usize,
    /// The number of elements that may still be printed.
    left: usize,
    out: &'p mut String,
}

/// The number of rows without elements that are printed before dots.
const MAX_EMPTY_ROWS: u64 = 1 << 16;

impl Printer<'_> {
    fn dimension(&mut self, shape: &[u64]) {
        match shape {
            [] => self.row(1),
            [length] => self.row(*length),
            [length, inner @ ..] => {
                let is_empty = inner.contains(&0);
                for index in 0..*length {
                    if is_empty && index >= MAX_EMPTY_ROWS {
                        return self.out.push_str("...");
                    }
                    self.out.push('[');
                    self.dimension(inner);
                    self.out.push(']');
                }
            }
        }
    }

    fn row(&mut self, length: u64) {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let shown = length.min(self.left);
        for index in 0..shown {
            if index > 0 {
                self.out.push(' ');
            }
            self.element_type.format_element_at(self.bytes, self.next + index, self.out);
        }
        self.next = self.next.saturating_add(length);
        self.left -= shown;
        if shown < length {
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
        // The expected texts are iree-run-module's.
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
            ("4xf8E4M3FN=1.1 -464 465 1e9", "4xf8E4M3FN=1.125 -448 NAN NAN"),
            ("4xf8E5M2=1.1 57344 61440 1e9", "4xf8E5M2=1 57344 INF INF"),
            ("3xf8E5M2FNUZ=1.1 57344 -1e9", "3xf8E5M2FNUZ=1 57344 NAN"),
            ("3xf8E4M3FNUZ=240 244 -0.0", "3xf8E4M3FNUZ=240 240 0"),
            ("3xf8E8M0FNU=1 3 0.7", "3xf8E8M0FNU=1 4 0.5"),
            ("2x1x2xi16=1 2 3 4", "2x1x2xi16=[[1 2]][[3 4]]"),
            ("0x3xf32", "0x3xf32="),
            ("3x0xf32", "3x0xf32=[][][]"),
            ("2xui64=18446744073709551615 0x10", "2xui64=18446744073709551615 16"),
            ("2xui32=-1 1", "2xui32=4294967295 1"),
            ("2xf8E8M0FNU=-1 0", "2xf8E8M0FNU=5.87747E-39 5.87747E-39"),
            ("2xf16=-nan -0", "2xf16=NAN -0"),
            ("2xf8=12", "2xf8=12 12"),
            ("4xi4=21 43", "4xi4=1 2 3 4"),
            ("4xi4=21", "4xi4=1 2 1 2"),
            ("3xi4=1 -1 7", "3xi4=1 -1 7"),
            ("2x2xui4=[15 0][8 9]", "2x2xui4=[15 0][8 9]"),
            ("4xi4=-8", "4xi4=-8 -8 -8 -8"),
            ("4xi2", "4xi2=0 0 0 0"),
            ("3xui12=4095 1 2048", "3xui12=4095 1 2048"),
            ("i4=7", "i4=7"),
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
            ("ax2xf32", "shape[0] invalid value 'a' of 'ax2'"),
            ("2x-1xf32", "shape[1] invalid value '-1' of '2x-1'"),
            ("2xf0", "opaque element types cannot be indexed"),
            ("4xf32=1 2", "2 values for 4 elements"),
            ("2xf32=1 2 3", "3 values for 2 elements"),
            ("2xi32=1 b", "`b` is no value of type i32"),
            ("1xi8=256", "`256` is no value of type i8"),
            ("1xsi8=128", "`128` is no value of type si8"),
            ("1xi1=1", "`1` is no value of type i1; write its bytes with 2 hexadecimal digits"),
            ("2xi4=1 x", "`x` is no value of type i4"),
            ("2xi4=16 1", "`16` is no value of type i4"),
            ("4xi4=1 2 3", "3 values for 4 elements"),
            ("4294967296x4294967296xf32=1", "more elements than can be counted"),
            ("1000000xf32", "larger than"),
        ] {
            let error = Tensor::parse(text, LIMIT).unwrap_err();
            assert!(error.to_string().contains(message), "{text}: {error}");
        }
        assert_eq!(Tensor::parse("  ", LIMIT), Err(TensorError::Empty));
    }
}
