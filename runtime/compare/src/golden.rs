//! A run against files of expected values: `.npy` files by the names of tensors, as
//! `hidden.npy` or `000000.%hidden.npy` for `%hidden`, and `result0.npy` for the first result; or
//! files of the results, in their order.
//!
//! The files are of another program, which goes on with its own values. So a dispatch reads what
//! differs already, by as much as the files of its inputs say, or, without such files, as the
//! bounds of the dispatches before it. It is evaluated with that.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use abi::element_type::{ElementType, NumericalKind};
use debug::{LaunchOptions, StandingDispatch, TensorView};

use crate::allowed::{Allowed, Bounds};
use crate::bounds::{Live, Ran, apart};
use crate::errors::{CompareError, FileError, NotCompared};
use crate::finding::TensorFinding;
use crate::report::{DispatchFinding, Mode, Report};
use crate::results::{Returned, returned};
use crate::settings::{Progress, Settings};
use crate::side::{Side, Stand, Stops, names};
use crate::tolerance::Tolerance;

/// The most files that a note names.
const MOST_NAMED: usize = 8;

/// The files of a directory, by what they are called without numbers and signs.
struct Golden {
    files: BTreeMap<String, PathBuf>,
    used: Vec<String>,
    /// What is odd about the files.
    notes: Vec<String>,
    /// Whether they are all tensors of a model, as its framework has computed them: dispatches
    /// leave some of these only.
    is_whole: bool,
}

/// Compares a run with the files of a directory.
///
/// # Errors
/// [`CompareError`]: the program cannot be loaded, or the directory has no such file.
pub fn against_files(
    options: LaunchOptions,
    directory: &Path,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, CompareError> {
    let described = format!("the files of {}", directory.display());
    run(options, Golden::open(directory)?, described, settings, progress)
}

/// Compares a run with what a framework has computed, which `described` names, as files of a
/// directory. That it computes tensors which no dispatch leaves is not odd.
///
/// # Errors
/// As [`against_files`].
pub fn against_framework(
    options: LaunchOptions,
    directory: &Path,
    described: String,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, CompareError> {
    let golden = Golden { is_whole: true, ..Golden::open(directory)? };
    run(options, golden, described, settings, progress)
}

/// Compares a run with files of its results, in their order, and with those of a directory.
///
/// # Errors
/// [`CompareError`]: the program cannot be loaded, or the directory has no such file.
pub fn against_expected(
    options: LaunchOptions,
    results: &[PathBuf],
    directory: Option<&Path>,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, CompareError> {
    let empty = || Ok(Golden::of(BTreeMap::new()));
    let mut golden = directory.map_or_else(empty, Golden::open)?;
    for (index, path) in results.iter().enumerate() {
        golden.files.insert(format!("result{index}"), path.clone());
    }
    run(options, golden, "the expected values".to_owned(), settings, progress)
}

fn run(
    options: LaunchOptions,
    mut golden: Golden,
    described: String,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, CompareError> {
    let mut side = Side::load(options, Stops::After)?;
    let mut report = side.report(["the program".to_owned(), described], Mode::Accumulated);
    side.judge(false);
    loop {
        match side.next() {
            Stand::Before(_) => {}
            Stand::After(dispatch) => {
                progress(Progress::Dispatch(side.ran, &dispatch.export));
                report.dispatches.extend(golden.finding(&mut side, dispatch, settings));
            }
            Stand::Over(values) => {
                let tensors = values.iter().map(debug::tensor_of_value);
                let left: Vec<_> = tensors.map(|tensor| side.live_at(&tensor?)).collect();
                report.results = golden.results(&mut side, &returned(&values), &left, settings);
                break;
            }
            Stand::Failed(failure) => {
                report.failed("A", &failure);
                break;
            }
        }
    }
    report.notes.append(&mut golden.notes);
    report.notes.extend(golden.unused());
    Ok(report)
}

impl Golden {
    fn open(directory: &Path) -> Result<Self, CompareError> {
        let wrong =
            |error| CompareError::Directory { path: directory.to_owned(), source: Arc::new(error) };
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(directory).map_err(wrong)? {
            let path = entry.map_err(wrong)?.path();
            if path.extension().is_some_and(|it| it == "npy")
                && let Some(stem) = path.file_stem().and_then(|it| it.to_str())
            {
                files.insert(plain(unnumbered(stem)), path);
            }
        }
        if files.is_empty() {
            return Err(CompareError::NoFiles(directory.to_owned()));
        }
        Ok(Self::of(files))
    }

    fn of(files: BTreeMap<String, PathBuf>) -> Self {
        Self { files, used: Vec::new(), notes: Vec::new(), is_whole: false }
    }

    /// The files that no tensor has the name of, in one sentence.
    fn unused(&self) -> Option<String> {
        if self.is_whole {
            return None;
        }
        let unused: Vec<String> = self
            .files
            .iter()
            .filter(|(name, _)| !self.used.contains(name))
            .map(|(name, path)| {
                let file = path.file_name().map(|it| it.to_string_lossy().into_owned());
                file.unwrap_or_else(|| name.clone())
            })
            .collect();
        let shown = unused.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = unused.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        match unused.len() {
            0 => None,
            1 => Some(format!("no tensor that a dispatch leaves has the name of {shown}")),
            count => Some(format!(
                "no tensor that a dispatch leaves has the name of {count} files: {shown}{more}"
            )),
        }
    }

    /// How a dispatch compares, if there is a file for one of its tensors.
    fn finding(
        &mut self,
        side: &mut Side,
        dispatch: StandingDispatch,
        settings: &Settings,
    ) -> Option<DispatchFinding> {
        let ran = side.ran(&dispatch);
        let mut tensors = Vec::new();
        let written = dispatch.operands.iter().enumerate().filter(|(_, it)| it.is_written);
        for (index, operand) in written {
            let names = names(index, operand);
            let file = names.iter().map(|name| plain(name)).find(|it| self.files.contains_key(it));
            let expected = file.and_then(|file| {
                let tensor = operand.tensor.as_ref()?;
                Some((tensor, self.expected(&file, tensor)))
            });
            match expected {
                Some((tensor, Ok(expected))) => {
                    let left = (&ran, index, tensor);
                    tensors.push(self.compared(side, names, left, &expected, settings));
                    side.leaves(&ran, index, apart(tensor, &expected));
                }
                Some((tensor, Err(reason))) => {
                    tensors.push(TensorFinding::not_compared(names, tensor.type_name(), reason));
                    side.leaves(&ran, index, None);
                }
                None => side.leaves(&ran, index, None),
            }
        }
        (!tensors.is_empty()).then(|| DispatchFinding {
            number: dispatch.number,
            source_text: side.source_text(&dispatch),
            names: (dispatch.export, None),
            node: dispatch.node,
            source: dispatch.source,
            tensors,
            inputs: Vec::new(),
            reason: None,
            compared_with: None,
            judged: None,
        })
    }

    fn results(
        &mut self,
        side: &mut Side,
        returned: &[Returned],
        left: &[Option<Live>],
        settings: &Settings,
    ) -> Vec<TensorFinding> {
        let mut findings = Vec::new();
        for (index, result) in returned.iter().enumerate() {
            let file = format!("result{index}");
            let names = vec![format!("result {index}")];
            if !self.files.contains_key(&file) {
                continue;
            }
            let tensor = match result {
                Returned::Tensor(tensor) => tensor,
                Returned::Text(text) => {
                    let why = "it is no tensor";
                    findings.push(TensorFinding::not_compared(names, text.clone(), why));
                    continue;
                }
            };
            findings.push(match (self.expected(&file, tensor), left.get(index)) {
                (Err(reason), _) => TensorFinding::not_compared(names, tensor.type_name(), reason),
                (Ok(expected), Some(Some(live))) => {
                    let left = (&live.ran, live.operand, tensor);
                    self.compared(side, names, left, &expected, settings)
                }
                (Ok(expected), _) => {
                    let set = settings.overrides.set_for(&names);
                    let fixed = || {
                        let why = "no dispatch is known to have left it";
                        self.fixed(&expected, tensor.element_type(), why)
                    };
                    let allowed = || Allowed::Tolerance(set.unwrap_or_else(fixed));
                    TensorFinding::of(names, [tensor, &expected], &settings.keep, allowed)
                }
            });
        }
        findings
    }

    /// What a file says of a tensor, with its axes.
    fn expected(&mut self, file: &str, tensor: &TensorView) -> Result<TensorView, NotCompared> {
        self.used.push(file.to_owned());
        let path = self.files.get(file).ok_or(NotCompared::NoFile)?;
        let expected =
            read(path).map_err(|source| NotCompared::File { path: path.clone(), source })?;
        let is_float = |it: &TensorView| {
            let kind = it.element_type().kind;
            matches!(kind, NumericalKind::Float | NumericalKind::BrainFloat)
        };
        let regrouped = expected.regrouped(tensor.shape());
        let regrouped = regrouped.filter(|it| is_float(it) == is_float(tensor));
        let (mut nans, mut count) = (0, 0);
        expected
            .each_value(|value| (nans, count) = (nans + usize::from(value.is_nan()), count + 1));
        if nans > 0 {
            let (path, s) = (path.display(), if count == 1 { "" } else { "s" });
            self.notes.push(format!("{path} has NaN: {nans} of {count} element{s}"));
        }
        regrouped.ok_or_else(|| NotCompared::OtherType {
            path: path.clone(),
            found: expected.type_name(),
            own: tensor.type_name(),
        })
    }

    /// A tensor that a dispatch has left, compared with that of another program.
    fn compared(
        &self,
        side: &mut Side,
        names: Vec<String>,
        (ran, operand, tensor): (&Rc<Ran>, usize, &TensorView),
        expected: &TensorView,
        settings: &Settings,
    ) -> TensorFinding {
        let set = settings.overrides.set_for(&names);
        let allowed = || {
            if let Some(set) = set {
                return Allowed::Tolerance(set);
            }
            let element_type = expected.element_type();
            let fixed = |why: &str| self.fixed(expected, element_type, why);
            if element_type.bits < tensor.element_type().bits {
                // The bound is that of the tensor's type, and the file was rounded to its own.
                let types = [tensor, expected].map(TensorView::element_type);
                return Allowed::Tolerance(Tolerance::rounded(types));
            }
            let bounds = side.answer(ran).and_then(|answer| {
                // A bound that has grown from dispatch to dispatch allows too much in the end.
                let is_long = !ran.is_measured();
                let why = "the bound over all dispatches before it is wider";
                let slack = match self.is_whole {
                    true => Tolerance::slack(element_type, greatest(expected)),
                    false => 0.0,
                };
                let bounds = Bounds::of_one((answer, operand, tensor), is_long.then(|| fixed(why)));
                Ok(bounds?.with_slack(slack))
            });
            match bounds {
                Ok(bounds) => Allowed::Bounds(bounds),
                Err(reason) => Allowed::Tolerance(fixed(&format!("there is no bound: {reason}"))),
            }
        };
        TensorFinding::of(names, [tensor, expected], &settings.keep, allowed)
    }

    /// The fixed rule for what a file has.
    fn fixed(&self, expected: &TensorView, element_type: ElementType, why: &str) -> Tolerance {
        match self.is_whole {
            true => Tolerance::of_framework(element_type, greatest(expected), why),
            false => Tolerance::fixed(element_type, why),
        }
    }
}

/// The greatest finite magnitude in a tensor.
fn greatest(tensor: &TensorView) -> f64 {
    let mut greatest = 0.0_f64;
    tensor.each_value(|it| {
        if it.is_finite() {
            greatest = greatest.max(it.abs());
        }
    });
    greatest
}

/// The first tensor of a `.npy` file.
fn read(path: &Path) -> Result<TensorView, FileError> {
    let (tensor, _) = abi::npy::read(&std::fs::read(path)?)?;
    let buffer = vm::Buffer::from_bytes(&tensor.bytes)?;
    Ok(TensorView::new(Arc::new(buffer), tensor.tensor_type())?)
}

/// A name without its sign, as a file can have it: letters, digits and underscores.
fn plain(name: &str) -> String {
    let name = name.trim_start_matches(['%', '"']).trim_end_matches('"');
    let fits = |it: char| it.is_alphanumeric() || it == '_' || it == '-' || it == '.';
    name.chars().map(|it| if fits(it) { it } else { '_' }).collect()
}

/// `%hidden` of `000003.%hidden`, as `iree-dbg tensors` calls its files.
fn unnumbered(stem: &str) -> &str {
    match stem.split_once('.') {
        Some((number, name))
            if !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()) =>
        {
            name
        }
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_names_of_tensors() {
        for (stem, name) in [
            ("hidden", "%hidden"),
            ("000003.%hidden", "%hidden"),
            ("_layer1_Relu", "%\"/layer1/Relu\""),
            ("result0", "result0"),
        ] {
            assert_eq!(plain(unnumbered(stem)), plain(name), "{stem}");
        }
    }
}
