//! All tensors of the source, each once, in one run: those that dispatches leave or read are kept
//! when the dispatch has run, the others are computed again from these at the end. What that gives
//! tells which of the tensors without a name it is ([`super::by_elements`]).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use abi::tensor::Tensor;
use debuginfo::{
    CallChain, Fate, SourceSteps, SourceTensor, StepOrigin, StepValueId, TensorValueId,
};
use vm::ModuleIndex;

use super::by_elements::UnnamedTensors;
use super::given::Given;
use super::recomputed::MemoryLeaves;
use super::source_evaluation::{Known, Leaves, NotRecomputed, SourceEvaluation};
use super::tensor_list::TensorEntry;
use crate::machine::Machine;
use crate::target::module::LoadedModule;
use crate::tensor::{Origin, TensorView};
use crate::view::absent::Absent;
use crate::view::frame::FrameId;
use crate::view::symbol::quoted_name;

/// The most scalar operations for all tensors that are computed again.
const MOST_OPERATIONS: u64 = 50_000_000_000;

/// The tensors of the source that were there so far.
#[derive(Default)]
pub struct AllTensors {
    /// The function whose tensors they are.
    of: Option<Source>,
    kept: HashMap<StepValueId, Tensor>,
    /// What dispatches have left that no tensor of the source is proven to be.
    unnamed: UnnamedTensors,
    /// The arguments.
    given: HashMap<usize, Given>,
}

struct Source {
    module: ModuleIndex,
    function: usize,
    steps: Arc<SourceSteps>,
    /// By the value that has the bytes: the tensors that are kept, each with its own value.
    named: HashMap<TensorValueId, Vec<(TensorValueId, SourceTensor, StepValueId)>>,
}

impl AllTensors {
    /// Keeps what the dispatch has left, and read, that has just run in a frame.
    pub fn keep(&mut self, machine: &Machine, frame: FrameId) {
        let Some(mut leaves) = machine.memory_leaves(frame) else { return };
        let entry = machine.program.function_name(machine.program.entry()).unwrap_or_default();
        if !leaves.stand.tensors.runs_once(leaves.stand.function, &entry) {
            return;
        }
        if self.of.is_none() {
            self.begin(&mut leaves);
        }
        let (Some(source), Some(current)) = (&self.of, &leaves.stand.current) else { return };
        if (source.module, source.function) != (leaves.module.index, leaves.stand.function) {
            return;
        }
        let used = current.tensors.iter().map(|it| (it.value, it.is_written));
        let used: Vec<(TensorValueId, bool)> = used.collect();
        for (root, is_written) in used {
            if is_written
                && !source.named.contains_key(&root)
                && let Ok(view) = machine.value_at(&leaves.stand, root, None)
                && let Some(left) = view.tensor()
            {
                self.unnamed.keep(left);
            }
            for (_, tensor, id) in source.named.get(&root).into_iter().flatten() {
                if !self.kept.contains_key(id)
                    && let Some(Ok(Known::Memory(found, _))) = leaves.in_memory(tensor)
                {
                    self.kept.insert(*id, found);
                }
            }
        }
    }

    /// The operations of the source whose tensors are kept, once there are some.
    pub(super) fn steps(&self) -> Option<Arc<SourceSteps>> {
        self.of.as_ref().map(|of| Arc::clone(&of.steps))
    }

    /// The module whose tensors are kept.
    pub(super) fn module(&self) -> Option<ModuleIndex> {
        self.of.as_ref().map(|of| of.module)
    }

    /// The tensors that were kept.
    pub(super) fn kept_mut(&mut self) -> impl Iterator<Item = (&StepValueId, &mut Tensor)> {
        self.kept.iter_mut()
    }

    /// Forgets what only [`Self::finish`] needs.
    pub(super) fn forget_unnamed(&mut self) {
        self.unnamed = UnnamedTensors::default();
    }

    fn begin(&mut self, leaves: &mut MemoryLeaves<'_>) {
        let stand = &leaves.stand;
        let Some(steps) = leaves.module.source_steps(stand.function) else { return };
        let Some(function) = stand.tensors.function(stand.function) else { return };
        let mut named: HashMap<_, Vec<_>> = HashMap::new();
        for (value, known) in function.values() {
            // What a loop computes is another tensor in each turn.
            if stand.tensors.loop_around(stand.function, value).is_some() {
                continue;
            }
            let parts = known.parts.iter().map(|it| &it.tensor);
            for tensor in known.names.iter().chain(parts) {
                let (calls, is_in_call) = (&tensor.calls, !tensor.calls.is_empty());
                let at = (tensor.at.line, tensor.at.column);
                if let Ok(Some(id)) = steps.named(&tensor.name, calls, is_in_call, Some(at)) {
                    let root = stand.root(value);
                    named.entry(root).or_default().push((value, tensor.clone(), id));
                }
            }
        }
        let (module, function) = (leaves.module.index, stand.function);
        for index in 0..leaves.machine.program.arguments().len() {
            if let Ok(Known::Memory(tensor, _)) = leaves.argument(index) {
                let id = StepValueId(u32::try_from(index).unwrap_or(u32::MAX));
                self.kept.insert(id, tensor);
            }
            self.given.extend(leaves.given(index).map(|it| (index, it)));
        }
        self.of = Some(Source { module, function, steps, named });
    }

    /// All tensors that the source computes, in its order; those that were not kept are computed
    /// again, or have a reason.
    #[must_use]
    pub fn finish(self, machine: &Machine) -> Vec<TensorEntry> {
        let Some(source) = &self.of else { return Vec::new() };
        let Some(module) = machine.program.module(source.module) else { return Vec::new() };
        let steps = &source.steps;
        let mut evaluation = SourceEvaluation::new(Arc::clone(steps), MOST_OPERATIONS);
        let mut kept = KeptLeaves { module, kept: &self.kept, given: &self.given };
        let folded = folded_constants(module, steps);
        let mut entries: Vec<TensorEntry> =
            folded.iter().map(|it| constant_entry(machine, module, it)).collect();
        let folded: HashSet<(&str, &CallChain)> =
            folded.iter().map(|it| (it.name.as_str(), &it.calls)).collect();
        for (name, calls, id) in steps.names() {
            let found = steps.tensors(id).iter().find(|it| it.name == name && it.calls == *calls);
            let Some(tensor) = found else { continue };
            let is_computed = matches!(steps.origin(id), Some(StepOrigin::Step(_)));
            if !is_computed || folded.contains(&(name, calls)) || is_written(module, tensor) {
                continue;
            }
            let mut known = match self.kept.get(&id) {
                Some(tensor) => Ok(Known::memory(tensor.clone())),
                None => evaluation.settled(id, &mut kept),
            };
            let found = match &known {
                Ok(Known::Computed(computed)) => self.unnamed.like(computed),
                _ => None,
            };
            let difference = found.as_ref().map(|(_, difference)| *difference);
            if let Some((tensor, _)) = found {
                evaluation.adopt(id, tensor.clone());
                known = Ok(Known::memory(tensor));
            }
            let view = known.and_then(|it| it.view(Some(&tensor.tensor_type)));
            let view = view.map(|it| match difference {
                Some(difference) => it.coming_from(Origin::Recognised(difference)),
                None => it,
            });
            let absent = |why: NotRecomputed| Absent::NotRecomputed {
                absent: Box::new(fate(module, source.function, tensor)),
                why: why.to_string(),
            };
            entries.push(entry(machine, module, tensor, view.map_err(absent)));
        }
        entries
    }
}

/// What follows from constants of the source, with or without an operation that computes it.
fn folded_constants(module: &LoadedModule, steps: &SourceSteps) -> Vec<SourceTensor> {
    let mut named = steps.names().flat_map(|(_, _, id)| steps.tensors(id));
    let own = named.find(|it| it.calls.is_empty()).and_then(|it| module.place_of(&it.at));
    own.map_or_else(Vec::new, |own| module.info.folded_constants(own))
}

fn constant_entry(machine: &Machine, module: &LoadedModule, tensor: &SourceTensor) -> TensorEntry {
    let written = module.written_constant(tensor).ok_or(Absent::ConstantNotRead);
    let view = written.and_then(|it| {
        Known::memory(it).view(Some(&tensor.tensor_type)).map_err(|_| Absent::OtherShape)
    });
    entry(machine, module, tensor, view)
}

/// A tensor as it is listed.
fn entry(
    machine: &Machine,
    module: &LoadedModule,
    tensor: &SourceTensor,
    value: Result<TensorView, Absent>,
) -> TensorEntry {
    let own_type = || tensor.tensor_type.clone();
    TensorEntry {
        names: names(module, tensor),
        in_layers: module.names_in_layers(tensor).to_vec(),
        place: None,
        dispatch: String::new(),
        source: machine.line_of_place(&tensor.at),
        tensor_type: value.as_ref().map_or_else(|_| own_type(), TensorView::type_name),
        value,
    }
}

/// The name of a tensor, and that of the framework.
pub(super) fn names(module: &LoadedModule, tensor: &SourceTensor) -> Vec<String> {
    let mut names = vec![tensor.name.clone()];
    let mut files = module.info.files();
    let file = files.find(|(_, name)| *name == tensor.at.file).map(|(file, _)| file);
    let node = file.and_then(|it| module.info.node_name(it, tensor.at.line, &tensor.name));
    let node = node.filter(|it| !it.tensor.is_empty());
    names.extend(node.map(|it| format!("%{}", quoted_name(&it.tensor))));
    names
}

/// Whether the source writes the elements of a tensor, or gives it none.
fn is_written(module: &LoadedModule, tensor: &SourceTensor) -> bool {
    let at = module.place_of(&tensor.at);
    at.is_some_and(|at| module.info.written_tensor(at, &tensor.name).is_some())
}

/// Why no dispatch has left a tensor.
fn fate(module: &LoadedModule, function: usize, tensor: &SourceTensor) -> Absent {
    let Some(tensors) = module.tensors() else { return Absent::TensorOfDispatches };
    match tensors.program.named(&tensor.asked(function)) {
        Some(Fate::FusedInto(values)) => {
            let names = values.into_iter().map(|it| tensors.names(function, it));
            let names = names.filter_map(|it| it.first().map(|name| (*name).to_owned()));
            Absent::FusedInto { names: names.collect() }
        }
        Some(Fate::Unknown(why)) => Absent::NotRecognised(why),
        Some(Fate::ConstantFolded | Fate::Constant { .. }) => Absent::ComputedByCompiler,
        Some(Fate::Value(_) | Fate::Part(_)) => Absent::Several,
        None => Absent::TensorOfDispatches,
    }
}

/// What was kept.
struct KeptLeaves<'k> {
    module: &'k LoadedModule,
    kept: &'k HashMap<StepValueId, Tensor>,
    given: &'k HashMap<usize, Given>,
}

impl Leaves for KeptLeaves<'_> {
    fn there(
        &mut self,
        steps: &SourceSteps,
        id: StepValueId,
    ) -> Option<Result<Known, NotRecomputed>> {
        if let Some(tensor) = self.kept.get(&id) {
            return Some(Ok(Known::memory(tensor.clone())));
        }
        let mut tensors = steps.tensors(id).iter();
        if let Some(found) = tensors.find_map(|it| self.module.written_constant(it)) {
            return Some(Ok(Known::memory(found)));
        }
        let name = match steps.origin(id) {
            Some(StepOrigin::Step(_)) => return None,
            Some(StepOrigin::Argument(index)) => format!("argument {index}"),
            Some(StepOrigin::Inside) | None => "a value of a loop".to_owned(),
        };
        Some(Err(NotRecomputed::Lost { name, reason: "not known".to_owned() }))
    }

    fn constant(&self, name: &str) -> Option<Vec<u8>> {
        self.module.elided_constant(name)
    }

    fn given(&self, argument: usize) -> Option<Given> {
        self.given.get(&argument).cloned()
    }
}
