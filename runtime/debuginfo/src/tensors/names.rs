//! Which values of the program are which tensors of the source, with a proof.
//!
//! The dispatches are read in order, each with what its operands are known to be. What it leaves
//! has a name of the source if it is proven to be the same function of the same inputs, element by
//! element. Where the compiler has computed constants, whose elements the text does not tell,
//! the places in the source must agree, too.

use std::collections::{BTreeMap, HashMap, HashSet};

use mlir::table::{Control, Global, Meaning, Tensor};

use super::constructs::Form;
use super::fates::{Lost, Nameless};
use super::head::Head;
use super::matches::Left;
use super::places::{BodyPlaces, Places};
use super::program::{
    Fate, SourceTensor, TensorOperation, TensorOperationId, TensorOperationKind, TensorPart,
    TensorProgram, TensorValueId, Told, Unrecognised,
};
use super::reader::{self, FlowText, id};
use super::reference::{
    Construct, Reference, ReferenceFunction, ReferenceValue, global, import_shape,
};
use super::sizes::{SizeKey, size_key};
use super::symbolic::build::{Builder, Constants, Operation, Scope, Value};
use super::symbolic::equal::{Equality, Folded, Proof};
use super::symbolic::index::Index;
use super::symbolic::maps::{self, Maps};
use super::symbolic::terms::{NodeId, Terms};
use crate::dispatches::DispatchInterfaces;
use crate::mlir_text::{CallChain, LocationReader, NamedPosition};
use crate::source::functions::{OperationIndex, SourceFunction};

/// How often a function is read again because an assumption was wrong.
const MOST_WALKS: usize = 12;

/// Proves the names of a program's values.
pub(super) fn prove(
    program: &mut TensorProgram,
    read: &FlowText<'_>,
    reference: &mut Reference<'_>,
    dispatches: &DispatchInterfaces,
) {
    let maps = Maps::of(read.text);
    let mut places = Places { reader: LocationReader::of(read.text), bodies: HashMap::new() };
    for (number, (name, function)) in read.functions.iter().enumerate() {
        let mut refused = Refused::default();
        // What turns out to be ambiguous is not assumed again.
        for _ in 0..MOST_WALKS {
            let (mut terms, mut reshaped) = (Terms::default(), HashMap::new());
            let Some(source) = reference.function(name, &mut terms, &mut reshaped) else { break };
            let mut walk = Walk {
                read,
                function,
                number,
                program,
                dispatches,
                places: &mut places,
                maps: &maps,
                terms,
                reshaped,
                source: &source,
                folded: Folded::default(),
                refused: &mut refused,
                claims: BTreeMap::new(),
                refuted: BTreeMap::new(),
                values: HashMap::new(),
                withheld: HashMap::new(),
                near: HashMap::new(),
                fused: HashMap::new(),
                by_place: HashMap::new(),
                by_shape: HashMap::new(),
                parts: BTreeMap::new(),
                packed: BTreeMap::new(),
                rotated: Vec::new(),
                is_sound: true,
            };
            walk.index();
            walk.run();
            if walk.is_sound {
                walk.write();
                break;
            }
        }
    }
}

/// What may not be assumed.
#[derive(Default)]
pub(super) struct Refused {
    /// Loops and branches whose tensors could not be proven to be those of the source.
    pub(super) constructs: HashSet<(CallChain, Form)>,
    /// Loops and branches whose numbers could not.
    pub(super) numbers: HashSet<(CallChain, Form)>,
    /// Tensors of the source that several values might be.
    pub(super) tensors: HashSet<(CallChain, usize)>,
}

pub(super) struct Walk<'w, 'f> {
    read: &'f FlowText<'f>,
    pub(super) function: &'f SourceFunction,
    pub(super) number: usize,
    pub(super) program: &'w mut TensorProgram,
    dispatches: &'w DispatchInterfaces,
    places: &'w mut Places<'f>,
    maps: &'f Maps<'f>,
    pub(super) terms: Terms,
    pub(super) reshaped: HashMap<NodeId, NodeId>,
    pub(super) source: &'w ReferenceFunction,
    pub(super) folded: Folded,
    pub(super) refused: &'w mut Refused,
    /// For each tensor of the source, the operations that are proven to leave it, and whether that
    /// depends on constants.
    pub(super) claims: BTreeMap<usize, Vec<(TensorOperationId, bool)>>,
    /// For each tensor of the source, the operations that compute at its place and leave what is
    /// not proven to be it.
    pub(super) refuted: BTreeMap<usize, Vec<TensorOperationId>>,
    /// What each value is proven to be.
    pub(super) values: HashMap<TensorValueId, NodeId>,
    /// Why tensors that dispatches leave have no values.
    pub(super) withheld: HashMap<NodeId, Unrecognised>,
    /// What dispatches leave at the place of a tensor, in its size, that is not proven to be it.
    pub(super) near: HashMap<NodeId, Vec<TensorValueId>>,
    /// The dispatches that compute a place.
    fused: HashMap<CallChain, Vec<TensorOperationId>>,
    pub(super) by_place: HashMap<NamedPosition, Vec<usize>>,
    pub(super) by_shape: HashMap<SizeKey, Vec<usize>>,
    /// The tensors of the source that are parts of values.
    pub(super) parts: BTreeMap<usize, TensorPart>,
    /// The tensors of the source whose elements values have in another order.
    pub(super) packed: BTreeMap<TensorValueId, usize>,
    /// Loops of the source whose test the compiler has moved to the end of a turn.
    pub(super) rotated: Vec<&'w Construct>,
    pub(super) is_sound: bool,
}

impl<'f> Walk<'_, 'f> {
    fn index(&mut self) {
        for (at, value) in self.source.values.iter().enumerate() {
            for place in value.chain.first().into_iter().chain(value.moves.first()) {
                self.by_place.entry(place.clone()).or_default().push(at);
            }
            if let Some(key) = self.key(value).filter(|_| !value.is_given) {
                self.by_shape.entry(key).or_default().push(at);
            }
        }
    }

    pub(super) fn key(&self, value: &ReferenceValue) -> Option<SizeKey> {
        (value.node != NodeId(u32::MAX)).then(|| size_key(self.terms.node(value.node)))
    }

    fn run(&mut self) {
        let function = self.function;
        let mut scope = Scope { function, values: HashMap::new() };
        for (value, known) in function.arguments().iter().zip(&self.source.arguments) {
            if let Some(known) = known {
                scope.values.insert(*value, *known);
            }
        }
        let Some(body) = function.operations.first().and_then(|it| it.regions.first()) else {
            return;
        };
        if let Some(block) = body.blocks.first() {
            self.block(&mut scope, &block.operations);
        }
        for (value, known) in &scope.values {
            if let Value::Tensor(node) = known {
                self.values.insert(id(*value), *node);
            }
        }
        self.check_claims();
    }

    pub(super) fn operation_of(&self, index: OperationIndex) -> Option<&TensorOperation> {
        let function = self.program.functions.get(self.number)?;
        function.operations.get(index.checked_sub(1)?)
    }

    pub(super) fn block(
        &mut self,
        scope: &mut Scope<'f>,
        operations: &[OperationIndex],
    ) -> Option<Vec<Option<Value>>> {
        let function = self.function;
        for index in operations {
            let written = function.operations.get(*index)?;
            match mlir::meaning(&written.name) {
                Some(Meaning::Control(Control::Return | Control::Yield | Control::Condition)) => {
                    let values = written.operands.iter();
                    return Some(values.map(|it| scope.values.get(it).copied()).collect());
                }
                Some(Meaning::Control(Control::Dispatch)) => self.dispatch(scope, *index),
                Some(Meaning::Tensor(Tensor::Import)) => self.import(scope, *index),
                Some(Meaning::Global(Global::Load)) => self.load(scope, *index),
                Some(Meaning::Control(
                    Control::For | Control::If | Control::While | Control::Call,
                )) => {
                    self.construct(scope, *index);
                }
                _ => {
                    self.builder().operation(scope, *index);
                    self.copy(scope, *index);
                }
            }
        }
        None
    }

    pub(super) fn builder(&mut self) -> Builder<'_> {
        Builder {
            terms: &mut self.terms,
            reshaped: &mut self.reshaped,
            maps: self.maps,
            constants: Constants::Compiled,
        }
    }

    /// A copy of a part of a tensor, or into one, which may be a tensor of the source as well as
    /// what a dispatch leaves.
    fn copy(&mut self, scope: &mut Scope<'f>, index: OperationIndex) {
        let Some(operation) = self.operation_of(index).cloned() else { return };
        let (TensorOperationKind::Copy, [result]) = (&operation.kind, &operation.results[..])
        else {
            return;
        };
        let value = result.0 as usize;
        let Some(node) = scope.values.get(&value).copied().and_then(Value::tensor) else { return };
        let id = TensorOperationId { function: self.number, index: index - 1 };
        let chains = &operation.chains;
        let left = Left { operation: id, stored_at: chains, all: chains, given: &[] };
        let node = self.identify(node, *result, &left);
        scope.values.insert(value, Value::Tensor(node));
    }

    fn import(&mut self, scope: &mut Scope<'f>, index: OperationIndex) {
        let function = self.function;
        let Some(written) = function.operations.get(index) else { return };
        let argument = self.operation_of(index).and_then(|it| match it.kind {
            TensorOperationKind::Import { argument } => Some(argument),
            _ => None,
        });
        let known = argument.and_then(|at| self.source.arguments.get(at).copied().flatten());
        let Some(declared) = import_shape(function, index) else { return };
        let shape = self.builder().declared_shape(scope, &declared);
        let element = declared.element;
        let node = known.and_then(Value::tensor);
        let node = node.and_then(|it| self.builder().reshaped(it, shape.clone(), element.clone()));
        let node = node.unwrap_or_else(|| self.terms.input(shape, element));
        scope.values.extend(written.results.iter().map(|it| (*it, Value::Tensor(node))));
    }

    fn load(&mut self, scope: &mut Scope<'f>, index: OperationIndex) {
        let Some(written) = self.function.operations.get(index) else { return };
        let symbol = self.operation_of(index).and_then(|it| match &it.kind {
            TensorOperationKind::GlobalLoad { symbol } => Some(symbol.clone()),
            _ => None,
        });
        let (Some(symbol), Some(result)) = (symbol, written.results.first()) else { return };
        let declared = self.function.values.get(*result).and_then(|it| it.type_text.clone());
        let Some((shape, element)) = declared.as_deref().and_then(maps::tensor) else { return };
        let read = self.read;
        let mut builder = self.builder();
        let node = global(&mut builder, &read.index, read.text, &symbol, &shape, element);
        scope.values.insert(*result, Value::Tensor(node));
    }

    /// Whether two tensors have the same elements in the same order.
    pub(super) fn compare(&mut self, source: NodeId, compiled: NodeId) -> Equality {
        let node = self.terms.node(source);
        let (shape, element) = (node.shape.clone(), node.element.clone());
        let Some(compiled) = self.builder().reshaped(compiled, shape.clone(), element) else {
            return Equality::Unknown;
        };
        let own: Vec<Index> = (0..shape.len() as u32).map(Index::variable).collect();
        let pair = (self.terms.read(source, own.clone()), self.terms.read(compiled, own));
        Proof::of(&mut self.terms, shape, &mut self.folded, pair)
    }

    fn dispatch(&mut self, scope: &mut Scope<'f>, index: OperationIndex) {
        let Some(operation) = self.operation_of(index).cloned() else { return };
        let TensorOperationKind::Dispatch { export } = &operation.kind else { return };
        let read = self.read;
        let Some(body) = read.bodies.get(export) else { return };
        let head = Head::of(self.function, index);
        let given = reader::dispatch_operands("flow.dispatch", &head).unwrap_or_default();
        let given: Vec<Option<Value>> =
            head.values(given).into_iter().map(|it| scope.values.get(&it).copied()).collect();
        let stored = self.body(body, &given);
        let places = self.places.of(export, body);
        let (stored_at, all) = self.own_places(export, &operation, &places);
        let id = TensorOperationId { function: self.number, index: index - 1 };
        for chain in &all {
            self.fused.entry(chain.clone()).or_default().push(id);
        }
        let mut untied = given.len();
        for (result, tied) in operation.results.iter().zip(&operation.tied) {
            let argument = match tied {
                Some(tied) => operation.operands.iter().position(|it| it == tied),
                None => {
                    untied += 1;
                    Some(untied - 1)
                }
            };
            let function = self.program.functions.get(self.number);
            let declared = function.map(|it| it.value(*result).tensor_type.clone());
            let Some((shape, element)) = declared.as_deref().and_then(maps::shaped) else {
                continue;
            };
            let left = argument.and_then(|it| stored.get(&it).copied());
            let node = self.builder().as_declared(left, &shape, element);
            // An encoded tensor has its elements in another order.
            let is_encoded = declared.is_some_and(|it| it.contains(','));
            let left = Left { operation: id, stored_at: &stored_at, all: &all, given: &given };
            let node = match is_encoded {
                true => self.identify_encoded(node, *result, &left),
                false => self.identify(node, *result, &left),
            };
            scope.values.insert(result.0 as usize, Value::Tensor(node));
        }
    }

    /// What a dispatch leaves in each of its arguments.
    fn body(
        &mut self,
        body: &'f SourceFunction,
        given: &[Option<Value>],
    ) -> HashMap<usize, NodeId> {
        let mut scope = Scope { function: body, values: HashMap::new() };
        let mut left = HashMap::new();
        for (at, argument) in body.arguments().iter().enumerate() {
            let declared = body.values.get(*argument).and_then(|it| it.type_text.as_deref());
            let shaped = declared.and_then(reader::dispatch_tensor);
            let shaped = shaped.and_then(|(_, it)| maps::shaped(&it));
            let known = given.get(at).copied().flatten();
            let value = match (known, shaped) {
                (None | Some(Value::Tensor(_)), Some((shape, element))) => {
                    let given = known.and_then(Value::tensor);
                    Value::Tensor(self.builder().as_declared(given, &shape, element))
                }
                (Some(known), None) => known,
                (Some(Value::Scalar(_)), Some(_)) | (None, None) => {
                    Value::Scalar(self.builder().unknown_scalar())
                }
            };
            scope.values.insert(*argument, value);
        }
        let blocks = body.operations.first().and_then(|it| it.regions.first());
        let Some(block) = blocks.and_then(|it| it.blocks.first()) else { return left };
        // The arguments that values stand for.
        let mut arguments: HashMap<usize, usize> =
            body.arguments().iter().enumerate().map(|(at, it)| (*it, at)).collect();
        for index in &block.operations {
            let Some(written) = body.operations.get(*index) else { continue };
            if mlir::meaning(&written.name) == Some(Meaning::Tensor(Tensor::TieShape))
                && let (Some(operand), Some(result)) =
                    (written.operands.first(), written.results.first())
            {
                let argument = arguments.get(operand).copied();
                arguments.extend(argument.map(|it| (*result, it)));
                let is_given = argument.and_then(|it| given.get(it)).is_some_and(Option::is_some);
                if is_given {
                    let value = scope.values.get(operand).copied();
                    scope.values.extend(value.map(|it| (*result, it)));
                } else {
                    // Only now its sizes are known.
                    self.builder().sized(&mut scope, *index);
                }
            } else if written.name.ends_with("dispatch.tensor.store") {
                let argument = written.operands.get(1).and_then(|it| arguments.get(it).copied());
                let Some(argument) = argument else { continue };
                let stored = self.stored(&scope, *index, left.get(&argument).copied());
                let stored = stored.unwrap_or_else(|| self.terms.input(Vec::new(), String::new()));
                left.insert(argument, stored);
            } else if written.name.ends_with("workload.ordinal") {
                let value = written.operands.first().and_then(|it| scope.values.get(it).copied());
                scope
                    .values
                    .extend(written.results.iter().zip(value).map(|(it, value)| (*it, value)));
            } else {
                self.builder().operation(&mut scope, *index);
            }
        }
        left
    }

    /// What is left after a store of a part of a tensor.
    fn stored(
        &mut self,
        scope: &Scope<'f>,
        index: OperationIndex,
        before: Option<NodeId>,
    ) -> Option<NodeId> {
        let written = scope.function.operations.get(index)?;
        let of = |at: usize| scope.values.get(written.operands.get(at)?)?.tensor();
        let (part, into) = (of(0)?, before.or(of(1))?);
        let operation =
            Operation { name: &written.name, head: Head::of(scope.function, index), scope, index };
        let slice = self.builder().slice_of(&operation)?;
        self.builder().inserted(part, into, &slice)
    }

    /// The places in the source of what one call of a dispatch stores, and of all that it does.
    fn own_places(
        &self,
        export: &str,
        operation: &TensorOperation,
        places: &BodyPlaces,
    ) -> (Vec<CallChain>, Vec<CallChain>) {
        let own = operation.chains.iter().find_map(|chain| {
            let call = self.dispatches.call(export, chain)?;
            let map = |chains: &[CallChain]| -> Vec<CallChain> {
                chains.iter().filter_map(|it| call.own(it.first()?).cloned()).collect()
            };
            Some((map(&places.stored), map(&places.all)))
        });
        if let Some(own) = own {
            return own;
        }
        // A dispatch that no other call shares has its own places.
        let is_shared =
            self.program.dispatches().filter(|(_, it)| it.kind == operation.kind).count() > 1;
        let is_first = operation.chains.iter().any(|chain| places.all.contains(chain));
        if !is_shared || is_first {
            return (places.stored.clone(), places.all.clone());
        }
        // Only the one operation that it has.
        if places.all.len() == 1 {
            return (operation.chains.clone(), operation.chains.clone());
        }
        (Vec::new(), operation.chains.clone())
    }

    /// Writes names and fates.
    fn write(self) {
        let derived = self.derived();
        let Self {
            program,
            number,
            source,
            values,
            reshaped,
            withheld,
            near,
            fused,
            terms,
            parts,
            ..
        } = self;
        let (claims, mut refuted) = (self.claims, self.refuted);
        let Some(function) = program.functions.get_mut(number) else { return };
        let base = |node: NodeId| reshaped.get(&node).copied().unwrap_or(node);
        let mut by_base: HashMap<NodeId, Vec<TensorValueId>> = HashMap::new();
        for (value, node) in &values {
            let is_plain = !function.value(*value).tensor_type.contains(',');
            if function.value(*value).is_tensor && is_plain {
                by_base.entry(base(*node)).or_default().push(*value);
            }
        }
        for found in by_base.values_mut() {
            found.sort_unstable();
        }
        let tensors = source.values.iter().enumerate().filter_map(|(at, value)| {
            let tensor = value.tensor.as_ref().filter(|_| value.node != NodeId(u32::MAX))?;
            let found = by_base.get(&base(value.node)).map(Vec::as_slice).unwrap_or_default();
            Some((at, value, tensor, found))
        });
        // Names of one tensor are of one part.
        let parts = parts.into_iter().filter_map(|(at, part)| Some((source.values.get(at)?, part)));
        let parts: HashMap<NodeId, TensorPart> = parts.map(|(it, part)| (it.node, part)).collect();
        let part_of = |value: &ReferenceValue, tensor: &SourceTensor| {
            let part = parts.get(&value.node)?;
            Some(TensorPart { tensor: tensor.clone(), ..part.clone() })
        };
        for (_, value, tensor, found) in tensors.clone() {
            for found in found {
                if let Some(slot) = function.values.get_mut(found.0 as usize) {
                    slot.names.push(tensor.clone());
                }
            }
            if found.is_empty()
                && let Some(part) = part_of(value, tensor)
                && let Some(slot) = function.values.get_mut(part.value.0 as usize)
            {
                slot.parts.push(part);
            }
        }
        for (value, name) in derived {
            let slot = function.values.get_mut(value.0 as usize);
            if let Some(slot) = slot.filter(|it| it.is_tensor && it.names.is_empty()) {
                slot.derived = Some(name);
            }
        }
        let nameless = Nameless::of(function, &values, &terms);
        for (at, value, tensor, found) in tensors {
            let fate = match (found.first(), part_of(value, tensor)) {
                (Some(first), _) => Fate::Value(*first),
                (None, Some(part)) => Fate::Part(part),
                (None, None) => {
                    let (withheld, near) = (&withheld, &near);
                    let lost = Lost { fused: &fused, withheld, near, nameless: &nameless };
                    lost.fate(function, value, &terms)
                }
            };
            let told = Told {
                at: tensor.at.clone(),
                claim: claims.get(&at).and_then(|it| it.first()).copied(),
                refuted: refuted.remove(&at).unwrap_or_default(),
            };
            function.told.entry(tensor.name.clone()).or_default().push(told);
            let fates = function.fates.entry(tensor.name.clone()).or_default();
            fates.push((tensor.calls.clone(), fate));
        }
    }
}
