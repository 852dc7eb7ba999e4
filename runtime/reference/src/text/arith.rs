//! Operations on numbers: `arith`, `math` and `index`. What each does is in the table of `mlir`;
//! here is how they are written, of which there are few ways.

use crate::operations::{Constant, Id, Kind};
use crate::refusal::Result;
use crate::text::attributes::Attributes;
use crate::text::constants;
use crate::text::reader::{Read, Reader};
use mlir::{Element, FloatBinary, IntegerBinary, Numbers, Scalar, Type};

/// Reads a function of numbers after its name.
pub(crate) fn numbers(reader: &mut Reader<'_, '_>, numbers: Numbers) -> Result<Read> {
    match numbers {
        Numbers::CompareFloats | Numbers::CompareIntegers => compare(reader, numbers),
        Numbers::Select => select(reader),
        Numbers::Cast(_) => convert(reader, numbers),
        Numbers::PowerOfInteger => power(reader),
        Numbers::FloatTest(_) => {
            let (operands, type_) = simple(reader, 1)?;
            let what = typed(reader, numbers, type_.element(), Element::TRUTH, "")?;
            Ok((Kind::Scalar(what, operands), vec![type_.of(Element::TRUTH)]))
        }
        _ => {
            let (operands, type_) = simple(reader, numbers.operands())?;
            let what = typed(reader, numbers, type_.element(), type_.element(), "")?;
            Ok((Kind::Scalar(what, operands), vec![type_]))
        }
    }
}

/// The function on these types.
fn typed(
    reader: &mut Reader<'_, '_>,
    numbers: Numbers,
    from: Element,
    to: Element,
    predicate: &str,
) -> Result<Scalar> {
    match numbers.of(from, to, predicate) {
        Some(what) => Ok(what),
        None if predicate.is_empty() => reader.unsupported(format!("from {from} to {to}")),
        None => reader.unsupported(format!("the predicate `{predicate}` for {from}")),
    }
}

/// Skips `fastmath<…>`, `overflow<…>`, `exact`, and rounding modes other than to nearest.
fn flags(reader: &mut Reader<'_, '_>) -> Result<()> {
    loop {
        let word = reader.cursor.peek_word();
        match word {
            "fastmath" | "overflow" => {
                reader.cursor.word();
                reader.cursor.skip_group()?;
            }
            "exact" | "disjoint" | "nneg" | "nonNeg" | "to_nearest_even" => {
                reader.cursor.word();
            }
            "" => {
                if !reader.cursor.sees("{") {
                    return Ok(());
                }
                Attributes::default().read(&mut reader.cursor)?;
            }
            other => return reader.unsupported(format!("the flag `{other}`")),
        }
    }
}

/// Reads `: type`.
pub(crate) fn written_type(reader: &mut Reader<'_, '_>) -> Result<Type> {
    flags(reader)?;
    reader.cursor.expect(":")?;
    reader.read_type()
}

/// Reads `%a, %b : type`, the type of all operands. The operations of `index` write none.
fn simple(reader: &mut Reader<'_, '_>, count: usize) -> Result<(Vec<Id>, Type)> {
    let mut operands = vec![reader.operand()?];
    for _ in 1..count {
        reader.cursor.expect(",")?;
        operands.push(reader.operand()?);
    }
    let is_index = operands.iter().all(|id| reader.type_of(*id) == Type::Scalar(Element::Index));
    flags_before_type(reader)?;
    if is_index && !reader.cursor.sees(":") {
        return Ok((operands, Type::Scalar(Element::Index)));
    }
    let type_ = written_type(reader)?;
    if operands.iter().any(|id| reader.element_of(*id) != type_.element()) {
        return reader.cursor.error(format!("an operand that is no {}", type_.element()));
    }
    Ok((operands, type_))
}

/// Skips flags, unless what comes next begins another operation.
fn flags_before_type(reader: &mut Reader<'_, '_>) -> Result<()> {
    let is_flag = matches!(
        reader.cursor.peek_word(),
        "fastmath" | "overflow" | "exact" | "disjoint" | "nneg" | "nonNeg" | "to_nearest_even"
    );
    if is_flag || reader.cursor.sees("{") { flags(reader) } else { Ok(()) }
}

fn pair(reader: &mut Reader<'_, '_>) -> Result<(Id, Id)> {
    let a = reader.operand()?;
    reader.cursor.expect(",")?;
    Ok((a, reader.operand()?))
}

/// Reads `1.0 : f32`.
pub(crate) fn constant(reader: &mut Reader<'_, '_>, name: &str) -> Result<Read> {
    Attributes::default().read(&mut reader.cursor)?;
    match name {
        "index.constant" => {
            let value = Kind::Constant(Constant::Integer(reader.cursor.integer()?));
            Ok((value, vec![Type::Scalar(Element::Index)]))
        }
        _ => {
            let (constant, type_) = constants::read(&mut reader.cursor)?;
            Ok((Kind::Constant(constant), vec![type_]))
        }
    }
}

/// Reads `slt, %a, %b : type`, or `slt(%a, %b)`.
fn compare(reader: &mut Reader<'_, '_>, numbers: Numbers) -> Result<Read> {
    let predicate = reader.cursor.word();
    let (a, b, type_) = if reader.cursor.eat("(") {
        let (a, b) = pair(reader)?;
        reader.cursor.expect(")")?;
        (a, b, Type::Scalar(Element::Index))
    } else {
        reader.cursor.expect(",")?;
        let (a, b) = pair(reader)?;
        (a, b, written_type(reader)?)
    };
    let what = typed(reader, numbers, type_.element(), Element::TRUTH, predicate)?;
    Ok((Kind::Scalar(what, vec![a, b]), vec![type_.of(Element::TRUTH)]))
}

/// Reads `%condition, %a, %b : type`, or with the condition's type before it.
fn select(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let condition = reader.operand()?;
    reader.cursor.expect(",")?;
    let (a, b) = pair(reader)?;
    let mut type_ = written_type(reader)?;
    if reader.cursor.eat(",") {
        type_ = reader.read_type()?;
    }
    let what = typed(reader, Numbers::Select, type_.element(), type_.element(), "")?;
    Ok((Kind::Scalar(what, vec![condition, a, b]), vec![type_]))
}

/// Reads `%a : type to type`.
fn convert(reader: &mut Reader<'_, '_>, numbers: Numbers) -> Result<Read> {
    let operand = reader.operand()?;
    let from = written_type(reader)?;
    reader.cursor.expect("to")?;
    let to = reader.read_type()?;
    if reader.element_of(operand) != from.element() {
        return reader.cursor.error(format!("an operand that is no {}", from.element()));
    }
    let what = typed(reader, numbers, from.element(), to.element(), "")?;
    Ok((Kind::Scalar(what, vec![operand]), vec![to]))
}

/// Reads `%base, %exponent : f32, i32`.
fn power(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let (base, exponent) = pair(reader)?;
    let type_ = written_type(reader)?;
    while reader.cursor.eat(",") {
        reader.read_type()?;
    }
    let element = type_.element();
    let what = typed(reader, Numbers::PowerOfInteger, element, element, "")?;
    Ok((Kind::Scalar(what, vec![base, exponent]), vec![type_]))
}

/// Reads `%x to [%low, %high] : f32`.
pub(crate) fn clamp(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let operand = reader.operand()?;
    reader.cursor.expect("to")?;
    reader.cursor.expect("[")?;
    let (low, high) = pair(reader)?;
    reader.cursor.expect("]")?;
    let type_ = written_type(reader)?;
    let element = type_.element();
    let lower = Scalar::FloatBinary(FloatBinary::Maximum, element);
    let lower = Kind::Scalar(lower, vec![operand, low]);
    let lower = reader.emit("math.clampf", lower, type_.clone());
    let what = Scalar::FloatBinary(FloatBinary::Minimum, element);
    Ok((Kind::Scalar(what, vec![lower, high]), vec![type_]))
}

/// Reads an operation with two results, each a function of its own, and computes both.
pub(crate) fn extended(
    reader: &mut Reader<'_, '_>,
    first: IntegerBinary,
    second: IntegerBinary,
) -> Result<Read> {
    let (a, b) = pair(reader)?;
    let type_ = written_type(reader)?;
    let second_type = if reader.cursor.eat(",") { reader.read_type()? } else { type_.clone() };
    let width = type_.element().width();
    let of = |function| Kind::Scalar(Scalar::IntegerBinary(function, width), vec![a, b]);
    let first = reader.emit("arith.extended", of(first), type_.clone());
    let second = reader.emit("arith.extended", of(second), second_type.clone());
    Ok((Kind::Alias(vec![first, second]), vec![type_, second_type]))
}
