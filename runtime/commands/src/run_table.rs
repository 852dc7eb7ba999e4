//! `table`: the recorded run, a row for each command, with what that has left. The same rows are
//! printed of a recording that no one runs (`iree-dbg table`).

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use debug::{CommandRow, DescribedRow, Number, Position, TableOfRun, WrittenTensor};
use serde_json::{Map, Value, json};

use crate::row_filter::RowFilter;
use crate::session::{Performer, Problem};

/// The most rows that are shown unless their numbers are given.
const MOST: usize = 200;

/// A row with what is said about it.
struct ShownRow {
    row: Arc<CommandRow>,
    described: DescribedRow,
    /// For each tensor, the first command of those that have left it so since it was other last.
    since: Vec<Option<u64>>,
}

/// Rows to be shown.
pub struct ShownTable {
    rows: Vec<ShownRow>,
    /// How many there are in all, and after which number some were left out.
    total: usize,
    left_out_after: Option<u64>,
    /// The next command where the program stands, if it stands in the run.
    next: Option<u64>,
}

impl ShownTable {
    /// The rows that a filter takes. `next` is the number of the next command, if the program runs.
    #[must_use]
    pub fn of(
        rows: &[Arc<CommandRow>],
        filter: &RowFilter,
        next: Option<u64>,
        describe: impl Fn(&CommandRow) -> DescribedRow,
    ) -> Self {
        let mut described: HashMap<(Position, Arc<str>), DescribedRow> = HashMap::new();
        let mut left: HashMap<(Position, usize), (u64, u64)> = HashMap::new();
        let mut shown = Vec::new();
        for row in rows {
            let key = (row.recorded_at, Arc::clone(&row.name));
            let described = described.entry(key).or_insert_with(|| describe(row));
            let since = row.written.iter().enumerate().map(|(index, tensor)| {
                let place = (row.recorded_at, index);
                let before = left.get(&place).copied();
                let first = match before {
                    Some((hash, first)) if hash == tensor.hash => first,
                    _ => row.number,
                };
                left.insert(place, (tensor.hash, first));
                before.map(|_| first)
            });
            let since = since.collect();
            if filter.takes(row, described) {
                let (row, described) = (Arc::clone(row), described.clone());
                shown.push(ShownRow { row, described, since });
            }
        }
        let total = shown.len();
        let is_limited = !matches!(filter, RowFilter::Range(..)) && total > MOST;
        if is_limited {
            shown.truncate(MOST);
        }
        let last = shown.last().map(|it| it.row.number).filter(|_| is_limited);
        Self { rows: shown, total, left_out_after: last, next }
    }

    /// How many rows the filter takes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.total
    }

    /// Whether it takes none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The rows as lines.
    #[must_use]
    pub fn text(&self) -> String {
        let lines: Vec<[String; COLUMNS]> =
            self.rows.iter().flat_map(|it| self.lines(it)).collect();
        let width = |column: usize| {
            lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0)
        };
        let widths: [usize; COLUMNS] = std::array::from_fn(width);
        let mut text = String::new();
        for line in &lines {
            let mut out = String::new();
            for (index, (cell, width)) in
                line.iter().zip(widths).enumerate().filter(|it| it.1.1 > 0)
            {
                let gap = " ".repeat(width - cell.chars().count());
                let is_number = matches!(index, 0 | 4 | 5);
                out.push_str(if index == 0 { "" } else { "  " });
                out.push_str(&if is_number { gap + cell } else { cell.clone() + &gap });
            }
            text.push_str(out.trim_end());
            text.push('\n');
        }
        if let Some(last) = self.left_out_after {
            let more = self.total - self.rows.len();
            text.push_str(&format!(
                "and {more} more: `table {}-{}`\n",
                last + 1,
                last + MOST as u64
            ));
        }
        text
    }

    /// The lines of a row, one for each tensor.
    fn lines(&self, shown: &ShownRow) -> Vec<[String; COLUMNS]> {
        let ShownRow { row, described, since } = shown;
        let mark = if self.next == Some(row.number) { ">" } else { "" };
        let place = described.source.as_ref().map(|at| format!("{}:{}", at.file, at.line));
        let mut lines: Vec<[String; COLUMNS]> = Vec::new();
        let mut begin = Some([
            format!("{mark}{}", row.number),
            described.what.clone(),
            place.unwrap_or_default(),
        ]);
        let mut line = |rest: [String; 5]| {
            let [number, what, place] = begin.take().unwrap_or_default();
            let [tensor, least, most, special, hash] = rest;
            lines.push([number, what, place, tensor, least, most, special, hash]);
        };
        for ((tensor, name), since) in row.written.iter().zip(&described.names).zip(since) {
            let named = name.as_ref().map_or_else(String::new, |name| format!("{name}: "));
            let extent = tensor.extent.unwrap_or_default();
            let number =
                |it: Option<Number>| it.map_or_else(String::new, |it| tensor.element_text(it));
            let hash = match since {
                Some(first) if *first < row.number => {
                    format!("{:016x} as since {first}", tensor.hash)
                }
                _ => format!("{:016x}", tensor.hash),
            };
            line([
                named + &tensor.type_text(),
                number(extent.least),
                number(extent.most),
                special(tensor),
                hash,
            ]);
        }
        if let Some(changed) = row.changed {
            let known =
                if row.written.is_empty() { "what it writes" } else { "all that it writes" };
            let text = format!("{known} is not known; digest of what has changed");
            line([text, String::new(), String::new(), String::new(), format!("{changed:016x}")]);
        }
        if row.written.is_empty() && row.changed.is_none() {
            line(std::array::from_fn(|_| String::new()));
        }
        lines
    }

    /// The rows as data.
    #[must_use]
    pub fn data(&self) -> Vec<Value> {
        let rows = self.rows.iter().map(|shown| {
            let ShownRow { row, described, since } = shown;
            let tensors = row.written.iter().zip(&described.names).zip(since);
            let tensors: Vec<Value> = tensors
                .map(|((tensor, name), since)| tensor_data(tensor, name.as_deref(), *since))
                .collect();
            let mut data = Map::new();
            data.insert("command".to_owned(), row.number.into());
            data.insert("kind".to_owned(), row.kind.name().into());
            if !row.name.is_empty() {
                data.insert("name".to_owned(), (*row.name).into());
            }
            if let Some(at) = &described.source {
                data.insert("file".to_owned(), at.file.clone().into());
                data.insert("line".to_owned(), at.line.into());
            }
            data.insert("tensors".to_owned(), tensors.into());
            if let Some(changed) = row.changed {
                data.insert("changed".to_owned(), format!("{changed:016x}").into());
            }
            Value::Object(data)
        });
        rows.collect()
    }
}

/// Number, what, place, tensor, least, greatest, NaN and infinities, hash.
const COLUMNS: usize = 8;

fn special(tensor: &WrittenTensor) -> String {
    let extent = tensor.extent.unwrap_or_default();
    let counts = [(extent.nans, "NaN"), (extent.infinities, "inf")];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let texts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    texts.join(", ")
}

fn tensor_data(tensor: &WrittenTensor, name: Option<&str>, since: Option<u64>) -> Value {
    let mut data = Map::new();
    let mut put = |key: &str, value: Value| data.insert(key.to_owned(), value);
    if let Some(name) = name {
        put("name", name.into());
    }
    if let Some(tensor_type) = &tensor.tensor_type {
        put("type", (**tensor_type).into());
    }
    put("bytes", tensor.length.into());
    if let Some(extent) = tensor.extent {
        put("min", extent.least.map_or(Value::Null, number_data));
        put("max", extent.most.map_or(Value::Null, number_data));
        put("nan", extent.nans.into());
        put("inf", extent.infinities.into());
    }
    put("hash", format!("{:016x}", tensor.hash).into());
    if let Some(first) = since {
        put("since", first.into());
    }
    Value::Object(data)
}

fn number_data(number: Number) -> Value {
    match number {
        Number::Float(value) => json!(value),
        Number::Integer(value) => match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => json!(value),
            (_, Ok(value)) => json!(value),
            _ => json!(value as f64),
        },
    }
}

impl Performer<'_> {
    /// `table`: the rows of the run, as far as a filter takes them.
    pub(crate) fn run_table(&mut self, filter: &RowFilter) -> Result<(), Problem> {
        let table = self.debugger.run_table()?;
        let TableOfRun { rows, forgotten, commands, .. } = &table;
        let machine = self.debugger.machine();
        let describe = |row: &CommandRow| machine.described_row(row);
        let shown = ShownTable::of(rows, filter, Some(commands + 1), describe);
        self.out.put("rows", shown.data());
        self.out.put("commands", *commands);
        if let Some(last) = forgotten {
            self.out.put("forgotten", *last);
            writeln!(
                self.out,
                "the rows of commands up to {last} were forgotten for lack of room"
            )?;
        }
        match (shown.is_empty(), rows.first(), rows.last()) {
            (true, None, _) if *commands == 0 => writeln!(
                self.out,
                "no command has run yet; rows are made while the recorded program runs"
            )?,
            (true, None, _) => {
                writeln!(self.out, "no command has run since the recording began")?;
            }
            (true, Some(first), Some(last)) => writeln!(
                self.out,
                "no row is of that; there are rows of commands {} to {}, of dispatches by name, \
                 `FILE:LINE`, and tensors by name",
                first.number, last.number
            )?,
            _ => self.out.write_str(&shown.text())?,
        }
        Ok(())
    }
}
