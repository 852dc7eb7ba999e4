//! An executable whose code is in a child.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use vm::{RunControl, Status};

use super::messages::{Request, Run};
use super::owner::{Failed, Loadable, Sandbox};
use super::paused::Site;
use crate::executables::dispatch::Dispatch;
use crate::executables::halt::{Halt, Interrupted};
use crate::executables::interface::{Executable, Export};
use crate::executables::native;

/// An executable in a sandbox.
#[derive(Debug)]
pub(super) struct SandboxedExecutable {
    sandbox: Arc<Sandbox>,
    loadable: Arc<Loadable>,
    exports: Vec<Export>,
}

/// Loads an executable in a sandbox.
///
/// # Errors
/// There is no sandbox, the format needs more than one has, or the data is damaged.
pub(crate) fn load(
    sandbox: Arc<Sandbox>,
    format: &str,
    data: &vm::Buffer,
    constants: &[u32],
) -> Result<Arc<dyn Executable>, Status> {
    static NUMBERS: AtomicU64 = AtomicU64::new(1);
    if format != native::EMBEDDED {
        return Err(Status::permission_denied(format!(
            "the program has machine code for the system's loader ('{format}'), which a sandbox \
             does not have; compile without --iree-llvmcpu-link-embedded=false, or run with \
             --sandbox=off if you trust the program"
        )));
    }
    let loadable = Arc::new(Loadable {
        number: NUMBERS.fetch_add(1, Ordering::Relaxed),
        format: native::EMBEDDED,
        constants: constants.to_vec(),
        data: data.read(0, data.len()),
    });
    let worker = sandbox.worker()?;
    let loaded = worker.load(&loadable);
    if loaded.is_err() {
        sandbox.retire(&worker);
    }
    let exports = loaded?.unwrap_or_default();
    Ok(Arc::new(SandboxedExecutable { sandbox, loadable, exports }))
}

impl SandboxedExecutable {
    fn run_with(
        &self,
        dispatch: &Dispatch,
        range: Range<u64>,
        control: &RunControl,
        is_alone: bool,
    ) -> Result<(), Halt> {
        let Some(export) = self.exports.get(dispatch.export) else {
            return Err(Status::invalid_argument("entry point ordinal out of bounds").into());
        };
        native::check_counts(export, dispatch)?;
        let name = self.name_of(dispatch.export);
        let (end, failure) = pay(&range, control);
        let reachable = self.sandbox.reachable(dispatch)?;
        let worker = self.sandbox.worker()?;
        let run =
            Run::of(self.loadable.number, &reachable.dispatch, range.start..end, is_alone);
        let site = Site {
            sandbox: self.sandbox.clone(),
            worker,
            loadable: self.loadable.clone(),
            reachable,
            name: name.clone().into_owned(),
        };
        let result = site.ask(&Request::Run(run), control, range.start).map_err(|halt| {
            give_back(&halt, control);
            halt.and_not_begun(end..range.end)
        });
        match result {
            Err(Halt::Interrupted(interrupted)) if !control.is_interrupted() => {
                self.over(interrupted, dispatch, control, is_alone)
            }
            Err(halt) => Err(halt),
            Ok(()) => failure
                .map_or(Ok(()), |status| Err(dispatch.explain(&name, end, status).into())),
        }
    }

    /// A run that was interrupted, but by no request to stop: its time is over, or the request was
    /// withdrawn and it goes on.
    fn over(
        &self,
        interrupted: Interrupted,
        dispatch: &Dispatch,
        control: &RunControl,
        is_alone: bool,
    ) -> Result<(), Halt> {
        let Interrupted { inside, rest } = interrupted;
        if let Err(status) = control.budget.check_time() {
            let explain = |workgroup| {
                dispatch.explain(&self.name_of(dispatch.export), workgroup, status)
            };
            return Err(match inside.into_iter().next() {
                Some(paused) => Halt::FailedInside(explain(paused.workgroup()), paused),
                None => explain(rest.first().map_or(0, |range| range.start)).into(),
            });
        }
        for paused in inside {
            paused.resume(control)?;
        }
        rest.into_iter().try_for_each(|range| self.run_with(dispatch, range, control, is_alone))
    }
}

/// Pays a step for each workgroup; returns the end of those that are paid, and why the next one is
/// not.
fn pay(range: &Range<u64>, control: &RunControl) -> (u64, Option<Status>) {
    let mut meter = vm::Meter::of_worker(control);
    if control.is_free() {
        return (range.end, None);
    }
    for index in range.clone() {
        if let Err(status) = meter.spend_on_work() {
            return (index, Some(status));
        }
    }
    (range.end, None)
}

/// Gives back what was paid for workgroups that have not begun.
fn give_back(halt: &Halt, control: &RunControl) {
    if let Halt::Interrupted(interrupted) = halt {
        let rest = interrupted.rest.iter().map(|range| range.end - range.start);
        control.budget.give_back(rest.sum());
    }
}

impl Executable for SandboxedExecutable {
    fn format(&self) -> &str {
        self.loadable.format
    }

    fn exports(&self) -> &[Export] {
        &self.exports
    }

    fn run(
        &self,
        dispatch: &Dispatch,
        range: Range<u64>,
        control: &RunControl,
    ) -> Result<(), Halt> {
        self.run_with(dispatch, range, control, true)
    }

    fn run_on_own_threads(
        &self,
        dispatch: &Dispatch,
        range: Range<u64>,
        control: &RunControl,
        is_alone: bool,
    ) -> Option<Result<(), Halt>> {
        Some(self.run_with(dispatch, range, control, is_alone))
    }
}

impl From<Failed> for Halt {
    fn from(failed: Failed) -> Self {
        Status::from(failed).into()
    }
}
