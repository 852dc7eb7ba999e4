//! Tensors that something has overwritten, as they were before: their bytes, from the journal of
//! what commands overwrite (`hal`). The program does not move for it.
//!
//! Where a tensor was last is known as for one that is still there ([`super::tensors`]): some
//! command has left it there, or has read it. So its bytes are those that the memory held right
//! after that command, or right before one that has only read it, and they are marked with that
//! time ([`TensorView::as_of`]). They are what the program has computed with, to the last bit.
//!
//! The journal may not reach back so far: then there is a reason, and the tensor may be computed
//! again ([`super::recomputed`]).

use std::sync::Arc;

use debuginfo::{Fate, ScopedValue, SourceTensor, TensorPart, TensorValueId};
use hal::{CommandRecord, PastLost, Span};
use vm::{Buffer, Value};

use super::tensors::{Located, Stand, inside, tensor_of_view};
use crate::machine::Machine;
use crate::tensor::{AsOf, Origin, TensorView};
use crate::view::absent::Absent;
use crate::view::frame::FrameId;
use crate::view::tensor_memory::{CommandUses, TensorMemory};

/// A time in the run, and the place in the journal at that time.
struct Then {
    as_of: AsOf,
    mark: u64,
}

impl Then {
    fn before(record: &CommandRecord) -> Self {
        Self { as_of: AsOf::Before(record.number), mark: record.journal.start }
    }

    fn after(record: &CommandRecord) -> Self {
        Self { as_of: AsOf::After(record.number), mark: record.journal.end }
    }
}

impl Machine {
    /// A tensor of the source that was overwritten, as it was before; or why that is not known.
    pub(super) fn past_source_tensor(
        &self,
        frame: FrameId,
        value: &ScopedValue,
        reason: Absent,
    ) -> Result<TensorView, Absent> {
        if !reason.is_overwritten() {
            return Err(reason);
        }
        if let Some(argument) = self.argument_of_name(frame, value) {
            return self.past_argument(&argument, None, reason);
        }
        let Some(stand) = self.stand(frame) else { return Err(reason) };
        match self.fate(&stand, frame, value) {
            Some(Fate::Value(found)) => {
                let named = stand.named(found, value);
                self.past_value(&stand, found, named.as_ref(), reason)
            }
            Some(Fate::Part(part)) => self.past_part(&stand, &part, reason),
            _ => Err(reason),
        }
    }

    /// A value that was overwritten, as it was before, in the shape of one of its names.
    pub(super) fn past_value(
        &self,
        stand: &Stand<'_>,
        value: TensorValueId,
        named: Option<&SourceTensor>,
        reason: Absent,
    ) -> Result<TensorView, Absent> {
        if !reason.is_overwritten() {
            return Err(reason);
        }
        let root = stand.root(value);
        let memory = self.tensor_memory();
        let Ok(located) = self.located(stand, root, &memory) else {
            return match self.argument_of(stand, root) {
                Some(argument) => self.past_argument(argument, named, reason),
                None => Err(reason),
            };
        };
        let closed = named.and_then(|it| self.closed(stand, it));
        let shown = located.shown_type(closed.as_ref().or(named));
        let Some(tensor_type) = shown else { return Err(reason) };
        let (bytes, as_of) = match Self::bytes_then(stand, &located, &memory) {
            Ok(found) => found,
            Err(why) => return Err(reason.and_past_lost(why)),
        };
        let buffer = Buffer::from_bytes(&bytes).map(Arc::new);
        let view = buffer.map_err(Into::into).and_then(|it| TensorView::new(it, tensor_type));
        let view = view.map_err(|why| Absent::Unreadable { why })?;
        Ok(view.coming_from(Origin::Past(as_of)))
    }

    /// The tensor that an overwritten value had inside.
    pub(super) fn past_part(
        &self,
        stand: &Stand<'_>,
        part: &TensorPart,
        reason: Absent,
    ) -> Result<TensorView, Absent> {
        inside(&self.past_value(stand, part.value, None, reason)?, part)
    }

    /// An argument of the program that was overwritten, as it was before.
    fn past_argument(
        &self,
        argument: &Value,
        named: Option<&SourceTensor>,
        reason: Absent,
    ) -> Result<TensorView, Absent> {
        let Value::Ref(value) = argument else { return Err(reason) };
        let Some(view) = value.downcast::<hal::BufferView>() else { return Err(reason) };
        let span = Span::of(view.buffer());
        let past = self.overwriter_of(view, |by| {
            let past = span.bytes_at(by.record.journal.start)?;
            let bytes = match past.is_certain {
                true => past.bytes,
                false => span.bytes_before(&by.record)?,
            };
            Ok((bytes, AsOf::Before(by.record.number)))
        });
        let (bytes, as_of) = match past {
            Some(Ok(found)) => found,
            Some(Err(why)) => return Err(reason.and_past_lost(why)),
            None => return Err(reason),
        };
        let buffer =
            Buffer::from_bytes(&bytes).map_err(|why| Absent::Unreadable { why: why.into() });
        let found = tensor_of_view(view, Arc::new(buffer?), named).unwrap_or(Err(reason))?;
        Ok(found.coming_from(Origin::Past(as_of)))
    }

    /// The command that has left a value where it was last, by its number.
    pub(super) fn left_by(&self, stand: &Stand<'_>, root: TensorValueId) -> Option<u64> {
        let memory = self.tensor_memory();
        let located = self.located(stand, root, &memory).ok()?;
        let (writer, span) = located.writer(stand, &memory)?;
        span.is_same(&located.used.span).then_some(writer.number)
    }

    /// The bytes that a value had where it was last, and the time for which they are marked: that
    /// of the command that has left it, if nothing has changed it until it was used last.
    fn bytes_then(
        stand: &Stand<'_>,
        located: &Located,
        memory: &TensorMemory,
    ) -> Result<(Vec<u8>, AsOf), PastLost> {
        let Located { used, since } = located;
        let record = stand.record(*since, memory).ok_or(PastLost::NotKept)?;
        let then = if used.is_written { Then::after(record) } else { Then::before(record) };
        let past = used.span.bytes_at(then.mark)?;
        let writer = located.writer(stand, memory);
        let writer = writer.filter(|(_, span)| span.is_same(&used.span));
        if past.is_certain && used.is_written {
            return Ok((past.bytes, then.as_of));
        }
        let is_left_by = |(writer, span): &(&CommandRecord, &Span)| {
            let left = || span.bytes_at(writer.journal.end);
            writer.has_left(span, &past.bytes) || past.is_certain && left().as_ref() == Ok(&past)
        };
        if let Some((writer, _)) = writer.filter(is_left_by) {
            return Ok((past.bytes, AsOf::After(writer.number)));
        }
        if past.is_certain {
            return Ok((past.bytes, then.as_of));
        }
        let by = stand.overwriter(located, memory).ok_or(PastLost::Uncertain)?;
        Ok((used.span.bytes_before(&by.record)?, AsOf::Before(by.record.number)))
    }
}

impl Located {
    /// The last command up to then that has left the value, and where.
    fn writer<'m>(
        &self,
        stand: &Stand<'_>,
        memory: &'m TensorMemory,
    ) -> Option<(&'m CommandRecord, &'m Span)> {
        let earlier = memory.commands.iter().rev().filter(|it| it.record.number <= self.since);
        let mut earlier = earlier.filter(|it| stand.is_of_function(it));
        earlier.find_map(|it| Some((&*it.record, it.writes(self.used.value)?)))
    }
}

impl CommandUses {
    /// Where it has left a value, if it has.
    fn writes(&self, value: TensorValueId) -> Option<&Span> {
        let mut written = self.tensors.iter().filter(|it| it.is_written);
        written.find(|it| it.value == value).map(|it| &it.span)
    }
}
