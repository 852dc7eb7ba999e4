//! A run against files of expected values: `.npy` files by the names of tensors, as
//! `hidden.npy` or `000000.%hidden.npy` for `%hidden`, and `result0.npy` for the first result; or
//! files of the results, in their order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abi::element_type::NumericalKind;
use debug::{LaunchOptions, StandingDispatch, TensorView};

use crate::finding::TensorFinding;
use crate::report::{DispatchFinding, Mode, Report};
use crate::results::{Returned, returned};
use crate::settings::{Progress, Settings};
use crate::side::{Side, Stand, Stops, names};
use crate::tolerance::Tolerance;

/// The files of a directory, by what they are called without numbers and signs.
struct Golden {
    files: BTreeMap<String, PathBuf>,
    used: Vec<String>,
}

/// Compares a run with the files of a directory.
///
/// # Errors
/// The program cannot be loaded, or the directory has no such file.
pub fn against_files(
    options: LaunchOptions,
    directory: &Path,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, String> {
    let described = format!("the files of {}", directory.display());
    run(options, Golden::open(directory)?, described, settings, progress)
}

/// Compares a run with files of its results, in their order, and with those of a directory.
///
/// # Errors
/// The program cannot be loaded, or the directory has no such file.
pub fn against_expected(
    options: LaunchOptions,
    results: &[PathBuf],
    directory: Option<&Path>,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, String> {
    let empty = || Ok(Golden { files: BTreeMap::new(), used: Vec::new() });
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
) -> Result<Report, String> {
    let mut side = Side::load(options, Stops::After)?;
    let mut report = side.report(["the program".to_owned(), described], Mode::Accumulated);
    let mut carried = 0.0;
    loop {
        match side.next() {
            Stand::Before(_) => {}
            Stand::After(dispatch) => {
                progress(Progress::Dispatch(side.ran, &dispatch.export));
                let mut results = dispatch.operands.iter().filter(|it| it.is_written);
                if let Some(tensor) = results.find_map(|it| it.tensor.as_ref()) {
                    carried += Tolerance::relative_of(&side.work(&dispatch), tensor);
                }
                report.dispatches.extend(golden.finding(&side, dispatch, carried, settings));
            }
            Stand::Over(values) => {
                report.results = golden.results(&returned(&values), carried, settings);
                break;
            }
            Stand::Failed(failure) => {
                report.failed("A", &failure);
                break;
            }
        }
    }
    let unused = golden.files.iter().filter(|(name, _)| !golden.used.contains(name));
    report.notes.extend(unused.map(|(_, path)| {
        format!("{}: no tensor that a dispatch leaves has this name", path.display())
    }));
    Ok(report)
}

impl Golden {
    fn open(directory: &Path) -> Result<Self, String> {
        let wrong = |error: std::io::Error| format!("{}: {error}", directory.display());
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
            let how = "name them by their tensors, or result0.npy";
            return Err(format!("{} has no .npy files; {how}", directory.display()));
        }
        Ok(Self { files, used: Vec::new() })
    }

    /// How a dispatch compares, if there is a file for one of its tensors.
    fn finding(
        &mut self,
        side: &Side,
        dispatch: StandingDispatch,
        carried: f64,
        settings: &Settings,
    ) -> Option<DispatchFinding> {
        let mut tensors = Vec::new();
        let written = dispatch.operands.iter().enumerate().filter(|(_, it)| it.is_written);
        for (index, operand) in written {
            let names = names(index, operand);
            let file = names.iter().map(|name| plain(name)).find(|it| self.files.contains_key(it));
            let (Some(file), Some(tensor)) = (file, &operand.tensor) else { continue };
            tensors.push(self.compared(&file, names, tensor, carried, settings));
        }
        (!tensors.is_empty()).then(|| DispatchFinding {
            number: side.ran - 1,
            source_text: side.source_text(&dispatch),
            names: (dispatch.export, None),
            source: dispatch.source,
            tensors,
            inputs: Vec::new(),
            reason: None,
        })
    }

    fn results(
        &mut self,
        returned: &[Returned],
        carried: f64,
        settings: &Settings,
    ) -> Vec<TensorFinding> {
        let mut findings = Vec::new();
        for (index, result) in returned.iter().enumerate() {
            let file = format!("result{index}");
            let names = vec![format!("result {index}")];
            if !self.files.contains_key(&file) {
                continue;
            }
            findings.push(match result {
                Returned::Tensor(tensor) => self.compared(&file, names, tensor, carried, settings),
                Returned::Text(text) => {
                    TensorFinding::not_compared(names, text.clone(), "it is no tensor")
                }
            });
        }
        findings
    }

    fn compared(
        &mut self,
        file: &str,
        names: Vec<String>,
        tensor: &TensorView,
        carried: f64,
        settings: &Settings,
    ) -> TensorFinding {
        self.used.push(file.to_owned());
        let Some(path) = self.files.get(file) else {
            return TensorFinding::not_compared(names, tensor.type_name(), "there is no file");
        };
        let expected = match read(path) {
            Ok(expected) => expected,
            Err(reason) => {
                let reason = format!("{}: {reason}", path.display());
                return TensorFinding::not_compared(names, tensor.type_name(), reason);
            }
        };
        let is_float = |it: &TensorView| {
            let kind = it.element_type().kind;
            matches!(kind, NumericalKind::Float | NumericalKind::BrainFloat)
        };
        if tensor.shape() != expected.shape() || is_float(tensor) != is_float(&expected) {
            let (own, other) = (tensor.type_name(), expected.type_name());
            let reason = format!("{} has {other}, and the tensor is {own}", path.display());
            return TensorFinding::not_compared(names, own, reason);
        }
        let tolerance = || {
            let own = Tolerance::carried(carried, tensor, "errors up to here");
            settings.overrides.applied(own, &names)
        };
        TensorFinding::of(names.clone(), tensor, &expected, tolerance)
    }
}

/// The first tensor of a `.npy` file.
fn read(path: &Path) -> Result<TensorView, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let (tensor, _) = abi::npy::read(&bytes).map_err(|error| error.to_string())?;
    let buffer = vm::Buffer::from_bytes(&tensor.bytes).map_err(|status| status.to_string())?;
    TensorView::new(Arc::new(buffer), tensor.tensor_type())
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
