//! The run as a table, and going to the first command whose row says something.

use std::fmt;
use std::sync::Arc;

use crate::control::refused::Refused;
use crate::control::runner::Runner;
use crate::control::stop::StopReason;
use crate::inspect::described_row::DescribedRow;
use crate::target::run_table::{CommandRow, WrittenTensor};
use crate::tensor::Number;

/// The rows of the run that is recorded.
#[derive(Clone, Debug)]
pub struct TableOfRun {
    /// By the numbers of their commands.
    pub rows: Vec<Arc<CommandRow>>,
    /// The last command whose row was forgotten for lack of room.
    pub forgotten: Option<u64>,
    /// How many commands have run where the program stands. Rows of later ones are of what it has
    /// been through.
    pub commands: u64,
}

/// What the row of a command is asked for.
#[derive(Clone, PartialEq, Debug)]
pub enum RowQuestion {
    /// Whether a tensor that it has written has NaN.
    Nan,
    /// Whether one has infinities.
    Infinity,
    /// How the least element of one compares with a number.
    Least(Relation, f64),
    /// How the greatest one does.
    Most(Relation, f64),
    /// Whether one has this hash.
    Hash(u64),
}

/// How a number compares with another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// It is less.
    Below,
    /// It is greater.
    Above,
}

impl Relation {
    fn holds(self, number: Option<Number>, than: f64) -> bool {
        number.is_some_and(|number| match self {
            Self::Below => number.float() < than,
            Self::Above => number.float() > than,
        })
    }
}

impl RowQuestion {
    /// Whether the answer of a written tensor is yes.
    #[must_use]
    pub fn is_true_of(&self, tensor: &WrittenTensor) -> bool {
        let extent = tensor.extent.unwrap_or_default();
        match *self {
            Self::Nan => extent.nans > 0,
            Self::Infinity => extent.infinities > 0,
            Self::Least(relation, than) => relation.holds(extent.least, than),
            Self::Most(relation, than) => relation.holds(extent.most, than),
            Self::Hash(hash) => tensor.hash == hash,
        }
    }

    /// What was asked for, as it is in a tensor that has it.
    fn found_in(&self, tensor: &WrittenTensor) -> String {
        let extent = tensor.extent.unwrap_or_default();
        let text = |number: Option<Number>| {
            number.map_or_else(String::new, |number| tensor.element_text(number))
        };
        match self {
            Self::Nan => format!("NaN: {}", extent.nans),
            Self::Infinity => format!("infinities: {}", extent.infinities),
            Self::Least(..) => format!("least element for which {self}: {}", text(extent.least)),
            Self::Most(..) => format!("greatest element for which {self}: {}", text(extent.most)),
            Self::Hash(hash) => format!("hash {hash:016x}"),
        }
    }

    /// Whether a row without a yes leaves the question open.
    fn is_open_for(&self, row: &CommandRow) -> bool {
        let needs_elements = !matches!(self, Self::Hash(_));
        row.changed.is_some() || needs_elements && row.written.iter().any(|it| it.extent.is_none())
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Below => "<",
            Self::Above => ">",
        })
    }
}

impl fmt::Display for RowQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nan => f.write_str("nan(*)"),
            Self::Infinity => f.write_str("inf(*)"),
            Self::Least(relation, than) => write!(f, "min(*) {relation} {than}"),
            Self::Most(relation, than) => write!(f, "max(*) {relation} {than}"),
            Self::Hash(hash) => write!(f, "hash(*) == {hash:016x}"),
        }
    }
}

impl Runner {
    /// The rows of the run; `None`: nothing is recorded.
    pub(crate) fn table_of_run(&self) -> Option<TableOfRun> {
        let tape = self.recording.as_ref()?.tape();
        let table = tape.table();
        let rows = table.rows().cloned().collect();
        Some(TableOfRun { rows, forgotten: table.forgotten(), commands: self.commands_run() })
    }

    /// Goes to before the first command of the run whose row answers a question with yes, whether
    /// the program stands before or after it.
    ///
    /// # Errors
    /// There is none, or the recording does not lead there; the program stands where it stood.
    pub(crate) fn go_to_first_row(
        &mut self,
        question: &RowQuestion,
    ) -> Result<StopReason, Refused> {
        let table = self.table_of_run().ok_or(Refused::NotRecorded)?;
        let answer = |row: &Arc<CommandRow>| {
            let tensor = row.written.iter().position(|it| question.is_true_of(it))?;
            Some((Arc::clone(row), tensor))
        };
        let found = table.rows.iter().find_map(answer);
        let open = |row: &&Arc<CommandRow>| question.is_open_for(row);
        let before = |row: &&Arc<CommandRow>| {
            found.as_ref().is_none_or(|(first, _)| row.number < first.number)
        };
        let unknown = table.rows.iter().take_while(before).filter(open).count();
        let unknown = match unknown {
            0 => String::new(),
            1 => "; of 1 command before that, not all that it has written is known".to_owned(),
            count => {
                format!(
                    "; of {count} commands before that, not all that they have written is known"
                )
            }
        };
        let Some((row, tensor)) = found else {
            let count = table.rows.len();
            let unknown = unknown.replace(" before that", "");
            let why =
                format!("{question} is true of none of the {count} rows of this run{unknown}");
            return Err(Refused::NotReached { why });
        };
        let described = self.machine.described_row(&row);
        let written = &row.written[tensor];
        let name = described.names.get(tensor).cloned().flatten();
        let type_text = written.type_text();
        let name = name.map_or_else(|| type_text.clone(), |it| format!("{it}: {type_text}"));
        let found = question.found_in(written);
        let DescribedRow { what, .. } = described;
        let text =
            format!("command {}, {what}, leaves the first {found} in {name}{unknown}", row.number);
        self.go_to_command(row.number)?;
        Ok(StopReason::Found(text))
    }
}
