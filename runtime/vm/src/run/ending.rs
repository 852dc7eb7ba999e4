//! What the end of a run means for its invocation.

use super::invocation::{End, Invocation};
use super::native_frame::NativeFrame;
use super::outcome::{Outcome, Stop};
use crate::context::Context;
use crate::errors::{Failure, Status};
use crate::machine::Exit;
use crate::position::Position;

impl Invocation {
    /// What the end of a run means; `None`: another function starts.
    pub(crate) fn conclude(&mut self, context: &Context, exit: Exit) -> Option<Outcome> {
        Some(match exit {
            Exit::Completed(_) if self.start.is_some() => return None,
            Exit::Completed(results) => {
                self.end = Some(End::Completed);
                if let Ok(mut spare) = context.spare_stack.try_lock() {
                    *spare = Some(std::mem::take(&mut self.stack));
                }
                Outcome::Completed(results)
            }
            Exit::Yielded | Exit::Suspended => Outcome::Yielded,
            Exit::Breakpoint => self.stopped(context, Stop::Breakpoint),
            Exit::Requested => self.stopped(context, Stop::Requested),
            Exit::Interrupted => self.stopped(context, Stop::Interrupted),
            Exit::Due => self.stopped(context, Stop::Turn),
            Exit::Observed => self.stopped(context, Stop::Step),
            Exit::Failed(status) => self.fail(context, status),
        })
    }

    pub(crate) fn stopped(&mut self, context: &Context, reason: fn(Position) -> Stop) -> Outcome {
        match self.position(context) {
            Some(position) => {
                self.is_stopped = !self.is_in_native();
                Outcome::Stopped(reason(position))
            }
            None => Outcome::Yielded,
        }
    }

    pub(crate) fn fail(&mut self, context: &Context, status: Status) -> Outcome {
        let status = self.explain(status);
        let failure = Failure { status, backtrace: self.backtrace(context) };
        self.end = Some(End::Failed(failure.clone()));
        Outcome::Failed(failure)
    }

    /// Ends the invocation because its frames were taken; returns its failure, if it has failed.
    pub(crate) fn give_up(&mut self) -> Option<Status> {
        match self.end.replace(End::Completed) {
            Some(End::Failed(failure)) => Some(failure.status),
            Some(End::Completed) | None => None,
        }
    }

    /// A failure with what the activities on the stack add to it.
    pub(crate) fn explain(&self, status: Status) -> Status {
        let activities = self.natives.iter().rev().filter_map(NativeFrame::activity);
        activities.fold(status, |status, activity| activity.explain(status))
    }
}
