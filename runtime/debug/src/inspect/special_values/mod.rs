//! `why nan`: the story of an element that is NaN or infinite, back to where that began.
//!
//! Each link is one tensor of the source. Its operation is evaluated again with other operands, and
//! what elements of them are enough to make it so is said ([`culprits`]); these have links of their
//! own. A story ends at an input, at a constant, at ordinary numbers of which an operation makes
//! NaN, or where something is not known: then at the reason.
//!
//! - [`mod@unit`]: the operations of a line, to be evaluated with changed operands
//! - [`culprits`]: the search for the elements that matter
//! - [`region`]: some elements of a tensor
//! - [`story`]: what is told, and its words
//! - [`made_of`]: what an ordinary number is made of

mod culprits;
mod made_of;
mod region;
mod story;
mod unit;

use std::collections::{BTreeMap, HashSet};

use debuginfo::{ElidedName, StepOrigin, StepValueId};

use self::culprits::{Culprits, Search};
use self::unit::{Operand, Unit};
use super::all_tensors::names;
use super::recomputed::MemoryLeaves;
use super::source_evaluation::{Known, NotRecomputed, SourceEvaluation, floats};
use crate::machine::Machine;
use crate::target::meaning::Meaning;
use crate::view::frame::FrameId;

pub use culprits::Special;
pub use made_of::{NumberNode, NumberOrigin, NumberTerm};
pub use region::Region;
pub use story::{NoStory, SpecialCause, SpecialLink, SpecialOrigin, SpecialStory, SpecialTensor};

/// The most scalar operations for a story.
const MOST_OPERATIONS: u64 = 4_000_000_000;
/// The most links.
const MOST_LINKS: usize = 4096;

/// Why a story does not go on before what the last dispatch has read.
const CHANGED_SINCE: &str = "you have changed values, perhaps since it was computed";

/// What a story is asked of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StoryQuestion {
    /// The tensor, as the source or the framework calls it; otherwise the one that the dispatch
    /// leaves that has run last, or the first one in memory.
    pub tensor: Option<String>,
    /// Its element, by its coordinates; otherwise the first one.
    pub element: Option<Vec<usize>>,
    /// What its element is.
    pub wanted: Wanted,
}

impl StoryQuestion {
    /// As it was asked: `%x[0, 3]`.
    fn name(&self) -> String {
        let name = self.tensor.clone().unwrap_or_default();
        match &self.element {
            Some(at) => format!("{name}{}", Region::at(at)),
            None => name,
        }
    }
}

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wanted {
    /// NaN.
    Nan,
    /// An infinity.
    Infinity,
    /// Either of them.
    #[default]
    Any,
}

impl Wanted {
    fn is(self, value: f64) -> bool {
        match self {
            Self::Nan => value.is_nan(),
            Self::Infinity => value.is_infinite(),
            Self::Any => !value.is_finite(),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Nan => "NaN",
            Self::Infinity => "infinity",
            Self::Any => "NaN or infinity",
        }
    }
}

/// Tells a story where a frame stands.
struct Teller<'m> {
    machine: &'m Machine,
    evaluation: SourceEvaluation,
    leaves: MemoryLeaves<'m>,
    left: u64,
    /// What was told of ordinary numbers.
    told: HashSet<(StepValueId, usize)>,
}

/// Elements of a value that are to be explained: the number of each, and what it is.
type Elements = Vec<(usize, Special)>;

impl Machine {
    /// Why an element of a tensor is NaN, or infinite, in a frame.
    ///
    /// # Errors
    /// There is no such tensor or element, or what it is made of is not known.
    pub fn special_story(
        &self,
        frame: FrameId,
        question: &StoryQuestion,
    ) -> Result<SpecialStory, NoStory> {
        let mut teller = Teller::new(self, frame)?;
        let value = match &question.tensor {
            Some(name) => teller.named(frame, name)?,
            None => teller.first(question).ok_or(NoStory::NothingSpecial(question.wanted))?,
        };
        if self.changed_at().is_some() {
            // What was looked at until now may have been anything.
            let steps = teller.evaluation.steps.clone();
            teller.evaluation = SourceEvaluation::new(steps, MOST_OPERATIONS);
            teller.leaves.use_nothing();
        }
        let first = teller.element(value, question)?;
        let links = teller.tell(value, first);
        // What the user has set is what it is, whatever else was changed.
        let is_by_hand = links.iter().all(|it| it.origin == SpecialOrigin::ByHand);
        match !is_by_hand && teller.leaves.is_changed_around() {
            true => Err(NoStory::ValuesChanged),
            false => Ok(SpecialStory { links }),
        }
    }
}

impl<'m> Teller<'m> {
    /// Begins where a frame stands.
    fn new(machine: &'m Machine, frame: FrameId) -> Result<Self, NoStory> {
        let leaves = machine.memory_leaves(frame).ok_or(NoStory::NoTensors)?;
        let function = leaves.stand.function;
        let steps = leaves.module.source_steps(function).ok_or(NoStory::NoSource)?;
        let evaluation = SourceEvaluation::new(steps, MOST_OPERATIONS);
        let told = HashSet::new();
        Ok(Self { machine, evaluation, leaves, left: MOST_OPERATIONS, told })
    }

    /// The value that a name stands for in the frame.
    fn named(&self, frame: FrameId, name: &str) -> Result<StepValueId, NoStory> {
        let bare = name.trim().trim_start_matches('%').trim_matches('"');
        let meaning = self.machine.meaning(self.machine.level(), frame, bare);
        let (written, defined_at) = match &meaning {
            Some(Meaning::Scoped(value)) => (value.name.clone(), value.defined_inside_at()),
            _ => (format!("%{bare}"), None),
        };
        let (calls, is_in_call) = (&self.leaves.stand.calls, self.machine.is_inlined(frame));
        match self.evaluation.steps.named(&written, calls, is_in_call, defined_at) {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(NoStory::Unknown(name.to_owned())),
            Err(why) => Err(NoStory::NotOne { name: name.to_owned(), why: why.to_string() }),
        }
    }

    /// The first tensor that the question is of: of those that the dispatch writes that stands
    /// here, of those that are in memory, and of the arguments.
    fn first(&mut self, question: &StoryQuestion) -> Option<StepValueId> {
        let steps = self.evaluation.steps.clone();
        let written = self.written_here();
        let mut found: Option<((bool, bool), StepValueId)> = None;
        for (name, calls, value) in steps.names() {
            let mut tensors = steps.tensors(value).iter();
            let Some(tensor) = tensors.find(|it| it.name == name && it.calls == *calls) else {
                continue;
            };
            let is_written = written.iter().any(|it| it == name);
            let known = match self.leaves.in_memory(tensor) {
                Some(Ok(known)) => Some(known),
                // It is being computed.
                _ if is_written => self.known(value).ok(),
                _ => None,
            };
            let values = known.as_ref().and_then(floats).map(|(values, _)| values);
            let has = values.is_some_and(|it| it.iter().any(|it| question.wanted.is(*it)));
            let is_computed = matches!(steps.origin(value), Some(StepOrigin::Step(_)));
            let rank = (is_written, is_computed);
            if has && found.is_none_or(|(best, _)| rank > best) {
                found = Some((rank, value));
            }
        }
        found.map(|(_, value)| value)
    }

    /// The names of what the dispatch writes that runs here, or has run last.
    fn written_here(&self) -> Vec<String> {
        let stand = &self.leaves.stand;
        let written = stand.current.iter().flat_map(|it| &it.tensors).filter(|it| it.is_written);
        let names = written.flat_map(|it| stand.tensors.names(stand.function, it.value));
        names.map(str::to_owned).collect()
    }

    /// The element that is asked for.
    fn element(&mut self, of: StepValueId, question: &StoryQuestion) -> Result<Elements, NoStory> {
        let name = || question.name();
        let known = self.known(of).map_err(|why| NoStory::NoValue { name: name(), why })?;
        let (values, shape) = floats(&known).ok_or_else(|| NoStory::NoFloats(name()))?;
        let at = match &question.element {
            Some(asked) => {
                let outside = || NoStory::Outside { name: name(), shape: shape.clone() };
                Some(number(asked, &shape).ok_or_else(outside)?)
            }
            // NaN first: it is made of an infinity more often than the other way round.
            None => [Wanted::Nan, question.wanted]
                .into_iter()
                .filter(|wanted| question.wanted == *wanted || question.wanted == Wanted::Any)
                .find_map(|wanted| values.iter().position(|it| wanted.is(*it))),
        };
        let special = at.filter(|at| question.wanted.is(values[*at]));
        let special = special.and_then(|at| Some((at, Special::of(values[at])?)));
        let (name, wanted) = (name(), question.wanted);
        Ok(vec![special.ok_or(NoStory::NotSpecial { name, wanted })?])
    }

    fn known(&mut self, value: StepValueId) -> Result<Known, String> {
        self.evaluation.settled(value, &mut self.leaves).map_err(|why| why.to_string())
    }

    /// A value comes after all that were made of it, so that what these say of it is known.
    fn tell(&mut self, first: StepValueId, elements: Elements) -> Vec<SpecialLink> {
        let (mut links, mut pending) = (Vec::new(), BTreeMap::from([(first, elements)]));
        while let Some((value, mut elements)) = pending.pop_last() {
            if links.len() == MOST_LINKS {
                break;
            }
            elements.sort_unstable_by_key(|(at, _)| *at);
            elements.dedup();
            let (set, computed) = self.split_by_hand(value, elements);
            for (elements, is_set) in [(set, true), (computed, false)] {
                if elements.is_empty() {
                    continue;
                }
                let (link, causes) = self.link(value, &elements, is_set);
                links.extend(link);
                for (of, elements) in causes {
                    pending.entry(of).or_default().extend(elements);
                }
            }
        }
        links
    }

    /// What is said of a tensor, and the elements of others that are to be told of next.
    fn link(
        &mut self,
        value: StepValueId,
        elements: &Elements,
        is_set: bool,
    ) -> (Option<SpecialLink>, Vec<(StepValueId, Elements)>) {
        let known = self.known(value).ok();
        let Some((values, shape)) = known.as_ref().and_then(floats) else {
            return (None, Vec::new());
        };
        let found = match is_set {
            true => Ok((SpecialOrigin::ByHand, Vec::new())),
            false if self.is_before_change(value) => {
                Ok((SpecialOrigin::NotKnown(CHANGED_SINCE.to_owned()), Vec::new()))
            }
            false => self.origin(value, elements),
        };
        let (origin, next) = match found {
            Ok(found) => found,
            Err(why) => (SpecialOrigin::NotKnown(why.to_string()), Vec::new()),
        };
        let mut counts: Vec<(Special, usize)> = Vec::new();
        for special in values.iter().filter_map(|it| Special::of(*it)) {
            match counts.iter_mut().find(|(of, _)| *of == special) {
                Some((_, count)) => *count += 1,
                None => counts.push((special, 1)),
            }
        }
        let link = SpecialLink {
            tensor: self.tensor(value),
            counts,
            elements: values.len(),
            region: Region::around(&elements.iter().map(|(at, _)| *at).collect::<Vec<_>>(), &shape),
            values: elements.iter().map(|(at, _)| values[*at]).collect(),
            is_recomputed: matches!(known, Some(Known::Computed(_))),
            origin,
        };
        (Some(link), next)
    }

    /// Of some elements, those that the user has written, and no command since; and the others.
    fn split_by_hand(&self, value: StepValueId, elements: Elements) -> (Elements, Elements) {
        let changed = self.machine.changed_at();
        let place = changed.and_then(|_| self.leaves.place(&self.evaluation.steps, value));
        let Some((view, _)) = place else { return (Vec::new(), elements) };
        let all = view.addresses();
        let writer = self.machine.last_writer(&view).map_or(0, |record| record.number);
        let size = all.len() / view.count().max(1);
        // Elements that share bytes are set together.
        let is_whole = size * view.count() == all.len();
        elements.into_iter().partition(|(at, _)| {
            let start = all.start + at * size;
            let own = if is_whole { start..start + size } else { all.clone() };
            self.machine.written_by_hand(&own).is_some_and(|at| at >= writer)
        })
    }

    /// Whether a value is one that the dispatch here has read, and the user has changed values:
    /// what it was computed from may be something else now.
    fn is_before_change(&self, value: StepValueId) -> bool {
        let origin = self.evaluation.steps.origin(value);
        let is_argument = matches!(origin, Some(StepOrigin::Argument(_)));
        let changed = self.machine.changed_at().filter(|_| !is_argument);
        let place = changed.and_then(|_| self.leaves.place(&self.evaluation.steps, value));
        place.is_some_and(|(_, known)| self.leaves.is_read(known))
    }

    fn origin(
        &mut self,
        value: StepValueId,
        elements: &Elements,
    ) -> Result<(SpecialOrigin, Vec<(StepValueId, Elements)>), NotRecomputed> {
        let steps = self.evaluation.steps.clone();
        let step = match steps.origin(value) {
            Some(StepOrigin::Argument(index)) => {
                return Ok((SpecialOrigin::Input(index), Vec::new()));
            }
            Some(StepOrigin::Step(step)) => steps.step(step).ok_or(NotRecomputed::NoSource)?,
            Some(StepOrigin::Inside) | None => return Err(NotRecomputed::NoSource),
        };
        if step.operands.is_empty() {
            return Ok((SpecialOrigin::Constant, Vec::new()));
        }
        let mut unit = Unit::of(value, &mut self.evaluation, &mut self.leaves, self.left)?;
        let found = Search::new(&mut unit, elements).run();
        self.left = unit.left();
        let (culprits, are_special) = match found? {
            Culprits::Special(culprits) => (culprits, true),
            Culprits::Ordinary(culprits) => (culprits, false),
            Culprits::Always => return Ok((SpecialOrigin::Always, Vec::new())),
            Culprits::NotMade => return Ok((SpecialOrigin::NotMade, Vec::new())),
        };
        let (mut causes, mut next) = (Vec::new(), Vec::new());
        for (at, region) in culprits {
            let operand = &unit.operands[at];
            let Some(values) = chosen(operand, &region, are_special) else { continue };
            let special = values.iter().filter_map(|(at, it)| Some((*at, Special::of(*it)?)));
            let special: Elements = special.collect();
            if !special.is_empty() {
                next.push((operand.value, special));
            }
            let values = values.into_iter().map(|(_, value)| value).collect();
            causes.push(SpecialCause { tensor: self.tensor(operand.value), region, values });
        }
        let origin = match are_special {
            true => SpecialOrigin::Causes(causes),
            false => SpecialOrigin::Made(causes),
        };
        Ok((origin, next))
    }

    /// What a value is called, and where it is made.
    fn tensor(&self, value: StepValueId) -> SpecialTensor {
        let steps = &self.evaluation.steps;
        let step = match steps.origin(value) {
            Some(StepOrigin::Step(step)) => steps.step(step),
            _ => None,
        };
        let module = self.leaves.module;
        // The compiler moves constants to where they are used.
        let constant = || {
            let text = step.filter(|it| it.operation == "arith.constant").map(|it| &it.text)?;
            module.info.constant_named(&ElidedName::of_constant(text)?)
        };
        if let Some(tensor) = steps.tensors(value).first().cloned().or_else(constant) {
            let source = self.machine.line_of_place(&tensor.at);
            let command = self.leaves.left_by(&tensor);
            return SpecialTensor { names: names(module, &tensor), source, command };
        }
        let at = step.and_then(|it| it.place.first());
        let source = at.and_then(|it| self.machine.line_of_place(it));
        SpecialTensor { names: Vec::new(), source, command: None }
    }
}

/// The elements of a region of an operand, each with its number: all of them, or those that are no
/// ordinary numbers.
fn chosen(operand: &Operand, region: &Region, are_special: bool) -> Option<Vec<(usize, f64)>> {
    let (values, shape) = operand.floats.as_ref()?;
    let mask = region.mask(shape);
    let chosen = values.iter().copied().enumerate();
    let chosen = chosen.filter(|(at, value)| mask[*at] && !(are_special && value.is_finite()));
    Some(chosen.collect())
}

/// The number of an element in row-major order.
fn number(at: &[usize], shape: &[usize]) -> Option<usize> {
    let is_inside = at.len() == shape.len() && at.iter().zip(shape).all(|(at, size)| at < size);
    is_inside.then(|| at.iter().zip(shape).fold(0, |number, (at, size)| number * size + at))
}
