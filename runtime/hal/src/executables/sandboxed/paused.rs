//! Workgroups that stand in the child, and what a request about them leads to.

use std::ops::Range;
use std::sync::Arc;

use vm::{RunControl, Status};

use super::messages::{SentHalt, SentState, resume};
use super::owner::{Answer, Failed, Reachable, Sandbox, Worker};
use crate::executables::halt::{Halt, Interrupted, PausedWorkgroup};
use crate::executables::machine::MachineState;

/// A dispatch in a child.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) sandbox: Arc<Sandbox>,
    pub(super) worker: Arc<Worker>,
    pub(super) reachable: Reachable<'static>,
    /// Its name.
    pub(super) name: String,
}

/// A workgroup that stands in the child.
#[derive(Debug)]
struct Standing {
    site: Site,
    /// Its number there; `None` once the child was told to go on with it, or has ended.
    number: Option<u64>,
    machine: MachineState,
}

impl Site {
    /// What an answer of the child means.
    ///
    /// # Errors
    /// It halted. If something failed, the child has ended.
    pub(super) fn settle(self, answer: Result<Answer, Failed>) -> Result<(), Halt> {
        match answer {
            Ok(Answer::Done) => Ok(()),
            Ok(Answer::Halted(SentHalt::Interrupted { inside, rest })) => {
                let rest = self.checked(rest)?;
                let inside = inside.iter().map(|state| self.standing(state, true)).collect();
                Err(Halt::Interrupted(Interrupted { inside, rest }))
            }
            Ok(Answer::Halted(SentHalt::Failed(status))) => {
                self.sandbox.retire(&self.worker);
                Err(Status::from(status).into())
            }
            Ok(Answer::Halted(SentHalt::FailedInside(status, state))) => {
                self.sandbox.retire(&self.worker);
                Err(Halt::FailedInside(status.into(), self.standing(&state, false)))
            }
            Err(failed) => {
                self.sandbox.retire(&self.worker);
                let gone = matches!(failed, Failed::Gone(_));
                let status = Status::from(failed);
                Err(if gone { self.explain(status).into() } else { status.into() })
            }
        }
    }

    /// Adds the dispatch to a failure that may be of any of its workgroups.
    fn explain(&self, status: Status) -> Status {
        let Status { code, message } = status;
        Status::new(code, format!("{message}; in dispatch @{}", self.name))
    }

    /// The ranges that the child says are left, if the dispatch has them.
    fn checked(&self, rest: Vec<Range<u64>>) -> Result<Vec<Range<u64>>, Halt> {
        let total = self.reachable.dispatch.total_workgroups();
        if rest.iter().all(|range| range.start < range.end && range.end <= total) {
            return Ok(rest);
        }
        self.sandbox.retire(&self.worker);
        Err(self.explain(Status::from(Failed::Gone(sandbox::Gone::Nonsense))).into())
    }

    fn standing(&self, state: &SentState, can_resume: bool) -> Box<dyn PausedWorkgroup> {
        let mut machine = state.machine();
        let address = machine.fault.as_mut().and_then(|fault| fault.address.as_mut());
        if let Some(address) = address {
            *address = self.reachable.address_here(*address);
        }
        let number = can_resume.then_some(state.number);
        Box::new(Standing { site: self.clone(), number, machine })
    }
}

impl PausedWorkgroup for Standing {
    fn workgroup(&self) -> u64 {
        self.machine.workgroup
    }

    fn machine_state(&self) -> Option<&MachineState> {
        Some(&self.machine)
    }

    fn resume(mut self: Box<Self>, control: &RunControl) -> Result<(), Halt> {
        let Some(number) = self.number.take() else {
            let text = "the sandbox with the workgroup has ended";
            return Err(Status::new(vm::StatusCode::Aborted, text).into());
        };
        let workgroup = self.machine.workgroup;
        let site = self.site.clone();
        let answer = site.worker.ask(&resume(number), &[], control, workgroup);
        site.settle(answer)
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.site.worker.forget(number);
        }
    }
}
