//! The tools: a file for each, and the table of all.
//!
//! A tool is a function from its arguments to an answer that is small and says what was left out.
//! Its schemas are those of its types. To add one: a file here, and a row in [`table::TOOLS`].

mod breakpoint;
mod diff;
mod dispatches;
mod evaluate;
mod first_bad;
mod load;
mod repro;
mod run;
mod stages;
mod state;
pub(crate) mod table;
mod tensor;
mod who_wrote;
mod why;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::access::Allowed;
use crate::problem::Problem;
use crate::program::Desk;

/// A tool.
pub(crate) trait Tool {
    /// Its name.
    const NAME: &'static str;
    /// The same for people.
    const TITLE: &'static str;
    /// What it answers.
    const ABOUT: &'static str;
    /// What it does besides.
    const EFFECT: Effect = Effect::None;
    /// How many seconds it may take, if the client does not say.
    const SECONDS: f64 = 60.0;
    /// What it is asked with.
    type Arguments: DeserializeOwned + JsonSchema;
    /// What it answers.
    type Answer: Answer;

    /// Answers.
    ///
    /// # Errors
    /// It cannot; the sentence says why.
    fn answer(desk: &mut Desk, arguments: Self::Arguments) -> Result<Self::Answer, Problem>;
}

/// An answer of a tool.
pub(crate) trait Answer: Serialize + JsonSchema {
    /// The same as text, for people and for clients that read no data.
    fn text(&self) -> String;

    /// What to ask next.
    fn next(&self) -> &[String] {
        &[]
    }

    /// What was left out.
    fn left_out(&self) -> &[String] {
        &[]
    }
}

/// What a tool does outside of the debugger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Nothing.
    None,
    /// It starts iree-compile in some cases, where that is allowed.
    MayCompile,
    /// It is there only if these are allowed, all of them.
    Needs(&'static [Allowed]),
}
