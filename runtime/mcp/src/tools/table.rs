//! The table of tools.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as ListedTool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::{Answer, Effect, Tool};
use crate::access::{Access, Allowed};
use crate::problem::Problem;
use crate::program::Desk;

/// All tools, in the order in which clients list them.
pub(crate) const TOOLS: &[Row] = &[
    Row::of::<super::load::Load>(),
    Row::of::<super::dispatches::Dispatches>(),
    Row::of::<super::breakpoint::Break>(),
    Row::of::<super::run::Run>(),
    Row::of::<super::state::State>(),
    Row::of::<super::evaluate::Evaluate>(),
    Row::of::<super::tensor::Tensor>(),
    Row::of::<super::first_bad::FirstBad>(),
    Row::of::<super::why::Why>(),
    Row::of::<super::who_wrote::WhoWrote>(),
    Row::of::<super::diff::Diff>(),
    Row::of::<super::repro::Repro>(),
    Row::of::<super::stages::Stages>(),
];

/// A tool as a row.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    title: &'static str,
    about: &'static str,
    effect: Effect,
    /// How many seconds it may take, if the client does not say.
    pub(crate) seconds: f64,
    input: fn() -> JsonObject,
    output: fn() -> JsonObject,
    /// Answers arguments of JSON.
    pub(crate) call: fn(&mut Desk, Value) -> Result<Reply, Problem>,
}

/// An answer, as data and as text.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) data: Value,
    pub(crate) text: String,
}

impl Row {
    const fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            title: T::TITLE,
            about: T::ABOUT,
            effect: T::EFFECT,
            seconds: T::SECONDS,
            input: schema::<T::Arguments>,
            output: schema::<T::Answer>,
            call: call::<T>,
        }
    }

    /// Whether it is there.
    pub(crate) fn is_there(&self, access: &Access) -> bool {
        match self.effect {
            Effect::Needs(all) => all.iter().all(|it| access.allows(*it)),
            Effect::None | Effect::MayCompile => true,
        }
    }

    /// What would have to be allowed for it.
    pub(crate) fn needs(&self) -> Vec<&'static str> {
        match self.effect {
            Effect::Needs(all) => all.iter().map(|it| it.word()).collect(),
            Effect::None | Effect::MayCompile => Vec::new(),
        }
    }

    /// The tool for clients.
    pub(crate) fn listed(&self, access: &Access) -> ListedTool {
        let (compiles, writes) = match self.effect {
            Effect::None => (false, false),
            Effect::MayCompile => (access.allows(Allowed::Compile), false),
            Effect::Needs(all) => (all.contains(&Allowed::Compile), all.contains(&Allowed::Write)),
        };
        let mut about = self.about.to_owned();
        if compiles {
            about.push_str(" May start iree-compile, which --allow=compile has allowed.");
        } else if self.effect == Effect::MayCompile {
            about.push_str(" Starts no compiler: --allow=compile would allow it.");
        }
        if writes {
            about.push_str(" Writes files in the folders, which --allow=write has allowed.");
        }
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(!compiles && !writes)
            .destructive(writes)
            .idempotent(false)
            .open_world(false);
        ListedTool::new(self.name, about, (self.input)())
            .with_title(self.title)
            .with_raw_output_schema(Arc::new((self.output)()))
            .with_annotations(annotations)
    }
}

/// The schema of a type, complete in itself.
fn schema<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|it| it.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    match schema.to_value() {
        Value::Object(object) => object,
        // Only the schema of "anything" is no object.
        _ => JsonObject::new(),
    }
}

fn call<T: Tool>(desk: &mut Desk, arguments: Value) -> Result<Reply, Problem> {
    let arguments = serde_json::from_value(arguments).map_err(|error| {
        Problem::from(format!("the arguments of {} are wrong: {error}", T::NAME))
    })?;
    let answer = T::answer(desk, arguments)?;
    let mut text = answer.text();
    for left_out in answer.left_out() {
        text.push_str(&format!("\nleft out: {left_out}"));
    }
    if !answer.next().is_empty() {
        text.push_str(&format!("\nnext: {}", answer.next().join(" | ")));
    }
    Ok(Reply { data: serde_json::to_value(&answer)?, text })
}
