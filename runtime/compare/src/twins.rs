//! A module against its bytecode: each dispatch of machine code runs as bytecode too, on the same
//! inputs, and what both leave is compared. The program goes on with what its machine code has
//! left.

use debug::{LaunchOptions, StandingDispatch, TwinStays};

use crate::finding::TensorFinding;
use crate::report::{DispatchFinding, Mode, Report};
use crate::results::{Returned, returned};
use crate::settings::{Progress, Settings};
use crate::side::{Side, Stand, Stops, names, stored};
use crate::tolerance::Tolerance;

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
    /// By how much sound results of the whole may be apart, relative to their size.
    pub(crate) total: f64,
}

/// Runs each dispatch as machine code and as bytecode.
pub(crate) fn run(
    options: LaunchOptions,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Outcome, String> {
    let mut side = Side::load(options, Stops::BeforeAndAfter)?;
    make(&mut side, progress);
    let mut report = side.report(
        ["machine code".to_owned(), "bytecode of the same dispatches".to_owned()],
        Mode::Isolated,
    );
    let mut substituted: Result<(), String> = Ok(());
    let mut total = 0.0;
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
                let number = side.ran - 1;
                let mut results = dispatch.operands.iter().filter(|it| it.is_written);
                if let Some(tensor) = results.find_map(|it| it.tensor.as_ref()) {
                    total += Tolerance::relative_of(&side.work(&dispatch), tensor);
                }
                report.dispatches.push(finding(&side, number, dispatch, run, settings));
            }
            Stand::Over(values) => break Some(returned(&values)),
            Stand::Failed(failure) => {
                let failure = failure.lines().next().unwrap_or_default().to_owned();
                report.notes.push(format!("the program failed: {failure}"));
                break None;
            }
        }
    };
    Ok(Outcome { report, returned, total })
}

/// Makes the bytecode of all dispatches.
pub(crate) fn make(side: &mut Side, progress: &mut dyn FnMut(Progress<'_>)) {
    let progress = std::cell::RefCell::new(progress);
    side.debugger.make_twins(&|| progress.borrow_mut()(Progress::Compiling));
}

/// How the dispatch compares that has just run as both.
fn finding(
    side: &Side,
    number: usize,
    dispatch: StandingDispatch,
    run: Result<(), String>,
    settings: &Settings,
) -> DispatchFinding {
    let tensors = match &run {
        Ok(()) => tensors(side, &dispatch, settings),
        Err(_) => Vec::new(),
    };
    DispatchFinding {
        number,
        source_text: side.source_text(&dispatch),
        names: (dispatch.export, None),
        source: dispatch.source,
        tensors,
        inputs: Vec::new(),
        reason: run.err(),
    }
}

fn tensors(side: &Side, dispatch: &StandingDispatch, settings: &Settings) -> Vec<TensorFinding> {
    let work = side.work(dispatch);
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
        let parts = match stored(&work, index, tensor) {
            Ok(part) => (part, stored(&work, index, &twin).unwrap_or_else(|_| twin.clone())),
            Err(_) => (tensor.clone(), twin.clone()),
        };
        let inputs: Vec<_> = dispatch
            .operands
            .iter()
            .filter(|it| it.is_read && !it.is_written)
            .filter_map(|it| it.tensor.as_ref())
            .collect();
        let tolerance = || {
            let tolerance = Tolerance::of_work(&work, &parts.0, &inputs);
            settings.overrides.applied(tolerance, &names)
        };
        found.push(TensorFinding::of(names.clone(), &parts.0, &parts.1, tolerance));
    }
    found
}
