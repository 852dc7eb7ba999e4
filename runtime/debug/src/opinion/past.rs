//! Which dispatch has left a tensor, wherever the program stands now, and whether all that it has
//! read is still there.

use std::ops::Range;
use std::sync::Arc;

use hal::{CommandRecord, Span, Work};

use crate::inspect::standing_dispatch::StandingDispatch;
use crate::machine::Machine;
use crate::tensor::TensorView;
use crate::view::tensor_memory::CommandUses;

impl Machine {
    /// The last command that may have written to a tensor.
    ///
    /// # Errors
    /// No command has, or one is doing it.
    pub(super) fn last_writer(&self, tensor: &TensorView) -> Result<Arc<CommandRecord>, String> {
        let wanted = tensor.addresses();
        let writes = |it: &CommandUses| it.written.iter().any(|span| is_inside(span, &wanted));
        if self.running_uses().is_some_and(|it| writes(&it)) {
            return Err("the dispatch that writes it has not ended".to_owned());
        }
        let memory = self.tensor_memory();
        let mut commands = memory.commands.iter().rev();
        let last = commands.find(|it| writes(it)).map(|it| Arc::clone(&it.record));
        last.ok_or_else(|| {
            "no dispatch has left it: it is an input, a constant or a copy".to_owned()
        })
    }

    /// A dispatch that ran, with its tensors.
    ///
    /// # Errors
    /// The command is no dispatch, or one of the tensors that it has read is no longer there.
    pub(super) fn with_inputs(&self, record: &CommandRecord) -> Result<StandingDispatch, String> {
        let memory = self.tensor_memory();
        let Work::Dispatch(past) = &record.work else {
            let mut commands = memory.commands.iter();
            let command = commands.find(|it| it.record.number == record.number);
            let what = command.map_or_else(|| "a command".to_owned(), |it| it.describe(self));
            return Err(format!("{what} has left it, and no dispatch"));
        };
        let (dispatch, spans) = self
            .program
            .past_dispatch(record.number, past)
            .ok_or("the dispatch that has left it has no name")?;
        let export = &dispatch.export;
        for (index, (operand, span)) in dispatch.operands.iter().zip(&spans).enumerate() {
            let Some(span) = span.as_ref().filter(|_| operand.is_read) else { continue };
            let of = |what: &str| format!("operand[{index}], which @{export} has read, {what}");
            if operand.tensor.is_none() {
                return Err(of("was released"));
            }
            if span.has_been_stored_to() {
                return Err(of("may have been written by the program since"));
            }
            let running = self.running_uses();
            let mut since = memory.commands.iter().filter(|it| it.record.number >= record.number);
            let by = since.find(|it| it.may_have_written(span));
            let by = by.or(running.as_ref().filter(|it| it.may_have_written(span)));
            if let Some(by) = by {
                return Err(match by.record.number == record.number {
                    true => of("was overwritten by it"),
                    false => of(&format!("was overwritten by {}", by.describe(self))),
                });
            }
        }
        Ok(dispatch)
    }
}

/// Whether a span has one of these addresses. That of released memory means nothing.
fn is_inside(span: &Span, addresses: &Range<usize>) -> bool {
    span.bytes().is_some_and(|bytes| {
        let start = bytes.address() as usize;
        start < addresses.end && addresses.start < start + bytes.len()
    })
}
