//! The tensors that a dispatch reads and writes, from the text of its source.
//!
//! A dispatch gets buffers and numbers. Where in the buffers its tensors are, and their shapes and
//! types, only its code knows. iree-compile prints that code (`--compile-to=executable-sources`):
//!
//! ```text
//! func.func @main_dispatch_7_softmax_12x64x64xf32() {
//!   %0 = hal.interface.constant.load layout(…) ordinal(1) : i32
//!   %1 = arith.index_castui %0 : i32 to index
//!   %2 = hal.interface.binding.subspan layout(…) binding(0) offset(%1) … :
//!        !iree_tensor_ext.dispatch.tensor<readonly:tensor<12x?x64xf32>>{%dim}
//! ```
//!
//! With `--mlir-print-debuginfo`, it also has the lines of the user's source that the dispatch was
//! made from. For machine code, nothing else tells them.
//!
//! Offsets and dimensions are computed from the dispatch's numbers by a handful of operations.
//! These are evaluated here for the numbers of one dispatch ([`DispatchInterface::operands`]);
//! tensors that depend on any other operation are left out.

use std::collections::{HashMap, HashSet};

use mlir::table::{Meaning, Tensor};
use mlir::{Element, IntegerBinary, Numbers, Scalar, Tiles};

use super::body::DispatchBody;
use super::layouts::Layouts;
use super::reads::{OperandReads, TensorUses};
use super::statements::{Statement, definition, operands};
use crate::mlir_text::{LocationReader, NamedPosition};

/// The tensors that one dispatch reads and writes, and its operations.
#[derive(Clone, Debug, Default)]
pub struct DispatchInterface {
    /// In the order of the text, so that each comes after its operands.
    definitions: Vec<Definition>,
    subspans: Vec<Subspan>,
    /// The numbers that the count of workgroups is computed from: the ordinal and the name of each.
    workload: Vec<(usize, String)>,
    uses: TensorUses,
    /// How many tensors the text has, with those that were not read, without encoded ones.
    tensor_count: usize,
    body: DispatchBody,
    places: OwnPlaces,
}

/// The positions of a dispatch's own operations. What only fetches its buffers and numbers has the
/// position of whatever makes these: of an operation in another dispatch, or of a function. So may
/// the constants among the latter: the offset of a buffer.
#[derive(Clone, Debug, Default)]
struct OwnPlaces {
    found: HashSet<NamedPosition>,
    /// The numbers that were fetched, and the same ones in other types.
    fetched: HashSet<String>,
    /// The constants that no own operation has used so far, with their positions.
    constants: HashMap<String, Vec<NamedPosition>>,
}

impl OwnPlaces {
    fn add<'t>(&mut self, statement: &Statement<'t>, places: &mut LocationReader<'t>) {
        /// An empty tensor stands for the buffer that its elements go to.
        const FETCHING: [&str; 5] = ["hal.", "util.", "flow.", "iree_tensor_ext.", "tensor.empty"];
        let text = statement.text.trim();
        let mut at = || {
            let paths = places.paths_of(statement.location).into_iter();
            paths.filter_map(|path| path.into_iter().next())
        };
        if let Some((names, operation, rest)) = definition(text) {
            if mlir::meaning(operation) == Some(Meaning::Constant) {
                let at: Vec<NamedPosition> = at().collect();
                self.constants.extend(names.into_iter().map(|name| (name, at.clone())));
                return;
            }
            let mut used = operands(rest).peekable();
            let is_converted = is_converting(operation)
                && used.peek().is_some()
                && used.any(|it| self.fetched.contains(&it));
            if is_converted || FETCHING.iter().any(|it| operation.starts_with(it)) {
                self.fetched.extend(names);
                return;
            }
        } else if FETCHING.iter().any(|it| text.starts_with(it)) || text.starts_with('^') {
            return;
        }
        self.found.extend(at());
        for used in operands(text) {
            self.found.extend(self.constants.remove(&used).into_iter().flatten());
        }
    }
}

/// A tensor that a dispatch reads or writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DispatchOperand {
    /// The index of the binding that it is in.
    pub binding: usize,
    /// Its offset in the binding, in bytes.
    pub offset: u64,
    /// Shape and element type: `12x64x64xf32`.
    pub tensor_type: String,
    /// How the dispatch uses it.
    pub access: OperandAccess,
}

/// A tensor of a dispatch as its source declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DeclaredTensor {
    /// With `?` for sizes that the dispatch's numbers say.
    pub(crate) tensor_type: String,
    /// Whether its elements lie in an order of the machine's.
    pub(crate) is_encoded: bool,
    pub(crate) access: OperandAccess,
    /// What has to be computed before it is declared.
    pub(crate) needs: Needs,
}

/// A tensor of a dispatch whose elements lie in an order of the machine's, with padding of its own:
/// how many bytes it takes, the dispatch does not say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EncodedOperand {
    /// The index of the binding that it is in.
    pub binding: usize,
    /// Its offset in the binding, in bytes.
    pub offset: u64,
    /// How the dispatch uses it.
    pub access: OperandAccess,
}

/// A tensor of a dispatch that lies tile by tile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TiledOperand {
    /// Its tiles: they lie in the order of their indices.
    pub operand: DispatchOperand,
    /// The tensor that they are the tiles of: `33x65xf32`.
    pub tensor_type: String,
    /// The shape of that.
    pub shape: Vec<usize>,
    /// How it is cut into them.
    pub tiles: Tiles,
}

impl TiledOperand {
    /// Where each element lies among the tiles, in row-major order.
    #[must_use]
    pub fn places(&self) -> Option<Vec<usize>> {
        self.tiles.places(&self.shape)
    }
}

/// What is computed from a dispatch's numbers. The compiler declares a tensor after that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Needs {
    pub(crate) offset: bool,
    pub(crate) sizes: bool,
}

/// How a dispatch uses a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandAccess {
    /// The dispatch only reads it.
    Read,
    /// The dispatch only writes it.
    Write,
    /// The dispatch reads and writes it.
    ReadWrite,
}

/// The results of an operation, and the operation.
#[derive(Clone, Debug)]
struct Definition {
    names: Vec<String>,
    operation: Operation,
}

#[derive(Clone, Debug)]
enum Operation {
    /// A number of the dispatch, by its ordinal.
    Constant(usize),
    Literal(u64),
    /// Each result equals the operand at its index.
    Same(Vec<String>),
    /// A function of two integers.
    Function(Scalar, String, String),
}

#[derive(Clone, Debug)]
struct Subspan {
    name: String,
    binding: usize,
    offset: Option<String>,
    dimensions: Vec<Dimension>,
    element_type: String,
    is_encoded: bool,
    /// Its encoding as it is written, and the tiles that it says, once they are known.
    encoding: String,
    tiles: Option<Tiles>,
    access: OperandAccess,
}

#[derive(Clone, Debug)]
enum Dimension {
    Static(u64),
    Dynamic(String),
}

impl Dimension {
    fn is_dynamic(&self) -> bool {
        matches!(self, Self::Dynamic(_))
    }

    fn size(&self, values: &HashMap<&str, u64>) -> Option<u64> {
        match self {
            Self::Static(size) => Some(*size),
            Self::Dynamic(name) => values.get(name.as_str()).copied(),
        }
    }
}

impl DispatchInterface {
    /// Takes the next statement of the dispatch.
    pub(super) fn add<'t>(&mut self, statement: &Statement<'t>, places: &mut LocationReader<'t>) {
        self.body.add(statement, places);
        self.places.add(statement, places);
        let Some((names, operation, rest)) = definition(&statement.text) else {
            let text = statement.text.trim();
            let (operation, rest) = text.split_once(' ').unwrap_or((text, ""));
            self.note_use(operation, rest);
            return;
        };
        self.note_use(operation, rest);
        if operation == "hal.interface.binding.subspan" {
            let subspan = subspan(names.first().cloned().unwrap_or_default(), rest);
            self.tensor_count += usize::from(subspan.as_ref().is_none_or(|it| !it.is_encoded));
            self.subspans.extend(subspan);
        } else if let Some(known) = known_operation(operation, rest) {
            if operation.ends_with("dispatch.workload.ordinal")
                && let (Some(ordinal), [name]) = (workload_ordinal(rest), &names[..])
            {
                self.workload.push((ordinal, name.clone()));
            }
            let operation = known;
            self.definitions.push(Definition { names, operation });
        }
    }

    fn note_use(&mut self, operation: &str, rest: &str) {
        let is_tensor = |name: &str| self.subspans.iter().any(|it| it.name == name);
        self.uses.add(operation, rest, is_tensor);
    }

    /// Whether it computes indices into tensors from data.
    #[must_use]
    pub fn indexes_by_data(&self) -> bool {
        self.uses.indexes_by_data
    }

    /// What the dispatch reads of each of its [`Self::operands`], given its numbers.
    #[must_use]
    pub fn reads(&self, constants: &[u32]) -> Vec<OperandReads> {
        let values = self.values(constants);
        let placed = self.plain().filter(|it| it.place(&values).is_some());
        placed.map(|it| self.uses.of(&it.name, it.access, &values)).collect()
    }

    /// Whether it has any tensors.
    pub(super) fn has_operands(&self) -> bool {
        !self.subspans.is_empty()
    }

    /// The position of the operation whose result the dispatch stores.
    #[must_use]
    pub fn position(&self) -> Option<&NamedPosition> {
        self.body.result()?.paths.first()?.first()
    }

    /// The positions of the operations that are the dispatch's work.
    pub fn work(&self) -> impl Iterator<Item = &NamedPosition> {
        let work = self.body.operations().iter().filter(|it| self.body.is_work(it));
        work.flat_map(|it| it.paths.iter().filter_map(|path| path.first()))
    }

    /// Whether an operation of the dispatch is at a position; all may be if its text has none.
    #[must_use]
    pub fn has_place(&self, at: &NamedPosition) -> bool {
        self.places.found.is_empty() || self.places.found.contains(at)
    }

    /// How many tensors it reads and writes, with those that [`Self::operands`] leaves out because
    /// their places are not known, without encoded ones.
    #[must_use]
    pub fn tensor_count(&self) -> usize {
        self.tensor_count
    }

    /// The types and uses of the dispatch's tensors as they are declared, with `?` for sizes that
    /// its numbers say.
    pub(crate) fn declared(&self) -> Vec<DeclaredTensor> {
        let is_literal = |name: &String| {
            let defines = |it: &&Definition| it.names.contains(name);
            let found = self.definitions.iter().find(defines);
            found.is_some_and(|it| matches!(it.operation, Operation::Literal(_)))
        };
        let declared = self.subspans.iter().map(|subspan| DeclaredTensor {
            tensor_type: subspan.type_with(&HashMap::new()),
            is_encoded: subspan.is_encoded,
            access: subspan.access,
            needs: Needs {
                offset: !subspan.offset.as_ref().is_none_or(is_literal),
                sizes: subspan.dimensions.iter().any(Dimension::is_dynamic),
            },
        });
        declared.collect()
    }

    /// The tensors of the dispatch, given its numbers, as far as their offsets and shapes can be
    /// computed; without encoded ones.
    #[must_use]
    pub fn operands(&self, constants: &[u32]) -> Vec<DispatchOperand> {
        let values = self.values(constants);
        self.plain().filter_map(|subspan| subspan.place(&values)).collect()
    }

    /// Types and uses of the dispatch's tensors in the order of [`Self::operands`], all of them,
    /// with `?` for sizes that cannot be computed from these numbers; without encoded ones.
    #[must_use]
    pub fn types(&self, constants: &[u32]) -> Vec<(String, OperandAccess)> {
        let values = self.values(constants);
        self.plain().map(|it| (it.type_with(&values), it.access)).collect()
    }

    /// The tensors whose elements lie in the order of their indices.
    fn plain(&self) -> impl Iterator<Item = &Subspan> {
        self.subspans.iter().filter(|it| !it.is_encoded)
    }

    /// The encoded tensors of the dispatch, given its numbers; `None` if the place of one of them
    /// cannot be computed.
    #[must_use]
    pub fn encoded(&self, constants: &[u32]) -> Option<Vec<EncodedOperand>> {
        let values = self.values(constants);
        let encoded = self.subspans.iter().filter(|it| it.is_encoded);
        let placed = encoded.map(|it| {
            let offset = it.offset(&values)?;
            Some(EncodedOperand { binding: it.binding, offset, access: it.access })
        });
        placed.collect()
    }

    /// Takes the tiles of encoded tensors from the layouts of its text.
    pub(super) fn resolve(&mut self, layouts: &Layouts<'_>) {
        for subspan in self.subspans.iter_mut().filter(|it| it.is_encoded) {
            subspan.tiles = layouts.tiles(&subspan.encoding, subspan.dimensions.len());
        }
    }

    /// The encoded tensors of the dispatch, given its numbers, each as its tiles; `None` if it is
    /// not known how one of them lies, or where.
    #[must_use]
    pub fn tiled(&self, constants: &[u32]) -> Option<Vec<TiledOperand>> {
        let values = self.values(constants);
        self.subspans.iter().filter(|it| it.is_encoded).map(|it| it.tiled(&values)).collect()
    }

    /// Types and uses of the encoded tensors, with `?` for sizes that cannot be computed from these
    /// numbers.
    #[must_use]
    pub fn encoded_types(&self, constants: &[u32]) -> Vec<(String, OperandAccess)> {
        let values = self.values(constants);
        let encoded = self.subspans.iter().filter(|it| it.is_encoded);
        encoded.map(|it| (it.type_with(&values), it.access)).collect()
    }

    /// The numbers that the count of workgroups is computed from, by ordinal, given the numbers of
    /// the dispatch; as far as they can be computed.
    #[must_use]
    pub fn workload(&self, constants: &[u32]) -> HashMap<usize, u64> {
        let values = self.values(constants);
        let known = self.workload.iter();
        known.filter_map(|(ordinal, name)| Some((*ordinal, *values.get(name.as_str())?))).collect()
    }

    /// The numbers in the dispatch, by name.
    pub(super) fn values(&self, constants: &[u32]) -> HashMap<&str, u64> {
        let mut values: HashMap<&str, u64> = HashMap::new();
        for Definition { names, operation } in &self.definitions {
            let value = |name: &String| values.get(name.as_str()).copied();
            let results: Vec<Option<u64>> = match operation {
                Operation::Constant(ordinal) => {
                    vec![constants.get(*ordinal).copied().map(u64::from)]
                }
                Operation::Literal(literal) => vec![Some(*literal)],
                Operation::Same(operands) => operands.iter().map(value).collect(),
                Operation::Function(function, left, right) => {
                    let operands = value(left).zip(value(right));
                    vec![operands.and_then(|(left, right)| function.apply(&[left, right]))]
                }
            };
            let known = names.iter().zip(results);
            values.extend(known.filter_map(|(name, value)| Some((name.as_str(), value?))));
        }
        values
    }
}

impl Subspan {
    fn place(&self, values: &HashMap<&str, u64>) -> Option<DispatchOperand> {
        let mut sizes = self.dimensions.iter();
        let is_known = sizes.all(|it| it.size(values).is_some());
        is_known.then_some(())?;
        Some(DispatchOperand {
            binding: self.binding,
            offset: self.offset(values)?,
            tensor_type: self.type_with(values),
            access: self.access,
        })
    }

    fn tiled(&self, values: &HashMap<&str, u64>) -> Option<TiledOperand> {
        let tiles = self.tiles.clone()?;
        let operand = self.place(values)?;
        let sizes = self.dimensions.iter().map(|it| usize::try_from(it.size(values)?).ok());
        let shape: Vec<usize> = sizes.collect::<Option<_>>()?;
        let packed = tiles.packed(&shape)?.into_iter().map(|size| format!("{size}x"));
        let packed = packed.collect::<String>() + &self.element_type;
        let tensor_type = operand.tensor_type;
        let operand = DispatchOperand { tensor_type: packed, ..operand };
        Some(TiledOperand { operand, tensor_type, shape, tiles })
    }

    /// Shape and element type, with `?` for sizes that are not known.
    fn type_with(&self, values: &HashMap<&str, u64>) -> String {
        let sizes = self.dimensions.iter().map(|it| match it.size(values) {
            Some(size) => format!("{size}x"),
            None => "?x".to_owned(),
        });
        sizes.collect::<String>() + &self.element_type
    }

    fn offset(&self, values: &HashMap<&str, u64>) -> Option<u64> {
        self.offset.as_ref().map_or(Some(0), |name| values.get(name.as_str()).copied())
    }
}

fn known_operation(operation: &str, rest: &str) -> Option<Operation> {
    let mut operands = operands(rest);
    Some(match operation {
        "hal.interface.constant.load" => Operation::Constant(constant_ordinal(rest)?),
        _ => match mlir::meaning(operation)? {
            Meaning::Constant => Operation::Literal(rest.split(' ').next()?.parse().ok()?),
            Meaning::Alias | Meaning::Tensor(Tensor::Ordinal) => {
                Operation::Same(operands.collect())
            }
            _ if mlir::table::is_integer_cast(operation) => Operation::Same(operands.collect()),
            _ => {
                // Sizes and offsets have the type `index`, or are halves of one.
                let wide = Element::Integer(64);
                let function = mlir::table::scalar(operation, wide, wide, "")?;
                Operation::Function(function, operands.next()?, operands.next()?)
            }
        },
    })
}

/// Whether an operation puts a number together from its halves, or gives it another type.
fn is_converting(operation: &str) -> bool {
    let is_joining = matches!(
        mlir::meaning(operation),
        Some(Meaning::Numbers(Numbers::IntegerBinary(
            IntegerBinary::ShiftLeft | IntegerBinary::Or
        )))
    );
    is_joining || mlir::table::is_integer_cast(operation)
}

/// The ordinal of the number that `hal.interface.constant.load` loads.
pub(super) fn constant_ordinal(rest: &str) -> Option<usize> {
    match within(rest, "ordinal(", ')') {
        Some(ordinal) => ordinal.parse().ok(),
        // `hal.interface.constant.load[2]`, until 2024.
        None => rest.split_once(']')?.0.parse().ok(),
    }
}

fn subspan(name: String, rest: &str) -> Option<Subspan> {
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
    let (shaped, encoding) = shaped.split_once(',').unwrap_or((shaped, ""));
    let (is_encoded, encoding) = (!encoding.is_empty(), encoding.to_owned());
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
    Some(Subspan {
        name,
        binding,
        offset,
        dimensions,
        element_type,
        is_encoded,
        encoding,
        tiles: None,
        access,
    })
}

/// The ordinal in `%7, 0 : index`.
fn workload_ordinal(rest: &str) -> Option<usize> {
    rest.split_once(',')?.1.trim().split(' ').next()?.parse().ok()
}

fn within<'a>(text: &'a str, start: &str, end: char) -> Option<&'a str> {
    text.split_once(start)?.1.split_once(end).map(|(inner, _)| inner)
}
