//! The elements of a list of numbers: integers of 8 to 64 bits or floats of 32 or 64, in [`Cells`]
//! of the number's width, or of 32 bits for narrow integers.
//!
//! The conversions are described in `list`.

use std::sync::atomic::{AtomicU32, AtomicU64};

use abi::scalar::Scalar;

use super::atomic_cells::Cells;
use super::types::ScalarType;

/// Numbers of one type.
#[derive(Debug)]
pub(crate) enum Numbers {
    /// i8 or i16, sign-extended.
    Narrow(ScalarType, Cells<AtomicU32>),
    I32(Cells<AtomicU32>),
    I64(Cells<AtomicU64>),
    F32(Cells<AtomicU32>),
    F64(Cells<AtomicU64>),
}

/// The same expression for cells of both widths.
macro_rules! with_cells {
    ($numbers:expr, $cells:ident => $result:expr) => {
        match $numbers {
            Numbers::Narrow(_, $cells) | Numbers::I32($cells) | Numbers::F32($cells) => $result,
            Numbers::I64($cells) | Numbers::F64($cells) => $result,
        }
    };
}

impl Numbers {
    /// An empty list of a type.
    pub(crate) fn new(scalar: ScalarType) -> Self {
        match scalar {
            ScalarType::I8 | ScalarType::I16 => Self::Narrow(scalar, Cells::default()),
            ScalarType::I32 => Self::I32(Cells::default()),
            ScalarType::I64 => Self::I64(Cells::default()),
            ScalarType::F32 => Self::F32(Cells::default()),
            ScalarType::F64 => Self::F64(Cells::default()),
        }
    }

    /// The number of elements.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        with_cells!(self, cells => cells.len())
    }

    /// A number; narrow integers are widened.
    pub(crate) fn get(&self, index: usize) -> Option<Scalar> {
        Some(match self {
            Self::Narrow(_, cells) | Self::I32(cells) => {
                Scalar::I32(cells.get(index)?.cast_signed())
            }
            Self::I64(cells) => Scalar::I64(cells.get(index)?.cast_signed()),
            Self::F32(cells) => Scalar::F32(f32::from_bits(cells.get(index)?)),
            Self::F64(cells) => Scalar::F64(f64::from_bits(cells.get(index)?)),
        })
    }

    /// Changes a number to the converted value; returns whether the index exists.
    pub(crate) fn set(&self, index: usize, value: Scalar) -> bool {
        let integer = match value {
            Scalar::I32(value) => value.into(),
            Scalar::I64(value) => value,
            _ => 0,
        };
        let float = match value {
            Scalar::F32(value) => value.into(),
            Scalar::F64(value) => value,
            _ => 0.0,
        };
        let word = |value: i64| (value as i32).cast_unsigned();
        match self {
            Self::Narrow(ScalarType::I8, cells) => cells.set(index, word((integer as i8).into())),
            Self::Narrow(_, cells) => cells.set(index, word((integer as i16).into())),
            Self::I32(cells) => cells.set(index, word(integer)),
            Self::I64(cells) => cells.set(index, integer.cast_unsigned()),
            // Not through f64, which would quiet a signalling NaN.
            Self::F32(cells) => match value {
                Scalar::F32(value) => cells.set(index, value.to_bits()),
                _ => cells.set(index, (float as f32).to_bits()),
            },
            Self::F64(cells) => cells.set(index, float.to_bits()),
        }
    }

    /// [`Cells::roomy`]
    pub(crate) fn roomy(&self, size: usize) -> usize {
        with_cells!(self, cells => cells.roomy(size))
    }

    /// [`Cells::bytes_with`]
    pub(crate) fn bytes_with(&self, capacity: usize) -> usize {
        with_cells!(self, cells => cells.bytes_with(capacity))
    }

    /// [`Cells::reserve`]
    pub(crate) fn reserve(&self, capacity: usize) -> Option<()> {
        with_cells!(self, cells => cells.reserve(capacity))
    }

    /// [`Cells::resize_within`]
    #[inline(always)]
    pub(crate) fn resize_within(&self, size: usize) -> bool {
        with_cells!(self, cells => cells.resize_within(size))
    }
}

/// Access to numbers as their own type, which is what most programs do.
macro_rules! same_type {
    ($(
        $get:ident $set:ident $variant:ident $type:ident:
            |$bits:ident| $read:expr, |$value:ident| $written:expr;
    )*) => {
        impl Numbers {$(
            #[inline(always)]
            pub(crate) fn $get(&self, index: usize) -> Option<$type> {
                let Self::$variant(cells) = self else { return None };
                let $bits = cells.get(index)?;
                Some($read)
            }

            #[inline(always)]
            pub(crate) fn $set(&self, index: usize, $value: $type) -> bool {
                let Self::$variant(cells) = self else { return false };
                cells.set(index, $written)
            }
        )*}
    };
}

same_type! {
    get_i32 set_i32 I32 i32: |bits| bits.cast_signed(), |value| value.cast_unsigned();
    get_i64 set_i64 I64 i64: |bits| bits.cast_signed(), |value| value.cast_unsigned();
    get_f32 set_f32 F32 f32: |bits| f32::from_bits(bits), |value| value.to_bits();
    get_f64 set_f64 F64 f64: |bits| f64::from_bits(bits), |value| value.to_bits();
}
