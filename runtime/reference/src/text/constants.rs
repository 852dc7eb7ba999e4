//! Numbers and `dense<…>`.

use crate::operations::Constant;
use crate::refusal::{Refusal, Result};
use crate::text::cursor::{Cursor, MOST_NESTED};
use crate::text::types;
use crate::values::canonical;
use mlir::{Element, Format, Type};

/// The most elements of a constant that is written in a text.
const MOST_ELEMENTS: usize = 1 << 28;

/// Reads a constant with its type: `1.0 : f32`, `true`, `dense<0> : tensor<4xi32>`.
pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<(Constant, Type)> {
    for (word, value) in [("true", 1), ("false", 0)] {
        if cursor.eat(word) {
            if cursor.eat(":") {
                types::read(cursor)?;
            }
            return Ok((Constant::Integer(value), Type::Scalar(Element::Integer(1))));
        }
    }
    if cursor.sees("[") {
        return complex(cursor);
    }
    if cursor.eat("dense_resource") {
        let line = cursor.line();
        return Err(Refusal::unsupported(line, "a `dense_resource`, whose bytes are elsewhere"));
    }
    if cursor.eat("dense") {
        return dense(cursor);
    }
    let text = cursor.number()?;
    let type_ =
        if cursor.eat(":") { types::read(cursor)? } else { Type::Scalar(Element::Integer(64)) };
    let constant = match number(cursor, text, type_.element())? {
        Number::Float(value) => Constant::Float(value),
        Number::Integer(value) => Constant::Integer(value),
        Number::Pair(real, imaginary) => Constant::Pairs(vec![(real, imaginary)]),
    };
    Ok((constant, type_))
}

/// Reads `[1.0 : f32, 2.0 : f32] : complex<f32>`.
fn complex(cursor: &mut Cursor<'_>) -> Result<(Constant, Type)> {
    cursor.expect("[")?;
    let parts = cursor.list("]", read)?;
    cursor.expect(":")?;
    let type_ = types::read(cursor)?;
    match (&parts[..], &type_) {
        (
            [(Constant::Float(real), _), (Constant::Float(imaginary), _)],
            Type::Scalar(Element::Complex(_)),
        ) => Ok((Constant::Pairs(vec![(*real, *imaginary)]), type_)),
        _ => cursor.error("expected the parts of a complex number"),
    }
}

enum Number {
    Float(f64),
    Pair(f64, f64),
    Integer(i64),
}

/// The number with this text.
fn number(cursor: &mut Cursor<'_>, text: &str, element: Element) -> Result<Number> {
    let bad = |cursor: &mut Cursor<'_>| cursor.error(format!("`{text}` is no value of {element}"));
    let parsed = match (element, text.strip_prefix("0x")) {
        // Bits, for floats that have no other text.
        (Element::Float(format), Some(digits)) => {
            u64::from_str_radix(digits, 16).ok().map(|bits| Number::Float(float_of(format, bits)))
        }
        // What is printed is the shortest text of the number in its own format.
        (Element::Float(Format::F32), None) => {
            text.parse::<f32>().ok().map(|value| Number::Float(f64::from(value)))
        }
        (Element::Float(format), None) => {
            let value = text.parse::<f64>().ok();
            value.map(|value| Number::Float(crate::formats::round_to(format, value)))
        }
        (_, Some(digits)) => u64::from_str_radix(digits, 16)
            .ok()
            .map(|value| Number::Integer(canonical(value as i64, element.width()))),
        (_, None) => text
            .parse::<i128>()
            .ok()
            .map(|value| Number::Integer(canonical(value as i64, element.width()))),
    };
    match parsed {
        Some(number) => Ok(number),
        None => bad(cursor),
    }
}

/// The float with these bits.
fn float_of(format: Format, bits: u64) -> f64 {
    let element = Element::Float(format).element_type();
    element.float_value(&bits.to_le_bytes()).unwrap_or(f64::NAN)
}

/// Reads `<…> : tensor<…>` after `dense`.
fn dense(cursor: &mut Cursor<'_>) -> Result<(Constant, Type)> {
    cursor.skip();
    let start = cursor.clone();
    cursor.skip_group()?;
    cursor.expect(":")?;
    let tensor = types::read_tensor(cursor)?;
    let element = tensor.element;
    let count = tensor
        .fixed()
        .and_then(|shape| shape.iter().try_fold(1_usize, |count, size| count.checked_mul(*size)));
    let Some(count) = count.filter(|count| *count <= MOST_ELEMENTS) else {
        return cursor.error(format!("a constant of the type {tensor}"));
    };
    let mut inside = start;
    inside.expect("<")?;
    let mut floats = Vec::new();
    let mut integers = Vec::new();
    let mut pairs = Vec::new();
    let is_complex = matches!(element, Element::Complex(_));
    if inside.sees("\"") && is_complex {
        let line = inside.line();
        return Err(Refusal::unsupported(line, "complex constants in hexadecimal digits"));
    }
    if inside.sees("\"") {
        let text = inside.string()?;
        bytes(&mut inside, &text, element, count, &mut floats, &mut integers)?;
    } else if !inside.sees(">") {
        elements(&mut inside, element, 0, &mut |number| match number {
            Number::Float(value) => floats.push(value),
            Number::Integer(value) => integers.push(value),
            Number::Pair(real, imaginary) => pairs.push((real, imaginary)),
        })?;
    }
    inside.expect(">")?;
    let found = floats.len() + integers.len() + pairs.len();
    let constant = match (found, element.is_float()) {
        _ if is_complex => Constant::Pairs(pairs),
        (1, true) if count != 1 => Constant::Float(floats[0]),
        (1, false) if count != 1 => Constant::Integer(integers[0]),
        (_, true) => Constant::Floats(floats),
        (_, false) => Constant::Integers(integers),
    };
    if found != count && found != 1 {
        return cursor.error(format!("{found} elements of a constant of the type {tensor}"));
    }
    Ok((constant, Type::Tensor(tensor)))
}

/// Reads the elements, in whatever brackets they are.
fn elements(
    cursor: &mut Cursor<'_>,
    element: Element,
    depth: usize,
    push: &mut dyn FnMut(Number),
) -> Result<()> {
    if depth > MOST_NESTED {
        return cursor.error("this constant nests too deep");
    }
    if cursor.eat("[") {
        cursor.list("]", |cursor| elements(cursor, element, depth + 1, push))?;
        return Ok(());
    }
    for (word, value) in [("true", 1), ("false", 0)] {
        if cursor.eat(word) {
            push(Number::Integer(value));
            return Ok(());
        }
    }
    if let Element::Complex(format) = element {
        cursor.expect("(")?;
        let part = |cursor: &mut Cursor<'_>, end: &str| {
            let text = cursor.number()?;
            let Number::Float(value) = number(cursor, text, Element::Float(format))? else {
                return cursor.error("a part of a complex number that is no float");
            };
            cursor.expect(end)?;
            Ok(value)
        };
        let real = part(cursor, ",")?;
        push(Number::Pair(real, part(cursor, ")")?));
        return Ok(());
    }
    let text = cursor.number()?;
    push(number(cursor, text, element)?);
    Ok(())
}

/// Reads `0x` and hexadecimal bytes: all elements, or one.
fn bytes(
    cursor: &mut Cursor<'_>,
    text: &str,
    element: Element,
    count: usize,
    floats: &mut Vec<f64>,
    integers: &mut Vec<i64>,
) -> Result<()> {
    let digits = text.strip_prefix("0x").unwrap_or_default().as_bytes();
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
    let pairs = digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?));
    let Some(bytes) = pairs.collect::<Option<Vec<u8>>>() else {
        return cursor.error("a constant's bytes are no hexadecimal digits");
    };
    if element == Element::Integer(1) {
        // Eight in a byte, the first one lowest; one byte of ones or zeros stands for all.
        if bytes.len() == 1 && count > 8 && matches!(bytes[0], 0 | 0xFF) {
            integers.push(i64::from(bytes[0] & 1));
        } else {
            integers.extend(
                (0..count.min(bytes.len() * 8)).map(|at| i64::from(bytes[at / 8] >> (at % 8) & 1)),
            );
        }
        return Ok(());
    }
    let size = element.element_type().byte_count().max(1);
    for chunk in bytes.chunks_exact(size) {
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(chunk);
        let bits = u64::from_le_bytes(wide);
        match element {
            Element::Float(format) => floats.push(float_of(format, bits)),
            _ => integers.push(canonical(bits as i64, element.width())),
        }
    }
    Ok(())
}
