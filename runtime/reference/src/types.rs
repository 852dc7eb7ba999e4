//! Types of values: elements, tensors, and tensors that a dispatch is bound to.

use std::fmt;

use abi::element_type::{ElementType, NumericalKind};

use crate::refusal::{Refusal, Result};

/// A float format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Format {
    E8M0Fnu,
    E5M2,
    E4M3Fn,
    E5M2Fnuz,
    E4M3Fnuz,
    F16,
    Bf16,
    F32,
    F64,
}

/// What an element is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Element {
    Float(Format),
    /// 1 to 64 bits.
    Integer(u32),
    Index,
}

const FORMATS: [(&str, Format); 9] = [
    ("f8E8M0FNU", Format::E8M0Fnu),
    ("f8E5M2", Format::E5M2),
    ("f8E4M3FN", Format::E4M3Fn),
    ("f8E5M2FNUZ", Format::E5M2Fnuz),
    ("f8E4M3FNUZ", Format::E4M3Fnuz),
    ("f16", Format::F16),
    ("bf16", Format::Bf16),
    ("f32", Format::F32),
    ("f64", Format::F64),
];

impl Element {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text == "index" {
            return Some(Self::Index);
        }
        if let Some((_, format)) = FORMATS.iter().find(|(name, _)| *name == text) {
            return Some(Self::Float(*format));
        }
        let bits = ["si", "ui", "i"].iter().find_map(|prefix| text.strip_prefix(prefix))?;
        let is_number = !bits.is_empty() && bits.bytes().all(|digit| digit.is_ascii_digit());
        let bits = bits.parse().ok().filter(|_| is_number)?;
        (1..=64).contains(&bits).then_some(Self::Integer(bits))
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::Float(_))
    }

    /// The width of an integer; index values have 64 bits.
    pub(crate) fn width(self) -> u32 {
        match self {
            Self::Integer(bits) => bits,
            _ => 64,
        }
    }

    /// How callers name this type.
    pub(crate) fn element_type(self) -> ElementType {
        let (kind, bits) = match self {
            Self::Float(Format::F16) => (NumericalKind::Float, 16),
            Self::Float(Format::Bf16) => (NumericalKind::BrainFloat, 16),
            Self::Float(Format::F32) => (NumericalKind::Float, 32),
            Self::Float(Format::F64) => (NumericalKind::Float, 64),
            Self::Float(Format::E8M0Fnu) => (NumericalKind::Float8E8M0Fnu, 8),
            Self::Float(Format::E5M2) => (NumericalKind::Float8E5M2, 8),
            Self::Float(Format::E4M3Fn) => (NumericalKind::Float8E4M3Fn, 8),
            Self::Float(Format::E5M2Fnuz) => (NumericalKind::Float8E5M2Fnuz, 8),
            Self::Float(Format::E4M3Fnuz) => (NumericalKind::Float8E4M3Fnuz, 8),
            Self::Integer(1) => (NumericalKind::Boolean, 8),
            Self::Integer(bits) => (NumericalKind::Integer, bits as u8),
            Self::Index => (NumericalKind::Integer, 64),
        };
        ElementType { kind, bits }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Float(format) => {
                let name = FORMATS.iter().find(|(_, it)| it == format);
                f.write_str(name.map_or("f?", |(name, _)| name))
            }
            Self::Integer(bits) => write!(f, "i{bits}"),
            Self::Index => f.write_str("index"),
        }
    }
}

/// A ranked tensor; `None` is a dimension that is known only when it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TensorType {
    pub(crate) dimensions: Vec<Option<usize>>,
    pub(crate) element: Element,
}

impl TensorType {
    /// The shape, if no dimension is dynamic.
    pub(crate) fn fixed(&self) -> Option<Vec<usize>> {
        self.dimensions.iter().copied().collect()
    }

    /// The shape with these numbers in the place of dynamic dimensions.
    pub(crate) fn with(&self, dynamic: &[i64]) -> Result<Vec<usize>> {
        let mut given = dynamic.iter();
        let shape = self.dimensions.iter().map(|dimension| match dimension {
            Some(size) => Ok(*size),
            None => {
                let size = given.next().and_then(|size| usize::try_from(*size).ok());
                size.ok_or_else(|| Refusal::malformed(0, format!("{self} lacks a size")))
            }
        });
        shape.collect()
    }

    /// Whether a tensor of this shape is of this type.
    pub(crate) fn accepts(&self, shape: &[usize]) -> bool {
        let fits = |(wanted, size): (&Option<usize>, &usize)| wanted.is_none_or(|it| it == *size);
        self.dimensions.len() == shape.len() && self.dimensions.iter().zip(shape).all(fits)
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    ReadOnly,
    WriteOnly,
    ReadWrite,
}

/// The type of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    Scalar(Element),
    Tensor(TensorType),
    Bound(Access, TensorType),
}

impl Type {
    pub(crate) fn element(&self) -> Element {
        match self {
            Self::Scalar(element) => *element,
            Self::Tensor(tensor) | Self::Bound(_, tensor) => tensor.element,
        }
    }

    pub(crate) fn tensor(&self) -> Option<&TensorType> {
        match self {
            Self::Scalar(_) => None,
            Self::Tensor(tensor) | Self::Bound(_, tensor) => Some(tensor),
        }
    }
}
