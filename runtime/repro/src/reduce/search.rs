//! [`reduce`]: the search for a smaller program that still fails.
//!
//! 1. One wrong result is kept, and dynamic sizes are filled in.
//! 2. The end: by halving, the first value that is wrong becomes the result.
//! 3. The beginning: by halving, as many values as possible are recorded instead of computed.
//! 4. What is left, one operation at a time: another value of its type stands in its place, or it
//!    is recorded.
//! 5. Shapes, if each element depends on its own place only.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use abi::tensor::Tensor;
use debuginfo::{DispatchFunction, Shapes};

use super::edits::Place;
use super::judge::{Failure, Judge, Outcome};
use super::not_judged::NotJudged;
use super::program::Program;
use crate::dispatch_run::{DispatchRun, Input, Unusable};
use crate::target_flags::target_flags;
use crate::trial::Tools;

/// A dispatch with fewer operations that still fails.
#[derive(Clone, Debug)]
pub struct Reduced {
    pub(crate) function: DispatchFunction,
    pub(crate) inputs: Vec<Input>,
    /// How it fails.
    pub failure: Failure,
    /// How many operations the dispatch has.
    pub operations_before: usize,
    /// How many are left.
    pub operations: usize,
    /// How many programs were compiled and run.
    pub attempts: usize,
    /// Whether no more were allowed.
    pub is_exhausted: bool,
    /// What was done, in sentences.
    pub steps: Vec<String>,
    /// How often each operation was dropped.
    pub dropped: BTreeMap<String, usize>,
}

impl Reduced {
    /// What came of it, in a sentence or two.
    #[must_use]
    pub fn summary(&self) -> String {
        let Self { operations_before, operations, attempts, .. } = self;
        let more = match self.is_exhausted {
            true => " No more were allowed, so there may be fewer.",
            false => "",
        };
        format!(
            "{operations} of {operations_before} operations are left, after {attempts} programs \
             were compiled and run.{more}"
        )
    }
}

/// Why a dispatch was not reduced.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotReduced {
    /// What it has left is right.
    #[error(
        "nothing fails: what the dispatch has left in the run lies within the bound of its text in \
         float64, so there is nothing to reduce"
    )]
    NothingFails,
    /// Compiled alone, it is right.
    #[error(
        "not reduced: the text is right under a fresh compilation with iree-compile {version}, \
         and what the dispatch has left in the run is wrong: {wrong}; the module's code is not \
         what this compiler makes of the dispatch alone, or its memory was overwritten"
    )]
    OnlyInModule {
        /// What the compiler calls itself.
        version: String,
        /// What is wrong in the run.
        wrong: String,
    },
    /// Nothing says whether it fails.
    #[error("not reduced: whether the dispatch fails is not known: {0}")]
    NotJudged(#[from] NotJudged),
}

/// How a search gets on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReduceProgress {
    /// How many programs were compiled.
    pub attempts: usize,
    /// How many may be.
    pub most_attempts: usize,
    /// How many operations the smallest one has that fails.
    pub operations: usize,
}

/// Drops operations of a dispatch, and shrinks its shapes, while it still fails.
///
/// # Errors
/// See [`NotReduced`].
pub fn reduce(
    run: &DispatchRun,
    tools: &Tools,
    most_attempts: usize,
    progress: &mut dyn FnMut(ReduceProgress),
) -> Result<Reduced, NotReduced> {
    let state = &run.after;
    let numbers = &state.numbers;
    let function =
        DispatchFunction::of(&run.origin.sources, &state.export, numbers, Shapes::Filled);
    let function = function.map_err(Unusable::NoFunction).map_err(NotJudged::from)?;
    let inputs = run.inputs(&function).map_err(NotJudged::from)?;
    let left = run.outputs(&function).map_err(NotJudged::from)?;
    let scratch = compile::Scratch::new("iree-dbg-reduce-");
    let scratch = scratch.map_err(|error| NotJudged::NoScratch(Arc::new(error)))?;
    let flags = target_flags(&run.origin.flags, &run.origin.sources);
    let mut judge = Judge::new(tools, flags, run.origin.runner_device(), scratch.path());
    let whole = Program::of(&function, &inputs)?;
    let in_run = match judge.of_run(&whole, &left) {
        Outcome::Fails(failure) => failure,
        Outcome::Passes => return Err(NotReduced::NothingFails),
        Outcome::Unknown(reason) => return Err(reason.into()),
    };
    let fresh = match judge.outcome(&whole) {
        Outcome::Fails(failure) => failure,
        Outcome::Passes => {
            let (version, wrong) = (tools.version.clone(), in_run.to_string());
            return Err(NotReduced::OnlyInModule { version, wrong });
        }
        Outcome::Unknown(reason) => return Err(reason.into()),
    };
    judge.most_attempts = most_attempts;
    let operations_before = whole.count();
    let names = whole.names();
    let mut search = Search { failure: fresh, program: whole, judge, steps: Vec::new(), progress };
    if !search.has_one_result() {
        return Err(NotJudged::Together.into());
    }
    search.fill();
    search.end();
    search.beginning();
    search.one_by_one();
    search.shapes();
    let Search { program, failure, judge, steps, .. } = search;
    Ok(Reduced {
        function: program.function(),
        inputs: program.arguments.iter().map(|it| it.input.clone()).collect(),
        failure,
        operations_before,
        operations: program.count(),
        attempts: judge.attempts,
        is_exhausted: judge.is_exhausted(),
        steps,
        dropped: dropped(&names, &program.names()),
    })
}

/// How much more often names are in one list than in another.
fn dropped(before: &[String], after: &[String]) -> BTreeMap<String, usize> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    before.iter().for_each(|it| *counts.entry(it.clone()).or_default() += 1);
    for name in after {
        if let Some(count) = counts.get_mut(name) {
            *count = count.saturating_sub(1);
        }
    }
    counts.retain(|_, count| *count > 0);
    counts
}

struct Search<'a> {
    /// The smallest one that fails.
    program: Program,
    failure: Failure,
    judge: Judge<'a>,
    steps: Vec<String>,
    progress: &'a mut dyn FnMut(ReduceProgress),
}

impl Search<'_> {
    /// Whether a program fails; if so, it is the one to go on with.
    fn takes(&mut self, program: Program) -> bool {
        let outcome = self.judge.outcome(&program);
        let is_taken = if let Outcome::Fails(failure) = outcome {
            (self.program, self.failure) = (program, failure);
            true
        } else {
            false
        };
        (self.progress)(ReduceProgress {
            attempts: self.judge.attempts,
            most_attempts: self.judge.most_attempts,
            operations: self.program.count(),
        });
        is_taken
    }

    /// Keeps one wrong result. Says whether that is possible.
    fn has_one_result(&mut self) -> bool {
        if self.program.results.len() == 1 {
            return true;
        }
        let program = self.program.with_result(self.failure.result);
        let is_taken = program.is_some_and(|program| self.takes(program));
        if is_taken {
            self.steps.push("one wrong result is kept".to_owned());
        }
        is_taken
    }

    /// Static shapes are easier to read, and to work with.
    fn fill(&mut self) {
        if let Some(program) = self.program.filled()
            && self.takes(program)
        {
            self.steps.push("dynamic sizes are those of the call".to_owned());
        }
    }

    fn end(&mut self) {
        let whole = self.program.clone();
        let ends: Vec<(Place, Program)> = whole
            .places()
            .into_iter()
            .filter_map(|place| Some((place.clone(), whole.ended_at(&place)?)))
            .collect();
        // The last one is the result itself, which is wrong.
        let (mut right, mut wrong) = (0, ends.len());
        while right < wrong && !self.judge.is_exhausted() {
            let middle = usize::midpoint(right, wrong);
            match self.takes(ends[middle].1.clone()) {
                true => wrong = middle,
                false => right = middle + 1,
            }
        }
        if let Some((place, program)) = ends.get(wrong)
            && program.count() < whole.count()
        {
            let name = place.name();
            self.steps.push(format!("the result is `{name}`, the first value that is wrong"));
        }
    }

    fn beginning(&mut self) {
        let whole = self.program.clone();
        let places = whole.places();
        let mut values = HashMap::new();
        // Most often, one operation is wrong by itself: the last one, or the last number of it.
        let is_tensor_of_number = places.len() > 1 && places[places.len() - 2].number.is_some();
        let mut at = places.len().saturating_sub(if is_tensor_of_number { 2 } else { 1 });
        let (mut fails, mut passes) = (0, at + 1);
        let mut recorded = Vec::new();
        while at > fails && !self.judge.is_exhausted() {
            let (program, names) = begun_at(&self.judge, &whole, &places[..at], &mut values);
            let is_smaller = program.count() < self.program.count();
            match !is_smaller || self.takes(program) {
                true => fails = at,
                false => passes = at,
            }
            if is_smaller && fails == at {
                recorded = names;
            }
            at = usize::midpoint(fails, passes);
        }
        if !recorded.is_empty() {
            recorded.reverse();
            let all = recorded.join(", ");
            self.steps.push(format!("recorded, from float64, instead of computed: {all}"));
        }
    }

    fn one_by_one(&mut self) {
        loop {
            let before = self.program.count();
            for place in self.program.places().into_iter().rev() {
                if self.judge.is_exhausted() {
                    return;
                }
                if self.program.uses(&place) {
                    self.without(&place);
                }
            }
            if self.program.count() == before {
                return;
            }
        }
    }

    /// Does without an operation, if that is possible.
    fn without(&mut self, place: &Place) {
        let count = self.program.count();
        for by in self.program.substitutes(place) {
            let Some(program) = self.program.replaced(place, &by) else { continue };
            if program.count() < count && self.takes(program) {
                self.steps.push(format!("`{by}` stands for `{}`", place.name()));
                return;
            }
        }
        let Some(value) = value(&self.judge, &self.program, place) else { return };
        if let Some(program) = self.program.recorded(place, value)
            && program.count() < count
            && self.takes(program)
        {
            self.steps.push(format!("recorded, from float64: `{}`", place.name()));
        }
    }

    fn shapes(&mut self) {
        let Some(whole) = self.program.common_shape() else {
            self.steps.push(
                "shapes stay: an element of the result depends on more than those at its place"
                    .to_owned(),
            );
            return;
        };
        let mut shape = whole.clone();
        let ones = vec![1; shape.len()];
        if shape == ones {
            return;
        }
        let start = self.failure.worst.0.clone();
        if let Some(program) = self.program.part(&shape, &start, &ones)
            && self.takes(program)
        {
            shape = ones;
        }
        for axis in 0..shape.len() {
            while shape[axis] > 1 && !self.judge.is_exhausted() {
                let mut sizes = shape.clone();
                sizes[axis] = shape[axis].div_ceil(2);
                let mut start = vec![0; shape.len()];
                start[axis] = if self.failure.worst.0[axis] < sizes[axis] {
                    0
                } else {
                    shape[axis] - sizes[axis]
                };
                let part = self.program.part(&shape, &start, &sizes);
                if !part.is_some_and(|program| self.takes(program)) {
                    break;
                }
                shape = sizes;
            }
        }
        if shape != whole {
            self.steps.push(format!("shapes: {} instead of {}", sizes(&shape), sizes(&whole)));
        }
    }
}

/// Sizes as they are written: `4x8`.
fn sizes(shape: &[u64]) -> String {
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
}

/// What the text of a program says that a value of it is.
fn value(judge: &Judge<'_>, program: &Program, place: &Place) -> Option<Tensor> {
    judge.value(&program.ended_at(place)?)
}

/// The program in which the values of these places are recorded, as far as they are used, with
/// their names.
fn begun_at(
    judge: &Judge<'_>,
    whole: &Program,
    places: &[Place],
    values: &mut HashMap<Place, Option<Tensor>>,
) -> (Program, Vec<String>) {
    let mut program = whole.clone();
    let mut names = Vec::new();
    for place in places.iter().rev() {
        if !program.uses(place) {
            continue;
        }
        let known = values.entry(place.clone()).or_insert_with(|| value(judge, whole, place));
        let recorded = known.clone().and_then(|value| program.recorded(place, value));
        if let Some(recorded) = recorded {
            program = recorded;
            names.push(format!("`{}`", place.name()));
        }
    }
    (program, names)
}
