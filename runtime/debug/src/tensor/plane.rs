//! Planes of numbers as cells: a picture with fewer cells than there are numbers.

use super::view_error::ViewError;

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

/// Numbers in rows and columns: a tensor of at most two axes, or the distance of two.
pub(super) trait Plane: Sized {
    /// How many rows and columns there are.
    fn size(&self) -> Result<(usize, usize), ViewError>;

    /// A rectangle; what lies outside of the plane is cut off.
    fn part(&self, rectangle: Rectangle) -> Result<Self, ViewError>;

    /// Calls `visit` with each number, in order.
    fn each(&self, visit: &mut dyn FnMut(f64)) -> Result<(), ViewError>;

    /// The number in a row and a column.
    fn at(&self, row: usize, column: usize) -> f64;
}

impl Cells {
    /// A rectangle of a plane as at most `height` times `width` cells.
    pub(super) fn of(
        plane: &impl Plane,
        rectangle: Rectangle,
        (height, width): (usize, usize),
        reduction: Reduction,
    ) -> Result<Self, ViewError> {
        let part = plane.part(rectangle)?;
        let (rows, columns) = part.size()?;
        let (height, width) = (height.min(rows), width.min(columns));
        let is_whole = (height, width) == (rows, columns);
        let is_averaged = rows.saturating_mul(columns) <= MOST_AVERAGED;
        let reduction = if is_averaged { reduction } else { Reduction::First };
        let mut cells = Self {
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
            // The first number of each cell, and no other is read.
            for cell in 0..height * width {
                let row = (cell / width * rows).div_ceil(height);
                let column = (cell % width * columns).div_ceil(width);
                cells.add(cell, part.at(row, column), &mut 0);
            }
            return Ok(cells);
        }
        let columns_of_cells: Vec<usize> = (0..columns).map(|at| at * width / columns).collect();
        let mut counts = vec![0_u32; height * width];
        let (mut row, mut column) = (0, 0);
        part.each(&mut |value| {
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
