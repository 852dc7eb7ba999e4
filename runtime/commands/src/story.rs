//! `why`: where a NaN or an infinity began, or what an ordinary number is made of. It is told by
//! [`debug::Machine::special_story`] and [`debug::Machine::number_story`]; this is the text, and the
//! form for scripts.

use std::fmt::Write;

use debug::{
    FrameId, Machine, NoStory, NumberNode, NumberOrigin, SpecialCause, SpecialOrigin, SpecialStory,
    SpecialTensor, StoryQuestion, Wanted,
};
use serde_json::{Value, json};

use crate::arguments::read_why;
use crate::session::{Performer, Problem};

/// Why nothing is told.
#[derive(Debug, thiserror::Error)]
pub enum NoWhy {
    /// What was asked for is no tensor and no element.
    #[error("{0}")]
    Question(String),
    /// Nothing is told of it.
    #[error(transparent)]
    NoStory(#[from] NoStory),
}

impl Performer<'_> {
    pub(crate) fn why(&mut self, question: &StoryQuestion) -> Result<(), Problem> {
        self.needs_frame()?;
        let answer = Answer::of(self.debugger.machine(), self.session.frame, question)?;
        for line in answer.lines() {
            writeln!(self.out, "{line}")?;
        }
        let (key, data) = answer.data();
        self.out.put(key, data);
        Ok(())
    }
}

/// Where a NaN or an infinity began, or what a number is made of: `links` or `madeOf`, as the
/// command `why` has them. `of` is what it is given.
///
/// # Errors
/// Nothing is told of that, or `of` is no tensor or element.
pub fn why_data(machine: &Machine, frame: FrameId, of: &str) -> Result<Value, NoWhy> {
    let question = read_why(of).map_err(|mistake| NoWhy::Question(mistake.to_string()))?;
    let answer = Answer::of(machine, frame, &question)?;
    let (key, data) = answer.data();
    Ok(json!({ key: data, "text": answer.lines().join("\n") }))
}

/// What an element is made of, as data.
fn node(node: &NumberNode) -> Value {
    let nodes = |of: &[NumberNode]| of.iter().map(self::node).collect::<Value>();
    let origin = match &node.origin {
        NumberOrigin::Input(index) => json!({ "kind": "input", "argument": index }),
        NumberOrigin::Constant => json!({ "kind": "constant" }),
        NumberOrigin::Sum { terms, largest } => {
            let largest = largest
                .iter()
                .map(|it| json!({ "value": it.value, "share": it.share, "of": nodes(&it.of) }));
            json!({ "kind": "sum", "terms": terms, "largest": largest.collect::<Value>() })
        }
        NumberOrigin::Elements { count, largest } => {
            json!({ "kind": "elements", "count": count, "largest": nodes(largest) })
        }
        NumberOrigin::LeftOut => json!({ "kind": "leftOut" }),
        NumberOrigin::Told => json!({ "kind": "told" }),
        NumberOrigin::NotKnown(why) => json!({ "kind": "notKnown", "reason": why }),
    };
    json!({
        "tensor": tensor(&node.tensor),
        "element": node.at,
        "value": node.value,
        "isRecomputed": node.is_recomputed,
        "origin": origin,
    })
}

/// What is told of an element.
enum Answer {
    Special(SpecialStory),
    /// It is an ordinary number.
    Number(NumberNode),
}

impl Answer {
    fn of(machine: &Machine, frame: FrameId, question: &StoryQuestion) -> Result<Self, NoStory> {
        let special = match machine.special_story(frame, question) {
            Err(ordinary @ NoStory::NotSpecial { wanted: Wanted::Any, .. }) => ordinary,
            story => return story.map(Self::Special),
        };
        // A scalar has one element, which no one writes.
        let element = question.element.clone().unwrap_or_default();
        let of_element = StoryQuestion { element: Some(element), ..question.clone() };
        match machine.number_story(frame, &of_element) {
            Err(NoStory::Outside { .. }) if question.element.is_none() => Err(special),
            story => story.map(Self::Number),
        }
    }

    fn lines(&self) -> Vec<String> {
        match self {
            Self::Special(story) => story.lines(),
            Self::Number(node) => node.lines(),
        }
    }

    fn data(&self) -> (&'static str, Value) {
        match self {
            Self::Special(story) => ("links", data(story)),
            Self::Number(of) => ("madeOf", node(of)),
        }
    }
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
        "command": tensor.command,
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
