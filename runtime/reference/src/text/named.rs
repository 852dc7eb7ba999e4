//! Named operations of linalg, from the table of `mlir`: the loops of contractions and poolings,
//! and functions of each element.

use crate::operations::{Id, Iterator, Kind};
use crate::refusal::Result;
use crate::text::linalg::{self, Operands};
use crate::text::reader::{Read, Reader};
use mlir::linalg::Body;
use mlir::{Element, Expression, FloatBinary, IntegerBinary, Map, Numbers, Scalar, Type};

/// Reads a contraction or a pooling after its name; `letters` are its loops.
pub(crate) fn contraction(reader: &mut Reader<'_, '_>, letters: &str, body: Body) -> Result<Read> {
    let operands = Operands::read(reader)?;
    let is_signed = !operands
        .attributes
        .get("cast")
        .is_some_and(|value| value.rest().starts_with("#linalg.type_fn<cast_unsigned>"));
    let mut windows = Vec::new();
    for name in ["strides", "dilations"] {
        windows.push(operands.attributes.integers(name, 3)?.unwrap_or_default());
    }
    let known = mlir::linalg::maps(letters, &windows[0], &windows[1]);
    let count = known.as_ref().map_or(3, Vec::len);
    if operands.inputs.len() + operands.outputs.len() != count {
        return reader.cursor.error(format!("{count} operands are needed"));
    }
    let Some(maps) = operands.maps(reader)?.or(known) else {
        return reader.cursor.error("no `indexing_maps`");
    };
    let output = &maps[maps.len() - 1];
    let is_parallel = |at| output.results.contains(&Expression::Operand(at));
    let kind = |at| if is_parallel(at) { Iterator::Parallel } else { Iterator::Reduction };
    let iterators = (0..output.dimensions).map(kind).collect();
    let arguments = linalg::arguments(reader, &operands);
    let region = reader.build(&arguments, |reader, ids| {
        let out = ids[ids.len() - 1];
        Ok(vec![step(reader, body, ids, out, is_signed)])
    })?;
    let types = operands.results(reader)?;
    linalg::finish(reader, operands, maps, iterators, region, types)
}

/// A function of floats, or the function of integers that it is for integers.
fn either(element: Element, float: FloatBinary, integer: IntegerBinary) -> Scalar {
    if element.is_float() {
        Scalar::FloatBinary(float, element)
    } else {
        Scalar::IntegerBinary(integer, element.width())
    }
}

/// One step of a contraction or a pooling.
fn step(reader: &mut Reader<'_, '_>, body: Body, ids: &[Id], out: Id, is_signed: bool) -> Id {
    use {FloatBinary as F, IntegerBinary as I};
    let element = reader.element_of(out);
    let apply = |reader: &mut Reader<'_, '_>, what: Scalar, a: Id, b: Id| {
        reader.emit("linalg.body", Kind::Scalar(what, vec![a, b]), Type::Scalar(element))
    };
    let is_signed = is_signed && !matches!(body, Body::MaximumUnsigned | Body::MinimumUnsigned);
    let a = linalg::cast(reader, ids[0], element, is_signed);
    let what = match body {
        Body::Sum => either(element, F::Add, I::Add),
        Body::Maximum => either(element, F::Maximum, I::MaximumSigned),
        Body::Minimum => either(element, F::Minimum, I::MinimumSigned),
        Body::MaximumUnsigned => either(element, F::Maximum, I::MaximumUnsigned),
        Body::MinimumUnsigned => either(element, F::Minimum, I::MinimumUnsigned),
        Body::MultiplyAdd | Body::Quantized => {
            let b = linalg::cast(reader, ids[1], element, is_signed);
            let (mut a, mut b) = (a, b);
            if body == Body::Quantized {
                let zero_of_a = linalg::cast(reader, ids[2], element, is_signed);
                let zero_of_b = linalg::cast(reader, ids[3], element, is_signed);
                let subtract = either(element, F::Subtract, I::Subtract);
                a = apply(reader, subtract.clone(), a, zero_of_a);
                b = apply(reader, subtract, b, zero_of_b);
            }
            // For booleans, `or` and `and`, which are what sums and products of them stand for.
            let (times, plus) = if element == Element::TRUTH {
                (Scalar::IntegerBinary(I::And, 1), Scalar::IntegerBinary(I::Or, 1))
            } else {
                (either(element, F::Multiply, I::Multiply), either(element, F::Add, I::Add))
            };
            let product = apply(reader, times, a, b);
            return apply(reader, plus, out, product);
        }
    };
    apply(reader, what, out, a)
}

/// What is done with the elements of an operation.
#[derive(Clone, Copy)]
pub(crate) enum Each {
    /// A function: of floats, of integers.
    Function(Option<Numbers>, Option<Numbers>),
    /// The product with itself.
    Square,
    /// Nothing: they are copied.
    Copy,
}

/// Reads an operation on each element after its name.
pub(crate) fn elementwise(reader: &mut Reader<'_, '_>, each: Each) -> Result<Read> {
    let operands = Operands::read(reader)?;
    let output = operands.outputs.first().map(|id| reader.type_of(*id));
    let Some((rank, element)) =
        output.as_ref().and_then(Type::tensor).map(|it| (it.dimensions.len(), it.element))
    else {
        return reader.cursor.error("expected one tensor as output");
    };
    let times = (
        Numbers::FloatBinary(FloatBinary::Multiply),
        Numbers::IntegerBinary(IntegerBinary::Multiply),
    );
    let (float, integer) = match each {
        Each::Function(float, integer) => (float, integer),
        Each::Square => (Some(times.0), Some(times.1)),
        Each::Copy => (None, None),
    };
    let numbers = if element.is_float() { float } else { integer };
    let what = numbers.and_then(|it| it.of(element, element, ""));
    if what.is_none() && !matches!(each, Each::Copy) {
        return reader.unsupported(format!("elements of {element}"));
    }
    let count = match each {
        Each::Function(..) => numbers.map_or(1, Numbers::operands),
        Each::Square | Each::Copy => 1,
    };
    if operands.outputs.len() != 1 || operands.inputs.len() != count {
        return reader.cursor.error("another number of operands");
    }
    let all = operands.inputs.iter().chain(&operands.outputs);
    let maps = all.map(|id| match reader.type_of(*id).tensor() {
        Some(_) => Map::identity(rank),
        None => Map::of_dimensions(rank, &[]),
    });
    let maps = maps.collect();
    let arguments = linalg::arguments(reader, &operands);
    let is_select = numbers == Some(Numbers::Select);
    let body = reader.build(&arguments, |reader, ids| {
        let mut inputs = Vec::new();
        for (at, id) in ids[..ids.len() - 1].iter().enumerate() {
            let is_condition = is_select && at == 0;
            inputs.push(if is_condition { *id } else { linalg::cast(reader, *id, element, true) });
        }
        if matches!(each, Each::Square) {
            inputs.push(inputs[0]);
        }
        match what {
            Some(what) => {
                let kind = Kind::Scalar(what, inputs);
                Ok(vec![reader.emit("linalg.body", kind, Type::Scalar(element))])
            }
            None => Ok(inputs),
        }
    })?;
    let types = operands.results(reader)?;
    linalg::finish(reader, operands, maps, vec![Iterator::Parallel; rank], body, types)
}
