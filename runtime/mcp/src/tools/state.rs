//! `state`: where the program stands.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, Tool};
use crate::problem::Problem;
use crate::program::Desk;
use crate::stand::{Stand, select};

pub(crate) struct State;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Look at this frame from now on; 0 is the innermost one.
    frame: Option<usize>,
}

impl Tool for State {
    const NAME: &'static str = "state";
    const TITLE: &'static str = "Where the program stands";
    const ABOUT: &'static str = "Where the program stands: stack, lines of source around it, a \
        name of the moment to come back to, named values. Answers at once while a call runs.";
    type Arguments = Arguments;
    type Answer = Stand;

    fn answer(desk: &mut Desk, arguments: Arguments) -> Result<Stand, Problem> {
        let program = match arguments.frame {
            Some(_) => desk.standing()?,
            None => desk.program()?,
        };
        select(program, arguments.frame)?;
        Ok(Stand::of(program, None))
    }
}

impl Answer for Stand {
    fn text(&self) -> String {
        self.text()
    }

    fn next(&self) -> &[String] {
        &self.next
    }

    fn left_out(&self) -> &[String] {
        &self.left_out
    }
}
