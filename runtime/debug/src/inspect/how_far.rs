//! How far the program has come, in commands.

use vm::{BoundaryKind, FrameIndex, Invocation};

use crate::machine::Machine;

/// How far the program has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HowFar {
    /// How many commands have run.
    pub commands: u64,
    /// The command that is next, or has begun, if the program stands at one.
    pub at: Option<AtCommand>,
    /// Whether it is in the initialisers of its modules.
    pub is_initializing: bool,
}

/// The command at which a program stands, by its number among all that ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtCommand {
    /// Before it.
    Before(u64),
    /// In it.
    In(u64),
}

impl Machine {
    /// How far the program has come.
    #[must_use]
    pub fn how_far(&self) -> HowFar {
        HowFar {
            commands: self.program.host().device().history().total(),
            at: self.at_command(),
            is_initializing: self.is_initializing(),
        }
    }

    fn at_command(&self) -> Option<AtCommand> {
        let activity = self.queue_activity(FrameIndex(0))?;
        let number = activity.number().filter(|_| !activity.is_after_step())?;
        let boundary = self.invocation().and_then(Invocation::boundary);
        let is_before = boundary.is_some_and(|it| it.kind == BoundaryKind::BeforeStep);
        Some(if is_before { AtCommand::Before(number) } else { AtCommand::In(number) })
    }
}
