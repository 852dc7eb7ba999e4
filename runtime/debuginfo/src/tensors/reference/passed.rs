//! Names of what is passed on: arguments of functions that the compiler has inlined, and what loops
//! carry that it has rewritten as others. Neither has an operation of its own; each is what the
//! source gives it, by the name that this has where it is given.

use std::collections::HashMap;
use std::sync::Arc;

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
    /// `stablehlo.while(%a = %x)`, by what it begins with, if that tells them apart.
    fn name_carried(&mut self, function: &mut ReferenceFunction) {
        let mut keys = keys(function);
        for construct in function.constructs.clone() {
            let Some((at, around)) = construct.chain.split_first() else { continue };
            let Some(carried) = construct.carried() else { continue };
            let Some(site) = self.site(at, around) else { continue };
            let written = &site.function.operations[site.operation];
            if written.name == construct.name || !written.name.ends_with(".while") {
                continue;
            }
            for (argument, first) in &written.initial {
                let known = |it: &Option<ValueIndex>| keys.get(&site.key((*it)?)).copied();
                let Some(value) = known(first) else { continue };
                let node = function.values[value].node;
                let is_it = |(_, begun): &(usize, &_)| **begun == node;
                let mut same = construct.initial.iter().enumerate().filter(is_it);
                let Some((index, _)) = same.next().filter(|_| same.next().is_none()) else {
                    continue;
                };
                // Another one may begin with the same, and the compiler have left out either.
                let type_of = |it: ValueIndex| site.function.values[it].type_text.as_deref();
                let may_be_it = |(other, first): &&(ValueIndex, Option<ValueIndex>)| {
                    let is_alike = type_of(*other).is_none_or(|it| type_of(*argument) == Some(it));
                    known(first).map_or(is_alike, |it| function.values[it].node == node)
                };
                if written.initial.iter().filter(may_be_it).count() > 1 {
                    continue;
                }
                let (node, step) = carried[index];
                let tensor_type = function.values[value].tensor_type.clone();
                let inside = ReferenceValue { step, tensor_type, ..ReferenceValue::of(node) };
                function.pass(site.key(*argument), inside, &mut keys);
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

impl Site {
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
