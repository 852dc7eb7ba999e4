//! A module against the third opinion: what each dispatch leaves, on the tensors that it reads,
//! lies within the bound of its own text in float64, or does not. This has nothing in common with
//! the compiler's back ends, so what is wrong in both of them is seen, too.

use std::collections::BTreeMap;

use debug::{LaunchOptions, NoOpinion, OpinionQuestion, Opinions, StandingDispatch};
use reference::Output;

use crate::errors::{CompareError, NotJudged};
use crate::finding::TensorFinding;
use crate::judged::Opinion;
use crate::report::{DispatchFinding, Mode, Report};
use crate::settings::{Progress, Settings};
use crate::side::{Side, Stand, Stops, names};

/// Compares what each dispatch leaves with its text, evaluated in float64. A dispatch of more than
/// `most_operations` scalar operations is not compared.
///
/// # Errors
/// [`CompareError`]: the program cannot be loaded.
pub fn against_reference(
    options: LaunchOptions,
    most_operations: u64,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, CompareError> {
    let mut side = Side::load(options, Stops::BeforeAndAfter)?;
    let texts = side.debugger.program().flow_texts();
    let mut opinions = Opinions::new(&texts, most_operations);
    let mut report = side.report(
        ["the program".to_owned(), "the text of each dispatch, in float64".to_owned()],
        Mode::Isolated,
    );
    let unasked = || Err(NoOpinion::new("the program did not stop before it"));
    let mut question: Result<OpinionQuestion, NoOpinion> = unasked();
    let mut by_sources = 0;
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    loop {
        match side.next() {
            Stand::Before(dispatch) => {
                progress(Progress::Dispatch(side.ran, &dispatch.export));
                question = opinions.question(side.debugger.program(), &dispatch);
            }
            Stand::After(dispatch) => {
                let question = std::mem::replace(&mut question, unasked());
                let answer = question.and_then(|question| {
                    by_sources += usize::from(question.is_of_sources());
                    opinions.answer(&question)
                });
                if let Err(NoOpinion { operation: Some(operation), .. }) = &answer {
                    *refused.entry(operation.clone()).or_default() += 1;
                }
                report.dispatches.push(finding(&side, dispatch, answer, settings));
            }
            Stand::Over(_) => break,
            Stand::Failed(failure) => {
                report.failed("A", &failure);
                break;
            }
        }
    }
    if by_sources > 0 {
        let s = if by_sources == 1 { "" } else { "es" };
        report.notes.push(format!(
            "{by_sources} dispatch{s}: which tensors the flow text means, or how they lie, is not \
             certain, so the text that code was made of is evaluated"
        ));
    }
    report.notes.extend(refused.into_iter().map(|(operation, count)| {
        let s = if count == 1 { "" } else { "es" };
        format!("`{operation}` is not evaluated: {count} dispatch{s}")
    }));
    Ok(report)
}

/// What the text of the dispatch that is the command with a number says of what the program leaves;
/// or why nothing.
pub(crate) fn opinion_of(
    options: LaunchOptions,
    number: u64,
    most_operations: u64,
) -> Result<Opinion, NotJudged> {
    let mut side = Side::load(options, Stops::BeforeAndAfter).map_err(CompareError::from)?;
    let texts = side.debugger.program().flow_texts();
    let mut opinions = Opinions::new(&texts, most_operations);
    let mut question = None;
    loop {
        match side.next() {
            Stand::Before(dispatch) if dispatch.number == number => {
                let asked = opinions.question(side.debugger.program(), &dispatch);
                question = Some(asked?);
            }
            Stand::After(dispatch) if dispatch.number == number => {
                let question = question.ok_or(NotJudged::NotStopped)?;
                let answer = Ok(opinions.answer(&question)?);
                let written = dispatch.all_operands().enumerate().filter(|(_, it)| it.is_written);
                let left = written.filter_map(|(index, it)| Some((index, it.tensor.clone()?)));
                return Ok(Opinion::of_tensors(&left.collect::<Vec<_>>(), &answer));
            }
            Stand::Before(_) | Stand::After(_) => {}
            Stand::Over(_) | Stand::Failed(_) => return Err(NotJudged::NotRun),
        }
    }
}

fn finding(
    side: &Side,
    dispatch: StandingDispatch,
    answer: Result<Vec<(usize, Output)>, NoOpinion>,
    settings: &Settings,
) -> DispatchFinding {
    let (outputs, reason) = match answer {
        Ok(outputs) => (outputs, None),
        Err(NoOpinion { reason, is_limit: true, .. }) => {
            (Vec::new(), Some(format!("{reason}; --reference-operations=N allows more")))
        }
        Err(refused) => (Vec::new(), Some(refused.reason)),
    };
    let written = dispatch.all_operands().enumerate().filter(|(_, it)| it.is_written);
    let tensors = written.filter(|_| reason.is_none()).filter_map(|(index, operand)| {
        let tensor = operand.tensor.as_ref()?;
        let names = names(index, operand);
        let output = outputs.iter().find(|(operand, _)| *operand == index);
        Some(match output {
            Some((_, output)) => TensorFinding::of_output(names, tensor, output, settings),
            None => {
                let reason = "its text does not say what is in it";
                TensorFinding::not_compared(names, tensor.type_name(), reason)
            }
        })
    });
    DispatchFinding {
        number: dispatch.number,
        source_text: side.source_text(&dispatch),
        tensors: tensors.collect(),
        names: (dispatch.export, None),
        node: dispatch.node,
        source: dispatch.source,
        inputs: Vec::new(),
        reason,
        compared_with: None,
        judged: None,
    }
}
