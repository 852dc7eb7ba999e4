//! [`SpecialStory`]: why an element is NaN or infinite, as it is told.

use std::fmt;

use super::Wanted;
use super::culprits::Special;
use super::region::Region;
use crate::tensor::float_text;
use crate::view::frame::SourceLine;

/// Why an element of a tensor is NaN or infinite: from that tensor back to where it began.
#[derive(Clone, PartialEq, Debug)]
pub struct SpecialStory {
    /// The tensors, each after one that was made of it.
    pub links: Vec<SpecialLink>,
}

impl SpecialStory {
    /// The story in sentences, one a line. Of many tensors that pass a value on, one to the next,
    /// only the first and the last ones have a line.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        /// How many are shown at each end.
        const SHOWN: usize = 3;
        let mut lines = Vec::new();
        for run in self.links.chunk_by(|a, b| a.passes_on() && b.passes_on()) {
            let left_out = run.len().saturating_sub(2 * SHOWN);
            if left_out < 2 {
                lines.extend(run.iter().map(ToString::to_string));
                continue;
            }
            lines.extend(run[..SHOWN].iter().map(ToString::to_string));
            lines.push(format!("… {left_out} more tensors, of which each passes it on"));
            lines.extend(run[run.len() - SHOWN..].iter().map(ToString::to_string));
        }
        lines
    }
}

/// A tensor of the story.
#[derive(Clone, PartialEq, Debug)]
pub struct SpecialLink {
    /// The tensor.
    pub tensor: SpecialTensor,
    /// How many of its elements are what, in the order in which they come.
    pub counts: Vec<(Special, usize)>,
    /// How many elements it has.
    pub elements: usize,
    /// The elements that are explained.
    pub region: Region,
    /// What they are, in row-major order.
    pub values: Vec<f64>,
    /// Whether the tensor is not in memory, and was computed from what is, in float64.
    pub is_recomputed: bool,
    /// Where the element comes from.
    pub origin: SpecialOrigin,
}

/// What a tensor is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecialTensor {
    /// Its name in the source, and that of the framework; empty if it has none.
    pub names: Vec<String>,
    /// Where the source computes it.
    pub source: Option<SourceLine>,
    /// The command that has left it, by its number; `None` of what no command leaves, and where
    /// that is not known.
    pub command: Option<u64>,
}

/// Where a NaN or an infinity comes from.
#[derive(Clone, PartialEq, Debug)]
pub enum SpecialOrigin {
    /// The tensor is an argument of the function, by its index.
    Input(usize),
    /// The source writes the element.
    Constant,
    /// NaN or infinities of other tensors, which are enough for it.
    Causes(Vec<SpecialCause>),
    /// Ordinary numbers of other tensors, which are enough for it.
    Made(Vec<SpecialCause>),
    /// The operation makes it of any operands.
    Always,
    /// The user has set the element.
    ByHand,
    /// The operations of the source do not make it of their operands: the program has done
    /// something else.
    NotMade,
    /// It is not known, for a reason.
    NotKnown(String),
}

/// Elements of another tensor.
#[derive(Clone, PartialEq, Debug)]
pub struct SpecialCause {
    /// The tensor.
    pub tensor: SpecialTensor,
    /// The elements: of a story of NaN or infinities, those of them that are none.
    pub region: Region,
    /// What they are, in row-major order.
    pub values: Vec<f64>,
}

/// Why there is no story.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoStory {
    /// No tensors are known in the frame.
    #[error(
        "the tensors of the source are not known in this frame; `up` leads to the frame of the \
         model, and `iree-dbg compile` keeps what is needed in the debug file"
    )]
    NoTensors,
    /// The debug file has no operations.
    #[error("the debug file does not have the operations of the source")]
    NoSource,
    /// No tensor has the name.
    #[error("no tensor of the source is called {0} here")]
    Unknown(String),
    /// Several have.
    #[error("which tensor {name} is is not known: {why}")]
    NotOne {
        /// The name.
        name: String,
        /// Why.
        why: String,
    },
    /// It has no value here.
    #[error("{name} has no value here: {why}")]
    NoValue {
        /// The name.
        name: String,
        /// Why not.
        why: String,
    },
    /// It has integers.
    #[error("the elements of {0} are no floats")]
    NoFloats(String),
    /// It has no such element.
    #[error("there is no {name}: its shape is {shape:?}")]
    Outside {
        /// The name.
        name: String,
        /// Its sizes.
        shape: Vec<usize>,
    },
    /// The element, or all, are ordinary.
    #[error("{name} has no {}", wanted.words())]
    NotSpecial {
        /// The name.
        name: String,
        /// What is asked for.
        wanted: Wanted,
    },
    /// No tensor in memory has one.
    #[error("no tensor that is in memory now has {}; `why %x` asks of one", .0.words())]
    NothingSpecial(Wanted),
    /// What was changed by hand may not fit what was computed before.
    #[error(
        "you have changed values since the program began, and what was computed before and after \
         that is not told apart: `rerun` computes the dispatch here again from what is there now, \
         and `why` then tells of it; `run` begins without the changes"
    )]
    ValuesChanged,
}

impl SpecialTensor {
    /// The name in the source, or where it is made.
    #[must_use]
    pub fn name(&self) -> String {
        self.named("value")
    }

    /// The same of one that is a `value` or a `constant`.
    pub(super) fn named(&self, kind: &str) -> String {
        match (self.names.first(), &self.source) {
            (Some(name), _) => name.clone(),
            (None, Some(at)) => format!("a {kind} of {}", place(at)),
            (None, None) => format!("a {kind} without a name"),
        }
    }

    /// The name of the framework, and the line.
    pub(super) fn details(&self) -> String {
        let framework = self.names.get(1).cloned();
        let line = self.source.as_ref().filter(|_| !self.names.is_empty()).map(place);
        let details: Vec<String> = framework.into_iter().chain(line).collect();
        match details.is_empty() {
            true => String::new(),
            false => format!(" ({})", details.join(", ")),
        }
    }
}

fn place(at: &SourceLine) -> String {
    let file = at.file_name();
    format!("{file}:{}", at.line)
}

impl SpecialLink {
    /// Whether it is only what one other tensor is.
    fn passes_on(&self) -> bool {
        let SpecialOrigin::Causes(causes) = &self.origin else { return false };
        let [cause] = causes.as_slice() else { return false };
        let kinds = |values: &[f64]| {
            let mut kinds: Vec<_> = values.iter().map(|it| Special::of(*it)).collect();
            kinds.dedup();
            kinds
        };
        kinds(&self.values) == kinds(&cause.values)
    }
}

/// `%p (attention.mlir:9): 3 of 12 are NaN; [0, 1] is NaN, as %s[0, 0:4] is all -inf`
impl fmt::Display for SpecialLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, details) = (self.tensor.name(), self.tensor.details());
        let recomputed = if self.is_recomputed { ", computed in float64" } else { "" };
        let counts = self.counts.iter().map(|(special, count)| {
            let are = if *count == 1 { "is" } else { "are" };
            format!("{count} of {} {are} {}", self.elements, special.name())
        });
        let counts: Vec<String> = counts.collect();
        write!(f, "{name}{details}{recomputed}: {}", counts.join(", "))?;
        let region = self.region.to_string();
        let element = if region.is_empty() { "it" } else { &region };
        let explained = format!("{element}{}", what(&self.values));
        match &self.origin {
            SpecialOrigin::Input(_) => write!(f, "; it is an input"),
            SpecialOrigin::Constant => write!(f, "; the source writes them"),
            SpecialOrigin::Causes(causes) => {
                write!(f, "; {explained}, as {}", list(causes))
            }
            SpecialOrigin::Made(causes) => {
                write!(f, "; {explained}: its line makes that of numbers: {}", list(causes))
            }
            SpecialOrigin::Always => {
                write!(f, "; {explained}, whatever numbers its line is given")
            }
            SpecialOrigin::ByHand => write!(f, "; {explained}, as you have set it"),
            SpecialOrigin::NotMade => write!(
                f,
                "; {explained}, and its line, evaluated in float64, does not make that of its \
                 operands: `iree-dbg diff` says where the compiled program goes another way"
            ),
            SpecialOrigin::NotKnown(why) => {
                write!(f, "; where {element} comes from is not known: {why}")
            }
        }
    }
}

/// A number, as short as its precision allows.
pub(super) fn number(value: f64) -> String {
    let single = value as f32;
    if f64::from(single) == value || value.is_nan() {
        return float_text(single);
    }
    float_text(value)
}

fn list(causes: &[SpecialCause]) -> String {
    let causes: Vec<String> = causes.iter().map(ToString::to_string).collect();
    causes.join(" and ")
}

/// `%s[0, 0:4] is all -inf`, `%x[3] is -1`
impl fmt::Display for SpecialCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let between = if self.tensor.names.is_empty() { ", " } else { "" };
        let (name, what) = (self.tensor.name(), what(&self.values));
        write!(f, "{name}{between}{}{what}", self.region)
    }
}

/// ` is -1`, ` is all -inf`, ` has NaN and inf`
fn what(values: &[f64]) -> String {
    let Some(first) = values.first() else { return String::new() };
    let are_alike = values.iter().all(|it| it == first || it.is_nan() && first.is_nan());
    if are_alike {
        let all = if values.len() == 1 { "" } else { "all " };
        return format!(" is {all}{}", number(*first));
    }
    let mut kinds: Vec<&str> = Vec::new();
    for special in values.iter().filter_map(|it| Special::of(*it)) {
        if !kinds.contains(&special.name()) {
            kinds.push(special.name());
        }
    }
    if !kinds.is_empty() {
        return format!(" has {}", kinds.join(" and "));
    }
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!(" has {} numbers from {} to {}", values.len(), number(least), number(most))
}
