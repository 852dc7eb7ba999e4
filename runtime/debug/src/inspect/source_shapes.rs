//! The sizes of the tensors of the source, also where it leaves them open: what the function was
//! given says them. Tensors in memory may have lost the form that the source gives them (the
//! compiler collapses dimensions), and get it back by this.
//!
//! Shapes need no elements: the operations are walked once, in their order, and of all that they
//! define only single numbers are evaluated, of which sizes are computed.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use abi::tensor::Tensor;
use debuginfo::{SourceStep, SourceSteps, SourceTensor, StepOrigin, StepValueId};
use mlir::TensorType;
use reference::{Elements, Output};

use super::given::{Given, given};
use super::source_evaluation::{Known, Leaves, NotRecomputed, SourceEvaluation};
use super::tensors::Stand;
use crate::machine::Machine;
use crate::target::module::LoadedModule;

/// The most elements of a tensor of which sizes may be computed.
const MOST_ELEMENTS: u64 = 16;

/// The most scalar operations that are evaluated for all sizes.
const MOST_OPERATIONS: u64 = 10_000_000;

/// What is known of sizes.
#[derive(Default, Debug)]
pub(super) struct SourceShapes {
    /// A number has no size.
    shapes: HashMap<StepValueId, Vec<u64>>,
    numbers: HashMap<StepValueId, Arc<Output>>,
}

impl SourceShapes {
    /// Goes through all operations.
    fn of(steps: &Arc<SourceSteps>, leaves: &dyn Leaves) -> Self {
        let evaluation = SourceEvaluation::new(Arc::clone(steps), MOST_OPERATIONS);
        let arguments = (0..).map(StepValueId).map_while(|id| match steps.origin(id) {
            Some(StepOrigin::Argument(index)) => Some((id, index)),
            _ => None,
        });
        let mut walk = Walk { evaluation, shapes: HashMap::new() };
        for (id, index) in arguments {
            match leaves.given(index) {
                Some(Given::Sizes(sizes)) => {
                    walk.shapes.insert(id, sizes);
                }
                Some(_) => {
                    let number = leaves.number(steps, id);
                    walk.evaluation.known.extend(number.map(|it| (id, Ok(it))));
                }
                None => {}
            }
        }
        for step in (0..).map_while(|index| steps.step(index)) {
            walk.shapes_of(step, leaves);
        }
        let numbers = walk.evaluation.known.into_iter().filter_map(|(id, known)| match known {
            Ok(Known::Computed(output)) => Some((id, output)),
            _ => None,
        });
        Self { shapes: walk.shapes, numbers: numbers.collect() }
    }
}

/// The shapes of a function that was given certain arguments.
struct ShapesOfCall {
    function: usize,
    arguments: Vec<Option<Given>>,
    shapes: Arc<SourceShapes>,
}

/// What the program was called with.
struct CalledWith<'s> {
    machine: &'s Machine,
    stand: &'s Stand<'s>,
}

impl Leaves for CalledWith<'_> {
    fn there(&mut self, _: &SourceSteps, _: StepValueId) -> Option<Result<Known, NotRecomputed>> {
        None
    }

    fn constant(&self, _: &str) -> Option<Vec<u8>> {
        None
    }

    fn given(&self, argument: usize) -> Option<Given> {
        given(self.machine, self.stand, argument)
    }
}

impl Machine {
    /// The type of a tensor of the source with all its sizes, where the source leaves some open.
    pub(super) fn closed_type(&self, stand: &Stand<'_>, tensor: &SourceTensor) -> Option<String> {
        let module = self.module_of(stand)?;
        let steps = module.source_steps(stand.function)?;
        let (calls, is_in_call) = (&tensor.calls, !tensor.calls.is_empty());
        let at = (tensor.at.line, tensor.at.column);
        let id = steps.named(&tensor.name, calls, is_in_call, Some(at)).ok()??;
        let shapes = self.shapes_of_call(stand, module, &steps);
        let shape = shapes.shapes.get(&id)?;
        let declared = TensorType::parse_shaped(&tensor.tensor_type)?;
        let sizes = shape.iter().map(|it| format!("{it}x")).collect::<String>();
        // The element keeps its sign, which types of MLIR's values do not have.
        let (_, element) = tensor.tensor_type.rsplit_once('x')?;
        accepts(&declared, shape).then(|| sizes + element)
    }

    fn shapes_of_call(
        &self,
        stand: &Stand<'_>,
        module: &LoadedModule,
        steps: &Arc<SourceSteps>,
    ) -> Arc<SourceShapes> {
        let leaves = CalledWith { machine: self, stand };
        let arguments = (0..self.program.arguments().len()).map(|it| leaves.given(it));
        let (function, arguments): (_, Vec<_>) = (stand.function, arguments.collect());
        let mut last = module.shapes.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = last.as_ref().and_then(|it| it.downcast_ref::<ShapesOfCall>());
        if let Some(kept) = kept
            && kept.function == function
            && kept.arguments == arguments
        {
            return Arc::clone(&kept.shapes);
        }
        let shapes = Arc::new(SourceShapes::of(steps, &leaves));
        *last = Some(Box::new(ShapesOfCall { function, arguments, shapes: Arc::clone(&shapes) }));
        shapes
    }
}

/// A walk over the operations.
struct Walk {
    evaluation: SourceEvaluation,
    shapes: HashMap<StepValueId, Vec<u64>>,
}

impl SourceEvaluation {
    /// The shape of a value that an operation defines; a number has none.
    pub(super) fn shape(&mut self, id: StepValueId, leaves: &dyn Leaves) -> Option<Vec<u64>> {
        if self.shapes.is_none() {
            let shapes = SourceShapes::of(&self.steps, leaves);
            for (id, number) in &shapes.numbers {
                let number = || Ok(Known::Computed(Arc::clone(number)));
                self.known.entry(*id).or_insert_with(number);
            }
            self.shapes = Some(shapes);
        }
        self.shapes.as_ref()?.shapes.get(&id).cloned()
    }

    /// What is in memory for a value, in the shape that the source gives that.
    pub(super) fn in_own_shape(
        &mut self,
        id: StepValueId,
        known: Known,
        leaves: &dyn Leaves,
    ) -> Known {
        let Known::Memory(tensor, origin) = known else { return known };
        let declared = self.steps.type_text(id).and_then(TensorType::parse);
        match declared.as_ref().and_then(closed).or_else(|| self.shape(id, leaves)) {
            Some(shape) if count(&shape) == count(&tensor.shape) => {
                Known::Memory(Tensor { shape, ..tensor }, origin)
            }
            _ => Known::Memory(tensor, origin),
        }
    }
}

impl Walk {
    /// Learns what an operation says of sizes.
    fn shapes_of(&mut self, step: &SourceStep, leaves: &dyn Leaves) {
        for (index, result) in step.results.iter().enumerate() {
            let Some(declared) = result.type_text.as_deref() else { continue };
            let shape = match TensorType::parse(declared) {
                Some(tensor) => closed(&tensor).or_else(|| self.open_sizes(step, index, &tensor)),
                None => is_number(declared).then(Vec::new),
            };
            if let Some(shape) = shape {
                self.shapes.insert(result.value, shape);
            }
        }
        self.numbers_of(step, leaves);
    }

    /// The shape of a result that has open sizes.
    fn open_sizes(
        &self,
        step: &SourceStep,
        index: usize,
        declared: &TensorType,
    ) -> Option<Vec<u64>> {
        let text = step.text.as_str();
        let (_, after) = text.split_once(step.operation.as_str())?;
        match step.operation.as_str() {
            "tensor.empty" => self.filled(step, declared, between(after, "(", ")")?),
            "hal.tensor.import" => self.filled(step, declared, between(after, "{", "}")?),
            "tensor.expand_shape" => {
                let (_, sizes) = after.split_once("output_shape")?;
                self.listed(step, between(sizes, "[", "]")?)
            }
            "tensor.collapse_shape" => {
                let source = self.shape_of_operand(step, 0)?;
                let groups = after.split_once("[[")?.1.split_once("]]")?.0;
                let groups = groups.split("], [").map(|group| {
                    group.split(", ").try_fold(1_u64, |product, axis| {
                        product.checked_mul(*source.get(axis.parse::<usize>().ok()?)?)
                    })
                });
                groups.collect()
            }
            "tensor.extract_slice" => {
                self.listed(step, after.split_once("] [")?.1.split_once(']')?.0)
            }
            "tensor.pad" => {
                let (low, high) = (after.split_once("low")?.1, after.split_once("high")?.1);
                let low = self.listed(step, between(low, "[", "]")?)?;
                let high = self.listed(step, between(high, "[", "]")?)?;
                let own = self.shape_of_operand(step, 0)?;
                let all = own.iter().zip(low.iter().zip(&high));
                let all = all.map(|(own, (low, high))| own.checked_add(*low)?.checked_add(*high));
                all.collect()
            }
            "tensor.cast" => self.shape_of_operand(step, 0),
            operation if operation.starts_with("linalg.") => {
                let destinations = text.split_once(" outs(")?.1.split_once(" :")?.0;
                self.shape_named(step, destinations.split(", ").nth(index)?)
            }
            _ => None,
        }
        .filter(|found| accepts(declared, found))
    }

    /// The declared sizes, with a list of values for those that are open.
    fn filled(&self, step: &SourceStep, declared: &TensorType, list: &str) -> Option<Vec<u64>> {
        let mut open = self.listed(step, list)?.into_iter();
        let sizes = declared.dimensions.iter().map(|size| match size {
            Some(size) => u64::try_from(*size).ok(),
            None => open.next(),
        });
        let sizes: Option<Vec<u64>> = sizes.collect();
        sizes.filter(|_| open.next().is_none())
    }

    /// A list of numbers and of values: `1, %dim, 3`.
    fn listed(&self, step: &SourceStep, list: &str) -> Option<Vec<u64>> {
        let parts = list.split(',').map(str::trim).filter(|it| !it.is_empty());
        let sizes = parts.map(|part| match part.starts_with('%') {
            true => self.integer_named(step, part),
            false => part.parse().ok(),
        });
        sizes.collect()
    }

    fn shape_of_operand(&self, step: &SourceStep, operand: usize) -> Option<Vec<u64>> {
        self.shape_of_value(step.operands.get(operand)?.value)
    }

    fn shape_named(&self, step: &SourceStep, name: &str) -> Option<Vec<u64>> {
        self.shape_of_value(step.operands.iter().find(|it| it.name == name)?.value)
    }

    /// The shape of a value that is known already.
    fn shape_of_value(&self, value: StepValueId) -> Option<Vec<u64>> {
        self.shapes.get(&value).cloned()
    }

    fn integer_named(&self, step: &SourceStep, name: &str) -> Option<u64> {
        let value = step.operands.iter().find(|it| it.name == name)?.value;
        u64::try_from(self.integer(value)?).ok()
    }

    fn integer(&self, value: StepValueId) -> Option<i64> {
        let Ok(Known::Computed(output)) = self.evaluation.known.get(&value)? else { return None };
        match &output.values {
            Elements::Integers(values) => values.first().copied().filter(|_| values.len() == 1),
            _ => None,
        }
    }

    /// Evaluates an operation that computes numbers of numbers.
    fn numbers_of(&mut self, step: &SourceStep, leaves: &dyn Leaves) {
        if step.results.is_empty()
            || step.results.iter().any(|it| self.evaluation.known.contains_key(&it.value))
        {
            return;
        }
        if step.operation == "tensor.dim" {
            if let Some(size) = self.dimension(step) {
                self.know(step, vec![Arc::new(size)]);
            }
            return;
        }
        let is_small = |declared: &Option<String>| declared.as_deref().is_some_and(is_small);
        let is_known =
            |value: StepValueId| matches!(self.evaluation.known.get(&value), Some(Ok(_)));
        let are_small = step.results.iter().all(|it| is_small(&it.type_text));
        let is_size = step.operation == "hal.buffer_view.dim";
        if are_small
            && (is_size || step.operands.iter().all(|it| is_known(it.value)))
            && let Ok(outputs) = self.evaluation.evaluate(step, leaves)
        {
            self.know(step, outputs);
        }
    }

    fn know(&mut self, step: &SourceStep, outputs: Vec<Arc<Output>>) {
        let results = step.results.iter().zip(outputs);
        self.evaluation
            .known
            .extend(results.map(|(result, it)| (result.value, Ok(Known::Computed(it)))));
    }

    /// `tensor.dim %0, %c1 : tensor<?x?xf32>`
    fn dimension(&self, step: &SourceStep) -> Option<Output> {
        let (tensor, axis) =
            step.text.split_once("tensor.dim ")?.1.split_once(" :")?.0.split_once(", ")?;
        let axis = usize::try_from(self.integer_named(step, axis)?).ok()?;
        let size = *self.shape_named(step, tensor)?.get(axis)?;
        integer(i64::try_from(size).ok()?)
    }
}

/// A size.
pub(super) fn integer(value: i64) -> Option<Output> {
    Some(Output::integer(value, "i64".parse().ok()?))
}

/// How many elements a shape has.
pub(super) fn count(shape: &[u64]) -> Option<u64> {
    shape.iter().try_fold(1_u64, |count, it| count.checked_mul(*it))
}

fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    Some(text.split_once(open)?.1.split_once(close)?.0)
}

/// Sizes are integers, and some are computed of floats: rounded quotients.
fn is_number(declared: &str) -> bool {
    let width = declared.strip_prefix(['i', 'f']).map(str::parse::<u32>);
    declared == "index" || matches!(width, Some(Ok(_)))
}

/// Whether a type is that of a number, or of a few, of which sizes may be computed.
fn is_small(declared: &str) -> bool {
    let few = || {
        let tensor = TensorType::parse(declared)?;
        let is_of_numbers = is_number(&tensor.element.to_string());
        Some(is_of_numbers && count(&closed(&tensor)?)? <= MOST_ELEMENTS)
    };
    is_number(declared) || few() == Some(true)
}

/// The shape of a type that leaves no size open.
fn closed(tensor: &TensorType) -> Option<Vec<u64>> {
    tensor.dimensions.iter().map(|it| u64::try_from((*it)?).ok()).collect()
}

/// Whether a type accepts a shape.
fn accepts(tensor: &TensorType, shape: &[u64]) -> bool {
    let shape: Option<Vec<usize>> = shape.iter().map(|it| usize::try_from(*it).ok()).collect();
    shape.is_some_and(|shape| tensor.accepts(&shape))
}
