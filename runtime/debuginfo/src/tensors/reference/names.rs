//! What the source calls its tensors: names at the places of their operations, and in Python the
//! variables that expressions become.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Construct, Reference, ReferenceFunction, ReferenceValue, Walk, type_text};
use crate::locations::is_python;
use crate::mlir_text::{CallChain, NamedPosition, RangeEnd};
use crate::source::functions::{OperationIndex, SourceFunction, SourceOperation, ValueIndex};
use crate::source::{Becomes, SourceText, imported};
use crate::tensors::program::SourceTensor;
use crate::tensors::steps::{StepValueId, Steps};
use crate::tensors::symbolic::build::{Scope, Value};
use crate::tensors::symbolic::terms::NodeId;

impl Reference<'_> {
    /// Where the expressions of Python end that an operation's location has.
    pub(super) fn ends(
        &self,
        function: &SourceFunction,
        operation: OperationIndex,
        at: &CallChain,
    ) -> Vec<RangeEnd> {
        if !at.first().is_some_and(|at| is_python(&at.file)) {
            return Vec::new();
        }
        let location = function.location(operation).unwrap_or_default();
        self.locations.ends_of(location, at)
    }

    /// Whether an operation at a place of Python is one of the function that is written there. JAX
    /// says what it made of it: `jit(model)/vmap()/add`, `jit(f)/transpose(jvp())/mul`.
    pub(super) fn is_direct(
        &self,
        function: &SourceFunction,
        operation: OperationIndex,
        at: &CallChain,
    ) -> bool {
        if !at.first().is_some_and(|at| is_python(&at.file)) {
            return false;
        }
        let label = self.locations.label(function.location(operation).unwrap_or_default());
        let Some((label, _)) = label else { return true };
        let mut around = label.split('/').rev().skip(1);
        around.all(|it| it.starts_with("jit(") || it.starts_with("pjit("))
    }

    pub(super) fn source(&mut self, file: &str) -> Option<Arc<SourceText>> {
        if let Some(known) = self.files.get(file) {
            return known.clone();
        }
        let read = (self.file)(file);
        self.files.insert(file.to_owned(), read.clone());
        read
    }

    /// Names the arguments of a function; types of those that are imported come later.
    pub(super) fn name_arguments(&mut self, read: &SourceFunction, walk: &mut Walk<'_>) {
        let chain = self.place(read, 0);
        let Some(at) = chain.first().cloned() else { return };
        let Some(source) = self.source(&at.file) else { return };
        let names = source.argument_names(at.line, at.column);
        let arguments = walk.function.arguments.clone();
        for (argument, (name, value)) in names.into_iter().zip(arguments).enumerate() {
            let node = match value {
                Some(Value::Tensor(node)) => Some(node),
                _ => None,
            };
            let tensor_type = node.map(|it| type_text(walk.terms.node(it))).unwrap_or_default();
            let node = node.unwrap_or(NodeId(u32::MAX));
            let (at, calls) = (at.clone(), CallChain::new());
            let tensor = Some(SourceTensor { name, at, calls, tensor_type: tensor_type.clone() });
            walk.function.values.push(ReferenceValue {
                step: Some(Steps::argument(argument)),
                tensor_type,
                result: argument,
                tensor,
                ..ReferenceValue::of(node)
            });
        }
    }

    /// Names the arguments of a function where it is called: they are what it is given.
    pub(super) fn name_given(
        &mut self,
        read: &SourceFunction,
        (arguments, given): (&[Option<Value>], &[Option<StepValueId>]),
        calls: &CallChain,
        walk: &mut Walk<'_>,
    ) {
        let Some(at) = self.place(read, 0).first().cloned() else { return };
        let Some(source) = self.source(&at.file).filter(|it| !it.is_python()) else { return };
        let names = source.argument_names(at.line, at.column);
        if names.len() != arguments.len() {
            return;
        }
        for (argument, (name, value)) in names.into_iter().zip(arguments).enumerate() {
            let Some(Value::Tensor(node)) = *value else { continue };
            let tensor_type = type_text(walk.terms.node(node));
            let (at, calls) = (at.clone(), calls.clone());
            let tensor = Some(SourceTensor { name, at, calls, tensor_type: tensor_type.clone() });
            walk.function.values.push(ReferenceValue {
                step: given.get(argument).copied().flatten(),
                tensor_type,
                result: argument,
                is_given: true,
                tensor,
                ..ReferenceValue::of(node)
            });
        }
    }

    /// Names what a loop declares inside: `iter_args(%acc = %n)`, `^bb0(%acc: tensor<4xf32>):`.
    pub(super) fn name_inside(
        &mut self,
        scope: &Scope<'_>,
        index: OperationIndex,
        construct: &Construct,
        calls: &CallChain,
        walk: &mut Walk<'_>,
    ) {
        let Some(at) = construct.chain.first().cloned() else { return };
        let Some(source) = self.source(&at.file).filter(|it| !it.is_python()) else { return };
        let Some(own) = source.function_read(at.line) else { return };
        let named = own.operation_at((at.line, at.column)).and_then(|it| own.operations.get(it));
        let (Some(named), Some(written)) = (named, scope.function.operations.get(index)) else {
            return;
        };
        let (names, values) = (arguments_inside(named), arguments_inside(written));
        if named.name != written.name || names.len() != values.len() {
            return;
        }
        for (name, value) in names.into_iter().zip(values) {
            let Some(node) = scope.values.get(&value).and_then(|it| it.tensor()) else { continue };
            let tensor_type = type_text(walk.terms.node(node));
            let Some(written) = own.values.get(name) else { continue };
            let (line, column) = written.place;
            let at = NamedPosition { line, column, ..at.clone() };
            let (name, calls) = (written.name.clone(), calls.clone());
            let tensor = SourceTensor { name, at, calls, tensor_type: tensor_type.clone() };
            walk.function.values.push(ReferenceValue {
                step: walk.function.steps.value(value),
                tensor_type,
                tensor: Some(tensor),
                ..ReferenceValue::of(node)
            });
        }
    }

    /// Gives tensors the names that the source has at their places.
    pub(super) fn name(&mut self, function: &mut ReferenceFunction) {
        let mut by_chain: HashMap<CallChain, Vec<usize>> = HashMap::new();
        for (at, value) in function.values.iter().enumerate() {
            if value.tensor.is_none() && !value.chain.is_empty() {
                by_chain.entry(value.chain.clone()).or_default().push(at);
            }
        }
        let repeated = repeated_calls(&function.values);
        for (chain, values) in by_chain {
            let Some(at) = chain.first() else { continue };
            let Some(source) = self.source(&at.file) else { continue };
            if source.is_python() {
                self.name_variables(&chain, &values, &repeated, function);
                continue;
            }
            let names = source.result_names(at.line, at.column);
            let declared = declared_types(&source, at);
            // A loop may have lost results that it only passes on: those that it has left have
            // other numbers, and only their types tell which they are.
            let has_lost = names.len() > 1
                && declared.is_none()
                && function.results_of(&values) != names.len();
            let types = if has_lost { written_types(&source, at) } else { declared };
            if types.as_ref().map_or(has_lost, |it| it.len() != names.len()) {
                continue;
            }
            for (result, name) in names.iter().enumerate() {
                let declared = types.as_ref().map(|types| &types[result]);
                let alike = types.iter().flatten().filter(|it| Some(*it) == declared);
                if has_lost && alike.count() > 1 {
                    continue;
                }
                // Of several operations that the compiler made of one, the last has its result. One
                // with several results may be made into one operation for each: their types tell
                // them apart.
                let fits = |it: &&usize| {
                    let value = &function.values[**it];
                    let is_result = value.result == result || names.len() > 1 && declared.is_some();
                    is_result
                        && !value.is_inner
                        && declared.is_none_or(|it| is_instance(&value.tensor_type, it))
                };
                let found: Vec<usize> = values.iter().filter(fits).copied().collect();
                let Some(one) = function.only_computed(&found) else { continue };
                let value = &mut function.values[one];
                value.tensor = Some(SourceTensor {
                    name: name.clone(),
                    at: at.clone(),
                    calls: chain[1..].to_vec(),
                    tensor_type: value.tensor_type.clone(),
                });
            }
        }
        self.name_passed(function);
        self.name_identities(function);
    }

    /// Gives values of one place of Python the name of the variable that they become. In a function
    /// that runs several times from one place, each is a value of that variable.
    fn name_variables(
        &mut self,
        chain: &CallChain,
        values: &[usize],
        repeated: &HashSet<CallChain>,
        function: &mut ReferenceFunction,
    ) {
        // Other operations at the place are parts of the expression.
        let mut variable = None;
        let whole = values.iter().copied().filter(|it| {
            let found = self.variable(chain, &function.values[*it].ends);
            let is_whole = found.is_some();
            variable = variable.take().or(found);
            is_whole
        });
        let values: Vec<usize> = whole.collect();
        let Some((name, frame)) = variable else { return };
        let found: Vec<usize> =
            values.iter().copied().filter(|it| function.is_result_of(*it, &values)).collect();
        let tensor_type = found.first().map(|it| function.values[*it].tensor_type.clone());
        let are_alike = found.iter().all(|it| {
            let value = &function.values[*it];
            value.is_direct && value.result == 0 && Some(&value.tensor_type) == tensor_type.as_ref()
        });
        // Results of one operation, and operations of several kinds, are not told apart; nor is it
        // known in which call it is if some calls have none. The outermost function runs once.
        let calls = &chain[frame + 1..];
        let is_lost = found.len() == 1 && !calls.is_empty() && repeated.contains(calls);
        for index in found.into_iter().filter(|_| are_alike && !is_lost) {
            let value = &mut function.values[index];
            value.tensor = Some(SourceTensor {
                name: name.clone(),
                at: chain[frame].clone(),
                calls: chain[frame + 1..].to_vec(),
                tensor_type: value.tensor_type.clone(),
            });
        }
    }

    /// The variable that the value of an expression becomes, in its own function or in one that
    /// called that, and which of its calls that is.
    fn variable(&mut self, chain: &CallChain, ends: &[RangeEnd]) -> Option<(String, usize)> {
        for (frame, at) in chain.iter().enumerate() {
            let end = ends.get(frame).copied().flatten();
            match self.source(&at.file)?.becomes((at.line, at.column), end, frame > 0)? {
                Becomes::Variable(name) => return Some((name, frame)),
                Becomes::Result => {}
            }
        }
        None
    }
}

impl ReferenceFunction {
    /// The only one of some values, or the only one that is computed: a constant beside it, such as
    /// a bias in another shape, is its operand, and so is a tensor without elements yet, which
    /// operations of other places may use, too.
    fn only_computed(&self, values: &[usize]) -> Option<usize> {
        if let [only] = values {
            return Some(*only);
        }
        let mut computed = values.iter().filter(|it| !self.values[**it].is_written);
        let only = computed.next().copied();
        only.filter(|_| computed.next().is_none())
    }

    /// How many results the last operation has of those that some values are of.
    fn results_of(&self, values: &[usize]) -> usize {
        let last = values.iter().map(|it| self.values[*it].operation).max();
        let of_last = values.iter().filter(|it| Some(self.values[**it].operation) == last);
        let numbers: HashSet<usize> = of_last.map(|it| self.values[*it].result).collect();
        numbers.len()
    }

    /// Whether a value is what the operations of one place, `values`, are there for: none of them
    /// uses it, and it is not left over by an operation that another result was wanted of. A
    /// maximum may come with its index, as that of a softmax.
    fn is_result_of(&self, value: usize, values: &[usize]) -> bool {
        let value = &self.values[value];
        let has_inner_sibling = || {
            let mut siblings = values.iter().map(|it| &self.values[*it]);
            siblings.any(|it| it.operation == value.operation && it.is_inner)
        };
        // A constant is all of an expression, or a part of what the others compute.
        let is_operand = value.is_written && values.iter().any(|it| !self.values[*it].is_written);
        let is_other = value.is_inner || is_operand || value.is_left_over && has_inner_sibling();
        !is_other
    }
}

/// The values that the regions of an operation begin with.
fn arguments_inside(operation: &SourceOperation) -> Vec<ValueIndex> {
    let blocks = operation.regions.iter().filter_map(|region| region.blocks.first());
    blocks.flat_map(|block| block.arguments.iter().copied()).collect()
}

/// The places of Python that call a function more than once: in it, an earlier place comes again
/// after others.
fn repeated_calls(values: &[ReferenceValue]) -> HashSet<CallChain> {
    let mut last: HashMap<&[NamedPosition], &NamedPosition> = HashMap::new();
    let mut seen: HashSet<&[NamedPosition]> = HashSet::new();
    let mut repeated = HashSet::new();
    for value in values.iter().filter(|it| it.is_direct && !it.is_written) {
        for frame in 0..value.chain.len() {
            let (at, calls) = (&value.chain[frame], &value.chain[frame + 1..]);
            let is_new = seen.insert(&value.chain[frame..]);
            if last.insert(calls, at).is_some_and(|before| before != at) && !is_new {
                repeated.insert(calls.to_vec());
            }
        }
    }
    repeated
}

/// The types that a line of the source gives the results of an operation that the compiler replaces
/// by others: `-> !torch.vtensor<[1,?],f32>`, `-> (!torch.vtensor<[1,2],f32>, …)`. `None` if it
/// keeps such operations.
fn declared_types(source: &SourceText, at: &NamedPosition) -> Option<Vec<String>> {
    let operation = source.operation_at(at.line, at.column)?;
    if !operation.starts_with("torch.") {
        return None;
    }
    let line = source.line(at.line)?;
    imported::types(&line[line.rfind(" -> ")?..])
}

/// The types of the results of the operation at a place, as the source writes them, those of
/// tensors by shape and element type; `None` if one is not known.
fn written_types(source: &SourceText, at: &NamedPosition) -> Option<Vec<String>> {
    let own = source.function_read(at.line)?;
    let operation = own.operations.get(own.operation_at((at.line, at.column))?)?;
    let types = operation.results.iter().map(|it| {
        let written = own.values.get(*it)?.type_text.as_deref()?;
        let tensor = written.strip_prefix("tensor<").and_then(|it| it.strip_suffix('>'));
        Some(tensor.unwrap_or(written).to_owned())
    });
    types.collect()
}

/// Whether a type is a declared one, or one that says more: the compiler finds sizes that the
/// source leaves open.
fn is_instance(known: &str, declared: &str) -> bool {
    let (mut known, mut declared) = (known.split('x'), declared.split('x'));
    loop {
        match (known.next(), declared.next()) {
            (None, None) => return true,
            (Some(known), Some(declared)) if known == declared || declared == "?" => {}
            _ => return false,
        }
    }
}
