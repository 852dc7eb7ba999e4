//! The program of tensors of a module, and which instruction records which of its operations.

use std::collections::{BTreeMap, HashMap, HashSet};

use debuginfo::{
    CallChain, DispatchInterface, FileId, NamedPosition, RecordedDispatch, RegionId, SourceTensor,
    TensorFunction, TensorOperation, TensorOperationId, TensorOperationKind, TensorProgram,
    TensorValueId, UnalignedProgram,
};
use vm::Position;
use vmfb::{BytecodeOffset, FunctionOrdinal, Op};

use super::module::LoadedModule;
use crate::view::symbol::quoted_name;

/// The instructions that have a line at the level of the model.
#[derive(Debug, Default)]
pub(crate) struct ModelLines {
    /// The functions that arrange for tensors to be computed.
    arranging: HashSet<FunctionOrdinal>,
    /// The instructions of these functions that do what the source says.
    shown: HashSet<(FunctionOrdinal, BytecodeOffset)>,
}

impl ModelLines {
    pub(crate) fn contains(&self, function: FunctionOrdinal, offset: BytecodeOffset) -> bool {
        !self.arranging.contains(&function) || self.shown.contains(&(function, offset))
    }
}

/// The program of tensors of a module.
pub(crate) struct ModuleTensors {
    pub(crate) program: TensorProgram,
    recorded: BTreeMap<(FunctionOrdinal, BytecodeOffset), TensorOperationId>,
    /// Which operation of the text each is, if they were put into the order of the recordings.
    written: Option<HashMap<TensorOperationId, TensorOperationId>>,
    /// The places of operations that copy or fill, without those of dispatches.
    transfers: HashSet<NamedPosition>,
    /// The framework's names of values, as expressions spell them.
    nodes: HashMap<(usize, TensorValueId), String>,
    /// The names of values in the framework's layers.
    in_layers: HashMap<(usize, TensorValueId), Vec<String>>,
}

impl ModuleTensors {
    /// The program, aligned with the instructions of its module.
    ///
    /// # Errors
    /// It belongs to another module; the text says why.
    pub(crate) fn new(
        mut program: TensorProgram,
        module: &LoadedModule,
    ) -> Result<Self, UnalignedProgram> {
        let dispatches = module.recorded().iter().filter(|it| it.recording.is_dispatch);
        let recordings: Vec<RecordedDispatch> = dispatches
            .map(|it| RecordedDispatch {
                function: it.recording.function,
                offset: it.recording.offset,
                chain: module.written(&it.recording.chain),
                export: it.export.clone(),
            })
            .collect();
        let mut written = None;
        let recorded = match program.align(&recordings) {
            Err(error) => {
                let before = program.makers();
                if !program.arrange(&recordings) {
                    return Err(error);
                }
                let after = program.makers().into_iter();
                let pairs = after.filter_map(|(value, it)| Some((it, *before.get(&value)?)));
                written = Some(pairs.collect());
                program.align(&recordings)
            }
            aligned => aligned,
        }?;
        let transfers = transfers(&program);
        let nodes = nodes(&program, module);
        let in_layers = names_in_layers(&program, module);
        Ok(Self { program, recorded, written, transfers, nodes, in_layers })
    }

    /// The instructions with a line at the level of the model: of functions with dispatches, those
    /// of operations that the host executes, and returns.
    pub(crate) fn lines(&self, module: &LoadedModule) -> ModelLines {
        let mut lines = ModelLines::default();
        let recorded = module.recorded().iter();
        lines.arranging.extend(recorded.map(|it| it.recording.function));
        let mut places: HashSet<NamedPosition> = HashSet::new();
        for function in self.program.functions() {
            let is_host = |it: &&TensorOperation| {
                matches!(
                    it.kind,
                    TensorOperationKind::Host { .. } | TensorOperationKind::Call { .. }
                )
            };
            let is_there =
                |it: &TensorOperation| matches!(it.kind, TensorOperationKind::Dispatch { .. });
            if function.operations.iter().any(is_there) {
                let ordinal = module.module.functions_with_ordinals().map(|(ordinal, _)| ordinal);
                let named = |it: &FunctionOrdinal| {
                    module.info.function_name(*it) == Some(function.name.as_str())
                };
                lines.arranging.extend(ordinal.filter(named));
            }
            let host = function.operations.iter().filter(is_host);
            let chains = host.flat_map(|it| &it.chains);
            places.extend(chains.filter_map(|chain| chain.first()).cloned());
        }
        for function in &lines.arranging {
            let code = vmfb::instructions(module.module.function_bytecode(*function));
            for instruction in code.map_while(Result::ok) {
                let position = module.info.position_at(*function, instruction.offset);
                let is_host = || position.is_some_and(|at| places.contains(&module.written_at(at)));
                if instruction.op == Op::Return || is_host() {
                    lines.shown.insert((*function, instruction.offset));
                }
            }
        }
        lines
    }

    /// Whether an operation at a place copies or fills tensors.
    pub(crate) fn transfers(&self, place: &NamedPosition) -> bool {
        self.transfers.contains(place)
    }

    /// Whether it has dispatches.
    pub(crate) fn has_dispatches(&self) -> bool {
        !self.recorded.is_empty()
    }

    /// The dispatch that an instruction records.
    pub(crate) fn recorded_at(&self, position: Position) -> Option<TensorOperationId> {
        self.recorded.get(&(position.function.function, position.offset)).copied()
    }

    /// Which operation of the program's text one is: the graph of the dispatches has that order.
    pub(crate) fn as_written(&self, operation: TensorOperationId) -> Option<TensorOperationId> {
        match &self.written {
            Some(written) => written.get(&operation).copied(),
            None => Some(operation),
        }
    }

    /// Where the program of tensors stands at an instruction that records a transfer: before the
    /// dispatch that is recorded next, or after the one that was recorded last.
    pub(crate) fn near(&self, position: Position) -> Option<TensorOperationId> {
        let (function, offset) = (position.function.function, position.offset);
        let last = BytecodeOffset(u32::MAX);
        let next = self.recorded.range((function, offset)..=(function, last)).next();
        let before = || {
            let mut before = self.recorded.range((function, BytecodeOffset(0))..(function, offset));
            let (_, id) = before.next_back()?;
            Some(TensorOperationId { index: id.index + 1, ..*id })
        };
        next.map(|(_, id)| *id).or_else(before)
    }

    pub(crate) fn function(&self, index: usize) -> Option<&TensorFunction> {
        self.program.functions().get(index)
    }

    pub(crate) fn operation(&self, id: TensorOperationId) -> Option<&TensorOperation> {
        self.program.operation(id)
    }

    /// The value that has the bytes of a value: reshapes change only the type.
    pub(crate) fn root(&self, function: usize, value: TensorValueId) -> TensorValueId {
        let mut root = value;
        let Some(values) = self.function(function) else { return root };
        // A chain of reshapes is no longer than the function.
        for _ in 0..values.operations.len() {
            let made_by = values.value(root).made_by.and_then(|id| self.operation(id));
            let alias = made_by.filter(|it| it.kind == TensorOperationKind::Alias);
            match alias.and_then(|it| it.operands.first()) {
                Some(operand) => root = *operand,
                None => break,
            }
        }
        root
    }

    /// The tensors of a dispatch in the order of its interface, each by the value whose bytes it
    /// has.
    pub(crate) fn values_of(
        &self,
        id: TensorOperationId,
        interface: &DispatchInterface,
    ) -> Vec<Option<TensorValueId>> {
        let values = self.program.interface_values(id, interface).into_iter();
        values.map(|value| Some(self.root(id.function, value?))).collect()
    }

    /// The innermost loop that defines a value again in each turn.
    pub(crate) fn loop_around(&self, function: usize, value: TensorValueId) -> Option<RegionId> {
        let function = self.function(function)?;
        let region = match function.value(value).made_by {
            Some(id) => function.operations.get(id.index)?.region,
            None => {
                let mut regions = (0_u32..).map(RegionId).zip(&function.regions);
                regions.find(|(_, region)| region.arguments.contains(&value))?.0
            }
        };
        self.enclosing(function, region).find(|(_, is_loop)| *is_loop).map(|(id, _)| id)
    }

    /// Whether an operation that has run shows that the program has not come to `at` in the same
    /// turn of a loop, or in the same call of the function where no loop is given: `at` comes
    /// first in a turn, and no loop inside that one has brought the program back to it.
    pub(crate) fn begins_again(
        &self,
        region: Option<RegionId>,
        at: TensorOperationId,
        ran: TensorOperationId,
    ) -> bool {
        let Some(function) = self.function(at.function) else { return true };
        if ran < at || ran.function != at.function {
            return false;
        }
        let around = |id: TensorOperationId| {
            let region = function.operations.get(id.index).map(|it| it.region).unwrap_or_default();
            self.enclosing(function, region)
        };
        let is_around_both =
            |id: RegionId, is_loop: bool| is_loop && around(at).any(|(it, _)| it == id);
        let shared = around(ran).find(|(id, is_loop)| is_around_both(*id, *is_loop));
        match (shared, region) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some((shared, _)), Some(region)) => {
                self.enclosing(function, region).any(|(it, _)| it == shared)
            }
        }
    }

    /// A region and those around it, innermost first, each with whether it is a loop's.
    fn enclosing<'f>(
        &self,
        function: &'f TensorFunction,
        region: RegionId,
    ) -> impl Iterator<Item = (RegionId, bool)> + use<'f> {
        let around = |id: &RegionId| function.region(*id).and_then(|region| region.parent);
        // Nesting is no deeper than there are regions.
        let regions = std::iter::successors(Some(region), around).take(function.regions.len());
        regions.map(|id| (id, function.region(id).is_some_and(|region| region.is_loop)))
    }

    /// Whether a function runs once for each call of an export: it is the export, or the half of
    /// it that does not wait for itself, and no other function calls it.
    pub(crate) fn runs_once(&self, function: usize, export: &str) -> bool {
        let Some(name) = self.function(function).map(|it| it.name.as_str()) else { return false };
        let whole = name.strip_suffix("$async").unwrap_or(name);
        let calls_it = |it: &TensorOperation| match &it.kind {
            TensorOperationKind::Call { callee } => callee == name,
            _ => false,
        };
        let others = self.program.functions().iter().filter(|it| it.name != whole);
        let mut operations = others.flat_map(|it| &it.operations);
        (name == export || whole == export) && !operations.any(calls_it)
    }

    /// What the dispatches of a function leave: the place of each, its export, and the value.
    pub(crate) fn results(
        &self,
        function: usize,
    ) -> impl Iterator<Item = (Option<&CallChain>, &str, TensorValueId)> {
        let operations = self.function(function).into_iter().flat_map(|it| &it.operations);
        operations.flat_map(|it| {
            let results = it.results.iter();
            results.filter_map(move |value| Some((it.chains.first(), it.export()?, *value)))
        })
    }

    /// The framework's name of a value, as expressions spell it: `%"/layer1/Relu_output_0"`.
    pub(crate) fn node(&self, function: usize, value: TensorValueId) -> Option<&str> {
        self.nodes.get(&(function, value)).map(String::as_str)
    }

    /// The names of a value in the framework's layers: `blocks.2.scores`.
    pub(crate) fn names_in_layers(&self, function: usize, value: TensorValueId) -> &[String] {
        self.in_layers.get(&(function, value)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The tensors of the source that a value is: the function's own first, then those in calls
    /// that were inlined into it.
    pub(crate) fn tensors(&self, function: usize, value: TensorValueId) -> Vec<&SourceTensor> {
        let Some(function) = self.function(function) else { return Vec::new() };
        let mut tensors: Vec<_> = function.value(value).names.iter().collect();
        tensors.sort_by_key(|it| it.calls.len());
        tensors
    }

    /// Their names.
    pub(crate) fn names(&self, function: usize, value: TensorValueId) -> Vec<&str> {
        self.tensors(function, value).into_iter().map(|it| it.name.as_str()).collect()
    }
}

/// The framework's names of values that have a name of the source.
fn nodes(
    program: &TensorProgram,
    module: &LoadedModule,
) -> HashMap<(usize, TensorValueId), String> {
    let files: HashMap<&str, FileId> = module.info.files().map(|(id, name)| (name, id)).collect();
    let mut nodes = HashMap::new();
    for (index, function) in program.functions().iter().enumerate() {
        for (id, value) in function.values() {
            let known = value.names.iter().find_map(|name| {
                let file = *files.get(name.at.file.as_str())?;
                module.info.node_name(file, name.at.line, &name.name)
            });
            if let Some(node) = known.filter(|it| !it.tensor.is_empty()) {
                nodes.insert((index, id), format!("%{}", quoted_name(&node.tensor)));
            }
        }
    }
    nodes
}

/// The names in the framework's layers of values that have a name of the source.
fn names_in_layers(
    program: &TensorProgram,
    module: &LoadedModule,
) -> HashMap<(usize, TensorValueId), Vec<String>> {
    let mut found = HashMap::new();
    for (index, function) in program.functions().iter().enumerate() {
        for (id, value) in function.values() {
            let names = value.names.iter().flat_map(|it| module.names_in_layers(it));
            let names: Vec<String> = names.cloned().collect();
            if !names.is_empty() {
                found.insert((index, id), names);
            }
        }
    }
    found
}

/// The places of operations that copy or fill, without those of dispatches.
fn transfers(program: &TensorProgram) -> HashSet<NamedPosition> {
    let places = |is_wanted: fn(&TensorOperationKind) -> bool| {
        let operations = program.functions().iter().flat_map(|it| &it.operations);
        let wanted = operations.filter(move |it| is_wanted(&it.kind));
        wanted.flat_map(|it| &it.chains).filter_map(|chain| chain.first())
    };
    let is_transfer = |kind: &TensorOperationKind| {
        matches!(kind, TensorOperationKind::Splat | TensorOperationKind::Copy)
    };
    let is_dispatch =
        |kind: &TensorOperationKind| matches!(kind, TensorOperationKind::Dispatch { .. });
    let mut found: HashSet<NamedPosition> = places(is_transfer).cloned().collect();
    for place in places(is_dispatch) {
        found.remove(place);
    }
    found
}

#[cfg(test)]
mod tests {
    use debuginfo::{DispatchInterfaces, TensorSources};

    use super::*;

    /// Two loops, one in the other, with a dispatch before, in and after each.
    const FLOW: &str = "
module {
  util.func public @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = flow.dispatch @e::@d0(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %0) -> (tensor<4xf32>) {
      %2 = flow.dispatch @e::@d1(%a) : (tensor<4xf32>) -> tensor<4xf32>
      %3 = scf.for %j = %c0 to %c9 step %c1 iter_args(%b = %2) -> (tensor<4xf32>) {
        %4 = flow.dispatch @e::@d2(%b) : (tensor<4xf32>) -> tensor<4xf32>
        %5 = flow.dispatch @e::@d3(%4) : (tensor<4xf32>) -> tensor<4xf32>
        scf.yield %5 : tensor<4xf32>
      }
      %6 = flow.dispatch @e::@d4(%3) : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %6 : tensor<4xf32>
    }
    %7 = flow.dispatch @e::@d5(%1) : (tensor<4xf32>) -> tensor<4xf32>
    util.return %7 : tensor<4xf32>
  }
}
";

    #[test]
    fn a_turn_of_a_loop_ends_where_a_later_operation_has_run() {
        let dispatches = DispatchInterfaces::default();
        let file = |_: &str| None;
        let sources =
            TensorSources { flow: FLOW, input: None, dispatches: &dispatches, file: &file };
        let program = TensorProgram::parse(&sources);
        let all: Vec<TensorOperationId> = program.dispatches().map(|(id, _)| id).collect();
        let tensors = ModuleTensors {
            program,
            recorded: BTreeMap::new(),
            written: None,
            transfers: HashSet::new(),
            nodes: HashMap::new(),
            in_layers: HashMap::new(),
        };
        let [before, outer, first, second, last, after] = all[..] else { panic!("{all:?}") };
        let result = |id: TensorOperationId| tensors.operation(id).expect("is there").results[0];
        let around = |id| tensors.loop_around(0, result(id));
        let (inner_loop, outer_loop) = (around(first), around(outer));
        assert!(inner_loop.is_some() && outer_loop.is_some() && inner_loop != outer_loop);
        assert_eq!((around(before), around(last)), (None, outer_loop));
        // What the inner loop made is gone when its second dispatch has run and its first is next.
        assert!(tensors.begins_again(inner_loop, first, second));
        assert!(!tensors.begins_again(inner_loop, second, first));
        // What the outer loop made stays meanwhile, and goes with its own last dispatch.
        assert!(!tensors.begins_again(outer_loop, first, second));
        assert!(tensors.begins_again(outer_loop, first, last));
        // Turns are no calls of the function.
        assert!(!tensors.begins_again(None, first, last));
        assert!(tensors.begins_again(None, first, after));
        assert!(!tensors.begins_again(None, after, before));
    }
}
