//! Names of what is passed on: arguments of functions that the compiler has inlined, and what loops
//! carry that it has rewritten as others. Neither has an operation of its own; each is what the
//! source gives it, by the name that this has where it is given.

use std::collections::HashMap;
use std::sync::Arc;

use super::constructs::{Construct, Slot};
use super::{Reference, ReferenceFunction, ReferenceValue};
use crate::mlir_text::{CallChain, NamedPosition};
use crate::source::SourceText;
use crate::source::functions::{OperationIndex, SourceFunction, ValueIndex};
use crate::tensors::program::SourceTensor;

/// Calls that are given what other calls return, one after the other.
const PASSES: usize = 8;

/// A tensor of the source: its name, where it is defined, and the calls around that.
type Key = (String, NamedPosition, CallChain);

/// An operation of the source, and the calls around it.
struct Site {
    source: Arc<SourceText>,
    function: Arc<SourceFunction>,
    operation: OperationIndex,
    file: String,
    calls: CallChain,
}

impl Reference<'_> {
    /// Names what is returned and what is passed on, each by the other.
    pub(super) fn name_passed(&mut self, function: &mut ReferenceFunction) {
        for _ in 0..PASSES {
            let before = function.values.len();
            self.name_returned(function);
            self.name_carried(function);
            self.name_called_with(function);
            if function.values.len() == before {
                break;
            }
        }
    }

    /// Names arguments of inlined functions by what stands in their calls.
    fn name_called_with(&mut self, function: &mut ReferenceFunction) {
        // By the calls that lead to a function, a place there.
        let mut known: HashMap<&[NamedPosition], &NamedPosition> = HashMap::new();
        for value in &function.values {
            for at in 1..value.chain.len() {
                known.entry(&value.chain[at..]).or_insert(&value.chain[at - 1]);
            }
        }
        if known.is_empty() {
            return;
        }
        let known = known.into_iter().map(|(calls, line)| (calls.to_vec(), line.clone()));
        let mut known: Vec<(CallChain, NamedPosition)> = known.collect();
        // Outer calls come first.
        known.sort_by_key(|(calls, _)| calls.len());
        let mut keys = keys(function);
        for (calls, line) in known {
            let Some((at, around)) = calls.split_first() else { continue };
            let Some(site) = self.site(at, around) else { continue };
            let callee = site.source.function_read(line.line).filter(|_| line.file == at.file);
            let Some(callee) = callee else { continue };
            let call = &site.function.operations[site.operation];
            let arguments = callee.arguments();
            let is_call = call.name.ends_with("call") && call.operands.len() == arguments.len();
            for (argument, operand) in arguments.iter().zip(&call.operands).filter(|_| is_call) {
                let Some(given) = keys.get(&site.key(*operand)).copied() else { continue };
                let (line, column) = callee.operations[0].place;
                let at = NamedPosition { file: site.file.clone(), line, column };
                let key = (callee.values[*argument].name.clone(), at, calls.clone());
                let passed = &function.values[given];
                let passed = ReferenceValue { is_given: true, ..passed.clone() };
                function.pass(key, passed, &mut keys);
            }
        }
    }

    /// Names what a loop carries that the source writes in another form, as
    /// `stablehlo.while(%a = %x)`. The compiler leaves out what no turn changes, and what nothing
    /// uses.
    fn name_carried(&mut self, function: &mut ReferenceFunction) {
        let loops = function.constructs.iter().filter(|it| !it.carried.is_empty());
        let loops: Vec<Construct> = loops.cloned().collect();
        if loops.is_empty() {
            return;
        }
        let mut keys = keys(function);
        for construct in loops {
            let Some((at, around)) = construct.chain.split_first() else { continue };
            let slots = &construct.carried;
            let Some(site) = self.site(at, around) else { continue };
            let written = &site.function.operations[site.operation];
            if written.name == construct.name || !written.name.ends_with(".while") {
                continue;
            }
            let first = |it: &Option<ValueIndex>| keys.get(&site.key((*it)?)).copied();
            let is_kept = site.is_kept();
            let arguments = written.initial.iter().zip(is_kept).map(|((argument, it), is_kept)| {
                let written = site.function.values[*argument].type_text.as_deref();
                let written = written.and_then(|it| it.strip_prefix("tensor<")?.strip_suffix('>'));
                let tensor_type = written.unwrap_or_default().to_owned();
                Carried { argument: *argument, first: first(it), tensor_type, is_kept }
            });
            let arguments: Vec<Carried> = arguments.collect();
            for (at, carried) in arguments.iter().enumerate() {
                let Some(slot) = slot_of(&arguments, at, slots, function) else {
                    let Some(first) = carried.first.filter(|_| carried.is_kept) else { continue };
                    let given = ReferenceValue { is_given: true, ..function.values[first].clone() };
                    function.pass(site.key(carried.argument), given, &mut keys);
                    continue;
                };
                let (step, tensor_type) = (slots[slot].step, slots[slot].tensor_type.clone());
                let node = slots[slot].node;
                let inside = ReferenceValue { step, tensor_type, ..ReferenceValue::of(node) };
                function.pass(site.key(carried.argument), inside, &mut keys);
            }
        }
    }

    fn site(&mut self, at: &NamedPosition, calls: &[NamedPosition]) -> Option<Site> {
        let source = self.source(&at.file).filter(|it| !it.is_python())?;
        let function = source.function_read(at.line)?;
        let operation = function.operation_at((at.line, at.column))?;
        let (file, calls) = (at.file.clone(), calls.to_vec());
        Some(Site { source, function, operation, file, calls })
    }
}

/// What the source says that a loop carries.
struct Carried {
    argument: ValueIndex,
    /// The value that it begins with, if that has a name.
    first: Option<usize>,
    tensor_type: String,
    /// Whether it is the same in each turn.
    is_kept: bool,
}

/// Which tensor of a loop is what the source says that it carries. If as many of a type are there
/// as the source has, they are in its order, and each begins with the same; else the only one that
/// begins so, where no other may.
fn slot_of(
    arguments: &[Carried],
    at: usize,
    slots: &[Slot],
    function: &ReferenceFunction,
) -> Option<usize> {
    let own = arguments.get(at).filter(|it| !it.is_kept)?;
    let node = |it: &Carried| Some(function.values[it.first?].node);
    let alike: Vec<&Carried> =
        arguments.iter().filter(|it| !it.is_kept && it.tensor_type == own.tensor_type).collect();
    let found = slots.iter().enumerate().filter(|(_, it)| it.tensor_type == own.tensor_type);
    let found: Vec<usize> = found.map(|(slot, _)| slot).collect();
    if found.len() == alike.len() {
        let begins = |(it, slot): (&&Carried, &usize)| {
            node(it).is_none_or(|node| node == slots[*slot].initial)
        };
        let place = alike.iter().position(|it| it.argument == own.argument)?;
        return alike.iter().zip(&found).all(begins).then_some(found[place]);
    }
    let first = node(own)?;
    let may_be_it = |it: &&&Carried| node(it).is_none_or(|it| it == first);
    let mut same = found.into_iter().filter(|it| slots[*it].initial == first);
    let only = same.next().filter(|_| same.next().is_none());
    only.filter(|_| alike.iter().filter(may_be_it).count() == 1)
}

impl Site {
    /// Of each argument of a loop of StableHLO, whether each turn ends with it as it began.
    fn is_kept(&self) -> Vec<bool> {
        let written = &self.function.operations[self.operation];
        let body = written.regions.last().and_then(|it| it.blocks.first());
        let last = body.and_then(|it| self.function.operations.get(*it.operations.last()?));
        let left = last.map_or(&[][..], |it| &it.operands);
        let pairs = written.initial.iter().enumerate();
        pairs.map(|(at, (argument, _))| left.get(at) == Some(argument)).collect()
    }

    /// What a value of the function is, as a tensor.
    fn key(&self, value: ValueIndex) -> Key {
        let of = &self.function;
        let (line, column) = match of.values[value].definition {
            Some((operation, _)) => of.operations[operation].place,
            None if of.arguments().contains(&value) => of.operations[0].place,
            None => of.values[value].place,
        };
        let at = NamedPosition { file: self.file.clone(), line, column };
        (of.values[value].name.clone(), at, self.calls.clone())
    }
}

impl ReferenceFunction {
    /// Adds a value with a name, unless something has that.
    fn pass(&mut self, key: Key, value: ReferenceValue, keys: &mut HashMap<Key, usize>) {
        if keys.contains_key(&key) {
            return;
        }
        let (name, at, calls) = key.clone();
        let tensor_type = value.tensor_type.clone();
        let tensor = Some(SourceTensor { name, at, calls, tensor_type });
        keys.insert(key, self.values.len());
        self.values.push(ReferenceValue { tensor, ..value });
    }
}

/// The values that have names, by these.
fn keys(function: &ReferenceFunction) -> HashMap<Key, usize> {
    let named = function.values.iter().enumerate();
    let named = named.filter_map(|(at, it)| {
        let SourceTensor { name, at: place, calls, .. } = it.tensor.as_ref()?;
        Some(((name.clone(), place.clone(), calls.clone()), at))
    });
    named.collect()
}
