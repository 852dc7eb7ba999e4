//! A row of the run's table in words: what the command is called, where it comes from, and the
//! names of what it has written. All of that is known without running the program.

use abi::tensor::TensorType;

use crate::machine::Machine;
use crate::target::run_table::{CommandKind, CommandRow, WrittenTensor};
use crate::tensor::Number;
use crate::view::frame::SourceLine;

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct DescribedRow {
    /// `dispatch @main_dispatch_3`, or `fill`.
    pub what: String,
    /// The line of the source that it was made from.
    pub source: Option<SourceLine>,
    /// What the source calls each tensor that it has written, if that is known.
    pub names: Vec<Option<String>>,
}

impl DescribedRow {
    /// What the row says by itself, where there is no program to ask.
    #[must_use]
    pub fn alone(row: &CommandRow) -> Self {
        let what = match row.kind {
            CommandKind::Dispatch if !row.name.is_empty() => format!("dispatch @{}", row.name),
            kind => kind.name().to_owned(),
        };
        Self { what, source: None, names: vec![None; row.written.len()] }
    }
}

impl Machine {
    /// A row of the run's table in words.
    #[must_use]
    pub fn described_row(&self, row: &CommandRow) -> DescribedRow {
        let is_known = self.program.module(row.recorded_at.function.module).is_some();
        let source = if is_known { self.own_source_line(row.recorded_at) } else { None };
        let interface = self.program.dispatch_interface(&row.name).filter(|_| is_known);
        let operands =
            interface.map(|it| self.operand_names(row.recorded_at, it, it.tensor_count()));
        let name = |tensor: &WrittenTensor| {
            Some(operands.as_ref()?.get(tensor.operand?)?.as_ref()?.name.clone())
        };
        let names = row.written.iter().map(name).collect();
        DescribedRow { source, names, ..DescribedRow::alone(row) }
    }
}

impl WrittenTensor {
    /// One of its elements as text.
    #[must_use]
    pub fn element_text(&self, number: Number) -> String {
        let tensor_type = self.tensor_type.as_deref().and_then(|it| TensorType::parse(it).ok());
        match (tensor_type.map(|it| it.element_type), number) {
            // What a wider float would have as more digits is no part of it.
            (Some(it), Number::Float(value)) if it.bits <= 32 => {
                crate::tensor::float_text(value as f32)
            }
            (_, number) => number.to_string(),
        }
    }

    /// Its type, or how long it is.
    #[must_use]
    pub fn type_text(&self) -> String {
        match &self.tensor_type {
            Some(tensor_type) => tensor_type.to_string(),
            None => format!("{} bytes", self.length),
        }
    }
}
