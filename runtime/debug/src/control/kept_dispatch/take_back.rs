//! A dispatch that has begun, or has just run, is the next one again.

use std::any::Any;

use hal::QueueActivity;
use vm::{Activity, Boundary, BoundaryKind};

use crate::machine::Machine;

/// Why a dispatch that has begun is not taken back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotTakenBack {
    #[error("the program is over")]
    Over,
    #[error("no queue runs it")]
    NoQueue,
    #[error(transparent)]
    Queue(#[from] vm::Status),
}

impl Machine {
    /// Makes the dispatch that has begun, or has just run, the next one again. Memory is the
    /// caller's.
    pub(in crate::control) fn take_back(&mut self, name: String) -> Result<(), NotTakenBack> {
        let invocation = self.running().ok_or(NotTakenBack::Over)?;
        if !invocation.unwind_to_native() {
            return Err(NotTakenBack::NoQueue);
        }
        let activity = invocation.innermost_activity_mut();
        let activity = activity.map(|activity: &mut dyn Activity| activity as &mut dyn Any);
        let activity = activity.and_then(|activity| activity.downcast_mut::<QueueActivity>());
        activity.ok_or(NotTakenBack::NoQueue)?.take_back()?;
        invocation.stand_at(Boundary { kind: BoundaryKind::BeforeStep, name });
        let total = self.program.host().device().history().total();
        self.forget_commands_after(total);
        Ok(())
    }
}
