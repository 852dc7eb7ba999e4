//! The source, evaluated operation by operation from values that are there, in float64 with bounds
//! (the crate `reference`). Where those values are, its caller says: [`Leaves`].

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use abi::element_type::{ElementType, NumericalKind};
use abi::tensor::{Tensor, TensorType};
use debuginfo::{ElidedName, SourceStep, SourceSteps, StepOrigin, StepValueId};
use half::{bf16, f16};
use reference::{Argument, Dispatch, Elements, Output, RefusalKind, Settings};
use vm::Buffer;

use super::given::Given;
use super::source_shapes::{SourceShapes, count, integer};
use crate::target::cache::Answers;
use crate::tensor::{Origin, TensorView};

/// Why a tensor is not computed again.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum NotRecomputed {
    /// The operations of the source are not known.
    #[error("the debug file does not have the operations of the source")]
    NoSource,
    /// It depends on a tensor that is not there.
    #[error("{name}, which it is computed from, is {reason}")]
    Lost {
        /// The name.
        name: String,
        /// Why it is not there.
        reason: String,
    },
    /// It depends on a constant whose elements are not kept.
    #[error("the elements of a constant of line {line} are not kept")]
    Constant {
        /// The line of the operation that has it, or 0.
        line: u32,
    },
    /// An operation is not evaluated.
    #[error("`{operation}` of line {line} is not evaluated: {reason}")]
    Refused {
        /// The operation.
        operation: String,
        /// Its line in the source, or 0.
        line: u32,
        /// Why.
        reason: String,
    },
    /// It takes too long.
    #[error("more than {operations} scalar operations are needed")]
    TooLong {
        /// How many are allowed.
        operations: u64,
    },
    /// What elements of it are made of is not told.
    #[error("`{operation}` of line {line}: {reason}")]
    NotFollowed {
        /// The operation.
        operation: String,
        /// Its line.
        line: u32,
        /// Why not.
        reason: String,
    },
    /// Some elements have no bound.
    #[error("{count} of its {of} elements have no bound: {reason}")]
    Unbounded {
        /// How many.
        count: usize,
        /// Of how many.
        of: usize,
        /// Where the error comes from.
        reason: String,
    },
    /// The user has changed values that it may depend on.
    #[error("you have changed values since the program began")]
    ValuesChanged,
    /// The result is not a tensor that can be shown.
    #[error("its type is not shown")]
    Type,
}

/// A value that is known.
#[derive(Clone)]
pub(super) enum Known {
    /// In memory, now or then, or written in the source; and how it is marked.
    Memory(Tensor, Origin),
    Computed(Arc<Output>),
}

/// What need not be computed.
pub(super) trait Leaves {
    /// A value that is there; `None` if it has to be computed.
    fn there(
        &mut self,
        steps: &SourceSteps,
        id: StepValueId,
    ) -> Option<Result<Known, NotRecomputed>>;

    /// The bytes of a constant that the text leaves out, by its name.
    fn constant(&self, name: &str) -> Option<Vec<u8>>;

    /// What an argument is, beside the elements of a tensor.
    fn given(&self, argument: usize) -> Option<Given>;

    /// An argument that is a number.
    fn number(&self, steps: &SourceSteps, id: StepValueId) -> Option<Known> {
        let Some(StepOrigin::Argument(index)) = steps.origin(id) else { return None };
        self.given(index)?.number(steps.argument_type(index)?)
    }
}

/// What was computed so far.
pub(super) struct SourceEvaluation {
    pub(super) steps: Arc<SourceSteps>,
    pub(super) known: HashMap<StepValueId, Result<Known, NotRecomputed>>,
    /// The sizes of all that operations define, once they are asked for.
    pub(super) shapes: Option<SourceShapes>,
    allowed: u64,
    left: u64,
}

impl SourceEvaluation {
    /// One that may take so many scalar operations.
    pub(super) fn new(steps: Arc<SourceSteps>, allowed: u64) -> Self {
        Self { steps, known: HashMap::new(), shapes: None, allowed, left: allowed }
    }

    /// A value, computed from what is there.
    pub(super) fn settled(
        &mut self,
        id: StepValueId,
        leaves: &mut dyn Leaves,
    ) -> Result<Known, NotRecomputed> {
        let steps = Arc::clone(&self.steps);
        let mut pending = vec![id];
        while let Some(at) = pending.last().copied() {
            if self.known.contains_key(&at) {
                pending.pop();
                continue;
            }
            let number = leaves.number(&steps, at).map(Ok);
            if let Some(found) = number.or_else(|| leaves.there(&steps, at)) {
                let found = found.map(|it| self.in_own_shape(at, it, leaves));
                self.known.insert(at, found);
                continue;
            }
            let step = match steps.origin(at) {
                Some(StepOrigin::Step(step)) => steps.step(step),
                _ => None,
            };
            let Some(step) = step else {
                self.known.insert(at, Err(NotRecomputed::NoSource));
                continue;
            };
            if let Some(constant) = elided(step, leaves) {
                self.known.insert(at, constant);
                continue;
            }
            // The size of a tensor can be known where its elements are not.
            if step.operation == "tensor.dim" {
                self.shape(at, leaves);
                if self.known.contains_key(&at) {
                    continue;
                }
            }
            let missing = step.operands.iter().map(|it| it.value);
            let missing: Vec<_> = missing.filter(|it| !self.known.contains_key(it)).collect();
            if !missing.is_empty() {
                pending.extend(missing);
                continue;
            }
            match self.evaluate(step, leaves) {
                Ok(outputs) => {
                    let results = step.results.iter().zip(outputs);
                    let known = results.map(|(result, it)| (result.value, Ok(Known::Computed(it))));
                    self.known.extend(known);
                    self.known.entry(at).or_insert(Err(NotRecomputed::Type));
                }
                Err(why) => {
                    self.known.extend(step.results.iter().map(|it| (it.value, Err(why.clone()))));
                }
            }
        }
        self.known.get(&id).cloned().unwrap_or(Err(NotRecomputed::NoSource))
    }

    /// A value that is known from elsewhere: what follows is computed from it.
    pub(super) fn adopt(&mut self, id: StepValueId, tensor: Tensor) {
        self.known.insert(id, Ok(Known::memory(tensor)));
    }

    /// What an operation leaves.
    pub(super) fn evaluate(
        &mut self,
        step: &SourceStep,
        leaves: &dyn Leaves,
    ) -> Result<Vec<Arc<Output>>, NotRecomputed> {
        let line = step.line().unwrap_or_default();
        let refused = |reason: String| {
            let operation = step.operation.clone();
            NotRecomputed::Refused { operation, line, reason }
        };
        if step.operation == "hal.buffer_view.dim" {
            return self
                .size_of_argument(step, leaves)
                .ok_or_else(|| refused("not known".to_owned()));
        }
        let (mut types, mut arguments) = (Vec::new(), Vec::new());
        for operand in &step.operands {
            let known = self.known.get(&operand.value).cloned();
            let known = known.unwrap_or(Err(NotRecomputed::NoSource))?;
            let type_text = operand.type_text.clone().or_else(|| known.type_text());
            let type_text = type_text.ok_or_else(|| refused("a type is not known".to_owned()))?;
            arguments.push(match known {
                Known::Memory(tensor, _) => Argument::Tensor(in_type(tensor, &type_text)),
                Known::Computed(output) => Argument::Computed(output),
            });
            types.push(type_text);
        }
        let dispatch = function_of(&self.steps, step, &types)?;
        let settings = Settings { with_bounds: true, most_operations: self.left };
        let evaluated = dispatch.evaluate_counted(&arguments, &settings);
        let (outputs, took) = evaluated.map_err(|it| match it.kind {
            RefusalKind::Limit => NotRecomputed::TooLong { operations: self.allowed },
            _ => refused(it.reason),
        })?;
        self.left = self.left.saturating_sub(took);
        Ok(outputs.into_iter().map(Arc::new).collect())
    }

    /// `hal.buffer_view.dim<%arg0 : !hal.buffer_view>[1] : index`
    fn size_of_argument(&self, step: &SourceStep, leaves: &dyn Leaves) -> Option<Vec<Arc<Output>>> {
        let axis = step.text.rsplit_once('[')?.1.split_once(']')?.0.trim().parse::<usize>().ok()?;
        let origin = self.steps.origin(step.operands.first()?.value)?;
        let StepOrigin::Argument(index) = origin else { return None };
        let size = leaves.given(index)?.size(axis)?;
        Some(vec![Arc::new(integer(i64::try_from(size).ok()?)?)])
    }
}

/// An operation that was read, or why it is none.
type Read = Result<Arc<Dispatch>, NotRecomputed>;

/// Operations that have been read, by the text of their functions: names are asked for at each
/// stop, and the text of an operation is long beside what it computes. No program has more that are
/// asked for again and again.
static READ: LazyLock<Answers<String, Read, 4096>> = LazyLock::new(Answers::default);

/// The longest text that is kept, in bytes: more than this is a constant, which is asked for once.
const LONGEST_READ: usize = 4096;

/// An operation as a function over its operands, which have these types.
pub(super) fn function_of(steps: &SourceSteps, step: &SourceStep, types: &[String]) -> Read {
    let heads = step.operands.iter().zip(types).map(|(it, type_)| format!("{}: {type_}", it.name));
    let heads = heads.collect::<Vec<_>>().join(", ");
    let results: Vec<&str> = step.results.iter().map(|it| it.name.as_str()).collect();
    let (aliases, text, results) = (steps.aliases(step), &step.text, results.join(", "));
    let text = format!("{aliases}func.func @step({heads}) {{\n{text}\nreturn {results}\n}}\n");
    let read = || read(&text, step);
    if text.len() > LONGEST_READ { read() } else { READ.get(text.clone(), read) }
}

fn read(text: &str, step: &SourceStep) -> Read {
    let read = Dispatch::parse(text, "step").map_err(|it| {
        let reason = match it.operation.as_str() {
            "" => it.reason,
            operation => format!("`{operation}` {}", it.reason),
        };
        let (operation, line) = (step.operation.clone(), step.line().unwrap_or_default());
        NotRecomputed::Refused { operation, line, reason }
    });
    read.map(Arc::new)
}

/// The same bytes in the shape that an operation takes: what is in memory may be of another one.
pub(super) fn in_type(tensor: Tensor, type_text: &str) -> Tensor {
    let declared = type_text.strip_prefix("tensor<").and_then(|it| it.strip_suffix('>'));
    let declared = declared.and_then(|it| TensorType::parse(it).ok());
    match declared {
        Some(declared) if count(&declared.shape) == count(&tensor.shape) => {
            Tensor { shape: declared.shape, ..tensor }
        }
        _ => tensor,
    }
}

/// A constant that the text leaves out, as the source has it.
fn elided(step: &SourceStep, leaves: &dyn Leaves) -> Option<Result<Known, NotRecomputed>> {
    let is_elided = step.operation == "arith.constant" && step.text.contains("__elided__");
    let find = || {
        let name = ElidedName::in_text(&step.text)?;
        let (_, tensor_type) = step.text.split_once("> : tensor<")?;
        let (tensor_type, _) = tensor_type.split_once('>')?;
        debuginfo::tensor_of_bytes(tensor_type, |_| leaves.constant(name))
    };
    let missing = NotRecomputed::Constant { line: step.line().unwrap_or_default() };
    is_elided.then(|| find().map(Known::memory).ok_or(missing))
}

impl Known {
    /// A tensor that needs no mark.
    pub(super) fn memory(tensor: Tensor) -> Self {
        Self::Memory(tensor, Origin::Memory)
    }

    /// A tensor that is shown, if all of it is known.
    pub(super) fn of(view: &TensorView) -> Option<Self> {
        Some(Self::Memory(view.tensor()?, view.origin()))
    }

    /// The tensor, in a type that is declared for it if that fits; with a mark if it was computed.
    pub(super) fn view(self, declared: Option<&str>) -> Result<TensorView, NotRecomputed> {
        let (tensor, origin) = match self {
            Self::Memory(tensor, origin) => (tensor, origin),
            Self::Computed(output) => {
                let (tensor, bound) = rounded(&output)?;
                (tensor, Origin::Recomputed(bound))
            }
        };
        let own = tensor.tensor_type();
        let declared = declared.and_then(|it| TensorType::parse(it).ok());
        let shown = declared
            .filter(|it| it.shape == own.shape && it.element_type.bits == own.element_type.bits);
        let buffer = Buffer::from_bytes(&tensor.bytes).map_err(|_| NotRecomputed::Type)?;
        let view = TensorView::new(Arc::new(buffer), shown.unwrap_or(own));
        let view = view.map_err(|_| NotRecomputed::Type)?;
        Ok(view.coming_from(origin))
    }

    /// Its sizes.
    pub(super) fn shape(&self) -> Vec<usize> {
        match self {
            Self::Memory(tensor, _) => tensor.shape.iter().map(|it| *it as usize).collect(),
            Self::Computed(output) => output.shape.clone(),
        }
    }

    /// A type that the value has.
    pub(super) fn type_text(&self) -> Option<String> {
        let element = match self {
            Self::Memory(tensor, _) => tensor.element_type,
            Self::Computed(output) => output.element_type,
        };
        let sizes: String = self.shape().iter().map(|size| format!("{size}x")).collect();
        let element = element.to_string();
        let element = element.strip_prefix(['s', 'u']).unwrap_or(&element).to_owned();
        Some(format!("tensor<{sizes}{element}>"))
    }
}

/// The elements in their type, and the largest bound of any.
fn rounded(output: &Output) -> Result<(Tensor, f64), NotRecomputed> {
    let count = output.values.len();
    if output.unstable() > 0 {
        let (count, of, reason) = (output.unstable(), count, output.reason.clone());
        return Err(NotRecomputed::Unbounded { count, of, reason });
    }
    let shape = output.shape.iter().map(|it| *it as u64).collect();
    let element_type = output.element_type;
    let length = element_type.packed_byte_count(count).ok_or(NotRecomputed::Type)?;
    let empty = Tensor { shape, element_type, bytes: vec![0; length] };
    let tensor = output.over(&empty).map_err(|_| NotRecomputed::Type)?;
    Ok((tensor, output.largest_bound()))
}

/// The elements of a value, if they are floats, and its sizes.
pub(super) fn floats(known: &Known) -> Option<(Vec<f64>, Vec<usize>)> {
    match known {
        Known::Computed(output) => Some((computed_floats(output)?, output.shape.clone())),
        Known::Memory(tensor, _) => {
            let shape = tensor.shape.iter().map(|it| usize::try_from(*it).ok());
            let values = tensor.element_type.float_values(&tensor.bytes)?;
            Some((values, shape.collect::<Option<_>>()?))
        }
    }
}

/// The elements of what was computed, if they are floats, as their type keeps them.
pub(super) fn computed_floats(output: &Output) -> Option<Vec<f64>> {
    match &output.values {
        Elements::Floats(values) => {
            Some(values.iter().map(|it| in_precision(output.element_type, *it)).collect())
        }
        Elements::Integers(_) => None,
    }
}

/// A number of a type: what an implementation keeps of it.
pub(super) fn in_precision(element_type: ElementType, value: f64) -> f64 {
    match (element_type.kind, element_type.bits) {
        (NumericalKind::Float, 32) => f64::from(value as f32),
        (NumericalKind::Float, 16) => f16::from_f64(value).to_f64(),
        (NumericalKind::BrainFloat, 16) => bf16::from_f64(value).to_f64(),
        _ => value,
    }
}
