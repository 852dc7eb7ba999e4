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
    pub fn numbered_dispatch(&self, number: u64) -> Result<NumberedDispatch, String> {
        let record = self.record_of(number)?;
        let memory = self.tensor_memory();
        let Work::Dispatch(past) = &record.work else {
            let mut commands = memory.commands.iter();
            let command = commands.find(|it| it.record.number == number);
            let what = command.map_or_else(|| format!("command {number}"), |it| it.describe(self));
            return Err(format!("{what} is no dispatch"));
        };
        let (dispatch, spans) = self
            .program
            .past_dispatch(number, past)
            .ok_or_else(|| format!("the dispatch of command {number} has no name"))?;
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

    fn record_of(&self, number: u64) -> Result<Arc<CommandRecord>, String> {
        let memory = self.tensor_memory();
        let mut commands = memory.commands.iter();
        if let Some(found) = commands.find(|it| it.record.number == number) {
            return Ok(Arc::clone(&found.record));
        }
        let total = memory.total;
        Err(match number {
            0 => "commands are numbered from 1".to_owned(),
            _ if number <= total => format!("command {number} ran too long ago"),
            _ if total == 0 => format!("command {number} has not run; none has so far"),
            _ => format!("command {number} has not run; the last that has is command {total}"),
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
