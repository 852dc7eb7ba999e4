//! `iree-dbg diff A.run B.run`: two recorded runs, compared by the hashes in their files. Nothing
//! runs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use commands::{RowFilter, ShownTable};
use compare::{Parting, RecordedComparison, recorded_runs};
use debug::CommandRow;
use recording::{Recorded, RunOutcome};
use serde_json::{Value, json};

use super::table::{Describer, check_has_rows};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;

/// Both recordings, if two are named.
pub(crate) fn both(files: &[PathBuf]) -> Result<Option<[&Path; 2]>, Failure> {
    let is_recording = |path: &PathBuf| recording::is_recording(path);
    match files {
        [a, b] if is_recording(a) && is_recording(b) => Ok(Some([a, b])),
        files if files.iter().any(is_recording) => {
            Err("a recording is compared with another one: `iree-dbg diff A.run B.run`; `iree-dbg \
                 debug` runs it again, and `iree-dbg table` shows what it has left"
                .into())
        }
        _ => Ok(None),
    }
}

/// Compares them, and says where they part.
pub(crate) fn run(paths: [&Path; 2], as_json: bool) -> Result<ExitStatus, Failure> {
    let [a, b] = paths.map(Recorded::open);
    let sides = [a?, b?];
    for (side, path) in sides.iter().zip(paths) {
        check_has_rows(side, path)?;
    }
    let found = recorded_runs(
        [sides[0].rows(), sides[1].rows()],
        [sides[0].commands(), sides[1].commands()],
    );
    let report = Report { paths, sides: &sides, found: &found };
    let mut output = crate::printing::output();
    match as_json {
        true => writeln!(output, "{}", report.json()?)?,
        false => write!(output, "{}", report.text()?)?,
    }
    Ok(report.status())
}

struct Report<'a> {
    paths: [&'a Path; 2],
    sides: &'a [Recorded; 2],
    found: &'a RecordedComparison,
}

impl Report<'_> {
    fn status(&self) -> ExitStatus {
        let is_partial = self.sides.iter().any(|side| !has_end(&side.outcome()));
        match &self.found.parting {
            // Of the side that ends first, the file may not have the rest.
            Some(Parting::Ends { side, .. }) if !has_end(&self.sides[*side].outcome()) => {
                ExitStatus::TooLittle
            }
            Some(_) => ExitStatus::Failure,
            None if !is_partial && self.sides[0].outcome() != self.sides[1].outcome() => {
                ExitStatus::Failure
            }
            None if self.found.unknown > 0 || is_partial => ExitStatus::TooLittle,
            None => ExitStatus::Success,
        }
    }

    fn verdict(&self) -> &'static str {
        match self.status() {
            ExitStatus::Success => "same",
            ExitStatus::Failure => "differs",
            ExitStatus::Usage | ExitStatus::TooLittle => "too little",
        }
    }

    /// What the runs have not in common before anything runs, and how far their files go.
    fn notes(&self) -> Result<Vec<String>, Failure> {
        let [a, b] = self.sides;
        let other = a.differences_of_launch(b)?;
        let mut notes = Vec::new();
        if !other.is_empty() {
            notes.push(format!("the runs have other {}", other.join(", ")));
        }
        for (side, path) in self.sides.iter().zip(self.paths) {
            let (path, commands) = (path.display(), side.commands());
            match side.outcome() {
                RunOutcome::Completed => {}
                RunOutcome::Failed(status) => {
                    notes.push(format!("{path} has failed after {commands} commands: {status}"));
                }
                RunOutcome::Lost(reason) => notes.push(format!(
                    "{path} goes up to command {commands}: {reason}, which no file holds"
                )),
                RunOutcome::CutShort => notes.push(format!(
                    "{path} goes up to command {commands}: the run was not finished"
                )),
            }
        }
        if self.found.unknown > 0 {
            let count = self.found.unknown;
            notes.push(format!("{count} commands have no row on one side, and are not compared"));
        }
        Ok(notes)
    }

    fn text(&self) -> Result<String, Failure> {
        let RecordedComparison { same, parting, later, .. } = self.found;
        let mut text = String::new();
        for note in self.notes()? {
            text.push_str(&format!("note: {note}\n"));
        }
        let had = match same {
            0 => String::new(),
            1 => "the first command has left the same on both sides\n".to_owned(),
            count => format!("{count} commands have left the same on both sides\n"),
        };
        text.push_str(&had);
        let Some(parting) = parting else {
            text.push_str(match self.status() {
                ExitStatus::Success => "nothing differs\n",
                ExitStatus::Failure => "the runs end differently\n",
                _ => "nothing differs as far as both files go\n",
            });
            return Ok(text);
        };
        let program = Describer::of(&self.sides[0]);
        text.extend(program.why_not.iter().map(|why| format!("note: {why}\n")));
        match parting {
            Parting::Left { rows, tensors } => {
                text.push_str(&format!("{}\n", first_difference(&program, &rows[0], tensors)));
                text.push_str(&beside(rows, &program, &program));
                if later.0 > 0 {
                    let (others, all) = (later.0, later.0 + later.1);
                    text.push_str(&format!("of the {all} commands after it, {others} differ\n"));
                }
            }
            Parting::Commands { rows } => {
                let number = rows[0].number;
                text.push_str(&format!("command {number} is the first that is another one:\n"));
                let other = Describer::of(&self.sides[1]);
                text.push_str(&beside(rows, &program, &other));
            }
            Parting::Ends { side, next } => {
                let (ended, other) = (self.paths[*side].display(), self.paths[1 - side].display());
                let program = Describer::of(&self.sides[1 - side]);
                let what = program.describe(next).what;
                let number = next.number;
                text.push_str(&format!(
                    "{ended} has no more commands; {other} goes on with command {number}, {what}\n"
                ));
            }
        }
        Ok(text)
    }

    fn json(&self) -> Result<Value, Failure> {
        let program = Describer::of(&self.sides[0]);
        let data = |row: &Arc<CommandRow>, program: &Describer| {
            let rows = std::slice::from_ref(row);
            let shown = ShownTable::of(rows, &RowFilter::All, None, |row| program.describe(row));
            shown.data().pop().unwrap_or_default()
        };
        let parting = self.found.parting.as_ref().map(|parting| match parting {
            Parting::Left { rows: [a, b], tensors } => json!({
                "kind": "left", "command": a.number, "tensors": tensors,
                "a": data(a, &program), "b": data(b, &program),
            }),
            Parting::Commands { rows: [a, b] } => json!({
                "kind": "commands", "command": a.number,
                "a": data(a, &program), "b": data(b, &Describer::of(&self.sides[1])),
            }),
            Parting::Ends { side, next } => {
                let other = Describer::of(&self.sides[1 - side]);
                json!({
                    "kind": "ends", "command": next.number,
                    if *side == 0 { "b" } else { "a" }: data(next, &other),
                })
            }
        });
        Ok(json!({
            "verdict": self.verdict(),
            "commands": [self.sides[0].commands(), self.sides[1].commands()],
            "same": self.found.same,
            "first": parting,
            "later": { "differ": self.found.later.0, "same": self.found.later.1 },
            "notes": self.notes()?,
        }))
    }
}

fn has_end(outcome: &RunOutcome) -> bool {
    matches!(outcome, RunOutcome::Completed | RunOutcome::Failed(_))
}

/// The sentence about the first command that has left something else.
fn first_difference(program: &Describer, row: &CommandRow, tensors: &[usize]) -> String {
    let described = program.describe(row);
    let place = described.source.as_ref();
    let place = place.map(|at| format!(" at {}:{}", at.file, at.line)).unwrap_or_default();
    let begin = format!("command {}, {}{place}", row.number, described.what);
    if tensors.is_empty() {
        return format!(
            "{begin}, is the first that differs: its text is not known, so what has changed may \
             lie beside its results"
        );
    }
    let names = tensors.iter().map(|index| {
        let name = described.names.get(*index).cloned().flatten();
        name.unwrap_or_else(|| row.written[*index].type_text())
    });
    let names: Vec<String> = names.collect();
    format!("{begin}, is the first that has left something else: {}", names.join(", "))
}

/// Two rows, one below the other.
fn beside(rows: &[Arc<CommandRow>; 2], a: &Describer, b: &Describer) -> String {
    let mut text = String::new();
    for (side, row, program) in [("A", &rows[0], a), ("B", &rows[1], b)] {
        let rows = std::slice::from_ref(row);
        let shown = ShownTable::of(rows, &RowFilter::All, None, |row| program.describe(row));
        shown.text().lines().for_each(|line| text.push_str(&format!("  {side}  {line}\n")));
    }
    text
}
