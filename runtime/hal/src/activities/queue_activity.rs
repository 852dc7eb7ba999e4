//! Executing a queue's submissions as an activity of the program: command by command, and watched
//! dispatches workgroup by workgroup.
//!
//! ```text
//!  take ──> next command ──> [before] ──> run it ──> [after] ──> next … ──> take … ──> return
//! ```
//!
//! The brackets mark boundaries, at which only a watched program stops. `dispatching` runs a
//! dispatch.

use std::sync::Arc;

use vm::{
    Activity, Boundary, BoundaryKind, Host, KeptActivity, Next, Position, Ref, Status, Value,
};

use super::dispatching::Dispatching;
use super::twin::{Substitute, Twin, TwinReport, TwinRun};
use crate::commands::{Command, DispatchCommand, Execution, ResolvedDispatch, WorkgroupCount};
use crate::device::Device;
use crate::executables::MachineState;
use crate::history::{Begun, CommandMark, CommandRecord, Pending};
use crate::memory::{Buffer, Keeps};
use crate::results::Recorded;
use crate::scheduling::Submission;

/// Executes all submissions that are ready in the queue of a device.
#[derive(Debug)]
pub struct QueueActivity {
    device: Arc<Device>,
    /// The first submission to execute, already taken from the queue.
    first: Option<Submission>,
    /// The submission in execution.
    submission: Option<Submission>,
    at: At,
    /// How many submissions were taken.
    taken: u64,
    /// How many steps have begun.
    begun: u64,
    /// How the next command runs instead, if it is a dispatch of machine code.
    substitute: Option<Box<Substitute>>,
}

/// How the description of a dispatch ends that runs as bytecode instead of machine code, or of the
/// code of a device that is not here.
const AS_BYTECODE: &str = ", as bytecode";

/// The same of one whose code does not run, as its results are known.
const FROM_RECORDING: &str = ", from the recording";

/// The progress of the activity.
#[derive(Debug)]
enum At {
    /// Between submissions.
    Take,
    /// Before a command, and before the boundary in front of it.
    Next,
    /// Before a command, at or after the boundary in front of it.
    Before(Step),
    /// In the middle of a dispatch.
    Dispatching(Box<Current>),
    /// At the boundary after a command; with the dispatch, if it was one. The execution still
    /// stands before that.
    After(Step, Option<Box<Ran>>),
}

/// A command in execution, as a debugger shows it.
#[derive(Clone, Debug)]
pub struct Step {
    /// A short description.
    pub(crate) text: String,
    /// The name of a dispatch; empty for other commands.
    pub name: String,
    /// The instruction that recorded it. It tells apart dispatches that share an executable.
    pub recorded_at: Option<Position>,
}

/// A dispatch that has just run.
#[derive(Debug)]
struct Ran {
    resolved: ResolvedDispatch,
    /// The device's time before it, if that is known.
    before: Option<Before>,
    /// Whether all of its workgroups were bytecode on the program's stack.
    was_on_stack: bool,
}

/// The device's time before a command.
#[derive(Debug)]
struct Before {
    history: CommandMark,
    journal: u64,
}

/// A dispatch in progress.
#[derive(Debug)]
struct Current {
    step: Step,
    /// The command as it will be remembered, and when it began.
    pending: Option<(Begun, Pending)>,
    before: Option<Before>,
    /// Whether all workgroups of its bytecode twin were on the program's stack.
    twin_was_on_stack: bool,
    dispatching: Dispatching,
    /// The device buffers of the dispatch's bindings.
    buffers: Vec<Buffer>,
    /// If it runs as bytecode instead of machine code.
    twin: Option<TwinRun>,
    /// What it has left in a recorded run, while its twin runs.
    recorded: Option<Recorded>,
}

impl Current {
    fn new(step: Step, resolved: ResolvedDispatch, recorded: Option<Recorded>) -> Self {
        let ResolvedDispatch { executable, dispatch, buffers } = resolved;
        let dispatching = Dispatching::new(executable, dispatch).with_recorded(recorded);
        Self::of(step, dispatching, buffers, None)
    }

    /// A dispatch of machine code that runs as bytecode first.
    fn twin(
        mut step: Step,
        substitute: Substitute,
        resolved: ResolvedDispatch,
        recorded: Option<Recorded>,
    ) -> Result<Self, Status> {
        let buffers = resolved.buffers.clone();
        let (executable, dispatch, run) = substitute.begin(resolved)?;
        step.text.push_str(AS_BYTECODE);
        let dispatching = Dispatching::new(executable, dispatch);
        Ok(Self { recorded, ..Self::of(step, dispatching, buffers, Some(run)) })
    }

    fn of(
        step: Step,
        dispatching: Dispatching,
        buffers: Vec<Buffer>,
        twin: Option<TwinRun>,
    ) -> Self {
        Self {
            step,
            pending: None,
            before: None,
            twin_was_on_stack: false,
            dispatching,
            buffers,
            twin,
            recorded: None,
        }
    }

    /// What runs has run to its end: makes its machine code run, if it was its bytecode. Returns
    /// whether there is such.
    fn goes_on(&mut self) -> Result<bool, Status> {
        let Some(run) = &mut self.twin else { return Ok(false) };
        let Some(ResolvedDispatch { executable, dispatch, .. }) = run.go_on()? else {
            return Ok(false);
        };
        self.twin_was_on_stack = self.dispatching.was_on_stack();
        let machine_code = Dispatching::new(executable, dispatch);
        self.dispatching = machine_code.with_recorded(self.recorded.take());
        without_bytecode(&mut self.step.text);
        Ok(true)
    }

    /// The command as it will be remembered.
    fn command(&self) -> Option<&Pending> {
        self.pending.as_ref().map(|(_, pending)| pending)
    }

    /// The dispatch with its buffers.
    fn resolved(&self) -> ResolvedDispatch {
        let (executable, dispatch) = self.dispatching.parts();
        ResolvedDispatch {
            executable: executable.clone(),
            dispatch: dispatch.clone(),
            buffers: self.buffers.clone(),
        }
    }
}

impl Step {
    /// The next command of an execution. The description is its text and its name.
    fn new(execution: &Execution, (text, name): (String, String)) -> Self {
        Self { text, name, recorded_at: execution.recorded_at() }
    }
}

impl QueueActivity {
    /// Executes `first`, which was taken from the queue, then all other submissions that are ready.
    #[must_use]
    pub(crate) fn new(device: Arc<Device>, first: Submission) -> Self {
        Self {
            device,
            first: Some(first),
            submission: None,
            at: At::Take,
            taken: 0,
            begun: 0,
            substitute: None,
        }
    }

    /// Makes the dispatch before which the program stands run as its twin, over this many
    /// workgroups. The report gets the outcome.
    ///
    /// # Errors
    /// The program does not stand before a dispatch of machine code, or the twin does not fit it.
    pub fn run_as(
        &mut self,
        twin: Twin,
        workgroup_count: [u32; 3],
        report: TwinReport,
    ) -> Result<(), Status> {
        let next = match &self.at {
            At::Before(_) => self.next_dispatch().transpose()?,
            _ => None,
        };
        let next = next.filter(|it| it.executable.bytecode().is_none());
        let next = next.ok_or_else(|| {
            Status::failed_precondition("the next command is no dispatch of machine code")
        })?;
        twin.fits(&next.dispatch)?;
        self.substitute = Some(Box::new(Substitute { twin, workgroup_count, report }));
        Ok(())
    }

    /// Whether the dispatch in progress is bytecode instead of machine code.
    #[must_use]
    pub fn is_twin(&self) -> bool {
        let At::Dispatching(current) = &self.at else { return false };
        current.twin.as_ref().is_some_and(TwinRun::is_twin)
    }

    /// The command that is next, in progress, or just done.
    #[must_use]
    pub fn step(&self) -> Option<&Step> {
        match &self.at {
            At::Take | At::Next => None,
            At::Before(step) | At::After(step, _) => Some(step),
            At::Dispatching(current) => Some(&current.step),
        }
    }

    /// The number of the command of [`Self::step`], as [`CommandRecord::number`] has it, or will
    /// have it. A program that is not inspected has no history, and all its commands are the first.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        let total = self.device.history().total();
        match &self.at {
            At::Take | At::Next => None,
            At::Before(_) | At::Dispatching(_) => Some(total + 1),
            At::After(..) => Some(total),
        }
    }

    /// The command of [`Self::step`] as the history has it, or will have it.
    #[must_use]
    pub fn record(&self) -> Option<CommandRecord> {
        match &self.at {
            At::Take | At::Next => None,
            At::Before(_) => {
                let pending = Pending::next(self.execution()?)?;
                Some(pending.into_next(self.device.history(), None))
            }
            At::Dispatching(current) => {
                let (begun, pending) = current.pending.clone()?;
                Some(pending.into_next(self.device.history(), Some(begun)))
            }
            At::After(..) => self.device.history().last().map(|it| (*it).clone()),
        }
    }

    /// Whether the command of [`Self::step`] may have written memory.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        matches!(self.at, At::Dispatching(_) | At::After(..))
    }

    /// Whether the command of [`Self::step`] runs later than the program has submitted it, because
    /// it has waited for a fence.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.submission.as_ref().is_some_and(|submission| submission.is_late)
    }

    /// Whether the command of [`Self::step`] has run.
    #[must_use]
    pub fn is_after_step(&self) -> bool {
        matches!(self.at, At::After(..))
    }

    /// The dispatch in progress or just done, or the one that is next with its memory resolved.
    ///
    /// # Errors
    /// Its memory cannot be resolved.
    pub fn dispatch(&self) -> Result<Option<ResolvedDispatch>, Status> {
        match &self.at {
            At::Dispatching(current) => Ok(Some(current.resolved())),
            At::Before(_) => self.next_dispatch().transpose(),
            At::After(_, ran) => Ok(ran.as_ref().map(|ran| ran.resolved.clone())),
            At::Take | At::Next => Ok(None),
        }
    }

    /// Whether the dispatch that has just run was bytecode, its own or its twin's, all of it on the
    /// program's stack, where instructions can be observed.
    #[must_use]
    pub fn was_on_stack(&self) -> bool {
        matches!(&self.at, At::After(_, Some(ran)) if ran.was_on_stack)
    }

    /// Makes the dispatch that has just run, or is in progress, the next one again, as if it had
    /// not begun. What it has overwritten is put back if the device keeps that; otherwise the
    /// caller does it. The frames of its workgroups on the program's stack are the caller's.
    ///
    /// # Errors
    /// The program does not stand in a dispatch or after one, or what ran before it is not known.
    pub fn take_back(&mut self) -> Result<(), Status> {
        let (step, before) = match std::mem::replace(&mut self.at, At::Next) {
            At::After(step, Some(ran)) => (step, ran.before),
            At::Dispatching(current) => {
                let Current { mut step, before, twin, .. } = *current;
                if twin.is_some_and(|it| it.is_twin()) {
                    without_bytecode(&mut step.text);
                }
                (step, before)
            }
            at => {
                self.at = at;
                return Err(Status::failed_precondition("no dispatch has begun"));
            }
        };
        self.at = At::Before(step);
        let before = before.ok_or_else(|| Status::failed_precondition("it has no history"))?;
        let journal = self.device.allocator().journal();
        if journal.is_on() {
            journal.undo_to(before.journal);
        }
        self.device.history().forget_since(&before.history);
        Ok(())
    }

    fn next_dispatch(&self) -> Option<Result<ResolvedDispatch, Status>> {
        let execution = self.execution()?;
        match execution.next()?.1 {
            Command::Dispatch(command) => Some(execution.resolve_dispatch(command)),
            _ => None,
        }
    }

    /// The workgroup that is next or in progress.
    #[must_use]
    pub fn workgroup(&self) -> Option<[u32; 3]> {
        match &self.at {
            At::Dispatching(current) => current.dispatching.workgroup(),
            _ => None,
        }
    }

    /// Where machine code stopped in the middle of a workgroup.
    #[must_use]
    pub fn machine_state(&self) -> Option<&MachineState> {
        match &self.at {
            At::Dispatching(current) => current.dispatching.machine_state(),
            _ => None,
        }
    }

    fn execution(&self) -> Option<&Execution> {
        self.submission.as_ref()?.work.as_ref()
    }

    /// Advances to the next command, or to the next submission after the last command.
    fn next(&mut self, host: &Host<'_>) -> Result<Option<Next>, Status> {
        let Some(execution) = self.execution() else { return self.finish(Ok(())) };
        let Some((_, command)) = execution.next() else { return self.finish(Ok(())) };
        let step = if host.is_inspected() {
            describe(command).map(|description| Step::new(execution, description))
        } else {
            // Nothing reads the texts of a program that is not inspected.
            Some(Step::new(execution, (String::new(), String::new())))
        };
        if let Some(step) = step {
            self.begun += 1;
            let boundary = self.boundary(host, BoundaryKind::BeforeStep, &step.name);
            self.at = At::Before(step);
            return Ok(boundary);
        }
        match self.run_next() {
            Ok(()) => Ok(None),
            failed => self.finish(failed),
        }
    }

    /// Runs the next command to its end.
    fn run_next(&mut self) -> Result<(), Status> {
        let Some(execution) = self.submission.as_mut().and_then(|it| it.work.as_mut()) else {
            return Ok(());
        };
        let history = self.device.history();
        let pending = Pending::next(execution).map(|it| (history.begin(&it), it));
        execution.run_next(self.device.pool())?;
        pending.into_iter().for_each(|(begun, command)| history.add(command, begun));
        Ok(())
    }

    /// Runs the command after the boundary in front of it.
    fn run(&mut self, host: &Host<'_>, step: Step) -> Result<Option<Next>, Status> {
        let substitute = self.substitute.take();
        match self.next_dispatch() {
            Some(Ok(resolved)) => {
                let execution = self.execution();
                let pending = execution.and_then(|it| Pending::of_dispatch(it, &resolved));
                let history = self.device.history();
                let recorded = pending.as_ref().and_then(|it| history.recorded(it));
                let mut current = match substitute {
                    None => Current::new(step, resolved, recorded),
                    Some(substitute) => {
                        let before = step.clone();
                        match Current::twin(step, *substitute, resolved, recorded) {
                            Ok(current) => current,
                            Err(status) => return self.fail(At::Before(before), status),
                        }
                    }
                };
                current.before = pending.as_ref().map(|it| Before {
                    history: history.mark_before(it),
                    journal: self.device.allocator().journal().mark(),
                });
                current.pending = pending.map(|it| (history.begin(&it), it));
                self.at = At::Dispatching(Box::new(current));
                Ok(None)
            }
            Some(Err(status)) => self.fail(At::Before(step), status),
            None => match self.run_next() {
                Ok(()) => Ok(self.done(host, step, None)),
                Err(status) => self.fail(At::Before(step), status),
            },
        }
    }

    /// Continues a dispatch.
    fn continue_dispatch(
        &mut self,
        host: &Host<'_>,
        mut current: Box<Current>,
    ) -> Result<Option<Next>, Status> {
        match current.dispatching.resume(host, &self.device) {
            Ok(Some(next)) => {
                if let Some(status) = current.dispatching.take_failure() {
                    // The workgroup on the stack reports the failure itself, with its place.
                    let _ = self.finish(Err(status.clone()));
                    self.device.history().failed(current.command(), &status);
                }
                self.at = At::Dispatching(current);
                Ok(Some(next))
            }
            Ok(None) => {
                match current.goes_on() {
                    Ok(true) => {
                        self.at = At::Dispatching(current);
                        return Ok(None);
                    }
                    Ok(false) => {}
                    Err(status) => return self.fail(At::Dispatching(current), status),
                }
                let was_on_stack = match &current.twin {
                    Some(_) => current.twin_was_on_stack,
                    None => current.dispatching.was_on_stack(),
                };
                let Current { step, pending, before, dispatching, buffers, twin, .. } = *current;
                let history = self.device.history();
                pending.into_iter().for_each(|(begun, command)| history.add(command, begun));
                let (executable, dispatch) = dispatching.into_parts();
                let resolved = match twin {
                    Some(run) => run.into_resolved(),
                    None => ResolvedDispatch { executable, dispatch, buffers },
                };
                Ok(self.done(host, step, Some(Box::new(Ran { resolved, before, was_on_stack }))))
            }
            Err(status) => self.fail(At::Dispatching(current), status),
        }
    }

    /// Stops at the boundary after a command, if that is watched.
    fn done(&mut self, host: &Host<'_>, step: Step, ran: Option<Box<Ran>>) -> Option<Next> {
        let boundary = self.boundary(host, BoundaryKind::AfterStep, &step.name);
        self.at = At::After(step, ran);
        if boundary.is_none() {
            self.leave_step();
        }
        boundary
    }

    /// Goes on from the boundary after a command.
    fn leave_step(&mut self) {
        let is_dispatch = matches!(&self.at, At::After(_, Some(_)));
        self.at = At::Next;
        let execution = self.submission.as_mut().and_then(|it| it.work.as_mut());
        if let Some(execution) = execution.filter(|_| is_dispatch) {
            execution.advance();
        }
    }

    fn boundary(&self, host: &Host<'_>, kind: BoundaryKind, name: &str) -> Option<Next> {
        let boundary = || Next::Boundary(Boundary { kind, name: name.to_owned() });
        // Before a command, the program can be kept.
        let is_kept = || self.device.allocator().journal().keeps() == Keeps::All;
        let is_wanted =
            host.watch().includes(kind) || kind == BoundaryKind::BeforeStep && is_kept();
        is_wanted.then(boundary)
    }

    /// Ends a submission.
    fn finish(&mut self, done: Result<(), Status>) -> Result<Option<Next>, Status> {
        self.at = At::Take;
        if let Some(submission) = self.submission.take() {
            submission.finish(done)?;
        }
        Ok(None)
    }

    /// Fails the submission, and keeps the failed command so that it can be inspected.
    fn fail(&mut self, at: At, status: Status) -> Result<Option<Next>, Status> {
        let finished = self.finish(Err(status.clone()));
        if let At::Dispatching(current) = &at {
            self.device.history().failed(current.command(), &status);
        }
        self.at = at;
        finished.and(Err(status))
    }

    fn take(&mut self) -> Result<Option<Next>, Status> {
        let next = self.first.take().or_else(|| self.device.queue().take_ready());
        let Some(submission) = next else {
            return Ok(Some(Next::Return(Vec::new())));
        };
        let ready = submission.wait.is_reached();
        self.taken += 1;
        self.submission = Some(submission);
        self.at = At::Next;
        match ready {
            Ok(_) => Ok(None),
            Err(status) => self.finish(Err(status)),
        }
    }
}

impl Activity for QueueActivity {
    fn resume(&mut self, host: &mut Host<'_>, _results: Vec<Value>) -> Result<Next, Status> {
        loop {
            if matches!(self.at, At::After(..)) {
                self.leave_step();
            }
            let next = match std::mem::replace(&mut self.at, At::Next) {
                At::Take => self.take()?,
                At::Next | At::After(..) => self.next(host)?,
                At::Before(step) => self.run(host, step)?,
                At::Dispatching(current) => self.continue_dispatch(host, current)?,
            };
            if let Some(next) = next {
                return Ok(next);
            }
        }
    }

    fn explain(&self, status: Status) -> Status {
        match &self.at {
            At::Dispatching(current) => current.dispatching.explain(status),
            _ => status,
        }
    }

    /// The step, what of it is done, and the workgroup.
    fn progress(&self) -> Vec<u64> {
        let done = match &self.at {
            At::Before(_) => 0,
            At::Dispatching(current) => {
                let stage = if current.twin.as_ref().is_some_and(TwinRun::is_twin) { 1 } else { 2 };
                let [workgroup, inside] = current.dispatching.progress();
                return vec![self.begun, stage, workgroup, inside];
            }
            At::After(..) => 3,
            At::Take | At::Next => 4,
        };
        vec![self.begun, done]
    }

    fn parts(&self) -> Vec<String> {
        let (Some(step), Some(number)) = (self.step(), self.number()) else { return Vec::new() };
        let done = if matches!(self.at, At::After(..)) { ", done" } else { "" };
        let command = format!("command {number}: {}{done}", step.text);
        let workgroup = self.workgroup().map(|[x, y, z]| {
            let offset = self.machine_state().and_then(|machine| machine.code_offset);
            let at = offset.map(|offset| format!(", machine code +{offset:#x}"));
            format!("workgroup ({x},{y},{z}){}", at.unwrap_or_default())
        });
        [command].into_iter().chain(workgroup).collect()
    }

    fn keep(&self) -> Option<KeptActivity> {
        let At::Before(step) = &self.at else { return None };
        let (device, submission, step) =
            (self.device.clone(), self.submission.clone()?, step.clone());
        let (taken, begun) = (self.taken, self.begun);
        let again = move || {
            Box::new(Self {
                device: device.clone(),
                first: None,
                submission: Some(submission.clone()),
                at: At::Before(step.clone()),
                taken,
                begun,
                substitute: None,
            }) as Box<dyn Activity>
        };
        // `first` is taken before the first step.
        Some(KeptActivity { again: Arc::new(again), stretch: taken })
    }

    fn changes(&self) -> Vec<Ref> {
        let Some(submission) = &self.submission else { return Vec::new() };
        let fences = [&submission.wait, &submission.signal];
        let fences = fences.into_iter().map(|fence| Ref::object(fence.clone()));
        let buffers = submission.work.iter().flat_map(Execution::bound_buffers);
        fences.chain(buffers.map(|buffer| Ref::object(buffer.clone()))).collect()
    }

    fn part_count(&self) -> usize {
        match &self.at {
            At::Take | At::Next => 0,
            At::Dispatching(current) if current.dispatching.workgroup().is_some() => 2,
            At::Before(_) | At::After(..) | At::Dispatching(_) => 1,
        }
    }
}

/// The description of a dispatch that runs as machine code again.
fn without_bytecode(text: &mut String) {
    text.truncate(text.len().saturating_sub(AS_BYTECODE.len()));
}

/// A short description of a command, and the name of a dispatch. `None` for commands without a
/// visible effect of their own.
fn describe(command: &Command) -> Option<(String, String)> {
    let text = match command {
        Command::BeginGroup(_) | Command::EndGroup | Command::Barrier | Command::Execute { .. } => {
            return None;
        }
        Command::Fill { .. } => "fill",
        Command::Update { .. } => "update",
        Command::Copy { .. } => "copy",
        Command::Dispatch(dispatch) => return Some(describe_dispatch(dispatch)),
    };
    Some((text.to_owned(), String::new()))
}

fn describe_dispatch(dispatch: &DispatchCommand) -> (String, String) {
    let name = dispatch.name().into_owned();
    let count = match &dispatch.workgroups {
        WorkgroupCount::Static([x, y, z]) => format!("[{x},{y},{z}]"),
        WorkgroupCount::Indirect(_) => "[count in memory]".to_owned(),
    };
    let suffix = match &dispatch.executable {
        it if it.is_stand_in() => AS_BYTECODE,
        it if it.is_recorded() => FROM_RECORDING,
        _ => "",
    };
    (format!("dispatch @{name} {count}{suffix}"), name)
}
