//! A dispatch in progress, as part of an activity of the program: workgroup by workgroup on the
//! program's stack if it is watched, all at once on the pool otherwise.
//!
//! ```text
//!  watched:    [before part] ──> bytecode on the program's stack ─┐
//!                  ^─────────── next workgroup ──────────────────┘
//!  unwatched:  all remaining workgroups on the pool
//!                  │ interrupted, or failed
//!                  └──> the workgroups in it move to the program's stack as they stand, one by one
//! ```
//!
//! The brackets mark a boundary, at which only a watched dispatch stops. A dispatch can change from
//! watched to unwatched between any two workgroups, and back at any time: a workgroup that is
//! interrupted on the pool resumes where it was interrupted, on the program's stack if its module
//! is in the program's context. No workgroup runs twice.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use vm::{
    Boundary, BoundaryKind, FunctionId, Host, Meter, ModuleIndex, Next, Status, Value, Watch,
};

use crate::device::Device;
use crate::executables::{
    self, Dispatch, Executable, Halt, Interrupted, MachineState, PausedWorkgroup,
};
use crate::results::Recorded;

/// No dispatch of a recorded run has more workgroups that are paid for one by one.
const MOST_PAID: u64 = 1 << 24;

/// A dispatch in progress: see the module's documentation.
#[derive(Debug)]
pub(crate) struct Dispatching {
    executable: Arc<dyn Executable>,
    dispatch: Dispatch,
    /// The workgroup that is next or in progress.
    next: u64,
    /// The end of the range of workgroups that starts with `next`.
    end: u64,
    /// Further ranges to run: after an interrupt, the remaining workgroups are scattered over the
    /// dispatch.
    rest: Vec<Range<u64>>,
    stage: Stage,
    /// Workgroups that were interrupted on the pool. The last one resumes next, or has failed.
    paused: Vec<Box<dyn PausedWorkgroup>>,
    /// The failure of a workgroup that has moved to the stack.
    failure: Option<Status>,
    /// Whether the dispatch has failed on the pool.
    has_failed: bool,
    /// Whether workgroups began on the pool.
    has_used_pool: bool,
    /// What it has left in a recorded run, until that is in memory.
    recorded: Option<Recorded>,
}

/// The progress of a dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Between workgroups.
    Between,
    /// At the boundary before a workgroup.
    Before,
    /// In a workgroup, on the program's stack.
    Inside,
    /// In this workgroup, which has moved from the pool to the stack.
    Adopted(u64),
    /// At this workgroup, which has failed on the pool.
    Failed(u64),
}

impl Dispatching {
    /// A dispatch that begins.
    pub(crate) fn new(executable: Arc<dyn Executable>, dispatch: Dispatch) -> Self {
        let end = dispatch.total_workgroups();
        Self {
            executable,
            dispatch,
            next: 0,
            end,
            rest: Vec::new(),
            stage: Stage::Between,
            paused: Vec::new(),
            failure: None,
            has_failed: false,
            has_used_pool: false,
            recorded: None,
        }
    }

    /// The same, with what it has left in a recorded run.
    pub(crate) fn with_recorded(self, recorded: Option<Recorded>) -> Self {
        Self { recorded, ..self }
    }

    /// The executable, and the dispatch of one of its exports.
    pub(crate) fn parts(&self) -> (&Arc<dyn Executable>, &Dispatch) {
        (&self.executable, &self.dispatch)
    }

    /// The executable, and the dispatch of one of its exports.
    pub(crate) fn into_parts(self) -> (Arc<dyn Executable>, Dispatch) {
        (self.executable, self.dispatch)
    }

    /// The name of the dispatch.
    fn name(&self) -> Cow<'_, str> {
        self.executable.name_of(self.dispatch.export)
    }

    /// Whether all workgroups were bytecode on the program's stack.
    pub(crate) fn was_on_stack(&self) -> bool {
        !self.has_used_pool
    }

    /// The workgroup that is next or in progress, if the dispatch can stop there.
    pub(crate) fn workgroup(&self) -> Option<[u32; 3]> {
        self.current().map(|index| self.dispatch.workgroup(index))
    }

    /// Where machine code stopped in the middle of a workgroup.
    pub(crate) fn machine_state(&self) -> Option<&MachineState> {
        self.paused.last()?.machine_state()
    }

    /// How far it has come, in numbers that only grow while it is watched.
    pub(crate) fn progress(&self) -> [u64; 2] {
        let workgroup = self.current().unwrap_or(self.next);
        [workgroup, u64::from(matches!(self.stage, Stage::Inside | Stage::Adopted(_)))]
    }

    fn current(&self) -> Option<u64> {
        match self.stage {
            Stage::Between => self.paused.last().map(|paused| paused.workgroup()),
            Stage::Before | Stage::Inside => Some(self.next),
            Stage::Adopted(workgroup) | Stage::Failed(workgroup) => Some(workgroup),
        }
    }

    /// Adds the workgroup to a failure in a workgroup on the stack, or before one.
    pub(crate) fn explain(&self, status: Status) -> Status {
        match self.stage {
            Stage::Inside => self.dispatch.explain(&self.name(), self.next, status),
            Stage::Adopted(workgroup) => self.dispatch.explain(&self.name(), workgroup, status),
            // A failure between workgroups comes from outside, unless the dispatch itself has
            // failed, which names its workgroup already.
            Stage::Between if !self.has_failed && self.next < self.end => {
                self.dispatch.explain(&self.name(), self.next, status)
            }
            Stage::Between | Stage::Before | Stage::Failed(_) => status,
        }
    }

    /// Takes the failure of a workgroup that has just moved to the stack.
    pub(crate) fn take_failure(&mut self) -> Option<Status> {
        self.failure.take()
    }

    /// Continues with the next workgroups; `None` if all have run.
    ///
    /// # Errors
    /// A workgroup failed, and its frames are not on the stack.
    pub(crate) fn resume(
        &mut self,
        host: &Host<'_>,
        device: &Device,
    ) -> Result<Option<Next>, Status> {
        self.advance(host, device).inspect_err(|_| self.has_failed = true)
    }

    fn advance(&mut self, host: &Host<'_>, device: &Device) -> Result<Option<Next>, Status> {
        match self.stage {
            Stage::Inside => {
                self.next += 1;
                self.stage = Stage::Between;
            }
            Stage::Adopted(_) => self.stage = Stage::Between,
            Stage::Between | Stage::Before | Stage::Failed(_) => {}
        }
        if self.put_recorded(host, device)? {
            return Ok(None);
        }
        loop {
            if let Some(paused) = self.paused.pop() {
                return self.resume_paused(host, device, paused).map(Some);
            }
            while self.next >= self.end
                && let Some(range) = self.rest.pop()
            {
                (self.next, self.end) = (range.start, range.end);
            }
            if self.next >= self.end {
                self.compare_recorded(device)?;
                return Ok(None);
            }
            let next = match self.module_on_stack(host, device) {
                Some(module) => Some(self.begin(host, module)?),
                None => self.run_on_pool(host, device)?,
            };
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    /// Puts into memory what the dispatch has left in a recorded run, in the place of running it:
    /// not where bytecode is watched. Returns whether that is all of it.
    fn put_recorded(&mut self, host: &Host<'_>, device: &Device) -> Result<bool, Status> {
        let is_at_begin = self.next == 0 && self.paused.is_empty() && !self.has_used_pool;
        if self.recorded.is_none() || !is_at_begin || self.module_on_stack(host, device).is_some() {
            return Ok(false);
        }
        let Some(recorded) = self.recorded.take() else { return Ok(false) };
        if host.limits().fuel.is_some() && self.pay_for_workgroups(host)? {
            return Ok(false);
        }
        let is_put = recorded.put(&*self.executable, &self.dispatch)?;
        if is_put {
            (self.next, self.has_used_pool) = (self.end, true);
        }
        Ok(is_put)
    }

    /// Pays for the workgroups of machine code that does not run. What bytecode costs shows when it
    /// runs; returns whether it is that.
    fn pay_for_workgroups(&self, host: &Host<'_>) -> Result<bool, Status> {
        let is_bytecode = self.executable.bytecode().is_some();
        let mut meter = Meter::of_worker(host.control());
        let count = if is_bytecode { 0 } else { self.dispatch.total_workgroups().min(MOST_PAID) };
        for index in 0..count {
            let paid = meter.spend_on_work();
            paid.map_err(|status| self.dispatch.explain(&self.name(), index, status))?;
        }
        Ok(is_bytecode)
    }

    /// The bytecode has run to its end: memory is to hold what the recording has.
    fn compare_recorded(&mut self, device: &Device) -> Result<(), Status> {
        let Some(recorded) = self.recorded.take() else { return Ok(()) };
        if recorded.put_over(&self.dispatch)? {
            device.allocator().journal().ledger().is_other_bytecode(recorded.number());
        }
        Ok(())
    }

    /// The module of the executable in the program's context, if the program is inspected.
    fn module(&self, device: &Device) -> Option<ModuleIndex> {
        device.nested_modules().module_of(&self.executable)
    }

    /// The module, if the next workgroup is to run on the program's stack.
    fn module_on_stack(&self, host: &Host<'_>, device: &Device) -> Option<ModuleIndex> {
        self.module(device).filter(|module| {
            self.stage == Stage::Before
                || host.is_watched(*module)
                // A requested stop should happen in a workgroup.
                || host.control().is_interrupted()
        })
    }

    /// Begins the next workgroup on the program's stack, or stops before it.
    fn begin(&mut self, host: &Host<'_>, module: ModuleIndex) -> Result<Next, Status> {
        if self.stage == Stage::Between && host.watch() >= Watch::Parts {
            self.stage = Stage::Before;
            let (kind, name) = (BoundaryKind::BeforePart, self.name().into_owned());
            return Ok(Next::Boundary(Boundary { kind, name }));
        }
        let (function, arguments) = (self.function(module)?, self.arguments(host)?);
        self.stage = Stage::Inside;
        Ok(Next::Call { function, arguments })
    }

    /// Runs the next range of workgroups on the pool. `None`: continue at once.
    fn run_on_pool(&mut self, host: &Host<'_>, device: &Device) -> Result<Option<Next>, Status> {
        let range = self.next..self.end;
        self.next = self.end;
        self.has_used_pool = true;
        let control = host.control();
        let _noted = control.interrupt.at_dispatch(&self.name(), self.dispatch.workgroup_count);
        match device.pool().run_range(&self.executable, &self.dispatch, range, control) {
            Ok(()) => Ok(None),
            Err(Halt::Interrupted(interrupted)) => {
                self.interrupted(interrupted);
                // Workgroups that cannot move to the stack resume when the invocation does.
                Ok(self.module(device).is_none().then_some(Next::Again))
            }
            Err(Halt::FailedInside(status, paused)) => {
                self.fail_inside(device, paused, status).map(Some)
            }
            Err(Halt::Failed(status)) => Err(status),
        }
    }

    /// Schedules the rest of an interrupted run, lowest workgroups first.
    fn interrupted(&mut self, interrupted: Interrupted) {
        let mut left = interrupted.rest;
        left.sort_by_key(|range| std::cmp::Reverse(range.start));
        self.rest.extend(left);
        self.paused = interrupted.inside;
    }

    /// Resumes a workgroup that was interrupted on the pool: on the program's stack, or in its own
    /// context.
    fn resume_paused(
        &mut self,
        host: &Host<'_>,
        device: &Device,
        mut paused: Box<dyn PausedWorkgroup>,
    ) -> Result<Next, Status> {
        let workgroup = paused.workgroup();
        if let Some(module) = self.module(device)
            && let Some(frames) = paused.take_frames()
        {
            self.stage = Stage::Adopted(workgroup);
            return Ok(Next::Adopt { module, frames });
        }
        let interrupt = &host.control().interrupt;
        let _noted = interrupt.at_dispatch(&self.name(), self.dispatch.workgroup_count);
        interrupt.at_workgroup(workgroup);
        match paused.resume(host.control()) {
            Ok(()) => {}
            Err(Halt::Interrupted(interrupted)) => self.paused.extend(interrupted.inside),
            Err(Halt::FailedInside(status, paused)) => {
                return self.fail_inside(device, paused, status);
            }
            Err(Halt::Failed(status)) => return Err(status),
        }
        Ok(Next::Again)
    }

    /// Moves a workgroup that has failed on the pool to the program's stack, where it can be
    /// inspected.
    fn fail_inside(
        &mut self,
        device: &Device,
        mut paused: Box<dyn PausedWorkgroup>,
        status: Status,
    ) -> Result<Next, Status> {
        let workgroup = paused.workgroup();
        if let Some(module) = self.module(device)
            && let Some(frames) = paused.take_frames()
        {
            self.stage = Stage::Adopted(workgroup);
            self.failure = Some(status);
            return Ok(Next::Adopt { module, frames });
        }
        self.stage = Stage::Failed(workgroup);
        self.paused.push(paused);
        Err(status)
    }

    /// The function that a workgroup runs, in the program's context.
    fn function(&self, module: ModuleIndex) -> Result<FunctionId, Status> {
        let functions = self.executable.bytecode().map(|bytecode| &bytecode.functions);
        let function = functions.and_then(|all| all.get(self.dispatch.export));
        let function = function.ok_or_else(|| Status::internal("the export has no function"))?;
        Ok(FunctionId { module, function: *function })
    }

    /// The arguments of that function for the next workgroup.
    fn arguments(&self, host: &Host<'_>) -> Result<Vec<Value>, Status> {
        let Self { executable, dispatch, .. } = self;
        let export = executable.exports().get(dispatch.export);
        let export = export.ok_or_else(|| Status::internal("the executable has no such export"))?;
        executables::arguments(export, dispatch, dispatch.workgroup(self.next), host.limits())
    }
}
