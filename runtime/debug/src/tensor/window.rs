//! Parts of a tensor to look at: a slice with at most two axes, and a window of it.

use super::elements::{Block, Reader};
use super::number::Number;
use super::plane::{Cells, Plane, Rectangle, Reduction};
use super::slice::Slice;
use super::view::{TensorView, step};
use super::view_error::{SliceError, ViewError};

impl TensorView {
    /// The type of the elements, `f32`.
    #[must_use]
    pub fn element_type_name(&self) -> String {
        self.tensor_type().element_type.to_string()
    }

    /// The slice that is shown first: the first of the outer axes, and the last two in whole.
    #[must_use]
    pub fn first_slice(&self) -> String {
        let rank = self.shape().len();
        let parts = (0..rank).map(|axis| if axis + 2 < rank { "0" } else { ":" });
        format!("[{}]", parts.collect::<Vec<_>>().join(", "))
    }

    /// The part that a slice as NumPy writes it names, `[3, :, 2:8, 0]`, and the axes that it
    /// keeps.
    ///
    /// # Errors
    /// It is no slice of this tensor.
    pub fn sliced(&self, text: &str) -> Result<(Self, Vec<usize>), ViewError> {
        let bare = text.trim();
        let bare = bare.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(bare);
        let parts: Vec<&str> = match bare.trim() {
            "" => Vec::new(),
            bare => bare.split(',').map(str::trim).collect(),
        };
        let rank = self.shape().len();
        if parts.len() > rank {
            let (indices, axes) = (parts.len(), rank);
            return Err(SliceError::TooManyIndices { indices, axes }.into());
        }
        let mut part = self.clone();
        let mut kept = Vec::new();
        // Dimensions that are picked leave, so the later ones move.
        for axis in 0..rank {
            let length = usize::try_from(self.shape()[axis]).unwrap_or(usize::MAX);
            match parts.get(axis).copied().unwrap_or(":").split_once(':') {
                Some((start, end)) => {
                    let number = |text: &str| match text.trim() {
                        "" => Ok(None),
                        text => match text.parse::<i128>() {
                            Ok(number) => Ok(Some(number)),
                            Err(_) => Err(SliceError::NoIndex(text.to_owned())),
                        },
                    };
                    let (end, step) = end.split_once(':').unwrap_or((end, ""));
                    let no_step = || SliceError::NoStep(step.trim().to_owned());
                    let (start, end) = (number(start)?, number(end)?);
                    let by = number(step).map_err(|_| no_step())?.unwrap_or(1);
                    let slice = Slice::of(start, end, by, length).ok_or_else(no_step)?;
                    part = part.slice(kept.len(), slice);
                    kept.push(axis);
                }
                None => {
                    let text = parts[axis];
                    let index = text.parse().ok().and_then(|it| Slice::index(it, length));
                    let index = index.ok_or_else(|| {
                        let text = text.to_owned();
                        SliceError::OutsideAxis { text, axis, length }
                    })?;
                    part = part.pick(kept.len(), index);
                }
            }
        }
        Ok((part, kept))
    }

    /// How many rows and columns a tensor of at most two axes has; one of one axis is a row.
    ///
    /// # Errors
    /// It has more axes.
    pub fn plane(&self) -> Result<(usize, usize), ViewError> {
        let size = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
        match *self.shape() {
            [] => Ok((1, 1)),
            [columns] => Ok((1, size(columns))),
            [rows, columns] => Ok((size(rows), size(columns))),
            ref shape => Err(ViewError::TooManyAxes { axes: shape.len() }),
        }
    }

    /// A rectangle of a plane as at most `height` times `width` cells.
    ///
    /// # Errors
    /// It has more than two axes, or elements without values.
    pub fn cells(
        &self,
        rectangle: Rectangle,
        size: (usize, usize),
        reduction: Reduction,
    ) -> Result<Cells, ViewError> {
        Cells::of(self, rectangle, size, reduction)
    }

    /// The number of the element with a number in order.
    pub(super) fn number_at(&self, index: usize) -> Number {
        self.number_of_offset(self.offset_of(index))
    }

    /// The number in a row and a column of a plane.
    pub(super) fn number_in(&self, row: usize, column: usize) -> Number {
        let at = match *self.strides() {
            [] => self.first(),
            [columns] => step(self.first(), column, columns),
            [rows, columns, ..] => step(step(self.first(), row, rows), column, columns),
        };
        self.number_of_offset(at)
    }

    fn number_of_offset(&self, offset: usize) -> Number {
        Number::of_element(self.tensor_type().element_type, &self.raw(offset))
    }

    /// The texts of a rectangle's elements, row by row, at most `most`.
    ///
    /// # Errors
    /// It has more than two axes.
    pub fn texts(&self, rectangle: Rectangle, most: usize) -> Result<Vec<String>, ViewError> {
        let part = self.part(rectangle)?;
        let mut texts = Vec::new();
        if most > 0 {
            part.each_offset(|at| {
                texts.push(part.element(at));
                texts.len() < most
            });
        }
        Ok(texts)
    }

    /// The same texts with all digits that tell an element from its neighbours.
    ///
    /// # Errors
    /// It has more than two axes.
    pub fn exact_texts(&self, rectangle: Rectangle, most: usize) -> Result<Vec<String>, ViewError> {
        let part = self.part(rectangle)?;
        let is_narrow = self.tensor_type().element_type.bits <= 32;
        let mut texts = Vec::new();
        if most > 0 {
            part.each_offset(|at| {
                texts.push(match part.number_of_offset(at) {
                    Number::Float(value) if is_narrow => format!("{:?}", value as f32),
                    Number::Float(value) => format!("{value:?}"),
                    number => number.to_string(),
                });
                texts.len() < most
            });
        }
        Ok(texts)
    }

    /// The bits of a rectangle's elements, as `0x3f800000`, row by row, at most `most`.
    ///
    /// # Errors
    /// It has more than two axes.
    pub fn bit_texts(&self, rectangle: Rectangle, most: usize) -> Result<Vec<String>, ViewError> {
        let part = self.part(rectangle)?;
        let width = usize::from(self.element_type().bits).div_ceil(4);
        let mut texts = Vec::new();
        if most > 0 {
            part.each_offset(|at| {
                texts.push(format!("0x{:0width$x}", part.bits_at(at)));
                texts.len() < most
            });
        }
        Ok(texts)
    }

    /// Calls `visit` with each element as a float, in order.
    pub(super) fn each_float(&self, mut visit: impl FnMut(f64)) -> Result<(), ViewError> {
        let mut reader = Reader::new(self)?;
        while let Some(block) = reader.read(usize::MAX)? {
            match block {
                Block::I8(values) => values.iter().for_each(|it| visit(f64::from(*it))),
                Block::I16(values) => values.iter().for_each(|it| visit(f64::from(*it))),
                Block::I32(values) => values.iter().for_each(|it| visit(f64::from(*it))),
                Block::I64(values) => values.iter().for_each(|it| visit(*it as f64)),
                Block::U8(values) => values.iter().for_each(|it| visit(f64::from(*it))),
                Block::U16(values) => values.iter().for_each(|it| visit(f64::from(*it))),
                Block::U32(values) => values.iter().for_each(|it| visit(f64::from(*it))),
                Block::U64(values) => values.iter().for_each(|it| visit(*it as f64)),
                Block::F32(values) => values.iter().for_each(|it| visit(f64::from(*it))),
                Block::F64(values) => values.iter().for_each(|it| visit(*it)),
            }
        }
        Ok(())
    }
}

impl Plane for TensorView {
    fn size(&self) -> Result<(usize, usize), ViewError> {
        self.plane()
    }

    /// A rectangle of a plane; what lies outside of the plane is cut off.
    fn part(&self, rectangle: Rectangle) -> Result<Self, ViewError> {
        let (rows, columns) = self.plane()?;
        let cut = |start: usize, count: usize, length: usize| {
            let start = start.min(length);
            Slice::between(start, start.saturating_add(count).min(length))
        };
        let columns = cut(rectangle.column, rectangle.columns, columns);
        Ok(match self.shape().len() {
            0 => self.clone(),
            1 => self.slice(0, columns),
            _ => self.slice(0, cut(rectangle.row, rectangle.rows, rows)).slice(1, columns),
        })
    }

    fn each(&self, visit: &mut dyn FnMut(f64)) -> Result<(), ViewError> {
        self.each_float(visit)
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.number_in(row, column).float()
    }
}
