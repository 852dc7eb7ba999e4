//! `iree-dbg table`: the table of a recorded run, from its file. Nothing runs.

use std::io::Write;
use std::path::{Path, PathBuf};

use commands::{RowFilter, ShownTable};
use debug::{CommandRow, Debugger, DescribedRow};
use recording::{Recorded, RunOutcome};
use serde_json::json;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The recording, as run --record=FILE writes it
    #[arg(value_name = "FILE.run")]
    recording: PathBuf,

    /// Which rows: commands by their numbers, a dispatch, a tensor, a line, or those with NaN
    #[arg(value_name = "N|N-M|@DISPATCH|%NAME|FILE:LINE|nan(*)", default_value = "")]
    rows: String,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Prints the rows. 1: none is asked for that is there, as `grep` has it.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus, Failure> {
    let recorded = Recorded::open(&arguments.recording)?;
    check_has_rows(&recorded, &arguments.recording)?;
    let filter = RowFilter::read(&arguments.rows)?;
    let program = Describer::of(&recorded);
    let shown = ShownTable::of(recorded.rows(), &filter, None, |row| program.describe(row));
    let mut output = crate::printing::output();
    if arguments.json {
        let notes: Vec<&str> = program.why_not.as_deref().into_iter().collect();
        let commands = recorded.commands();
        let data = json!({ "commands": commands, "rows": shown.data(), "notes": notes });
        writeln!(output, "{data}")?;
    } else {
        recorded.summary().iter().for_each(|line| errln!("note: {line}"));
        program.why_not.iter().for_each(|line| errln!("note: {line}"));
        write!(output, "{}", shown.text())?;
    }
    Ok(if shown.is_empty() && !recorded.rows().is_empty() {
        ExitStatus::Failure
    } else {
        ExitStatus::Success
    })
}

/// A file of an earlier version has no table, and does not look like that of a run that has left
/// nothing.
pub(crate) fn check_has_rows(recorded: &Recorded, path: &Path) -> Result<(), Failure> {
    // What was cut short may have lost its rows.
    let is_cut = recorded.outcome() == RunOutcome::CutShort;
    if recorded.commands() == 0 || !recorded.rows().is_empty() || is_cut {
        return Ok(());
    }
    let (path, version) = (path.display(), recorded.recorded_by());
    Err(format!(
        "{path} has no table: iree-dbg {version} has recorded it before recordings had one; \
         `iree-dbg debug {path} -ex run -ex table` makes the run again and shows it, and recording \
         the run anew keeps it"
    )
    .into())
}

/// Says of rows what the recorded program knows of them. It is loaded, and never runs.
pub(crate) struct Describer {
    program: Option<Debugger>,
    /// Why there are no names and lines.
    pub(crate) why_not: Option<String>,
}

impl Describer {
    pub(crate) fn of(recorded: &Recorded) -> Self {
        let loaded = recorded.options_to_look().map_err(|error| error.to_string());
        let loaded =
            loaded.and_then(|options| Debugger::load(options).map_err(|error| error.to_string()));
        let why_not =
            loaded.as_ref().err().map(|why| format!("names and lines are not known: {why}"));
        Self { program: loaded.ok(), why_not }
    }

    pub(crate) fn describe(&self, row: &CommandRow) -> DescribedRow {
        match &self.program {
            Some(program) => program.machine().described_row(row),
            None => DescribedRow::alone(row),
        }
    }
}
