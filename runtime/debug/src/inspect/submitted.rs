//! What the code of a dispatch does not know, and the function knows that has submitted it: the
//! numbers of the host around the dispatch, such as the counter of the loop that runs it.
//!
//! ```text
//!  #0 the dispatch's code         %i: in none of its registers
//!  #1 workgroup (0,0,0)
//!  #2 the command, submitted by
//!     a function that stands      %i: in a register of that function, with its own proof
//!     at the submission
//! ```
//!
//! A name is the same value in both if it is defined at the same place of the same file, and the
//! same inlined calls lead there.

use std::sync::Arc;

use debuginfo::{MissingReason, ScopedValue, ValueLocation};
use hal::QueueActivity;
use vm::{FrameFunction, FrameIndex};

use crate::machine::Machine;
use crate::view::frame::FrameId;

/// The names of the command that a frame of a dispatch's code belongs to.
pub(super) struct Submitted {
    /// The frame of the command.
    pub(super) frame: FrameId,
    scope: Arc<[ScopedValue]>,
}

impl Submitted {
    /// The value of the command's frame that a value of the dispatch's code is, if it is a number
    /// that is known there.
    pub(super) fn value(&self, value: &ScopedValue) -> Option<&ScopedValue> {
        let is_it = |it: &&ScopedValue| {
            it.name == value.name
                && it.defined_at.is_some()
                && it.defined_at == value.defined_at
                && it.scalar.is_some()
                && !matches!(it.location, ValueLocation::Missing(_))
        };
        self.scope.iter().rev().find(is_it)
    }
}

impl Machine {
    /// Whether the command of a frame runs later than it was submitted, so that the registers of
    /// the function that had submitted it are no longer those of that moment.
    pub(super) fn runs_late(&self, frame: FrameIndex) -> bool {
        self.queue_activity(frame).is_some_and(QueueActivity::is_late)
    }

    /// The names of the command that a frame of a dispatch's code belongs to; `None` for others.
    pub(super) fn submitted(&self, frame: FrameId) -> Option<Submitted> {
        let own = self.position_in(frame.index)?;
        self.program.module(own.function.module).filter(|it| it.is_nested)?;
        let command = FrameId { index: self.command_around(frame.index)?, ..frame };
        let (module, path) = self.path_in_source(self.level, frame)?;
        let (submitting, submitted_path) = self.path_in_source(self.level, command)?;
        let (mut here, mut there) = (module.written(&path), submitting.written(&submitted_path));
        let (place, other) = (here.pop()?, there.pop()?);
        // Code that operations share is told apart by the operation for which it runs.
        let is_same = self.own_path(self.level, frame.index, own).is_some() || here == there;
        let scope = self.scope_of(self.level, command)?;
        (is_same && place.file == other.file).then_some(Submitted { frame: command, scope })
    }

    /// A number of a dispatch's code that only the function around it knows: its frame, and itself
    /// there.
    pub(super) fn outside(
        &self,
        frame: FrameId,
        value: &ScopedValue,
    ) -> Option<(FrameId, ScopedValue)> {
        let ValueLocation::Missing(reason) = value.location else { return None };
        let submitted = self.submitted(frame).filter(|_| reason != MissingReason::Tensor)?;
        Some((submitted.frame, submitted.value(value)?.clone()))
    }

    /// The frame of the command around a frame of a dispatch's code.
    fn command_around(&self, frame: FrameIndex) -> Option<FrameIndex> {
        let invocation = self.invocation()?;
        let is_command = |index: &FrameIndex| {
            let function = invocation.frame(&self.context, *index).map(|it| it.function);
            matches!(function, Some(FrameFunction::Part { level: 0, .. }))
        };
        let mut around = (frame.0 + 1..invocation.depth()).map(FrameIndex);
        around.find(is_command).filter(|index| self.command(*index).is_some())
    }
}
