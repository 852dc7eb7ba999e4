//! Which dispatch has left a tensor, wherever the program stands now, and whether all that it has
//! read is still there.

use std::ops::Range;
use std::sync::Arc;

use hal::{CommandRecord, Span, Work};

use crate::inspect::standing_dispatch::StandingDispatch;
use crate::machine::Machine;
use crate::tensor::TensorView;
use crate::view::tensor_memory::CommandUses;

/// Why no dispatch is found that has left a tensor, with all that it has read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoWriter {
    /// It is being written.
    #[error("the dispatch that writes it has not ended")]
    StillRuns,
    /// No command that is remembered has written it.
    #[error("no dispatch has left it: it is an input, a constant or a copy")]
    NoDispatch,
    /// A command of another kind has written it.
    #[error("{command} has left it, and no dispatch")]
    OtherCommand {
        /// What the command is.
        command: String,
    },
    /// The program does not say what the dispatch is called.
    #[error("the dispatch that has left it has no name")]
    NoName,
    /// What the dispatch has read is no longer there.
    #[error("operand[{operand}], which @{export} has read, {lost}")]
    Input {
        /// The number of the operand.
        operand: usize,
        /// The dispatch.
        export: String,
        /// What has become of it.
        lost: InputLost,
    },
}

/// What has become of a tensor that a dispatch has read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InputLost {
    /// Its memory was released.
    #[error("was released")]
    Released,
    /// The program may have stored something in its memory.
    #[error("may have been written by the program since")]
    WrittenByProgram,
    /// The dispatch writes where it reads.
    #[error("was overwritten by it")]
    OverwrittenByItself,
    /// A later command has written there.
    #[error("was overwritten by {command}")]
    Overwritten {
        /// What the command is.
        command: String,
    },
}

impl Machine {
    /// The last command that may have written to a tensor.
    ///
    /// # Errors
    /// No command has, or one is doing it.
    pub(crate) fn last_writer(&self, tensor: &TensorView) -> Result<Arc<CommandRecord>, NoWriter> {
        let wanted = tensor.addresses();
        let writes = |it: &CommandUses| it.written.iter().any(|span| is_inside(span, &wanted));
        if self.running_uses().is_some_and(|it| writes(&it)) {
            return Err(NoWriter::StillRuns);
        }
        let memory = self.tensor_memory();
        let mut commands = memory.commands.iter().rev();
        let last = commands.find(|it| writes(it)).map(|it| Arc::clone(&it.record));
        last.ok_or(NoWriter::NoDispatch)
    }

    /// A dispatch that ran, with its tensors.
    ///
    /// # Errors
    /// The command is no dispatch, or one of the tensors that it has read is no longer there.
    pub(super) fn with_inputs(&self, record: &CommandRecord) -> Result<StandingDispatch, NoWriter> {
        let memory = self.tensor_memory();
        let Work::Dispatch(past) = &record.work else {
            let mut commands = memory.commands.iter();
            let command = commands.find(|it| it.record.number == record.number);
            let command = command.map_or_else(|| "a command".to_owned(), |it| it.describe(self));
            return Err(NoWriter::OtherCommand { command });
        };
        let (dispatch, spans) =
            self.program.past_dispatch(record.number, past).ok_or(NoWriter::NoName)?;
        for (index, (operand, span)) in dispatch.operands.iter().zip(&spans).enumerate() {
            let Some(span) = span.as_ref().filter(|_| operand.is_read) else { continue };
            let of = |lost| {
                let export = dispatch.export.clone();
                NoWriter::Input { operand: index, export, lost }
            };
            if operand.tensor.is_none() {
                return Err(of(InputLost::Released));
            }
            if span.has_been_stored_to() {
                return Err(of(InputLost::WrittenByProgram));
            }
            let running = self.running_uses();
            let mut since = memory.commands.iter().filter(|it| it.record.number >= record.number);
            let by = since.find(|it| it.may_have_written(span));
            let by = by.or(running.as_ref().filter(|it| it.may_have_written(span)));
            if let Some(by) = by {
                return Err(of(match by.record.number == record.number {
                    true => InputLost::OverwrittenByItself,
                    false => InputLost::Overwritten { command: by.describe(self) },
                }));
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
