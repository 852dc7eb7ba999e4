//! How far the dispatch of a frame is, and what that means for the tensors that it writes.
//!
//! Before a dispatch has ended, what it is to leave is not there: its memory has the bytes of
//! another tensor, or some of both.

use debuginfo::OperandAccess;
use vm::FrameIndex;

use crate::machine::Machine;
use crate::view::absent::Absent;
use crate::view::variable::Variable;

/// How far a command is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    Waiting,
    Running,
    Done,
}

impl Machine {
    pub(super) fn progress_of(&self, frame: FrameIndex) -> Progress {
        match self.queue_activity(frame) {
            Some(activity) if activity.is_after_step() => Progress::Done,
            Some(activity) if activity.has_begun() => Progress::Running,
            _ => Progress::Waiting,
        }
    }

    /// Why an operand of a frame's dispatch has no value yet: the dispatch is to write it, and has
    /// not ended. What is in its memory are bytes of another tensor, or some of both.
    pub(crate) fn unwritten_operand(&self, frame: FrameIndex, index: usize) -> Option<Absent> {
        let progress = self.progress_of(frame);
        if progress == Progress::Done {
            return None;
        }
        let operands = self.operands(&self.dispatch(frame)?);
        let (operand, _) = operands.get(index)?;
        unwritten(progress, operand.access)
    }
}

/// Why a tensor has no value yet that a dispatch only writes.
fn unwritten(progress: Progress, access: OperandAccess) -> Option<Absent> {
    match (progress, access) {
        (Progress::Waiting, OperandAccess::Write) => Some(Absent::NotYetComputed),
        (Progress::Running, OperandAccess::Write) => Some(Absent::BeingComputed),
        _ => None,
    }
}

/// An operand of a dispatch as it is shown while the dispatch is so far.
pub(super) fn as_far_as(progress: Progress, access: OperandAccess, shown: Variable) -> Variable {
    if let Some(reason) = unwritten(progress, access) {
        let Variable { name, type_name, evaluate_name, .. } = shown;
        return Variable { evaluate_name, ..Variable::without_value(name, reason, type_name) };
    }
    let note = match (progress, access) {
        (Progress::Waiting, OperandAccess::ReadWrite) => ", as before the dispatch",
        (Progress::Running, OperandAccess::ReadWrite) => ", being changed",
        _ => "",
    };
    Variable { type_name: format!("{}{note}", shown.type_name), ..shown }
}
