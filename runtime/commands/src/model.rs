//! Commands about the model: its dispatches, and the tensors that they leave.

use std::fmt::Write;

use debug::{
    Absent, DispatchEntry, NumberedOperand, ScopeKind, Summary, TensorEntry, TensorView, Variable,
};
use serde_json::{Value, json};

use crate::session::{Performer, Problem};
use crate::show;

impl Performer<'_> {
    /// `info dispatches`: one line per dispatch that the program records, which begins with the
    /// number of the command that ran it last.
    pub(crate) fn dispatch_list(&mut self) -> Result<(), Problem> {
        let entries = self.debugger.machine().dispatch_list();
        if entries.is_empty() {
            writeln!(self.out, "the program records no dispatches")?;
        }
        for entry in &entries {
            writeln!(self.out, "{}", dispatch_line(entry))?;
        }
        self.out.put("dispatches", entries.iter().map(dispatch_data).collect::<Vec<_>>());
        Ok(())
    }

    /// `tensors`: one line per tensor that a dispatch of the frame's function leaves.
    pub(crate) fn tensor_list(&mut self) -> Result<(), Problem> {
        self.needs_frame()?;
        let entries = self.debugger.machine().tensor_list(self.session.frame);
        if entries.is_empty() {
            return Err("no tensors of the source are known here: `iree-dbg compile` keeps them, \
                        and `info dispatch` shows the operands of a dispatch"
                .into());
        }
        let rows: Vec<TensorRow> = entries.iter().map(TensorRow::of).collect();
        self.out.write_str(&TensorRow::table(&rows))?;
        self.out.put("tensors", rows.iter().map(|row| row.data.clone()).collect::<Vec<_>>());
        Ok(())
    }

    /// `info dispatch N`: what a command has read and left, as far as it is there.
    pub(crate) fn dispatch_of(&mut self, number: u64) -> Result<(), Problem> {
        let machine = self.debugger.machine();
        let innermost = machine.innermost_frame();
        let is_standing = machine.command_number(innermost.index) == Some(number);
        if is_standing && !machine.stands_after_dispatch() {
            let mut scopes = machine.scopes(innermost).into_iter();
            if let Some((_, node)) = scopes.find(|(kind, _)| *kind == ScopeKind::Dispatch) {
                show::variables(&mut self.out, self.debugger, &node)?;
                return Ok(());
            }
        }
        let dispatch = machine.numbered_dispatch(number)?;
        let [x, y, z] = dispatch.workgroup_count;
        writeln!(self.out, "command {number}: dispatch @{} [{x},{y},{z}]", dispatch.export)?;
        let operands = dispatch.operands.iter().map(NumberedOperand::variable);
        let variables: Vec<Variable> = operands.collect();
        show::listed(&mut self.out, &variables)?;
        for (index, constant) in dispatch.constants.iter().enumerate() {
            writeln!(self.out, "constant[{index}] = {constant} : i32")?;
        }
        if let Some(missing) = dispatch.missing {
            writeln!(self.out, "{missing}")?;
        }
        Ok(())
    }

    /// `expected N`: what each tensor should be that a command has left, with what it is.
    pub(crate) fn expected_of(&mut self, number: u64) -> Result<(), Problem> {
        let dispatch = self.debugger.machine().numbered_dispatch(number)?;
        let mut all = Vec::new();
        for operand in dispatch.operands.iter().filter(|it| it.is_written) {
            let left = operand.tensor.clone();
            let compared = left.map_err(|reason| reason.to_string()).and_then(|left| {
                let evaluated = self.debugger.evaluated(&left);
                let evaluated = evaluated.map_err(|reason| reason.to_string())?;
                Ok((left, evaluated.expected))
            });
            writeln!(self.out, "{} : {}", operand.name, operand.type_name)?;
            all.push(match compared {
                Ok((left, expected)) => {
                    self.write_expected(&left, &expected)?;
                    let [expected, left] = [expected, left].map(|it| it.short());
                    json!({"name": operand.name, "expected": expected, "left": left})
                }
                Err(reason) => {
                    writeln!(self.out, "{reason}")?;
                    json!({"name": operand.name, "missing": reason})
                }
            });
        }
        if all.is_empty() {
            let why = dispatch.missing.unwrap_or_else(|| "it writes no tensor".to_owned());
            return Err(format!("command {number}, @{}: {why}", dispatch.export).into());
        }
        self.out.put("tensors", all);
        Ok(())
    }

    /// What a tensor should be, and what it is.
    pub(crate) fn write_expected(
        &mut self,
        left: &TensorView,
        expected: &TensorView,
    ) -> Result<(), Problem> {
        writeln!(self.out, "expected {} : {}", expected.short(), expected.type_name())?;
        writeln!(self.out, "left     {}", left.short())?;
        Ok(())
    }
}

fn dispatch_line(entry: &DispatchEntry) -> String {
    let mark = if entry.current.is_some() { '*' } else { ' ' };
    let number = entry.current.or(entry.runs.map(|runs| runs.last));
    let number = number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let place = entry.source.as_ref().map(|at| format!("{}:{}", at.file, at.line));
    let name = entry.name.as_deref().map_or_else(|| "?".to_owned(), |name| format!("@{name}"));
    let operands = entry.operands.iter().map(|operand| {
        let direction = match (operand.is_read, operand.is_written) {
            (true, true) => "in/out",
            (false, true) => "out",
            _ => "in",
        };
        let names = [operand.name.as_deref(), operand.node.as_deref()];
        let names: Vec<&str> = names.into_iter().flatten().collect();
        let name = if names.is_empty() { String::new() } else { names.join(" = ") + " " };
        format!("{direction} {name}{}", operand.tensor_type)
    });
    let operands: Vec<String> = operands.collect();
    let runs = match entry.runs {
        None => "  not run".to_owned(),
        Some(runs) if runs.count == 1 => String::new(),
        Some(runs) => format!("  {} runs, the first as command {}", runs.count, runs.first),
    };
    let place = place.unwrap_or_else(|| "?".to_owned());
    format!("{mark}{number:>4}  {place}  {name}({}){runs}", operands.join(", "))
}

/// A dispatch as data.
#[must_use]
pub fn dispatch_data(entry: &DispatchEntry) -> Value {
    let operands = entry.operands.iter().map(|operand| {
        json!({
            "name": operand.name,
            "node": operand.node,
            "type": operand.tensor_type,
            "in": operand.is_read,
            "out": operand.is_written,
        })
    });
    json!({
        "name": entry.name,
        "file": entry.source.as_ref().map(|at| &at.file),
        "line": entry.source.as_ref().map(|at| at.line),
        "operands": operands.collect::<Vec<_>>(),
        "runs": entry.runs.map_or(0, |runs| runs.count),
        "command": entry.current.or(entry.runs.map(|runs| runs.last)),
        "firstCommand": entry.runs.map(|runs| runs.first),
        "lastCommand": entry.runs.map(|runs| runs.last),
        "isCurrent": entry.current.is_some(),
    })
}

/// A tensor as a row of a table, and as data.
#[derive(Clone, Debug)]
pub struct TensorRow {
    cells: Vec<String>,
    /// The tensor for scripts: names, dispatch, file, line, type, statistics, hash.
    pub data: Value,
    /// Whether it has NaN, infinities, or an element far from all others.
    pub is_suspicious: bool,
}

/// The columns that every row has.
const NAMED: usize = 3;

const HEADING: [&str; 11] =
    ["line", "name", "type", "min", "max", "mean", "std", "NaN", "Inf", "zeros", "hash"];

impl TensorRow {
    /// The row of a tensor. It does not keep the tensor.
    #[must_use]
    pub fn of(entry: &TensorEntry) -> Self {
        let found = entry.summary();
        let is_suspicious =
            found.as_ref().is_some_and(|it| it.is_outlying || it.nans > 0 || it.infinities > 0);
        let data = tensor_data(entry, found.as_ref());
        Self { cells: cells(entry, found), data, is_suspicious }
    }

    /// The row as a line of a table that is printed while the program runs.
    #[must_use]
    pub fn line(&self, columns: &TensorColumns) -> String {
        columns.line(&self.cells)
    }

    /// Rows as a table with a heading.
    #[must_use]
    pub fn table(rows: &[Self]) -> String {
        let heading = HEADING.map(str::to_owned).to_vec();
        let rows: Vec<&Vec<String>> =
            std::iter::once(&heading).chain(rows.iter().map(|row| &row.cells)).collect();
        let width = |column: usize| {
            // A reason takes the place of all statistics.
            let full = rows.iter().filter(|row| row.len() == HEADING.len() || column < NAMED);
            full.filter_map(|row| row.get(column)).map(|it| it.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..HEADING.len()).map(width).collect();
        let mut text = String::new();
        for row in &rows {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        text
    }
}

/// The columns of a table of tensors whose rows are not known yet. A longer cell moves the rest of
/// its own line only.
#[derive(Clone, Debug)]
pub struct TensorColumns([usize; HEADING.len()]);

impl TensorColumns {
    /// Wider names and types move the rest of their lines.
    const WIDEST: usize = 40;

    /// How wide each `?` of a type becomes, about.
    const DYNAMIC: usize = 3;

    /// Columns for what the dispatches of a program leave.
    #[must_use]
    pub fn of(dispatches: &[DispatchEntry]) -> Self {
        let mut widths = [5, 4, 4, 10, 10, 10, 10, 4, 4, 6, 16];
        for entry in dispatches {
            for operand in entry.operands.iter().filter(|it| it.is_written) {
                let export = entry.name.as_ref().map_or(0, |it| it.chars().count() + 1);
                let name = operand.name.as_ref().map_or(export, |it| it.chars().count());
                let dynamic = operand.tensor_type.matches('?').count();
                let written = operand.tensor_type.chars().count();
                let shape = written + dynamic * (Self::DYNAMIC - 1);
                widths[1] = widths[1].max(name.min(Self::WIDEST));
                widths[2] = widths[2].max(shape.min(Self::WIDEST));
            }
        }
        Self(widths)
    }

    /// The heading of the table.
    #[must_use]
    pub fn heading(&self) -> String {
        self.line(&HEADING.map(str::to_owned))
    }

    fn line(&self, cells: &[String]) -> String {
        let cells = cells.iter().zip(self.0).map(|(cell, width)| format!("{cell:width$}"));
        let mut line = cells.collect::<Vec<_>>().join("  ");
        line.truncate(line.trim_end().len());
        line
    }
}

fn cells(entry: &TensorEntry, found: Option<Summary>) -> Vec<String> {
    let line = entry.source.as_ref().map_or_else(|| "?".to_owned(), |at| at.line.to_string());
    let name = match entry.names.as_slice() {
        [] => format!("@{}", entry.dispatch),
        names => names.join(" = "),
    };
    let mut cells = vec![line, name, entry.tensor_type.clone()];
    match (&entry.value, found) {
        (Err(reason), _) => cells.push(reason.to_string()),
        (Ok(_), None) => cells.push("<no numbers>".to_owned()),
        (Ok(tensor), Some(found)) => {
            let marked = |count: usize| match count {
                0 => "0".to_owned(),
                count => format!("{count} !"),
            };
            let mark = if found.is_outlying { " outlier" } else { "" };
            cells.extend([
                found.minimum.as_deref().map_or_else(|| "-".to_owned(), shortened),
                found.maximum.as_deref().map_or_else(|| "-".to_owned(), shortened) + mark,
                rounded(found.mean),
                rounded(found.deviation),
                marked(found.nans),
                marked(found.infinities),
                found.zeros.to_string(),
                format!("{:016x}", tensor.hash()) + &tensor.mark(),
            ]);
        }
    }
    cells
}

/// A number with six digits; integers as they are.
fn shortened(text: &str) -> String {
    let is_integer = text.bytes().all(|it| it.is_ascii_digit() || it == b'-');
    text.parse().ok().filter(|_| !is_integer).map_or_else(|| text.to_owned(), rounded)
}

fn rounded(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-3..1e7).contains(&size) {
        return format!("{number:.4e}");
    }
    let text = format!("{number:.5}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

fn tensor_data(entry: &TensorEntry, found: Option<&Summary>) -> Value {
    let finite = |number: f64| if number.is_finite() { json!(number) } else { Value::Null };
    let mut data = json!({
        "names": entry.names,
        "dispatch": entry.dispatch,
        "file": entry.source.as_ref().map(|at| &at.file),
        "line": entry.source.as_ref().map(|at| at.line),
        "type": entry.tensor_type,
        "missing": entry.value.as_ref().err().map(ToString::to_string),
        "absent": entry.value.as_ref().err().map(Absent::kind),
        "min": found.and_then(|it| it.minimum.clone()),
        "max": found.and_then(|it| it.maximum.clone()),
        "mean": found.map(|it| finite(it.mean)),
        "std": found.map(|it| finite(it.deviation)),
        "nan": found.map(|it| it.nans),
        "inf": found.map(|it| it.infinities),
        "zeros": found.map(|it| it.zeros),
        "recognised": entry.value.as_ref().ok().and_then(debug::TensorView::recognised),
        "asOf": entry.value.as_ref().ok().and_then(debug::TensorView::as_of).map(show::as_of_data),
        "recomputed": entry.value.as_ref().ok().and_then(debug::TensorView::recomputed),
        "outlier": found.map(|it| it.is_outlying),
        "hash": entry.value.as_ref().ok().map(|it| format!("{:016x}", it.hash())),
    });
    if !entry.in_layers.is_empty() {
        data["layers"] = json!(entry.in_layers);
    }
    data
}
