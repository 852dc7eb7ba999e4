//! Commands about the model: its dispatches, and the tensors that they leave.

use std::fmt::Write;

use debug::{DispatchEntry, TensorEntry};
use serde_json::{Value, json};

use crate::session::{Performer, Problem};

impl Performer<'_> {
    /// `info dispatches`: one line per dispatch that the program records.
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
        self.out.write_str(&table(&entries))?;
        self.out.put("tensors", entries.iter().map(tensor_data).collect::<Vec<_>>());
        Ok(())
    }
}

fn dispatch_line(entry: &DispatchEntry) -> String {
    let mark = if entry.is_current { '*' } else { ' ' };
    let place = entry.source.as_ref().map(|at| format!("{}:{}", at.file, at.line));
    let name = entry.name.as_deref().map_or_else(|| "?".to_owned(), |name| format!("@{name}"));
    let operands = entry.operands.iter().map(|operand| {
        let direction = match (operand.is_read, operand.is_written) {
            (true, true) => "in/out",
            (false, true) => "out",
            _ => "in",
        };
        let name = operand.name.as_deref().map(|name| format!("{name} ")).unwrap_or_default();
        format!("{direction} {name}{}", operand.tensor_type)
    });
    let operands: Vec<String> = operands.collect();
    let runs = match entry.runs {
        None => "not run".to_owned(),
        Some(runs) if runs.count == 1 => format!("command {}", runs.first),
        Some(runs) => format!("{} runs, commands {} to {}", runs.count, runs.first, runs.last),
    };
    let place = place.unwrap_or_else(|| "?".to_owned());
    format!("{mark}{:4}  {place}  {name}({})  {runs}", entry.index, operands.join(", "))
}

/// A dispatch as data.
#[must_use]
pub fn dispatch_data(entry: &DispatchEntry) -> Value {
    let operands = entry.operands.iter().map(|operand| {
        json!({
            "name": operand.name,
            "type": operand.tensor_type,
            "in": operand.is_read,
            "out": operand.is_written,
        })
    });
    json!({
        "index": entry.index,
        "name": entry.name,
        "file": entry.source.as_ref().map(|at| &at.file),
        "line": entry.source.as_ref().map(|at| at.line),
        "operands": operands.collect::<Vec<_>>(),
        "runs": entry.runs.map_or(0, |runs| runs.count),
        "firstCommand": entry.runs.map(|runs| runs.first),
        "lastCommand": entry.runs.map(|runs| runs.last),
        "isCurrent": entry.is_current,
    })
}

/// Tensors as a table with a heading.
#[must_use]
pub fn table(entries: &[TensorEntry]) -> String {
    const HEADING: [&str; 10] =
        ["line", "name", "type", "min", "max", "mean", "std", "NaN", "Inf", "zeros"];
    let mut rows: Vec<Vec<String>> = vec![HEADING.map(str::to_owned).to_vec()];
    rows[0].push("hash".to_owned());
    rows.extend(entries.iter().map(row));
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            // A reason takes the place of all statistics.
            let full = rows.iter().filter(|row| row.len() > HEADING.len() || column < 3);
            full.filter_map(|row| row.get(column)).map(|it| it.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn row(entry: &TensorEntry) -> Vec<String> {
    let line = entry.source.as_ref().map_or_else(|| "?".to_owned(), |at| at.line.to_string());
    let name = match entry.names.as_slice() {
        [] => format!("@{}", entry.dispatch),
        names => names.join(" = "),
    };
    let mut row = vec![line, name, entry.tensor_type.clone()];
    match (&entry.value, entry.summary()) {
        (Err(reason), _) => row.push(reason.clone()),
        (Ok(_), None) => row.push("<no numbers>".to_owned()),
        (Ok(tensor), Some(found)) => {
            let number = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            let marked =
                |count: usize| if count > 0 { format!("{count}!") } else { "0".to_owned() };
            let mark = if found.is_outlying { "  outlier" } else { "" };
            row.extend([
                number(found.minimum),
                number(found.maximum),
                rounded(found.mean),
                rounded(found.deviation),
                marked(found.nans),
                marked(found.infinities),
                found.zeros.to_string(),
                format!("{:016x}{mark}", tensor.hash()),
            ]);
        }
    }
    row
}

fn rounded(number: f64) -> String {
    let text = format!("{number:.6}");
    let digits = if number != 0.0 && number.abs() < 1e-3 { format!("{number:.3e}") } else { text };
    digits
}

/// A tensor as data.
#[must_use]
pub fn tensor_data(entry: &TensorEntry) -> Value {
    let found = entry.summary();
    let finite = |number: f64| if number.is_finite() { json!(number) } else { Value::Null };
    json!({
        "names": entry.names,
        "dispatch": entry.dispatch,
        "file": entry.source.as_ref().map(|at| &at.file),
        "line": entry.source.as_ref().map(|at| at.line),
        "type": entry.tensor_type,
        "missing": entry.value.as_ref().err(),
        "min": found.as_ref().and_then(|it| it.minimum.clone()),
        "max": found.as_ref().and_then(|it| it.maximum.clone()),
        "mean": found.as_ref().map(|it| finite(it.mean)),
        "std": found.as_ref().map(|it| finite(it.deviation)),
        "nan": found.as_ref().map(|it| it.nans),
        "inf": found.as_ref().map(|it| it.infinities),
        "zeros": found.as_ref().map(|it| it.zeros),
        "outlier": found.as_ref().map(|it| it.is_outlying),
        "hash": entry.value.as_ref().ok().map(|it| format!("{:016x}", it.hash())),
    })
}
