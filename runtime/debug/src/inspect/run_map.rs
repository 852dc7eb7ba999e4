//! What has run so far, to be drawn over the graph of dispatches and as a time line: how often each
//! dispatch ran and for how long, and which tensors have numbers that are none.

use std::collections::HashMap;
use std::sync::PoisonError;

use debuginfo::TensorOperationId;
use hal::Work;
use vm::{FrameIndex, Position};

use crate::machine::Machine;
use crate::tensor::TensorView;
use crate::view::run_map::{DispatchRuns, Numbers, RanCommand, RunMap};
use crate::view::tensor_memory::{CommandUses, TensorMemory};

/// At most so many elements of tensors are looked at at one stop.
const MOST_ELEMENTS: usize = 32 << 20;

impl Machine {
    /// What has run so far, with the last `most` commands one by one.
    #[must_use]
    pub fn run_map(&self, most: usize) -> RunMap {
        let history = self.program.host().device().history();
        let memory = self.tensor_memory();
        let current = self.command(FrameIndex(0)).and_then(|step| step.recorded_at);
        let mut indices: HashMap<Position, usize> = HashMap::new();
        let mut variants: HashMap<TensorOperationId, usize> = HashMap::new();
        let mut dispatches: Vec<DispatchRuns> = Vec::new();
        for (module, recorded) in self.recorded_dispatches() {
            let at = module.position_of_recorded(recorded);
            let operation = module.tensors().and_then(|it| it.recorded_at(at));
            let runs = history.runs(at);
            let own = |id: TensorOperationId| *variants.entry(id).or_insert(dispatches.len());
            let variant = operation.map(own).filter(|index| *index < dispatches.len());
            // Each variant of an executable has an instruction of its own.
            if let Some(index) = variant {
                indices.insert(at, index);
                let known = &mut dispatches[index];
                known.is_current |= current == Some(at);
                known.runs = known.runs.or(runs);
                continue;
            }
            indices.insert(at, dispatches.len());
            let tensors = module.tensors();
            dispatches.push(DispatchRuns {
                operation: operation.and_then(|it| tensors?.as_written(it)),
                source: module.line_of_path(self.level, &recorded.path),
                export: recorded.export.clone(),
                runs,
                is_current: current == Some(at),
                numbers: None,
            });
        }
        self.look_at_numbers(&memory, &indices, &mut dispatches);
        let skipped = memory.commands.len().saturating_sub(most);
        let commands = memory.commands.iter().skip(skipped).map(|command| {
            let record = &command.record;
            RanCommand {
                number: record.number,
                kind: match record.work {
                    Work::Fill(_) => "fill",
                    Work::Update(_) => "update",
                    Work::Copy(..) => "copy",
                    Work::Dispatch(_) => "dispatch",
                },
                dispatch: indices.get(&record.recorded_at).copied(),
                timing: record.timing.unwrap_or_default(),
            }
        });
        RunMap { commands: commands.collect(), dispatches, total: memory.total }
    }

    /// Looks for NaN and infinities in what the last run of each dispatch has left, as far as it is
    /// still there. What was found once stays known.
    fn look_at_numbers(
        &self,
        memory: &TensorMemory,
        indices: &HashMap<Position, usize>,
        dispatches: &mut [DispatchRuns],
    ) {
        let mut known = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let first = memory.commands.first().map_or(u64::MAX, |it| it.record.number);
        known.retain(|number, _| *number >= first);
        let mut looked_at = 0;
        for (place, command) in memory.commands.iter().enumerate().rev() {
            let Some(index) = indices.get(&command.record.recorded_at) else { continue };
            let dispatch = &mut dispatches[*index];
            if dispatch.runs.is_none_or(|runs| runs.last != command.record.number) {
                continue;
            }
            let number = command.record.number;
            if let Some(found) = known.get(&number) {
                dispatch.numbers = Some(found.clone());
                continue;
            }
            let Some(left) = intact(command, &memory.commands[place + 1..]) else { continue };
            let size: usize = left.iter().map(TensorView::count).sum();
            if looked_at + size > MOST_ELEMENTS {
                continue;
            }
            looked_at += size;
            let mut found = Numbers::default();
            for summary in left.iter().filter_map(|tensor| tensor.summary(usize::MAX)) {
                found.nans += summary.nans;
                found.infinities += summary.infinities;
            }
            known.insert(number, found.clone());
            dispatch.numbers = Some(found);
        }
    }
}

/// The tensors that a dispatch has left; `None` if one of them is no longer as it left them.
fn intact(command: &CommandUses, later: &[CommandUses]) -> Option<Vec<TensorView>> {
    let written: Vec<_> = command.tensors.iter().filter(|it| it.is_written).collect();
    let tensors = written.iter().map(|used| {
        let is_intact = !later.iter().any(|it| it.may_have_written(&used.span))
            && !used.span.has_been_stored_to();
        let tensor_type = abi::tensor::TensorType::parse(&used.tensor_type).ok()?;
        TensorView::new(used.span.bytes().filter(|_| is_intact)?, tensor_type).ok()
    });
    (!written.is_empty()).then(|| tensors.collect())?
}
