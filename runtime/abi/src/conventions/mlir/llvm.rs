//! Types of LLVM, in LLVM's notation: `{ ptr, ptr, i64, [1 x i64], [1 x i64] }`.

use std::fmt;

/// A type of LLVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Llvm {
    /// No value.
    Void,
    /// `i<bits>`
    Integer(u32),
    /// `half`, `bfloat`, `float`, `double`, `x86_fp80`, `fp128`
    Float(&'static str),
    /// An address in an address space.
    Pointer(u32),
    /// `[N x T]`
    Array(u64, Box<Llvm>),
    /// `<N x T>`, or `<vscale x N x T>`
    Vector {
        /// The number of elements; for a scalable vector, the number per unit of `vscale`.
        length: u64,
        /// Whether it is scalable: the length is multiplied at run time.
        scalable: bool,
        /// What it holds.
        element: Box<Llvm>,
    },
    /// `{ … }`
    Struct(Vec<Llvm>),
}

impl Llvm {
    /// An address in the default space.
    pub(crate) const PTR: Self = Self::Pointer(0);
    /// A size or an offset.
    pub const I64: Self = Self::Integer(64);

    /// The size and alignment in bytes, where C and LLVM agree, on a 64-bit machine; `None` for
    /// types that C does not have.
    #[must_use]
    pub fn size_and_alignment(&self) -> Option<(u64, u64)> {
        match self {
            Self::Integer(bits @ (1..=64)) => {
                let bytes = u64::from(bits.div_ceil(8).next_power_of_two());
                Some((bytes, bytes))
            }
            Self::Float("half" | "bfloat") => Some((2, 2)),
            Self::Float("float") => Some((4, 4)),
            Self::Float("double") | Self::Pointer(_) => Some((8, 8)),
            Self::Array(length, element) => {
                let (size, alignment) = element.size_and_alignment()?;
                Some((size.checked_mul(*length)?, alignment))
            }
            Self::Vector { length, scalable: false, element } => {
                let (size, _) = element.size_and_alignment()?;
                let size = size.checked_mul(*length)?.checked_next_power_of_two()?;
                Some((size, size))
            }
            Self::Struct(_) => self.field_offsets().map(|(_, size, alignment)| (size, alignment)),
            _ => None,
        }
    }

    /// The offsets of a struct's fields, its size and its alignment.
    #[must_use]
    pub fn field_offsets(&self) -> Option<(Vec<u64>, u64, u64)> {
        let Self::Struct(fields) = self else { return None };
        let (mut offsets, mut end, mut largest) = (Vec::new(), 0_u64, 1);
        for field in fields {
            let (size, alignment) = field.size_and_alignment()?;
            end = end.checked_next_multiple_of(alignment)?;
            offsets.push(end);
            end = end.checked_add(size)?;
            largest = largest.max(alignment);
        }
        Some((offsets, end.checked_next_multiple_of(largest)?, largest))
    }
}

impl fmt::Display for Llvm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Void => f.write_str("void"),
            Self::Integer(bits) => write!(f, "i{bits}"),
            Self::Float(name) => f.write_str(name),
            Self::Pointer(0) => f.write_str("ptr"),
            Self::Pointer(space) => write!(f, "ptr addrspace({space})"),
            Self::Array(length, element) => write!(f, "[{length} x {element}]"),
            Self::Vector { length, scalable, element } => {
                write!(f, "<{}{length} x {element}>", if *scalable { "vscale x " } else { "" })
            }
            Self::Struct(fields) if fields.is_empty() => f.write_str("{}"),
            Self::Struct(fields) => {
                f.write_str("{ ")?;
                for (index, field) in fields.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    field.fmt(f)?;
                }
                f.write_str(" }")
            }
        }
    }
}
