//! `lines`, `line` and `diff`: lines of time, of which a value that is set in the past begins one.

use std::fmt::{self, Write};

use debug::{
    CommandRow, DifferingCommand, LineBegin, LineComparison, LineOfTime, TensorDifference,
};
use serde_json::{Map, Value, json};

use crate::command::Diff;
use crate::information::counted;
use crate::session::{Action, Performer, Problem, Run};

/// By how much tensors differ is said of so many commands, unless some are asked for.
const MOST: usize = 20;

/// The longest text of a change that is shown.
const LONGEST: usize = 60;

impl Performer<'_> {
    /// `lines`: a row for each.
    pub(crate) fn lines(&mut self) -> Result<(), Problem> {
        let lines = self.debugger.lines_of_time()?;
        for line in &lines {
            let LineOfTime { number, is_here, begin, commands, is_reachable } = line;
            let mark = if *is_here { '>' } else { ' ' };
            let begun = match begin {
                None => "the first".to_owned(),
                Some(begin) => begun(begin),
            };
            let gone = if *is_reachable { "" } else { "; what leads there was given up" };
            let commands = counted(*commands, "command");
            writeln!(self.out, "{mark}{number}  {begun}; {commands} so far{gone}")?;
        }
        if lines.len() == 1 {
            writeln!(self.out, "a value that is set in the past begins another one")?;
        }
        self.out.put("lines", lines.iter().map(line_data).collect::<Value>());
        Ok(())
    }

    /// `line N`.
    pub(crate) fn line_of_time(&mut self, number: usize) -> Result<(), Problem> {
        self.debugger.lines_of_time()?;
        self.action = Some(Action::Run(Run::ToLine(number, None)));
        Ok(())
    }

    /// `diff N M`.
    pub(crate) fn diff(&mut self, (lines, range): Diff) -> Result<(), Problem> {
        let looked_at = match range {
            None => 0..MOST,
            Some(range) => {
                let found = self.debugger.compare_lines(lines, 0..0)?;
                let numbers = found.differing.iter().map(|it| it.rows[0].number);
                let before = |number: u64| numbers.clone().filter(|it| *it < number).count();
                before(range.0)..before(range.1.saturating_add(1))
            }
        };
        let found = self.debugger.compare_lines(lines, looked_at.clone())?;
        let LineComparison { commands, common, same, unknown, differing, other } = &found;
        let [a, b] = lines;
        let common_text = counted(*common, "command");
        writeln!(self.out, "lines {a} and {b} have {common_text} in common")?;
        for command in differing.iter().skip(looked_at.start).take(looked_at.len()) {
            self.show_differing(command)?;
        }
        let shown = looked_at.end.min(differing.len());
        if let Some(next) = differing.get(shown) {
            let (more, first) = (differing.len() - shown, next.rows[0].number);
            let last = differing.get(shown + MOST - 1).or(differing.last());
            let last = last.map_or(first, |it| it.rows[0].number);
            let others = if more == 1 { "1 more has" } else { &format!("{more} more have") };
            writeln!(self.out, "{others} left something else: `diff {a} {b} {first}-{last}`")?;
        }
        if let Some([row, _]) = other {
            writeln!(self.out, "command {} is the first that is another one", row.number)?;
        }
        let have = match (differing.is_empty(), same) {
            (true, 0) if *unknown == 0 && other.is_none() => {
                "no command has run in both since".to_owned()
            }
            (_, same) => format!("{} the same", counted(*same, "command")),
        };
        writeln!(self.out, "{have}{}", unknown_text(*unknown))?;
        if commands[0] != commands[1] {
            let [first, second] = commands.map(|count| counted(count, "command"));
            writeln!(self.out, "line {a} is known up to {first}, line {b} up to {second}")?;
        }
        let data: Vec<Value> = differing.iter().map(differing_data).collect();
        self.out.put("common", *common);
        self.out.put("same", *same);
        self.out.put("unknown", *unknown);
        self.out.put("commands", json!(commands));
        self.out.put("differing", data);
        self.out.put("other", other.as_ref().map(|rows| rows[0].number));
        Ok(())
    }

    fn show_differing(&mut self, command: &DifferingCommand) -> fmt::Result {
        let DifferingCommand { rows: [row, _], tensors, differences } = command;
        let described = self.debugger.machine().described_row(row);
        let place = described.source.as_ref().map(|at| format!("  {}:{}", at.file, at.line));
        writeln!(self.out, "{}  {}{}", row.number, described.what, place.unwrap_or_default())?;
        if tensors.is_empty() {
            writeln!(self.out, "   what it writes is not known; the digest of it differs")?;
        }
        for (index, difference) in tensors.iter().zip(differences) {
            let name = described.names.get(*index).cloned().flatten();
            let type_text = row.written.get(*index).map(debug::WrittenTensor::type_text);
            let type_text = type_text.unwrap_or_default();
            let name = name.map_or_else(|| type_text.clone(), |it| format!("{it}: {type_text}"));
            writeln!(self.out, "   {name}: {}", difference_text(difference.as_ref()))?;
        }
        Ok(())
    }
}

/// How a line has begun.
fn begun(begin: &LineBegin) -> String {
    let LineBegin { parent, moment, commands, changes } = begin;
    let all = changes.join(", ");
    let mut short: String = all.chars().take(LONGEST).collect();
    if short.len() < all.len() {
        short.push('…');
    }
    let after = counted(*commands, "command");
    format!("from line {parent} at {moment}, after {after}: {short}")
}

fn difference_text(difference: Option<&TensorDifference>) -> String {
    let Some(TensorDifference { differences, worst_at }) = difference else {
        return "its bytes differ; by how much was not looked at".to_owned();
    };
    let (Some(worst), Some(at)) = (&differences.worst, worst_at) else {
        return "the same values; the bits of a zero or a NaN differ".to_owned();
    };
    let [a, b] = &worst.texts;
    let by = match worst.difference {
        it if it.is_nan() => "one of both is NaN, first".to_owned(),
        it => format!("at most by {}", short_number(it)),
    };
    let (different, count) = (differences.different, differences.count);
    format!("{different} of {count} elements differ, {by} at {at:?}: {a}, {b}")
}

/// A distance, with few digits.
fn short_number(number: f64) -> String {
    match number.abs() {
        it if it < 1e15 && it.fract() == 0.0 => format!("{number}"),
        it if (1e-3..1e6).contains(&it) => format!("{number:.6}").trim_end_matches('0').to_owned(),
        _ => format!("{number:.4e}"),
    }
}

fn unknown_text(unknown: u64) -> String {
    match unknown {
        0 => String::new(),
        count => format!("; {} with no row in one of them", counted(count, "command")),
    }
}

fn line_data(line: &LineOfTime) -> Value {
    let LineOfTime { number, is_here, begin, commands, is_reachable } = line;
    let begin = begin.as_ref().map(|begin| {
        let LineBegin { parent, moment, commands, changes } = begin;
        json!({
            "line": parent,
            "moment": moment.to_string(),
            "commands": commands,
            "changes": changes,
        })
    });
    json!({
        "line": number,
        "isHere": is_here,
        "commands": commands,
        "isReachable": is_reachable,
        "begin": begin,
    })
}

fn differing_data(command: &DifferingCommand) -> Value {
    let DifferingCommand { rows, tensors, differences } = command;
    let hashes = |row: &CommandRow, index: usize| {
        row.written.get(index).map(|it| format!("{:016x}", it.hash))
    };
    let tensors = tensors.iter().zip(differences).map(|(index, difference)| {
        let mut data = Map::new();
        data.insert("tensor".to_owned(), json!(index));
        let [a, b] = rows.each_ref().map(|row| hashes(row, *index));
        data.insert("hashes".to_owned(), json!([a, b]));
        if let Some(TensorDifference { differences, worst_at }) = difference {
            data.insert("elements".to_owned(), json!(differences.count));
            data.insert("different".to_owned(), json!(differences.different));
            let worst = differences.worst.as_ref().map(|worst| {
                // JSON has no NaN and no infinity.
                let difference = Some(worst.difference).filter(|it| it.is_finite());
                json!({ "index": worst_at, "values": worst.texts, "difference": difference })
            });
            data.insert("largest".to_owned(), json!(worst));
        }
        Value::Object(data)
    });
    json!({ "command": rows[0].number, "tensors": tensors.collect::<Value>() })
}
