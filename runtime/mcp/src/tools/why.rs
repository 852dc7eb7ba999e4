//! `why`: why a tensor has a NaN or an infinity, or why a name has its value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Answer, Tool};
use crate::bounds;
use crate::problem::Problem;
use crate::program::{Desk, Heard, Program};
use crate::stand::{NamedValue, Place, named_value, select};

pub(crate) struct Why;

/// The most links that are answered, from either end of the chain.
const MOST_LINKS: usize = 5;
/// The most lines of a tree.
const MOST_LINES: usize = 24;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// A tensor or an element: `%p`, `%p[3, 5]`; without it, what the dispatch here has left.
    of: Option<String>,
    /// What about it. If not said: where its NaN or infinity began; of an element that is an
    /// ordinary number, what it is made of; of another name, why it has its value.
    question: Option<Question>,
    /// In this frame, which is then looked at from now on; 0 is the innermost one.
    frame: Option<usize>,
}

/// A question.
#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Question {
    /// Where the NaN began.
    Nan,
    /// Where the infinity began.
    Inf,
    /// On what the value rests: register or memory, and the proof.
    Value,
}

#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct Reasons {
    /// The way back from the tensor to where its NaN or infinity began; the last one is the
    /// origin.
    links: Vec<Link>,
    /// The origin in a sentence.
    origin: Option<String>,
    /// Of an element that is an ordinary number: what it is made of, a tree in lines.
    made_of: Vec<String>,
    /// The value, if its evidence was asked for.
    value: Option<NamedValue>,
    /// The evidence of the value.
    evidence: Option<String>,
    /// What was left out, and how to ask for it.
    left_out: Vec<String>,
    /// What to ask next.
    next: Vec<String>,
}

/// A tensor on the way.
#[derive(Serialize, JsonSchema)]
struct Link {
    /// Its names.
    names: Vec<String>,
    /// Its line in the source.
    place: Option<Place>,
    /// What begins here: `input`, `constant`, `numbers` (an operation makes it of numbers),
    /// `byHand`, `always`, `notMade` (the program has done something else than its source),
    /// `notKnown`; or `special`: it came with an operand.
    origin: String,
    /// The whole in a sentence.
    text: String,
}

impl Tool for Why {
    const NAME: &'static str = "why";
    const TITLE: &'static str = "Why a value is what it is";
    const ABOUT: &'static str = "Where the NaN or infinity of a tensor began: back over the lines \
        of the source to an input, a constant or an operation. Of an element that is an ordinary \
        number, the elements and largest terms that it is made of. Or on what a named value rests, \
        and why it has none. The program stays where it is.";
    type Arguments = Arguments;
    type Answer = Reasons;

    fn answer(desk: &mut Desk, arguments: Arguments) -> Result<Reasons, Problem> {
        let Arguments { of, question, frame } = arguments;
        let program = desk.standing()?;
        select(program, frame)?;
        let named = of.as_deref().unwrap_or_default();
        let words: &[&str] = match (question, &of) {
            (Some(Question::Value), _) => return evidence(program, named),
            (Some(Question::Nan), _) => &["nan "],
            (Some(Question::Inf), _) => &["inf "],
            (None, Some(_)) => &[""],
            (None, None) => &["nan ", "inf "],
        };
        let mut why_not = Problem::from("there is nothing to explain");
        for word in words {
            match program.line(format!("why {word}{named}").trim_end()) {
                Ok(heard) => return Ok(story(&heard)),
                Err(problem) => why_not = problem,
            }
        }
        match question.is_none() && !named.is_empty() {
            true => evidence(program, named).map_err(|_| why_not),
            false => Err(why_not),
        }
    }
}

/// What an ordinary number is made of.
fn tree(heard: &Heard) -> Reasons {
    let lines: Vec<&str> = heard.text.lines().collect();
    let shown = lines.iter().take(MOST_LINES).map(|it| bounds::line(it, 300));
    let made_of: Vec<String> = shown.collect();
    let more = lines.len().saturating_sub(MOST_LINES);
    let left_out = (more > 0).then(|| format!("{more} more lines; ask of an element in the tree"));
    let left_out = left_out.into_iter().collect();
    Reasons { links: Vec::new(), made_of, left_out, ..Reasons::default() }
}

fn story(heard: &Heard) -> Reasons {
    if heard.data.contains_key("madeOf") {
        return tree(heard);
    }
    let all = heard.data.get("links").and_then(Value::as_array);
    let mut links: Vec<Link> = all.into_iter().flatten().map(link).collect();
    let origin = links.last().map(|it| it.text.clone());
    let mut left_out = Vec::new();
    if links.len() > 2 * MOST_LINKS {
        let more = links.len() - 2 * MOST_LINKS;
        links.drain(MOST_LINKS..MOST_LINKS + more);
        left_out.push(format!("{more} tensors in the middle, which pass it on"));
    }
    let last = links.last().and_then(|it| it.names.first());
    let next = last.map(|name| format!("tensor {{\"of\": {name:?}}}"));
    let next = next.into_iter().collect();
    Reasons { links, origin, left_out, next, ..Reasons::default() }
}

fn link(data: &Value) -> Link {
    let names = data["tensor"]["names"].as_array().into_iter().flatten();
    Link {
        names: names.filter_map(Value::as_str).take(3).map(str::to_owned).collect(),
        place: Place::deserialize(&data["tensor"]["source"]).ok(),
        origin: data["origin"].as_str().unwrap_or_default().to_owned(),
        text: bounds::line(data["text"].as_str().unwrap_or_default(), 400),
    }
}

fn evidence(program: &mut Program, named: &str) -> Result<Reasons, Problem> {
    if named.is_empty() {
        return Err("`of` is missing: whose value?".into());
    }
    let heard = program.line(&format!("info name {named}"))?;
    Ok(Reasons {
        value: heard.data.get("value").and_then(named_value),
        evidence: Some(bounds::text(&heard.text, 2_000)),
        next: vec![format!("who_wrote {{\"of\": {named:?}}}")],
        ..Reasons::default()
    })
}

impl Answer for Reasons {
    fn text(&self) -> String {
        match &self.evidence {
            Some(evidence) => evidence.clone(),
            None => {
                let links = self.links.iter().map(|it| it.text.as_str());
                let lines: Vec<&str> =
                    links.chain(self.made_of.iter().map(String::as_str)).collect();
                lines.join("\n")
            }
        }
    }

    fn next(&self) -> &[String] {
        &self.next
    }

    fn left_out(&self) -> &[String] {
        &self.left_out
    }
}
