//! Operations of `tensor`, and those that connect a dispatch with what it is bound to.

use crate::operations::{Kind, Shape, Size};
use crate::refusal::{Refusal, Result};
use crate::text::attributes::{self, Attributes};
use crate::text::packing;
use crate::text::reader::{Read, Reader};
use mlir::table::Tensor;
use mlir::{Element, Scalar, TensorType, Type};

/// Reads an operation on whole tensors after its name.
pub(crate) fn read(reader: &mut Reader<'_, '_>, operation: Tensor) -> Result<Read> {
    match operation {
        Tensor::Empty => {
            reader.cursor.expect("(")?;
            let sizes = reader.operands(")")?;
            typed(reader, |_| Kind::Empty { sizes })
        }
        Tensor::Splat => {
            let value = reader.operand()?;
            let sizes = if reader.cursor.eat("[") { reader.operands("]")? } else { Vec::new() };
            typed(reader, |_| Kind::Splat { value, sizes })
        }
        Tensor::FromElements => {
            let mut values = Vec::new();
            while reader.cursor.sees("%") {
                values.push(reader.operand()?);
                reader.cursor.eat(",");
            }
            typed(reader, |_| Kind::FromElements(values))
        }
        Tensor::Generate => generate(reader),
        Tensor::Extract => {
            let source = reader.operand()?;
            reader.cursor.expect("[")?;
            let indices = reader.operands("]")?;
            reader.cursor.expect(":")?;
            let element = reader.read_type()?.element();
            if reader.element_of(source) != element {
                return reader.cursor.error(format!("a tensor whose elements are no {element}"));
            }
            Ok((Kind::Extract { source, indices }, vec![Type::Scalar(element)]))
        }
        Tensor::Insert => {
            let value = reader.operand()?;
            reader.cursor.expect("into")?;
            let target = reader.operand()?;
            reader.cursor.expect("[")?;
            let indices = reader.operands("]")?;
            typed(reader, |_| Kind::Insert { value, target, indices })
        }
        Tensor::ExtractSlice => {
            let source = reader.operand()?;
            let slice = reader.slice()?;
            converted(reader, "to", Kind::ExtractSlice { source, slice })
        }
        Tensor::InsertSlice => {
            let value = reader.operand()?;
            reader.cursor.expect("into")?;
            let target = reader.operand()?;
            let slice = reader.slice()?;
            converted(reader, "into", Kind::InsertSlice { value, target, slice })
        }
        Tensor::Pad => pad(reader),
        Tensor::ExpandShape => expand(reader),
        Tensor::CollapseShape => {
            let source = reader.operand()?;
            let groups = groups(reader)?;
            converted(reader, "into", Kind::Reshape { source, sizes: Shape::Products(groups) })
        }
        Tensor::Reshape => {
            let source = reader.operand()?;
            reader.cursor.expect("(")?;
            let shape = reader.operand()?;
            reader.cursor.expect(")")?;
            reader.cursor.expect(":")?;
            reader.cursor.skip();
            reader.cursor.skip_group()?;
            reader.cursor.expect("->")?;
            let type_ = reader.read_type()?;
            Ok((Kind::Reshape { source, sizes: Shape::Tensor(shape) }, vec![type_]))
        }
        Tensor::Cast => {
            let source = reader.operand()?;
            converted(reader, "to", Kind::Reshape { source, sizes: Shape::Same })
        }
        Tensor::Bitcast => {
            let source = reader.operand()?;
            reader.cursor.expect(":")?;
            let from = reader.read_type()?.element();
            reader.cursor.expect("to")?;
            let to = reader.read_type()?;
            let what = Scalar::Bitcast { from, to: to.element() };
            Ok((Kind::Scalar(what, vec![source]), vec![to]))
        }
        Tensor::Dimension => {
            let source = reader.operand()?;
            reader.cursor.expect(",")?;
            let index = reader.operand()?;
            reader.cursor.expect(":")?;
            reader.read_type()?;
            Ok((Kind::Dimension { source, index }, vec![Type::Scalar(Element::Index)]))
        }
        Tensor::Rank => {
            let source = reader.operand()?;
            reader.cursor.expect(":")?;
            reader.read_type()?;
            Ok((Kind::Rank { source }, vec![Type::Scalar(Element::Index)]))
        }
        Tensor::Concat => concat(reader),
        Tensor::Pack | Tensor::Unpack => packing::read(reader, operation),
        Tensor::Load => {
            let source = reader.operand()?;
            reader.cursor.expect(",")?;
            let slice = reader.named_slice()?;
            reader.cursor.expect(":")?;
            sized_type(reader)?;
            reader.cursor.expect("->")?;
            let type_ = reader.read_type()?;
            Ok((Kind::Load { source, slice }, vec![type_]))
        }
        Tensor::Store => {
            let value = reader.operand()?;
            reader.cursor.expect(",")?;
            let target = reader.operand()?;
            reader.cursor.expect(",")?;
            let slice = reader.named_slice()?;
            reader.cursor.expect(":")?;
            reader.read_type()?;
            reader.cursor.expect("->")?;
            sized_type(reader)?;
            Ok((Kind::Store { value, target, slice }, Vec::new()))
        }
        Tensor::Ordinal => {
            let value = reader.operand()?;
            reader.cursor.expect(",")?;
            let ordinal = reader.cursor.integer()?;
            reader.cursor.expect(":")?;
            let type_ = reader.read_type()?;
            let Ok(ordinal) = usize::try_from(ordinal) else {
                return Err(Refusal::malformed(0, format!("an ordinal of {ordinal}")));
            };
            Ok((Kind::Ordinal { value, ordinal }, vec![type_]))
        }
        Tensor::TieShape => {
            let source = reader.operand()?;
            reader.cursor.expect(":")?;
            let type_ = reader.read_type()?;
            let sizes = if reader.cursor.eat("{") { reader.operands("}")? } else { Vec::new() };
            Ok((Kind::TieShape { source, sizes }, vec![type_]))
        }
        Tensor::Same | Tensor::Clone => same(reader),
        Tensor::ReshapeToType
        | Tensor::PartAt
        | Tensor::WithPartAt
        | Tensor::Import
        | Tensor::Export => reader.unsupported("is not evaluated"),
    }
}

/// Reads `: type`, which is the result's.
fn typed(reader: &mut Reader<'_, '_>, make: impl FnOnce(&Type) -> Kind) -> Result<Read> {
    Attributes::default().read(&mut reader.cursor)?;
    reader.cursor.expect(":")?;
    let type_ = reader.read_type()?;
    if type_.tensor().is_none() {
        return reader.cursor.error("expected the type of a tensor");
    }
    Ok((make(&type_), vec![type_]))
}

/// Reads `: type to type`.
fn converted(reader: &mut Reader<'_, '_>, word: &str, kind: Kind) -> Result<Read> {
    Attributes::default().read(&mut reader.cursor)?;
    reader.cursor.expect(":")?;
    reader.read_type()?;
    reader.cursor.expect(word)?;
    let type_ = reader.read_type()?;
    if type_.tensor().is_none() {
        return reader.cursor.error("expected the type of a tensor");
    }
    Ok((kind, vec![type_]))
}

/// Reads `[[0, 1], [2]]`.
fn groups(reader: &mut Reader<'_, '_>) -> Result<Vec<Vec<usize>>> {
    reader.cursor.expect("[")?;
    reader.cursor.list("]", |cursor| {
        let group = attributes::integers(cursor, 0)?;
        let group: Option<Vec<usize>> =
            group.into_iter().map(|it| usize::try_from(it).ok()).collect();
        match group {
            Some(group) => Ok(group),
            None => cursor.error("a dimension below zero"),
        }
    })
}

/// `tensor.expand_shape %a [[0, 1]] output_shape [2, %n] : type into type`
fn expand(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let source = reader.operand()?;
    groups(reader)?;
    let sizes =
        if reader.cursor.eat("output_shape") { Some(reader.sizes("[", "]")?) } else { None };
    reader.cursor.expect(":")?;
    reader.read_type()?;
    reader.cursor.expect("into")?;
    let type_ = reader.read_type()?;
    let Some(tensor) = type_.tensor() else {
        return reader.cursor.error("expected the type of a tensor");
    };
    let sizes = match (sizes, tensor.fixed()) {
        (Some(sizes), _) => sizes,
        (None, Some(shape)) => shape.iter().map(|size| Size::Fixed(*size as i64)).collect(),
        (None, None) => return reader.unsupported("a dynamic shape without `output_shape`"),
    };
    Ok((Kind::Reshape { source, sizes: Shape::Sizes(sizes) }, vec![type_]))
}

/// `tensor.pad %a low[0, 1] high[0, %n] { ^bb0(…): … tensor.yield %x } : type to type`
fn pad(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let source = reader.operand()?;
    reader.cursor.eat("nofold");
    reader.cursor.expect("low")?;
    let low = reader.sizes("[", "]")?;
    reader.cursor.expect("high")?;
    let high = reader.sizes("[", "]")?;
    let body = reader.region()?;
    converted(reader, "to", Kind::Pad { source, low, high, body })
}

/// `tensor.generate %n { ^bb0(%i: index): … tensor.yield %x } : type`
fn generate(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let mut sizes = Vec::new();
    while reader.cursor.sees("%") {
        sizes.push(reader.operand()?);
        reader.cursor.eat(",");
    }
    let body = reader.region()?;
    typed(reader, |_| Kind::Generate { sizes, body })
}

/// `tensor.concat dim(1) %a, %b : (type, type) -> type`
fn concat(reader: &mut Reader<'_, '_>) -> Result<Read> {
    reader.cursor.expect("dim")?;
    reader.cursor.expect("(")?;
    let dimension = reader.cursor.integer()?;
    reader.cursor.expect(")")?;
    let mut sources = Vec::new();
    while reader.cursor.sees("%") {
        sources.push(reader.operand()?);
        reader.cursor.eat(",");
    }
    reader.cursor.expect(":")?;
    reader.cursor.skip();
    reader.cursor.skip_group()?;
    reader.cursor.expect("->")?;
    let type_ = reader.read_type()?;
    let Ok(dimension) = usize::try_from(dimension) else {
        return reader.cursor.error("a dimension below zero");
    };
    Ok((Kind::Concat { dimension, sources }, vec![type_]))
}

/// Reads values that stay what they are, as in
/// `util.assume.int %a[<umin = 0>, <umin = 1>], %b<umax = 2> : index, index`.
pub(crate) fn alias(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let mut values = Vec::new();
    loop {
        values.push(reader.operand()?);
        if reader.cursor.sees("<") || reader.cursor.sees("[") {
            reader.cursor.skip_group()?;
        }
        if !reader.cursor.eat(",") {
            break;
        }
    }
    reader.cursor.expect(":")?;
    let mut types = Vec::new();
    loop {
        types.push(sized_type(reader)?);
        if !reader.cursor.eat(",") {
            break;
        }
    }
    if reader.cursor.eat("->") {
        types = vec![sized_type(reader)?];
    }
    if types.len() == 1 && values.len() > 1 {
        types = vec![types[0].clone(); values.len()];
    }
    Ok((Kind::Alias(values), types))
}

/// Reads a tensor whose elements stay. An encoding says how bytes lie in memory, not what they are.
fn same(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let source = reader.operand()?;
    if reader.cursor.eat("encoding_dims") {
        reader.cursor.expect("{")?;
        reader.operands("}")?;
    }
    reader.cursor.expect(":")?;
    let from = sized_type(reader)?;
    let to = if reader.cursor.eat("->") { sized_type(reader)? } else { from.clone() };
    let is_same = |a: &TensorType, b: &TensorType| a.dimensions == b.dimensions;
    match (from.tensor(), to.tensor()) {
        (Some(a), Some(b)) if is_same(a, b) => {
            Ok((Kind::Reshape { source, sizes: Shape::Same }, vec![to]))
        }
        _ => reader.unsupported("an encoding that changes the shape"),
    }
}

/// Reads `type{%sizes}`.
fn sized_type(reader: &mut Reader<'_, '_>) -> Result<Type> {
    let type_ = reader.read_type()?;
    if reader.cursor.eat("{") {
        reader.operands("}")?;
    }
    Ok(type_)
}
