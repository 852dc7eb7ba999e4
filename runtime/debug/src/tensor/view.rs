//! Tensor views: parts of buffers with a shape, and their slices.

use std::ops::Range;
use std::sync::Arc;

use abi::element_type::{ElementType, NumericalKind};
use abi::tensor::{Tensor, TensorType};
use vm::Buffer;

use super::number::Number;
use super::origin::{AsOf, Origin};
use super::slice::Slice;
use super::view_error::{NoNpy, ViewError};

/// Bytes that are copied out of a buffer at once.
const CHUNK: usize = 1 << 16;

/// A part of a buffer as a tensor. Indexing its outermost dimension gives another view.
#[derive(Clone, Debug)]
pub struct TensorView {
    buffer: Arc<Buffer>,
    tensor_type: TensorType,
    /// Strides: for each dimension, the distance between neighbours, in elements of the buffer;
    /// negative where a slice goes back.
    strides: Vec<isize>,
    /// The first element, by its index in the buffer.
    first: usize,
    origin: Origin,
}

/// Complex numbers as their real and imaginary parts.
fn of_parts(mut tensor_type: TensorType) -> TensorType {
    let ElementType { kind, bits } = tensor_type.element_type;
    if kind == NumericalKind::ComplexFloat && matches!(bits, 64 | 128) {
        tensor_type.shape.push(2);
        tensor_type.element_type = ElementType { kind: NumericalKind::Float, bits: bits / 2 };
    }
    tensor_type
}

impl TensorView {
    /// A tensor at the start of a buffer. One of complex numbers is one of their parts, with a last
    /// dimension of 2.
    ///
    /// # Errors
    /// The buffer has fewer bytes than the tensor, or the element type has no values.
    pub fn new(buffer: Arc<Buffer>, tensor_type: TensorType) -> Result<Self, ViewError> {
        let tensor_type = of_parts(tensor_type);
        let is_truth = tensor_type.element_type.kind == NumericalKind::Boolean;
        if !tensor_type.element_type.has_numbers() && !is_truth {
            return Err(ViewError::WithoutValues(tensor_type.element_type));
        }
        let length = buffer.len();
        if tensor_type.byte_length(length).is_err() {
            return Err(ViewError::DoesNotFitBuffer { tensor_type, length });
        }
        let strides = row_major(&tensor_type.shape);
        Ok(Self { buffer, tensor_type, strides, first: 0, origin: Origin::Memory })
    }

    /// The same with elements that come from elsewhere than memory.
    pub(crate) fn coming_from(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// The same with the mark of another one, if that has one.
    pub(crate) fn marked_as(self, other: &Self) -> Self {
        Self { origin: other.origin, ..self }
    }

    /// Without a mark.
    pub(crate) fn unmarked(self) -> Self {
        Self { origin: Origin::Memory, ..self }
    }

    /// Where its elements come from.
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    /// How far a correct program may be away from it, if it was computed again in float64, as no
    /// dispatch leaves it in memory.
    #[must_use]
    pub fn recomputed(&self) -> Option<f64> {
        match self.origin {
            Origin::Recomputed(bound) => Some(bound),
            Origin::Memory | Origin::Recognised(_) | Origin::Past(_) => None,
        }
    }

    /// How far it is from what the source computes in float64, if no proof gives it its name, and
    /// its elements do.
    #[must_use]
    pub fn recognised(&self) -> Option<f64> {
        match self.origin {
            Origin::Recognised(difference) => Some(difference),
            Origin::Memory | Origin::Recomputed(_) | Origin::Past(_) => None,
        }
    }

    /// As of which time it is, if something has overwritten it since.
    #[must_use]
    pub fn as_of(&self) -> Option<AsOf> {
        match self.origin {
            Origin::Past(as_of) => Some(as_of),
            Origin::Memory | Origin::Recomputed(_) | Origin::Recognised(_) => None,
        }
    }

    /// The type, such as `4x8xf32`.
    #[must_use]
    pub fn type_name(&self) -> String {
        self.tensor_type.to_string()
    }

    /// The size of each axis.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.tensor_type.shape
    }

    pub(crate) fn tensor_type(&self) -> &TensorType {
        &self.tensor_type
    }

    pub(crate) fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Strides: for each dimension, the distance between neighbours, in elements of the buffer.
    pub(crate) fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// The first element, by its index in the buffer.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// How many elements there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.tensor_type.element_count().unwrap_or(0)
    }

    /// Whether its elements follow each other without gaps.
    pub(crate) fn is_contiguous(&self) -> bool {
        self.strides == row_major(&self.tensor_type.shape) || self.count() < 2
    }

    /// Whether several elements share a byte.
    pub(crate) fn is_packed(&self) -> bool {
        self.tensor_type.element_type.is_packed()
    }

    /// How many bytes an unpacked element takes.
    pub(crate) fn element_width(&self) -> usize {
        self.tensor_type.element_type.byte_count().max(1)
    }

    /// The bytes of its elements in order, unpacked.
    pub(crate) fn unpacked(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let width = self.element_width();
        self.each_offset(|at| {
            bytes.extend(self.raw(at).into_iter().take(width));
            true
        });
        bytes
    }

    /// It as a `.npy` file.
    ///
    /// # Errors
    /// NumPy has no type for it, or its elements do not lie whole bytes apart.
    pub fn npy(&self) -> Result<Vec<u8>, NoNpy> {
        Ok(abi::npy::write(&self.tensor().ok_or(NoNpy::Packed)?)?)
    }

    /// Its elements as data of their own; None if there are more than memory can hold.
    #[must_use]
    pub fn tensor(&self) -> Option<Tensor> {
        let TensorType { shape, element_type } = self.tensor_type.clone();
        let is_aligned = (self.first * usize::from(element_type.bits)).is_multiple_of(8);
        let bytes = if self.is_packed() && !(self.is_contiguous() && is_aligned) {
            return None;
        } else if self.is_contiguous() {
            let (buffer, start) = self.memory_from();
            let length = element_type.packed_byte_count(self.count())?;
            Some(buffer.read(start, length)).filter(|bytes| bytes.len() == length)?
        } else {
            self.unpacked()
        };
        Some(Tensor { shape, element_type, bytes })
    }

    /// The bytes of the buffer that it covers, if these are at most `most` ranges.
    pub(crate) fn byte_ranges(&self, most: usize) -> Option<Vec<Range<usize>>> {
        let bits = match self.is_packed() {
            true => usize::from(self.tensor_type.element_type.bits),
            false => self.tensor_type.element_type.byte_count() * 8,
        };
        let mut ranges: Vec<Range<usize>> = Vec::new();
        self.each_row(|first, count, stride| {
            // Back from its last element, a row that goes back goes on.
            let first = if stride < 0 { step(first, count - 1, stride) } else { first };
            let stride = stride.unsigned_abs();
            let elements = if stride == 1 { count } else { 1 };
            let mut starts = (0..count).step_by(elements.max(1));
            starts.all(|index| {
                let from = (first + index * stride) * bits;
                let range = from / 8..(from + elements * bits).div_ceil(8);
                match ranges.last_mut() {
                    Some(last) if last.end == range.start => last.end = range.end,
                    _ => ranges.push(range),
                }
                ranges.len() <= most
            })
        });
        (ranges.len() <= most).then_some(ranges)
    }

    /// The buffer, and the byte at which the first element starts.
    pub(crate) fn memory_from(&self) -> (&Arc<Buffer>, usize) {
        let start = self.tensor_type.element_type.packed_byte_count(self.first).unwrap_or(0);
        (&self.buffer, start)
    }

    /// How many elements of the buffer lie before its first element and after it, up to the lowest
    /// and to the highest element.
    fn reach(&self) -> (usize, usize) {
        let lengths = self.tensor_type.shape.iter().zip(&self.strides);
        lengths.fold((0, 0), |(before, after), (length, stride)| {
            let distance = (*length as usize).saturating_sub(1) * stride.unsigned_abs();
            if *stride < 0 { (before + distance, after) } else { (before, after + distance) }
        })
    }

    /// The addresses of the bytes from its lowest element to its highest.
    pub fn addresses(&self) -> Range<usize> {
        let (before, after) = self.reach();
        let bytes = |count| self.tensor_type.element_type.packed_byte_count(count).unwrap_or(0);
        let start = bytes(self.first.saturating_sub(before));
        let lowest = self.buffer.address() as usize + start;
        lowest..lowest.saturating_add(bytes(before + after + 1))
    }

    /// The same part of other memory, where its lowest element begins at a byte.
    pub(crate) fn moved_to(&self, buffer: Arc<Buffer>, byte: usize) -> Option<Self> {
        let bits = match self.is_packed() {
            true => usize::from(self.tensor_type.element_type.bits),
            false => self.element_width() * 8,
        };
        let is_aligned = (byte * 8).is_multiple_of(bits);
        let first = byte * 8 / bits + self.reach().0;
        is_aligned.then(|| Self { buffer, first, ..self.clone() })
    }

    /// The elements of the same places in other memory, which has an element of some type for each
    /// element of `whole`; this is a part of that.
    pub(crate) fn counterpart(
        &self,
        whole: &Self,
        buffer: Arc<Buffer>,
        element_type: ElementType,
    ) -> Option<Self> {
        let bits = |it: &Self| it.tensor_type.element_type.bits;
        if self.is_packed() || !whole.is_contiguous() || bits(self) != bits(whole) {
            return None;
        }
        let (own, all) = (self.addresses(), whole.addresses());
        let before = own.start.checked_sub(all.start).filter(|_| own.end <= all.end)?;
        let width = self.element_width();
        let tensor_type = TensorType { element_type, ..self.tensor_type.clone() };
        let strides = self.strides.clone();
        let lowest = before.is_multiple_of(width).then_some(before / width)?;
        let first = lowest + self.reach().0;
        Some(Self { buffer, tensor_type, strides, first, origin: Origin::Memory })
    }

    /// The memory from the first element on.
    pub(crate) fn memory(&self) -> Result<Arc<Buffer>, vm::Status> {
        let (buffer, start) = self.memory_from();
        if start == 0 {
            return Ok(Arc::clone(buffer));
        }
        Ok(Arc::new(buffer.subspan(start, buffer.len() - start)?))
    }

    /// The length of the outermost dimension; none for a single element.
    #[must_use]
    pub fn length(&self) -> Option<usize> {
        let outermost = self.tensor_type.shape.first()?;
        Some(usize::try_from(*outermost).unwrap_or(usize::MAX))
    }

    pub(crate) fn is_of_integers(&self) -> bool {
        use abi::element_type::NumericalKind::{Integer, SignedInteger, UnsignedInteger};
        matches!(self.tensor_type.element_type.kind, Integer | SignedInteger | UnsignedInteger)
    }

    /// The bits of the element at an index of the buffer.
    pub(super) fn bits_at(&self, index: usize) -> u64 {
        let unused = 64 - u32::from(self.tensor_type.element_type.bits.clamp(1, 64));
        u64::from_le_bytes(self.raw(index)) << unused >> unused
    }

    /// The bytes of the element at an index of the buffer, with the element's bits lowest.
    pub(crate) fn raw(&self, index: usize) -> [u8; 8] {
        let element_type = self.tensor_type.element_type;
        let per_byte = if element_type.is_packed() { 8 } else { 1 };
        // Elements narrower than a byte share one, so the read starts at a whole byte.
        let start = index / per_byte * per_byte;
        let from = element_type.packed_byte_count(start).unwrap_or(usize::MAX);
        let length = element_type.packed_byte_count(index - start + 1).unwrap_or(0);
        let bytes = self.buffer.read(from, length.min(16));
        if element_type.is_packed() {
            return element_type.unpack(&bytes, index - start);
        }
        let mut raw = [0; 8];
        let length = bytes.len().min(8);
        raw[..length].copy_from_slice(&bytes[..length]);
        raw
    }

    /// Its only element, if it has no dimensions.
    pub(crate) fn scalar(&self) -> Option<Number> {
        let is_one = self.tensor_type.shape.is_empty();
        is_one.then(|| Number::of_element(self.tensor_type.element_type, &self.raw(self.first)))
    }

    /// The bits of its only element.
    pub(crate) fn scalar_bits(&self) -> Option<u64> {
        self.tensor_type.shape.is_empty().then(|| self.bits_at(self.first))
    }

    /// Gives all elements the values that another tensor of the same type has.
    ///
    /// # Errors
    /// The types differ, the elements do not lie together, or the memory cannot be written.
    pub fn copy_from(&self, other: &Self) -> Result<(), ViewError> {
        if self.tensor_type != other.tensor_type {
            let (is, wanted) = (other.tensor_type.clone(), self.tensor_type.clone());
            return Err(ViewError::OtherType { is, wanted });
        }
        let tensor = other.tensor().ok_or(ViewError::Gaps)?;
        self.set_all(&tensor.bytes)
    }

    /// The values as they are now, in memory of their own.
    ///
    /// # Errors
    /// There is not enough memory, or packed elements do not lie together.
    pub fn kept(&self) -> Result<Self, ViewError> {
        let tensor = self.tensor().ok_or(ViewError::Gaps)?;
        let buffer = Buffer::from_bytes(&tensor.bytes)?;
        Self::new(Arc::new(buffer), tensor.tensor_type())
    }

    /// Calls `visit` with each element in order, as a float.
    pub fn each_value(&self, mut visit: impl FnMut(f64)) {
        self.each(|number| {
            visit(number.float());
            true
        });
    }

    /// The type of its elements.
    #[must_use]
    pub fn element_type(&self) -> abi::element_type::ElementType {
        self.tensor_type.element_type
    }

    /// Changes all elements, if they lie together.
    pub(crate) fn set_all(&self, bytes: &[u8]) -> Result<(), ViewError> {
        let is_aligned =
            (self.first * usize::from(self.tensor_type.element_type.bits)).is_multiple_of(8);
        if !self.is_contiguous() || (self.is_packed() && !is_aligned) {
            return Err(ViewError::Gaps);
        }
        let (buffer, start) = self.memory_from();
        Ok(buffer.write(start, bytes)?)
    }

    /// Changes its only element.
    pub(crate) fn set_scalar(&self, value: Number) -> Result<(), ViewError> {
        let element_type = self.tensor_type.element_type;
        if !self.tensor_type.shape.is_empty() {
            return Err(ViewError::SeveralElements);
        }
        let text = match (element_type.kind, value) {
            // Any other value is refused.
            (NumericalKind::Boolean, Number::Integer(bit @ 0..=1)) => format!("{bit:02}"),
            (NumericalKind::Boolean, _) => "neither 0 nor 1".to_owned(),
            _ => value.text_for(element_type),
        };
        let scalar = format!("{element_type}={text}");
        let Ok(parsed) = Tensor::parse(&scalar, 64) else {
            return Err(ViewError::DoesNotFitElement { text, element_type });
        };
        let bytes = &parsed.bytes;
        let written = if element_type.is_packed() {
            let bit = self.first * usize::from(element_type.bits);
            let mask = u128::from(u64::MAX >> (64 - u32::from(element_type.bits.clamp(1, 64))));
            let mut window = [0; 16];
            let old = self.buffer.read(bit / 8, 9);
            window[..old.len()].copy_from_slice(&old);
            let mut wide = [0; 16];
            wide[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
            let value = (u128::from_le_bytes(wide) & mask) << (bit % 8);
            let all = u128::from_le_bytes(window) & !(mask << (bit % 8)) | value;
            self.buffer.write(bit / 8, &all.to_le_bytes()[..old.len()])
        } else {
            self.buffer.write(self.memory_from().1, bytes)
        };
        Ok(written?)
    }

    /// The part at an index of the outermost dimension. The index must be in range.
    pub(crate) fn at(&self, index: usize) -> Self {
        let shape = self.tensor_type.shape.get(1..).unwrap_or_default().to_vec();
        let tensor_type = TensorType { shape, ..self.tensor_type.clone() };
        let stride = self.strides.first().copied().unwrap_or(0);
        Self {
            buffer: Arc::clone(&self.buffer),
            tensor_type,
            strides: self.strides.get(1..).unwrap_or_default().to_vec(),
            first: step(self.first, index, stride),
            origin: self.origin,
        }
    }

    /// A slice of one dimension, with all of the others. The slice must be in range.
    pub(crate) fn slice(&self, dimension: usize, slice: Slice) -> Self {
        let mut view = self.clone();
        let stride = self.strides[dimension];
        view.first = step(self.first, slice.start, stride);
        view.strides[dimension] = stride.saturating_mul(slice.step);
        view.tensor_type.shape[dimension] = slice.count as u64;
        view
    }

    /// The same elements with the axes in reverse order.
    pub(crate) fn transposed(&self) -> Self {
        let mut view = self.clone();
        view.strides.reverse();
        view.tensor_type.shape.reverse();
        view
    }

    /// The same elements in a shape that has other dimensions of one element; `None` if the rest
    /// differs.
    pub(crate) fn with_unit_axes(&self, shape: &[u64]) -> Option<Self> {
        let own = self.tensor_type.shape.iter().copied().zip(self.strides.iter().copied());
        let mut own = own.filter(|(size, _)| *size != 1);
        let strides = shape.iter().map(|size| match size {
            1 => Some(1),
            size => own.next().filter(|(it, _)| it == size).map(|(_, stride)| stride),
        });
        let strides: Vec<isize> = strides.collect::<Option<_>>()?;
        let tensor_type = TensorType { shape: shape.to_vec(), ..self.tensor_type.clone() };
        own.next().is_none().then(|| Self { tensor_type, strides, ..self.clone() })
    }

    /// The same elements in the same order, with axes that are taken together or taken apart.
    #[must_use]
    pub fn regrouped(&self, shape: &[u64]) -> Option<Self> {
        // How many elements lie inside of each axis: what one grouping has, the finer one has too.
        let inside = |shape: &[u64]| {
            let sizes = shape.iter().rev().filter(|size| **size != 1);
            let inside = sizes.scan(1_u64, |count, size| {
                *count = count.checked_mul(*size)?;
                Some(*count)
            });
            inside.collect::<Vec<u64>>()
        };
        let (own, other) = (inside(&self.tensor_type.shape), inside(shape));
        let (fine, coarse) = if own.len() < other.len() { (&other, &own) } else { (&own, &other) };
        let is_regrouped = own.last() == other.last() && coarse.iter().all(|it| fine.contains(it));
        if !is_regrouped || !self.is_contiguous() {
            return None;
        }
        let tensor_type = TensorType { shape: shape.to_vec(), ..self.tensor_type.clone() };
        Some(Self { strides: row_major(shape), tensor_type, ..self.clone() })
    }

    /// The part at an index of one dimension, without that dimension. The index must be in range.
    pub(crate) fn pick(&self, dimension: usize, index: usize) -> Self {
        let mut view = self.clone();
        view.first = step(self.first, index, self.strides[dimension]);
        view.strides.remove(dimension);
        view.tensor_type.shape.remove(dimension);
        view
    }

    /// Calls `visit` with the index in the buffer of each element, in order, until it returns
    /// false.
    pub(super) fn each_offset(&self, mut visit: impl FnMut(usize) -> bool) {
        self.each_row(|first, count, stride| {
            (0..count).all(|index| visit(step(first, index, stride)))
        });
    }

    /// Calls `visit` for each innermost row with the row's first index in the buffer, its number of
    /// elements and their distance, until it returns false.
    fn each_row(&self, mut visit: impl FnMut(usize, usize, isize) -> bool) {
        if self.count() == 0 {
            return;
        }
        if self.is_contiguous() {
            visit(self.first, self.count(), 1);
            return;
        }
        let shape: Vec<usize> = self.tensor_type.shape.iter().map(|it| *it as usize).collect();
        let Some((length, outer)) = shape.split_last() else { return };
        let stride = self.strides.last().copied().unwrap_or(1);
        let mut counters = vec![0; outer.len()];
        loop {
            let places = counters.iter().zip(&self.strides);
            let row = places.fold(self.first, |at, (index, stride)| step(at, *index, *stride));
            if !visit(row, *length, stride) {
                return;
            }
            // Advances like an odometer.
            let Some(dimension) = (0..outer.len()).rev().find(|it| counters[*it] + 1 < outer[*it])
            else {
                return;
            };
            counters[dimension] += 1;
            counters[dimension + 1..].fill(0);
        }
    }

    /// Calls `visit` with each element, in order, until it returns false.
    pub(crate) fn each(&self, mut visit: impl FnMut(Number) -> bool) {
        let element_type = self.tensor_type.element_type;
        let size = element_type.byte_count();
        self.each_row(|first, count, stride| {
            if stride != 1 || element_type.is_packed() || size == 0 {
                return (0..count).all(|index| {
                    let raw = self.raw(step(first, index, stride));
                    visit(Number::of_element(element_type, &raw))
                });
            }
            let mut start = first * size;
            let end = start + count * size;
            while start < end {
                let bytes = self.buffer.read(start, (end - start).min(CHUNK / size * size));
                let go_on = bytes
                    .chunks_exact(size)
                    .all(|bytes| visit(Number::of_element(element_type, bytes)));
                if !go_on || bytes.len() < size {
                    return false;
                }
                start += bytes.len();
            }
            true
        });
    }
}

/// The place `count` strides away from another one. A view has no place outside of its buffer.
pub(super) fn step(place: usize, count: usize, stride: isize) -> usize {
    place.wrapping_add_signed(stride.wrapping_mul(count as isize))
}

/// Strides of elements that follow each other without gaps.
fn row_major(shape: &[u64]) -> Vec<isize> {
    let mut strides = vec![1_isize; shape.len()];
    for index in (1..shape.len()).rev() {
        let length = isize::try_from(shape[index]).unwrap_or(isize::MAX);
        strides[index - 1] = strides[index].saturating_mul(length);
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_taken_together_and_apart_but_not_exchanged() {
        let buffer = Arc::new(Buffer::from_bytes(&[0; 96]).unwrap());
        let view = |ty: &str| {
            TensorView::new(Arc::clone(&buffer), TensorType::parse(ty).unwrap()).unwrap()
        };
        let is_regrouped = |ty: &str, shape: &[u64]| view(ty).regrouped(shape).is_some();
        assert!(is_regrouped("24xf32", &[4, 6]) && is_regrouped("4x6xf32", &[24]));
        assert!(is_regrouped("1x2x3x4xf32", &[2, 12]) && is_regrouped("2x12xf32", &[1, 2, 3, 4]));
        assert!(is_regrouped("4x6xf32", &[4, 1, 6]) && is_regrouped("1xf32", &[]));
        assert!(!is_regrouped("4x6xf32", &[6, 4]), "a transposition, perhaps");
        assert!(!is_regrouped("2x3x4xf32", &[4, 2, 3]) && !is_regrouped("24xf32", &[4, 5]));
        let (column, _) = view("4x6xf32").sliced("[:, 1:3]").unwrap();
        assert!(column.regrouped(&[8]).is_none(), "its elements do not lie together");
        assert_eq!(view("4x6xf32").regrouped(&[2, 2, 6]).unwrap().type_name(), "2x2x6xf32");
    }
}
