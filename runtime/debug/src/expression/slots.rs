//! [`Slot`]: a block of elements while it is computed, of f64, of i64 or of truths.

use super::evaluation_error::EvaluationError;
use super::scalars::{self, Each};
use super::syntax::Binary;
use crate::tensor::{BLOCK, Block, Number};

/// Why elements were not computed.
#[derive(Debug)]
pub(crate) enum Stop {
    /// They fit neither f64 nor i64.
    Irregular,
    /// They must not be computed, for this reason.
    Because(EvaluationError),
    /// The same, because of the argument with this number.
    OfArgument(usize, EvaluationError),
}

impl<Reason: Into<EvaluationError>> From<Reason> for Stop {
    fn from(reason: Reason) -> Self {
        Self::Because(reason.into())
    }
}

/// A block of results.
pub(super) struct Slot {
    kind: Filled,
    integers: Vec<i64>,
    floats: Vec<f64>,
    truths: Vec<u8>,
}

/// Which numbers of a slot are its results.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Filled {
    Integers,
    Floats,
    /// Integers that are all 0 or 1.
    Truths,
}

impl Slot {
    pub(super) fn new() -> Self {
        Self {
            kind: Filled::Integers,
            integers: vec![0; BLOCK],
            floats: vec![0.0; BLOCK],
            truths: vec![0; BLOCK],
        }
    }

    pub(super) fn block(&self, count: usize) -> Block<'_> {
        match self.kind {
            Filled::Integers => Block::I64(&self.integers[..count]),
            Filled::Floats => Block::F64(&self.floats[..count]),
            Filled::Truths => Block::U8(&self.truths[..count]),
        }
    }

    /// Loads elements.
    pub(super) fn take(&mut self, block: Block<'_>) -> Result<(), Stop> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, as was just detected, which is all that the function
            // requires.
            return unsafe { self.load_wide(block) };
        }
        self.load(block)
    }

    /// The same with registers twice as wide.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn load_wide(&mut self, block: Block<'_>) -> Result<(), Stop> {
        self.load(block)
    }

    #[inline(always)]
    fn load(&mut self, block: Block<'_>) -> Result<(), Stop> {
        self.kind = match block {
            Block::F32(_) | Block::F64(_) => Filled::Floats,
            _ => Filled::Integers,
        };
        match block {
            Block::I8(values) => widen(&mut self.integers, values),
            Block::I16(values) => widen(&mut self.integers, values),
            Block::I32(values) => widen(&mut self.integers, values),
            Block::I64(values) => widen(&mut self.integers, values),
            Block::U8(values) => widen(&mut self.integers, values),
            Block::U16(values) => widen(&mut self.integers, values),
            Block::U32(values) => widen(&mut self.integers, values),
            Block::U64(values) => {
                for (integer, value) in self.integers.iter_mut().zip(values) {
                    *integer = i64::try_from(*value).map_err(|_| Stop::Irregular)?;
                }
            }
            Block::F32(values) => widen(&mut self.floats, values),
            Block::F64(values) => widen(&mut self.floats, values),
        }
        Ok(())
    }

    pub(super) fn splat(&mut self, number: Number, count: usize) -> Result<(), Stop> {
        match number {
            Number::Float(value) => {
                self.kind = Filled::Floats;
                self.floats[..count].fill(value);
            }
            Number::Integer(value) => {
                self.kind = Filled::Integers;
                let value = i64::try_from(value).map_err(|_| Stop::Irregular)?;
                self.integers[..count].fill(value);
            }
        }
        Ok(())
    }

    /// Converts truths to integers.
    #[inline(always)]
    fn make_numbers(&mut self, count: usize) {
        if self.kind == Filled::Truths {
            self.kind = Filled::Integers;
            widen(&mut self.integers[..count], &self.truths);
        }
    }

    /// Converts integers to floats.
    #[inline(always)]
    fn make_floats(&mut self, count: usize) {
        self.make_numbers(count);
        if std::mem::replace(&mut self.kind, Filled::Floats) == Filled::Integers {
            for (float, integer) in self.floats[..count].iter_mut().zip(&self.integers) {
                *float = *integer as f64;
            }
        }
    }

    pub(super) fn each(&mut self, each: Each, count: usize) -> Result<(), Stop> {
        match each {
            Each::Float(_, run) => {
                self.make_floats(count);
                run(&mut self.floats[..count]);
            }
            Each::Magnitude if self.kind == Filled::Floats => {
                self.floats[..count].iter_mut().for_each(|value| *value = value.abs());
            }
            Each::Magnitude => {
                self.make_numbers(count);
                let integers = &mut self.integers[..count];
                if integers.contains(&i64::MIN) {
                    return Err(Stop::Irregular);
                }
                integers.iter_mut().for_each(|value| *value = value.wrapping_abs());
            }
        }
        Ok(())
    }

    /// Applies an operator to this block and another one.
    pub(super) fn compute(
        &mut self,
        operator: Binary,
        other: &mut Self,
        count: usize,
    ) -> Result<(), Stop> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, as was just detected, which is all that the function
            // requires.
            return unsafe { self.apply_wide(operator, other, count) };
        }
        self.apply(operator, other, count)
    }

    /// The same with registers twice as wide.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn apply_wide(&mut self, operator: Binary, other: &mut Self, count: usize) -> Result<(), Stop> {
        self.apply(operator, other, count)
    }

    #[inline(always)]
    fn apply(&mut self, operator: Binary, other: &mut Self, count: usize) -> Result<(), Stop> {
        self.make_numbers(count);
        other.make_numbers(count);
        let is_comparison = scalars::is_comparison(operator);
        if self.kind == Filled::Integers && other.kind == Filled::Integers {
            let (left, right) = (&mut self.integers[..count], &other.integers[..count]);
            if !is_comparison {
                return integers(operator, left, right);
            }
            compare(operator, left, right, &mut self.truths[..count])?;
        } else {
            self.make_floats(count);
            other.make_floats(count);
            let (left, right) = (&mut self.floats[..count], &other.floats[..count]);
            if !is_comparison {
                return floats(operator, left, right);
            }
            compare(operator, left, right, &mut self.truths[..count])?;
        }
        self.kind = Filled::Truths;
        Ok(())
    }
}

#[inline(always)]
fn widen<T: Copy + Into<W>, W>(target: &mut [W], values: &[T]) {
    for (target, value) in target.iter_mut().zip(values) {
        *target = (*value).into();
    }
}

#[inline(always)]
fn zip<T: Copy>(left: &mut [T], right: &[T], run: impl Fn(T, T) -> T) {
    for (left, right) in left.iter_mut().zip(right) {
        *left = run(*left, *right);
    }
}

#[inline(always)]
fn test<T: Copy>(left: &[T], right: &[T], results: &mut [u8], run: impl Fn(T, T) -> bool) {
    for ((result, left), right) in results.iter_mut().zip(left).zip(right) {
        *result = u8::from(run(*left, *right));
    }
}

#[inline(always)]
fn compare<T: Copy + PartialOrd>(
    operator: Binary,
    left: &[T],
    right: &[T],
    results: &mut [u8],
) -> Result<(), Stop> {
    match operator {
        Binary::Equal => test(left, right, results, |a, b| a == b),
        Binary::NotEqual => test(left, right, results, |a, b| a != b),
        Binary::Less => test(left, right, results, |a, b| a < b),
        Binary::LessEqual => test(left, right, results, |a, b| a <= b),
        Binary::Greater => test(left, right, results, |a, b| a > b),
        Binary::GreaterEqual => test(left, right, results, |a, b| a >= b),
        _ => return Err(Stop::Irregular),
    }
    Ok(())
}

#[inline(always)]
fn floats(operator: Binary, left: &mut [f64], right: &[f64]) -> Result<(), Stop> {
    match operator {
        Binary::Add => zip(left, right, |a, b| a + b),
        Binary::Subtract => zip(left, right, |a, b| a - b),
        Binary::Multiply => zip(left, right, |a, b| a * b),
        Binary::Divide => zip(left, right, |a, b| a / b),
        Binary::Remainder => zip(left, right, |a, b| a % b),
        Binary::Power => zip(left, right, f64::powf),
        _ => return Err(Stop::Irregular),
    }
    Ok(())
}

#[inline(always)]
fn integers(operator: Binary, left: &mut [i64], right: &[i64]) -> Result<(), Stop> {
    match operator {
        Binary::BitOr => zip(left, right, |a, b| a | b),
        Binary::BitXor => zip(left, right, |a, b| a ^ b),
        Binary::BitAnd => zip(left, right, |a, b| a & b),
        Binary::Add => {
            return sums(left, right, i64::wrapping_add, |a, b, sum| (a ^ sum) & (b ^ sum));
        }
        Binary::Subtract => {
            return sums(left, right, i64::wrapping_sub, |a, b, rest| (a ^ b) & (a ^ rest));
        }
        Binary::Multiply => return try_zip(left, right, i64::checked_mul),
        Binary::Divide => return try_zip(left, right, i64::checked_div),
        Binary::Remainder => return try_zip(left, right, i64::checked_rem),
        Binary::Power => {
            return try_zip(left, right, |a, b| a.checked_pow(u32::try_from(b).ok()?));
        }
        Binary::ShiftLeft => {
            return try_zip(left, right, |a, b| {
                let result = a.checked_shl(u32::try_from(b).ok()?)?;
                (result >> b == a).then_some(result)
            });
        }
        Binary::ShiftRight => {
            return try_zip(left, right, |a, b| Some(a >> u32::try_from(b).ok()?.min(63)));
        }
        _ => return Err(Stop::Irregular),
    }
    Ok(())
}

/// Sums or differences. `lost` is negative if a result was too large; it is checked once per block.
#[inline(always)]
fn sums(
    left: &mut [i64],
    right: &[i64],
    run: impl Fn(i64, i64) -> i64,
    lost: impl Fn(i64, i64, i64) -> i64,
) -> Result<(), Stop> {
    let mut any_lost = 0;
    for (left, right) in left.iter_mut().zip(right) {
        let result = run(*left, *right);
        any_lost |= lost(*left, *right, result);
        *left = result;
    }
    if any_lost < 0 { Err(Stop::Irregular) } else { Ok(()) }
}

#[inline(always)]
fn try_zip(
    left: &mut [i64],
    right: &[i64],
    run: impl Fn(i64, i64) -> Option<i64>,
) -> Result<(), Stop> {
    for (left, right) in left.iter_mut().zip(right) {
        *left = run(*left, *right).ok_or(Stop::Irregular)?;
    }
    Ok(())
}
