//! A module against its bytecode: each dispatch of machine code runs as bytecode too, on the same
//! inputs, and what both leave is compared. The program goes on with what its machine code has
//! left. Where both differ, the text of the dispatch says which is wrong: bytecode is compiled as
//! machine code is, and may be wrong where machine code is right.

use std::rc::Rc;

use debug::{
    LaunchOptions, NoOpinion, OpinionQuestion, Opinions, StandingDispatch, TensorView, TwinStays,
};

use crate::allowed::{Allowed, Bounds};
use crate::bounds::Ran;
use crate::errors::{CompareError, NotCompared};
use crate::finding::{TensorFinding, Verdict};
use crate::judged::{BY_ITS_TEXT, Judged, Opinion, known_fault};
use crate::report::{DispatchFinding, Mode, Report};
use crate::results::{Returned, returned};
use crate::settings::{Progress, Settings};
use crate::side::{Side, Stand, Stops, names, stored};

/// Which dispatches run as bytecode, and how many scalar operations of one are evaluated where both
/// differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Which<'n> {
    /// Those of the commands with these numbers, which are all judged; none: all, judged where they
    /// differ.
    pub(crate) only: Option<&'n [u64]>,
    pub(crate) most_operations: u64,
}

/// Why a dispatch of bytecode is not compared with its bytecode.
pub(crate) const IS_BYTECODE: &str = "it is bytecode already";

/// Of up to so many dispatches, bytecode is made when they run.
const FEW: usize = 4;

/// Compares a module's machine code with its bytecode. Where both differ, the text of the dispatch
/// is evaluated, unless that takes more than `most_operations` scalar operations.
///
/// # Errors
/// [`CompareError`]: the program cannot be loaded.
pub fn against_bytecode(
    options: LaunchOptions,
    most_operations: u64,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, CompareError> {
    Ok(run(options, Which { only: None, most_operations }, settings, progress)?.report)
}

/// What such a run has found.
pub(crate) struct Outcome {
    pub(crate) report: Report,
    /// The results of the program; none if it has failed.
    pub(crate) returned: Option<Vec<Returned>>,
}

/// Runs dispatches as machine code and as bytecode. The report has those only that do.
pub(crate) fn run(
    options: LaunchOptions,
    which: Which<'_>,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Outcome, CompareError> {
    let mut side = Side::load(options, Stops::BeforeAndAfter)?;
    if which.only.is_none_or(|only| only.len() > FEW) {
        make(&mut side, progress);
    }
    side.judge(true);
    let texts = side.debugger.program().flow_texts();
    let mut opinions = Opinions::new(&texts, which.most_operations);
    let mut report = side.report(
        ["machine code".to_owned(), "bytecode of the same dispatches".to_owned()],
        Mode::Isolated,
    );
    let is_wanted = |it: &StandingDispatch| which.only.is_none_or(|only| only.contains(&it.number));
    let mut both: Result<Both, NotCompared> = Err(NotCompared::NotStopped);
    let returned = loop {
        match side.next() {
            Stand::Before(dispatch) if !is_wanted(&dispatch) => {}
            Stand::Before(dispatch) => {
                progress(Progress::Dispatch(side.ran, &dispatch.export));
                let question = opinions.question(side.debugger.program(), &dispatch);
                both = match dispatch.missing {
                    Some(reason) => Err(NotCompared::Missing(reason)),
                    None => {
                        let ran = side.debugger.run_as_twin(TwinStays::No);
                        ran.map(|()| Both { question }).map_err(NotCompared::NoTwin)
                    }
                };
            }
            Stand::After(dispatch) => {
                if is_wanted(&dispatch) {
                    let both = std::mem::replace(&mut both, Err(NotCompared::NotStopped));
                    let mut found = finding(&mut side, &dispatch, &both, settings);
                    let is_asked = which.only.is_some() || found.verdict() == Verdict::Differs;
                    if let Some(both) = both.ok().filter(|_| is_asked) {
                        judge(&side, &dispatch, both.question, &opinions, &mut found);
                    }
                    report.dispatches.push(found);
                }
            }
            Stand::Over(values) => break Some(returned(&values)),
            Stand::Failed(failure) => {
                report.failed("A", &failure);
                break None;
            }
        }
    };
    Ok(Outcome { report, returned })
}

/// A dispatch that runs as both.
struct Both {
    /// What its text is asked.
    question: Result<OpinionQuestion, NoOpinion>,
}

/// Says which side is wrong.
fn judge(
    side: &Side,
    dispatch: &StandingDispatch,
    question: Result<OpinionQuestion, NoOpinion>,
    opinions: &Opinions<'_>,
    found: &mut DispatchFinding,
) {
    let answer = question.and_then(|question| opinions.answer(&question));
    let written = || {
        let operands = dispatch.operands.iter().enumerate().filter(|(_, it)| it.is_written);
        operands.filter_map(|(index, it)| Some((index, it.tensor.clone()?)))
    };
    let twin = |(index, tensor): (usize, TensorView)| {
        Some((index, side.debugger.twin_of_tensor(&tensor).ok()?))
    };
    let left = [written().collect::<Vec<_>>(), written().filter_map(twin).collect()];
    let opinions = [0, 1].map(|side| Opinion::of_tensors(&left[side], &answer));
    let text = || side.debugger.program().executable_text(&dispatch.export);
    let remark = match (opinions, answer) {
        (_, Err(refused)) => {
            let known = known_fault(text().as_deref()).map(|it| format!("; {it}"));
            let known = known.unwrap_or_default();
            Some(format!("its text was not evaluated: {}{known}", refused.reason))
        }
        ([_, Opinion::Wrong], _) => known_fault(text().as_deref()),
        _ => None,
    };
    let sides = ["the machine code", "its bytecode"];
    let judged = Judged { opinions, sides, by: BY_ITS_TEXT, remark };
    if judged.acquits_both() {
        for tensor in found.tensors.iter_mut().filter(|it| it.verdict == Verdict::Differs) {
            tensor.allow("both lie within the bounds of its text");
        }
    }
    found.judged = Some(judged);
}

/// Makes the bytecode of all dispatches.
pub(crate) fn make(side: &mut Side, progress: &mut dyn FnMut(Progress<'_>)) {
    let progress = std::cell::RefCell::new(progress);
    side.debugger.make_twins(&|| progress.borrow_mut()(Progress::Compiling));
}

/// How the dispatch compares that has just run as both.
fn finding(
    side: &mut Side,
    dispatch: &StandingDispatch,
    both: &Result<Both, NotCompared>,
    settings: &Settings,
) -> DispatchFinding {
    let tensors = match both {
        Ok(_) => tensors(side, dispatch, settings),
        Err(_) => Vec::new(),
    };
    DispatchFinding {
        number: dispatch.number,
        source_text: side.source_text(dispatch),
        names: (dispatch.export.clone(), None),
        node: dispatch.node.clone(),
        source: dispatch.source.clone(),
        tensors,
        inputs: Vec::new(),
        reason: both.as_ref().err().map(ToString::to_string),
        compared_with: None,
        judged: None,
    }
}

fn tensors(
    side: &mut Side,
    dispatch: &StandingDispatch,
    settings: &Settings,
) -> Vec<TensorFinding> {
    let ran = side.ran(dispatch);
    let mut found = Vec::new();
    for (index, operand) in dispatch.operands.iter().enumerate().filter(|(_, it)| it.is_written) {
        let Some(tensor) = &operand.tensor else { continue };
        let names = names(index, operand);
        let twin = match side.debugger.twin_of_tensor(tensor) {
            Ok(twin) => twin,
            Err(reason) => {
                let tensor_type = operand.tensor_type.clone();
                found.push(TensorFinding::not_compared(names, tensor_type, reason));
                continue;
            }
        };
        // What it does not store is as it was before, on both sides.
        let parts = match stored(&ran.work, index, tensor) {
            Ok(Some((part, starts))) => match stored(&ran.work, index, &twin) {
                Ok(Some((twin, _))) => Some((part, twin, starts)),
                _ => None,
            },
            _ => None,
        };
        let (own, twin, part) = match parts {
            Some((own, twin, starts)) => (own, twin, Some((tensor.clone(), starts))),
            None => (tensor.clone(), twin, None),
        };
        let allowed = || {
            let set = settings.overrides.set_for(&names).map(Allowed::Tolerance);
            set.unwrap_or_else(|| allowed(side, &ran, (index, tensor), part))
        };
        found.push(TensorFinding::of(names.clone(), [&own, &twin], &settings.keep, allowed));
    }
    found
}

/// How far machine code and bytecode may be apart: both compute the same text on the same inputs.
fn allowed(
    side: &mut Side,
    ran: &Rc<Ran>,
    (operand, tensor): (usize, &TensorView),
    part: Option<(TensorView, Vec<u64>)>,
) -> Allowed {
    let bounds = side.answer(ran).and_then(|answer| {
        let both = [(Rc::clone(&answer), operand, tensor), (answer, operand, tensor)];
        Bounds::of_both(both, part)
    });
    bounds.map_or_else(Allowed::NotJudged, Allowed::Bounds)
}
