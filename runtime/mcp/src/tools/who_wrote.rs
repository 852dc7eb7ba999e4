//! `who_wrote`: what has written a value last, and the values that it had.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Tool};
use crate::bounds;
use crate::problem::Problem;
use crate::program::Desk;
use crate::stand::{Stand, select};

pub(crate) struct WhoWrote;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// A register, a global, or an element: `%i`, `@counter`, `%p[3, 5]`.
    of: String,
    /// Also the values that it had since the beginning.
    #[serde(default)]
    history: bool,
    /// In this frame; 0 is the innermost one.
    frame: Option<usize>,
    /// The most seconds; 60 if not said.
    #[allow(dead_code, reason = "the server reads it, before the tool is asked")]
    seconds: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Writer {
    /// The values that it had, the oldest first, each with what has written it; empty if that was
    /// not asked for.
    history: Vec<String>,
    /// Where the program stands now: before that write.
    #[serde(flatten)]
    stand: Stand,
}

impl Tool for WhoWrote {
    const NAME: &'static str = "who_wrote";
    const TITLE: &'static str = "What has written a value";
    const ABOUT: &'static str = "Goes back to before the last write of a register, a global, or \
        an element of a tensor, and says what has written it. The program has to be recorded.";
    type Arguments = Arguments;
    type Answer = Writer;

    fn answer(desk: &mut Desk, arguments: Arguments) -> Result<Writer, Problem> {
        let Arguments { of, history, frame, .. } = arguments;
        let program = desk.standing()?;
        if !program.is_recorded() {
            let text = "the program is not recorded, so that its past is not known";
            return Err(Problem::with_next(text, &["load {\"module\": …, \"record\": true}"]));
        }
        select(program, frame)?;
        let history = match history {
            true => {
                let heard = program.line(&format!("history {of}"))?;
                let lines: Vec<&str> = heard.text.lines().collect();
                let last = &lines[lines.len().saturating_sub(20)..];
                last.iter().map(|it| bounds::line(it.trim(), bounds::MOST_VALUE)).collect()
            }
            false => Vec::new(),
        };
        let heard = program.line(&format!("who-wrote {of}"))?;
        Ok(Writer { history, stand: Stand::of(program, Some(heard)) })
    }
}

impl Answer for Writer {
    fn text(&self) -> String {
        let mut lines: Vec<String> = self.history.clone();
        lines.push(self.stand.text());
        lines.join("\n")
    }

    fn next(&self) -> &[String] {
        &self.stand.next
    }

    fn left_out(&self) -> &[String] {
        &self.stand.left_out
    }
}
