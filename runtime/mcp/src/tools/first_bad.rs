//! `first_bad`: where something goes wrong for the first time.

use commands::Progress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Effect, Tool};
use crate::problem::Problem;
use crate::program::{Desk, Heard, Program};
use crate::stand::{Stand, Standing};

pub(crate) struct FirstBad;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// What is bad; `nan` if nothing is said.
    #[serde(default)]
    what: What,
    /// Instead of `what`: the first stop at which this is true, `%i > 10`, `max(%p) > 1`. The
    /// program has to be recorded.
    condition: Option<String>,
    /// The most seconds; 120 if not said.
    #[allow(dead_code, reason = "the server reads it, before the tool is asked")]
    seconds: Option<f64>,
}

/// What is bad.
#[derive(Deserialize, JsonSchema, Default, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum What {
    /// The operation that makes the first NaN.
    #[default]
    Nan,
    /// The operation that makes the first infinity.
    Inf,
    /// The first dispatch that leaves something else than its text means, evaluated in float64: a
    /// fault of the compiler.
    Difference,
    /// The first integer that overflows.
    Overflow,
    /// The first failure: an assertion, a check of shapes, a fault of machine code.
    Failure,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct First {
    /// Whether it was found; the program then stands there.
    found: bool,
    /// Where the program stands.
    #[serde(flatten)]
    stand: Stand,
}

impl Tool for FirstBad {
    const NAME: &'static str = "first_bad";
    const TITLE: &'static str = "Where it goes wrong first";
    const ABOUT: &'static str = "Runs the program anew, past all breakpoints, to the first NaN, \
        infinity, overflow, failure, or dispatch that is wrong by its own text; or goes to the \
        first moment at which a condition is true. The program then stands there.";
    const EFFECT: Effect = Effect::MayCompile;
    const SECONDS: f64 = 120.0;
    type Arguments = Arguments;
    type Answer = First;

    fn answer(desk: &mut Desk, arguments: Arguments) -> Result<First, Problem> {
        let Arguments { what, condition, .. } = arguments;
        let program = desk.program()?;
        let heard = match &condition {
            Some(condition) => first_time(program, condition)?,
            None => program.undisturbed(|program| {
                let catch = match what {
                    What::Nan => Some("catch nan"),
                    What::Inf => Some("catch inf"),
                    What::Difference => Some("catch difference"),
                    What::Overflow => Some("catch overflow"),
                    What::Failure => None,
                };
                if let Some(catch) = catch {
                    program.line(catch)?;
                }
                program.line("run")
            })?,
        };
        let mut stand = Stand::of(program, Some(heard));
        let reason = stand.reason.as_deref();
        let found = matches!(reason, Some("trap" | "found")) || stand.progress == Standing::Failed;
        if !found {
            stand.next = others(what);
        } else if matches!(what, What::Difference) && condition.is_none() {
            stand.next = wrong_dispatch();
        }
        Ok(First { found, stand })
    }
}

/// Goes to the first moment at which a condition is true.
fn first_time(program: &mut Program, condition: &str) -> Result<Heard, Problem> {
    if !program.is_recorded() {
        let text = "a condition is looked for in a recorded run";
        return Err(Problem::with_next(text, &["load {\"module\": …, \"record\": true}"]));
    }
    program.undisturbed(|program| {
        if program.progress() == Progress::NotStarted {
            program.line("run")?;
        }
        program.line(&format!("first {condition}"))
    })
}

/// What to ask about a dispatch that is wrong.
fn wrong_dispatch() -> Vec<String> {
    let next = ["tensor {\"of\": \"%name\", \"expected\": true}", "diff {}", "dispatches {}"];
    next.map(str::to_owned).to_vec()
}

/// What else could be bad.
fn others(what: What) -> Vec<String> {
    let others: &[&str] = match what {
        What::Nan => &["first_bad {\"what\": \"inf\"}", "first_bad {\"what\": \"difference\"}"],
        What::Inf => &["first_bad {\"what\": \"nan\"}", "first_bad {\"what\": \"difference\"}"],
        What::Difference => &["diff {\"other\": \"OTHER.vmfb\"}", "first_bad {}"],
        What::Overflow | What::Failure => &["first_bad {\"what\": \"difference\"}", "diff {}"],
    };
    others.iter().map(|it| (*it).to_owned()).collect()
}

impl Answer for First {
    fn text(&self) -> String {
        let found = if self.found { "found: " } else { "not found: " };
        format!("{found}{}", self.stand.text())
    }

    fn next(&self) -> &[String] {
        &self.stand.next
    }

    fn left_out(&self) -> &[String] {
        &self.stand.left_out
    }
}
