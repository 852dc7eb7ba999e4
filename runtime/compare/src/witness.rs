//! A module against the text of its dispatches, with its bytecode as a second witness: where the
//! text is not evaluated, bytecode of the dispatch is all that there is to compare with; and where
//! the text says that a dispatch is wrong, its bytecode may be right, or wrong as well.

use debug::LaunchOptions;

use crate::errors::CompareError;
use crate::evaluated::against_reference;
use crate::finding::Verdict;
use crate::report::{DispatchFinding, Report};
use crate::settings::{Progress, Settings};
use crate::twins::{self, Which};

/// Compares what each dispatch leaves with its text in float64, or else with its bytecode. A
/// dispatch of more than `most_operations` scalar operations is not evaluated.
///
/// # Errors
/// [`CompareError`]: the program cannot be loaded.
pub fn against_text(
    options: LaunchOptions,
    most_operations: u64,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, CompareError> {
    let mut report = against_reference(options.clone(), most_operations, settings, progress)?;
    let is_open =
        |it: &&DispatchFinding| matches!(it.verdict(), Verdict::Differs | Verdict::NotCompared);
    let open: Vec<u64> = report.dispatches.iter().filter(is_open).map(|it| it.number).collect();
    if open.is_empty() {
        return Ok(report);
    }
    let which = Which { only: Some(&open), most_operations };
    let heard = twins::run(options, which, settings, progress)?.report.dispatches;
    let mut replaced = 0;
    for witness in heard {
        let mut all = report.dispatches.iter_mut();
        let found = all.find(|it| it.number == witness.number && it.names == witness.names);
        replaced += found.map_or(0, |found| usize::from(hear(found, witness)));
    }
    if replaced > 0 {
        let (s, its) = if replaced == 1 { ("", "its") } else { ("es", "their") };
        report.notes.push(format!(
            "{replaced} dispatch{s}: {its} text is not evaluated, so {its} bytecode is what the \
             machine code is compared with"
        ));
    }
    Ok(report)
}

/// Adds what bytecode says of a dispatch. Returns whether that is all that is known.
fn hear(found: &mut DispatchFinding, witness: DispatchFinding) -> bool {
    if found.verdict() == Verdict::Differs {
        found.judged = witness.judged;
        return false;
    }
    let reason = found.why_not().unwrap_or("it leaves no tensor that is known").to_owned();
    if witness.verdict() == Verdict::NotCompared {
        if let Some(why) = witness.why_not().filter(|why| *why != twins::IS_BYTECODE) {
            found.reason = Some(format!("{reason}; nor with its bytecode: {why}"));
        }
        return false;
    }
    found.compared_with = Some(format!("its bytecode, as its text is not evaluated: {reason}"));
    found.reason = None;
    found.tensors = witness.tensors;
    found.judged = witness.judged;
    true
}
