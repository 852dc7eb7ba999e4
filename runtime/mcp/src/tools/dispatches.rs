//! `dispatches`: what the program computes, dispatch by dispatch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Answer, Tool};
use crate::bounds;
use crate::problem::Problem;
use crate::program::{Desk, Heard};

pub(crate) struct Dispatches;

/// The most rows of an answer.
const MOST: usize = 50;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Only those whose name, line (`model.mlir:12`) or operand has this text.
    matching: Option<String>,
    /// Also what each has left: minimum, maximum, mean, NaN, infinities. The program has to stand
    /// somewhere.
    #[serde(default)]
    statistics: bool,
    /// Begin with this one of them, counted from 0.
    #[serde(default)]
    first: usize,
    /// At most so many; 20 if not said, 50 at most.
    most: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct List {
    /// The dispatches, in the order of the program.
    dispatches: Vec<Row>,
    /// How many fit in all.
    count: usize,
    /// What was left out, and how to ask for it.
    left_out: Vec<String>,
    /// What to ask next.
    next: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    /// The name.
    name: Option<String>,
    /// Its line in the source.
    line: Option<String>,
    /// What it reads and writes: `in %x 4x8xf32`, `out %y 4x8xf32`.
    operands: Vec<String>,
    /// How often it has run.
    runs: u64,
    /// The number of the command that ran it last, for `run` with `goto`, and for `repro`.
    command: Option<u64>,
    /// Whether the program stands at it.
    current: bool,
    /// What it has left, if that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left: Vec<Left>,
}

/// A tensor that a dispatch has left.
#[derive(Serialize, Deserialize, JsonSchema, Clone)]
struct Left {
    names: Vec<String>,
    #[serde(rename = "type")]
    type_name: String,
    /// Why it cannot be shown, if it cannot.
    missing: Option<String>,
    min: Option<String>,
    max: Option<String>,
    mean: Option<f64>,
    std: Option<f64>,
    nan: Option<usize>,
    inf: Option<usize>,
    zeros: Option<usize>,
}

impl Tool for Dispatches {
    const NAME: &'static str = "dispatches";
    const TITLE: &'static str = "What the program computes";
    const ABOUT: &'static str = "The dispatches of the program in their order: line of the \
        source, what each reads and writes, how often it has run and as which command; with \
        statistics of what they have left, if asked for.";
    type Arguments = Arguments;
    type Answer = List;

    fn answer(desk: &mut Desk, arguments: Arguments) -> Result<List, Problem> {
        let Arguments { matching, statistics, first, most } = arguments;
        let program = match statistics {
            true => desk.standing()?,
            false => desk.program()?,
        };
        let heard = program.line("info dispatches")?;
        let all = heard.data.get("dispatches").and_then(Value::as_array);
        let rows = all.into_iter().flatten().map(row);
        let fits = |row: &Row| {
            let Some(text) = &matching else { return true };
            let mut texts = row.name.iter().chain(&row.line).chain(&row.operands);
            texts.any(|it| it.contains(text.trim_matches('*')))
        };
        let mut rows: Vec<Row> = rows.filter(fits).collect();
        let count = rows.len();
        let most = most.unwrap_or(20).clamp(1, MOST);
        rows.drain(..first.min(count));
        rows.truncate(most);
        if statistics {
            let left = program.line("tensors")?;
            rows.iter_mut().for_each(|row| row.left = left_by(&left, row.name.as_deref()));
        }
        let after = first + rows.len();
        let mut left_out = Vec::new();
        if after < count {
            left_out.push(format!("{} more: dispatches {{\"first\": {after}}}", count - after));
        }
        let next = match rows.iter().find_map(|it| it.command) {
            Some(command) => vec![format!("run {{\"how\": \"goto\", \"to\": \"{command}\"}}")],
            None => vec![
                "break {\"dispatch\": \"*NAME*\"}".to_owned(),
                "run {\"how\": \"continue\"}".to_owned(),
            ],
        };
        Ok(List { dispatches: rows, count, left_out, next })
    }
}

fn row(data: &Value) -> Row {
    let text = |of: &Value, key: &str| of[key].as_str().map(str::to_owned);
    let operands = data["operands"].as_array().into_iter().flatten().map(|operand| {
        let direction = match (operand["in"] == true, operand["out"] == true) {
            (true, true) => "in/out",
            (false, true) => "out",
            _ => "in",
        };
        let name = text(operand, "name").map(|it| it + " ").unwrap_or_default();
        let type_name = text(operand, "type").unwrap_or_default();
        bounds::line(&format!("{direction} {name}{type_name}"), 120)
    });
    let line = text(data, "file").map(|file| format!("{file}:{}", data["line"]));
    Row {
        name: text(data, "name").map(|it| bounds::line(&it, 120)),
        line,
        operands: operands.take(8).collect(),
        runs: data["runs"].as_u64().unwrap_or(0),
        command: data["command"].as_u64(),
        current: data["isCurrent"] == true,
        left: Vec::new(),
    }
}

/// What a dispatch has left.
fn left_by(heard: &Heard, dispatch: Option<&str>) -> Vec<Left> {
    let all = heard.data.get("tensors").and_then(Value::as_array);
    let own = all.into_iter().flatten().filter(|it| it["dispatch"].as_str() == dispatch);
    own.filter_map(|it| Left::deserialize(it).ok()).take(4).collect()
}

impl Answer for List {
    fn text(&self) -> String {
        let mut lines = Vec::new();
        for row in &self.dispatches {
            let command = row.command.map_or_else(|| "-".to_owned(), |it| it.to_string());
            let (name, line) = (row.name.as_deref(), row.line.as_deref());
            let mark = if row.current { "*" } else { " " };
            let (name, line) = (name.unwrap_or("?"), line.unwrap_or("?"));
            let operands = row.operands.join(", ");
            lines.push(format!("{mark}{command:>4}  {line}  @{name}({operands})"));
            for left in &row.left {
                let names = left.names.join(" = ");
                lines.push(match &left.missing {
                    Some(missing) => format!("        {names} : {missing}"),
                    None => format!(
                        "        {names} : {} min {} max {} NaN {} inf {}",
                        left.type_name,
                        left.min.as_deref().unwrap_or("-"),
                        left.max.as_deref().unwrap_or("-"),
                        left.nan.unwrap_or(0),
                        left.inf.unwrap_or(0)
                    ),
                });
            }
        }
        if lines.is_empty() {
            lines.push("no dispatches".to_owned());
        }
        lines.join("\n")
    }

    fn next(&self) -> &[String] {
        &self.next
    }

    fn left_out(&self) -> &[String] {
        &self.left_out
    }
}
