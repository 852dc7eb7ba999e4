//! What the commands that ran have read and written, in terms of the program of tensors.

use std::sync::Arc;

use debuginfo::{TensorOperationId, TensorValueId};
use hal::{CommandRecord, Span};

/// What the commands that ran have read and written.
#[derive(Debug, Default)]
pub(crate) struct TensorMemory {
    /// How many commands had run.
    pub(crate) total: u64,
    /// The last of them, oldest first.
    pub(crate) commands: Vec<CommandUses>,
}

/// What a command has read and written.
#[derive(Debug)]
pub(crate) struct CommandUses {
    pub(crate) record: Arc<CommandRecord>,
    /// The operation of the program of tensors that it ran.
    pub(crate) operation: Option<TensorOperationId>,
    pub(crate) tensors: Vec<UsedTensor>,
    /// Everything that it may have written.
    pub(crate) written: Vec<Span>,
}

/// A tensor of a dispatch.
#[derive(Clone, Debug)]
pub(crate) struct UsedTensor {
    pub(crate) value: TensorValueId,
    pub(crate) span: Span,
    /// Its shape and element type, with sizes.
    pub(crate) tensor_type: String,
    pub(crate) is_written: bool,
}

impl CommandUses {
    /// Whether it may have written a byte of a span.
    pub(crate) fn may_have_written(&self, span: &Span) -> bool {
        self.written.iter().any(|it| it.overlaps(span))
    }
}
