//! [`Verdict`]: what is wrong with the results of a program that is over. They are not those that
//! the launch expects; or, where it expects none, they have NaN or infinities.

use abi::element_type::ElementType;
use abi::tensor::TensorType;
use debug::{TensorView, Traps};
use hal::BufferView;
use serde::{Deserialize, Serialize};
use vm::Value;

use crate::configuration::Expected;

/// What can be wrong with numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Wrong {
    Nan,
    Infinity,
    Difference,
}

impl Wrong {
    /// What stops a program where it begins.
    pub(crate) fn traps(self) -> Traps {
        match self {
            Self::Nan => Traps { nan: true, ..Traps::default() },
            Self::Infinity => Traps { infinity: true, ..Traps::default() },
            Self::Difference => Traps { difference: true, ..Traps::default() },
        }
    }
}

/// What is wrong with the results of a program.
pub(crate) struct Verdict {
    /// What of it is looked for.
    pub(crate) of: Wrong,
    /// In a sentence, for a notification.
    pub(crate) text: String,
    /// All of it, for the console.
    pub(crate) details: String,
}

impl Verdict {
    /// Looks at the results of a program; `None` if nothing is wrong with them.
    pub(crate) fn of(results: &[Value], expected: Option<&Expected>) -> Option<Self> {
        let found: Vec<(usize, Floats)> =
            results.iter().enumerate().map(|(at, it)| (at, Floats::of(it))).collect();
        let differences = expected.map(|it| it.mismatches(results)).unwrap_or_default();
        if expected.is_some() && differences.is_empty() {
            return None;
        }
        let bad = |of: fn(&Floats) -> usize| found.iter().find(move |(_, floats)| of(floats) > 0);
        let (of, text) = match (bad(|it| it.nans), bad(|it| it.infinities)) {
            (Some((at, floats)), _) => (Wrong::Nan, floats.sentence(*at, floats.nans, "NaN")),
            (None, Some((at, floats))) if expected.is_none() => {
                let what = if floats.infinities == 1 { "infinity" } else { "infinities" };
                (Wrong::Infinity, floats.sentence(*at, floats.infinities, what))
            }
            _ if expected.is_some() => {
                (Wrong::Difference, "The results are not the expected ones.".to_owned())
            }
            _ => return None,
        };
        let details = if differences.is_empty() { format!("{text}\n") } else { differences };
        Some(Self { of, text, details })
    }
}

/// How many of some floats are none.
struct Floats {
    nans: usize,
    infinities: usize,
    count: usize,
    is_scalar: bool,
}

impl Floats {
    fn of(value: &Value) -> Self {
        let scalar = |value: f64| Self {
            nans: usize::from(value.is_nan()),
            infinities: usize::from(value.is_infinite()),
            count: 1,
            is_scalar: true,
        };
        match value {
            Value::F32(value) => scalar(f64::from(*value)),
            Value::F64(value) => scalar(*value),
            Value::Ref(reference) => {
                let summary = reference
                    .downcast::<BufferView>()
                    .and_then(tensor)
                    .and_then(|tensor| tensor.summary(usize::MAX));
                let (nans, infinities, count) =
                    summary.map_or((0, 0, 0), |it| (it.nans, it.infinities, it.total));
                Self { nans, infinities, count, is_scalar: false }
            }
            Value::I32(_) | Value::I64(_) => scalar(0.0),
        }
    }

    fn sentence(&self, at: usize, count: usize, what: &str) -> String {
        if self.is_scalar {
            return format!("Result {at} is {what}.");
        }
        format!("Result {at} has {count} {what} among {} elements.", self.count)
    }
}

fn tensor(view: &BufferView) -> Option<TensorView> {
    let element_type = ElementType::from_any_code(view.element_code());
    let tensor_type = TensorType { shape: view.shape().to_vec(), element_type };
    TensorView::new(view.buffer().storage(), tensor_type).ok()
}
