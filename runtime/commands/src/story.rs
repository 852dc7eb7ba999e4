//! `why nan`: where a NaN or an infinity began. The story itself is told by
//! [`debug::Machine::special_story`]; this is its text, and its form for scripts and editors.

use std::fmt::Write;

use debug::{
    FrameId, Machine, NoStory, SpecialCause, SpecialOrigin, SpecialStory, SpecialTensor,
    StoryQuestion,
};
use serde_json::{Value, json};

use crate::session::{Performer, Problem};

impl Performer<'_> {
    pub(crate) fn why(&mut self, question: &StoryQuestion) -> Result<(), Problem> {
        self.needs_frame()?;
        let story = self.debugger.machine().special_story(self.session.frame, question)?;
        for line in story.lines() {
            writeln!(self.out, "{line}")?;
        }
        self.out.put("links", data(&story));
        Ok(())
    }
}

/// The story of a question in a frame, for editors: as data, with its text.
///
/// # Errors
/// There is none.
pub fn story_data(
    machine: &Machine,
    frame: FrameId,
    question: &StoryQuestion,
) -> Result<Value, NoStory> {
    let story = machine.special_story(frame, question)?;
    Ok(json!({ "links": data(&story), "text": story.lines().join("\n") }))
}

fn data(story: &SpecialStory) -> Value {
    let links = story.links.iter().map(|link| {
        let (origin, details) = origin(&link.origin);
        let counts = link.counts.iter().map(|(it, count)| (it.name().to_owned(), json!(count)));
        let counts: serde_json::Map<String, Value> = counts.collect();
        json!({
            "tensor": tensor(&link.tensor),
            "counts": counts,
            "elements": link.elements,
            "region": link.region.axes,
            "isRecomputed": link.is_recomputed,
            "origin": origin,
            "details": details,
            "text": link.to_string(),
        })
    });
    links.collect()
}

fn tensor(tensor: &SpecialTensor) -> Value {
    json!({
        "names": tensor.names,
        "source": tensor.source.as_ref().map(|at| {
            json!({ "file": at.file, "path": at.path, "line": at.line, "column": at.column })
        }),
    })
}

/// The word for an origin, and what belongs to it.
fn origin(origin: &SpecialOrigin) -> (&'static str, Value) {
    match origin {
        SpecialOrigin::Input(index) => ("input", json!({ "argument": index })),
        SpecialOrigin::Constant => ("constant", Value::Null),
        SpecialOrigin::Causes(causes) => ("special", causes.iter().map(cause).collect()),
        SpecialOrigin::Made(causes) => ("numbers", causes.iter().map(cause).collect()),
        SpecialOrigin::ByHand => ("byHand", Value::Null),
        SpecialOrigin::Always => ("always", Value::Null),
        SpecialOrigin::NotMade => ("notMade", Value::Null),
        SpecialOrigin::NotKnown(why) => ("notKnown", json!({ "reason": why })),
    }
}

fn cause(cause: &SpecialCause) -> Value {
    json!({
        "tensor": tensor(&cause.tensor),
        "region": cause.region.axes,
        "elements": cause.values.len(),
        "text": cause.to_string(),
    })
}
