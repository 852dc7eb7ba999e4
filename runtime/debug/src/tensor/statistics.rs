//! Statistics of many numbers, from one pass over them.
//!
//! The order of additions is fixed, so the same elements give the same sum, whatever their layout
//! in memory. Each block of 1,024 elements has sixteen sums: the first adds elements 0, 16, 32 and
//! so on, the second elements 1, 17, 33 and so on. These are added pairwise (halves to halves), and
//! the blocks one after the other.

use bytemuck::Pod;

use super::elements::{BLOCK, Block, Reader};
use super::number::Number;
use super::view::TensorView;
use super::view_error::ViewError;

/// Sums that are made at the same time, so that no addition waits for another.
const LANES: usize = 16;

/// Which statistics are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wanted(u8);

impl Wanted {
    pub(crate) const SMALLEST: Self = Self(1);
    pub(crate) const LARGEST: Self = Self(2);
    pub(crate) const SUM: Self = Self(4);
    pub(crate) const SQUARES: Self = Self(8);
    pub(crate) const NANS: Self = Self(16);
    pub(crate) const INFINITIES: Self = Self(32);
    pub(crate) const ZEROS: Self = Self(64);
    pub(crate) const ALL: Self = Self(127);

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Statistics of many numbers. A statistic that is not wanted keeps its value for no numbers.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Statistics {
    pub(crate) count: usize,
    pub(crate) nans: usize,
    pub(crate) infinities: usize,
    pub(crate) zeros: usize,
    pub(crate) squares: f64,
    /// The exact sum of the integers, unless it became too large.
    exact: Option<i128>,
    /// The sum of the integers as a float, whatever its size.
    rounded: f64,
    /// The sum of the floats.
    floats: f64,
    has_floats: bool,
    /// The first of the smallest numbers, with its index; never NaN.
    pub(crate) smallest: Option<(usize, Number)>,
    pub(crate) largest: Option<(usize, Number)>,
}

impl Default for Statistics {
    fn default() -> Self {
        Self {
            count: 0,
            nans: 0,
            infinities: 0,
            zeros: 0,
            squares: 0.0,
            exact: Some(0),
            rounded: 0.0,
            floats: 0.0,
            has_floats: false,
            smallest: None,
            largest: None,
        }
    }
}

impl Statistics {
    /// Statistics of at most `most` elements of a tensor, from the first on.
    pub(crate) fn of(tensor: &TensorView, most: usize, wanted: Wanted) -> Result<Self, ViewError> {
        let mut found = Self::default();
        let mut reader = Reader::new(tensor)?;
        while let Some(block) = reader.read(most - found.count)? {
            found.add_block(block, wanted);
        }
        Ok(found)
    }

    /// Adds a number.
    pub(crate) fn add(&mut self, number: Number) {
        match number {
            Number::Float(value) => self.add_all(&[value], Wanted::ALL),
            Number::Integer(value) => {
                let here = Some((self.count, number));
                if self.smallest.is_none_or(|(_, known)| is_less(number, known)) {
                    self.smallest = here;
                }
                if self.largest.is_none_or(|(_, known)| is_less(known, number)) {
                    self.largest = here;
                }
                self.zeros += usize::from(value == 0);
                self.squares += value as f64 * value as f64;
                self.add_integer(value);
                self.count += 1;
            }
        }
    }

    /// Adds a block of elements.
    pub(crate) fn add_block(&mut self, block: Block<'_>, wanted: Wanted) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, as was just detected, which is all that the function
            // requires.
            return unsafe { self.add_block_wide(block, wanted) };
        }
        self.add_block_by(block, wanted);
    }

    /// The same with registers twice as wide.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn add_block_wide(&mut self, block: Block<'_>, wanted: Wanted) {
        self.add_block_by(block, wanted);
    }

    #[inline(always)]
    fn add_block_by(&mut self, block: Block<'_>, wanted: Wanted) {
        match block {
            Block::I8(values) => self.add_all(values, wanted),
            Block::I16(values) => self.add_all(values, wanted),
            Block::I32(values) => self.add_all(values, wanted),
            Block::I64(values) => self.add_all(values, wanted),
            Block::U8(values) => self.add_all(values, wanted),
            Block::U16(values) => self.add_all(values, wanted),
            Block::U32(values) => self.add_all(values, wanted),
            Block::U64(values) => self.add_all(values, wanted),
            Block::F32(values) => self.add_all(values, wanted),
            Block::F64(values) => self.add_all(values, wanted),
        }
    }

    #[inline(always)]
    fn add_all<T: Element>(&mut self, values: &[T], wanted: Wanted) {
        if wanted.has(Wanted::SMALLEST) {
            let least = T::least(values);
            if self.smallest.is_none_or(|(_, known)| is_less(least.number(), known)) {
                self.smallest = self.first(values, least).or(self.smallest);
            }
        }
        if wanted.has(Wanted::LARGEST) {
            let greatest = T::greatest(values);
            if self.largest.is_none_or(|(_, known)| is_less(known, greatest.number())) {
                self.largest = self.first(values, greatest).or(self.largest);
            }
        }
        if wanted.has(Wanted::SUM) {
            match T::sum(values) {
                Sum::Integer(sum) => self.add_integer(sum),
                Sum::Float(sum) => self.floats += sum,
            }
        }
        if wanted.has(Wanted::SQUARES) {
            self.squares += sum_of(values, |value| value.float() * value.float());
        }
        if wanted.has(Wanted::NANS) {
            self.nans += T::nans(values);
        }
        if wanted.has(Wanted::INFINITIES) {
            self.infinities += T::infinities(values);
        }
        if wanted.has(Wanted::ZEROS) {
            self.zeros += T::zeros(values);
        }
        self.has_floats |= T::IS_FLOAT && !values.is_empty();
        self.count += values.len();
    }

    /// The first of `values` that equals `wanted`, with its index; none if all are NaN.
    fn first<T: Element>(&self, values: &[T], wanted: T) -> Option<(usize, Number)> {
        let index = values.iter().position(|value| *value == wanted)?;
        Some((self.count + index, values[index].number()))
    }

    fn add_integer(&mut self, value: i128) {
        self.exact = self.exact.and_then(|exact| exact.checked_add(value));
        self.rounded += value as f64;
    }

    /// The sum: an integer if all numbers are integers.
    pub(crate) fn sum(&self) -> Number {
        match self.exact {
            Some(exact) if !self.has_floats => Number::Integer(exact),
            _ => Number::Float(self.float_sum()),
        }
    }

    fn float_sum(&self) -> f64 {
        let integers = self.exact.map_or(self.rounded, |exact| exact as f64);
        if self.has_floats { self.floats + integers } else { integers }
    }

    pub(crate) fn mean(&self) -> f64 {
        self.float_sum() / self.count as f64
    }

    pub(crate) fn deviation(&self) -> f64 {
        let mean = self.mean();
        (self.squares / self.count as f64 - mean * mean).max(0.0).sqrt()
    }
}

/// Whether a number is less than another; NaN never is.
fn is_less(left: Number, right: Number) -> bool {
    match (left, right) {
        (Number::Integer(left), Number::Integer(right)) => left < right,
        _ => left.float() < right.float(),
    }
}

/// The sum of a block.
enum Sum {
    Integer(i128),
    Float(f64),
}

/// A number of the host, with statistics of a block of them.
trait Element: Pod + PartialOrd {
    const IS_FLOAT: bool;

    fn float(self) -> f64;
    fn number(self) -> Number;
    /// The least element; the largest number of the type if no element is a number.
    fn least(values: &[Self]) -> Self;
    /// The greatest element; the smallest number of the type if no element is a number.
    fn greatest(values: &[Self]) -> Self;
    fn sum(values: &[Self]) -> Sum;
    fn zeros(values: &[Self]) -> usize;
    fn nans(values: &[Self]) -> usize;
    fn infinities(values: &[Self]) -> usize;
}

/// Counts the elements of a block that fit a test. Each lane counts in an integer as wide as the
/// elements, which is wide enough for a lane's share of a block.
macro_rules! count {
    ($values:ident, $lanes:literal, $counter:ty, $test:expr) => {{
        const { assert!(BLOCK / $lanes < u8::MAX as usize) };
        let test = $test;
        let chunks = $values.chunks(BLOCK).map(|values| {
            let step = |count: $counter, value| count + <$counter>::from(test(value));
            let counts = lanes::<$lanes, _, _>(values, 0, step);
            counts.iter().map(|count| *count as usize).sum::<usize>()
        });
        chunks.sum()
    }};
}

macro_rules! integers {
    ($($type:ty, $lanes:literal, $counter:ty => $sum:expr,)*) => {
        $(impl Element for $type {
            const IS_FLOAT: bool = false;

            #[inline(always)]
            fn float(self) -> f64 {
                self as f64
            }

            fn number(self) -> Number {
                Number::Integer(self.into())
            }

            #[inline(always)]
            fn least(values: &[Self]) -> Self {
                join(lanes::<$lanes, _, _>(values, Self::MAX, Self::min), Self::min)
            }

            #[inline(always)]
            fn greatest(values: &[Self]) -> Self {
                join(lanes::<$lanes, _, _>(values, Self::MIN, Self::max), Self::max)
            }

            #[inline(always)]
            fn sum(values: &[Self]) -> Sum {
                Sum::Integer($sum(values))
            }

            #[inline(always)]
            fn zeros(values: &[Self]) -> usize {
                count!(values, $lanes, $counter, |value: Self| value == 0)
            }

            #[inline(always)]
            fn nans(_: &[Self]) -> usize {
                0
            }

            #[inline(always)]
            fn infinities(_: &[Self]) -> usize {
                0
            }
        })*
    };
}

// The sum of a block of narrow integers has 64 bits.
integers! {
    i8, 64, u8 => narrow,
    i16, 32, u16 => narrow,
    i32, 32, u32 => narrow,
    i64, 16, u64 => exact,
    u8, 64, u8 => narrow,
    u16, 32, u16 => narrow,
    u32, 32, u32 => narrow,
    u64, 16, u64 => exact,
}

#[inline(always)]
fn exact<T: Copy + Into<i128>>(values: &[T]) -> i128 {
    values.iter().map(|value| (*value).into()).sum()
}

#[inline(always)]
fn narrow<T: Copy + Into<i64>>(values: &[T]) -> i128 {
    values.iter().map(|value| (*value).into()).sum::<i64>().into()
}

macro_rules! floats {
    ($($type:ty, $lanes:literal, $counter:ty,)*) => {
        $(impl Element for $type {
            const IS_FLOAT: bool = true;

            #[inline(always)]
            fn float(self) -> f64 {
                self.into()
            }

            fn number(self) -> Number {
                Number::Float(self.into())
            }

            #[inline(always)]
            fn least(values: &[Self]) -> Self {
                // NaN compares as not less, so the other number is kept.
                let smaller = |a: Self, b: Self| if b < a { b } else { a };
                join(lanes::<$lanes, _, _>(values, Self::INFINITY, smaller), smaller)
            }

            #[inline(always)]
            fn greatest(values: &[Self]) -> Self {
                let larger = |a: Self, b: Self| if b > a { b } else { a };
                join(lanes::<$lanes, _, _>(values, Self::NEG_INFINITY, larger), larger)
            }

            #[inline(always)]
            fn sum(values: &[Self]) -> Sum {
                Sum::Float(sum_of(values, Self::float))
            }

            #[inline(always)]
            fn zeros(values: &[Self]) -> usize {
                count!(values, $lanes, $counter, |value: Self| value == 0.0)
            }

            #[inline(always)]
            fn nans(values: &[Self]) -> usize {
                count!(values, $lanes, $counter, |value: Self| value.is_nan())
            }

            #[inline(always)]
            fn infinities(values: &[Self]) -> usize {
                count!(values, $lanes, $counter, |value: Self| value.is_infinite())
            }
        })*
    };
}

floats! {
    f32, 32, u32,
    f64, 16, u64,
}

/// The sum of a function of each element, in the order given in the module's documentation.
#[inline(always)]
fn sum_of<T: Copy>(values: &[T], make: impl Fn(T) -> f64) -> f64 {
    let sums = lanes::<LANES, _, _>(values, 0.0, |sum: f64, value| sum + make(value));
    join(sums, |a, b| a + b)
}

/// Folds each lane by itself, so that no step waits for another.
#[inline(always)]
fn lanes<const N: usize, T: Copy, R: Copy>(
    values: &[T],
    first: R,
    step: impl Fn(R, T) -> R,
) -> [R; N] {
    let mut lanes = [first; N];
    let (chunks, rest) = values.as_chunks::<N>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = step(*lane, *value);
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane = step(*lane, *value);
    }
    lanes
}

/// Adds the upper half to the lower half until one value is left.
#[inline(always)]
fn join<const N: usize, R: Copy>(mut lanes: [R; N], join: impl Fn(R, R) -> R) -> R {
    let mut half = N / 2;
    while half > 0 {
        for index in 0..half {
            lanes[index] = join(lanes[index], lanes[index + half]);
        }
        half /= 2;
    }
    lanes[0]
}
