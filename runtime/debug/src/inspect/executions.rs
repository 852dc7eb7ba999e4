//! Each time that a dispatch has left a tensor: which commands those were, and what the tensor was
//! then, as far as memory and the journal of what was overwritten still have it. Nothing runs for
//! it; what is gone is made again by `control`, which knows how.
//!
//! A tensor is meant by its name in a frame, or else by the memory that an expression gives: then
//! by the last dispatch that has written there. One that no dispatch leaves, such as an argument of
//! the function, is looked at where the first dispatch reads it.

use std::sync::Arc;

use debuginfo::{Fate, PythonValue, ScopedValue, SourceTensor, TensorPart, TensorValueId};
use hal::{PastLost, Work};
use vm::{Buffer, ModuleIndex};

use super::shown_type::shown_type;
use super::tensors::inside;
use crate::expression::{ExpressionError, Limits};
use crate::machine::Machine;
use crate::target::meaning::Meaning;
use crate::tensor::{Figures, TensorView};
use crate::view::frame::FrameId;
use crate::view::tensor_memory::{CommandUses, TensorMemory, UsedTensor};

/// Why the executions that leave a tensor are not known.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoExecutions {
    /// What was asked for has no value, and is no name of a tensor.
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    /// What was asked for is something else.
    #[error("{0} is not a tensor")]
    NoTensor(String),
    /// The compiler has left the tensor in no memory.
    #[error("{0} is not in memory of its own: the compiler has made it part of other dispatches")]
    NowhereLeft(String),
    /// Only a whole tensor is left by a dispatch.
    #[error(
        "no dispatch is known that has left {0} as a whole: it is an input, a constant, or \
         computed from other tensors"
    )]
    NoDispatch(String),
    /// Nothing has run that leaves it.
    #[error("no dispatch that leaves or reads {0} has run yet")]
    NotYet(String),
}

/// A tensor in terms of the program of tensors.
#[derive(Clone, Debug)]
pub(crate) struct LeftTensor {
    module: ModuleIndex,
    /// The function that has the value.
    function: usize,
    value: TensorValueId,
    /// The type in which the source has it, and where it lies inside of the value.
    named: Option<String>,
    part: Option<TensorPart>,
}

/// A command and what it has to do with a tensor.
#[derive(Clone, Copy)]
pub(crate) struct TensorUse<'m> {
    /// Its index among those that are remembered.
    place: usize,
    pub(crate) command: &'m CommandUses,
    used: &'m UsedTensor,
}

impl TensorUse<'_> {
    pub(crate) fn is_left(&self) -> bool {
        self.used.is_written
    }

    /// What is called.
    pub(crate) fn dispatch(&self) -> String {
        match &self.command.record.work {
            Work::Dispatch(it) => it.export().map_or_else(String::new, |it| it.name.clone()),
            _ => String::new(),
        }
    }
}

impl LeftTensor {
    /// The commands that have left it, oldest first; if there are none, those of the first
    /// operation that reads it.
    pub(crate) fn uses<'m>(&self, memory: &'m TensorMemory) -> Vec<TensorUse<'m>> {
        let all = memory.commands.iter().enumerate();
        let own = all.filter(|(_, it)| {
            it.record.recorded_at.function.module == self.module
                && it.operation.is_some_and(|it| it.function == self.function)
        });
        let used: Vec<TensorUse<'m>> = own
            .flat_map(|(place, command)| {
                let of_value = command.tensors.iter().filter(|it| it.value == self.value);
                of_value.map(move |used| TensorUse { place, command, used })
            })
            .collect();
        if used.iter().any(TensorUse::is_left) {
            return used.into_iter().filter(TensorUse::is_left).collect();
        }
        let first = used.first().and_then(|it| it.command.operation);
        let mut last = None;
        let is_first = |it: &TensorUse<'_>| it.command.operation == first;
        // A dispatch may read it twice.
        let is_new = |it: &TensorUse<'_>| last.replace(it.place) != Some(it.place);
        used.into_iter().filter(is_first).filter(is_new).collect()
    }

    /// Its figures, given the bytes of the value.
    fn figures_of(&self, used: &UsedTensor, bytes: Arc<Buffer>) -> Result<Figures, String> {
        let of_value = || {
            let tensor_type = shown_type(self.named.as_deref(), &used.tensor_type);
            let tensor_type = tensor_type.ok_or_else(|| format!("{} is no type", used.tensor_type));
            TensorView::new(bytes, tensor_type?).map_err(|why| why.to_string())
        };
        let tensor = match &self.part {
            Some(part) => inside(&of_value()?, part).map_err(|why| why.to_string())?,
            None => of_value()?,
        };
        tensor.all_figures().map_err(|why| why.to_string())
    }
}

impl Machine {
    /// The tensor that an expression means in a frame.
    ///
    /// # Errors
    /// It means none, or no dispatch leaves it.
    pub(crate) fn left_tensor(
        &self,
        frame: FrameId,
        text: &str,
        limits: Limits,
    ) -> Result<LeftTensor, NoExecutions> {
        let text = text.trim();
        if let Some(found) = self.left_by_name(frame, text) {
            return found;
        }
        let (_, item) = self.shown_within(frame, text, limits)?;
        let tensor = item.datum.tensor();
        let tensor = tensor.ok_or_else(|| NoExecutions::NoTensor(text.to_owned()))?;
        self.left_in_memory(&tensor).ok_or_else(|| NoExecutions::NoDispatch(text.to_owned()))
    }

    /// The tensor that a name of the source stands for.
    fn left_by_name(&self, frame: FrameId, text: &str) -> Option<Result<LeftTensor, NoExecutions>> {
        let (frame, name) = match self.python_variable(self.level, frame, text) {
            Some((own, PythonValue::Value(value))) => (own, value.strip_prefix('%')?),
            Some(_) => return None,
            None => (frame, text.strip_prefix('%')?),
        };
        let next = self.defined_next(self.level, frame);
        let value = match self.meaning(self.level, frame, name) {
            Some(Meaning::Scoped(value)) => value,
            Some(Meaning::Local(_)) => return None,
            None => ScopedValue::named(&next, name)?.clone(),
        };
        let stand = self.stand(frame)?;
        let of = |value: TensorValueId, named: Option<&SourceTensor>, part: Option<TensorPart>| {
            let named = named.map(|it| it.tensor_type.clone());
            LeftTensor {
                module: self.module_around(frame),
                function: stand.function,
                value: stand.root(value),
                named,
                part,
            }
        };
        match self.fate(&stand, frame, &value)? {
            Fate::Value(found) => Some(Ok(of(found, stand.named(found, &value).as_ref(), None))),
            Fate::Part(part) => Some(Ok(of(part.value, None, Some(part)))),
            Fate::FusedInto(_) => Some(Err(NoExecutions::NowhereLeft(text.to_owned()))),
            _ => None,
        }
    }

    /// The module whose program of tensors a frame is of.
    fn module_around(&self, frame: FrameId) -> ModuleIndex {
        let recorded_at = self.command(frame.index).and_then(|step| step.recorded_at);
        let position = recorded_at.or_else(|| self.position_in(frame.index));
        position.map_or(self.program.entry().module, |at| at.function.module)
    }

    /// What the last dispatch has left that has written a tensor, if it is the whole of that.
    fn left_in_memory(&self, tensor: &TensorView) -> Option<LeftTensor> {
        let wanted = tensor.addresses();
        let memory = self.tensor_memory();
        let is_same = |used: &&UsedTensor| {
            let has = used.span.bytes().map(|bytes| {
                let start = bytes.address() as usize;
                start..start + bytes.len()
            });
            has.is_some_and(|has| has.start == wanted.start && has.end == wanted.end)
        };
        let mut commands = memory.commands.iter().rev();
        commands.find_map(|it| {
            let mut left = it.tensors.iter().filter(|used| used.is_written);
            let used = left.find(is_same)?;
            Some(LeftTensor {
                module: it.record.recorded_at.function.module,
                function: it.operation?.function,
                value: used.value,
                named: Some(tensor.type_name()),
                part: None,
            })
        })
    }

    /// The figures of a tensor at one execution, from memory and its journal; or why they have it
    /// no longer.
    pub(crate) fn figures_then(
        &self,
        tensor: &LeftTensor,
        it: &TensorUse<'_>,
        memory: &TensorMemory,
    ) -> Result<Result<Figures, String>, PastLost> {
        let buffer = self.bytes_of(it, memory)?;
        Ok(tensor.figures_of(it.used, buffer))
    }

    /// The same of what has just run, from memory.
    pub(crate) fn figures_now(
        &self,
        tensor: &LeftTensor,
        it: &TensorUse<'_>,
    ) -> Result<Figures, String> {
        let (command, span) = (it.command, &it.used.span);
        if !it.is_left() && command.may_have_written(span) {
            return Err("its dispatch has written over it".to_owned());
        }
        let bytes = span.bytes().ok_or_else(|| PastLost::Released.to_string())?;
        tensor.figures_of(it.used, bytes)
    }

    fn bytes_of(&self, it: &TensorUse<'_>, memory: &TensorMemory) -> Result<Arc<Buffer>, PastLost> {
        let (record, span) = (&it.command.record, &it.used.span);
        let mark = if it.is_left() { record.journal.end } else { record.journal.start };
        let why = match span.bytes_at(mark) {
            Ok(past) if past.is_certain || record.has_left(span, &past.bytes) => {
                let buffer = Buffer::from_bytes(&past.bytes);
                return buffer.map(Arc::new).map_err(|_| PastLost::NoRoom);
            }
            Ok(_) => PastLost::Uncertain,
            Err(why) => why,
        };
        // It may be there still.
        let first = if it.is_left() { it.place + 1 } else { it.place };
        let running = self.running_uses();
        let mut later = memory.commands[first..].iter().chain(&running);
        let bytes = span.bytes().ok_or(PastLost::Released)?;
        let start = bytes.address() as usize;
        let is_changed = span.has_been_stored_to()
            || self.written_by_hand(&(start..start + bytes.len())).is_some()
            || later.any(|it| it.may_have_written(span));
        if is_changed { Err(why) } else { Ok(bytes) }
    }

    /// How often an operation has run that is not remembered.
    pub(crate) fn forgotten_runs(&self, uses: &[TensorUse<'_>]) -> u64 {
        let history = self.program.host().device().history();
        let mut places: Vec<vm::Position> = Vec::new();
        for it in uses {
            if !places.contains(&it.command.record.recorded_at) {
                places.push(it.command.record.recorded_at);
            }
        }
        let runs = places.iter().filter_map(|at| history.runs(*at)).map(|runs| runs.count);
        runs.sum::<u64>().saturating_sub(uses.len() as u64)
    }
}
