//! Executing what is in a queue, as an activity of the program: command by command, and dispatches
//! workgroup by workgroup where somebody watches.
//!
//! ```text
//!  take ──> next command ──> [before] ──> run it ──> [after] ──> next command … ──> take … ──> return
//!                                            │
//!                    dispatch, watched: [before part] ──> bytecode on the program's stack ─┐
//!                                            ^─────────── next workgroup ──────────────────┘
//!                    dispatch, unwatched: a slice of its workgroups on the pool, again …
//!                                            │ interrupted, or failed
//!                                            └──> the workgroups in it move to the program's stack, one by one
//! ```
//!
//! What is in brackets are boundaries, which exist only for those who watch. A dispatch can go from
//! watched to unwatched between any two workgroups, and back at any time: a workgroup that is interrupted
//! on the pool goes on where it is, on the program's stack if its module is in the program's context.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use vm::{
    Activity, Boundary, BoundaryKind, FunctionId, Host, ModuleIndex, Next, Position, Status, Value,
    Watch,
};

use crate::command_buffer::{Command, DispatchCommand, WorkgroupCount};
use crate::device::Device;
use crate::executable::machine::MachineState;
use crate::executable::{Halt, Interrupted, PausedWorkgroup, vmvx};
use crate::execution::{Execution, ResolvedDispatch};
use crate::queue::Submission;

/// About how long a slice of an unwatched dispatch takes: how late an interrupt is seen.
const SLICE: Duration = Duration::from_micros(500);

/// Executes all that is ready in the queue of a device.
#[derive(Debug)]
pub struct QueueActivity {
    device: Arc<Device>,
    /// What is executed first, given out by the queue.
    first: Option<Submission>,
    /// What is being executed.
    submission: Option<Submission>,
    at: At,
}

/// Where it is.
#[derive(Debug)]
enum At {
    /// Behind one submission and before another.
    Take,
    /// Before a command that nobody has been asked about.
    Next,
    /// Before a command.
    Before(Step),
    /// In the middle of a dispatch.
    Dispatching(Box<Dispatching>),
    /// Behind a command, where somebody stands; with what was dispatched.
    After(Step, Option<Box<ResolvedDispatch>>),
}

/// A command, for people.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its index in its command buffer.
    pub index: usize,
    /// What it does, in short.
    pub text: String,
    /// The name of what is dispatched; empty for other commands.
    pub name: String,
    /// The instruction that recorded it. Executables are shared, so this tells apart what they are
    /// used for.
    pub recorded_at: Option<Position>,
}

/// A dispatch in progress.
#[derive(Debug)]
pub struct Dispatching {
    /// The command.
    pub step: Step,
    /// What runs, and on what.
    pub resolved: ResolvedDispatch,
    /// The workgroup that is next or in progress.
    next: u64,
    /// Behind the last one that comes after it.
    end: u64,
    /// What comes then: after an interrupt, workgroups that have not run are all over the dispatch.
    rest: Vec<Range<u64>>,
    /// How many workgroups the next slice takes.
    slice: u64,
    stage: Stage,
    /// Workgroups that were interrupted on the pool, each in the middle; the last one is the next that
    /// goes on, or the one that failed.
    paused: Vec<Box<dyn PausedWorkgroup>>,
}

/// Where a dispatch is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Between workgroups.
    Between,
    /// Before a workgroup, where somebody may stand.
    Before,
    /// In a workgroup.
    Inside,
    /// In this one, which has come from the pool.
    Adopted(u64),
    /// In this one, which has failed on the pool.
    Failed(u64),
}

impl QueueActivity {
    /// Executes what the queue gave out, then what else is ready.
    #[must_use]
    pub fn new(device: Arc<Device>, first: Submission) -> Self {
        Self { device, first: Some(first), submission: None, at: At::Take }
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The command that is next, in progress, or just done.
    #[must_use]
    pub fn step(&self) -> Option<&Step> {
        match &self.at {
            At::Take | At::Next => None,
            At::Before(step) | At::After(step, _) => Some(step),
            At::Dispatching(dispatching) => Some(&dispatching.step),
        }
    }

    /// The dispatch in progress or just done, or the one that is next with its memory resolved.
    ///
    /// # Errors
    /// Its memory cannot be resolved.
    pub fn dispatch(&self) -> Result<Option<ResolvedDispatch>, Status> {
        match &self.at {
            At::Dispatching(dispatching) => Ok(Some(dispatching.resolved.clone())),
            At::Before(_) => self.next_dispatch().transpose(),
            At::After(_, resolved) => Ok(resolved.as_deref().cloned()),
            At::Take | At::Next => Ok(None),
        }
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
            At::Dispatching(dispatching) => {
                Some(dispatching.resolved.dispatch.workgroup(dispatching.current()?))
            }
            _ => None,
        }
    }

    /// Where machine code stopped in the middle of a workgroup.
    #[must_use]
    pub fn machine_state(&self) -> Option<&MachineState> {
        match &self.at {
            At::Dispatching(dispatching) => dispatching.paused.last()?.machine_state(),
            _ => None,
        }
    }

    fn execution(&self) -> Option<&Execution> {
        self.submission.as_ref()?.work.as_ref()
    }

    /// Goes on to the next command, or to the next submission behind the last one.
    fn next(&mut self, host: &Host<'_>) -> Result<Option<Next>, Status> {
        let Some((index, command)) = self.execution().and_then(Execution::next) else {
            return self.finish(Ok(()));
        };
        if let Some((text, name)) = describe(command) {
            let recorded_at = self.execution().and_then(Execution::recorded_at);
            let step = Step { index, text, name, recorded_at };
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
        let execution = self.submission.as_mut().and_then(|it| it.work.as_mut());
        execution.map_or(Ok(()), |execution| execution.run_next(self.device.pool()))
    }

    /// Runs the command that somebody could have stopped before.
    fn run(&mut self, host: &Host<'_>, step: Step) -> Result<Option<Next>, Status> {
        match self.next_dispatch() {
            Some(Ok(resolved)) => {
                let total = resolved.dispatch.total_workgroups();
                self.at = At::Dispatching(Box::new(Dispatching {
                    step,
                    resolved,
                    next: 0,
                    end: total,
                    rest: Vec::new(),
                    slice: 1,
                    stage: Stage::Between,
                    paused: Vec::new(),
                }));
                Ok(None)
            }
            Some(Err(status)) => self.fail(At::Before(step), status),
            None => match self.run_next() {
                Ok(()) => Ok(self.done(host, step, None)),
                Err(status) => self.fail(At::Before(step), status),
            },
        }
    }

    /// Goes on with a dispatch.
    fn dispatch_on(
        &mut self,
        host: &mut Host<'_>,
        mut dispatching: Box<Dispatching>,
    ) -> Result<Option<Next>, Status> {
        match dispatching.stage {
            Stage::Inside => {
                dispatching.next += 1;
                dispatching.stage = Stage::Between;
            }
            Stage::Adopted(_) => dispatching.stage = Stage::Between,
            Stage::Between | Stage::Before | Stage::Failed(_) => {}
        }
        if let Some(paused) = dispatching.paused.pop() {
            return self.go_on_inside(host, dispatching, paused);
        }
        while dispatching.next >= dispatching.end
            && let Some(range) = dispatching.rest.pop()
        {
            (dispatching.next, dispatching.end) = (range.start, range.end);
        }
        if dispatching.next >= dispatching.end {
            if let Some(execution) = self.submission.as_mut().and_then(|it| it.work.as_mut()) {
                execution.advance();
            }
            let Dispatching { step, resolved, .. } = *dispatching;
            return Ok(self.done(host, step, Some(Box::new(resolved))));
        }
        let on_stack = self.module_of(&dispatching).filter(|module| {
            dispatching.stage == Stage::Before
                || host.is_watched(*module)
                // Whoever asks for a stop is to stand in a workgroup.
                || host.control().is_interrupted()
        });
        let Some(module) = on_stack else { return self.run_slice(host, dispatching) };
        let function = dispatching.function(module);
        if dispatching.stage == Stage::Between && host.watch() >= Watch::Parts {
            dispatching.stage = Stage::Before;
            let boundary = self.boundary(host, BoundaryKind::BeforePart, &dispatching.step.name);
            self.at = At::Dispatching(dispatching);
            return Ok(boundary);
        }
        let arguments = dispatching.arguments(host);
        dispatching.stage = Stage::Inside;
        self.at = At::Dispatching(dispatching);
        let (function, arguments) = (function?, arguments?);
        Ok(Some(Next::Call { function, arguments }))
    }

    /// Runs some workgroups that nobody watches.
    fn run_slice(
        &mut self,
        host: &Host<'_>,
        mut dispatching: Box<Dispatching>,
    ) -> Result<Option<Next>, Status> {
        let end = dispatching.end.min(dispatching.next.saturating_add(dispatching.slice));
        let range = dispatching.next..end;
        let ResolvedDispatch { executable, dispatch, .. } = &dispatching.resolved;
        let (start, control) = (Instant::now(), host.control());
        match self.device.pool().run_range(executable, dispatch, range.clone(), control) {
            Ok(()) => {
                dispatching.next = end;
                let elapsed = start.elapsed();
                if elapsed < SLICE / 2 {
                    dispatching.slice = dispatching.slice.saturating_mul(2);
                } else if elapsed > SLICE * 2 {
                    dispatching.slice = (dispatching.slice / 2).max(1);
                }
                self.at = At::Dispatching(dispatching);
                Ok(Some(Next::Again))
            }
            Err(Halt::Interrupted(interrupted)) => {
                dispatching.interrupted(end, interrupted);
                // Where it does not move to the stack, the invocation stops before this goes on.
                let next = self.module_of(&dispatching).is_none().then_some(Next::Again);
                self.at = At::Dispatching(dispatching);
                Ok(next)
            }
            Err(Halt::FailedInside(status, paused)) => {
                self.fail_inside(dispatching, paused, status)
            }
            Err(Halt::Failed(status)) => self.fail(At::Dispatching(dispatching), status),
        }
    }

    /// The module that the executable of a dispatch is in the program's context, if somebody looks at that.
    fn module_of(&self, dispatching: &Dispatching) -> Option<ModuleIndex> {
        self.device.nested_modules().module_of(&dispatching.resolved.executable)
    }

    /// Goes on with a workgroup that was interrupted on the pool: on the stack, or where it is.
    fn go_on_inside(
        &mut self,
        host: &Host<'_>,
        mut dispatching: Box<Dispatching>,
        mut paused: Box<dyn PausedWorkgroup>,
    ) -> Result<Option<Next>, Status> {
        let module = self.module_of(&dispatching);
        if let Some((module, frames)) = module.and_then(|it| Some((it, paused.take_frames()?))) {
            dispatching.stage = Stage::Adopted(paused.workgroup());
            self.at = At::Dispatching(dispatching);
            return Ok(Some(Next::Adopt { module, frames }));
        }
        match paused.resume(host.control()) {
            Ok(()) => {}
            Err(Halt::Interrupted(interrupted)) => dispatching.paused.extend(interrupted.inside),
            Err(Halt::FailedInside(status, paused)) => {
                return self.fail_inside(dispatching, paused, status);
            }
            Err(Halt::Failed(status)) => return self.fail(At::Dispatching(dispatching), status),
        }
        self.at = At::Dispatching(dispatching);
        Ok(Some(Next::Again))
    }

    /// A workgroup has failed on the pool: it is shown on the stack as it stands.
    fn fail_inside(
        &mut self,
        mut dispatching: Box<Dispatching>,
        mut paused: Box<dyn PausedWorkgroup>,
        status: Status,
    ) -> Result<Option<Next>, Status> {
        let module = self.module_of(&dispatching);
        let Some((module, frames)) = module.and_then(|it| Some((it, paused.take_frames()?))) else {
            dispatching.stage = Stage::Failed(paused.workgroup());
            dispatching.paused.push(paused);
            return self.fail(At::Dispatching(dispatching), status);
        };
        dispatching.stage = Stage::Adopted(paused.workgroup());
        // The stack says by itself what fails, and where.
        let _ = self.finish(Err(status));
        self.at = At::Dispatching(dispatching);
        Ok(Some(Next::Adopt { module, frames }))
    }

    /// A command has run.
    fn done(
        &mut self,
        host: &Host<'_>,
        step: Step,
        resolved: Option<Box<ResolvedDispatch>>,
    ) -> Option<Next> {
        let boundary = self.boundary(host, BoundaryKind::AfterStep, &step.name);
        self.at = if boundary.is_some() { At::After(step, resolved) } else { At::Next };
        boundary
    }

    fn boundary(&self, host: &Host<'_>, kind: BoundaryKind, name: &str) -> Option<Next> {
        let name = name.to_owned();
        host.watch().includes(kind).then_some(Next::Boundary(Boundary { kind, name }))
    }

    /// A submission has come to its end.
    fn finish(&mut self, done: Result<(), Status>) -> Result<Option<Next>, Status> {
        self.at = At::Take;
        if let Some(submission) = self.submission.take() {
            submission.finish(done)?;
        }
        Ok(None)
    }

    /// Fails, with the command in which it did still there to look at.
    fn fail(&mut self, at: At, status: Status) -> Result<Option<Next>, Status> {
        let finished = self.finish(Err(status.clone()));
        self.at = at;
        finished.and(Err(status))
    }

    fn take(&mut self) -> Result<Option<Next>, Status> {
        let next = self.first.take().or_else(|| self.device.queue().take_ready());
        let Some(submission) = next else {
            return Ok(Some(Next::Return(Vec::new())));
        };
        let ready = submission.wait.is_reached();
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
            let next = match std::mem::replace(&mut self.at, At::Next) {
                At::Take => self.take()?,
                At::Next | At::After(..) => self.next(host)?,
                At::Before(step) => self.run(host, step)?,
                At::Dispatching(dispatching) => self.dispatch_on(host, dispatching)?,
            };
            if let Some(next) = next {
                return Ok(next);
            }
        }
    }

    fn explain(&self, status: Status) -> Status {
        match &self.at {
            At::Dispatching(dispatching)
                if matches!(dispatching.stage, Stage::Inside | Stage::Adopted(_)) =>
            {
                let workgroup = dispatching.current().unwrap_or_default();
                let Dispatching { resolved, step, .. } = &**dispatching;
                resolved.dispatch.explain(&step.name, workgroup, status)
            }
            _ => status,
        }
    }

    fn parts(&self) -> Vec<String> {
        let Some(step) = self.step() else { return Vec::new() };
        let done = if matches!(self.at, At::After(..)) { ", done" } else { "" };
        let command = format!("command {}: {}{done}", step.index, step.text);
        let workgroup = self.workgroup().map(|[x, y, z]| {
            let offset = self.machine_state().and_then(|machine| machine.code_offset);
            let at = offset.map(|offset| format!(", machine code +{offset:#x}"));
            format!("workgroup ({x},{y},{z}){}", at.unwrap_or_default())
        });
        [command].into_iter().chain(workgroup).collect()
    }

    fn part_count(&self) -> usize {
        match &self.at {
            At::Take | At::Next => 0,
            At::Dispatching(dispatching) if dispatching.current().is_some() => 2,
            At::Before(_) | At::After(..) | At::Dispatching(_) => 1,
        }
    }
}

impl Dispatching {
    /// The workgroup that is next or in progress, where somebody may stand there.
    fn current(&self) -> Option<u64> {
        match self.stage {
            Stage::Between => self.paused.last().map(|paused| paused.workgroup()),
            Stage::Before | Stage::Inside => Some(self.next),
            Stage::Adopted(workgroup) | Stage::Failed(workgroup) => Some(workgroup),
        }
    }

    /// A slice up to `end` was interrupted: what is left of it comes next, then what comes behind it.
    fn interrupted(&mut self, end: u64, interrupted: Interrupted) {
        let mut left = interrupted.rest;
        left.push(end..self.end);
        left.retain(|range| !range.is_empty());
        left.sort_by_key(|range| std::cmp::Reverse(range.start));
        (self.next, self.end) = (end, end);
        self.rest.extend(left);
        self.paused = interrupted.inside;
    }

    /// The function that a workgroup runs, in the program's context.
    fn function(&self, module: vm::ModuleIndex) -> Result<FunctionId, Status> {
        let functions = self.resolved.executable.bytecode().map(|bytecode| &bytecode.functions);
        let function = functions.and_then(|all| all.get(self.resolved.dispatch.export));
        let function = function.ok_or_else(|| Status::internal("the export has no function"))?;
        Ok(FunctionId { module, function: *function })
    }

    /// What it is passed for the next workgroup.
    fn arguments(&self, host: &Host<'_>) -> Result<Vec<Value>, Status> {
        let ResolvedDispatch { executable, dispatch, .. } = &self.resolved;
        let export = executable.exports().get(dispatch.export);
        let export = export.ok_or_else(|| Status::internal("the executable has no such export"))?;
        vmvx::arguments(export, dispatch, dispatch.workgroup(self.next), host.limits())
    }
}

/// A command in short, and the name of what it dispatches. None for those that do nothing to see.
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
    let name = dispatch.name();
    let count = match &dispatch.workgroups {
        WorkgroupCount::Static([x, y, z]) => format!("[{x},{y},{z}]"),
        WorkgroupCount::Indirect(_) => "[count in memory]".to_owned(),
    };
    (format!("dispatch @{name} {count}"), name)
}
