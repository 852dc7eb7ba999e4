//! Planes: two-dimensional strided windows of guest memory, and the loops over them.
//!
//! # Soundness
//!
//! [`Plane::new`] checks that every element of the window is within its buffer, and that a buffer
//! to be written is writable. A plane borrows its buffer, which keeps the memory in place. All
//! accesses copy single elements through raw, possibly unaligned pointers; no reference to guest
//! memory exists. So another plane may overlap the same memory (kernels then see their own writes,
//! element by element), and any bits are valid, as elements are plain data.

use std::marker::PhantomData;

use bytemuck::Pod;
use vm::{Access, Buffer, Status};

/// Rows and columns of elements in a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane<'a, T> {
    /// The first element; not accessed if there are no elements.
    first: *mut T,
    rows: usize,
    columns: usize,
    /// The distance between rows, in elements.
    row_stride: usize,
    column_stride: usize,
    buffer: PhantomData<&'a Buffer>,
}

/// The place of a plane in a buffer, in elements, as programs give it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The offset of the first element.
    pub(super) offset: i64,
    /// The distances between rows, and between elements of a row.
    pub(super) strides: [i64; 2],
    /// The numbers of rows and columns.
    pub(super) sizes: [i64; 2],
}

/// How a kernel uses a plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Use {
    Read,
    Write,
}

impl<'a, T: Pod> Plane<'a, T> {
    /// A window of a buffer. `name` names the operand in errors.
    ///
    /// # Errors
    /// The buffer does not have the whole window, or is read-only although the kernel writes to it.
    pub(super) fn new(
        name: &str,
        buffer: &'a Buffer,
        window: Window,
        purpose: Use,
    ) -> Result<Self, Status> {
        if purpose == Use::Write && buffer.access() == Access::ReadOnly {
            return Err(Status::permission_denied(format!(
                "{name}: buffer is read-only and cannot be mapped for mutation"
            )));
        }
        let Some(Extent { rows, columns, row_stride, column_stride, offset, end }) =
            Extent::of(window)
        else {
            return Err(Status::invalid_argument(format!(
                "buffer overflow for {name}: {window:?}"
            )));
        };
        let is_empty = rows == 0 || columns == 0;
        let fits = end.checked_mul(size_of::<T>()).is_some_and(|end| end <= buffer.len());
        if !fits && !is_empty {
            return Err(Status::out_of_range(format!(
                "out-of-bounds access detected for {name} (offset={}, length={}, alignment={}, \
                 buffer length={})",
                offset.saturating_mul(size_of::<T>()),
                (end - offset).saturating_mul(size_of::<T>()),
                size_of::<T>(),
                buffer.len()
            )));
        }
        let base = buffer.address().cast::<T>();
        // `wrapping_add`, as an empty window may start anywhere; a window with elements starts
        // inside the buffer.
        let first = base.wrapping_add(offset);
        Ok(Self { first, rows, columns, row_stride, column_stride, buffer: PhantomData })
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// How many elements a row has.
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// An element.
    ///
    /// # Panics
    /// There is no such element.
    #[inline]
    pub(super) fn get(&self, row: usize, column: usize) -> T {
        assert!(row < self.rows && column < self.columns);
        // SAFETY: the element is in the window; see the module's notes.
        unsafe { self.first.add(self.position(row, column)).read_unaligned() }
    }

    /// Changes an element.
    ///
    /// # Panics
    /// There is no such element.
    #[inline]
    pub(super) fn set(&self, row: usize, column: usize, value: T) {
        assert!(row < self.rows && column < self.columns);
        // SAFETY: the element is in the window, and kernels write only to planes that were made for
        // writing; see the module's notes.
        unsafe { self.first.add(self.position(row, column)).write_unaligned(value) };
    }

    #[inline(always)]
    fn position(&self, row: usize, column: usize) -> usize {
        row * self.row_stride + column * self.column_stride
    }
}

impl<T: Pod> Plane<'_, T> {
    /// Sets all elements.
    pub(super) fn fill(&self, value: T) {
        for row in 0..self.rows {
            for column in 0..self.columns {
                // SAFETY: as in `set`.
                unsafe { self.first.add(self.position(row, column)).write_unaligned(value) };
            }
        }
    }

    /// Sets each element to the result of `function` for the element at the same place in `source`.
    ///
    /// # Panics
    /// The planes differ in size.
    #[inline]
    pub(super) fn map<S: Pod>(&self, source: &Plane<'_, S>, function: impl Fn(S) -> T) {
        assert!((source.rows, source.columns) == (self.rows, self.columns));
        for row in 0..self.rows {
            for column in 0..self.columns {
                // SAFETY: both planes have this element; see `get` and `set`.
                unsafe {
                    let value = source.first.add(source.position(row, column)).read_unaligned();
                    let target = self.first.add(self.position(row, column));
                    target.write_unaligned(function(value));
                }
            }
        }
    }

    /// Sets each element to the result of `function` for the elements at the same place in two
    /// other planes.
    ///
    /// # Errors
    /// The first error of `function`. Elements that were set before it keep their new values.
    ///
    /// # Panics
    /// The planes differ in size.
    #[inline]
    pub(super) fn zip<S: Pod, E>(
        &self,
        left: &Plane<'_, S>,
        right: &Plane<'_, S>,
        function: impl Fn(S, S) -> Result<T, E>,
    ) -> Result<(), E> {
        assert!((left.rows, left.columns) == (self.rows, self.columns));
        assert!((right.rows, right.columns) == (self.rows, self.columns));
        for row in 0..self.rows {
            for column in 0..self.columns {
                // SAFETY: all three planes have this element; see `get` and `set`.
                unsafe {
                    let left = left.first.add(left.position(row, column)).read_unaligned();
                    let right = right.first.add(right.position(row, column)).read_unaligned();
                    let target = self.first.add(self.position(row, column));
                    target.write_unaligned(function(left, right)?);
                }
            }
        }
        Ok(())
    }
}

/// A window, checked: its numbers do not overflow.
struct Extent {
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
    offset: usize,
    /// The place after the last element; `offset` if there are none.
    end: usize,
}

impl Extent {
    /// `None` if a number is negative, or the place of an element overflows.
    fn of(window: Window) -> Option<Self> {
        let Window { offset, strides, sizes } = window;
        let number = |number: i64| usize::try_from(number).ok();
        let [rows, columns] = [number(sizes[0])?, number(sizes[1])?];
        let [row_stride, column_stride] = [number(strides[0])?, number(strides[1])?];
        let offset = number(offset)?;
        let end = if rows == 0 || columns == 0 {
            offset
        } else {
            let last_row = (rows - 1).checked_mul(row_stride)?;
            let last_column = (columns - 1).checked_mul(column_stride)?;
            last_row.checked_add(last_column)?.checked_add(offset)?.checked_add(1)?
        };
        Some(Self { rows, columns, row_stride, column_stride, offset, end })
    }
}

#[cfg(test)]
mod tests {
    use vm::StatusCode;

    use super::*;

    fn window(offset: i64, strides: [i64; 2], sizes: [i64; 2]) -> Window {
        Window { offset, strides, sizes }
    }

    #[test]
    fn windows_are_checked_to_the_last_element() {
        let buffer = Buffer::from_bytes(&[0; 48]).unwrap();
        for (place, code) in [
            (window(0, [4, 1], [3, 4]), None),
            (window(1, [4, 1], [3, 4]), Some(StatusCode::OutOfRange)),
            (window(0, [5, 1], [3, 4]), Some(StatusCode::OutOfRange)),
            (window(0, [5, 1], [3, 2]), None),
            (window(11, [0, 0], [1000, 1000]), None),
            (window(12, [0, 0], [1, 1]), Some(StatusCode::OutOfRange)),
            (window(i64::MAX, [1, 1], [0, 5]), None),
            (window(-1, [1, 1], [1, 1]), Some(StatusCode::InvalidArgument)),
            (window(0, [-1, 1], [2, 2]), Some(StatusCode::InvalidArgument)),
            (window(0, [i64::MAX, 1], [i64::MAX, 1]), Some(StatusCode::InvalidArgument)),
            (window(0, [1 << 61, 0], [2, 1]), Some(StatusCode::OutOfRange)),
        ] {
            let plane = Plane::<f32>::new("in", &buffer, place, Use::Read);
            assert_eq!(plane.err().map(|status| status.code), code, "{place:?}");
        }
    }

    #[test]
    fn read_only_memory_is_not_written() {
        let rodata = Buffer::of_file(vec![0; 8].into(), 0..8).unwrap();
        let place = window(0, [2, 1], [1, 2]);
        assert!(Plane::<u32>::new("in", &rodata, place, Use::Read).is_ok());
        let error = Plane::<u32>::new("out", &rodata, place, Use::Write).unwrap_err();
        assert_eq!(error.code, StatusCode::PermissionDenied);
    }
}
