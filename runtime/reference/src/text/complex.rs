//! Operations on complex numbers. What each does is in the module `complex` of the crate.

use crate::operations::Kind;
use crate::refusal::Result;
use crate::text::arith;
use crate::text::reader::{Read, Reader};
use mlir::table::Complex;
use mlir::{Element, Type};

/// Reads `%a, %b : complex<f32>` after the name of a function.
pub(crate) fn read(reader: &mut Reader<'_, '_>, function: Complex) -> Result<Read> {
    use Complex::{
        Absolute, Add, Angle, Create, Divide, Equal, Imaginary, Multiply, NotEqual, Real, Subtract,
    };
    let mut operands = vec![reader.operand()?];
    if matches!(function, Create | Add | Subtract | Multiply | Divide | Equal | NotEqual) {
        reader.cursor.expect(",")?;
        operands.push(reader.operand()?);
    }
    let type_ = arith::written_type(reader)?;
    let Element::Complex(format) = type_.element() else {
        return reader.cursor.error("expected the type of a complex number");
    };
    let part = Element::Float(format);
    let wanted = if function == Create { part } else { type_.element() };
    if operands.iter().any(|id| reader.element_of(*id) != wanted) {
        return reader.cursor.error(format!("an operand that is no {wanted}"));
    }
    let result: Type = match function {
        Real | Imaginary | Absolute | Angle => type_.of(part),
        Equal | NotEqual => type_.of(Element::TRUTH),
        _ => type_,
    };
    Ok((Kind::Complex(function, operands), vec![result]))
}
