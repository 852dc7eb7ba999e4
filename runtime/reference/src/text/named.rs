//! Named operations of linalg, from the table of `mlir`: the loops of contractions and poolings,
//! and functions of each element.

use crate::operations::{Id, Iterator, Kind};
use crate::refusal::Result;
use crate::text::linalg::{self, Operands};
use crate::text::reader::{Read, Reader};
use mlir::linalg::Body;
use mlir::{Expression, FloatBinary, IntegerBinary, Map, Numbers, Scalar, Type};

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

/// One step of a contraction or a pooling.
fn step(reader: &mut Reader<'_, '_>, body: Body, ids: &[Id], out: Id, is_signed: bool) -> Id {
    let element = reader.element_of(out);
    let apply = |reader: &mut Reader<'_, '_>, what: Scalar, a: Id, b: Id| {
        reader.emit("linalg.body", Kind::Scalar(what, vec![a, b]), Type::Scalar(element))
    };
    let is_signed = is_signed && body.is_signed();
    let mut given = linalg::cast(reader, ids[0], element, is_signed);
    if let Some(times) = body.product(element) {
        let mut other = linalg::cast(reader, ids[1], element, is_signed);
        if let Some(subtract) = body.offset(element) {
            let zero = linalg::cast(reader, ids[2], element, is_signed);
            let other_zero = linalg::cast(reader, ids[3], element, is_signed);
            given = apply(reader, subtract, given, zero);
            other = apply(reader, subtract, other, other_zero);
        }
        given = apply(reader, times, given, other);
    }
    apply(reader, body.join(element), out, given)
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
