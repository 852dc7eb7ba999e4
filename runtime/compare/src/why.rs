//! A program whose results are wrong, compared until a comparison shows why:
//!
//! ```text
//!   results against files ──differ──> each dispatch against its text ──> the other back end
//! ```
//!
//! The text of a dispatch is the judge, with bytecode as a second witness: two back ends that
//! differ accuse neither. The other back end is asked also where the text has shown a fault: it
//! tells whether that is all.

use std::path::{Path, PathBuf};

use debug::{LaunchOptions, MOST_OPERATIONS};

use crate::errors::CompareError;
use crate::evaluated::against_reference;
use crate::explanation::{Findings, OtherBackEnd};
use crate::finding::Verdict;
use crate::golden::against_expected;
use crate::lockstep::{self, Plan};
use crate::report::{Mode, Report};
use crate::settings::{Progress, Settings};
use crate::witness::against_text;

/// Files of expected values.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'f> {
    /// Those of the results, in their order.
    pub results: &'f [PathBuf],
    /// A directory of files that are named by tensors.
    pub tensors: Option<&'f Path>,
}

/// A program, and the back end that it is compiled for.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The back end, as the compiler's flags name it.
    pub back_end: String,
    /// How it is launched.
    pub launch: LaunchOptions,
}

/// Finds out why the results of a program are not as expected. `other` compiles the same source for
/// another back end; it is called only if they are not.
///
/// # Errors
/// [`CompareError`]: the program cannot be loaded or fails, or its results cannot be compared with
/// the files.
pub fn explain(
    program: &Compiled,
    expected: Expected<'_>,
    other: impl FnOnce() -> Result<Compiled, CompareError>,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Findings, CompareError> {
    let report = checked(&program.launch, expected, settings, progress)?;
    let back_end = program.back_end.clone();
    let mut findings = Findings { back_end, expected: report, text: None, other: None };
    if findings.expected.verdict() != Verdict::Differs {
        return Ok(findings);
    }
    let launch = program.launch.clone();
    findings.text = Some(against_text(launch, MOST_OPERATIONS, settings, progress));
    findings.other = Some(other().map(|other| {
        let described = [&program.back_end, &other.back_end].map(String::clone);
        let sides = [program.launch.clone(), other.launch.clone()];
        let expected = checked(&other.launch, expected, settings, progress);
        let plan = Plan { mode: Mode::Isolated, taken: None };
        let against = lockstep::run(sides, described, &plan, settings, progress);
        let against = against.map(|outcome| outcome.report);
        // Where they differ, its own text tells whether it is the other one that is wrong.
        let differs = against.as_ref().is_ok_and(|it| it.first_bad().is_some());
        let launch = other.launch;
        let text = differs.then(|| against_reference(launch, MOST_OPERATIONS, settings, progress));
        OtherBackEnd { expected, against, text, name: other.back_end }
    }));
    Ok(findings)
}

/// A run compared with the files, all of which can be compared.
fn checked(
    launch: &LaunchOptions,
    expected: Expected<'_>,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, CompareError> {
    let Expected { results, tensors } = expected;
    let report = against_expected(launch.clone(), results, tensors, settings, progress)?;
    if let Some((_, failure)) = report.failures.first() {
        return Err(CompareError::Fails(failure.clone()));
    }
    if report.results.len() < results.len() {
        let (files, returned) = (results.len(), report.results.len());
        return Err(CompareError::TooManyFiles { files, function: report.function, returned });
    }
    let of_dispatches = report.dispatches.iter().flat_map(|it| &it.tensors);
    let mut all = report.results.iter().chain(of_dispatches);
    let left = all.find(|it| it.verdict == Verdict::NotCompared);
    if let Some(left) = left {
        let reason = left.reason.as_deref().unwrap_or("it was not compared").to_owned();
        return Err(CompareError::NotCompared { name: left.name(), reason });
    }
    if report.verdict() == Verdict::NotCompared {
        let why = report.notes.first().cloned().unwrap_or_else(|| report.conclusion());
        return Err(CompareError::NothingCompared(why));
    }
    Ok(report)
}
