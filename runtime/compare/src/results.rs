//! The results of a function as tensors, and how those of two runs compare.

use debug::TensorView;
use vm::Value;

use crate::allowed::Allowed;
use crate::finding::{TensorFinding, Verdict};
use crate::settings::Settings;

/// The most elements of a result that is no tensor and is compared as text.
const MOST_ELEMENTS: usize = 1 << 20;

/// A result of a function.
#[derive(Clone, Debug)]
pub(crate) enum Returned {
    Tensor(TensorView),
    /// Anything else, as text.
    Text(String),
}

/// The results, in memory of their own.
pub(crate) fn returned(values: &[Value]) -> Vec<Returned> {
    let result = |value: &Value| {
        let kept = debug::tensor_of_value(value).and_then(|tensor| tensor.kept().ok());
        match kept {
            Some(tensor) => Returned::Tensor(tensor),
            None => Returned::Text(vm::value_text::format_value(value, MOST_ELEMENTS)),
        }
    };
    values.iter().map(result).collect()
}

/// How the results of two runs compare, given what is allowed for the one with a number, unless the
/// user has said so.
pub(crate) fn compared(
    a: &[Returned],
    b: &[Returned],
    settings: &Settings,
    mut allowed: impl FnMut(usize) -> Allowed,
) -> Vec<TensorFinding> {
    let mut findings = Vec::new();
    for index in 0..a.len().max(b.len()) {
        let names = vec![format!("result {index}")];
        findings.push(match (a.get(index), b.get(index)) {
            (Some(Returned::Tensor(a)), Some(Returned::Tensor(b))) => {
                let set = settings.overrides.set_for(&names).map(Allowed::Tolerance);
                let allowed = || set.unwrap_or_else(|| allowed(index));
                TensorFinding::of(names, [a, b], &settings.keep, allowed)
            }
            (Some(Returned::Text(a)), Some(Returned::Text(b))) => {
                let verdict = if a == b { Verdict::Equal } else { Verdict::Differs };
                let reason = (a != b).then(|| format!("A {a}, B {b}"));
                let unknown = TensorFinding::not_compared(names, String::new(), "");
                TensorFinding { verdict, reason, ..unknown }
            }
            _ => TensorFinding::not_compared(names, String::new(), "only one side has it"),
        });
    }
    findings
}
