//! Parts of a tensor to look at: a slice with at most two axes, a window of it, and the window with
//! fewer cells than it has elements.

use super::elements::{Block, Reader};
use super::view::{Slice, TensorView};

/// The most elements that are averaged; of more, each cell shows one element.
const MOST_AVERAGED: usize = 1 << 24;

/// A rectangle of a plane: its first row and column, and how many there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rectangle {
    /// The first row.
    pub row: usize,
    /// The first column.
    pub column: usize,
    /// How many rows.
    pub rows: usize,
    /// How many columns.
    pub columns: usize,
}

/// What a cell shows of the elements that it covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// The mean of those that are finite.
    Mean,
    /// The one with the largest magnitude.
    Extreme,
    /// The first.
    First,
}

/// A window as cells.
#[derive(Clone, PartialEq, Debug)]
pub struct Cells {
    /// How many rows of cells.
    pub height: usize,
    /// How many columns of cells.
    pub width: usize,
    /// What the cells show, if they cover more than one element.
    pub reduction: Reduction,
    /// Row by row; NaN for a cell without a finite element.
    pub values: Vec<f64>,
    /// For each cell, what its elements include: 1 for NaN, 2 for positive infinity, 4 for
    /// negative infinity.
    pub marks: Vec<u8>,
}

const NAN: u8 = 1;
const POSITIVE_INFINITY: u8 = 2;
const NEGATIVE_INFINITY: u8 = 4;

impl TensorView {
    /// The size of each axis.
    #[must_use]
    pub fn shape_sizes(&self) -> &[u64] {
        self.shape()
    }

    /// The type of the elements, `f32`.
    #[must_use]
    pub fn element_type_name(&self) -> String {
        self.tensor_type().element_type.to_string()
    }

    /// The part that a slice as NumPy writes it names, `[3, :, 2:8, 0]`, and the axes that it
    /// keeps.
    ///
    /// # Errors
    /// It is no slice of this tensor.
    pub fn sliced(&self, text: &str) -> Result<(Self, Vec<usize>), String> {
        let bare = text.trim();
        let bare = bare.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(bare);
        let parts: Vec<&str> = match bare.trim() {
            "" => Vec::new(),
            bare => bare.split(',').map(str::trim).collect(),
        };
        let rank = self.shape().len();
        if parts.len() > rank {
            return Err(format!("{} indices for {rank} axes", parts.len()));
        }
        let mut part = self.clone();
        let mut kept = Vec::new();
        // Dimensions that are picked leave, so the later ones move.
        for axis in 0..rank {
            let length = usize::try_from(self.shape()[axis]).unwrap_or(usize::MAX);
            match parts.get(axis).copied().unwrap_or(":").split_once(':') {
                Some((start, end)) => {
                    let at = |text: &str, default| match text.trim() {
                        "" => Ok(default),
                        text => bound(text, length),
                    };
                    let (end, step) = end.split_once(':').unwrap_or((end, ""));
                    let (start, end) = (at(start, 0)?, at(end, length)?);
                    let step = match step.trim() {
                        "" => 1,
                        step => step
                            .parse()
                            .ok()
                            .filter(|step| *step > 0)
                            .ok_or_else(|| format!("{step} is no step"))?,
                    };
                    part = part.slice(kept.len(), Slice { start, end: end.max(start), step });
                    kept.push(axis);
                }
                None => {
                    let text = parts[axis];
                    let index = index(text, length).ok_or_else(|| {
                        format!("{text} is no index of axis {axis}, which has {length}")
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
    pub fn plane(&self) -> Result<(usize, usize), String> {
        let size = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
        match *self.shape() {
            [] => Ok((1, 1)),
            [columns] => Ok((1, size(columns))),
            [rows, columns] => Ok((size(rows), size(columns))),
            ref shape => Err(format!("{} axes are left, and two can be shown", shape.len())),
        }
    }

    /// A rectangle of a plane; what lies outside of the plane is cut off.
    fn part(&self, rectangle: Rectangle) -> Result<Self, String> {
        let (rows, columns) = self.plane()?;
        let cut = |start: usize, count: usize, length: usize| {
            let start = start.min(length);
            Slice { start, end: start.saturating_add(count).min(length), step: 1 }
        };
        let columns = cut(rectangle.column, rectangle.columns, columns);
        Ok(match self.shape().len() {
            0 => self.clone(),
            1 => self.slice(0, columns),
            _ => self.slice(0, cut(rectangle.row, rectangle.rows, rows)).slice(1, columns),
        })
    }

    /// A rectangle of a plane as at most `height` times `width` cells.
    ///
    /// # Errors
    /// It has more than two axes, or elements without values.
    pub fn cells(
        &self,
        rectangle: Rectangle,
        (height, width): (usize, usize),
        reduction: Reduction,
    ) -> Result<Cells, String> {
        let part = self.part(rectangle)?;
        let (rows, columns) = part.plane()?;
        let (height, width) = (height.min(rows), width.min(columns));
        let is_whole = (height, width) == (rows, columns);
        let reduction = if part.count() > MOST_AVERAGED { Reduction::First } else { reduction };
        let mut cells = Cells {
            height,
            width,
            reduction,
            values: vec![f64::NAN; height * width],
            marks: vec![0; height * width],
        };
        if height == 0 || width == 0 {
            return Ok(cells);
        }
        if reduction == Reduction::First && !is_whole {
            part.first_of_each(&mut cells, rows, columns)?;
            return Ok(cells);
        }
        let columns_of_cells: Vec<usize> = (0..columns).map(|at| at * width / columns).collect();
        let mut counts = vec![0_u32; height * width];
        let (mut row, mut column) = (0, 0);
        part.each_float(|value| {
            let cell = row * height / rows * width + columns_of_cells[column];
            cells.add(cell, value, &mut counts[cell]);
            column += 1;
            if column == columns {
                (row, column) = (row + 1, 0);
            }
        })?;
        if reduction == Reduction::Mean {
            for (value, count) in cells.values.iter_mut().zip(&counts) {
                *value /= f64::from(*count);
            }
        }
        Ok(cells)
    }

    /// Shows the first element of each cell, and reads no other.
    fn first_of_each(&self, cells: &mut Cells, rows: usize, columns: usize) -> Result<(), String> {
        let (height, width) = (cells.height, cells.width);
        for cell in 0..height * width {
            // The first row or column that is the cell's.
            let row = (cell / width * rows).div_ceil(height);
            let column = (cell % width * columns).div_ceil(width);
            let one = Rectangle { row, column, rows: 1, columns: 1 };
            let mut count = 0;
            self.part(one)?.each_float(|value| cells.add(cell, value, &mut count))?;
        }
        Ok(())
    }

    /// The texts of a rectangle's elements, row by row, at most `most`.
    ///
    /// # Errors
    /// It has more than two axes.
    pub fn texts(&self, rectangle: Rectangle, most: usize) -> Result<Vec<String>, String> {
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

    /// Calls `visit` with each element as a float, in order.
    pub(super) fn each_float(&self, mut visit: impl FnMut(f64)) -> Result<(), String> {
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

impl Cells {
    fn add(&mut self, cell: usize, value: f64, count: &mut u32) {
        if !value.is_finite() {
            self.marks[cell] |= match value {
                _ if value.is_nan() => NAN,
                _ if value > 0.0 => POSITIVE_INFINITY,
                _ => NEGATIVE_INFINITY,
            };
            return;
        }
        let known = &mut self.values[cell];
        *known = match self.reduction {
            _ if *count == 0 => value,
            Reduction::Mean => *known + value,
            Reduction::Extreme if value.abs() > known.abs() => value,
            Reduction::Extreme | Reduction::First => *known,
        };
        *count += 1;
    }
}

/// An index of an axis; from the end, if it is negative.
fn index(text: &str, length: usize) -> Option<usize> {
    let number: i128 = text.parse().ok()?;
    let length = length as i128;
    let index = if number < 0 { number + length } else { number };
    (0..length).contains(&index).then(|| usize::try_from(index).ok()).flatten()
}

/// A bound of a slice; cut off at the ends, as NumPy does.
fn bound(text: &str, length: usize) -> Result<usize, String> {
    let number: i128 = text.parse().map_err(|_| format!("{text} is no index"))?;
    let length = length as i128;
    let bound = if number < 0 { number + length } else { number }.clamp(0, length);
    usize::try_from(bound).map_err(|_| format!("{text} is no index"))
}
