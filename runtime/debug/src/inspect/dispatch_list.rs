//! The dispatches of a program, in the order in which it records them, with what has become of each
//! so far.

use std::collections::HashMap;
use std::sync::Arc;

use debuginfo::{OperandAccess, TensorOperationId};
use hal::{CommandRecord, PastDispatch, Runs, Work};
use vm::{FrameIndex, Position};

use crate::machine::Machine;
use crate::target::module::{LoadedModule, Recorded};
use crate::view::frame::SourceLine;

/// A dispatch of the program.
#[derive(Clone, Debug)]
pub struct DispatchEntry {
    /// Its place in this list, from 0. What has run has the number of its command, and only that
    /// one is shown.
    pub index: usize,
    /// The export that it runs; `None` if only a run can tell.
    pub name: Option<String>,
    /// The operation of the source that it was made from.
    pub source: Option<SourceLine>,
    /// The tensors that it reads and writes, as far as they are known without running it.
    pub operands: Vec<DispatchEntryOperand>,
    /// How often it has run, and the numbers of the commands; `None` before its first run.
    pub runs: Option<Runs>,
    /// The number of the command at which the program stands, if that is a run of it.
    pub current: Option<u64>,
    /// Whether the function that was called, or an initialiser, may record it: other functions of
    /// the modules record dispatches of their own.
    pub can_run: bool,
}

/// A tensor of a listed dispatch.
#[derive(Clone, Debug)]
pub struct DispatchEntryOperand {
    /// Its name in the source, if it is known.
    pub name: Option<String>,
    /// The framework's name of it, as expressions spell it, if it is known.
    pub node: Option<String>,
    /// Shape and element type: `4x8xf32`, with `?` for sizes that are not known before it ran.
    pub tensor_type: String,
    /// Whether the dispatch reads it.
    pub is_read: bool,
    /// Whether the dispatch writes it.
    pub is_written: bool,
}

impl Machine {
    /// The dispatches of the program, in the order in which it records them.
    #[must_use]
    pub fn dispatch_list(&self) -> Vec<DispatchEntry> {
        let records = self.program.host().device().history().records().into_iter();
        let latest: HashMap<Position, Arc<CommandRecord>> =
            records.map(|record| (record.recorded_at, record)).collect();
        let current = self.command(FrameIndex(0)).and_then(|step| step.recorded_at);
        let number = self.command_number(FrameIndex(0));
        let reach = self.program.reach();
        let entries = self.recorded_dispatches().enumerate().map(|(index, (module, recorded))| {
            let at = module.position_of_recorded(recorded);
            let last = latest.get(&at);
            let last = last.and_then(|record| dispatch_of(record));
            let name = last.and_then(|it| it.export()).map(|export| export.name.clone());
            let name = name.or_else(|| static_name(module, recorded));
            let constants = last.map(|it| &*it.constants).unwrap_or_default();
            DispatchEntry {
                index,
                operands: name
                    .as_deref()
                    .map_or_else(Vec::new, |name| self.listed_operands(at, name, constants)),
                name,
                source: module.line_of_path(self.level, &recorded.path),
                runs: self.program.host().device().history().runs(at),
                current: number.filter(|_| current == Some(at)),
                can_run: reach.running.contains(&at.function)
                    || reach.initializing.contains(&at.function),
            }
        });
        entries.collect()
    }

    /// The commands that have run, as far as they are remembered, by their numbers; with the export
    /// of each that is a dispatch.
    #[must_use]
    pub fn commands_run(&self) -> Vec<(u64, Option<String>)> {
        let records = self.program.host().device().history().records().into_iter();
        let exports = records.map(|record| {
            let export = dispatch_of(&record).and_then(PastDispatch::export);
            (record.number, export.map(|export| export.name.clone()))
        });
        exports.collect()
    }

    /// The index of a frame's dispatch in that list.
    #[must_use]
    pub fn dispatch_index(&self, frame: FrameIndex) -> Option<usize> {
        let at = self.command(frame)?.recorded_at?;
        let mut recorded = self.recorded_dispatches();
        recorded.position(|(module, it)| module.position_of_recorded(it) == at)
    }

    /// The operation of the program of tensors that a frame's dispatch is, by its place in the
    /// text.
    pub(crate) fn dispatch_operation(&self, frame: FrameIndex) -> Option<TensorOperationId> {
        self.program.written_dispatch(self.command(frame)?.recorded_at?)
    }

    /// The instructions that record dispatches, in their order, each with its module.
    pub(crate) fn recorded_dispatches(&self) -> impl Iterator<Item = (&LoadedModule, &Recorded)> {
        let modules = self.program.modules.iter().filter(|module| !module.is_nested);
        modules.flat_map(|module| {
            let dispatches = module.recorded().iter().filter(|it| it.recording.is_dispatch);
            dispatches.map(move |it| (module, it))
        })
    }

    fn listed_operands(
        &self,
        recorded_at: Position,
        export: &str,
        constants: &[u32],
    ) -> Vec<DispatchEntryOperand> {
        let Some(interface) = self.program.dispatch_interface(export) else { return Vec::new() };
        let types = interface.types(constants);
        let names = self.operand_names(recorded_at, interface, types.len());
        let listed = types.into_iter().zip(names.into_iter().chain(std::iter::repeat(None)));
        let listed = listed.map(|((tensor_type, access), name)| {
            let (name, node) = name.map(|it| (it.name, it.node)).unzip();
            DispatchEntryOperand {
                name,
                node: node.flatten(),
                is_read: access != OperandAccess::Write,
                is_written: access != OperandAccess::Read,
                tensor_type,
            }
        });
        listed.collect()
    }
}

/// The dispatch of a record, if it is one.
pub(crate) fn dispatch_of(record: &CommandRecord) -> Option<&PastDispatch> {
    match &record.work {
        Work::Dispatch(dispatch) => Some(dispatch),
        _ => None,
    }
}

/// The export that a recorded dispatch will run: as the bytecode names it, by the program of
/// tensors, or by the compiler's account of its calls if that is unambiguous.
fn static_name(module: &LoadedModule, recorded: &Recorded) -> Option<String> {
    let by_program = || {
        let tensors = module.tensors()?;
        let id = tensors.recorded_at(module.position_of_recorded(recorded))?;
        tensors.operation(id)?.export().map(str::to_owned)
    };
    let only = || {
        let mut names = module.calls_of(recorded).map(|call| &call.export);
        let first = names.next()?;
        names.all(|other| other == first).then(|| first.clone())
    };
    recorded.export.clone().or_else(by_program).or_else(only)
}
