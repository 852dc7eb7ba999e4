//! A dispatch that runs once more, apart from the program. A debugger asks so what it would leave
//! of other inputs.

use vm::{Interrupt, RunControl, Status};

use super::Device;
use crate::commands::ResolvedDispatch;
use crate::executables::Halt;

/// Why a dispatch has not run once more to its end.
#[derive(Debug)]
pub enum Unfinished {
    /// A stop was requested. The request stays.
    Interrupted,
    /// A workgroup failed.
    Failed(Status),
}

impl Device {
    /// Runs all workgroups of a dispatch once more on the memory as it is now, apart from the queue
    /// that it belongs to: no history, no boundary and no profile has that run. The caller keeps
    /// the memory, and puts it back.
    ///
    /// # Errors
    /// A workgroup failed, or `interrupt` was requested; some workgroups may have run then.
    pub fn run_apart(
        &self,
        dispatch: &ResolvedDispatch,
        interrupt: &Interrupt,
    ) -> Result<(), Unfinished> {
        let ResolvedDispatch { executable, dispatch, .. } = dispatch;
        let all = 0..dispatch.total_workgroups();
        let control = RunControl { interrupt: interrupt.clone(), ..RunControl::default() };
        self.pool().run_untimed(executable, dispatch, all, &control).map_err(|halt| match halt {
            Halt::Failed(status) | Halt::FailedInside(status, _) => Unfinished::Failed(status),
            Halt::Interrupted(_) => Unfinished::Interrupted,
        })
    }
}
