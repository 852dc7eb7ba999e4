//! `mmt4d`: the product of a packed matrix and a packed transposed matrix.
//!
//! ```text
//! lhs [m][k][m0][k0]    rhs [n][k][n0][k0]    out [m][n][m0][n0]
//! out[i][j][i0][j0] (+)= sum over l, l0 of lhs[i][l][i0][l0] * rhs[j][l][j0][l0]
//! ```
//! Each outermost row is contiguous; rows are a stride apart. Rows of both operands are widened to
//! the type of the sums before they are multiplied. The right operand is rearranged with `n0`
//! innermost, so that the innermost loop accesses memory in order.

use bytemuck::Pod;
use half::{bf16, f16};
use vm::{Buffer, NativeCall, NativeModuleBuilder, Status};

use super::plane::{Plane, Use, Window};

/// Flags: the element types.
const TYPE_MASK: u32 = 0xFF;
/// Flags: adds to the contents of `out`.
const ACCUMULATE: u32 = 0x100;
/// Flags: sums of 16-bit floats are rounded once, at the end.
const SKIP_INTERMEDIATE_ROUNDINGS: u32 = 0x400;

/// Adds the function to the module.
pub(super) fn declare(builder: NativeModuleBuilder) -> NativeModuleBuilder {
    builder.function("mmt4d", "0rIIrIIrIIIIIiiii_v", |call| {
        let product = Product::new(&call)?;
        let is_rounding = product.flags & SKIP_INTERMEDIATE_ROUNDINGS == 0;
        match product.flags & TYPE_MASK {
            0x01 => product.run::<f32, f32, f32, f32>(same, same, add_f32, same, same),
            0x02 => product.run::<i8, i8, i32, i32>(i32::from, i32::from, add_i32, same, same),
            0x03 => product.run(f16_to_f32, f16_to_f32, add_f32, same, same),
            0x04 if is_rounding => {
                let add = |sum, a, b| f16::from_f32(add_f32(sum, a, b)).to_f32();
                product.run(f16_to_f32, f16_to_f32, add, f16_to_f32, f32_to_f16)
            }
            0x04 => product.run(f16_to_f32, f16_to_f32, add_f32, f16_to_f32, f32_to_f16),
            0x05 => product.run(bf16_to_f32, bf16_to_f32, add_f32, same, same),
            0x06 if is_rounding => {
                let add = |sum, a, b| bf16::from_f32(add_f32(sum, a, b)).to_f32();
                product.run(bf16_to_f32, bf16_to_f32, add, bf16_to_f32, f32_to_bf16)
            }
            0x06 => product.run(bf16_to_f32, bf16_to_f32, add_f32, bf16_to_f32, f32_to_bf16),
            0x07 => product.run::<i16, i16, i32, i32>(i32::from, i32::from, add_i32, same, same),
            0x09 => product.run::<i16, i8, i32, i32>(i32::from, i32::from, add_i32, same, same),
            other => Err(Status::invalid_argument(format!(
                "unhandled flags: there is no mmt4d for elements of kind {other:#04x}"
            ))),
        }
    })
}

fn same<T>(value: T) -> T {
    value
}

fn add_f32(sum: f32, a: f32, b: f32) -> f32 {
    sum + a * b
}

fn add_i32(sum: i32, a: i32, b: i32) -> i32 {
    sum.wrapping_add(a.wrapping_mul(b))
}

fn f16_to_f32(bits: u16) -> f32 {
    f16::from_bits(bits).to_f32()
}

fn f32_to_f16(value: f32) -> u16 {
    f16::from_f32(value).to_bits()
}

fn bf16_to_f32(bits: u16) -> f32 {
    bf16::from_bits(bits).to_f32()
}

fn f32_to_bf16(value: f32) -> u16 {
    bf16::from_f32(value).to_bits()
}

/// A matrix operand: its buffer, and the offset and stride of its rows, in elements.
#[derive(Clone, Copy)]
struct Operand<'a> {
    buffer: &'a Buffer,
    offset: i64,
    row_stride: i64,
}

impl<'a> Operand<'a> {
    fn new(call: &NativeCall<'a>, first: usize) -> Result<Self, Status> {
        Ok(Self {
            buffer: call.buffer(first)?,
            offset: call.i64(first + 1)?,
            row_stride: call.i64(first + 2)?,
        })
    }

    /// The rows as a plane of contiguous elements.
    fn plane<T: Pod>(
        self,
        name: &str,
        rows: usize,
        columns: usize,
        purpose: Use,
    ) -> Result<Plane<'a, T>, Status> {
        let sizes = [rows, columns].map(|size| i64::try_from(size).unwrap_or(i64::MAX));
        let strides = [self.row_stride, 1];
        Plane::new(name, self.buffer, Window { offset: self.offset, strides, sizes }, purpose)
    }
}

/// The arguments of a call.
struct Product<'a> {
    lhs: Operand<'a>,
    rhs: Operand<'a>,
    out: Operand<'a>,
    /// Outer sizes.
    m: usize,
    n: usize,
    k: usize,
    /// Tile sizes.
    m0: usize,
    n0: usize,
    k0: usize,
    flags: u32,
}

impl<'a> Product<'a> {
    fn new(call: &NativeCall<'a>) -> Result<Self, Status> {
        let size = |size: i64| {
            let size = usize::try_from(size).ok().filter(|size| *size <= i32::MAX as usize);
            size.ok_or_else(|| Status::invalid_argument("mmt4d: a size is out of range"))
        };
        Ok(Self {
            lhs: Operand::new(call, 0)?,
            rhs: Operand::new(call, 3)?,
            out: Operand::new(call, 6)?,
            m: size(call.i64(9)?)?,
            n: size(call.i64(10)?)?,
            k: size(call.i64(11)?)?,
            m0: size(call.i32(12)?.into())?,
            n0: size(call.i32(13)?.into())?,
            k0: size(call.i32(14)?.into())?,
            flags: call.i32(15)? as u32,
        })
    }

    /// Multiplies. `L`, `R` and `O` are the element types of the matrices, `S` is the type of the
    /// sums.
    fn run<L: Pod, R: Pod, S: Copy + Default, O: Pod>(
        &self,
        widen_lhs: impl Fn(L) -> S,
        widen_rhs: impl Fn(R) -> S,
        add_product: impl Fn(S, S, S) -> S,
        widen_out: impl Fn(O) -> S,
        narrow: impl Fn(S) -> O,
    ) -> Result<(), Status> {
        let Self { m, n, k, m0, n0, k0, .. } = *self;
        let row = |outer: usize, tile0: usize, tile1: usize| {
            let columns = tile0.checked_mul(tile1).and_then(|tile| tile.checked_mul(outer));
            columns.ok_or_else(|| Status::invalid_argument("mmt4d: a row is too long"))
        };
        let (lhs_row, rhs_row) = (row(k, m0, k0)?, row(k, n0, k0)?);
        let lhs = self.lhs.plane::<L>("lhs", m, lhs_row, Use::Read)?;
        let rhs = self.rhs.plane::<R>("rhs", n, rhs_row, Use::Read)?;
        let out = self.out.plane::<O>("out", m, row(n, m0, n0)?, Use::Write)?;
        if m == 0 || out.columns() == 0 {
            return Ok(());
        }
        let mut lhs_panel = vec![S::default(); lhs_row];
        let mut rhs_panel = vec![S::default(); rhs_row];
        let mut sums = vec![S::default(); m0 * n0];
        for j in 0..n {
            for (at, value) in rhs_panel.iter_mut().enumerate() {
                // `at` counts [k][k0][n0].
                let (l, l0, j0) = (at / (k0 * n0), at / n0 % k0, at % n0);
                *value = widen_rhs(rhs.get(j, (l * n0 + j0) * k0 + l0));
            }
            for i in 0..m {
                for (at, value) in lhs_panel.iter_mut().enumerate() {
                    *value = widen_lhs(lhs.get(i, at));
                }
                for (at, sum) in sums.iter_mut().enumerate() {
                    let is_adding = self.flags & ACCUMULATE != 0;
                    *sum = if is_adding {
                        widen_out(out.get(i, j * m0 * n0 + at))
                    } else {
                        S::default()
                    };
                }
                if k0 > 0 {
                    multiply(&lhs_panel, &rhs_panel, &mut sums, [m0, n0, k0], &add_product);
                }
                for (at, sum) in sums.iter().enumerate() {
                    out.set(i, j * m0 * n0 + at, narrow(*sum));
                }
            }
        }
        Ok(())
    }
}

/// Adds the products of two panels to the sums of one tile.
fn multiply<S: Copy>(
    lhs: &[S],
    rhs: &[S],
    sums: &mut [S],
    [m0, n0, k0]: [usize; 3],
    add_product: impl Fn(S, S, S) -> S,
) {
    for (lhs, rhs) in lhs.chunks_exact(m0 * k0).zip(rhs.chunks_exact(n0 * k0)) {
        for (lhs, sums) in lhs.chunks_exact(k0).zip(sums.chunks_exact_mut(n0)) {
            for (a, rhs) in lhs.iter().zip(rhs.chunks_exact(n0)) {
                for (sum, b) in sums.iter_mut().zip(rhs) {
                    *sum = add_product(*sum, *a, *b);
                }
            }
        }
    }
}
