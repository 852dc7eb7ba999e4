//! Tensors that no dispatch leaves in memory, computed again from those that are there.
//!
//! The source says how: its operations from the nearest tensors that are in memory, or that it
//! writes as constants, up to the one that is asked for, are evaluated one by one in float64 (the
//! crate `reference`), with a bound of how far a correct program may be away. What the program has
//! computed is not looked at, so the result is marked ([`TensorView::recomputed`]).
//!
//! Nothing is computed from a tensor that is not certain to be the one of the source, now: each is
//! asked for as one that is shown ([`super::tensors`], [`super::past_tensors`]). What has no bound
//! is not shown.

use std::cell::Cell;
use std::sync::Arc;

use abi::tensor::Tensor;
use debuginfo::{
    Fate, NamedPosition, ScopedValue, SourceSteps, SourceTensor, StepOrigin, StepValueId,
    TensorOperationKind, TensorValueId, WrittenTensor,
};

use super::given::{Given, given};
use super::source_evaluation::{Known, Leaves, NotRecomputed, SourceEvaluation};
use super::tensors::{Stand, with_sign};
use crate::expression::Datum;
use crate::machine::Machine;
use crate::target::module::LoadedModule;
use crate::tensor::TensorView;
use crate::view::absent::Absent;
use crate::view::frame::FrameId;
use crate::view::tensor_memory::UsedTensor;

/// The most scalar operations for a tensor that is asked for.
const MOST_OPERATIONS: u64 = 2_000_000_000;
/// The most scalar operations for all tensors of a list.
const MOST_FOR_A_LIST: u64 = 5_000_000;

/// Computes tensors at one place where the program stands. What was computed for one is used for
/// the next.
pub(crate) struct Recomputation<'m> {
    evaluation: SourceEvaluation,
    leaves: MemoryLeaves<'m>,
}

/// What is in memory, or written in the source, where a frame stands.
pub(super) struct MemoryLeaves<'m> {
    pub(super) machine: &'m Machine,
    pub(super) module: &'m LoadedModule,
    pub(super) stand: Stand<'m>,
    /// The tensors in memory that something was computed from.
    used: Vec<TensorValueId>,
    /// Whether something was computed from a number that the program was called with.
    uses_number: Cell<bool>,
}

impl Machine {
    /// What computes tensors again in a frame.
    pub(crate) fn recomputation(&self, frame: FrameId) -> Option<Recomputation<'_>> {
        self.recomputation_within(frame, MOST_OPERATIONS)
    }

    /// The same for a list of tensors.
    pub(super) fn recomputation_of_list(&self, frame: FrameId) -> Option<Recomputation<'_>> {
        self.recomputation_within(frame, MOST_FOR_A_LIST)
    }

    fn recomputation_within(&self, frame: FrameId, allowed: u64) -> Option<Recomputation<'_>> {
        let leaves = self.memory_leaves(frame)?;
        let steps = leaves.module.source_steps(leaves.stand.function)?;
        Some(Recomputation { evaluation: SourceEvaluation::new(steps, allowed), leaves })
    }

    /// What is in memory where a frame stands.
    pub(super) fn memory_leaves(&self, frame: FrameId) -> Option<MemoryLeaves<'_>> {
        let stand = self.stand(frame)?;
        let module = self.module_of(&stand)?;
        Some(MemoryLeaves {
            machine: self,
            module,
            stand,
            used: Vec::new(),
            uses_number: Cell::new(false),
        })
    }

    /// The module of the program of tensors.
    pub(super) fn module_of(&self, stand: &Stand<'_>) -> Option<&LoadedModule> {
        let mut modules = self.program.modules.iter();
        modules.find(|it| it.tensors().is_some_and(|it| std::ptr::eq(it, stand.tensors)))
    }

    /// A tensor of the source that is not in memory: as it was before it was overwritten, or
    /// computed again in a frame; or why it has no value.
    pub(super) fn elsewhere_here(
        &self,
        frame: FrameId,
        value: &ScopedValue,
        reason: Absent,
    ) -> Result<Datum, Absent> {
        if !reason.may_be_recomputed() {
            return Err(reason);
        }
        self.elsewhere(frame, value, reason, &mut self.recomputation(frame))
    }

    /// A tensor of the source that is not in memory: as it was before it was overwritten, or
    /// computed again; or why it has no value.
    pub(crate) fn elsewhere(
        &self,
        frame: FrameId,
        value: &ScopedValue,
        reason: Absent,
        by: &mut Option<Recomputation<'_>>,
    ) -> Result<Datum, Absent> {
        if !reason.may_be_recomputed() {
            return Err(reason);
        }
        // What the program has had goes before what it should have.
        let reason = match self.past_source_tensor(frame, value, reason) {
            Ok(found) => return Ok(Datum::Tensor(found)),
            Err(reason) => reason,
        };
        let Some(by) = by else {
            let why = NotRecomputed::NoSource.to_string();
            return Err(Absent::NotRecomputed { absent: Box::new(reason), why });
        };
        let is_in_call = self.is_inlined(frame);
        let calls = by.leaves.stand.calls.clone();
        let at = value.defined_inside_at();
        let found = by.evaluation.steps.named(&value.name, &calls, is_in_call, at);
        let Ok(Some(id)) = found else {
            return Err(reason);
        };
        by.tensor(id, &value.type_text).map(Datum::Tensor).map_err(|why| match why {
            // It is not computed from anything else.
            NotRecomputed::Lost { name, .. } if name == value.name => reason,
            why => Absent::NotRecomputed { absent: Box::new(reason), why: why.to_string() },
        })
    }
}

impl Recomputation<'_> {
    /// A tensor by its name, whether or not the program has come to it, and where the source
    /// defines it; or why it is not computed. `None`: no tensor, or no single one, has the name.
    pub(super) fn named(
        &mut self,
        machine: &Machine,
        frame: FrameId,
        name: &str,
    ) -> Option<(NamedPosition, Result<TensorView, Absent>)> {
        let (calls, is_in_call) = (self.leaves.stand.calls.clone(), machine.is_inlined(frame));
        let id = self.evaluation.steps.named(name, &calls, is_in_call, None).ok()??;
        let source = self.evaluation.steps.tensors(id).iter().find(|it| it.name == name)?.clone();
        let found = self.tensor(id, &source.tensor_type).map_err(|why| {
            let absent = Box::new(Absent::NotYetComputed);
            Absent::NotRecomputed { absent, why: why.to_string() }
        });
        Some((source.at, found))
    }

    /// A tensor, in the type that the source writes for it.
    fn tensor(&mut self, id: StepValueId, written: &str) -> Result<TensorView, NotRecomputed> {
        let known = self.evaluation.settled(id, &mut self.leaves)?;
        if self.leaves.is_changed() {
            return Err(NotRecomputed::ValuesChanged);
        }
        let named = self.evaluation.steps.tensors(id).first().map(|it| with_sign(it, written));
        known.view(named.as_ref().map(|it| it.tensor_type.as_str()))
    }
}

impl Leaves for MemoryLeaves<'_> {
    fn constant(&self, name: &str) -> Option<Vec<u8>> {
        self.module.elided_constant(name)
    }

    fn given(&self, argument: usize) -> Option<Given> {
        let given = given(self.machine, &self.stand, argument)?;
        if !matches!(given, Given::Sizes(_)) {
            self.uses_number.set(true);
        }
        Some(given)
    }

    fn there(
        &mut self,
        steps: &SourceSteps,
        id: StepValueId,
    ) -> Option<Result<Known, NotRecomputed>> {
        let mut lost = None;
        for tensor in steps.tensors(id) {
            match self.in_memory(tensor) {
                Some(Ok(found)) => return Some(Ok(found)),
                Some(Err(reason)) => {
                    lost = Some(NotRecomputed::Lost {
                        name: tensor.name.clone(),
                        reason: reason.words(),
                    });
                }
                None => {}
            }
            if let Some(found) = self.module.written_constant(tensor).map(Known::memory) {
                return Some(Ok(found));
            }
        }
        match steps.origin(id) {
            Some(StepOrigin::Step(_)) => None,
            Some(StepOrigin::Argument(index)) => {
                Some(self.argument(index).map_err(|why| lost.unwrap_or(why)))
            }
            Some(StepOrigin::Inside) | None => {
                let unknown = || NotRecomputed::Lost {
                    name: "a value of a loop".to_owned(),
                    reason: "not known".to_owned(),
                };
                Some(Err(lost.unwrap_or_else(unknown)))
            }
        }
    }
}

impl MemoryLeaves<'_> {
    /// A tensor of the source that a dispatch leaves or reads: as it is in memory, or as it was
    /// before it was overwritten.
    pub(super) fn in_memory(&mut self, tensor: &SourceTensor) -> Option<Result<Known, Absent>> {
        let (machine, stand) = (self.machine, &self.stand);
        let fate = stand.tensors.program.named(&tensor.asked(stand.function))?;
        let (found, value) = match fate {
            Fate::Value(value) => {
                let now = machine.value_at(stand, value, Some(tensor));
                let past = |reason| machine.past_value(stand, value, Some(tensor), reason);
                (now.or_else(past), stand.root(value))
            }
            Fate::Part(part) => {
                let now = machine.part_at(stand, &part);
                let past = |reason| machine.past_part(stand, &part, reason);
                (now.or_else(past), stand.root(part.value))
            }
            _ => return None,
        };
        Some(found.and_then(|view| {
            self.used.push(value);
            Known::of(&view).ok_or(Absent::OtherShape)
        }))
    }

    /// The command that has left a tensor of the source, by its number, in this turn of its loop.
    pub(super) fn left_by(&self, tensor: &SourceTensor) -> Option<u64> {
        let stand = &self.stand;
        let value = match stand.tensors.program.named(&tensor.asked(stand.function))? {
            Fate::Value(value) => value,
            Fate::Part(part) => part.value,
            _ => return None,
        };
        self.machine.left_by(stand, stand.root(value))
    }

    /// What an argument of the function is in the program of tensors.
    fn argument_value(&self, index: usize) -> Option<TensorValueId> {
        let function = self.stand.tensors.function(self.stand.function)?;
        let wanted = TensorOperationKind::Import { argument: index };
        let import = function.operations.iter().find(|it| it.kind == wanted);
        let imported = import.and_then(|it| it.results.first().copied());
        imported.or_else(|| function.arguments.get(index).copied())
    }

    /// An argument of the function.
    pub(super) fn argument(&mut self, index: usize) -> Result<Known, NotRecomputed> {
        let lost =
            |reason: String| NotRecomputed::Lost { name: format!("argument {index}"), reason };
        let value = self.argument_value(index).ok_or_else(|| lost("not known".to_owned()))?;
        let view = self.machine.value_at(&self.stand, value, None);
        let past = |reason| self.machine.past_value(&self.stand, value, None, reason);
        let view = view.or_else(past).map_err(|reason| lost(reason.words()))?;
        self.used.push(self.stand.root(value));
        Known::of(&view).ok_or_else(|| lost("not read".to_owned()))
    }

    /// Forgets what was used.
    pub(super) fn use_nothing(&mut self) {
        self.used.clear();
        self.uses_number.set(false);
    }

    /// The tensor in memory of a value of the source, without using it, and what it is in the
    /// program of tensors.
    pub(super) fn place(
        &self,
        steps: &SourceSteps,
        id: StepValueId,
    ) -> Option<(TensorView, TensorValueId)> {
        let stand = &self.stand;
        let named = steps.tensors(id).iter().find_map(|tensor| {
            match stand.tensors.program.named(&tensor.asked(stand.function))? {
                Fate::Value(value) => {
                    let view = self.machine.value_at(stand, value, Some(tensor)).ok()?;
                    Some((view, stand.root(value)))
                }
                _ => None,
            }
        });
        named.or_else(|| {
            let Some(StepOrigin::Argument(index)) = steps.origin(id) else { return None };
            let value = self.argument_value(index)?;
            Some((self.machine.value_at(stand, value, None).ok()?, stand.root(value)))
        })
    }

    /// Whether a value is one that the dispatch reads, and does not write, that has run last or
    /// runs.
    pub(super) fn is_read(&self, value: TensorValueId) -> bool {
        let of = |it: &&UsedTensor| it.value == value;
        let tensors = self.stand.current.iter().flat_map(|it| &it.tensors);
        let uses: Vec<_> = tensors.filter(of).collect();
        !uses.is_empty() && uses.iter().all(|it| !it.is_written)
    }

    /// The same as [`Self::is_changed`], for what is told of that dispatch alone: it may look at
    /// what the dispatch has written, too.
    pub(super) fn is_changed_around(&self) -> bool {
        let Some(changed_at) = self.machine.changed_at() else { return false };
        let Some(current) = &self.stand.current else { return true };
        let is_of_it = |value: &TensorValueId| current.tensors.iter().any(|it| it.value == *value);
        let is_named =
            |value: TensorValueId| !self.stand.tensors.names(self.stand.function, value).is_empty();
        let mut read = current.tensors.iter().filter(|it| !it.is_written);
        current.record.number <= changed_at
            || self.uses_number.get()
            || current.tensors.is_empty()
            || !self.used.iter().all(is_of_it)
            || !read.all(|it| is_named(it.value))
    }

    /// Whether the user has changed values so that what the program has computed from what is there
    /// now may be something else. It is not if all is computed from what the dispatch reads that
    /// has run last, or runs.
    pub(super) fn is_changed(&self) -> bool {
        let Some(changed_at) = self.machine.changed_at() else { return false };
        let Some(current) = &self.stand.current else { return true };
        let read = || current.tensors.iter().filter(|it| !it.is_written);
        let is_read = |value: &TensorValueId| read().any(|it| it.value == *value);
        let is_named =
            |value: TensorValueId| !self.stand.tensors.names(self.stand.function, value).is_empty();
        current.record.number <= changed_at
            || self.uses_number.get()
            || current.tensors.is_empty()
            || !self.used.iter().all(is_read)
            || !read().all(|it| is_named(it.value))
    }
}

impl LoadedModule {
    /// A tensor that the source writes.
    pub(super) fn written_constant(&self, tensor: &SourceTensor) -> Option<Tensor> {
        let at = self.place_of(&tensor.at)?;
        let written = self.info.written_tensor(at, &tensor.name)?;
        let WrittenTensor::Tensor(tensor) = written else { return None };
        Some(Arc::unwrap_or_clone(tensor))
    }
}
