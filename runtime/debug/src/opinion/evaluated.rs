//! What a tensor should be: the dispatch that has left it, evaluated again by its text.

use std::sync::Arc;

use abi::element_type::{ElementType, NumericalKind};
use hal::CommandRecord;
use reference::{Output, OutputError};
use vm::Buffer;

use super::past::NoWriter;
use super::question::{MOST_OPERATIONS, NoOpinion, Opinions};
use crate::inspect::standing_dispatch::StandingDispatch;
use crate::machine::Machine;
use crate::tensor::{Comparison, Number, TensorView, ViewError};

/// What a tensor should be.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The dispatch that has left the tensor.
    pub dispatch: String,
    /// What it should have left, rounded to the type of the elements. Elements of which there is no
    /// opinion are those that it has left.
    pub expected: TensorView,
    /// Of how many elements there is an opinion.
    pub known: usize,
    /// How many of these are farther from it than any correct implementation could be.
    pub beyond: usize,
    /// The first of them, by its number in order.
    pub first_beyond: Option<usize>,
    /// What the bound comes from: `sum over 128 products of f32`.
    pub reason: String,
}

/// Why it is not known what a tensor should be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotEvaluated {
    /// What has left it, or what that has read, is not there.
    #[error(transparent)]
    NoWriter(#[from] NoWriter),
    /// What its dispatch has read may be something else now.
    #[error("@{export}, which has left it: you have changed values since it ran")]
    ValuesChanged {
        /// The dispatch.
        export: String,
    },
    /// Its dispatch is not evaluated.
    #[error("@{export}, which has left it: {reason}")]
    NoOpinion {
        /// The dispatch.
        export: String,
        /// Why not.
        reason: NoOpinion,
    },
    /// It reaches beyond what its dispatch leaves.
    #[error("it is not inside of one of the tensors that @{export} leaves")]
    OutsideOutputs {
        /// The dispatch.
        export: String,
    },
    /// The text of its dispatch leaves the operand out.
    #[error("the text of @{export} does not say what operand[{operand}] is")]
    NotSaid {
        /// The dispatch.
        export: String,
        /// The number of the operand.
        operand: usize,
    },
    /// It has other elements than what its dispatch leaves in its memory.
    #[error("{own} is not a part of {whole}, which @{export} leaves")]
    NoPart {
        /// Its type.
        own: String,
        /// The type of what the dispatch leaves.
        whole: String,
        /// The dispatch.
        export: String,
    },
    /// What was computed has another type than what was left.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// One of both cannot be read.
    #[error(transparent)]
    View(#[from] ViewError),
}

/// The last dispatch that was evaluated, as views ask again and again.
#[derive(Default)]
pub(crate) struct Evaluations {
    last: Option<Last>,
}

struct Last {
    record: Arc<CommandRecord>,
    /// How many commands had run.
    total: u64,
    answer: Result<Answer, NotEvaluated>,
}

/// What a dispatch should have left.
pub(crate) struct Answer {
    dispatch: StandingDispatch,
    /// By operand.
    outputs: Vec<(usize, Result<Opinion, NotEvaluated>)>,
}

/// What one of its tensors should be.
struct Opinion {
    expected: Arc<Buffer>,
    /// A [`Verdict`] for each element.
    verdicts: Arc<Buffer>,
    reason: String,
}

/// What there is of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Unknown,
    Within,
    Beyond,
}

impl Evaluations {
    /// The user has changed values: what dispatches have read may be something else now.
    pub(crate) fn values_changed(&mut self) {
        self.last = None;
    }

    /// What a tensor should be.
    ///
    /// # Errors
    /// No dispatch has left it, what that has read is no longer there, or it is not evaluated.
    pub(crate) fn of(
        &mut self,
        machine: &Machine,
        tensor: &TensorView,
    ) -> Result<Evaluated, NotEvaluated> {
        let total = total(machine);
        let record = machine.last_writer(tensor)?;
        let is_known = |it: &Last| {
            Arc::ptr_eq(&it.record, &record) && (it.answer.is_ok() || it.total == total)
        };
        let last = match self.last.take().filter(is_known) {
            Some(last) => last,
            None => {
                let answer = self.evaluate(machine, &record);
                Last { record, total, answer }
            }
        };
        let last = self.last.insert(last);
        last.answer.as_ref().map_err(Clone::clone)?.of(tensor)
    }

    fn evaluate(&self, machine: &Machine, record: &CommandRecord) -> Result<Answer, NotEvaluated> {
        let dispatch = machine.with_inputs(record)?;
        if machine.changed_at().is_some_and(|changed_at| record.number <= changed_at) {
            return Err(NotEvaluated::ValuesChanged { export: dispatch.export });
        }
        let texts = machine.program.flow_texts();
        let mut opinions = Opinions::new(&texts, MOST_OPERATIONS);
        let question = opinions.question_after(&machine.program, &dispatch);
        let outputs = question.and_then(|question| opinions.answer(&question));
        match outputs {
            Ok(outputs) => Ok(Answer::new(dispatch, &outputs)),
            Err(reason) => Err(NotEvaluated::NoOpinion { export: dispatch.export, reason }),
        }
    }
}

fn total(machine: &Machine) -> u64 {
    machine.program.host().device().history().total()
}

impl Opinion {
    /// An output, and how far it is from what was left.
    fn of(output: &Output, left: &TensorView) -> Result<Self, NotEvaluated> {
        let expected = expected_tensor(output, left)?;
        let verdicts = verdicts(output, left, &expected)?;
        let codes: Vec<u8> = verdicts.iter().map(|it| *it as u8).collect();
        let (expected, _) = expected.memory_from();
        let (expected, reason) = (Arc::clone(expected), output.reason.clone());
        Ok(Self { expected, verdicts: memory(&codes)?, reason })
    }
}

impl Answer {
    /// The outputs of a dispatch that has just run, or whose tensors are as it has left them.
    pub(crate) fn new(dispatch: StandingDispatch, outputs: &[(usize, Output)]) -> Self {
        let opinions = outputs.iter().filter_map(|(index, output)| {
            let left = dispatch.operands.get(*index)?.tensor.as_ref()?;
            Some((*index, Opinion::of(output, left)))
        });
        let outputs = opinions.collect();
        Self { dispatch, outputs }
    }

    /// What a tensor should be that the dispatch has left, or a part of one.
    pub(crate) fn of(&self, tensor: &TensorView) -> Result<Evaluated, NotEvaluated> {
        let export = &self.dispatch.export;
        let own = tensor.addresses();
        let written = self.dispatch.operands.iter().enumerate().filter(|(_, it)| it.is_written);
        let mut wholes = written.filter_map(|(index, it)| Some((index, it.tensor.as_ref()?)));
        let whole = wholes.find(|(_, whole)| {
            let all = whole.addresses();
            all.start <= own.start && own.end <= all.end
        });
        let (index, whole) =
            whole.ok_or_else(|| NotEvaluated::OutsideOutputs { export: export.clone() })?;
        let opinion = self.outputs.iter().find(|(operand, _)| *operand == index);
        let (_, opinion) = opinion
            .ok_or_else(|| NotEvaluated::NotSaid { export: export.clone(), operand: index })?;
        let Opinion { expected, verdicts, reason } = opinion.as_ref().map_err(Clone::clone)?;
        let types = [tensor, whole].map(|it| it.tensor_type().element_type);
        let is_same = types[0] == types[1] || tensor.is_of_integers() && whole.is_of_integers();
        let counterpart = |buffer: &Arc<Buffer>, element_type| {
            let buffer = Some(Arc::clone(buffer)).filter(|_| is_same);
            let found = buffer.and_then(|it| tensor.counterpart(whole, it, element_type));
            found.ok_or_else(|| {
                let (own, whole) = (tensor.type_name(), whole.type_name());
                NotEvaluated::NoPart { own, whole, export: export.clone() }
            })
        };
        let expected = counterpart(expected, tensor.tensor_type().element_type)?;
        let byte = ElementType { kind: NumericalKind::UnsignedInteger, bits: 8 };
        let (mut known, mut beyond, mut first_beyond, mut at) = (0, 0, None, 0);
        counterpart(verdicts, byte)?.each(|code| {
            known += usize::from(code != Number::Integer(Verdict::Unknown as i128));
            if code == Number::Integer(Verdict::Beyond as i128) {
                beyond += 1;
                first_beyond = first_beyond.or(Some(at));
            }
            at += 1;
            true
        });
        let (dispatch, reason) = (export.clone(), reason.clone());
        Ok(Evaluated { dispatch, expected, known, beyond, first_beyond, reason })
    }
}

/// What a tensor should be, by an output of the dispatch that has left it. Elements of which there
/// is no opinion are as they were left.
///
/// # Errors
/// The output has another shape or type.
pub fn expected_tensor(output: &Output, left: &TensorView) -> Result<TensorView, NotEvaluated> {
    let tensor = left.tensor().ok_or(ViewError::Gaps)?;
    let expected = output.over(&tensor)?;
    Ok(TensorView::new(memory(&expected.bytes)?, left.tensor_type().clone())?)
}

fn memory(bytes: &[u8]) -> Result<Arc<Buffer>, ViewError> {
    Ok(Arc::new(Buffer::from_bytes(bytes)?))
}

/// What there is of each element that a dispatch has left.
fn verdicts(
    output: &Output,
    left: &TensorView,
    expected: &TensorView,
) -> Result<Vec<Verdict>, ViewError> {
    let of = |at| if output.has_opinion(at) { Verdict::Within } else { Verdict::Unknown };
    let mut verdicts: Vec<Verdict> = (0..left.count()).map(of).collect();
    Comparison::of(left.clone(), expected)?.each_different(|at, left, expected| {
        if !output.allows(at, left, expected)
            && let Some(verdict @ Verdict::Within) = verdicts.get_mut(at)
        {
            *verdict = Verdict::Beyond;
        }
    })?;
    Ok(verdicts)
}

#[cfg(test)]
mod tests {
    use abi::tensor::TensorType;
    use reference::Elements;

    use super::*;
    use crate::inspect::standing_dispatch::StandingOperand;

    /// A dispatch that should have left 0, 1, 2 … within a bound for each element, and what it has
    /// left.
    fn answer(left: &[f32], bounds: &[f64], written: &[bool]) -> (TensorView, Answer) {
        let bytes: Vec<u8> = left.iter().flat_map(|it| it.to_le_bytes()).collect();
        let tensor_type = TensorType::parse(&format!("2x{}xf32", left.len() / 2)).unwrap();
        let output = Output {
            parameter: Some(0),
            shape: vec![2, left.len() / 2],
            element_type: tensor_type.element_type,
            values: Elements::Floats((0..left.len()).map(|it| it as f64).collect()),
            bounds: bounds.to_vec(),
            written: written.to_vec(),
            reason: "a sum".to_owned(),
        };
        let tensor = TensorView::new(memory(&bytes).unwrap(), tensor_type).unwrap();
        let operand = StandingOperand {
            name: None,
            node: None,
            binding: 0,
            is_read: false,
            is_written: true,
            tensor_type: tensor.type_name(),
            tensor: Some(tensor.clone()),
        };
        let dispatch = StandingDispatch {
            export: "d".to_owned(),
            number: 1,
            index: None,
            node: None,
            source: None,
            constants: Vec::new(),
            operands: vec![operand],
            tiled: None,
            is_machine_code: false,
            missing: None,
        };
        let outputs = vec![(0, Opinion::of(&output, &tensor))];
        (tensor, Answer { dispatch, outputs })
    }

    #[test]
    fn elements_beyond_their_bounds_are_counted_in_the_whole_and_in_parts() {
        let nan = f32::NAN;
        // Within, exact, beyond, without a bound, not written, NaN, beyond by little, exact.
        let left = [0.25, 1.0, 2.5, 9.0, 9.0, nan, 6.25, 7.0];
        let bounds = [0.25, 0.0, 0.25, f64::INFINITY, 0.0, 1.0, 0.2, 0.0];
        let written = [true, true, true, true, false, true, true, true];
        let (tensor, answer) = answer(&left, &bounds, &written);
        let found = answer.of(&tensor).unwrap();
        assert_eq!((found.known, found.beyond, found.first_beyond), (6, 3, Some(2)));
        assert_eq!(found.expected.short(), "[0, 1, 2, 9, 9, 5, 6, 7]");
        let (part, _) = tensor.sliced("[1, ::2]").unwrap();
        let found = answer.of(&part).unwrap();
        assert_eq!((found.known, found.beyond, found.first_beyond), (1, 1, Some(1)));
        assert_eq!(found.expected.short(), "[9, 6]");
        let (part, _) = tensor.sliced("[0, :2]").unwrap();
        assert_eq!(answer.of(&part).unwrap().beyond, 0);
    }

    #[test]
    fn other_memory_and_other_types_are_refused() {
        let (tensor, answer) = answer(&[0.0, 1.0], &[0.0; 2], &[]);
        let (other, _) = self::answer(&[0.0, 1.0], &[0.0; 2], &[]);
        let outside = NotEvaluated::OutsideOutputs { export: "d".to_owned() };
        assert_eq!(answer.of(&other).unwrap_err(), outside);
        let (buffer, _) = tensor.memory_from();
        let bytes = TensorView::new(Arc::clone(buffer), TensorType::parse("8xui8").unwrap());
        let refused = answer.of(&bytes.unwrap()).unwrap_err();
        assert_eq!(refused.to_string(), "8xui8 is not a part of 2x1xf32, which @d leaves");
    }
}
