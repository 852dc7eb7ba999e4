//! The least and the greatest element of memory that is read once, with its hash: what is noted of
//! each command of a recorded run, so it has to cost less than the command.
//!
//! Floats of 16, 32 and 64 bits are compared as integers in the order of their values, without a
//! branch, so that the compiler makes vectors of it. Only a chunk that has NaN or infinities is
//! looked at twice.

use abi::element_type::{ElementType, NumericalKind};
use twox_hash::XxHash3_64;
use vm::Buffer;

use std::hash::Hasher;

use super::number::Number;

/// Memory is read in parts of this size, which are whole elements of any type.
const CHUNK: usize = 1 << 14;

/// The least and the greatest of the elements that are finite, and how many are not.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Extent {
    /// The smallest; `None` if none is finite.
    pub least: Option<Number>,
    /// The largest.
    pub most: Option<Number>,
    /// How many are NaN.
    pub nans: u64,
    /// How many are infinite.
    pub infinities: u64,
}

/// The hash of memory, as [`super::TensorView::hash`] has it of a tensor there; and the extent of
/// its elements, if it has elements of their own bytes with values.
#[must_use]
pub(crate) fn hash_and_extent(
    memory: &Buffer,
    element_type: Option<ElementType>,
) -> (u64, Option<Extent>) {
    let element_type = element_type.filter(|it| has_extent(*it));
    let mut extent = Extent::default();
    let mut digest = XxHash3_64::new();
    let mut chunk = [0; CHUNK];
    for at in (0..memory.len()).step_by(CHUNK) {
        let chunk = &mut chunk[..(memory.len() - at).min(CHUNK)];
        if !memory.read_to(at, chunk) {
            break;
        }
        digest.write(chunk);
        if let Some(element_type) = element_type {
            extent.add(element_type, chunk);
        }
    }
    (digest.finish(), element_type.map(|_| extent))
}

fn has_extent(element_type: ElementType) -> bool {
    let is_number = !matches!(element_type.kind, NumericalKind::Opaque)
        && (element_type.has_numbers() || element_type.kind == NumericalKind::Boolean);
    is_number && !element_type.is_packed() && CHUNK.is_multiple_of(element_type.byte_count().max(1))
}

/// The least and the greatest of some integers.
macro_rules! integers {
    ($integer:ty, $bytes:expr) => {{
        let words = $bytes.as_chunks().0.iter().map(|it| <$integer>::from_le_bytes(*it));
        let (least, most) = words.fold((<$integer>::MAX, <$integer>::MIN), |(least, most), it| {
            (least.min(it), most.max(it))
        });
        (least <= most).then(|| Extent {
            least: Some(Number::Integer(least.into())),
            most: Some(Number::Integer(most.into())),
            ..Extent::default()
        })
    }};
}

/// The same of floats: `$infinity` is the infinity without its sign.
macro_rules! floats {
    ($signed:ty, $unsigned:ty, $infinity:expr, $value:expr, $bytes:expr) => {{
        let infinity: $unsigned = $infinity;
        let without_sign = |bits: $unsigned| bits << 1 >> 1;
        // A negative float is the less the greater its other bits are. Twice, it is the same again.
        let order = |bits: $unsigned| {
            let negative = bits.cast_signed() >> (<$unsigned>::BITS - 1);
            (bits ^ (negative.cast_unsigned() >> 1)).cast_signed()
        };
        let words = || $bytes.as_chunks().0.iter().map(|it| <$unsigned>::from_le_bytes(*it));
        let (mut least, mut most) = (<$signed>::MAX, <$signed>::MIN);
        let mut is_special = false;
        for bits in words() {
            let key = order(bits);
            (least, most) = (least.min(key), most.max(key));
            is_special |= without_sign(bits) >= infinity;
        }
        let mut extent = Extent::default();
        if is_special {
            (least, most) = (<$signed>::MAX, <$signed>::MIN);
            for bits in words() {
                let (key, size) = (order(bits), without_sign(bits));
                extent.nans += u64::from(size > infinity);
                extent.infinities += u64::from(size == infinity);
                least = if size < infinity { least.min(key) } else { least };
                most = if size < infinity { most.max(key) } else { most };
            }
        }
        if least <= most {
            let value = |key: $signed| {
                let bits = order(key.cast_unsigned()).cast_unsigned();
                Some(Number::Float($value(bits)))
            };
            (extent.least, extent.most) = (value(least), value(most));
        }
        Some(extent)
    }};
}

impl Extent {
    /// More elements: these bytes are whole ones.
    fn add(&mut self, element_type: ElementType, bytes: &[u8]) {
        use NumericalKind::{BrainFloat, Float, Integer, SignedInteger, UnsignedInteger};
        let value = |bits: u64| element_type.float_value(&bits.to_le_bytes()).unwrap_or(f64::NAN);
        let more = match (element_type.kind, element_type.bits) {
            (Float, 32) => floats!(i32, u32, 0x7F80_0000, |it: u32| value(it.into()), bytes),
            (Float, 16) => floats!(i16, u16, 0x7C00, |it: u16| value(it.into()), bytes),
            (BrainFloat, 16) => floats!(i16, u16, 0x7F80, |it: u16| value(it.into()), bytes),
            (Float, 64) => floats!(i64, u64, 0x7FF0_0000_0000_0000, value, bytes),
            (Integer | SignedInteger, 8) => integers!(i8, bytes),
            (Integer | SignedInteger, 16) => integers!(i16, bytes),
            (Integer | SignedInteger, 32) => integers!(i32, bytes),
            (Integer | SignedInteger, 64) => integers!(i64, bytes),
            (UnsignedInteger | NumericalKind::Boolean, 8) => integers!(u8, bytes),
            (UnsignedInteger, 16) => integers!(u16, bytes),
            (UnsignedInteger, 32) => integers!(u32, bytes),
            (UnsignedInteger, 64) => integers!(u64, bytes),
            _ => None,
        };
        match more {
            Some(more) => self.join(more),
            None => {
                let elements = bytes.chunks_exact(element_type.byte_count().max(1));
                elements.for_each(|it| self.join(Self::of(Number::of_element(element_type, it))));
            }
        }
    }

    fn of(number: Number) -> Self {
        match number {
            Number::Float(value) if value.is_nan() => Self { nans: 1, ..Self::default() },
            Number::Float(value) if value.is_infinite() => {
                Self { infinities: 1, ..Self::default() }
            }
            number => Self { least: Some(number), most: Some(number), ..Self::default() },
        }
    }

    fn join(&mut self, more: Self) {
        self.nans += more.nans;
        self.infinities += more.infinities;
        let is_first = |one: Number, other: Number| match (one, other) {
            (Number::Integer(one), Number::Integer(other)) => one < other,
            (one, other) => one.float() < other.float(),
        };
        if let Some(least) = more.least
            && self.least.is_none_or(|it| is_first(least, it))
        {
            self.least = Some(least);
        }
        if let Some(most) = more.most
            && self.most.is_none_or(|it| is_first(it, most))
        {
            self.most = Some(most);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use abi::tensor::TensorType;

    use super::*;
    use crate::tensor::TensorView;

    /// Bytes that look random, the same each time.
    fn noise(length: usize, seed: u64) -> Vec<u8> {
        let mut state = seed | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn it_is_what_the_figures_of_a_tensor_say() {
        let types = [
            "f32", "f16", "bf16", "f64", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64",
            "f8E5M2", "f8E4M3FN",
        ];
        for (seed, name) in (1..).zip(types) {
            for count in [0, 1, 7, 300, 20_011] {
                let tensor_type = TensorType::parse(&format!("{count}x{name}")).expect("a type");
                let element_type = tensor_type.element_type;
                let bytes = noise(count * element_type.byte_count(), seed * 77 + count as u64);
                let buffer = Arc::new(Buffer::from_bytes(&bytes).expect("memory"));
                let tensor = TensorView::new(buffer.clone(), tensor_type).expect("fits");
                let (hash, extent) = hash_and_extent(&buffer, Some(element_type));
                let extent = extent.expect("numbers");
                let figures = tensor.all_figures().expect("numbers");
                let infinities = figures.positive_infinities + figures.negative_infinities;
                let counted = (extent.nans as usize, extent.infinities as usize);
                assert_eq!(counted, (figures.nans, infinities), "{count}x{name}");
                let range = |it: Option<Number>| it.map(Number::float);
                let both = (range(extent.least), range(extent.most));
                assert_eq!(both, (figures.minimum, figures.maximum), "{count}x{name}");
                assert_eq!(hash, tensor.hash(), "{count}x{name}");
            }
        }
    }

    #[test]
    fn large_integers_are_exact_and_bits_have_none() {
        let of = |values: &[i64], name: &str| {
            let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
            let element_type = TensorType::parse(&format!("1x{name}")).expect("a type");
            let buffer = Buffer::from_bytes(&bytes).expect("memory");
            hash_and_extent(&buffer, Some(element_type.element_type)).1
        };
        let large = of(&[i64::MAX, i64::MAX - 1], "i64").expect("numbers");
        assert_eq!(large.least, Some(Number::Integer((i64::MAX - 1).into())));
        let unsigned = of(&[-1], "ui64").expect("numbers");
        assert_eq!(unsigned.most, Some(Number::Integer(u64::MAX.into())));
        assert_eq!(of(&[1], "i4"), None);
    }
}
