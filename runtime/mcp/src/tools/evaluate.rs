//! `evaluate`: the value of an expression where the program stands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Tool};
use crate::bounds;
use crate::problem::Problem;
use crate::program::Desk;
use crate::stand::{named_value, select};

pub(crate) struct Evaluate;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// An expression: `%x`, `%x[0, 2:5]`, `max(abs(%x - %y))`, `nan(%p) > 0`, `operand[1]`,
    /// `%x - @reference.npy`, `$1` for what was shown before.
    expression: String,
    /// In this frame, which is then looked at from now on; 0 is the innermost one.
    frame: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Evaluated {
    /// The expression.
    expression: String,
    /// Its value; if there is none, the reason in angle brackets.
    value: String,
    /// Its type.
    #[serde(rename = "type")]
    type_name: String,
    /// The kind of the reason, if there is no value.
    absent: Option<String>,
    /// `$N` means this value in later expressions.
    number: Option<u64>,
    /// What is in it: statistics of a tensor, and its first rows or elements.
    inside: String,
    /// What to ask next.
    next: Vec<String>,
}

impl Tool for Evaluate {
    const NAME: &'static str = "evaluate";
    const TITLE: &'static str = "Evaluate an expression";
    const ABOUT: &'static str = "The value of an expression where the program stands: names of \
        the source, elements and slices, arithmetic, and functions such as min, max, mean, nan, \
        inf, allclose, argmax, unravel. Changes nothing.";
    type Arguments = Arguments;
    type Answer = Evaluated;

    fn answer(desk: &mut Desk, arguments: Arguments) -> Result<Evaluated, Problem> {
        let Arguments { expression, frame } = arguments;
        desk.access.check_text(&expression)?;
        let program = desk.standing()?;
        select(program, frame)?;
        let heard = program.line(&format!("print {expression}"))?;
        let value = heard.data.get("value").and_then(named_value);
        let value = value.ok_or("the expression has no value")?;
        let inside = heard.text.lines().skip(1).collect::<Vec<_>>().join("\n");
        let mut next = Vec::new();
        if value.type_name.contains("tensor<") {
            next.push(format!("tensor {{\"of\": {expression:?}}}"));
        }
        if value.absent.is_some() {
            next.push(format!("why {{\"of\": {expression:?}}}"));
        }
        Ok(Evaluated {
            expression,
            value: value.value,
            type_name: value.type_name,
            absent: value.absent,
            number: heard.data.get("number").and_then(serde_json::Value::as_u64),
            inside: bounds::text(&inside, 1_000),
            next,
        })
    }
}

impl Answer for Evaluated {
    fn text(&self) -> String {
        let number = self.number.map(|it| format!("${it} = ")).unwrap_or_default();
        let first = format!("{number}{} = {} : {}", self.expression, self.value, self.type_name);
        match self.inside.as_str() {
            "" => first,
            inside => format!("{first}\n{inside}"),
        }
    }

    fn next(&self) -> &[String] {
        &self.next
    }
}
