//! Tensors of the source by name, wherever the program stands.
//!
//! A name stands for a value of the program of tensors ([`debuginfo::TensorProgram`], with a
//! proof), and a value is where a dispatch has read or written it. It is shown only if
//!
//! - that dispatch ran in this turn of the loop, or this call of the function, in which the name is
//!   looked up: no operation from the place of the program on has run since;
//! - no later command may have written there;
//! - the memory was not released.
//!
//! Otherwise there is a reason.

use std::sync::Arc;

use abi::tensor::{Tensor, TensorType};
use debuginfo::{
    CallChain, Fate, NamedPosition, RegionId, ScopedValue, SourceTensor, TensorName,
    TensorOperationId, TensorOperationKind, TensorPart, TensorValueId, Unrecognised, WrittenTensor,
    read_constant,
};
use hal::{CommandRecord, QueueActivity};
use vm::{Buffer, FrameIndex, Value};

use super::shown_type::shown_type;
use crate::expression::Datum;
use crate::machine::Machine;
use crate::target::module::LoadedModule;
use crate::target::tensors::ModuleTensors;
use crate::tensor::{Slice, TensorView};
use crate::view::absent::Absent;
use crate::view::frame::FrameId;
use crate::view::tensor_memory::{CommandUses, TensorMemory, UsedTensor};
use crate::view::text::tensor_type_of;

/// Why a global is not shown.
pub(super) const GLOBAL_ELSEWHERE: &str = "where the compiled program keeps it is not known";

/// Where a frame stands in the program of tensors.
pub(super) struct Stand<'m> {
    pub(super) tensors: &'m ModuleTensors,
    /// The function.
    pub(super) function: usize,
    /// The inlined calls around the frame, innermost first.
    pub(super) calls: CallChain,
    /// The operation that runs next, runs, or has just run; `None` in code of the host.
    at: Option<TensorOperationId>,
    /// Whether that operation has run.
    is_after: bool,
    /// The command that the frame belongs to, as it would be remembered.
    pub(super) current: Option<CommandUses>,
    /// The command that has begun and not ended, whichever frame it belongs to.
    running: Option<CommandUses>,
}

impl Stand<'_> {
    /// The value that has the bytes of a value.
    pub(super) fn root(&self, value: TensorValueId) -> TensorValueId {
        self.tensors.root(self.function, value)
    }

    /// Whether a command has run an operation of the function. Values are those of their function.
    pub(super) fn is_of_function(&self, command: &CommandUses) -> bool {
        command.operation.is_some_and(|it| it.function == self.function)
    }

    /// A command that has run, or that the frame belongs to.
    pub(super) fn record<'r>(
        &'r self,
        number: u64,
        memory: &'r TensorMemory,
    ) -> Option<&'r CommandRecord> {
        let mut all = memory.commands.iter().rev().chain(&self.current);
        all.find(|it| it.record.number == number).map(|it| &*it.record)
    }

    /// The first command that may have written where a value was last.
    pub(super) fn overwriter<'r>(
        &'r self,
        Located { used, since }: &Located,
        memory: &'r TensorMemory,
    ) -> Option<&'r CommandUses> {
        // A dispatch may also write where it has read.
        let first = if used.is_written { since + 1 } else { *since };
        let mut later = memory.commands.iter().chain(&self.running);
        later.find(|it| it.record.number >= first && it.may_have_written(&used.span))
    }

    /// The name of a value that a name of the scope is, as its source writes it.
    pub(super) fn named(&self, value: TensorValueId, scoped: &ScopedValue) -> Option<SourceTensor> {
        let known = self.tensors.function(self.function)?.value(value);
        let named = known.names.iter().find(|it| it.name == scoped.name)?;
        Some(with_sign(named, &scoped.type_text))
    }

    /// Why a tensor is not in memory that others were made from at once.
    fn fused_into(&self, values: impl IntoIterator<Item = TensorValueId>) -> Absent {
        let names = values.into_iter().map(|it| self.tensors.names(self.function, it));
        let names = names.filter_map(|it| it.first().map(|name| (*name).to_owned()));
        Absent::FusedInto { names: names.collect() }
    }
}

/// Where a value was last.
pub(super) struct Located {
    pub(super) used: UsedTensor,
    /// The number of the command that has used it.
    pub(super) since: u64,
}

impl Located {
    /// The type in which it is shown: that of one of its names.
    pub(super) fn shown_type(&self, named: Option<&SourceTensor>) -> Option<TensorType> {
        shown_type(named.map(|it| it.tensor_type.as_str()), &self.used.tensor_type)
    }
}

impl Machine {
    /// The tensor that a name of the source stands for in a frame, or why there is none.
    pub(crate) fn source_tensor(
        &self,
        frame: FrameId,
        value: &ScopedValue,
    ) -> Result<Datum, Absent> {
        let written = || self.written_tensor(frame, value);
        let unknown = || match written() {
            Some(written) => written,
            None => Err(self.why_unknown(frame)),
        };
        let Some(stand) = self.stand(frame) else { return unknown() };
        let Some(fate) = self.fate(&stand, frame, value) else { return unknown() };
        match fate {
            Fate::Value(found) => {
                let named = stand.named(found, value);
                self.value_at(&stand, found, named.as_ref()).map(Datum::Tensor)
            }
            Fate::Part(part) => self.part_at(&stand, &part).map(Datum::Tensor),
            Fate::FusedInto(values) => Err(stand.fused_into(values)),
            Fate::Constant { elements, tensor_type } => {
                match read_constant(&elements, &tensor_type).as_ref().and_then(view_of) {
                    Some(tensor) => Ok(Datum::Tensor(tensor)),
                    None => written().unwrap_or(Err(Absent::ConstantNotRead)),
                }
            }
            Fate::ConstantFolded => written().unwrap_or(Err(Absent::ComputedByCompiler)),
            Fate::Unknown(why) => written().unwrap_or(Err(Absent::NotRecognised(why))),
        }
    }

    /// Why a tensor of the source has no value that no program of tensors tells of.
    fn why_unknown(&self, frame: FrameId) -> Absent {
        let recorded_at = self.command(frame.index).and_then(|step| step.recorded_at);
        let position = recorded_at.or_else(|| self.position_in(frame.index));
        let module = position.and_then(|at| self.program.module(at.function.module));
        match module.and_then(LoadedModule::tensors) {
            Some(_) => Absent::NotRecognised(Unrecognised::Nowhere),
            None => Absent::TensorOfDispatches,
        }
    }

    /// Why a tensor of the source has no value in a frame that no operation of it leaves in memory;
    /// `None`: it may have one, or nothing has that name.
    pub(super) fn why_no_value(&self, frame: FrameId, name: &str) -> Option<Absent> {
        let stand = self.stand(frame)?;
        match stand.tensors.program.named(&self.asked(&stand, frame, name, None))? {
            Fate::FusedInto(values) => Some(stand.fused_into(values)),
            Fate::Unknown(why) => Some(Absent::NotRecognised(why)),
            Fate::Value(value) => self.value_at(&stand, value, None).err(),
            Fate::Part(part) => self.part_at(&stand, &part).err(),
            Fate::Constant { .. } | Fate::ConstantFolded => None,
        }
    }

    /// What became of a tensor of the source that has a name in a frame.
    pub(super) fn fate(
        &self,
        stand: &Stand<'_>,
        frame: FrameId,
        value: &ScopedValue,
    ) -> Option<Fate> {
        stand.tensors.program.named(&self.asked(stand, frame, &value.name, Some(value)))
    }

    /// A name as the program of tensors is asked for it, and the value in scope that it is.
    pub(super) fn asked<'n>(
        &self,
        stand: &'n Stand<'_>,
        frame: FrameId,
        name: &'n str,
        value: Option<&ScopedValue>,
    ) -> TensorName<'n> {
        TensorName {
            function: stand.function,
            name,
            calls: &stand.calls,
            is_in_call: self.is_inlined(frame),
            defined_at: value.and_then(ScopedValue::defined_inside_at),
        }
    }

    /// A tensor as the operation that defines it has it in the source: a constant, or a parameter;
    /// none if the operation computes it.
    fn written_tensor(&self, frame: FrameId, value: &ScopedValue) -> Option<Result<Datum, Absent>> {
        let (module, place) = self.place_in_source(self.level, frame)?;
        Some(match module.info.written_tensor(place, &value.name)? {
            WrittenTensor::Tensor(tensor) => {
                view_of(&tensor).map(Datum::Tensor).ok_or(Absent::ConstantNotRead)
            }
            WrittenTensor::Unread => Err(Absent::ConstantNotRead),
            WrittenTensor::Empty => Err(Absent::WithoutElements),
            WrittenTensor::Global(symbol) => {
                // Others than parameters may hold something else by now.
                let global = self.global_named(frame.index, &symbol).map(|it| it.datum);
                Ok(global.filter(|it| matches!(it, Datum::Tensor(_)))?)
            }
        })
    }

    /// The place of a frame in the program of tensors.
    pub(super) fn stand(&self, frame: FrameId) -> Option<Stand<'_>> {
        if let Some(recorded_at) = self.command(frame.index).and_then(|step| step.recorded_at) {
            let module = self.program.module(recorded_at.function.module)?;
            let tensors = module.tensors()?;
            let operation = tensors.recorded_at(recorded_at);
            let at = operation.or_else(|| tensors.near(recorded_at))?;
            let is_after = operation.is_some() && self.has_just_run(frame.index);
            let path = self.program.path_at(self.level, recorded_at);
            let chain = tensors.operation(at).and_then(|it| it.chains.first());
            let chain = chain.filter(|_| operation.is_some()).map_or(&[][..], Vec::as_slice);
            let calls = calls_around(&module.written(&path), frame.calls, chain);
            let current = self.current_uses(frame.index, module);
            let function = at.function;
            let (at, running) = (Some(at), self.running_uses());
            return Some(Stand { tensors, function, calls, at, is_after, current, running });
        }
        let position = self.position_in(frame.index)?;
        let module = self.program.module(position.function.module)?;
        let tensors = module.tensors()?;
        let name = self.program.function_name(position.function)?;
        let function = tensors.program.function(&name)?;
        let path = self.program.path_at(self.level, position);
        let wrapper = module.info.function_position(position.function.function);
        let mut chain = module.written(&path);
        chain.reverse();
        chain.extend(wrapper.map(|at| module.written_at(at)));
        let calls = calls_around(&module.written(&path), frame.calls, &chain);
        let (at, is_after, current) = (None, false, None);
        let running = self.running_uses();
        Some(Stand { tensors, function, calls, at, is_after, current, running })
    }

    /// What the dispatch uses that has begun and not ended.
    pub(crate) fn running_uses(&self) -> Option<CommandUses> {
        let innermost = FrameIndex(0);
        let recorded_at = self.command(innermost)?.recorded_at?;
        let is_running = self.queue_activity(innermost).is_some_and(QueueActivity::has_begun)
            && !self.has_just_run(innermost);
        let module = self.program.module(recorded_at.function.module)?;
        self.current_uses(innermost, module).filter(|_| is_running)
    }

    /// What the dispatch that a frame belongs to uses.
    fn current_uses(&self, frame: FrameIndex, module: &LoadedModule) -> Option<CommandUses> {
        let record = self.queue_activity(frame)?.record()?;
        let record = Arc::new(record);
        let CommandRecord { work: hal::Work::Dispatch(dispatch), .. } = &*record else {
            return None;
        };
        let dispatch = dispatch.clone();
        Some(CommandUses::of_dispatch(self, module, record, &dispatch))
    }

    /// The tensor of a value, in the shape of one of its names.
    pub(super) fn value_at(
        &self,
        stand: &Stand<'_>,
        value: TensorValueId,
        named: Option<&SourceTensor>,
    ) -> Result<TensorView, Absent> {
        let root = stand.tensors.root(stand.function, value);
        let memory = self.tensor_memory();
        let located = match self.located(stand, root, &memory) {
            Ok(found) => found,
            Err(reason) => {
                let argument = self.argument_value(stand, root, named);
                return argument.unwrap_or(Err(reason));
            }
        };
        let used = &located.used;
        if let Some(by) = stand.overwriter(&located, &memory) {
            return Err(by.overwrites(self));
        }
        if used.span.has_been_stored_to() {
            return Err(Absent::OverwrittenByProgram);
        }
        let bytes = used.span.bytes().ok_or(Absent::Released)?;
        let closed = named.and_then(|it| self.closed(stand, it));
        let tensor_type = located.shown_type(closed.as_ref().or(named));
        let tensor_type = tensor_type.ok_or(Absent::WithoutType)?;
        TensorView::new(bytes, tensor_type).map_err(|why| Absent::Unreadable { why })
    }

    /// A tensor with all its sizes, if the source leaves some open.
    pub(super) fn closed(&self, stand: &Stand<'_>, named: &SourceTensor) -> Option<SourceTensor> {
        if !named.tensor_type.contains('?') {
            return None;
        }
        let tensor_type = self.closed_type(stand, named)?;
        Some(SourceTensor { tensor_type, ..named.clone() })
    }

    /// The tensor that a value has inside, as where the compiler pads it.
    pub(super) fn part_at(
        &self,
        stand: &Stand<'_>,
        part: &TensorPart,
    ) -> Result<TensorView, Absent> {
        inside(&self.value_at(stand, part.value, None)?, part)
    }

    /// Where a value was last in this turn of its loop.
    pub(super) fn located(
        &self,
        stand: &Stand<'_>,
        root: TensorValueId,
        memory: &TensorMemory,
    ) -> Result<Located, Absent> {
        let varies = self.varies_in(stand, root);
        let missing = || {
            let function = stand.tensors.function(stand.function);
            let made_by = function.and_then(|it| it.value(root).made_by);
            let operation = made_by.and_then(|id| stand.tensors.operation(id));
            let has_run = memory.commands.iter().any(|it| it.operation == made_by);
            match operation.map(|it| &it.kind) {
                Some(TensorOperationKind::Dispatch { .. })
                    if has_run && varies == Varies::Never =>
                {
                    Absent::PlaceNotKnown
                }
                Some(TensorOperationKind::Dispatch { .. }) => Absent::NotYetComputed,
                _ => Absent::NotRead,
            }
        };
        if let Some(current) = &stand.current {
            let used = current.tensors.iter().find(|it| it.value == root);
            match used {
                Some(used) if used.is_written && !stand.is_after => return Err(missing()),
                Some(used) => {
                    return Ok(Located { used: used.clone(), since: current.record.number });
                }
                None => {}
            }
        }
        if stand.at.is_none() && varies != Varies::Never {
            return Err(Absent::Several);
        }
        // The first operation of this turn that is known to have run: one that comes after it in
        // the text and has run before is of an earlier turn.
        let mut first = stand.at;
        for command in memory.commands.iter().rev() {
            let own = command.operation.filter(|it| it.function == stand.function);
            let Some(operation) = own else { continue };
            let is_current = stand.is_after && command.record.number == memory.total;
            if let (false, Some(first), Varies::In(region)) = (is_current, first, varies)
                && stand.tensors.begins_again(region, first, operation)
            {
                break;
            }
            first = first.map(|first| first.min(operation));
            if let Some(used) = command.tensors.iter().find(|it| it.value == root) {
                return Ok(Located { used: used.clone(), since: command.record.number });
            }
        }
        if memory.total > memory.commands.len() as u64 {
            return Err(Absent::TooLongAgo);
        }
        Err(missing())
    }

    /// An argument of the program that no dispatch has read yet.
    fn argument_value(
        &self,
        stand: &Stand<'_>,
        root: TensorValueId,
        named: Option<&SourceTensor>,
    ) -> Option<Result<TensorView, Absent>> {
        let argument = self.argument_of(stand, root)?;
        if let Some(reason) = self.overwritten_argument(argument) {
            return Some(Err(reason));
        }
        let Value::Ref(value) = argument else { return None };
        let view: &hal::BufferView = value.downcast()?;
        tensor_of_view(view, view.buffer().storage(), named)
    }

    /// The argument of the program that a value is.
    pub(super) fn argument_of(&self, stand: &Stand<'_>, root: TensorValueId) -> Option<&Value> {
        let function = stand.tensors.function(stand.function)?;
        let made_by = function.value(root).made_by?;
        let kind = &stand.tensors.operation(made_by)?.kind;
        let TensorOperationKind::Import { argument } = kind else { return None };
        let entry = self.program.function_name(self.program.entry())?;
        let is_entry = stand.tensors.runs_once(stand.function, &entry);
        self.program.arguments().get(*argument).filter(|_| is_entry)
    }

    /// When a value is computed again.
    fn varies_in(&self, stand: &Stand<'_>, value: TensorValueId) -> Varies {
        let entry = self.program.function_name(self.program.entry()).unwrap_or_default();
        let region = stand.tensors.loop_around(stand.function, value);
        let runs_once = stand.tensors.runs_once(stand.function, &entry);
        if region.is_none() && runs_once { Varies::Never } else { Varies::In(region) }
    }
}

/// A tensor that an argument is, of the argument's bytes, in the shape of one of its names.
pub(super) fn tensor_of_view(
    view: &hal::BufferView,
    storage: Arc<Buffer>,
    named: Option<&SourceTensor>,
) -> Option<Result<TensorView, Absent>> {
    let actual = tensor_type_of(view)?;
    let shown = shown_type(named.map(|it| it.tensor_type.as_str()), &actual.to_string());
    let tensor = TensorView::new(storage, shown.unwrap_or(actual));
    Some(tensor.map_err(|why| Absent::Unreadable { why }))
}

/// The tensor that another one has inside.
pub(super) fn inside(whole: &TensorView, part: &TensorPart) -> Result<TensorView, Absent> {
    let mut inside = whole.clone();
    if whole.shape().len() != part.before.len() {
        return Err(Absent::OtherShape);
    }
    for (axis, size) in whole.shape().iter().enumerate() {
        let (before, after) = (part.before[axis], part.after[axis]);
        let end = size.checked_sub(after).filter(|end| *end >= before).ok_or(Absent::OtherShape)?;
        let of = |it: u64| usize::try_from(it).map_err(|_| Absent::OtherShape);
        inside = inside.slice(axis, Slice::between(of(before)?, of(end)?));
    }
    let declared = Some(part.tensor.tensor_type.as_str());
    let shown = shown_type(declared, &inside.type_name()).ok_or(Absent::OtherShape)?;
    inside.with_unit_axes(&shown.shape).ok_or(Absent::OtherShape)
}

/// A tensor of the source as one to look at.
fn view_of(tensor: &Tensor) -> Option<TensorView> {
    let buffer = Buffer::from_bytes(&tensor.bytes).ok()?;
    TensorView::new(Arc::new(buffer), tensor.tensor_type()).ok()
}

/// When a value is computed again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Varies {
    Never,
    /// In each turn of a loop, or in each call of its function.
    In(Option<RegionId>),
}

/// The calls around the place at a depth of a path, innermost first. The chain is the whole of the
/// path from the inside, with places that are no frames to the user.
fn calls_around(
    path: &[NamedPosition],
    calls: Option<usize>,
    chain: &[NamedPosition],
) -> CallChain {
    let depth = calls.unwrap_or(path.len().saturating_sub(1));
    let place = path.get(depth);
    match chain.iter().position(|at| Some(at) == place) {
        Some(index) => chain[index + 1..].to_vec(),
        None => path.iter().take(depth).rev().cloned().collect(),
    }
}

/// A name whose integers have no sign where its source says so: programs of tensors do not keep
/// that.
pub(super) fn with_sign(named: &SourceTensor, written: &str) -> SourceTensor {
    let element = written.strip_suffix('>').and_then(|it| it.rsplit(['x', '<']).next());
    let unsigned = element.and_then(|it| Some((it, it.strip_prefix('u')?)));
    let tensor_type = unsigned.and_then(|(unsigned, plain)| {
        Some(named.tensor_type.strip_suffix(plain)?.to_owned() + unsigned)
    });
    let mut named = named.clone();
    named.tensor_type = tensor_type.unwrap_or(named.tensor_type);
    named
}
