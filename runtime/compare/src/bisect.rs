//! Which dispatches make the final output wrong: the fewest whose results, taken from side B, do.
//!
//! A dispatch that differs need not matter: its error may be rounded away, or never be read. So the
//! program runs again and again, with some dispatches as on side B and the others as on side A.

use debug::{LaunchOptions, TwinStays};

use crate::allowed::Allowed;
use crate::errors::CompareError;
use crate::finding::{TensorFinding, Verdict};
use crate::judged::{Judged, Opinion};
use crate::lockstep::{self, Plan};
use crate::report::place;
use crate::report::{Culprits, Mode, Report};
use crate::results::{Returned, compared, returned};
use crate::settings::{Progress, Settings};
use crate::side::{Side, Stand, Stops};
use crate::tolerance::Tolerance;
use crate::twins::{self, Which};

/// A part of the candidates, and whether the output is wrong with it.
type Trial<'t> = dyn FnMut(&[u64]) -> Result<bool, CompareError> + 't;

/// Finds the dispatches of side B that make the final output wrong.
///
/// # Errors
/// [`CompareError`]: one of the sides cannot be loaded, or they cannot be compared, or side A
/// fails.
pub fn bisect_other(
    sides: &[LaunchOptions; 2],
    described: &[String; 2],
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, CompareError> {
    let plan = Plan { mode: Mode::Bisect, taken: None };
    let first = lockstep::run(sides.clone(), described.clone(), &plan, settings, progress)?;
    let wanted = first.returned.ok_or(CompareError::NoOutput("side A"))?;
    let mut report = first.report;
    let mut runs = 1;
    let mut results = Vec::new();
    let mut trial = |taken: &[u64]| {
        runs += 1;
        progress(Progress::Run(runs));
        let plan = Plan { mode: Mode::Bisect, taken: Some(taken.to_vec()) };
        let outcome =
            lockstep::run(sides.clone(), described.clone(), &plan, settings, &mut |_| {})?;
        // A program that fails with these results has no right output.
        let Some(output) = outcome.returned else { return Ok(true) };
        let found = outputs(&wanted, &output, settings);
        let is_wrong = found.iter().any(|it| it.verdict == Verdict::Differs);
        if results.is_empty() {
            results = found;
        }
        Ok(is_wrong)
    };
    let fewest = smallest(&first.different, &mut trial)?;
    report.results = results;
    conclude(&mut report, &first.different, fewest, runs);
    Ok(report)
}

/// Finds the dispatches whose bytecode makes the final output another one.
///
/// # Errors
/// [`CompareError`]: the program cannot be loaded, or fails.
pub fn bisect_bytecode(
    options: &LaunchOptions,
    most_operations: u64,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, CompareError> {
    let which = Which { only: None, most_operations };
    let first = twins::run(options.clone(), which, settings, progress)?;
    let wanted = first.returned.ok_or(CompareError::NoOutput("the program"))?;
    let mut report = first.report;
    report.mode = Mode::Bisect;
    let differs = |it: &&crate::DispatchFinding| it.verdict() == Verdict::Differs;
    let different: Vec<u64> =
        report.dispatches.iter().filter(differs).map(|it| it.number).collect();
    let mut runs = 1;
    let mut results = Vec::new();
    let mut trial = |taken: &[u64]| {
        runs += 1;
        progress(Progress::Run(runs));
        let Some(output) = with_bytecode(options.clone(), taken)? else { return Ok(true) };
        let found = outputs(&wanted, &output, settings);
        let is_wrong = found.iter().any(|it| it.verdict == Verdict::Differs);
        if results.is_empty() {
            results = found;
        }
        Ok(is_wrong)
    };
    let fewest = smallest(&different, &mut trial)?;
    report.results = results;
    conclude(&mut report, &different, fewest, runs);
    Ok(report)
}

/// The results of a program that runs some dispatches as bytecode only; none if it fails.
fn with_bytecode(
    options: LaunchOptions,
    taken: &[u64],
) -> Result<Option<Vec<Returned>>, CompareError> {
    let mut side = Side::load(options, Stops::BeforeAndAfter)?;
    twins::make(&mut side, &mut |_| {});
    loop {
        match side.next() {
            Stand::Before(dispatch) if taken.contains(&dispatch.number) => {
                side.debugger.run_as_twin(TwinStays::Yes)?;
            }
            Stand::Before(_) | Stand::After(_) => {}
            Stand::Over(values) => return Ok(Some(returned(&values))),
            Stand::Failed(_) => return Ok(None),
        }
    }
}

/// How the results compare with those of side A. What is allowed for a dispatch was taken from side
/// A, so that no difference is.
fn outputs(wanted: &[Returned], found: &[Returned], settings: &Settings) -> Vec<TensorFinding> {
    let reason = "only dispatches that differ are taken from side B";
    compared(wanted, found, settings, |_| Allowed::Tolerance(Tolerance::exact(reason)))
}

/// The smallest part of the candidates with which the output is wrong; none if it is right with
/// all of them. Taking away any one of the part makes it right (Zeller's ddmin).
fn smallest(candidates: &[u64], trial: &mut Trial<'_>) -> Result<Option<Vec<u64>>, CompareError> {
    if candidates.is_empty() || !trial(candidates)? {
        return Ok(None);
    }
    let mut part = candidates.to_vec();
    let mut pieces = 2;
    while part.len() > 1 {
        let size = part.len().div_ceil(pieces);
        let chunks: Vec<Vec<u64>> = part.chunks(size).map(<[u64]>::to_vec).collect();
        let mut smaller = None;
        for chunk in &chunks {
            if trial(chunk)? {
                smaller = Some((chunk.clone(), 2));
                break;
            }
        }
        if smaller.is_none() && chunks.len() > 2 {
            for chunk in &chunks {
                let rest: Vec<u64> =
                    part.iter().copied().filter(|it| !chunk.contains(it)).collect();
                if trial(&rest)? {
                    smaller = Some((rest, (pieces - 1).max(2)));
                    break;
                }
            }
        }
        match smaller {
            Some((found, next)) => (part, pieces) = (found, next),
            None if pieces >= part.len() => break,
            None => pieces = (pieces * 2).min(part.len()),
        }
    }
    Ok(Some(part))
}

/// Which sides are wrong there.
fn by_text(judged: &[(&u64, &Judged)]) -> String {
    match judged {
        [] => String::new(),
        [(_, one)] => format!("; {}", one.sentence()),
        many => {
            let is_known = |it: &&(&u64, &Judged)| it.1.opinions.contains(&Opinion::Wrong);
            let all = many.iter().filter(is_known);
            all.map(|(number, one)| format!("; #{number}: {}", one.sentence())).collect()
        }
    }
}

/// Says what was found.
fn conclude(report: &mut Report, different: &[u64], fewest: Option<Vec<u64>>, runs: usize) {
    let named = |number: &u64| {
        let finding = report.dispatches.iter().find(|it| it.number == *number);
        let source = finding.and_then(|it| it.source.as_ref());
        let source = source.map(|it| format!(" at {}", place(it))).unwrap_or_default();
        let name = finding.map(|it| it.names.0.as_str()).unwrap_or_default();
        format!("#{number} @{name}{source}")
    };
    let runs_text = format!("{runs} run{}", if runs == 1 { "" } else { "s" });
    let sentence = match &fewest {
        None if report.is_uncompared() => {
            "nothing was compared, so that no dispatch is known to make the output wrong".into()
        }
        None if different.is_empty() => {
            "no dispatch differs by more than allowed, so none makes the output wrong".into()
        }
        None => {
            let count = different.len();
            let s = if count == 1 { "" } else { "es" };
            format!("the output stays right with all {count} dispatch{s} that differ ({runs_text})")
        }
        Some(part) => {
            let names: Vec<String> = part.iter().map(named).collect();
            let said = match &names[..] {
                [one] => format!("{one} alone makes the output wrong ({runs_text})"),
                many => format!(
                    "together {} make the output wrong, and no fewer of them ({runs_text})",
                    many.join(" and ")
                ),
            };
            let judged = part.iter().filter_map(|number| {
                let finding = report.dispatches.iter().find(|it| it.number == *number)?;
                Some((number, finding.judged.as_ref()?))
            });
            let judged: Vec<_> = judged.collect();
            said + &by_text(&judged)
        }
    };
    let dispatches = fewest.unwrap_or_default();
    report.culprits = Some(Culprits { dispatches, runs, sentence });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(candidates: u64, is_wrong: impl Fn(&[u64]) -> bool) -> (Option<Vec<u64>>, usize) {
        let all: Vec<u64> = (0..candidates).collect();
        let mut trials = 0;
        let found = smallest(&all, &mut |part| {
            trials += 1;
            Ok(is_wrong(part))
        });
        (found.unwrap(), trials)
    }

    #[test]
    fn one_of_many_is_found() {
        for culprit in 0..100 {
            let (found, trials) = of(100, |part| part.contains(&culprit));
            assert_eq!(found, Some(vec![culprit]));
            assert!(trials < 30, "{trials}");
        }
    }

    #[test]
    fn pairs_are_found() {
        for (a, b) in [(0, 1), (3, 60), (62, 63), (10, 40)] {
            let (found, _) = of(64, |part| part.contains(&a) && part.contains(&b));
            assert_eq!(found, Some(vec![a, b]));
        }
    }

    #[test]
    fn none_may_matter() {
        assert_eq!(of(5, |_| false).0, None);
        assert_eq!(of(0, |_| true).0, None);
        let failing = smallest(&[1], &mut |_| Err(CompareError::Fails("it is gone".to_owned())));
        assert!(failing.is_err_and(|error| error.to_string().contains("it is gone")));
    }
}
