//! Operations of `scf` and `affine`.

use crate::operations::{Id, Kind};
use crate::refusal::Result;
use crate::text::attributes::Attributes;
use crate::text::reader::{Read, Reader};
use mlir::table::Affine;
use mlir::{Element, Type};

/// Reads `-> (type, type)`, if it is next.
fn results(reader: &mut Reader<'_, '_>) -> Result<Vec<Type>> {
    let mut types = Vec::new();
    if !reader.cursor.eat("->") {
        return Ok(types);
    }
    if !reader.cursor.eat("(") {
        return Ok(vec![reader.read_type()?]);
    }
    while !reader.cursor.eat(")") {
        types.push(reader.read_type()?);
        reader.cursor.eat(",");
    }
    Ok(types)
}

/// `scf.for %i = %low to %high step %step iter_args(%a = %b) -> (type) : index { … }`
pub(crate) fn repeat(reader: &mut Reader<'_, '_>) -> Result<Read> {
    if reader.cursor.eat("unsigned") {
        return reader.unsupported("unsigned bounds");
    }
    let counter = reader.cursor.value()?.to_owned();
    reader.cursor.expect("=")?;
    let low = reader.operand()?;
    reader.cursor.expect("to")?;
    let high = reader.operand()?;
    reader.cursor.expect("step")?;
    let step = reader.operand()?;
    let mut names = Vec::new();
    let mut initial: Vec<Id> = Vec::new();
    if reader.cursor.eat("iter_args") {
        reader.cursor.expect("(")?;
        loop {
            names.push(reader.cursor.value()?.to_owned());
            reader.cursor.expect("=")?;
            initial.push(reader.operand()?);
            if !reader.cursor.eat(",") {
                break;
            }
        }
        reader.cursor.expect(")")?;
    }
    let types = results(reader)?;
    let counted = if reader.cursor.eat(":") { reader.read_type()? } else { reader.type_of(low) };
    if types.len() != names.len() {
        return reader.cursor.error("as many types as values that a loop carries are needed");
    }
    let mut arguments = vec![reader.define(counter, counted)];
    for (name, type_) in names.into_iter().zip(&types) {
        arguments.push(reader.define(name, type_.clone()));
    }
    let mut body = reader.region()?;
    body.arguments = arguments;
    Attributes::default().read(&mut reader.cursor)?;
    Ok((Kind::For { low, high, step, initial, body }, types))
}

/// `scf.if %condition -> (type) { … } else { … }`
pub(crate) fn branch(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let condition = reader.operand()?;
    let types = results(reader)?;
    let then = reader.region()?;
    let otherwise = if reader.cursor.eat("else") {
        reader.region()?
    } else {
        crate::operations::Region::default()
    };
    Ok((Kind::If { condition, then, otherwise }, types))
}

/// `cf.assert %condition, "message"`
pub(crate) fn assertion(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let condition = reader.operand()?;
    reader.cursor.expect(",")?;
    let message = reader.cursor.string()?;
    Attributes::default().read(&mut reader.cursor)?;
    Ok((Kind::Assert { condition, message }, Vec::new()))
}

/// `affine.min affine_map<(d0)[s0] -> (d0, s0)>(%a)[%b]`
pub(crate) fn affine(reader: &mut Reader<'_, '_>, which: Affine) -> Result<Read> {
    let mut at = reader.cursor.clone();
    let map = reader.map_at(&mut at)?;
    reader.cursor = at;
    let mut operands = Vec::new();
    if reader.cursor.eat("(") {
        operands.extend(reader.operands(")")?);
    }
    if reader.cursor.eat("[") {
        operands.extend(reader.operands("]")?);
    }
    if operands.len() != map.operands() || map.results.is_empty() {
        return reader.cursor.error("an affine map with another number of operands");
    }
    Ok((Kind::Affine { map, which, operands }, vec![Type::Scalar(Element::Index)]))
}
