//! `why %y[0, 3]`: what an ordinary number is made of, as a tree back to inputs and weights.
//!
//! Each node is an element of a tensor of the source. Its operation is evaluated again, which says
//! what elements of its operands it reads, and of a sum, how much each of its terms is
//! ([`reference::Dispatch::origins`]). Nothing is told of an operation that does not make the
//! number of these elements. The tree follows what is largest; the rest is counted.

use std::fmt;
use std::sync::Arc;

use debuginfo::{StepOrigin, StepValueId};
use reference::{Argument, Settings, Term};

use super::region::{Region, coordinates};
use super::story::{NoStory, SpecialTensor, number as number_text};
use super::unit::{Operand, is_constant, types};
use super::{StoryQuestion, Teller, number};
use crate::inspect::source_evaluation::{Known, NotRecomputed, floats, function_of};
use crate::machine::Machine;
use crate::view::frame::FrameId;

/// How many terms of a sum, or elements, are shown.
const SHOWN: usize = 3;
/// How deep the tree is.
const MOST_LEVELS: usize = 16;
/// How many nodes it has.
const MOST_NODES: usize = 200;

/// An element of a tensor, and what it is made of.
#[derive(Clone, PartialEq, Debug)]
pub struct NumberNode {
    /// The tensor.
    pub tensor: SpecialTensor,
    /// The coordinates of the element.
    pub at: Vec<usize>,
    /// What it is, if it is a float.
    pub value: Option<f64>,
    /// Whether the tensor is not in memory, and was computed from what is, in float64.
    pub is_recomputed: bool,
    /// What it is made of.
    pub origin: NumberOrigin,
}

/// What an ordinary number is made of.
#[derive(Clone, PartialEq, Debug)]
pub enum NumberOrigin {
    /// The tensor is an argument of the function, by its index.
    Input(usize),
    /// It follows from what the source writes.
    Constant,
    /// It is a sum.
    Sum {
        /// How many terms it has.
        terms: usize,
        /// The largest of them.
        largest: Vec<NumberTerm>,
    },
    /// Its line makes it of elements.
    Elements {
        /// How many.
        count: usize,
        /// The largest of them.
        largest: Vec<NumberNode>,
    },
    /// The tree does not go on here, as it is large enough.
    LeftOut,
    /// The tree has it elsewhere.
    Told,
    /// It is not known, for a reason.
    NotKnown(String),
}

/// A term of a sum.
#[derive(Clone, PartialEq, Debug)]
pub struct NumberTerm {
    /// What it adds.
    pub value: f64,
    /// How much of the sum that is, from 0 to 1; `None` where terms have both signs.
    pub share: Option<f64>,
    /// The elements that it is made of.
    pub of: Vec<NumberNode>,
}

impl Machine {
    /// What an element of a tensor is made of, in a frame.
    ///
    /// # Errors
    /// There is no such tensor or element, or values were changed by hand.
    pub fn number_story(
        &self,
        frame: FrameId,
        question: &StoryQuestion,
    ) -> Result<NumberNode, NoStory> {
        if self.changed_at().is_some() {
            return Err(NoStory::ValuesChanged);
        }
        let mut teller = Teller::new(self, frame)?;
        let (Some(name), Some(asked)) = (&question.tensor, &question.element) else {
            return Err(NoStory::NothingSpecial(question.wanted));
        };
        let value = teller.named(frame, name)?;
        let known = teller.known(value);
        let known = known.map_err(|why| NoStory::NoValue { name: question.name(), why })?;
        let (_, shape) = floats(&known).ok_or_else(|| NoStory::NoFloats(question.name()))?;
        let outside = || NoStory::Outside { name: question.name(), shape: shape.clone() };
        let element = number(asked, &shape).ok_or_else(outside)?;
        let mut left = MOST_NODES;
        Ok(teller.node(value, element, MOST_LEVELS, &mut left))
    }
}

impl Teller<'_> {
    /// An element and what it is made of, so many levels back.
    fn node(
        &mut self,
        value: StepValueId,
        element: usize,
        levels: usize,
        left: &mut usize,
    ) -> NumberNode {
        *left = left.saturating_sub(1);
        let tensor = self.tensor(value);
        let known = self.evaluation.settled(value, &mut self.leaves);
        let elements = known.as_ref().ok().and_then(floats);
        let number = elements.as_ref().and_then(|(values, _)| values.get(element).copied());
        let shape = known.as_ref().ok().map(Known::shape).unwrap_or_default();
        let is_recomputed = matches!(known, Ok(Known::Computed(_)));
        let origin = match known {
            Ok(_) => self.made_of(value, element, number, levels, left),
            Err(why) => Err(why),
        };
        let origin = origin.unwrap_or_else(|why| NumberOrigin::NotKnown(why.to_string()));
        let at = coordinates(element, &shape);
        match origin {
            // What has no name, and is another element as it is, says nothing.
            NumberOrigin::Elements { count: 1, mut largest }
                if tensor.names.is_empty() && largest[0].value == number =>
            {
                largest.remove(0)
            }
            origin => NumberNode { tensor, at, value: number, is_recomputed, origin },
        }
    }

    /// A constant; where it has no name, the one that it is a part of, in another order.
    fn constant(&mut self, value: StepValueId, element: usize) -> NumberOrigin {
        let is_named = !self.evaluation.steps.tensors(value).is_empty();
        let read = match is_named {
            true => None,
            false => self.terms(value, element, None).ok(),
        };
        let Some((operands, terms)) = read else { return NumberOrigin::Constant };
        let [Term { reads, .. }] = &terms[..] else { return NumberOrigin::Constant };
        let [(operand, element)] = reads[..] else { return NumberOrigin::Constant };
        // It is left out of the tree if it is the same number.
        let mut left = 1;
        let of = self.node(operands[operand].value, element, 0, &mut left);
        NumberOrigin::Elements { count: 1, largest: vec![of] }
    }

    fn made_of(
        &mut self,
        value: StepValueId,
        element: usize,
        number: Option<f64>,
        levels: usize,
        left: &mut usize,
    ) -> Result<NumberOrigin, NotRecomputed> {
        let steps = self.evaluation.steps.clone();
        match steps.origin(value) {
            Some(StepOrigin::Argument(index)) => return Ok(NumberOrigin::Input(index)),
            Some(StepOrigin::Step(_)) if is_constant(&steps, value) => {
                return Ok(self.constant(value, element));
            }
            Some(StepOrigin::Step(_)) => {}
            Some(StepOrigin::Inside) => {
                return Ok(NumberOrigin::NotKnown("a loop carries it".to_owned()));
            }
            None => return Err(NotRecomputed::NoSource),
        }
        if levels == 0 || *left == 0 {
            return Ok(NumberOrigin::LeftOut);
        }
        if !self.told.insert((value, element)) {
            return Ok(NumberOrigin::Told);
        }
        let (operands, terms) = self.terms(value, element, number)?;
        let mut nodes = |teller: &mut Self, term: &Term, levels: usize| -> Vec<NumberNode> {
            let largest = largest(&operands, term, number).into_iter();
            let of = largest.map(|(operand, element)| {
                teller.node(operands[operand].value, element, levels, left)
            });
            of.collect()
        };
        if let [term] = &terms[..] {
            let largest = nodes(self, term, levels - 1);
            return Ok(elements(term.reads.len(), largest));
        }
        let value_of = |it: &Term| it.value.unwrap_or_default();
        let total: f64 = terms.iter().map(value_of).sum();
        let (count, mut shown) = (terms.len(), terms);
        let is_of_one_sign = shown.iter().all(|it| value_of(it) * total >= 0.0) && total != 0.0;
        shown.sort_by(|a, b| value_of(b).abs().total_cmp(&value_of(a).abs()));
        shown.truncate(SHOWN);
        let shown = shown.iter().enumerate().map(|(at, term)| NumberTerm {
            value: value_of(term),
            share: is_of_one_sign.then(|| value_of(term) / total),
            // The others are followed when they are asked for.
            of: nodes(self, term, if at == 0 { levels - 1 } else { 0 }),
        });
        Ok(NumberOrigin::Sum { terms: count, largest: shown.collect() })
    }

    /// The operands of an operation, and what an element of its result is made of.
    fn terms(
        &mut self,
        value: StepValueId,
        element: usize,
        number: Option<f64>,
    ) -> Result<(Vec<Operand>, Vec<Term>), NotRecomputed> {
        let steps = self.evaluation.steps.clone();
        let Some(StepOrigin::Step(step)) = steps.origin(value) else {
            return Err(NotRecomputed::NoSource);
        };
        let step = steps.step(step).ok_or(NotRecomputed::NoSource)?;
        let (mut operands, mut given) = (Vec::new(), Vec::new());
        for operand in &step.operands {
            let known = self.evaluation.settled(operand.value, &mut self.leaves)?;
            // With the bound of what was computed.
            let computed = match &known {
                Known::Computed(output) => Some(Argument::Computed(Arc::clone(output))),
                Known::Memory(..) => None,
            };
            let operand = Operand::of(operand.value, known, operand.type_text.clone())?;
            given.push(computed.unwrap_or_else(|| operand.with(None)));
            operands.push(operand);
        }
        let result = step.results.iter().position(|it| it.value == value);
        let result = result.ok_or(NotRecomputed::NoSource)?;
        let function = function_of(&steps, step, &types(step, &given))?;
        let refused = |reason: String| NotRecomputed::NotFollowed {
            operation: step.operation.clone(),
            line: step.line().unwrap_or_default(),
            reason,
        };
        let settings = Settings { with_bounds: true, most_operations: self.left };
        let (made, took) =
            function.evaluate_counted(&given, &settings).map_err(|it| refused(it.reason))?;
        self.left = self.left.saturating_sub(2 * took);
        if let Some(number) = number
            && !made.get(result).is_some_and(|it| it.agrees_float(element, number))
        {
            let reason = "evaluated in float64, it does not make that of its operands";
            return Err(refused(reason.to_owned()));
        }
        let settings = Settings { with_bounds: false, ..settings };
        let terms = function.origins(&given, &settings, result, element);
        let mut terms = terms.map_err(|it| refused(it.reason))?;
        // Sums begin with a zero that the source writes.
        let is_start = |it: &Term| {
            let mut read = it.reads.iter().map(|(operand, _)| operands[*operand].value);
            it.value == Some(0.0) && read.all(|it| is_constant(&steps, it))
        };
        if terms.len() > 1 {
            terms.retain(|it| !is_start(it));
        }
        Ok((operands, terms))
    }
}

/// What is made of so many elements, of which some are shown. What has no name is a step of the
/// same line: those that it is made of are shown in its place.
fn elements(mut count: usize, shown: Vec<NumberNode>) -> NumberOrigin {
    let mut largest = Vec::new();
    for node in shown {
        match node.origin {
            NumberOrigin::Elements { count: inside, largest: nodes }
                if node.tensor.names.is_empty() =>
            {
                // It may be made of none: then it counts no more.
                count = count + inside - 1;
                largest.extend(nodes);
            }
            _ => largest.push(node),
        }
    }
    NumberOrigin::Elements { count, largest }
}

/// The largest elements that a term is made of. One that is the number itself, as of a maximum,
/// comes first.
fn largest(operands: &[Operand], term: &Term, number: Option<f64>) -> Vec<(usize, usize)> {
    let size = |(operand, element): &(usize, usize)| {
        let values = operands[*operand].floats.as_ref();
        values.and_then(|(values, _)| values.get(*element)).map_or(0.0, |it| it.abs())
    };
    let is_it = |it: &(usize, usize)| number.is_some_and(|is| size(it) == is.abs());
    let mut reads = term.reads.clone();
    reads.sort_by(|a, b| is_it(b).cmp(&is_it(a)).then(size(b).total_cmp(&size(a))).then(a.cmp(b)));
    reads.truncate(SHOWN);
    reads
}

impl NumberNode {
    /// The tree in lines, each level further to the right.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.write(0, &mut lines);
        lines
    }

    /// `%y[0, 3] = 1.25`, `%x[2] = 1 (an input)`
    fn head(&self) -> String {
        let between = if self.tensor.names.is_empty() && !self.at.is_empty() { ", " } else { "" };
        let value = self.value.map_or_else(String::new, |it| format!(" = {}", number_text(it)));
        let input = match self.origin {
            NumberOrigin::Input(_) => " (an input)",
            _ => "",
        };
        let kind = match self.origin {
            NumberOrigin::Constant => "constant",
            _ => "value",
        };
        format!("{}{between}{}{value}{input}", self.tensor.named(kind), Region::at(&self.at))
    }

    /// Whether more is to be said of it than what it is.
    fn has_more(&self) -> bool {
        use NumberOrigin as O;
        !matches!(self.origin, O::Input(_) | O::Constant | O::LeftOut | O::Told)
    }

    fn write(&self, level: usize, lines: &mut Vec<String>) {
        let indent = "  ".repeat(level);
        let recomputed = if self.is_recomputed { ", computed in float64" } else { "" };
        let head = format!("{indent}{}{}{recomputed}", self.head(), self.tensor.details());
        match &self.origin {
            NumberOrigin::Input(_) | NumberOrigin::LeftOut => lines.push(head),
            NumberOrigin::Told => lines.push(format!("{head}: as above")),
            NumberOrigin::Constant => {
                let (head, details) = (self.head(), self.tensor.details());
                lines.push(format!("{indent}{head}{details}: the source writes it"));
            }
            NumberOrigin::NotKnown(why) => {
                lines.push(format!("{head}: what it is made of is not known: {why}"));
            }
            NumberOrigin::Elements { count: 0, .. } => {
                lines.push(format!("{head}: whatever its operands are"));
            }
            NumberOrigin::Elements { count, largest } => {
                let of = match *count > largest.len() {
                    true => format!("{count} elements, the largest of them"),
                    false => String::new(),
                };
                lines.push(format!("{head}: made of {of}").trim_end().to_owned());
                largest.iter().for_each(|it| it.write(level + 1, lines));
            }
            NumberOrigin::Sum { terms, largest } => {
                let shown = if *terms > largest.len() { ", the largest of them" } else { "" };
                lines.push(format!("{head}: a sum of {terms} terms{shown}"));
                for term in largest {
                    lines.push(format!("{indent}  {term}"));
                    let told = term.of.iter().filter(|it| it.has_more());
                    told.for_each(|it| it.write(level + 2, lines));
                }
            }
        }
    }
}

/// `0.91 (73 %) of %a[0, 17] = 2.1 and %w[17, 3] = 0.43`
impl fmt::Display for NumberTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A term is computed in float64, and shown as precisely as what it is made of.
        write!(f, "{}", number_text(f64::from(self.value as f32)))?;
        if let Some(share) = self.share {
            let percent = 100.0 * share;
            match percent >= 0.1 {
                true => write!(f, " ({percent:.1} %)")?,
                false => write!(f, " (< 0.1 %)")?,
            }
        }
        let of: Vec<String> = self.of.iter().map(NumberNode::head).collect();
        if of.is_empty() { Ok(()) } else { write!(f, " of {}", of.join(" and ")) }
    }
}
