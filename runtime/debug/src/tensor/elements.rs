//! The elements of a tensor in order, one block at a time, as numbers of the host.
//!
//! ```text
//!  tensor view --Rows--> runs of elements at one distance --Reader--> blocks: &[f32], &[i8], …
//! ```
//!
//! What is computed from a block depends only on the elements and their order, never on their
//! layout in memory. Floats of 16 and 8 bits are read as f32, which can hold all of their values;
//! packed integers are read one per word.

use abi::element_type::{ElementType, NumericalKind};
use bytemuck::Pod;

use super::number::Number;
use super::view::{TensorView, step};
use super::view_error::ViewError;

/// Elements per block; the last block of a tensor may have fewer.
pub(crate) const BLOCK: usize = 1024;

/// Largest distance, in bytes, between the elements of a column for which the memory around them is
/// copied as well; elements farther apart are read one by one.
const NEAR: usize = 128;

/// Some elements.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Block<'b> {
    I8(&'b [i8]),
    I16(&'b [i16]),
    I32(&'b [i32]),
    I64(&'b [i64]),
    U8(&'b [u8]),
    U16(&'b [u16]),
    U32(&'b [u32]),
    U64(&'b [u64]),
    F32(&'b [f32]),
    F64(&'b [f64]),
}

impl Block<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::I8(values) => values.len(),
            Self::I16(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::U8(values) => values.len(),
            Self::U16(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    /// An element. The index must be in range.
    pub(crate) fn number(&self, index: usize) -> Number {
        match self {
            Self::I8(values) => Number::Integer(values[index].into()),
            Self::I16(values) => Number::Integer(values[index].into()),
            Self::I32(values) => Number::Integer(values[index].into()),
            Self::I64(values) => Number::Integer(values[index].into()),
            Self::U8(values) => Number::Integer(values[index].into()),
            Self::U16(values) => Number::Integer(values[index].into()),
            Self::U32(values) => Number::Integer(values[index].into()),
            Self::U64(values) => Number::Integer(values[index].into()),
            Self::F32(values) => Number::Float(values[index].into()),
            Self::F64(values) => Number::Float(values[index]),
        }
    }
}

/// The elements of a block, to be filled.
#[derive(Debug)]
enum Scratch {
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// How elements are stored, where that differs from the numbers they are read as.
#[derive(Debug)]
enum Stored {
    /// As the numbers themselves.
    AsIs,
    /// Floats of 16 bits, with the function that widens them.
    Wide(Vec<u16>, Widen),
    /// Floats of 8 bits, with the value of each bit pattern.
    Small(Vec<u8>, Box<[f32; 256]>),
    /// Integers of which several share a byte.
    Packed(Vec<u8>),
}

/// Widens floats of 16 bits to f32.
type Widen = fn(&[u16], &mut [f32]);

/// Reads a tensor from its first element to the last.
#[derive(Debug)]
pub(crate) struct Reader {
    view: TensorView,
    rows: Rows,
    stored: Stored,
    scratch: Scratch,
}

impl Reader {
    pub(crate) fn new(view: &TensorView) -> Result<Self, ViewError> {
        let element_type = view.tensor_type().element_type;
        let (stored, scratch) = form(element_type).ok_or(ViewError::WithoutValues(element_type))?;
        Ok(Self { view: view.clone(), rows: Rows::new(view), stored, scratch })
    }

    /// The next elements, at most `most`; none at the end.
    pub(crate) fn read(&mut self, most: usize) -> Result<Option<Block<'_>>, ViewError> {
        let count = most.min(BLOCK).min(self.rows.left);
        if count == 0 {
            return Ok(None);
        }
        self.fill(count).ok_or(ViewError::LargerThanMemory)?;
        Ok(Some(self.scratch.block(count)))
    }

    fn fill(&mut self, count: usize) -> Option<()> {
        let Self { view, rows, stored, scratch } = self;
        match (stored, scratch) {
            (Stored::Wide(raw, widen), Scratch::F32(values)) => {
                gather(view, rows, &mut raw[..count])?;
                widen(&raw[..count], values);
            }
            (Stored::Small(raw, table), Scratch::F32(values)) => {
                gather(view, rows, &mut raw[..count])?;
                for (value, raw) in values.iter_mut().zip(&raw[..count]) {
                    *value = table[usize::from(*raw)];
                }
            }
            (Stored::Packed(bytes), Scratch::I8(values)) => {
                let values = &mut values[..count];
                unpack(view, rows, bytes, values, u8::cast_signed, |value| value as i8)?;
            }
            (Stored::Packed(bytes), Scratch::U8(values)) => {
                unpack(view, rows, bytes, &mut values[..count], |byte| byte, |value| value as u8)?;
            }
            (Stored::Packed(bytes), Scratch::I64(values)) => {
                unpack(view, rows, bytes, &mut values[..count], i64::from, u64::cast_signed)?;
            }
            (Stored::Packed(bytes), Scratch::U64(values)) => {
                unpack(view, rows, bytes, &mut values[..count], u64::from, |value| value)?;
            }
            (_, scratch) => return scratch.fill(view, rows, count),
        }
        Some(())
    }
}

/// How elements of a type are read; none if they are not numbers.
fn form(element_type: ElementType) -> Option<(Stored, Scratch)> {
    use NumericalKind as Kind;
    let is_signed = matches!(element_type.kind, Kind::Integer | Kind::SignedInteger);
    let is_integer = is_signed || element_type.kind == Kind::UnsignedInteger;
    if is_integer && element_type.is_packed() {
        let scratch = match (is_signed, element_type.bits) {
            (true, ..8) => Scratch::I8(vec![0; BLOCK]),
            (true, _) => Scratch::I64(vec![0; BLOCK]),
            (false, ..8) => Scratch::U8(vec![0; BLOCK]),
            (false, _) => Scratch::U64(vec![0; BLOCK]),
        };
        return Some((Stored::Packed(Vec::new()), scratch));
    }
    let as_is = |scratch| Some((Stored::AsIs, scratch));
    match (element_type.kind, element_type.bits) {
        (Kind::Integer | Kind::SignedInteger, 8) => as_is(Scratch::I8(vec![0; BLOCK])),
        (Kind::Integer | Kind::SignedInteger, 16) => as_is(Scratch::I16(vec![0; BLOCK])),
        (Kind::Integer | Kind::SignedInteger, 32) => as_is(Scratch::I32(vec![0; BLOCK])),
        (Kind::Integer | Kind::SignedInteger, 64) => as_is(Scratch::I64(vec![0; BLOCK])),
        (Kind::UnsignedInteger | Kind::Boolean, 8) => as_is(Scratch::U8(vec![0; BLOCK])),
        (Kind::UnsignedInteger, 16) => as_is(Scratch::U16(vec![0; BLOCK])),
        (Kind::UnsignedInteger, 32) => as_is(Scratch::U32(vec![0; BLOCK])),
        (Kind::UnsignedInteger, 64) => as_is(Scratch::U64(vec![0; BLOCK])),
        (Kind::Float, 32) => as_is(Scratch::F32(vec![0.0; BLOCK])),
        (Kind::Float, 64) => as_is(Scratch::F64(vec![0.0; BLOCK])),
        (Kind::Float, 16) => wide(|raw, values| each(raw, values, widen_half)),
        (Kind::BrainFloat, 16) => wide(|raw, values| each(raw, values, widen_brain)),
        (_, 8) => {
            element_type.float_value(&[0])?;
            let value = |byte| element_type.float_value(&[byte]).unwrap_or(f64::NAN) as f32;
            let table: [f32; 256] = std::array::from_fn(|byte| value(byte as u8));
            Some((Stored::Small(vec![0; BLOCK], Box::new(table)), Scratch::F32(vec![0.0; BLOCK])))
        }
        _ => None,
    }
}

fn wide(widen: Widen) -> Option<(Stored, Scratch)> {
    Some((Stored::Wide(vec![0; BLOCK], widen), Scratch::F32(vec![0.0; BLOCK])))
}

#[inline(always)]
fn each(raw: &[u16], values: &mut [f32], widen: impl Fn(u16) -> f32) {
    for (value, raw) in values.iter_mut().zip(raw) {
        *value = widen(*raw);
    }
}

/// The value of an f16. A multiplication adjusts the exponent to that of an f32, which is right for
/// denormal numbers, too. All values take the same instructions, so the compiler can vectorise
/// them.
#[inline(always)]
fn widen_half(raw: u16) -> f32 {
    const INFINITE: u32 = 31 << 23;
    const REBIAS: f32 = f32::from_bits((127 + 112) << 23);
    let magnitude = u32::from(raw & 0x7FFF) << 13;
    let scaled = (f32::from_bits(magnitude) * REBIAS).to_bits();
    let bits = if magnitude >= INFINITE { scaled | 0x7F80_0000 } else { scaled };
    f32::from_bits(bits | u32::from(raw & 0x8000) << 16)
}

/// The value of a bf16, the upper half of an f32.
#[inline(always)]
fn widen_brain(raw: u16) -> f32 {
    f32::from_bits(u32::from(raw) << 16)
}

impl Scratch {
    fn fill(&mut self, view: &TensorView, rows: &mut Rows, count: usize) -> Option<()> {
        match self {
            Self::I8(values) => gather(view, rows, &mut values[..count]),
            Self::I16(values) => gather(view, rows, &mut values[..count]),
            Self::I32(values) => gather(view, rows, &mut values[..count]),
            Self::I64(values) => gather(view, rows, &mut values[..count]),
            Self::U8(values) => gather(view, rows, &mut values[..count]),
            Self::U16(values) => gather(view, rows, &mut values[..count]),
            Self::U32(values) => gather(view, rows, &mut values[..count]),
            Self::U64(values) => gather(view, rows, &mut values[..count]),
            Self::F32(values) => gather(view, rows, &mut values[..count]),
            Self::F64(values) => gather(view, rows, &mut values[..count]),
        }
    }

    fn block(&self, count: usize) -> Block<'_> {
        match self {
            Self::I8(values) => Block::I8(&values[..count]),
            Self::I16(values) => Block::I16(&values[..count]),
            Self::I32(values) => Block::I32(&values[..count]),
            Self::I64(values) => Block::I64(&values[..count]),
            Self::U8(values) => Block::U8(&values[..count]),
            Self::U16(values) => Block::U16(&values[..count]),
            Self::U32(values) => Block::U32(&values[..count]),
            Self::U64(values) => Block::U64(&values[..count]),
            Self::F32(values) => Block::F32(&values[..count]),
            Self::F64(values) => Block::F64(&values[..count]),
        }
    }
}

/// Reads elements that do not share bytes.
fn gather<T: Pod>(view: &TensorView, rows: &mut Rows, target: &mut [T]) -> Option<()> {
    let size = size_of::<T>();
    let mut around: Vec<T> = Vec::new();
    let mut done = 0;
    while done < target.len() {
        let Run { first, count, stride } = rows.next(target.len() - done)?;
        let target = &mut target[done..done + count];
        done += count;
        if stride == 1 {
            read(view, first, target)?;
        } else if stride != 0 && stride.unsigned_abs() * size <= NEAR {
            let distance = stride.unsigned_abs();
            around.resize((count - 1) * distance + 1, T::zeroed());
            let lowest = if stride < 0 { step(first, count - 1, stride) } else { first };
            read(view, lowest, &mut around)?;
            let sources = around.iter().step_by(distance);
            let copy = |(target, source): (&mut T, &T)| *target = *source;
            match stride < 0 {
                true => target.iter_mut().rev().zip(sources).for_each(copy),
                false => target.iter_mut().zip(sources).for_each(copy),
            }
        } else {
            for (index, target) in target.iter_mut().enumerate() {
                read(view, step(first, index, stride), std::slice::from_mut(target))?;
            }
        }
    }
    Some(())
}

/// Reads adjacent elements.
fn read<T: Pod>(view: &TensorView, first: usize, target: &mut [T]) -> Option<()> {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(target);
    let is_there = view.buffer().read_to(first * size_of::<T>(), bytes);
    if cfg!(target_endian = "big") {
        // Memory of programs is little-endian.
        bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    }
    is_there.then_some(())
}

/// Reads elements that share bytes.
fn unpack<T: Copy>(
    view: &TensorView,
    rows: &mut Rows,
    bytes: &mut Vec<u8>,
    target: &mut [T],
    of_byte: impl Fn(u8) -> T,
    narrow: impl Fn(u64) -> T,
) -> Option<()> {
    let element_type = view.tensor_type().element_type;
    let bits = usize::from(element_type.bits);
    let unused = 64 - bits;
    let is_signed = element_type.kind != NumericalKind::UnsignedInteger;
    let extend = |raw: u64| match is_signed {
        true => ((raw << unused).cast_signed() >> unused).cast_unsigned(),
        false => raw << unused >> unused,
    };
    let mut done = 0;
    while done < target.len() {
        let Run { first, count, stride } = rows.next(target.len() - done)?;
        let target = &mut target[done..done + count];
        done += count;
        if stride != 1 {
            for (index, target) in target.iter_mut().enumerate() {
                let raw = view.raw(step(first, index, stride));
                *target = narrow(extend(u64::from_le_bytes(raw)));
            }
            continue;
        }
        // Starts at the nearest earlier element that begins a byte.
        let skipped = first % 8;
        let start = (first - skipped) / 8 * bits;
        bytes.resize(((skipped + count) * bits).div_ceil(8), 0);
        view.buffer().read_to(start, bytes).then_some(())?;
        let mut apart = [0; BLOCK + 16];
        match bits {
            1 => expand::<1>(bytes, &mut apart),
            2 => expand::<2>(bytes, &mut apart),
            4 => expand::<4>(bytes, &mut apart),
            _ => {}
        }
        match bits {
            1 | 2 | 4 => {
                let (unused, apart) = (8 - bits, &apart[skipped..]);
                for (target, raw) in target.iter_mut().zip(apart) {
                    let high = raw << unused;
                    *target = of_byte(match is_signed {
                        true => (high.cast_signed() >> unused).cast_unsigned(),
                        false => *raw,
                    });
                }
            }
            _ => {
                for (index, target) in target.iter_mut().enumerate() {
                    let raw = element_type.unpack(bytes, skipped + index);
                    *target = narrow(extend(u64::from_le_bytes(raw)));
                }
            }
        }
    }
    Some(())
}

/// Expands elements of `BITS` bits to one byte each.
fn expand<const BITS: usize>(bytes: &[u8], apart: &mut [u8; BLOCK + 16]) {
    for (byte, apart) in bytes.iter().zip(apart.chunks_exact_mut(8 / BITS)) {
        for (index, value) in apart.iter_mut().enumerate() {
            *value = byte >> (index * BITS) & ((1 << BITS) - 1);
        }
    }
}

/// The positions of a tensor's elements, in order.
#[derive(Debug)]
struct Rows {
    /// Elements not yet given out.
    left: usize,
    /// Elements in an innermost row, their distance, and how many of this row were given out.
    length: usize,
    stride: isize,
    within: usize,
    /// The first element of the row.
    row: usize,
    /// The outer dimensions, outermost first.
    outer: Vec<Dimension>,
}

#[derive(Debug)]
struct Dimension {
    length: usize,
    stride: isize,
    at: usize,
}

/// Elements at equal distances.
struct Run {
    first: usize,
    count: usize,
    stride: isize,
}

impl Rows {
    fn new(view: &TensorView) -> Self {
        let mut outer: Vec<Dimension> = Vec::new();
        for (length, stride) in view.tensor_type().shape.iter().zip(view.strides()) {
            let (length, stride) = (usize::try_from(*length).unwrap_or(usize::MAX), *stride);
            match outer.last_mut() {
                _ if length == 1 => {}
                // Rows that follow each other without a gap are one row.
                Some(last) if last.stride == stride.saturating_mul(length as isize) => {
                    last.length = last.length.saturating_mul(length);
                    last.stride = stride;
                }
                _ => outer.push(Dimension { length, stride, at: 0 }),
            }
        }
        let inner = outer.pop().unwrap_or(Dimension { length: 1, stride: 1, at: 0 });
        Self {
            left: view.count(),
            length: inner.length,
            stride: inner.stride,
            within: 0,
            row: view.first(),
            outer,
        }
    }

    /// The next run, of at most `most` elements.
    fn next(&mut self, most: usize) -> Option<Run> {
        let count = (self.length - self.within).min(most).min(self.left);
        if count == 0 {
            return None;
        }
        let first = step(self.row, self.within, self.stride);
        let run = Run { first, count, stride: self.stride };
        self.within += count;
        self.left -= count;
        if self.within == self.length && self.left > 0 {
            self.within = 0;
            self.next_row();
        }
        Some(run)
    }

    /// Advances like an odometer.
    fn next_row(&mut self) {
        for dimension in self.outer.iter_mut().rev() {
            dimension.at += 1;
            self.row = step(self.row, 1, dimension.stride);
            if dimension.at < dimension.length {
                return;
            }
            self.row = step(self.row, dimension.length, -dimension.stride);
            dimension.at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_floats_of_16_bits_are_widened_as_they_are_defined() {
        for raw in 0..=u16::MAX {
            for (kind, value) in [
                (NumericalKind::Float, widen_half(raw)),
                (NumericalKind::BrainFloat, widen_brain(raw)),
            ] {
                let expected = ElementType { kind, bits: 16 }.float_value(&raw.to_le_bytes());
                let (expected, value) = (expected.unwrap(), f64::from(value));
                let is_same = expected.to_bits() == value.to_bits();
                assert!(is_same || expected.is_nan() && value.is_nan(), "{kind:?} {raw:#x}");
            }
        }
    }
}
