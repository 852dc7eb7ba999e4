//! How a run of workgroups ends before all of them are done.
//!
//! ```text
//! run 0..100 ──> Ok                                      all have run
//!            ──> Halt::Failed      status                one of them failed
//!            ──> Halt::FailedInside status, [12]         and this is where, for people to look at
//!            ──> Halt::Interrupted inside [12, 57]       in the middle of these, which can go on
//!                                  rest [13..20, 58..100] these have not begun
//! ```
//!
//! A workgroup that was interrupted goes on where it is and is never run again from its start: it
//! may have changed memory already.

use std::fmt::Debug;
use std::ops::Range;

use vm::{MovedFrames, RunControl, Status};

use super::machine::MachineState;

/// Why a run ended early.
#[derive(Debug)]
pub enum Halt {
    /// A workgroup failed; the ones after it did not run, others may have.
    Failed(Status),
    /// The same with the workgroup as it stands where it failed.
    FailedInside(Status, Box<dyn PausedWorkgroup>),
    /// Somebody asked for a stop.
    Interrupted(Interrupted),
}

/// What is left of an interrupted run.
#[derive(Debug, Default)]
pub struct Interrupted {
    /// Workgroups that are in the middle: one at most for each thread.
    pub(crate) inside: Vec<Box<dyn PausedWorkgroup>>,
    /// Those that have not begun.
    pub(crate) rest: Vec<Range<u64>>,
}

/// A workgroup in the middle, on no thread.
pub trait PausedWorkgroup: Send + Debug {
    /// Which one it is, counted with x fastest.
    fn workgroup(&self) -> u64;

    /// Its frames, if it is bytecode: to go on on the stack of the program. Then it cannot be
    /// resumed.
    fn take_frames(&mut self) -> Option<MovedFrames> {
        None
    }

    /// Where machine code is; `None` of bytecode.
    fn machine_state(&self) -> Option<&MachineState> {
        None
    }

    /// Goes on with it, to its end or to the next interrupt, on the calling thread.
    ///
    /// # Errors
    /// It fails, or it is interrupted again; then nothing but it is left.
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

    /// The halt of a thread that would have gone on with these.
    #[must_use]
    pub(crate) fn and_not_begun(self, rest: Range<u64>) -> Self {
        if rest.is_empty() { self } else { self.and(Self::before(rest)) }
    }

    /// Both, where two threads have halted. A failure is more than an interrupt.
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
