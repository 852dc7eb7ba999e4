//! An executable whose code is in a child.

use std::any::Any;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use vm::{RunControl, Status};

use super::messages::{MOST_WORDS, run_head, write_run};
use super::owner::{Answer, Failed, Loadable, Reachable, Sandbox, Worker};
use super::paused::Site;
use crate::executables::dispatch::Dispatch;
use crate::executables::halt::{Halt, Interrupted};
use crate::executables::interface::{Executable, Export};
use crate::executables::native;

/// An executable in a sandbox.
#[derive(Debug)]
pub(crate) struct SandboxedExecutable {
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
    if format != native::EMBEDDED && sandbox.gpu().is_none() {
        return Err(Status::permission_denied(format!(
            "the program has machine code for the system's loader ('{format}'), which a sandbox \
             does not have; compile without --iree-llvmcpu-link-embedded=false, or run with \
             --sandbox=off if you trust the program"
        )));
    }
    let loadable = Arc::new(Loadable {
        number: NUMBERS.fetch_add(1, Ordering::Relaxed),
        format: format.to_owned(),
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
    /// Runs the workgroups of `range`, on one thread of the sandbox if `is_alone`.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub(crate) fn run_with(
        &self,
        dispatch: &Dispatch,
        range: Range<u64>,
        control: &RunControl,
        is_alone: bool,
    ) -> Result<(), Halt> {
        native::export_for(&self.exports, dispatch)?;
        let (end, failure) = if self.whole().is_some() {
            // As where the device is used in this process: a dispatch is one step.
            vm::Meter::of_worker(control).spend_on_work()?;
            (range.end, None)
        } else {
            pay(&range, control)
        };
        let reachable = self.sandbox.reachable(dispatch)?;
        let worker = self.sandbox.worker()?;
        let mut words = run_head(!control.is_free(), is_alone, 1).to_vec();
        let number = self.loadable.number;
        write_run(&mut words, number, &reachable.dispatch, &(range.start..end));
        let result = match worker.ask(&words, &[&self.loadable], control, range.start) {
            Ok(Answer::Done) => Ok(()),
            answer => self.site(worker, reachable).settle(answer).map_err(|halt| {
                give_back(&halt, control);
                halt.and_not_begun(end..range.end)
            }),
        };
        match result {
            Err(Halt::Interrupted(interrupted)) if !control.is_interrupted() => {
                self.over(interrupted, dispatch, control, is_alone)
            }
            Err(halt) => Err(halt),
            Ok(()) => {
                failure.map_or(Ok(()), |status| Err(self.explain(dispatch, end, status).into()))
            }
        }
    }

    fn site(&self, worker: Arc<Worker>, reachable: Reachable<'_>) -> Site {
        let name = self.name_of(reachable.dispatch.export).into_owned();
        let (sandbox, reachable) = (self.sandbox.clone(), reachable.into_owned());
        Site { sandbox, worker, reachable, name }
    }

    fn explain(&self, dispatch: &Dispatch, workgroup: u64, status: Status) -> Status {
        dispatch.explain(&self.name_of(dispatch.export), workgroup, status)
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
            let explain = |workgroup| self.explain(dispatch, workgroup, status);
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
        &self.loadable.format
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

    fn sandboxed(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn whole(&self) -> Option<&dyn Any> {
        self.sandbox.gpu().map(|_| self as &dyn Any)
    }
}

/// An executable whose code is in a sandbox; `None`: it is elsewhere.
pub(crate) fn of(executable: &dyn Executable) -> Option<&SandboxedExecutable> {
    executable.sandboxed()?.downcast_ref()
}

/// Runs dispatches in their order, without a budget or requests to stop. `None`: they are not all
/// in one sandbox.
///
/// # Errors
/// A workgroup failed; later dispatches have not run.
pub(crate) fn run_together(
    dispatches: &[(Arc<dyn Executable>, Dispatch)],
    is_alone: bool,
) -> Option<Result<(), Status>> {
    let all = dispatches.iter().map(|(executable, dispatch)| Some((of(&**executable)?, dispatch)));
    let all: Vec<_> = all.collect::<Option<_>>()?;
    let (first, _) = all.first()?;
    let is_one = all.iter().all(|(it, _)| Arc::ptr_eq(&it.sandbox, &first.sandbox));
    is_one.then(|| run_all(&all, is_alone))
}

fn run_all(all: &[(&SandboxedExecutable, &Dispatch)], is_alone: bool) -> Result<(), Status> {
    let free = RunControl::default();
    let mut left = all;
    while let [(first, first_dispatch), ..] = left {
        let mut words = run_head(false, is_alone, 0).to_vec();
        let (mut count, mut loadables) = (0, Vec::with_capacity(left.len()));
        for (executable, dispatch) in left {
            native::export_for(&executable.exports, dispatch)?;
            let reachable = executable.sandbox.reachable(dispatch)?;
            let (number, range) = (executable.loadable.number, 0..dispatch.total_workgroups());
            let before = words.len();
            write_run(&mut words, number, &reachable.dispatch, &range);
            if words.len() > MOST_WORDS && count > 0 {
                words.truncate(before);
                break;
            }
            count += 1;
            loadables.push(&*executable.loadable);
        }
        words[..4].copy_from_slice(&run_head(false, is_alone, count));
        let worker = first.sandbox.worker()?;
        let answer = worker.ask(&words, &loadables, &free, 0);
        if !matches!(answer, Ok(Answer::Done)) {
            // What failed says where; if the child is gone, it was in one of these.
            let mut site = first.site(worker, first.sandbox.reachable(first_dispatch)?);
            let names = left[..count].iter().map(|(it, dispatch)| it.name_of(dispatch.export));
            let names: BTreeSet<_> = names.collect();
            site.name = names.into_iter().collect::<Vec<_>>().join(" or @");
            site.settle(answer).map_err(|halt| match halt {
                Halt::Failed(status) | Halt::FailedInside(status, _) => status,
                Halt::Interrupted(_) => {
                    Status::internal("a dispatch stopped without being asked to")
                }
            })?;
        }
        left = &left[count..];
    }
    Ok(())
}

impl From<Failed> for Halt {
    fn from(failed: Failed) -> Self {
        Status::from(failed).into()
    }
}
