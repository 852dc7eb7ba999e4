//! Operations of `iree_linalg_ext`.

use crate::operations::{Extension, Id, Kind, Region};
use crate::refusal::Result;
use crate::text::linalg::Operands;
use crate::text::reader::{Read, Reader};
use mlir::{Type, table};

/// Reads an operation after its name.
pub(crate) fn read<'t>(reader: &mut Reader<'t, '_>, which: table::Extension) -> Result<Read> {
    let operands = Operands::read(reader)?;
    // It adds to the indices.
    if operands.attributes.get("index_base").is_some() {
        return reader.unsupported("`index_base`");
    }
    let has_body = reader.cursor.sees("{");
    let body = if has_body { Some(reader.region()?) } else { None };
    if which == table::Extension::Fft {
        return fft(reader, operands);
    }
    if which == table::Extension::Attention {
        return attention(reader, operands, body);
    }
    let types = operands.results(reader)?;
    let rank = |reader: &Reader<'t, '_>, which: usize| {
        let all: Vec<_> = operands.inputs.iter().chain(&operands.outputs).collect();
        let type_ = all.get(which).map(|id| reader.type_of(**id));
        type_.as_ref().and_then(Type::tensor).map_or(0, |it| it.dimensions.len())
    };
    let first_rank = rank(reader, 0);
    let dimension = |reader: &mut Reader<'t, '_>| {
        let dimension = operands.attributes.integer("dimension")?;
        let dimension = dimension.and_then(|it| usize::try_from(it).ok());
        match dimension.filter(|it| *it < first_rank) {
            Some(dimension) => Ok(dimension),
            None => reader.cursor.error("no such `dimension`"),
        }
    };
    let (inputs, outputs) = (operands.inputs.len(), operands.outputs.len());
    let what = match (which, body) {
        (table::Extension::TopK, Some(body)) if outputs == 2 && matches!(inputs, 1 | 2) => {
            Extension::TopK { dimension: dimension(reader)?, body, inputs }
        }
        (table::Extension::ArgCompare, Some(body)) if outputs == 2 && matches!(inputs, 1 | 2) => {
            Extension::ArgCompare { dimension: dimension(reader)?, body, inputs }
        }
        (table::Extension::Sort, Some(body)) if inputs == 0 && outputs > 0 => {
            Extension::Sort { dimension: dimension(reader)?, body }
        }
        (table::Extension::Scan, Some(body)) if inputs == 1 && outputs == 2 => {
            let inclusive = operands.attributes.get("inclusive");
            let inclusive = inclusive.is_some_and(|value| value.rest().starts_with("true"));
            Extension::Scan { dimension: dimension(reader)?, inclusive, body }
        }
        (table::Extension::Scatter | table::Extension::Gather, body) => {
            let map = operands.attributes.integers("dimension_map", 0)?.unwrap_or_default();
            let map: Option<Vec<usize>> =
                map.into_iter().map(|it| usize::try_from(it).ok()).collect();
            let Some(dimension_map) = map else {
                return reader.cursor.error("`dimension_map` names a dimension below zero");
            };
            match (which, body) {
                (table::Extension::Scatter, Some(body)) if inputs == 2 && outputs == 1 => {
                    Extension::Scatter { dimension_map, body }
                }
                (table::Extension::Gather, None) if inputs == 2 && outputs == 1 => {
                    Extension::Gather { dimension_map }
                }
                _ => return reader.unsupported("another number of operands"),
            }
        }
        _ => return reader.unsupported("another number of operands"),
    };
    let Operands { inputs, outputs, .. } = operands;
    Ok((Kind::Extension { what, inputs, outputs }, types))
}

/// Reads `-> type` after the operands Q, K, V, the scale, and perhaps a mask.
fn attention<'t>(
    reader: &mut Reader<'t, '_>,
    operands: Operands<'t>,
    body: Option<Region>,
) -> Result<Read> {
    let is_identity = |it: &Region| it.operations.is_empty() && it.yields == it.arguments;
    if body.is_some_and(|it| !is_identity(&it)) {
        return reader.unsupported("a region that changes the scores");
    }
    let types = operands.results(reader)?;
    let maps = operands.maps(reader)?.unwrap_or_default();
    let Operands { mut inputs, outputs, .. } = operands;
    let is_known = matches!(inputs.len(), 4 | 5) && maps.len() == inputs.len() + 1;
    if !is_known || outputs.len() != 1 || types.len() != 1 {
        return reader.unsupported("another number of operands");
    }
    let scale = inputs.remove(3);
    let maps = maps.into_iter().enumerate().filter(|(at, _)| *at != 3).map(|(_, it)| it);
    let what = Extension::Attention { scale, maps: maps.collect() };
    Ok((Kind::Extension { what, inputs, outputs }, types))
}

/// Reads `: type, type` after the operands of a stage: its number, perhaps its roots of unity, and
/// real and imaginary parts.
fn fft(reader: &mut Reader<'_, '_>, operands: Operands<'_>) -> Result<Read> {
    let Operands { mut inputs, outputs, .. } = operands;
    if outputs.len() != 2 || !matches!(inputs.len(), 1 | 3) {
        return reader.unsupported("another number of operands");
    }
    let mut types: Vec<Type> = outputs.iter().map(|id| reader.type_of(*id)).collect();
    if reader.cursor.eat(":") {
        types = vec![reader.read_type()?];
        while reader.cursor.eat(",") {
            types.push(reader.read_type()?);
        }
    }
    let is_float = |id: &Id| reader.element_of(*id).is_float();
    if !outputs.iter().chain(&inputs[1..]).all(is_float) {
        return reader.unsupported("elements that are no floats");
    }
    let what = Extension::Fft { stage: inputs.remove(0) };
    Ok((Kind::Extension { what, inputs, outputs }, types))
}
