//! Where the tensors of a model are: what each command that ran has read and written, in terms of
//! the program of tensors.

use std::sync::{Arc, PoisonError};

use abi::tensor::TensorType;
use debuginfo::{DispatchInterface, NamedPosition, SourceTensor, TensorOperationId, TensorValueId};
use hal::{CommandRecord, PastDispatch, Work};
use vm::{ModuleIndex, Position};

use crate::machine::Machine;
use crate::target::dispatch_memory::{DispatchMemory, is_written};
use crate::target::module::LoadedModule;
use crate::view::absent::Absent;
use crate::view::tensor_memory::{CommandUses, TensorMemory, UsedTensor};

impl CommandUses {
    /// What a dispatch uses, given the operation that it runs.
    pub(crate) fn of_dispatch(
        machine: &Machine,
        module: &LoadedModule,
        record: Arc<CommandRecord>,
        dispatch: &PastDispatch,
    ) -> Self {
        let operation = module.tensors().and_then(|it| it.recorded_at(record.recorded_at));
        let export = dispatch.export().map(|export| export.name.as_str()).unwrap_or_default();
        let interface = machine.program.dispatch_interface(export);
        let values = match (operation, module.tensors(), interface) {
            (Some(id), Some(tensors), Some(interface)) => tensors.values_of(id, interface),
            _ => Vec::new(),
        };
        let memory = DispatchMemory::of(interface, dispatch);
        let DispatchMemory { operands, spans, is_whole, written } = memory;
        let tensors = if is_whole && values.len() == operands.len() {
            let used = operands.into_iter().zip(spans).zip(values);
            used.filter_map(|((operand, span), value)| {
                let (value, span) = (value?, span?);
                let is_written = is_written(operand.access);
                Some(UsedTensor { value, span, tensor_type: operand.tensor_type, is_written })
            })
            .collect()
        } else {
            Vec::new()
        };
        Self { record, operation, tensors, written }
    }

    fn of(machine: &Machine, record: Arc<CommandRecord>) -> Self {
        let module = machine.program.module(record.recorded_at.function.module);
        match (&record.work, module) {
            (Work::Dispatch(dispatch), Some(module)) => {
                let dispatch = dispatch.clone();
                Self::of_dispatch(machine, module, record, &dispatch)
            }
            (Work::Dispatch(dispatch), None) => {
                let written = dispatch.bindings.clone();
                Self { record, operation: None, tensors: Vec::new(), written }
            }
            (Work::Fill(span) | Work::Update(span) | Work::Copy(_, span), _) => {
                let written = vec![span.clone()];
                Self { record, operation: None, tensors: Vec::new(), written }
            }
        }
    }

    /// The command in sentences: `command 41 (%s)`.
    pub(crate) fn describe(&self, machine: &Machine) -> String {
        format!("command {} ({})", self.record.number, self.name(machine))
    }

    /// That the command has written where a tensor was.
    pub(crate) fn overwrites(&self, machine: &Machine) -> Absent {
        Absent::OverwrittenBy { command: self.record.number, name: self.name(machine) }
    }

    /// What the command leaves by its name, or what it is.
    fn name(&self, machine: &Machine) -> String {
        match &self.record.work {
            Work::Fill(_) => "a fill".to_owned(),
            Work::Update(_) => "an update".to_owned(),
            Work::Copy(..) => "a copy".to_owned(),
            Work::Dispatch(dispatch) => {
                let module = self.record.recorded_at.function.module;
                let name = machine.result_names(module, self.operation).into_iter().next();
                let export = || dispatch.export().map(|export| format!("@{}", export.name));
                name.or_else(export).unwrap_or_else(|| "a dispatch".to_owned())
            }
        }
    }
}

/// What an operand of a dispatch is called.
#[derive(Clone, Debug)]
pub(crate) struct OperandName {
    /// In the source.
    pub(crate) name: String,
    /// By the framework, as expressions spell it.
    pub(crate) node: Option<String>,
    /// Its own shape and element type.
    /// Its names in the framework's layers.
    pub(super) in_layers: Vec<String>,
    pub(super) tensor_type: String,
    /// What it is in the program of tensors.
    pub(super) value: TensorValueId,
    /// Where the source defines it.
    pub(super) at: NamedPosition,
    /// Whether the source has no name for it: the name says of which tensor it is, and how it
    /// stands to it.
    pub(super) is_derived: bool,
}

impl OperandName {
    /// Its names: in the source, and by the framework.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        [self.name.as_str()].into_iter().chain(self.node.as_deref())
    }

    /// The name for a tensor of the dispatch, with the type in which the dispatch has it where the
    /// source has it in another: indices are those of that type.
    pub(crate) fn describe(&self, has: &TensorType) -> String {
        let names: Vec<&str> = self.names().collect();
        let own: Vec<&str> = self.tensor_type.split('x').collect();
        let has_it = has.to_string();
        let here: Vec<&str> = has_it.split('x').collect();
        let is_same = own.len() == here.len()
            && own.iter().zip(&here).all(|(own, here)| *own == "?" || own == here);
        let names = names.join(" = ");
        if is_same { names } else { format!("{names} as {has_it}") }
    }
}

impl Machine {
    /// What the commands that ran have read and written. Kept until another command runs.
    pub(crate) fn tensor_memory(&self) -> Arc<TensorMemory> {
        let history = self.program.host().device().history();
        let total = history.total();
        let mut kept = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.total != total {
            let records = history.records().into_iter();
            let commands = records.map(|record| CommandUses::of(self, record)).collect();
            *kept = Arc::new(TensorMemory { total, commands });
        }
        Arc::clone(&kept)
    }

    /// The names of what an operation leaves.
    pub(crate) fn result_names(
        &self,
        module: ModuleIndex,
        operation: Option<TensorOperationId>,
    ) -> Vec<String> {
        let tensors = self.program.module(module).and_then(LoadedModule::tensors);
        let (Some(tensors), Some(id)) = (tensors, operation) else { return Vec::new() };
        let results = tensors.operation(id).map(|it| it.results.clone()).unwrap_or_default();
        let mut found = Vec::new();
        for value in results {
            found.extend(tensors.names(id.function, value).into_iter().map(str::to_owned));
            let function = tensors.function(id.function);
            let derived = function.and_then(|it| it.value(value).derived.as_ref());
            found.extend(derived.map(ToString::to_string));
        }
        found
    }

    /// The names of a dispatch's operands in the source, each with the framework's. Empty unless
    /// all tensors of the interface are among its `count` operands: where some were left out, the
    /// rest have other numbers.
    pub(crate) fn operand_names(
        &self,
        recorded_at: Position,
        interface: &DispatchInterface,
        count: usize,
    ) -> Vec<Option<OperandName>> {
        if interface.tensor_count() != count {
            return Vec::new();
        }
        let tensors = self.program.module(recorded_at.function.module);
        let tensors = tensors.and_then(LoadedModule::tensors);
        let Some((tensors, id)) = tensors.and_then(|it| Some((it, it.recorded_at(recorded_at)?)))
        else {
            return Vec::new();
        };
        let values = tensors.program.interface_values(id, interface).into_iter();
        let name = |value| {
            let Some(tensor) = tensors.tensors(id.function, value).first().copied().cloned() else {
                let known = tensors.function(id.function)?.value(value);
                let derived = known.derived.as_ref()?;
                return Some(OperandName {
                    name: derived.to_string(),
                    node: None,
                    in_layers: Vec::new(),
                    tensor_type: known.tensor_type.clone(),
                    value,
                    at: derived.tensor.at.clone(),
                    is_derived: true,
                });
            };
            let node = tensors.node(id.function, value).map(str::to_owned);
            let SourceTensor { name, at, tensor_type, .. } = tensor;
            let in_layers = tensors.names_in_layers(id.function, value).to_vec();
            Some(OperandName { name, node, in_layers, tensor_type, value, at, is_derived: false })
        };
        values.map(|value| value.and_then(name)).collect()
    }
}
