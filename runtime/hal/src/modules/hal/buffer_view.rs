//! `hal.buffer_view.*`: tensors that cross the boundary of a program.

use std::fmt::Write;

use abi::element_type::{ElementType, NumericalKind};
use vm::{Arguments, NativeModuleBuilder, Ref, Status};

use super::buffer::invalid_subspan;
use crate::host::Host;
use crate::memory::{BufferView, Encoding};
use crate::modules::arguments::HalArguments;

pub(in crate::modules) fn declare(
    module: NativeModuleBuilder,
    _host: &Host,
) -> NativeModuleBuilder {
    module
        .function("buffer_view.create", "0rIIiiCID_r", |call| {
            let (offset, length) = (call.u64(1)?, call.u64(2)?);
            let buffer = call
                .hal_buffer(0)?
                .subspan(offset, length)
                .map_err(|status| invalid_subspan(&status, offset, length))?;
            let encoding = Encoding(call.u32(4)?);
            Ok(Ref::object(BufferView::new(buffer, shape(&call, 5)?, call.u32(3)?, encoding)))
        })
        .function("buffer_view.assert", "0rriiCID_v", |call| {
            let (element_type, encoding) = (call.u32(2)?, Encoding(call.u32(3)?));
            let view = call.buffer_view(0)?;
            let dimensions = call.span(4)?.map(|tuple| tuple.u64(0).ok());
            let has_shape = dimensions.eq(view.shape().iter().map(|found| Some(*found)));
            if has_shape && view.element_code() == element_type && view.encoding() == encoding {
                return Ok(());
            }
            check(view, &(element_type, encoding, shape(&call, 4)?), || call.text(1))
        })
        .function("buffer_view.buffer", "0r_r", |call| {
            Ok(Ref::object(call.buffer_view(0)?.buffer().clone()))
        })
        .function("buffer_view.element_type", "0r_i", |call| {
            Ok(call.buffer_view(0)?.element_code().cast_signed())
        })
        .function("buffer_view.encoding_type", "0r_i", |call| {
            Ok(call.buffer_view(0)?.encoding().0.cast_signed())
        })
        .function("buffer_view.rank", "0r_i", |call| Ok(call.buffer_view(0)?.shape().len() as i32))
        .function("buffer_view.dim", "0ri_I", |call| {
            let index = call.u32(1)? as usize;
            let dimension = call.buffer_view(0)?.shape().get(index).copied();
            Ok(dimension.unwrap_or(0).cast_signed())
        })
        .function("buffer_view.trace", "0rCrD_v", |call| {
            call.text(0)?;
            call.span(1)?.try_for_each(|tuple| tuple.buffer_view(0).map(drop))
        })
}

fn shape(call: &Arguments<'_>, index: usize) -> Result<Vec<u64>, Status> {
    call.span(index)?.map(|tuple| tuple.u64(0)).collect()
}

/// Checks that a buffer view is what a program expects: element type, encoding, shape.
fn check(
    view: &BufferView,
    expected: &(u32, Encoding, Vec<u64>),
    message: impl Fn() -> Result<String, Status>,
) -> Result<(), Status> {
    let (expected_type, expected_encoding, expected_shape) = expected;
    let (encoding, found_type) = (view.encoding(), view.element_code());
    if encoding != Encoding::OPAQUE && encoding != *expected_encoding {
        return Err(Status::invalid_argument(format!(
            "{} encoding mismatch; expected {:08X} but have {:08X}",
            message()?,
            expected_encoding.0,
            encoding.0
        )));
    }
    if !are_compatible(found_type, *expected_type) {
        return Err(Status::invalid_argument(format!(
            "{} element type mismatch; expected {} ({expected_type:08X}) but have {} \
             ({found_type:08X})",
            message()?,
            element_name(*expected_type),
            element_name(found_type)
        )));
    }
    let mismatch = shape_mismatch(view.shape(), expected_shape);
    mismatch.map_or(Ok(()), |what| {
        Err(Status::invalid_argument(format!(
            "{} {what}; expected shape `{}`, actual shape `{}`",
            message()?,
            shape_text(expected_shape),
            shape_text(view.shape())
        )))
    })
}

fn shape_mismatch(found: &[u64], expected: &[u64]) -> Option<String> {
    if found.len() != expected.len() {
        let rank = |shape: &[u64]| match shape.len() {
            0 => "0 (scalar)".to_owned(),
            rank => rank.to_string(),
        };
        return Some(format!(
            "shape rank mismatch; expected {} but have {}",
            rank(expected),
            rank(found)
        ));
    }
    let mut pairs = found.iter().zip(expected).enumerate();
    let (index, (found, expected)) = pairs.find(|(_, (found, expected))| found != expected)?;
    Some(format!(
        "shape dimension {index} mismatch; expected {} but have {}",
        expected.cast_signed(),
        found.cast_signed()
    ))
}

/// Whether elements of one type can pass as the other: opaque elements as any type, integers as
/// integers of the same width.
fn are_compatible(found: u32, expected: u32) -> bool {
    let kind = |code: u32| code >> 24;
    let is_integer = |code: u32| kind(code) & 0xF0 == NumericalKind::Integer as u32;
    let bits = |code: u32| code & 0xFF;
    found == expected
        || kind(found) == NumericalKind::Opaque as u32
        || is_integer(found) && is_integer(expected) && bits(found) == bits(expected)
}

fn element_name(code: u32) -> String {
    ElementType::from_code(code)
        .map_or_else(|_| format!("*{}", code & 0xFF), |element_type| element_type.to_string())
}

/// The text of a shape: `4x8`.
fn shape_text(shape: &[u64]) -> String {
    let mut text = String::new();
    for (index, dimension) in shape.iter().enumerate() {
        let separator = if index == 0 { "" } else { "x" };
        let _ = write!(text, "{separator}{dimension}");
    }
    text
}
