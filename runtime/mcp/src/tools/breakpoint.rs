//! `break`: where the program is to stop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Answer, Tool};
use crate::bounds;
use crate::problem::Problem;
use crate::program::{Desk, Program};

pub(crate) struct Break;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// A line or a function: `12`, `model.mlir:12`, `main`.
    at: Option<String>,
    /// Dispatches by their names: `*softmax*`.
    dispatch: Option<String>,
    /// After the dispatch instead of before it.
    #[serde(default)]
    after: bool,
    /// Stop only if this is true: `%i == 3`, `nan(%p) > 0`, `$run == 100`.
    condition: Option<String>,
    /// Do not stop, but say this: `{dispatch.number}: {max(%x)}`. `run` answers with the messages.
    log: Option<String>,
    /// Stop when this changes: `%x`, `@global`, `operand[2]`.
    watch: Option<String>,
    /// Stop where this happens first.
    catch: Option<Catch>,
    /// Remove a breakpoint by its number, or `all`, catches too.
    remove: Option<String>,
}

/// What is caught.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Catch {
    /// A NaN, at the operation that makes it.
    Nan,
    /// An infinity, at the operation that makes it.
    Inf,
    /// An integer that overflows in the source.
    Overflow,
    /// A dispatch that leaves something else than its text means, in float64.
    Difference,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Stops {
    /// All breakpoints that there are now.
    breakpoints: Vec<Row>,
    /// What is caught now.
    catches: Vec<String>,
    /// What was said of the new one.
    told: String,
    /// What to ask next.
    next: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    /// Its number.
    number: u64,
    /// What it was asked for.
    what: String,
    /// Whether it is somewhere.
    verified: bool,
    /// How often the program came there.
    hits: u64,
    /// The condition.
    condition: Option<String>,
    /// What it says instead of stopping.
    log: Option<String>,
    /// The dispatches before which it stops.
    dispatches: Vec<String>,
}

impl Tool for Break {
    const NAME: &'static str = "break";
    const TITLE: &'static str = "Where the program is to stop";
    const ABOUT: &'static str = "Sets or removes a breakpoint on a line, a function or dispatches, \
        a watchpoint on data, or a catch, and lists all. Without arguments it only lists.";
    type Arguments = Arguments;
    type Answer = Stops;

    fn answer(desk: &mut Desk, arguments: Arguments) -> Result<Stops, Problem> {
        let program = desk.program()?;
        let told = match line(&arguments)? {
            Some(line) => program.line(&line)?.text,
            None => String::new(),
        };
        if let Some(catch) = arguments.catch {
            program.catches.push(catch_line(catch).to_owned());
        }
        if arguments.remove.as_deref() == Some("all") {
            program.catches.clear();
            program.line("catch off")?;
        }
        listed(program, &told)
    }
}

/// The line that does it; none only lists.
fn line(arguments: &Arguments) -> Result<Option<String>, Problem> {
    let Arguments { at, dispatch, after, condition, log, watch, catch, remove } = arguments;
    let kinds =
        [at.is_some(), dispatch.is_some(), watch.is_some(), catch.is_some(), remove.is_some()];
    match kinds.iter().filter(|it| **it).count() {
        0 => return Ok(None),
        1 => {}
        _ => return Err("one of `at`, `dispatch`, `watch`, `catch` and `remove` at a time".into()),
    }
    if let Some(number) = remove {
        return Ok(Some(match number.as_str() {
            "all" => "delete".to_owned(),
            number => {
                let number: u32 =
                    number.parse().map_err(|_| "`remove` is a number, or `all`".to_owned())?;
                format!("delete {number}")
            }
        }));
    }
    if let Some(text) = watch {
        return Ok(Some(format!("watch {text}")));
    }
    if let Some(catch) = catch {
        return Ok(Some(catch_line(*catch).to_owned()));
    }
    let place = match (at, dispatch) {
        (Some(at), _) => at.clone(),
        (None, Some(pattern)) if pattern.contains('\'') => {
            return Err("a pattern has no quotes: *softmax*".into());
        }
        (None, Some(pattern)) => {
            format!("dispatch '{pattern}'{}", if *after { " after" } else { "" })
        }
        (None, None) => return Ok(None),
    };
    let condition = condition.as_ref().map(|it| format!(" if {it}")).unwrap_or_default();
    Ok(Some(match log {
        Some(_) if !condition.is_empty() => {
            return Err("a message has no condition; leave one of both out".into());
        }
        Some(text) => format!("log {place}, {text}"),
        None => format!("break {place}{condition}"),
    }))
}

fn catch_line(catch: Catch) -> &'static str {
    match catch {
        Catch::Nan => "catch nan",
        Catch::Inf => "catch inf",
        Catch::Overflow => "catch overflow",
        Catch::Difference => "catch difference",
    }
}

fn listed(program: &mut Program, told: &str) -> Result<Stops, Problem> {
    let heard = program.line("info breakpoints")?;
    let list = |key: &str| heard.data.get(key).and_then(Value::as_array).cloned();
    let catches = list("catches").unwrap_or_default();
    let catches = catches.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let breakpoints = list("breakpoints").unwrap_or_default();
    let next = vec!["run {\"how\": \"continue\"}".to_owned()];
    Ok(Stops {
        breakpoints: breakpoints.iter().map(row).collect(),
        catches,
        told: bounds::text(told, 600),
        next,
    })
}

fn row(data: &Value) -> Row {
    let text = |key: &str| data[key].as_str().map(|it| bounds::line(it, bounds::MOST_VALUE));
    let dispatches = data["dispatches"].as_array().into_iter().flatten();
    Row {
        number: data["number"].as_u64().unwrap_or(0),
        what: text("what").unwrap_or_default(),
        verified: data["verified"] == true,
        hits: data["hits"].as_u64().unwrap_or(0),
        condition: text("condition"),
        log: text("log"),
        dispatches: dispatches.filter_map(Value::as_str).take(4).map(str::to_owned).collect(),
    }
}

impl Answer for Stops {
    fn text(&self) -> String {
        let mut lines = Vec::new();
        if !self.told.is_empty() {
            lines.push(self.told.clone());
        }
        for row in &self.breakpoints {
            let condition = row.condition.as_ref().map(|it| format!(" if {it}"));
            let unverified = if row.verified { "" } else { ", which is nowhere yet" };
            lines.push(format!(
                "{}: {}{}{unverified}, hit {} times",
                row.number,
                row.what,
                condition.unwrap_or_default(),
                row.hits
            ));
        }
        lines.extend(self.catches.iter().map(|it| format!("caught: {it}")));
        if lines.is_empty() {
            lines.push("no breakpoints".to_owned());
        }
        lines.join("\n")
    }

    fn next(&self) -> &[String] {
        &self.next
    }
}
