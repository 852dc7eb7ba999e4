//! A program whose results are wrong, compared until a comparison shows why:
//!
//! ```text
//!   results against files ──differ──> machine code against bytecode ──> the other back end
//! ```
//!
//! The other back end is asked also where bytecode has shown a fault: it tells whether that is all.

use std::path::{Path, PathBuf};

use debug::LaunchOptions;

use crate::explanation::{Findings, OtherBackEnd};
use crate::finding::Verdict;
use crate::golden::against_expected;
use crate::lockstep::against_other;
use crate::report::{Mode, Report};
use crate::settings::{Progress, Settings};
use crate::twins::against_bytecode;

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
/// The program cannot be loaded or fails, or its results cannot be compared with the files.
pub fn explain(
    program: &Compiled,
    expected: Expected<'_>,
    other: impl FnOnce() -> Result<Compiled, String>,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Findings, String> {
    let report = checked(&program.launch, expected, settings, progress)?;
    let back_end = program.back_end.clone();
    let mut findings = Findings { back_end, expected: report, bytecode: None, other: None };
    if findings.expected.verdict() != Verdict::Differs {
        return Ok(findings);
    }
    findings.bytecode = Some(match program.back_end.as_str() {
        "vmvx" => Err("its dispatches are bytecode already".to_owned()),
        _ => against_bytecode(program.launch.clone(), settings, progress),
    });
    findings.other = Some(other().map(|other| {
        let described = [&program.back_end, &other.back_end].map(String::clone);
        let sides = [program.launch.clone(), other.launch.clone()];
        OtherBackEnd {
            expected: checked(&other.launch, expected, settings, progress),
            against: against_other(sides, described, Mode::Isolated, settings, progress),
            name: other.back_end,
        }
    }));
    Ok(findings)
}

/// A run compared with the files, all of which can be compared.
fn checked(
    launch: &LaunchOptions,
    expected: Expected<'_>,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, String> {
    let Expected { results, tensors } = expected;
    let report = against_expected(launch.clone(), results, tensors, settings, progress)?;
    if let Some((_, failure)) = report.failures.first() {
        return Err(format!("the program fails: {failure}"));
    }
    if report.results.len() < results.len() {
        let name = &report.function;
        let (files, returned) = (results.len(), report.results.len());
        return Err(format!(
            "there are {files} files of expected results, and @{name} returns {returned}"
        ));
    }
    let of_dispatches = report.dispatches.iter().flat_map(|it| &it.tensors);
    let mut all = report.results.iter().chain(of_dispatches);
    let left = all.find(|it| it.verdict == Verdict::NotCompared);
    if let Some(left) = left {
        let reason = left.reason.as_deref().unwrap_or("it was not compared");
        return Err(format!("{}: {reason}", left.name()));
    }
    if report.verdict() == Verdict::NotCompared {
        return Err(report.notes.first().cloned().unwrap_or_else(|| report.conclusion()));
    }
    Ok(report)
}
