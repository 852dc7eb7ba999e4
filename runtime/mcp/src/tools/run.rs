//! `run`: the program runs, forward or back, until it stands still.

use commands::Progress;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Effect, Tool};
use crate::problem::Problem;
use crate::program::Desk;
use crate::stand::Stand;

pub(crate) struct Run;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// How.
    #[serde(default)]
    how: How,
    /// How often: for step, next and back.
    times: Option<u32>,
    /// Where to: for goto a moment (`m3`), the number of a command, or `begin`; for until a place
    /// (`12`, `model.mlir:12`, `dispatch '*softmax*'`).
    to: Option<String>,
    /// The most seconds; then it is interrupted, and `go-on` goes on. 30 if not said.
    #[allow(dead_code, reason = "the server reads it, before the tool is asked")]
    seconds: Option<f64>,
}

/// How the program runs.
#[derive(Deserialize, JsonSchema, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum How {
    /// Anew, to the first line of the function.
    Start,
    /// On, or from the beginning if it has not begun or is over, until something stops it: a
    /// breakpoint, a catch, a failure, its end.
    #[default]
    Continue,
    /// To the next line, into calls and dispatches.
    Step,
    /// To the next line or dispatch, over calls.
    Next,
    /// Until the function or the dispatch is done.
    Finish,
    /// On to a place.
    Until,
    /// On with what was interrupted because its seconds were over.
    GoOn,
    /// Back to the line or dispatch before.
    Back,
    /// Back to the last stop of a breakpoint or a catch.
    ReverseContinue,
    /// Back to the call of the function.
    ReverseFinish,
    /// To a moment, in the past or the future.
    Goto,
}

impl Tool for Run {
    const NAME: &'static str = "run";
    const TITLE: &'static str = "Run the program";
    const ABOUT: &'static str = "Runs the program until it stands still, forward or back, and \
        answers where and why. One call does one run; it ends when its seconds are over, or when \
        it is cancelled.";
    // To step into machine code, bytecode of it is made.
    const EFFECT: Effect = Effect::MayCompile;
    const SECONDS: f64 = 30.0;
    type Arguments = Arguments;
    type Answer = Stand;

    fn answer(desk: &mut Desk, arguments: Arguments) -> Result<Stand, Problem> {
        let Arguments { how, times, to, .. } = arguments;
        let program = desk.program()?;
        let goes_back = matches!(how, How::Back | How::ReverseContinue | How::ReverseFinish);
        if goes_back && !program.is_recorded() {
            return Err(Problem::with_next(
                "the program is not recorded, so that it cannot go back",
                &["load {\"module\": …, \"record\": true}"],
            ));
        }
        if how == How::GoOn {
            let heard = program.go_on()?;
            return Ok(Stand::of(program, Some(heard)));
        }
        let times = times.filter(|times| *times > 1).map(|it| format!(" {it}")).unwrap_or_default();
        let named = |what: &str| to.clone().ok_or_else(|| format!("`to` is missing: {what}"));
        let line = match how {
            How::Start => "start".to_owned(),
            How::Continue => match program.progress() {
                Progress::Stopped => "continue".to_owned(),
                Progress::NotStarted | Progress::Over | Progress::Failed => "run".to_owned(),
            },
            How::Step => format!("step{times}"),
            How::Next => format!("next{times}"),
            How::Finish => "finish".to_owned(),
            How::Until => format!("until {}", named("a line, or dispatch 'NAME'")?),
            How::Back => format!("reverse-next{times}"),
            How::ReverseContinue => "reverse-continue".to_owned(),
            How::ReverseFinish => "reverse-finish".to_owned(),
            How::Goto => format!("goto {}", named("m3, the number of a command, or begin")?),
            How::GoOn => return Err("nothing was interrupted".into()),
        };
        let heard = program.line(&line)?;
        Ok(Stand::of(program, Some(heard)))
    }
}
