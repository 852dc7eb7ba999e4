//! Operations of `linalg`, each as loops over elements.

use crate::operations::{Extension, Generic, Id, Iterator, Kind, Region};
use crate::refusal::Result;
use crate::text::attributes::Attributes;
use crate::text::named::{self, Each};
use crate::text::quantized;
use crate::text::reader::{Read, Reader};
use mlir::linalg::Loops;
use mlir::{Cast, Element, Map, Type};

/// Reads loops after the name of their operation.
pub(crate) fn read(reader: &mut Reader<'_, '_>, loops: Loops) -> Result<Read> {
    match loops {
        Loops::Generic => generic(reader),
        Loops::Named(letters, body) => named::contraction(reader, letters, body),
        Loops::Elementwise { float, integer } => {
            named::elementwise(reader, Each::Function(float, integer))
        }
        Loops::Square => named::elementwise(reader, Each::Square),
        Loops::Copy => named::elementwise(reader, Each::Copy),
        Loops::Map => map(reader),
        Loops::Reduce => reduce(reader),
        Loops::Transpose => transpose(reader),
        Loops::Broadcast => broadcast(reader),
        Loops::Softmax => softmax(reader),
        Loops::Quantized { quantizes } => quantized::read(reader, quantizes),
    }
}

/// Reads `1 : index`, the number of a loop.
pub(crate) fn index(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let dimension = reader.cursor.integer()?;
    reader.cursor.expect(":")?;
    let type_ = reader.read_type()?;
    match usize::try_from(dimension) {
        Ok(dimension) => Ok((Kind::LoopIndex(dimension), vec![type_])),
        Err(_) => reader.cursor.error("a dimension below zero"),
    }
}

/// What nearly all operations of linalg are written with.
#[derive(Default)]
pub(crate) struct Operands<'t> {
    pub(crate) attributes: Attributes<'t>,
    pub(crate) inputs: Vec<Id>,
    pub(crate) outputs: Vec<Id>,
}

impl<'t> Operands<'t> {
    /// Reads attributes, `ins(…)` and `outs(…)`, in any order.
    pub(crate) fn read(reader: &mut Reader<'t, '_>) -> Result<Self> {
        let mut it = Self::default();
        loop {
            match reader.cursor.peek_word() {
                "ins" => {
                    reader.cursor.word();
                    it.inputs = typed(reader)?;
                }
                "outs" => {
                    reader.cursor.word();
                    it.outputs = typed(reader)?;
                    return Ok(it);
                }
                "" => {
                    if !reader.cursor.sees("{") && !reader.cursor.sees("<") {
                        return reader.cursor.error("expected `ins` or `outs`");
                    }
                    it.attributes.read(&mut reader.cursor)?;
                }
                name => {
                    reader.cursor.word();
                    if reader.cursor.eat("=") {
                        it.attributes.take_list(name, &mut reader.cursor)?;
                    } else if reader.cursor.sees("(") {
                        let mut at = reader.cursor.clone();
                        at.eat("(");
                        it.attributes.set(name, at);
                        reader.cursor.skip_group()?;
                    } else {
                        return reader.unsupported(format!("`{name}`"));
                    }
                }
            }
        }
    }

    /// Reads `-> type` or `-> (type, type)`; without it, results have the types of outputs.
    pub(crate) fn results(&self, reader: &mut Reader<'t, '_>) -> Result<Vec<Type>> {
        if !reader.cursor.eat("->") {
            return Ok(self.outputs.iter().map(|id| reader.type_of(*id)).collect());
        }
        let mut types = Vec::new();
        if reader.cursor.eat("(") {
            while !reader.cursor.eat(")") {
                types.push(reader.read_type()?);
                reader.cursor.eat(",");
            }
            return Ok(types);
        }
        types.push(reader.read_type()?);
        // `iree_linalg_ext.topk` writes its results without parentheses.
        while reader.cursor.eat(",") {
            types.push(reader.read_type()?);
        }
        Ok(types)
    }

    /// The maps of an attribute `indexing_maps`.
    pub(crate) fn maps(&self, reader: &mut Reader<'t, '_>) -> Result<Option<Vec<Map>>> {
        let Some(mut value) = self.attributes.get("indexing_maps") else { return Ok(None) };
        value.expect("[")?;
        value.list("]", |cursor| reader.map_at(cursor)).map(Some)
    }
}

/// Reads `(%a, %b : type, type)`.
fn typed(reader: &mut Reader<'_, '_>) -> Result<Vec<Id>> {
    reader.cursor.expect("(")?;
    let mut ids = Vec::new();
    while reader.cursor.sees("%") {
        ids.push(reader.operand()?);
        reader.cursor.eat(",");
    }
    if reader.cursor.eat(":") {
        loop {
            reader.read_type()?;
            if !reader.cursor.eat(",") {
                break;
            }
        }
    }
    reader.cursor.expect(")")?;
    Ok(ids)
}

fn generic(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let mut operands = Operands::read(reader)?;
    if reader.cursor.eat("attrs") {
        reader.cursor.expect("=")?;
        operands.attributes.read(&mut reader.cursor)?;
    }
    let Some(maps) = operands.maps(reader)? else {
        return reader.cursor.error("no `indexing_maps`");
    };
    let Some(mut kinds) = operands.attributes.get("iterator_types") else {
        return reader.cursor.error("no `iterator_types`");
    };
    kinds.expect("[")?;
    let iterators = kinds.list("]", |cursor| match cursor.string()?.as_str() {
        "parallel" => Ok(Iterator::Parallel),
        "reduction" => Ok(Iterator::Reduction),
        other => cursor.error(format!("`{other}` is no iterator")),
    })?;
    let body = reader.region()?;
    let types = operands.results(reader)?;
    finish(reader, operands, maps, iterators, body, types)
}

/// Checks what the evaluator relies on.
pub(crate) fn finish(
    reader: &mut Reader<'_, '_>,
    operands: Operands<'_>,
    maps: Vec<Map>,
    iterators: Vec<Iterator>,
    body: Region,
    types: Vec<Type>,
) -> Result<Read> {
    let Operands { inputs, outputs, .. } = operands;
    let count = inputs.len() + outputs.len();
    if maps.len() != count || body.arguments.len() != count {
        return reader.cursor.error("operands, maps and arguments of the body differ in number");
    }
    if body.yields.len() != outputs.len() || types.len() != outputs.len() {
        return reader.cursor.error("outputs, results and yielded values differ in number");
    }
    if maps.iter().any(|map| map.operands() != iterators.len()) {
        return reader.cursor.error("an indexing map has another number of dimensions");
    }
    let operands = inputs.iter().chain(&outputs);
    let is_same = |a: &Id, b: &Id| reader.element_of(*a) == reader.element_of(*b);
    let arguments_fit = operands.clone().zip(&body.arguments).all(|(a, b)| is_same(a, b));
    if !arguments_fit || !outputs.iter().zip(&body.yields).all(|(a, b)| is_same(a, b)) {
        return reader.cursor.error("operands and the values of the body differ in type");
    }
    for (id, map) in operands.zip(&maps) {
        let rank = reader.type_of(*id).tensor().map(|it| it.dimensions.len());
        if rank.is_some_and(|rank| rank != map.results.len()) {
            return reader.cursor.error("an indexing map has another number of results");
        }
    }
    if outputs.iter().any(|id| reader.type_of(*id).tensor().is_none()) {
        return reader.unsupported("an output that is no tensor");
    }
    let generic = Generic { maps, iterators, inputs, outputs, body };
    Ok((Kind::Generic(Box::new(generic)), types))
}

/// The number of dimensions of a tensor.
fn rank(reader: &mut Reader<'_, '_>, ids: &[Id]) -> Result<usize> {
    let type_ = ids.first().map(|id| reader.type_of(*id));
    match type_.as_ref().and_then(Type::tensor) {
        Some(tensor) => Ok(tensor.dimensions.len()),
        None => reader.cursor.error("expected a tensor"),
    }
}

/// Reads `NAME = [1, 0]`.
fn dimensions(reader: &mut Reader<'_, '_>, name: &str, limit: usize) -> Result<Vec<usize>> {
    reader.cursor.expect(name)?;
    reader.cursor.expect("=")?;
    let list = crate::text::attributes::integers(&mut reader.cursor, 0)?;
    let list: Option<Vec<usize>> = list
        .into_iter()
        .map(|it| usize::try_from(it).ok().filter(|dimension| *dimension < limit))
        .collect();
    match list {
        Some(list) => Ok(list),
        None => reader.cursor.error(format!("`{name}` names a dimension that is not there")),
    }
}

/// A body that yields its first argument.
fn copy(reader: &mut Reader<'_, '_>, operands: &Operands<'_>) -> Result<Region> {
    let arguments = arguments(reader, operands);
    reader.build(&arguments, |_, ids| Ok(vec![ids[0]]))
}

/// The types of a body's arguments.
pub(crate) fn arguments(reader: &Reader<'_, '_>, operands: &Operands<'_>) -> Vec<Type> {
    let ids = operands.inputs.iter().chain(&operands.outputs);
    ids.map(|id| Type::Scalar(reader.element_of(*id))).collect()
}

fn transpose(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let operands = Operands::read(reader)?;
    let rank = rank(reader, &operands.outputs)?;
    let permutation = dimensions(reader, "permutation", rank)?;
    let inverse: Option<Vec<usize>> =
        (0..rank).map(|at| permutation.iter().position(|it| *it == at)).collect();
    let Some(inverse) = inverse.filter(|_| permutation.len() == rank) else {
        return reader.cursor.error("`permutation` is none");
    };
    let maps = vec![Map::of_dimensions(rank, &inverse), Map::identity(rank)];
    let body = copy(reader, &operands)?;
    let types = operands.results(reader)?;
    finish(reader, operands, maps, vec![Iterator::Parallel; rank], body, types)
}

fn broadcast(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let operands = Operands::read(reader)?;
    let rank = rank(reader, &operands.outputs)?;
    let added = dimensions(reader, "dimensions", rank)?;
    let kept: Vec<usize> = (0..rank).filter(|at| !added.contains(at)).collect();
    let maps = vec![Map::of_dimensions(rank, &kept), Map::identity(rank)];
    let body = copy(reader, &operands)?;
    let types = operands.results(reader)?;
    finish(reader, operands, maps, vec![Iterator::Parallel; rank], body, types)
}

/// Reads `{ arith.addf }`, the short notation of a body.
fn short_body(reader: &mut Reader<'_, '_>) -> Result<Option<String>> {
    let mut at = reader.cursor.clone();
    if !at.eat("{") {
        return Ok(None);
    }
    let name = at.word();
    if !name.contains('.') {
        return Ok(None);
    }
    reader.cursor.skip();
    reader.cursor.skip_group()?;
    Ok(Some(name.to_owned()))
}

/// The body of a short notation: the operation on these of its arguments.
fn expand(
    reader: &mut Reader<'_, '_>,
    operands: &Operands<'_>,
    name: &str,
    order: &[usize],
) -> Result<Region> {
    let types = arguments(reader, operands);
    let element = types.last().map_or(Element::Index, Type::element);
    let Some(what) = mlir::table::scalar(name, element, element, "") else {
        return reader.unsupported(format!("`{name}` in a short notation"));
    };
    reader.build(&types, |reader, ids| {
        let inputs = order.iter().map(|at| ids[*at]).collect();
        Ok(vec![reader.emit(name, Kind::Scalar(what, inputs), Type::Scalar(element))])
    })
}

fn reduce(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let short = short_body(reader)?;
    let operands = Operands::read(reader)?;
    let rank = rank(reader, &operands.inputs)?;
    let reduced = dimensions(reader, "dimensions", rank)?;
    let body = match &short {
        Some(name) => {
            if operands.inputs.len() != 1 || operands.outputs.len() != 1 {
                return reader.unsupported("a short notation with several inputs");
            }
            expand(reader, &operands, name, &[1, 0])?
        }
        None => with_arguments(reader)?,
    };
    let kept: Vec<usize> = (0..rank).filter(|at| !reduced.contains(at)).collect();
    let mut maps = vec![Map::identity(rank); operands.inputs.len()];
    maps.extend(vec![Map::of_dimensions(rank, &kept); operands.outputs.len()]);
    let kind = |at| if reduced.contains(&at) { Iterator::Reduction } else { Iterator::Parallel };
    let iterators = (0..rank).map(kind).collect();
    let types = operands.results(reader)?;
    finish(reader, operands, maps, iterators, body, types)
}

/// Reads `(%a: f32, %b: f32) { … }`.
fn with_arguments(reader: &mut Reader<'_, '_>) -> Result<Region> {
    let arguments = reader.arguments()?;
    let mut body = reader.region()?;
    body.arguments = arguments;
    Ok(body)
}

fn map(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let short = short_body(reader)?;
    let operands = Operands::read(reader)?;
    let rank = rank(reader, &operands.outputs)?;
    let mut body = match &short {
        Some(name) => {
            let order: Vec<usize> = (0..operands.inputs.len()).collect();
            expand(reader, &operands, name, &order)?
        }
        None => with_arguments(reader)?,
    };
    if body.arguments.len() == operands.inputs.len() {
        let types: Vec<Type> =
            operands.outputs.iter().map(|id| Type::Scalar(reader.element_of(*id))).collect();
        body.arguments.extend(types.into_iter().map(|type_| reader.fresh(type_)));
    }
    let maps = vec![Map::identity(rank); operands.inputs.len() + operands.outputs.len()];
    let types = operands.results(reader)?;
    finish(reader, operands, maps, vec![Iterator::Parallel; rank], body, types)
}

fn softmax(reader: &mut Reader<'_, '_>) -> Result<Read> {
    let operands = Operands::read(reader)?;
    let rank = rank(reader, &operands.inputs)?;
    let dimension = operands.attributes.integer("dimension")?;
    let dimension = dimension.and_then(|it| usize::try_from(it).ok()).filter(|it| *it < rank);
    let Some(dimension) = dimension else { return reader.cursor.error("no such `dimension`") };
    let types = operands.results(reader)?;
    let Operands { inputs, outputs, .. } = operands;
    Ok((Kind::Extension { what: Extension::Softmax { dimension }, inputs, outputs }, types))
}

/// A value in another type, as named operations of linalg convert what they read.
pub(crate) fn cast(reader: &mut Reader<'_, '_>, id: Id, to: Element, is_signed: bool) -> Id {
    let Some(what) = Cast::between(reader.element_of(id), to, is_signed) else { return id };
    reader.emit("linalg.cast", Kind::Scalar(what, vec![id]), Type::Scalar(to))
}
