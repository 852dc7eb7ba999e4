//! `pack` and `unpack`: matrices to tiles and back; and the query for tile sizes.
//!
//! ```text
//! unpacked [i][j]         i = a * A0 + b, j = c * C0 + d
//! packed   [a][c][b][d]   [c][a]… with the outer, […][d][b] with the inner dimensions transposed
//! ```
//! Elements of a tile beyond the edge of the matrix are padding. The first dimension of the packed
//! matrix has a stride; the tiles of a row are contiguous.

use bytemuck::Pod;
use vm::{NativeCall, NativeModuleBuilder, Status, Value};

use super::plane::{Plane, Use, Window};

const TYPE_MASK: u32 = 0xFF;
const TRANSPOSE_INNER: u32 = 0x100;
const TRANSPOSE_OUTER: u32 = 0x200;

/// Adds the functions to the module.
pub(super) fn declare(builder: NativeModuleBuilder) -> NativeModuleBuilder {
    builder
        .function("pack", "0rIIIrIIIIIIIIIIi_v", |call| {
            let flags = call.i32(15)? as u32;
            let padding = call.i64(14)? as u64;
            match element_bytes("pack", flags)? {
                1 => pack::<u8>(&call, flags, padding as u8),
                2 => pack::<u16>(&call, flags, padding as u16),
                _ => pack::<u32>(&call, flags, padding as u32),
            }
        })
        .function("unpack", "0rIIIrIIIIIIIIIi_v", |call| {
            let flags = call.i32(14)? as u32;
            match element_bytes("unpack", flags)? {
                1 => unpack::<u8>(&call, flags),
                2 => unpack::<u16>(&call, flags),
                _ => unpack::<u32>(&call, flags),
            }
        })
        .function("query_tile_sizes.2d", "0IIi_II", |call| {
            let [rows, columns] = tile_sizes(call.i32(2)? as u32)?;
            Ok(vec![Value::I64(rows), Value::I64(columns)])
        })
}

fn element_bytes(kernel: &str, flags: u32) -> Result<usize, Status> {
    match flags & TYPE_MASK {
        0x01 | 0x03 => Ok(4),
        0x02 => Ok(1),
        0x04 | 0x05 => Ok(2),
        other => Err(Status::invalid_argument(format!(
            "unhandled flags: there is no {kernel} for elements of kind {other:#04x}"
        ))),
    }
}

/// How tiles are laid out in the packed matrix.
struct Tiling {
    /// The sizes of the unpacked matrix, in tiles.
    outer: [usize; 2],
    /// The sizes of a tile in the unpacked matrix.
    tile: [usize; 2],
    /// Elements of a tile.
    tile_elements: usize,
    is_inner_transposed: bool,
    is_outer_transposed: bool,
}

impl Tiling {
    /// The tiling of a packed matrix with these sizes.
    fn new(sizes: [i64; 4], flags: u32) -> Result<Self, Status> {
        let mut numbers = [0; 4];
        for (number, size) in numbers.iter_mut().zip(sizes) {
            let size = usize::try_from(size).ok().filter(|size| *size <= i32::MAX as usize);
            *number = size.ok_or_else(|| {
                Status::invalid_argument("a size of a packed matrix is out of range")
            })?;
        }
        let [mut outer0, mut outer1, mut tile0, mut tile1] = numbers;
        let is_inner_transposed = flags & TRANSPOSE_INNER != 0;
        let is_outer_transposed = flags & TRANSPOSE_OUTER != 0;
        if is_outer_transposed {
            std::mem::swap(&mut outer0, &mut outer1);
        }
        if is_inner_transposed {
            std::mem::swap(&mut tile0, &mut tile1);
        }
        Ok(Self {
            outer: [outer0, outer1],
            tile: [tile0, tile1],
            tile_elements: tile0 * tile1,
            is_inner_transposed,
            is_outer_transposed,
        })
    }

    /// Fails unless the tiles cover a matrix of this size.
    fn check_covers(&self, rows: usize, columns: usize) -> Result<(), Status> {
        let covers = |index: usize, size: usize| self.outer[index] * self.tile[index] >= size;
        if covers(0, rows) && covers(1, columns) {
            return Ok(());
        }
        Err(Status::invalid_argument(format!(
            "{}x{} tiles of {}x{} do not cover a matrix of {rows}x{columns}",
            self.outer[0], self.outer[1], self.tile[0], self.tile[1]
        )))
    }

    /// The packed matrix as a plane: one row for each index of its first dimension.
    fn window(&self, offset: i64, row_stride: i64) -> Window {
        let [outer0, outer1] = self.packed_outer();
        // Each factor fits 31 bits, but three of them may not.
        let columns = (outer1 as i64).saturating_mul(self.tile_elements as i64);
        Window { offset, strides: [row_stride, 1], sizes: [outer0 as i64, columns] }
    }

    fn packed_outer(&self) -> [usize; 2] {
        let [outer0, outer1] = self.outer;
        if self.is_outer_transposed { [outer1, outer0] } else { [outer0, outer1] }
    }

    /// Where element `[b][d]` of tile `[a][c]` is in that plane.
    #[inline]
    fn position(&self, [a, c]: [usize; 2], [b, d]: [usize; 2]) -> (usize, usize) {
        let (row, tile) = if self.is_outer_transposed { (c, a) } else { (a, c) };
        let inner =
            if self.is_inner_transposed { d * self.tile[0] + b } else { b * self.tile[1] + d };
        (row, tile * self.tile_elements + inner)
    }

    /// Calls `visit` for every element of every tile, with its places in the unpacked and in the
    /// packed matrix.
    #[inline]
    fn visit(&self, mut visit: impl FnMut((usize, usize), (usize, usize))) {
        if self.tile_elements == 0 {
            return;
        }
        for a in 0..self.outer[0] {
            for c in 0..self.outer[1] {
                for b in 0..self.tile[0] {
                    for d in 0..self.tile[1] {
                        let unpacked = (a * self.tile[0] + b, c * self.tile[1] + d);
                        visit(unpacked, self.position([a, c], [b, d]));
                    }
                }
            }
        }
    }
}

fn pack<T: Pod>(call: &NativeCall<'_>, flags: u32, padding: T) -> Result<(), Status> {
    let sizes = [call.i64(10)?, call.i64(11)?, call.i64(12)?, call.i64(13)?];
    let tiling = Tiling::new(sizes, flags)?;
    let window = Window {
        offset: call.i64(1)?,
        strides: [call.i64(2)?, call.i64(3)?],
        sizes: [call.i64(8)?, call.i64(9)?],
    };
    let source = Plane::<T>::new("in", call.buffer(0)?, window, Use::Read)?;
    let window = tiling.window(call.i64(5)?, call.i64(6)?);
    let target = Plane::<T>::new("out", call.buffer(4)?, window, Use::Write)?;
    tiling.check_covers(source.rows(), source.columns())?;
    tiling.visit(|(row, column), (packed_row, packed_column)| {
        let is_inside = row < source.rows() && column < source.columns();
        let value = if is_inside { source.get(row, column) } else { padding };
        target.set(packed_row, packed_column, value);
    });
    Ok(())
}

fn unpack<T: Pod>(call: &NativeCall<'_>, flags: u32) -> Result<(), Status> {
    let sizes = [call.i64(8)?, call.i64(9)?, call.i64(10)?, call.i64(11)?];
    let tiling = Tiling::new(sizes, flags)?;
    let window = tiling.window(call.i64(1)?, call.i64(2)?);
    let source = Plane::<T>::new("in", call.buffer(0)?, window, Use::Read)?;
    let window = Window {
        offset: call.i64(5)?,
        strides: [call.i64(6)?, call.i64(7)?],
        sizes: [call.i64(12)?, call.i64(13)?],
    };
    let target = Plane::<T>::new("out", call.buffer(4)?, window, Use::Write)?;
    tiling.check_covers(target.rows(), target.columns())?;
    tiling.visit(|(row, column), (packed_row, packed_column)| {
        if row < target.rows() && column < target.columns() {
            target.set(row, column, source.get(packed_row, packed_column));
        }
    });
    Ok(())
}

/// The tile sizes that this implementation prefers for an operand of a matrix product, for programs
/// that do not choose them. Any sizes work; these fill a cache line.
fn tile_sizes(flags: u32) -> Result<[i64; 2], Status> {
    const M: i64 = 8;
    const N: i64 = 8;
    const K: i64 = 4;
    let operation = flags >> 8 & 0xFF;
    if !(0x01..=0x06).contains(&operation) {
        return Err(Status::invalid_argument(format!(
            "there are no tile sizes for operation {operation:#04x}"
        )));
    }
    match flags & 0xFF {
        0x01 => Ok([M, K]),
        0x02 => Ok([N, K]),
        0x03 => Ok([M, N]),
        role => Err(Status::invalid_argument(format!(
            "a matrix product has no operand of role {role:#04x}"
        ))),
    }
}
