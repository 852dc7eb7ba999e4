//! How a run of workgroups ends before all of them are done.
//!
//! ```text
//! run 0..100 ──> Ok                                      all have run
//!            ──> Halt::Failed      status                a workgroup failed
//!            ──> Halt::FailedInside status, [12]         and here it stands, to be inspected
//!            ──> Halt::Interrupted inside [12, 57]       these were interrupted, and can resume
//!                                  rest [13..20, 58..100] these have not begun
//! ```
//!
//! An interrupted workgroup resumes where it was interrupted. It never runs again from its start,
//! as it may have changed memory already.

use std::fmt::Debug;
use std::ops::Range;

use vm::{MovedFrames, RunControl, Status};

use super::machine::MachineState;

/// Why a run ended early.
#[derive(Debug)]
pub enum Halt {
    /// A workgroup failed. Other workgroups may or may not have run.
    Failed(Status),
    /// A workgroup failed, and is kept as it stands at the failure.
    FailedInside(Status, Box<dyn PausedWorkgroup>),
    /// A stop was requested.
    Interrupted(Interrupted),
}

/// The rest of an interrupted run.
#[derive(Debug, Default)]
pub struct Interrupted {
    /// Workgroups that were interrupted: at most one for each thread.
    pub(crate) inside: Vec<Box<dyn PausedWorkgroup>>,
    /// Workgroups that have not begun.
    pub(crate) rest: Vec<Range<u64>>,
}

/// A workgroup that was interrupted or has failed, and runs on no thread.
pub trait PausedWorkgroup: Send + Debug {
    /// Its number, where x varies fastest.
    fn workgroup(&self) -> u64;

    /// Its frames, if it is bytecode: they can resume on the program's stack. The workgroup itself
    /// cannot be resumed then.
    fn take_frames(&mut self) -> Option<MovedFrames> {
        None
    }

    /// Where machine code stopped; `None` for bytecode.
    fn machine_state(&self) -> Option<&MachineState> {
        None
    }

    /// Resumes it on the calling thread, to its end or to the next interrupt.
    ///
    /// # Errors
    /// It fails, or it is interrupted again. The halt holds this workgroup alone.
    fn resume(self: Box<Self>, control: &RunControl) -> Result<(), Halt>;
}

impl From<Status> for Halt {
    fn from(status: Status) -> Self {
        Self::Failed(status)
    }
}

impl Halt {
    /// Interrupted between workgroups.
    #[must_use]
    pub(crate) fn before(rest: Range<u64>) -> Self {
        Self::Interrupted(Interrupted { inside: Vec::new(), rest: vec![rest] })
    }

    /// This halt, of a thread that had the workgroups of `rest` still to run.
    #[must_use]
    pub(crate) fn and_not_begun(self, rest: Range<u64>) -> Self {
        if rest.is_empty() { self } else { self.and(Self::before(rest)) }
    }

    /// The halts of two threads as one. A failure outweighs an interrupt.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Interrupted(mut one), Self::Interrupted(other)) => {
                one.inside.extend(other.inside);
                one.rest.extend(other.rest);
                Self::Interrupted(one)
            }
            (Self::Interrupted(_), failed) | (failed, _) => failed,
        }
    }
}
