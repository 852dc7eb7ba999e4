//! A dispatch that has run, by the number of its command: its tensors as it has read and left them,
//! as far as nothing has written there since.

use std::sync::Arc;

use hal::{CommandRecord, Span, Work};

use super::dispatch::{DispatchPlace, access_text};
use crate::machine::Machine;
use crate::tensor::TensorView;
use crate::view::absent::Absent;
use crate::view::variable::Variable;

/// A dispatch that has run.
#[derive(Clone, Debug)]
pub struct NumberedDispatch {
    /// The number of its command.
    pub number: u64,
    /// The export that it ran.
    pub export: String,
    /// How many workgroups in x, y and z.
    pub workgroup_count: [u32; 3],
    /// Its tensors, in order; empty if its source is not there.
    pub operands: Vec<NumberedOperand>,
    /// Its push constants.
    pub constants: Vec<u32>,
    /// Why `operands` are not all of its tensors, if they are not.
    pub missing: Option<String>,
}

/// A tensor of such a dispatch.
#[derive(Clone, Debug)]
pub struct NumberedOperand {
    /// Its name in the source, or else its place: `operand[1]`.
    pub name: String,
    /// Whether the dispatch wrote it.
    pub is_written: bool,
    /// Shape and element type, with how the dispatch used it.
    pub type_name: String,
    /// What the dispatch has read or left there, or why that is not there any more.
    pub tensor: Result<TensorView, Absent>,
}

/// Why there is no dispatch with a number.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoNumberedDispatch {
    /// There is no command 0.
    #[error("commands are numbered from 1")]
    Zero,
    /// The command is no longer remembered.
    #[error("command {0} ran too long ago")]
    TooLongAgo(u64),
    /// No command at all has run.
    #[error("command {0} has not run; none has so far")]
    NoneHasRun(u64),
    /// The command comes later.
    #[error("command {number} has not run; the last that has is command {last}")]
    NotRun {
        /// The number of the command.
        number: u64,
        /// The number of the last command that has run.
        last: u64,
    },
    /// The command is of another kind.
    #[error("{command} is no dispatch")]
    OtherCommand {
        /// What the command is.
        command: String,
    },
    /// The program does not say what the dispatch is called.
    #[error("the dispatch of command {0} has no name")]
    NoName(u64),
}

impl NumberedOperand {
    /// The tensor as it is shown.
    #[must_use]
    pub fn variable(&self) -> Variable {
        match &self.tensor {
            Ok(tensor) => {
                let shown = tensor.variable(&self.name);
                Variable { type_name: self.type_name.clone(), ..shown }
            }
            Err(reason) => Variable::without_value(&self.name, reason.clone(), &self.type_name),
        }
    }
}

impl Machine {
    /// The dispatch that a command has run.
    ///
    /// # Errors
    /// It has not run, it is no dispatch, or it ran too long ago.
    pub fn numbered_dispatch(&self, number: u64) -> Result<NumberedDispatch, NoNumberedDispatch> {
        let record = self.record_of(number)?;
        let memory = self.tensor_memory();
        let Work::Dispatch(past) = &record.work else {
            let mut commands = memory.commands.iter();
            let command = commands.find(|it| it.record.number == number);
            let command =
                command.map_or_else(|| format!("command {number}"), |it| it.describe(self));
            return Err(NoNumberedDispatch::OtherCommand { command });
        };
        let found = self.program.past_dispatch(number, past);
        let (dispatch, spans) = found.ok_or(NoNumberedDispatch::NoName(number))?;
        let interface = self.program.dispatch_interface(&dispatch.export);
        let count = dispatch.operands.len();
        let names = interface.map(|it| self.operand_names(record.recorded_at, it, count));
        let names = names.unwrap_or_default();
        let operands = dispatch.operands.into_iter().zip(spans).enumerate();
        let operands = operands.map(|(index, (operand, span))| {
            let place = DispatchPlace::Operand(index);
            let name = place.of(&names).map(|it| it.name.clone());
            let first = number + u64::from(operand.is_written);
            let access = access_text(operand.is_read, operand.is_written);
            NumberedOperand {
                name: name.unwrap_or_else(|| place.to_string()),
                is_written: operand.is_written,
                type_name: format!("{} ({access})", operand.tensor_type),
                tensor: match self.overwritten_since(first, span.as_ref()) {
                    Some(reason) => Err(reason),
                    None => operand.tensor.ok_or(Absent::Released),
                },
            }
        });
        Ok(NumberedDispatch {
            number,
            workgroup_count: past.workgroup_count,
            operands: operands.collect(),
            constants: dispatch.constants,
            missing: dispatch.missing.filter(|_| interface.is_none() || count == 0),
            export: dispatch.export,
        })
    }

    fn record_of(&self, number: u64) -> Result<Arc<CommandRecord>, NoNumberedDispatch> {
        let memory = self.tensor_memory();
        let mut commands = memory.commands.iter();
        if let Some(found) = commands.find(|it| it.record.number == number) {
            return Ok(Arc::clone(&found.record));
        }
        let total = memory.total;
        Err(match number {
            0 => NoNumberedDispatch::Zero,
            _ if number <= total => NoNumberedDispatch::TooLongAgo(number),
            _ if total == 0 => NoNumberedDispatch::NoneHasRun(number),
            _ => NoNumberedDispatch::NotRun { number, last: total },
        })
    }

    /// What has written to a span since a command, if anything has.
    fn overwritten_since(&self, first: u64, span: Option<&Span>) -> Option<Absent> {
        let Some(span) = span else {
            return Some(Absent::OutsideMemory { binding: None });
        };
        let (memory, running) = (self.tensor_memory(), self.running_uses());
        let later = memory.commands.iter().chain(running.as_ref());
        let mut later = later.filter(|it| it.record.number >= first);
        if let Some(by) = later.find(|it| it.may_have_written(span)) {
            return Some(by.overwrites(self));
        }
        let is_written = span.has_been_stored_to();
        is_written.then_some(Absent::OverwrittenByProgram)
    }
}
