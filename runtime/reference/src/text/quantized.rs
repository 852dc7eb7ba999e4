//! `iree_linalg_ext.quantize_affine` and `dequantize_affine`: loops whose step has no text.

use crate::operations::{Constant, Id, Iterator, Kind};
use crate::refusal::Result;
use crate::text::linalg::{self, Operands};
use crate::text::reader::{Read, Reader};
use mlir::quantized::{Quantized, Steps};
use mlir::{Element, Scalar, Type};

/// Reads an operation after its name.
pub(crate) fn read(reader: &mut Reader<'_, '_>, quantizes: bool) -> Result<Read> {
    let Some(quantized) = Quantized::read(reader.cursor.rest(), quantizes) else {
        return reader.cursor.error("no `quant_min` and `quant_max`");
    };
    let operands = Operands::read(reader)?;
    let Some(maps) = operands.maps(reader)? else {
        return reader.cursor.error("no `indexing_maps`");
    };
    let rank = maps.last().map_or(0, |it| it.dimensions);
    let arguments = linalg::arguments(reader, &operands);
    let body = reader.build(&arguments, |reader, ids| {
        let Some((out, given)) = ids.split_last() else { return Ok(Vec::new()) };
        let given: Vec<(Id, Element)> =
            given.iter().map(|it| (*it, reader.element_of(*it))).collect();
        let to = reader.element_of(*out);
        let mut steps = Body { reader };
        match quantized.element(&mut steps, &given, to) {
            Some(result) => Ok(vec![result]),
            None => reader.unsupported("operands of other types"),
        }
    })?;
    let types = operands.results(reader)?;
    linalg::finish(reader, operands, maps, vec![Iterator::Parallel; rank], body, types)
}

struct Body<'b, 't, 'r> {
    reader: &'b mut Reader<'t, 'r>,
}

impl Steps for Body<'_, '_, '_> {
    type Value = Id;

    fn apply(&mut self, what: Scalar, operands: &[Id], to: Element) -> Id {
        let kind = Kind::Scalar(what, operands.to_vec());
        self.reader.emit("linalg.body", kind, Type::Scalar(to))
    }

    fn number(&mut self, number: i64, element: Element) -> Id {
        let constant = match element.is_float() {
            true => Constant::Float(number as f64),
            false => Constant::Integer(number),
        };
        self.reader.emit("linalg.body", Kind::Constant(constant), Type::Scalar(element))
    }

    fn known(&self, _: Id) -> Option<i64> {
        None
    }
}
