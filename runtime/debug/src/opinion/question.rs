//! Which tensor and which number of a run is which parameter of a dispatch's text, so that the
//! crate `reference` can evaluate it.
//!
//! The text is that of the phase `flow`, before buffers and numbers are assigned. Where it is not
//! certain which of the run's tensors and numbers its parameters are, the text that code was made
//! of is evaluated instead, which says where each of them is.
//!
//! Tensors are taken before the dispatch runs, as it may write over what it reads.

use std::collections::HashMap;
use std::sync::Arc;

use abi::tensor::Tensor;
use debuginfo::{ArgumentOrigin, DispatchFunction, TiledOperand};
use reference::{Argument, Dispatch, Known, Module, Output, Refusal, RefusalKind, Role};

use super::tiles;
use crate::inspect::dispatch_state::DispatchArguments;
use crate::inspect::standing_dispatch::StandingDispatch;
use crate::target::program::Program;
use crate::tensor::TensorView;

/// The most scalar operations of a dispatch, unless the user says otherwise.
pub const MOST_OPERATIONS: u64 = 200_000_000;

/// What an element of an argument costs, as `reference` counts those that it makes.
const COST_OF_ELEMENT: u64 = 16;

/// Why there is no opinion.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{reason}")]
pub struct NoOpinion {
    /// The operation that is not evaluated, if that is why.
    pub operation: Option<String>,
    /// The whole reason.
    pub reason: String,
    /// Whether it is that more operations are needed than are allowed.
    pub is_limit: bool,
    /// The element that it would read outside of a tensor, if that is why.
    pub(crate) outside: Option<String>,
    /// Whether it is that a parameter of the flow text is not known.
    is_unmatched: bool,
}

/// The dispatches of a program, as they are asked for.
pub struct Opinions<'t> {
    /// The texts of the program's modules.
    modules: Vec<Option<Module<'t>>>,
    read: HashMap<(usize, String), Result<Arc<Dispatch>, NoOpinion>>,
    most_operations: u64,
}

/// A dispatch with all that it reads.
#[derive(Clone)]
pub struct OpinionQuestion {
    dispatch: Arc<Dispatch>,
    arguments: Vec<Argument>,
    /// For each argument, the operand that it is; a number is none.
    argument_operands: Vec<Option<usize>>,
    operands: Operands,
    /// The operands that lie tile by tile, by their numbers.
    tiled: HashMap<usize, TiledOperand>,
    /// A tensor that the dispatch reads and writes: its number among the parameters.
    in_place: Option<usize>,
}

/// Which operands of the dispatch the outputs are.
#[derive(Clone, PartialEq, Eq)]
enum Operands {
    /// Of the flow text: that of each parameter.
    OfParameters(Vec<Option<usize>>),
    /// Of the text that code was made of: that of each result.
    OfResults(Vec<usize>),
}

impl NoOpinion {
    /// A reason of the caller.
    pub fn new(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { operation: None, reason, is_limit: false, outside: None, is_unmatched: false }
    }

    fn unmatched(reason: impl Into<String>) -> Self {
        Self { is_unmatched: true, ..Self::new(reason) }
    }

    fn of(refusal: &Refusal, text_name: &str) -> Self {
        let Refusal { kind, line, operation, reason } = refusal;
        let mut text = String::new();
        if !operation.is_empty() {
            text = format!("`{operation}` in line {line} of {text_name}: ");
        }
        text.push_str(reason);
        let is_unknown = *kind == RefusalKind::Unsupported && !operation.is_empty();
        let operation = is_unknown.then(|| operation.clone());
        let is_limit = *kind == RefusalKind::Limit;
        // So the evaluator words it.
        let is_outside = *kind == RefusalKind::Undefined && reason.starts_with("ind");
        let outside = is_outside.then(|| reason.clone());
        Self { operation, reason: text, is_limit, outside, is_unmatched: false }
    }
}

impl<'t> Opinions<'t> {
    /// The dispatches of [`Program::flow_texts`].
    pub fn new(texts: &'t [Option<String>], most_operations: u64) -> Self {
        let modules = texts.iter().map(|text| Some(Module::new(text.as_deref()?)));
        Self { modules: modules.collect(), read: HashMap::new(), most_operations }
    }

    /// The same, with all dispatches read now, so that the texts need not be kept.
    pub fn read(texts: &[Option<String>], most_operations: u64) -> Opinions<'static> {
        let mut read = HashMap::new();
        for (index, text) in texts.iter().enumerate() {
            let Some(module) = text.as_deref().map(Module::new) else { continue };
            for name in module.names() {
                read.insert((index, (*name).to_owned()), read_in(&module, name));
            }
        }
        Opinions { modules: Vec::new(), read, most_operations }
    }

    /// Takes what a dispatch reads. The program stands before it.
    pub fn question(
        &mut self,
        program: &Program,
        dispatch: &StandingDispatch,
    ) -> Result<OpinionQuestion, NoOpinion> {
        let is_tiled = dispatch.tiled.as_ref().is_some_and(|all| !all.is_empty());
        if is_tiled && dispatch.all_operands().all(|it| it.tensor.is_some()) {
            // Only the text that code was made of says how tiles lie.
            return of_sources(program, dispatch, self.most_operations);
        }
        if let Some(reason) = &dispatch.missing {
            return Err(NoOpinion::new(reason.clone()));
        }
        match self.of_flow(program, dispatch) {
            Err(refused) if refused.is_unmatched => {
                of_sources(program, dispatch, self.most_operations).map_err(|other| {
                    let reason = format!("{}; {}", refused.reason, other.reason);
                    NoOpinion { reason, ..other }
                })
            }
            question => question,
        }
    }

    /// By its flow text.
    fn of_flow(
        &mut self,
        program: &Program,
        dispatch: &StandingDispatch,
    ) -> Result<OpinionQuestion, NoOpinion> {
        let arguments = program.dispatch_arguments(&dispatch.export, &dispatch.constants);
        let arguments =
            arguments.ok_or_else(|| NoOpinion::unmatched("its flow text is unknown"))?;
        let modules = &self.modules;
        let key = (arguments.text, dispatch.export.clone());
        let read = self.read.entry(key).or_insert_with(|| {
            let module = modules.get(arguments.text).and_then(Option::as_ref);
            let module = module.ok_or_else(|| NoOpinion::unmatched("its flow text is not kept"))?;
            read_in(module, &dispatch.export)
        });
        let read = read.as_ref().map_err(Clone::clone)?;
        let in_place = read.parameters().iter().position(|it| it.role == Role::InOut);
        let Taken { given, argument_operands, operands } =
            taken(read, &arguments, dispatch, self.most_operations)?;
        Ok(OpinionQuestion {
            dispatch: Arc::clone(read),
            arguments: given,
            argument_operands,
            operands: Operands::OfParameters(operands),
            tiled: HashMap::new(),
            in_place,
        })
    }

    /// The same after the dispatch has run, if it has left all that it reads as it was.
    pub(crate) fn question_after(
        &mut self,
        program: &Program,
        dispatch: &StandingDispatch,
    ) -> Result<OpinionQuestion, NoOpinion> {
        let question = self.question(program, dispatch)?;
        match question.in_place {
            None => Ok(question),
            Some(at) => {
                Err(NoOpinion::new(format!("it overwrites its argument %arg{at}, which it reads")))
            }
        }
    }

    /// What a dispatch should leave, by its operands.
    pub fn answer(&self, question: &OpinionQuestion) -> Result<Vec<(usize, Output)>, NoOpinion> {
        self.answered(question, true)
    }

    /// The same without bounds, which takes less time. Where a step is near, there is a value, too.
    pub fn values(&self, question: &OpinionQuestion) -> Result<Vec<(usize, Output)>, NoOpinion> {
        self.answered(question, false)
    }

    fn answered(
        &self,
        question: &OpinionQuestion,
        with_bounds: bool,
    ) -> Result<Vec<(usize, Output)>, NoOpinion> {
        let settings = reference::Settings { with_bounds, most_operations: self.most_operations };
        let outputs = question.dispatch.evaluate(&question.arguments, &settings);
        let outputs = outputs.map_err(|it| NoOpinion::of(&it, question.text_name()))?;
        let operand = |index: usize, output: &Output| match &question.operands {
            Operands::OfParameters(operands) => *operands.get(output.parameter?)?,
            Operands::OfResults(operands) => operands.get(index).copied(),
        };
        let placed = outputs.into_iter().enumerate();
        let placed = placed.filter_map(|(index, it)| {
            let operand = operand(index, &it)?;
            match question.tiled.get(&operand) {
                Some(tiled) => Some((operand, tiles::packed(&it, tiled)?)),
                None => Some((operand, it)),
            }
        });
        Ok(placed.collect())
    }
}

fn read_in(module: &Module<'_>, export: &str) -> Result<Arc<Dispatch>, NoOpinion> {
    let read = module.dispatch(export);
    read.map(Arc::new).map_err(|refusal| NoOpinion::of(&refusal, "its flow text"))
}

impl OpinionQuestion {
    /// Whether it asks by the text that code was made of.
    pub fn is_of_sources(&self) -> bool {
        matches!(self.operands, Operands::OfResults(_))
    }

    /// Whether both read the same.
    pub fn reads_the_same(&self, other: &Self) -> bool {
        self.arguments == other.arguments
    }

    /// Whether both have the same answer.
    pub fn is_same(&self, other: &Self) -> bool {
        let is_one = Arc::ptr_eq(&self.dispatch, &other.dispatch);
        let is_same =
            (is_one || self.dispatch == other.dispatch) && self.operands == other.operands;
        is_same && self.reads_the_same(other)
    }

    /// How many bytes the copies take of what it reads.
    pub fn length(&self) -> usize {
        let of = |argument: &Argument| match argument {
            Argument::Tensor(tensor)
            | Argument::Uncertain(tensor, _)
            | Argument::Unrounded(tensor, _) => tensor.bytes.len(),
            Argument::Computed(_) | Argument::Integer(_) | Argument::Float(_) => 0,
        };
        self.arguments.iter().map(of).sum()
    }

    /// Says how far each element of an operand may be away that it reads.
    pub fn set_bounds(&mut self, operand: usize, bounds: &[f64]) {
        let bounds = self.in_order(operand, bounds);
        self.replace(operand, |tensor| Argument::Uncertain(tensor, bounds.clone()));
    }

    /// Says what an operand of floats was before it was rounded to its type.
    pub fn set_unrounded(&mut self, operand: usize, values: &[f64]) {
        let values = self.in_order(operand, values);
        self.replace(operand, |tensor| Argument::Unrounded(tensor, values.clone()));
    }

    /// What is said of an operand as it lies, for its elements in their own order.
    fn in_order(&self, operand: usize, numbers: &[f64]) -> Vec<f64> {
        let tiled = self.tiled.get(&operand);
        let in_order = tiled.and_then(|tiled| tiles::unpacked_numbers(numbers, tiled));
        in_order.unwrap_or_else(|| numbers.to_vec())
    }

    fn replace(&mut self, operand: usize, argument: impl Fn(Tensor) -> Argument) {
        for (it, of) in self.arguments.iter_mut().zip(&self.argument_operands) {
            if *of == Some(operand)
                && let Argument::Tensor(tensor) = it
            {
                *it = argument(tensor.clone());
            }
        }
    }

    fn text_name(&self) -> &'static str {
        if self.is_of_sources() { SOURCES } else { "its flow text" }
    }
}

const SOURCES: &str = "the text that its code was made of";

/// By the text that code was made of, as a function over tensors.
fn of_sources(
    program: &Program,
    dispatch: &StandingDispatch,
    most_operations: u64,
) -> Result<OpinionQuestion, NoOpinion> {
    let text = program.dispatch_text(&dispatch.export);
    let sources = text.ok_or_else(|| NoOpinion::new("its source is not kept"))?.sources;
    let function = DispatchFunction::of_values(sources, &dispatch.export, &dispatch.constants);
    let function = function.map_err(|why| NoOpinion::new(why.to_string()))?;
    let (mut heads, mut given, mut cost) = (Vec::new(), Vec::new(), 0);
    let mut argument_operands = Vec::new();
    let mut in_place = None;
    for argument in &function.arguments {
        let ArgumentOrigin::Operand(index) = argument.origin else {
            return Err(NoOpinion::new("a number of its call is not known"));
        };
        let lost = || NoOpinion::new(format!("operand[{index}] is not in its memory"));
        let operand = dispatch.all_operands().nth(index).ok_or_else(lost)?;
        let tensor = operand.tensor.as_ref().ok_or_else(lost)?;
        in_place = in_place.or(operand.is_written.then_some(given.len()));
        let copy = copied(tensor, &mut cost, most_operations)?;
        given.push(match (copy, dispatch.tiles(index)) {
            (Argument::Tensor(tensor), Some(it)) => {
                let whole = tiles::unpacked(&tensor, &it.tiled);
                Argument::Tensor(whole.ok_or_else(|| NoOpinion::new("elements in parts of bytes"))?)
            }
            (copy, _) => copy,
        });
        argument_operands.push(Some(index));
        heads.push(format!("%{}: {}", argument.name, argument.written_type));
    }
    let types: Vec<&str> = function.results.iter().map(|it| it.written_type.as_str()).collect();
    let values: Vec<&str> = function.results.iter().map(|it| it.value.as_str()).collect();
    let (types, values) = (types.join(", "), values.join(", "));
    let mut written =
        format!("func.func @{}({}) -> ({types}) {{\n", function.name, heads.join(", "));
    for line in function.before.iter().chain(&function.body) {
        written.push_str(line);
        written.push('\n');
    }
    written.push_str(&format!("return {values} : {types}\n}}\n"));
    let read = Dispatch::parse(&function.module_text(&written), &function.name);
    Ok(OpinionQuestion {
        dispatch: Arc::new(read.map_err(|refusal| NoOpinion::of(&refusal, SOURCES))?),
        arguments: given,
        argument_operands,
        operands: Operands::OfResults(function.results.iter().map(|it| it.operand).collect()),
        tiled: (0..dispatch.all_operands().count())
            .filter_map(|index| Some((index, dispatch.tiles(index)?.tiled.clone())))
            .collect(),
        in_place,
    })
}

/// A tensor as it is now, unless that is too much.
fn copied(
    tensor: &TensorView,
    cost: &mut u64,
    most_operations: u64,
) -> Result<Argument, NoOpinion> {
    *cost = cost.saturating_add((tensor.count() as u64).saturating_mul(COST_OF_ELEMENT));
    if *cost > most_operations {
        let allowed = format!("{cost} scalar operations, and {most_operations} are allowed");
        let reason = format!("reading its tensors needs as much as {allowed}");
        return Err(NoOpinion { is_limit: true, ..NoOpinion::new(reason) });
    }
    let tensor = tensor.tensor();
    tensor
        .map(Argument::Tensor)
        .ok_or_else(|| NoOpinion::new("the elements of a tensor that it reads do not lie together"))
}

/// What a dispatch reads.
struct Taken {
    given: Vec<Argument>,
    /// For each argument, the operand that it is; a number is none.
    argument_operands: Vec<Option<usize>>,
    /// For each parameter, the operand that it is.
    operands: Vec<Option<usize>>,
}

/// The arguments of a dispatch, by its parameters.
fn taken(
    read: &Dispatch,
    arguments: &DispatchArguments,
    dispatch: &StandingDispatch,
    most_operations: u64,
) -> Result<Taken, NoOpinion> {
    let parameters = read.parameters();
    let operand_of = |parameter: usize| {
        let mut known = arguments.operands.iter();
        known.position(|argument| *argument == Some(parameter))
    };
    let operands: Vec<Option<usize>> = (0..parameters.len()).map(operand_of).collect();
    let tensor_of = |parameter: usize| {
        let operand = dispatch.operands.get(operands.get(parameter).copied().flatten()?)?;
        operand.tensor.as_ref()
    };
    let mut cost = 0_u64;
    let (mut given, mut argument_operands) = (Vec::new(), Vec::new());
    for (at, parameter) in parameters.iter().enumerate() {
        if parameter.role == Role::Scalar {
            let sources = read.known_from(at);
            let mut numbers = sources.iter().filter_map(|known| match known {
                Known::Workload(ordinal) => arguments.workload.get(ordinal).copied(),
                Known::Size { parameter, axis } => {
                    tensor_of(*parameter)?.shape().get(*axis).copied()
                }
            });
            let number = numbers.next().ok_or_else(|| {
                NoOpinion::unmatched(format!("which number its argument %arg{at} is is not known"))
            })?;
            if numbers.any(|other| other != number) {
                let reason = format!("its argument %arg{at} should be several numbers");
                return Err(NoOpinion::unmatched(reason));
            }
            given.push(Argument::Integer(number.cast_signed()));
            argument_operands.push(None);
            continue;
        }
        let tensor = tensor_of(at).ok_or_else(|| {
            NoOpinion::unmatched(format!("which tensor its argument %arg{at} is is not known"))
        })?;
        if parameter.role == Role::Output {
            continue;
        }
        given.push(copied(tensor, &mut cost, most_operations)?);
        argument_operands.push(operands[at]);
    }
    Ok(Taken { given, argument_operands, operands })
}
