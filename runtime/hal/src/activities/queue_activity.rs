//! Executing what is in a queue, as an activity of the program: command by command, and dispatches
//! workgroup by workgroup where somebody watches.
//!
//! ```text
//!  take ──> next command ──> [before] ──> run it ──> [after] ──> next command … ──> take … ──> return
//! ```
//!
//! What is in brackets are boundaries, which exist only for those who watch. How a dispatch runs is
//! in `dispatching`.

use std::sync::Arc;

use vm::{Activity, Boundary, BoundaryKind, Host, Next, Position, Status, Value};

use super::dispatching::Dispatching;
use crate::commands::{Command, DispatchCommand, Execution, ResolvedDispatch, WorkgroupCount};
use crate::device::Device;
use crate::executables::MachineState;
use crate::memory::Buffer;
use crate::scheduling::Submission;

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
    Dispatching(Box<Current>),
    /// Behind a command, where somebody stands; with what was dispatched.
    After(Step, Option<Box<ResolvedDispatch>>),
}

/// A command, for people.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its index in its command buffer.
    pub(crate) index: usize,
    /// What it does, in short.
    pub(crate) text: String,
    /// The name of what is dispatched; empty for other commands.
    pub name: String,
    /// The instruction that recorded it. Executables are shared, so this tells apart what they are
    /// used for.
    pub recorded_at: Option<Position>,
}

/// A dispatch in progress.
#[derive(Debug)]
struct Current {
    step: Step,
    dispatching: Dispatching,
    /// The device buffers of the dispatch's bindings.
    buffers: Vec<Buffer>,
}

impl Current {
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
    /// The next command of an execution. `text` and `name` describe it.
    fn new(execution: &Execution, index: usize, (text, name): (String, String)) -> Self {
        Self { index, text, name, recorded_at: execution.recorded_at() }
    }
}

impl QueueActivity {
    /// Executes what the queue gave out, then what else is ready.
    #[must_use]
    pub(crate) fn new(device: Arc<Device>, first: Submission) -> Self {
        Self { device, first: Some(first), submission: None, at: At::Take }
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

    /// The dispatch in progress or just done, or the one that is next with its memory resolved.
    ///
    /// # Errors
    /// Its memory cannot be resolved.
    pub fn dispatch(&self) -> Result<Option<ResolvedDispatch>, Status> {
        match &self.at {
            At::Dispatching(current) => Ok(Some(current.resolved())),
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

    /// Goes on to the next command, or to the next submission behind the last one.
    fn next(&mut self, host: &Host<'_>) -> Result<Option<Next>, Status> {
        let Some(execution) = self.execution() else { return self.finish(Ok(())) };
        let Some((index, command)) = execution.next() else { return self.finish(Ok(())) };
        let step = if host.is_inspected() {
            describe(command).map(|description| Step::new(execution, index, description))
        } else {
            // Nothing reads the texts of a program that is not inspected.
            Some(Step::new(execution, index, (String::new(), String::new())))
        };
        if let Some(step) = step {
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
                let ResolvedDispatch { executable, dispatch, buffers } = resolved;
                let dispatching = Dispatching::new(executable, dispatch);
                self.at = At::Dispatching(Box::new(Current { step, dispatching, buffers }));
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
        host: &Host<'_>,
        mut current: Box<Current>,
    ) -> Result<Option<Next>, Status> {
        match current.dispatching.go_on(host, &self.device) {
            Ok(Some(next)) => {
                if let Some(status) = current.dispatching.take_failure() {
                    // The stack says by itself what fails, and where.
                    let _ = self.finish(Err(status));
                }
                self.at = At::Dispatching(current);
                Ok(Some(next))
            }
            Ok(None) => {
                if let Some(execution) = self.submission.as_mut().and_then(|it| it.work.as_mut()) {
                    execution.advance();
                }
                let Current { step, dispatching, buffers } = *current;
                let (executable, dispatch) = dispatching.into_parts();
                let resolved = ResolvedDispatch { executable, dispatch, buffers };
                Ok(self.done(host, step, Some(Box::new(resolved))))
            }
            Err(status) => self.fail(At::Dispatching(current), status),
        }
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
        let boundary = || Next::Boundary(Boundary { kind, name: name.to_owned() });
        host.watch().includes(kind).then(boundary)
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
                At::Dispatching(current) => self.dispatch_on(host, current)?,
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
            At::Dispatching(current) if current.dispatching.workgroup().is_some() => 2,
            At::Before(_) | At::After(..) | At::Dispatching(_) => 1,
        }
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
    let name = dispatch.name().into_owned();
    let count = match &dispatch.workgroups {
        WorkgroupCount::Static([x, y, z]) => format!("[{x},{y},{z}]"),
        WorkgroupCount::Indirect(_) => "[count in memory]".to_owned(),
    };
    (format!("dispatch @{name} {count}"), name)
}
