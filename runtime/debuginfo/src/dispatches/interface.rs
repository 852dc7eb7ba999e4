//! What dispatches read and write, from the text of their sources.
//!
//! A dispatch gets memory and numbers; where in that memory its tensors are, of which shape and
//! type, is known to its code alone. iree-compile prints it (`--compile-to=executable-sources`):
//!
//! ```text
//! func.func @main_dispatch_7_softmax_12x64x64xf32() {
//!   %0 = hal.interface.constant.load layout(…) ordinal(1) : i32
//!   %1 = arith.index_castui %0 : i32 to index
//!   %2 = hal.interface.binding.subspan layout(…) binding(0) offset(%1) … :
//!        !iree_tensor_ext.dispatch.tensor<readonly:tensor<12x?x64xf32>>{%dim}
//! ```
//!
//! With `--mlir-print-debuginfo` it also says which lines of the user's source the dispatch was
//! made of, which is all there is to know where it is machine code.
//!
//! Offsets and dimensions are numbers that the dispatch is given, put together by a handful of
//! operations. These are done here, for the numbers of one dispatch
//! ([`DispatchInterface::operands`]); what depends on any other operation is left out.

use std::collections::HashMap;

use super::body::DispatchBody;
use super::positions::{LocationReader, NamedPosition};
use super::statements::{Statement, definition, operands};

/// What one dispatch reads and writes.
#[derive(Clone, Debug, Default)]
pub struct DispatchInterface {
    /// In the order of the text, so that operands come before what uses them.
    definitions: Vec<Definition>,
    subspans: Vec<Subspan>,
    body: DispatchBody,
}

/// A tensor that a dispatch reads or writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DispatchOperand {
    /// The binding whose memory it is in.
    pub binding: usize,
    /// Where it begins there, in bytes.
    pub offset: u64,
    /// Shape and element type: `12x64x64xf32`.
    pub tensor_type: String,
    /// What the dispatch does with it.
    pub access: OperandAccess,
}

/// What a dispatch does with a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandAccess {
    /// It only reads it.
    Read,
    /// It only writes it.
    Write,
    /// It does both.
    ReadWrite,
}

/// Values and how they come to be.
#[derive(Clone, Debug)]
struct Definition {
    names: Vec<String>,
    operation: Operation,
}

#[derive(Clone, Debug)]
enum Operation {
    /// A number that the dispatch is given, by its ordinal.
    Constant(usize),
    Literal(u64),
    /// Each result is the operand in its place.
    Same(Vec<String>),
    Binary(fn(u64, u64) -> u64, String, String),
}

#[derive(Clone, Debug)]
struct Subspan {
    binding: usize,
    offset: Option<String>,
    dimensions: Vec<Dimension>,
    element_type: String,
    access: OperandAccess,
}

#[derive(Clone, Debug)]
enum Dimension {
    Static(u64),
    Dynamic(String),
}

impl DispatchInterface {
    /// Takes the next statement of the dispatch.
    pub(super) fn add<'t>(&mut self, statement: &Statement<'t>, places: &mut LocationReader<'t>) {
        self.body.add(statement, places);
        let Some((names, operation, rest)) = definition(&statement.text) else { return };
        if operation == "hal.interface.binding.subspan" {
            self.subspans.extend(subspan(rest));
        } else if let Some(operation) = known_operation(operation, rest) {
            self.definitions.push(Definition { names, operation });
        }
    }

    /// Whether it has tensors at all.
    pub(super) fn has_operands(&self) -> bool {
        !self.subspans.is_empty()
    }

    /// Where the operation was written whose result the dispatch leaves.
    #[must_use]
    pub fn position(&self) -> Option<&NamedPosition> {
        self.body.result()?.paths.first()?.first()
    }

    /// Where the operations were written that are the dispatch's own work.
    pub fn work(&self) -> impl Iterator<Item = &NamedPosition> {
        let work = self.body.operations().iter().filter(|it| self.body.is_work(it));
        work.flat_map(|it| it.paths.iter().filter_map(|path| path.first()))
    }

    /// The tensors of a dispatch that was given these numbers; those that can be placed.
    #[must_use]
    pub fn operands(&self, constants: &[u32]) -> Vec<DispatchOperand> {
        let mut values: HashMap<&str, u64> = HashMap::new();
        for Definition { names, operation } in &self.definitions {
            let value = |name: &String| values.get(name.as_str()).copied();
            let results: Vec<Option<u64>> = match operation {
                Operation::Constant(ordinal) => {
                    vec![constants.get(*ordinal).copied().map(u64::from)]
                }
                Operation::Literal(literal) => vec![Some(*literal)],
                Operation::Same(operands) => operands.iter().map(value).collect(),
                Operation::Binary(function, left, right) => {
                    vec![value(left).zip(value(right)).map(|(left, right)| function(left, right))]
                }
            };
            let known = names.iter().zip(results);
            values.extend(known.filter_map(|(name, value)| Some((name.as_str(), value?))));
        }
        self.subspans.iter().filter_map(|subspan| subspan.place(&values)).collect()
    }
}

impl Subspan {
    fn place(&self, values: &HashMap<&str, u64>) -> Option<DispatchOperand> {
        let value = |name: &String| values.get(name.as_str()).copied();
        let mut tensor_type = String::new();
        for dimension in &self.dimensions {
            let size = match dimension {
                Dimension::Static(size) => *size,
                Dimension::Dynamic(name) => value(name)?,
            };
            tensor_type += &format!("{size}x");
        }
        tensor_type += &self.element_type;
        let offset = self.offset.as_ref().map_or(Some(0), value)?;
        Some(DispatchOperand { binding: self.binding, offset, tensor_type, access: self.access })
    }
}

fn known_operation(operation: &str, rest: &str) -> Option<Operation> {
    let mut operands = operands(rest);
    Some(match operation {
        "hal.interface.constant.load" => Operation::Constant(match within(rest, "ordinal(", ')') {
            Some(ordinal) => ordinal.parse().ok()?,
            // `hal.interface.constant.load[2]`, until 2024.
            None => rest.split_once(']')?.0.parse().ok()?,
        }),
        "arith.constant" => Operation::Literal(rest.split(' ').next()?.parse().ok()?),
        "arith.index_castui"
        | "arith.index_cast"
        | "arith.extui"
        | "arith.extsi"
        | "arith.trunci"
        | "util.assume.int"
        | "iree_tensor_ext.dispatch.workload.ordinal"
        | "flow.dispatch.workload.ordinal" => Operation::Same(operands.collect()),
        _ => {
            let function: fn(u64, u64) -> u64 = match operation {
                "arith.addi" => u64::wrapping_add,
                "arith.subi" => u64::wrapping_sub,
                "arith.muli" => u64::wrapping_mul,
                "arith.ori" => |left, right| left | right,
                "arith.shli" => |left, right| left.checked_shl(right as u32).unwrap_or(0),
                _ => return None,
            };
            Operation::Binary(function, operands.next()?, operands.next()?)
        }
    })
}

fn subspan(rest: &str) -> Option<Subspan> {
    let (attributes, full_type) = rest.rsplit_once(" : ")?;
    // The layout has bindings too, and comes first.
    let binding = attributes.rsplit_once("binding(")?.1.split_once(')')?.0.parse().ok()?;
    let offset = attributes.rsplit_once("offset(").and_then(|(_, rest)| operands(rest).next());
    let (declared, sizes) = match full_type.split_once(">{") {
        Some((declared, sizes)) => (declared, sizes),
        None => (full_type, ""),
    };
    let (access, shaped) = match declared.split_once("dispatch.tensor<")?.1.split_once(':')? {
        ("readonly", shaped) => (OperandAccess::Read, shaped),
        ("writeonly", shaped) => (OperandAccess::Write, shaped),
        ("readwrite", shaped) => (OperandAccess::ReadWrite, shaped),
        _ => return None,
    };
    let shaped = shaped.strip_prefix("tensor<").unwrap_or(shaped).trim_end_matches('>');
    if shaped.contains(',') {
        // An encoding: the elements lie in an order of its own.
        return None;
    }
    let mut sizes = operands(sizes);
    let mut dimensions = Vec::new();
    let mut element_type = shaped;
    while let Some((size, rest)) = element_type.split_once('x') {
        dimensions.push(match size.parse() {
            Ok(size) => Dimension::Static(size),
            Err(_) if size == "?" => Dimension::Dynamic(sizes.next()?),
            // `complex<f32>` has an x too.
            Err(_) => break,
        });
        element_type = rest;
    }
    let mut element_type = element_type.to_owned();
    if element_type.contains('<') {
        element_type.push('>');
    }
    Some(Subspan { binding, offset, dimensions, element_type, access })
}

fn within<'a>(text: &'a str, start: &str, end: char) -> Option<&'a str> {
    text.split_once(start)?.1.split_once(end).map(|(inner, _)| inner)
}
