//! What has run so far, as data.

use debuginfo::TensorOperationId;
use hal::{Runs, Timing};

use super::frame::SourceLine;

/// What has run so far.
#[derive(Clone, Debug, Default)]
pub struct RunMap {
    /// The dispatches that the program records, in its order.
    pub dispatches: Vec<DispatchRuns>,
    /// The last commands that ran, oldest first.
    pub commands: Vec<RanCommand>,
    /// How many commands have run.
    pub total: u64,
}

/// A dispatch and its runs.
#[derive(Clone, Debug)]
pub struct DispatchRuns {
    /// The operation of the program of tensors, by its place in the text.
    pub operation: Option<TensorOperationId>,
    /// The operation of the source.
    pub source: Option<SourceLine>,
    /// The export that it runs, if that is known.
    pub export: Option<String>,
    /// Its runs.
    pub runs: Option<Runs>,
    /// Whether the program stands at it.
    pub is_current: bool,
    /// What was found in the tensors that its last run left.
    pub numbers: Option<Numbers>,
}

/// What was found in tensors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// How many elements are NaN.
    pub nans: usize,
    /// How many are infinite.
    pub infinities: usize,
}

/// A command that ran.
#[derive(Clone, Debug)]
pub struct RanCommand {
    /// Its number among all commands, from 1.
    pub number: u64,
    /// `dispatch`, `fill`, `update` or `copy`.
    pub kind: &'static str,
    /// The dispatch, by its index in [`RunMap::dispatches`].
    pub dispatch: Option<usize>,
    /// When it ran.
    pub timing: Timing,
}
