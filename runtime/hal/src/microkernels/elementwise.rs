//! Elementwise kernels: unary and binary operations on 32-bit elements, copies and fills.
//!
//! Integers wrap. What C leaves undefined is defined here: shift amounts are taken modulo 32, as on
//! the machines that IREE compiles for; division by zero is an error; the one signed quotient that
//! overflows wraps.

use bytemuck::Pod;
use vm::{NativeCall, NativeModuleBuilder, Status};

use super::plane::{Plane, Use, Window};

const UNARY: &str = "0rIIIrIIIII_v";
const BINARY: &str = "0rIIIrIIIrIIIII_v";

/// Adds the functions to the module.
pub(super) fn declare(builder: NativeModuleBuilder) -> NativeModuleBuilder {
    let builder = declare_unary(builder);
    let builder = declare_binary(builder);
    builder
        .function("copy.2d.x8", UNARY, |call| unary(call, |value: u8| value))
        .function("copy.2d.x16", UNARY, |call| unary(call, |value: u16| value))
        .function("copy.2d.x32", UNARY, |call| unary(call, |value: u32| value))
        .function("copy.2d.x64", UNARY, |call| unary(call, |value: u64| value))
        .function("fill.2d.x32", "0irIIII_v", |call| {
            let strides = [call.i64(3)?, 1];
            let sizes = [call.i64(4)?, call.i64(5)?];
            let window = Window { offset: call.i64(2)?, strides, sizes };
            let target = Plane::<i32>::new("out", call.buffer(1)?, window, Use::Write)?;
            target.fill(call.i32(0)?);
            Ok(())
        })
}

fn declare_unary(builder: NativeModuleBuilder) -> NativeModuleBuilder {
    builder
        .function("abs.2d.f32", UNARY, |call| unary(call, f32::abs))
        .function("ceil.2d.f32", UNARY, |call| unary(call, f32::ceil))
        .function("ctlz.2d.i32", UNARY, |call| unary(call, u32::leading_zeros))
        .function("exp.2d.f32", UNARY, |call| unary(call, f32::exp))
        .function("floor.2d.f32", UNARY, |call| unary(call, f32::floor))
        .function("log.2d.f32", UNARY, |call| unary(call, f32::ln))
        .function("neg.2d.f32", UNARY, |call| unary(call, |value: f32| -value))
        .function("rsqrt.2d.f32", UNARY, |call| unary(call, |value: f32| 1.0 / value.sqrt()))
}

fn declare_binary(builder: NativeModuleBuilder) -> NativeModuleBuilder {
    builder
        .function("add.2d.f32", BINARY, |call| binary(call, |a: f32, b| Ok(a + b)))
        .function("add.2d.i32", BINARY, |call| binary(call, |a: u32, b| Ok(a.wrapping_add(b))))
        .function("and.2d.i32", BINARY, |call| binary(call, |a: u32, b| Ok(a & b)))
        .function("div.2d.f32", BINARY, |call| binary(call, |a: f32, b| Ok(a / b)))
        .function("divs.2d.i32", BINARY, |call| {
            binary(call, |a: i32, b| if b == 0 { Err(by_zero()) } else { Ok(a.wrapping_div(b)) })
        })
        .function("divu.2d.i32", BINARY, |call| {
            binary(call, |a: u32, b| a.checked_div(b).ok_or_else(by_zero))
        })
        .function("mul.2d.f32", BINARY, |call| binary(call, |a: f32, b| Ok(a * b)))
        .function("mul.2d.i32", BINARY, |call| binary(call, |a: u32, b| Ok(a.wrapping_mul(b))))
        .function("or.2d.i32", BINARY, |call| binary(call, |a: u32, b| Ok(a | b)))
        .function("shl.2d.i32", BINARY, |call| binary(call, |a: u32, b| Ok(a.wrapping_shl(b))))
        .function("shrs.2d.i32", BINARY, |call| {
            binary(call, |a: i32, b: i32| Ok(a.wrapping_shr(b as u32)))
        })
        .function("shru.2d.i32", BINARY, |call| binary(call, |a: u32, b| Ok(a.wrapping_shr(b))))
        .function("sub.2d.f32", BINARY, |call| binary(call, |a: f32, b| Ok(a - b)))
        .function("sub.2d.i32", BINARY, |call| binary(call, |a: u32, b| Ok(a.wrapping_sub(b))))
        .function("xor.2d.i32", BINARY, |call| binary(call, |a: u32, b| Ok(a ^ b)))
}

#[cold]
fn by_zero() -> Status {
    Status::invalid_argument("integer division by zero in an elementwise kernel")
}

/// An operand: a buffer, an offset and two strides from argument `first` on.
fn operand<'a, T: Pod>(
    call: &NativeCall<'a>,
    name: &str,
    first: usize,
    sizes: [i64; 2],
    purpose: Use,
) -> Result<Plane<'a, T>, Status> {
    let strides = [call.i64(first + 2)?, call.i64(first + 3)?];
    let window = Window { offset: call.i64(first + 1)?, strides, sizes };
    Plane::new(name, call.buffer(first)?, window, purpose)
}

fn unary<S: Pod, T: Pod>(call: NativeCall<'_>, function: impl Fn(S) -> T) -> Result<(), Status> {
    let sizes = [call.i64(8)?, call.i64(9)?];
    let source = operand(&call, "in", 0, sizes, Use::Read)?;
    let target: Plane<'_, T> = operand(&call, "out", 4, sizes, Use::Write)?;
    target.map(&source, function);
    Ok(())
}

fn binary<S: Pod, T: Pod>(
    call: NativeCall<'_>,
    function: impl Fn(S, S) -> Result<T, Status>,
) -> Result<(), Status> {
    let sizes = [call.i64(12)?, call.i64(13)?];
    let left = operand(&call, "lhs", 0, sizes, Use::Read)?;
    let right = operand(&call, "rhs", 4, sizes, Use::Read)?;
    let target: Plane<'_, T> = operand(&call, "out", 8, sizes, Use::Write)?;
    target.zip(&left, &right, function)
}
