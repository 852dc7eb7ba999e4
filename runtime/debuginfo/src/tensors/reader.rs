//! Reads the program of tensors from the text of the phase `flow`.

use std::collections::HashMap;

use mlir::table::{Control, Global, Meaning, Tensor};
use syntax::TokenKind;

use super::head::Head;
use super::program::{
    BodyTensor, RegionId, TensorFunction, TensorOperation, TensorOperationId, TensorOperationKind,
    TensorProgram, TensorRegion, TensorValue, TensorValueId,
};
use super::symbolic::maps::Maps;
use super::work::operations;
use crate::dispatches::OperandAccess;
use crate::mlir_text::{CallChain, LocationNames, LocationReader, NamedPosition};
use crate::source::functions::{
    FunctionIndex, SourceFunction, SourceOperation, ValueIndex, symbol_name,
};

/// The functions of a text, read.
pub(super) struct FlowText<'t> {
    pub(super) text: &'t str,
    pub(super) index: FunctionIndex,
    /// The functions of the program, with their names.
    pub(super) functions: Vec<(String, SourceFunction)>,
    /// The code of dispatches.
    pub(super) bodies: HashMap<String, SourceFunction>,
}

impl<'t> FlowText<'t> {
    pub(super) fn read(text: &'t str) -> Self {
        let index = FunctionIndex::scan(text);
        let mut functions = Vec::new();
        let mut bodies = HashMap::new();
        for number in 0..index.len() {
            let (Some(name), Some(read)) = (index.name(number), index.read(text, number)) else {
                continue;
            };
            let operation = read.operations.first().map_or("", |it| it.name.as_str());
            match operation {
                "util.func" | "util.initializer" => functions.push((name.to_owned(), read)),
                "func.func" => drop(bodies.insert(name.to_owned(), read)),
                _ => {}
            }
        }
        Self { text, index, functions, bodies }
    }
}

/// The program, without names of the source.
pub(super) fn program(read: &FlowText<'_>) -> TensorProgram {
    let bodies = read.bodies.iter().map(|(name, body)| (name.clone(), body_tensors(body)));
    let maps = Maps::of(read.text);
    let work = read
        .bodies
        .iter()
        .filter_map(|(name, body)| Some((name.clone(), operations(body, &maps)?)));
    let mut program =
        TensorProgram { functions: Vec::new(), bodies: bodies.collect(), work: work.collect() };
    let locations: Vec<Vec<&str>> =
        read.functions.iter().map(|(_, function)| locations(function)).collect();
    let mut places = LocationReader::of(read.text);
    let declared = declarations(read, &mut places);
    for (number, ((name, function), locations)) in read.functions.iter().zip(&locations).enumerate()
    {
        let mut read = tensor_function(number, function);
        read.name.clone_from(name);
        for (operation, location) in read.operations.iter_mut().zip(locations) {
            operation.chains = match *location {
                "" => Vec::new(),
                location => places.paths_of(location),
            };
            operation.chains.iter_mut().for_each(|chain| leave_declaration(chain, &declared));
            if !matches!(operation.kind, TensorOperationKind::Host { .. }) && !location.is_empty() {
                operation.location_names = places.names_of(location);
            }
        }
        program.functions.push(read);
    }
    program
}

/// Where functions are written that are only declared.
fn declarations(read: &FlowText<'_>, places: &mut LocationReader<'_>) -> Vec<NamedPosition> {
    let is_declaration = |it: &SourceFunction| it.operations.iter().all(|it| it.regions.is_empty());
    let declarations = read.functions.iter().filter(|(_, function)| is_declaration(function));
    let locations = declarations.filter_map(|(_, function)| function.location(0));
    locations.flat_map(|location| places.paths_of(location)).flatten().collect()
}

/// What the compiler has inlined of a declared function, the conversions around its call, is of the
/// call, as in the module (`LocationTable::without_declarations`).
fn leave_declaration(chain: &mut CallChain, declared: &[NamedPosition]) {
    if chain.len() > 1 && chain.first().is_some_and(|it| declared.contains(it)) {
        chain.remove(0);
    }
}

/// The location of each operation, as text.
fn locations(function: &SourceFunction) -> Vec<&str> {
    let operations = 1..function.operations.len();
    operations.map(|index| function.location(index).unwrap_or_default()).collect()
}

pub(super) fn id(value: ValueIndex) -> TensorValueId {
    TensorValueId(u32::try_from(value).unwrap_or(u32::MAX))
}

fn tensor_function(number: usize, function: &SourceFunction) -> TensorFunction {
    let mut read = TensorFunction::default();
    let values = function.values.iter().map(|it| value(it.type_text.as_deref().unwrap_or("")));
    read.values = values.collect();
    read.arguments = function.arguments().iter().copied().map(id).collect();
    read.regions.push(TensorRegion::default());
    // The regions of each operation, which come before the operations in them.
    let mut regions: HashMap<(usize, usize), RegionId> = HashMap::from([((0, 0), RegionId(0))]);
    for (index, written) in function.operations.iter().enumerate().skip(1) {
        let head = Head::of(function, index);
        let around = (written.parent.unwrap_or(0), written.region);
        let region = regions.get(&around).copied().unwrap_or_default();
        let own = TensorOperationId { function: number, index: index - 1 };
        for (which, inner) in written.regions.iter().enumerate() {
            let new = RegionId(u32::try_from(read.regions.len()).unwrap_or(u32::MAX));
            regions.insert((index, which), new);
            let arguments = inner.blocks.first().map(|it| it.arguments.clone());
            read.regions.push(TensorRegion {
                operation: Some(own),
                parent: Some(region),
                is_loop: matches!(
                    mlir::table::control(&written.name),
                    Some(Control::For | Control::While | Control::Forall)
                ),
                arguments: arguments.unwrap_or_default().into_iter().map(id).collect(),
            });
        }
        let operation = operation(function, written, &head, region, &mut read.values);
        for result in &operation.results {
            if let Some(value) = read.values.get_mut(result.0 as usize) {
                value.made_by = Some(own);
            }
        }
        read.operations.push(operation);
    }
    read
}

fn value(type_text: &str) -> TensorValue {
    let inner = type_text.strip_prefix("tensor<").and_then(|it| it.strip_suffix('>'));
    TensorValue {
        tensor_type: inner.unwrap_or(type_text).to_owned(),
        is_tensor: inner.is_some(),
        ..TensorValue::default()
    }
}

fn operation(
    function: &SourceFunction,
    written: &SourceOperation,
    head: &Head<'_>,
    region: RegionId,
    values: &mut [TensorValue],
) -> TensorOperation {
    let results: Vec<TensorValueId> = written.results.iter().copied().map(id).collect();
    let mut tied = vec![None; results.len()];
    let mut operands = written.operands.clone();
    if let Some(given) = dispatch_operands(&written.name, head) {
        operands = head.values(given);
    }
    if has_typed_results(&written.name) {
        let start = head.after_arrow().or_else(|| head.after_colon());
        let types = start.map(|start| head.types(start)).unwrap_or_default();
        for (at, (result, listed)) in written.results.iter().zip(types).enumerate() {
            tied[at] = listed.tied.map(id);
            let of_tied = listed.tied.and_then(|it| Some(values.get(it)?.clone()));
            let read = listed.text.as_deref().map(value).or(of_tied);
            if let (Some(slot), Some(read)) = (values.get_mut(*result), read) {
                *slot = TensorValue { names: Vec::new(), made_by: None, ..read };
            }
        }
    }
    let is_tensor = |it: &ValueIndex| values.get(*it).is_some_and(|it| it.is_tensor);
    let has_tensors = operands.iter().chain(&written.results).any(is_tensor);
    let kind = kind(function, written, head, has_tensors);
    let operands = operands.into_iter().map(id).collect();
    let (chains, location_names) = (Vec::new(), LocationNames::default());
    TensorOperation { kind, chains, location_names, operands, results, tied, region }
}

/// Whether the last types of an operation are those of its results.
fn has_typed_results(name: &str) -> bool {
    name.starts_with("flow.")
        || name.starts_with("hal.tensor.")
        || mlir::table::control(name) == Some(Control::Call)
}

/// The parentheses around the operands of a dispatch, after its workload.
pub(super) fn dispatch_operands(name: &str, head: &Head<'_>) -> Option<std::ops::Range<usize>> {
    if mlir::table::control(name) != Some(Control::Dispatch) {
        return None;
    }
    let is_start = |at: &usize| head.kind(*at) == Some(TokenKind::Punct(b'('));
    (0..head.len()).find(is_start).map(|at| head.inside(at))
}

/// The index of the argument that an operation takes as a tensor: `wait(%fence) => %arg0`.
pub(super) fn imported(function: &SourceFunction, head: &Head<'_>) -> Option<usize> {
    let start = if head.token(0) == "wait" { head.group_end(1) } else { 0 };
    let value = head.values(start..head.len()).into_iter().next()?;
    function.arguments().iter().position(|it| *it == value)
}

fn kind(
    function: &SourceFunction,
    written: &SourceOperation,
    head: &Head<'_>,
    has_tensors: bool,
) -> TensorOperationKind {
    let name = written.name.clone();
    let symbols = || {
        let all = 0..head.len();
        all.filter(|at| head.kind(*at) == Some(TokenKind::Symbol)).map(|at| head.token(at))
    };
    let symbol = || symbols().next().map(symbol_name).unwrap_or_default();
    match mlir::meaning(&name) {
        Some(Meaning::Control(Control::Dispatch)) => TensorOperationKind::Dispatch {
            export: symbols().nth(1).map(symbol_name).unwrap_or_default(),
        },
        Some(Meaning::Global(Global::Load)) if has_tensors => {
            TensorOperationKind::GlobalLoad { symbol: symbol() }
        }
        Some(Meaning::Tensor(Tensor::Import)) => match imported(function, head) {
            Some(argument) => TensorOperationKind::Import { argument },
            None => TensorOperationKind::Other { name },
        },
        Some(Meaning::Tensor(Tensor::Export)) => TensorOperationKind::Export,
        Some(Meaning::Control(Control::Call)) => TensorOperationKind::Call { callee: symbol() },
        Some(Meaning::Constant) if has_tensors => {
            TensorOperationKind::Constant { parameter: parameter(&head.text(0..head.len())) }
        }
        Some(Meaning::Tensor(Tensor::Splat | Tensor::Empty)) => TensorOperationKind::Splat,
        Some(
            Meaning::Alias
            | Meaning::Tensor(
                Tensor::ReshapeToType
                | Tensor::Reshape
                | Tensor::Bitcast
                | Tensor::Cast
                | Tensor::Same,
            ),
        ) if has_tensors => TensorOperationKind::Alias,
        Some(Meaning::Tensor(Tensor::Clone)) => TensorOperationKind::Copy,
        _ if ["slice", "update", "store"]
            .iter()
            .any(|it| name.strip_prefix("flow.tensor.") == Some(it)) =>
        {
            TensorOperationKind::Copy
        }
        _ if !has_tensors || name.starts_with("scf.") || name.starts_with("util.") => {
            TensorOperationKind::Host { name }
        }
        _ => TensorOperationKind::Other { name },
    }
}

/// Scope and key in `#flow.parameter.named<"scope"::"key">`, of which the scope may be missing.
pub(super) fn parameter(text: &str) -> Option<(String, String)> {
    let rest = text.split_once("parameter.named<")?.1;
    let mut strings = rest.split('"').skip(1).step_by(2);
    let first = strings.next()?.to_owned();
    let after = rest.splitn(3, '"').nth(2)?;
    match after.strip_prefix("::\"") {
        Some(_) => Some((first, strings.next()?.to_owned())),
        None => Some((String::new(), first)),
    }
}

/// The tensors among the arguments of a dispatch.
fn body_tensors(body: &SourceFunction) -> Vec<BodyTensor> {
    let arguments = body.arguments().iter().enumerate();
    let tensors = arguments.filter_map(|(argument, value)| {
        let declared = body.values.get(*value)?.type_text.as_deref()?;
        let (access, tensor_type) = dispatch_tensor(declared)?;
        Some(BodyTensor { argument, tensor_type, access })
    });
    tensors.collect()
}

/// `!iree_tensor_ext.dispatch.tensor<readonly:tensor<4xf32>>`.
pub(super) fn dispatch_tensor(declared: &str) -> Option<(OperandAccess, String)> {
    let (access, shaped) = declared.split_once("dispatch.tensor<")?.1.split_once(':')?;
    let access = match access.trim() {
        "readonly" => OperandAccess::Read,
        "writeonly" => OperandAccess::Write,
        "readwrite" => OperandAccess::ReadWrite,
        _ => return None,
    };
    let shaped = shaped.strip_suffix('>')?;
    let shaped = shaped.strip_prefix("tensor<").and_then(|it| it.strip_suffix('>'));
    Some((access, shaped?.to_owned()))
}
