//! What a dispatch has left that ran again, compared with what it had left before.

use std::fmt;

use vm::FrameIndex;

use super::{Left, LeftTensor};
use crate::machine::Machine;
use crate::tensor::{Comparison, Differences};
use crate::view::frame::SourceLine;

/// A dispatch that ran again.
#[derive(Clone, Debug)]
pub struct DispatchRerun {
    /// The export that it runs.
    pub export: String,
    /// The number of its command.
    pub number: u64,
    /// The operation of the source that it was made from.
    pub source: Option<SourceLine>,
    /// The tensors that it may write.
    pub results: Vec<RerunResult>,
    /// Whether it has left the same bytes.
    pub is_same: bool,
    /// Whether bytes differ that belong to none of the tensors.
    pub differs_elsewhere: bool,
}

/// A tensor of it: how it is different from what it was.
#[derive(Clone, Debug)]
pub struct RerunResult {
    /// What it is called: as in the source, or as `expression`.
    pub name: String,
    /// As an expression, `operand[2]`.
    pub expression: String,
    /// Shape and element type.
    pub type_name: String,
    /// What has changed; none if its elements have no values.
    pub differences: Option<Differences>,
    /// Where the largest difference is, if there is one.
    pub worst_at: Option<Vec<usize>>,
}

impl DispatchRerun {
    /// Compares what the dispatch has left that has just run with what it had left before.
    pub(in crate::control) fn of(machine: &Machine, number: u64, left: &Left) -> Option<Self> {
        let frame = FrameIndex(0);
        let dispatch = machine.dispatch(frame)?;
        let now = machine.written_tensors(&dispatch);
        let results = left.tensors.iter().filter_map(|before| {
            let LeftTensor { place, name, tensor } = before;
            let (_, now) = now.iter().find(|(it, _)| it == place)?;
            let comparison = Comparison::of(now.clone(), tensor).ok();
            let differences = comparison.and_then(|it| it.differences().ok());
            let worst = differences.as_ref().and_then(|it| it.worst.as_ref());
            let worst_at = worst.map(|worst| now.indices_of(worst.index));
            Some(RerunResult {
                name: name.clone(),
                expression: place.to_string(),
                type_name: now.type_name(),
                differences,
                worst_at,
            })
        });
        let results = results.collect();
        let ranges: Vec<_> = now.iter().map(|(_, tensor)| tensor.addresses()).collect();
        Some(Self {
            export: dispatch.executable.name_of(dispatch.dispatch.export).into_owned(),
            number,
            source: machine.dispatch_source(frame),
            results,
            is_same: !left.memory.iter().any(|it| it.differs_outside(&[])),
            differs_elsewhere: left.memory.iter().any(|it| it.differs_outside(&ranges)),
        })
    }
}

impl fmt::Display for DispatchRerun {
    /// `@layers_dispatch_1 (command 3) ran again: %y : 4x8xf32: 32 of 32 elements differ, …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{} (command {}) ran again: ", self.export, self.number)?;
        let names: Vec<&str> = self.results.iter().map(|it| it.name.as_str()).collect();
        if self.is_same {
            let into =
                if names.is_empty() { String::new() } else { format!(" in {}", names.join(", ")) };
            return write!(f, "it has left the same bytes as before{into}");
        }
        let mut parts: Vec<String> = self.results.iter().map(RerunResult::to_string).collect();
        if self.differs_elsewhere {
            parts.push("bytes outside of these tensors differ".to_owned());
        }
        f.write_str(&parts.join("; "))
    }
}

impl fmt::Display for RerunResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, type_name, differences, worst_at, .. } = self;
        write!(f, "{name} : {type_name}: ")?;
        let Some(differences) = differences else {
            return f.write_str("its elements have no values to compare");
        };
        let Differences { count, different, nans, worst, .. } = differences;
        let (Some(worst), Some(at)) = (worst, worst_at) else {
            return f.write_str("the same values; the bits of a zero or a NaN may differ");
        };
        write!(f, "{different} of {count} elements differ, ")?;
        let [now, before] = &worst.texts;
        match worst.difference {
            it if it.is_nan() => write!(f, "{nans} as only one of both is NaN, the first")?,
            it => write!(f, "at most by {}", Rounded(it))?,
        }
        write!(f, " at {at:?}: {now}, before {before}")
    }
}

/// A distance, with few digits.
struct Rounded(f64);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            it if it.fract() == 0.0 && it.abs() < 1e15 => write!(f, "{it}"),
            it if (1e-3..1e6).contains(&it.abs()) => {
                write!(f, "{}", format!("{it:.6}").trim_end_matches('0'))
            }
            it => write!(f, "{it:.4e}"),
        }
    }
}
