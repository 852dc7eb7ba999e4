//! A module against its bytecode: each dispatch of machine code runs as bytecode too, on the same
//! inputs, and what both leave is compared. The program goes on with what its machine code has
//! left.

use std::rc::Rc;

use debug::{LaunchOptions, StandingDispatch, TensorView, TwinStays};

use crate::allowed::{Allowed, Bounds};
use crate::bounds::Ran;
use crate::finding::TensorFinding;
use crate::report::{DispatchFinding, Mode, Report};
use crate::results::{Returned, returned};
use crate::settings::{Progress, Settings};
use crate::side::{Side, Stand, Stops, names, stored};

/// Compares a module's machine code with its bytecode.
///
/// # Errors
/// The program cannot be loaded.
pub fn against_bytecode(
    options: LaunchOptions,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, String> {
    Ok(run(options, settings, progress)?.report)
}

/// What such a run has found.
pub(crate) struct Outcome {
    pub(crate) report: Report,
    /// The results of the program; none if it has failed.
    pub(crate) returned: Option<Vec<Returned>>,
}

/// Runs each dispatch as machine code and as bytecode.
pub(crate) fn run(
    options: LaunchOptions,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Outcome, String> {
    let mut side = Side::load(options, Stops::BeforeAndAfter)?;
    make(&mut side, progress);
    side.judge(true);
    let mut report = side.report(
        ["machine code".to_owned(), "bytecode of the same dispatches".to_owned()],
        Mode::Isolated,
    );
    let mut substituted: Result<(), String> = Ok(());
    let returned = loop {
        match side.next() {
            Stand::Before(dispatch) => {
                progress(Progress::Dispatch(side.ran, &dispatch.export));
                substituted = match dispatch.missing {
                    Some(reason) => Err(reason),
                    None => side.debugger.run_as_twin(TwinStays::No),
                };
            }
            Stand::After(dispatch) => {
                let run = std::mem::replace(&mut substituted, Ok(()));
                report.dispatches.push(finding(&mut side, dispatch, run, settings));
            }
            Stand::Over(values) => break Some(returned(&values)),
            Stand::Failed(failure) => {
                let failure = failure.lines().next().unwrap_or_default().to_owned();
                report.notes.push(format!("the program failed: {failure}"));
                break None;
            }
        }
    };
    Ok(Outcome { report, returned })
}

/// Makes the bytecode of all dispatches.
pub(crate) fn make(side: &mut Side, progress: &mut dyn FnMut(Progress<'_>)) {
    let progress = std::cell::RefCell::new(progress);
    side.debugger.make_twins(&|| progress.borrow_mut()(Progress::Compiling));
}

/// How the dispatch compares that has just run as both.
fn finding(
    side: &mut Side,
    dispatch: StandingDispatch,
    run: Result<(), String>,
    settings: &Settings,
) -> DispatchFinding {
    let tensors = match &run {
        Ok(()) => tensors(side, &dispatch, settings),
        Err(_) => Vec::new(),
    };
    DispatchFinding {
        number: dispatch.number,
        source_text: side.source_text(&dispatch),
        names: (dispatch.export, None),
        source: dispatch.source,
        tensors,
        inputs: Vec::new(),
        reason: run.err(),
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
        found.push(TensorFinding::of(names.clone(), &own, &twin, allowed));
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
