//! `diff`: which dispatch is wrong. `iree-dbg diff` compares, in a process of its own.

use std::ffi::OsString;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Answer, Effect, Tool};
use crate::access::Allowed;
use crate::bounds;
use crate::children::{ask, command_line};
use crate::problem::Problem;
use crate::program::Desk;
use crate::stand::Place;

pub(crate) struct Diff;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The module (.vmfb) to compare with: another back end, compiler, set of flags or source.
    /// Without it, each dispatch is compared with what its own text means, in float64.
    other: Option<String>,
    /// Without `other`: compare with the bytecode of the dispatches instead, which a compiler
    /// makes.
    #[serde(default)]
    bytecode: bool,
    /// A folder of `.npy` files of expected values to compare with, named by tensors or
    /// `result0.npy`.
    golden: Option<String>,
    /// Arguments of the other side, if they are others.
    #[serde(default)]
    other_inputs: Vec<String>,
    /// How both sides run.
    #[serde(default)]
    mode: Mode,
    /// The most seconds; 300 if not said.
    #[allow(dead_code, reason = "the server reads it, before the tool is asked")]
    seconds: Option<f64>,
}

/// How both sides run.
#[derive(Deserialize, JsonSchema, Default, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mode {
    /// Each dispatch works on the same inputs on both sides, so that each is judged alone.
    #[default]
    Isolated,
    /// Each side goes on with its own results.
    Accumulated,
    /// Finds the fewest dispatches that make the results wrong.
    Bisect,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Comparison {
    /// `equal`, `within` what is allowed, `differs`, or `not_compared`.
    verdict: String,
    /// What was compared.
    sides: Vec<String>,
    /// The first dispatch that differs.
    first: Option<Difference>,
    /// How many dispatches were compared.
    compared: u64,
    /// Of how many.
    of: u64,
    /// How many of them differ.
    differing: usize,
    /// Weights, constants and inputs that differ: they are no fault of a dispatch.
    own: Vec<String>,
    /// The fewest dispatches that make the results wrong, if they were looked for.
    culprits: Option<String>,
    /// What went wrong on a side.
    failures: Vec<String>,
    /// Notes of the comparison.
    notes: Vec<String>,
    /// The resource with the whole report, as JSON.
    report: String,
    /// What was left out, and how to ask for it.
    left_out: Vec<String>,
    /// What to ask next.
    next: Vec<String>,
}

/// A dispatch that differs.
#[derive(Serialize, JsonSchema)]
struct Difference {
    /// The number of its command, for `run` with `goto`, and for `repro`.
    command: u64,
    /// Its name.
    dispatch: String,
    /// Its line in the source.
    place: Option<Place>,
    /// The text of that line.
    source: Option<String>,
    /// The tensors in which both differ.
    tensors: Vec<Tensor>,
    /// Which side is wrong by the text of the dispatch, in a sentence.
    judged: Option<String>,
}

/// A tensor in which both differ.
#[derive(Serialize, JsonSchema)]
struct Tensor {
    names: Vec<String>,
    #[serde(rename = "type")]
    type_name: String,
    /// How many elements it has.
    elements: Option<u64>,
    /// How many are further apart than is allowed.
    beyond: Option<u64>,
    /// Where they are furthest apart, and both values.
    worst: Option<String>,
    /// What is allowed there, and why.
    allowed: Option<String>,
}

impl Tool for Diff {
    const NAME: &'static str = "diff";
    const TITLE: &'static str = "Which dispatch is wrong";
    const ABOUT: &'static str = "Compares the loaded program, dispatch by dispatch, with what the \
        text of each dispatch means in float64 (is the compiler right?), with another module, or \
        with files of expected values, and answers the first difference. Runs beside the loaded \
        program, which stays where it is.";
    const EFFECT: Effect = Effect::MayCompile;
    const SECONDS: f64 = 300.0;
    type Arguments = Arguments;
    type Answer = Comparison;

    fn answer(desk: &mut Desk, arguments: Arguments) -> Result<Comparison, Problem> {
        let origin = desk.program()?.origin.clone();
        let mut line = command_line(desk, "diff", &origin)?;
        line.extend(flags(desk, &arguments)?);
        let ended = ask(desk, &line)?;
        let report: Value = serde_json::from_str(&ended.output)
            .map_err(|_| Problem::from(bounds::text(&ended.complaint(), bounds::MOST_TEXT)))?;
        let about = format!("iree-dbg diff of {}", texts(&report["sides"]).join(" and "));
        let uri = desk.library.add_report(about, "application/json", ended.output);
        Ok(comparison(&report, uri))
    }
}

/// The flags of `iree-dbg diff`.
fn flags(desk: &Desk, arguments: &Arguments) -> Result<Vec<OsString>, Problem> {
    let mut flags: Vec<OsString> = vec!["--json".into()];
    flags.push(match arguments.mode {
        Mode::Isolated => "--mode=isolated".into(),
        Mode::Accumulated => "--mode=accumulated".into(),
        Mode::Bisect => "--mode=bisect".into(),
    });
    for input in &arguments.other_inputs {
        desk.access.check_text(input)?;
        flags.push(format!("--b-input={input}").into());
    }
    if let Some(folder) = &arguments.golden {
        let mut flag = OsString::from("--golden=");
        flag.push(desk.access.readable(folder)?);
        flags.push(flag);
    } else if let Some(other) = &arguments.other {
        flags.push(desk.access.readable(other)?.into());
    } else if arguments.bytecode {
        desk.access.require(Allowed::Compile, "making bytecode of the dispatches")?;
        flags.push("--bytecode".into());
    } else if arguments.other_inputs.is_empty() && !desk.access.allows(Allowed::Compile) {
        // What is not evaluated would be compiled to bytecode.
        flags.push("--reference".into());
    }
    Ok(flags)
}

fn comparison(report: &Value, uri: String) -> Comparison {
    let dispatches = report["dispatches"].as_array().map_or(&[][..], Vec::as_slice);
    let first = report["first_bad"].as_u64();
    let first = dispatches.iter().find(|it| first.is_some() && it["number"].as_u64() == first);
    let first = first.map(difference);
    let differing = dispatches.iter().filter(|it| it["verdict"] == "differs").count();
    let mut left_out = Vec::new();
    if differing > 1 {
        left_out.push(format!("{} more dispatches that differ: resource {uri}", differing - 1));
    }
    let unknown = report["uncompared_before_first_bad"].as_u64().unwrap_or(0);
    if unknown > 0 {
        left_out.push(format!(
            "{unknown} dispatches before the first difference were not compared, and one of them \
             may be the first: resource {uri} has the reasons"
        ));
    }
    let next = match &first {
        Some(first) => vec![
            format!("run {{\"how\": \"goto\", \"to\": \"{}\"}}", first.command),
            format!("repro {{\"dispatch\": \"{}\", \"to\": \"FOLDER\"}}", first.command),
        ],
        None => vec!["first_bad {}".to_owned()],
    };
    let own = report["own"].as_array().into_iter().flatten().map(|it| {
        format!(
            "{} : {}, read by dispatch #{}",
            texts(&it["tensor"]["names"]).join(" = "),
            it["tensor"]["type"].as_str().unwrap_or("?"),
            it["reader"]
        )
    });
    let failures = report["failures"].as_array().into_iter().flatten().map(|it| {
        let (side, message) = (&it["side"], it["message"].as_str().unwrap_or_default());
        bounds::line(&format!("side {}: {message}", side.as_str().unwrap_or("?")), 400)
    });
    Comparison {
        verdict: report["verdict"].as_str().unwrap_or("not_compared").to_owned(),
        sides: texts(&report["sides"]),
        first,
        compared: report["compared"]["dispatches"].as_u64().unwrap_or(0),
        of: report["compared"]["of"].as_u64().unwrap_or(0),
        differing,
        own: own.take(8).collect(),
        culprits: report["culprits"]["sentence"].as_str().map(str::to_owned),
        failures: failures.take(4).collect(),
        notes: texts(&report["notes"]).into_iter().take(8).collect(),
        report: uri,
        left_out,
        next,
    }
}

fn difference(data: &Value) -> Difference {
    let tensors = data["tensors"].as_array().into_iter().flatten();
    let tensors = tensors.filter(|it| it["verdict"] == "differs").take(4).map(|it| {
        let (found, allowed) = (&it["differences"], &it["tolerance"]);
        let worst = &found["worst"];
        let number = |of: &Value| of.as_str().map_or_else(|| of.to_string(), str::to_owned);
        Tensor {
            names: texts(&it["names"]),
            type_name: it["type"].as_str().unwrap_or_default().to_owned(),
            elements: found["elements"].as_u64(),
            beyond: found["beyond"].as_u64(),
            worst: worst.is_object().then(|| {
                let (a, b) = (number(&worst["a"]), number(&worst["b"]));
                format!("at {}: A {a}, B {b}", worst["index"])
            }),
            allowed: allowed.is_object().then(|| {
                let reason = allowed["reason"].as_str().unwrap_or_default();
                bounds::line(&format!("{}: {reason}", allowed["absolute"]), 240)
            }),
        }
    });
    let source = data["source"]["text"].as_str().map(|it| bounds::line(it, 240));
    Difference {
        command: data["number"].as_u64().unwrap_or(0),
        dispatch: data["name"].as_str().unwrap_or_default().to_owned(),
        place: Place::deserialize(&data["source"]).ok(),
        source,
        tensors: tensors.collect(),
        judged: data["judged"]["sentence"].as_str().map(|it| bounds::line(it, 400)),
    }
}

/// The texts of a list, cut.
fn texts(list: &Value) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.map(|it| bounds::line(it, 400)).collect()
}

impl Answer for Comparison {
    fn text(&self) -> String {
        let mut lines = vec![format!(
            "{}: {} ({} of {} dispatches compared, {} differ)",
            self.sides.join(" | "),
            self.verdict,
            self.compared,
            self.of,
            self.differing
        )];
        if let Some(first) = &self.first {
            let place = first.place.as_ref().map(|at| format!(" at {}:{}", at.file, at.line));
            lines.push(format!(
                "the first that differs: #{} @{}{}",
                first.command,
                first.dispatch,
                place.unwrap_or_default()
            ));
            lines.extend(first.source.iter().map(|it| format!("  {it}")));
            for tensor in &first.tensors {
                let (beyond, elements) = (tensor.beyond.unwrap_or(0), tensor.elements.unwrap_or(0));
                let names = tensor.names.join(" = ");
                lines.push(format!("  {names} : {beyond} of {elements} elements differ"));
                lines.extend(tensor.worst.iter().map(|it| format!("    worst {it}")));
                lines.extend(tensor.allowed.iter().map(|it| format!("    allowed {it}")));
            }
            lines.extend(first.judged.iter().map(|it| format!("  {it}")));
        }
        lines.extend(self.own.iter().map(|it| format!("differs itself: {it}")));
        lines.extend(self.culprits.iter().cloned());
        lines.extend(self.failures.iter().cloned());
        lines.extend(self.notes.iter().map(|it| format!("note: {it}")));
        lines.push(format!("report: {}", self.report));
        lines.join("\n")
    }

    fn next(&self) -> &[String] {
        &self.next
    }

    fn left_out(&self) -> &[String] {
        &self.left_out
    }
}
