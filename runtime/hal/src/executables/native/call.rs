//! A thread's calls of a dispatch: the data that machine code uses while it runs, the stack that it
//! runs on, and what happens when it stops.
//!
//! A [`Call`] stays in place on the heap, so that a paused workgroup can be set aside with all data
//! that its code points to. Each thread keeps one for its next run.

use std::cell::Cell;
use std::sync::Arc;

use trap::{Cause, Entry, Fault, Outcome, Pausable, Ready, Stack, Stopped, Wish};
use vm::{RunControl, Status};

use super::abi::{DispatchState, Environment, WorkgroupState};
use super::code::Code;
use crate::executables::dispatch::Dispatch;
use crate::executables::halt::{Halt, Interrupted, PausedWorkgroup};
use crate::executables::machine::{MachineState, explain_fault};

/// A unit of scratch memory, which gives it its alignment.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "only its address is used")] [u8; 64]);

/// The data that machine code uses while it runs workgroups of a dispatch.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// `None` in a new call, and while a paused workgroup has it.
    stack: Option<Stack>,
    environment: Environment,
    state: DispatchState,
    workgroup: WorkgroupState,
    pointers: Vec<*mut u8>,
    lengths: Vec<usize>,
    scratch: Vec<Line>,
}

// SAFETY: the pointers lead into this call, which is on the heap, and to memory that the dispatch
// and the executable keep alive. A call moves to another thread only with both, in a `PausedCall`.
unsafe impl Send for Call {}

thread_local! {
    /// The call of this thread's last run. A dispatch within a dispatch would find none and make
    /// its own.
    static IDLE: Cell<Option<Box<Call>>> = const { Cell::new(None) };
    static PAUSABLE: Pausable<Control> = Pausable::current_thread();
}

/// A run's control as a wish to pause machine code: a stop was requested, or the time is over.
#[derive(Debug)]
struct Control(RunControl);

impl Wish for Control {
    fn is_wanted(&self) -> bool {
        self.0.is_interrupted() || self.0.budget.time_left().is_some_and(|left| left.is_zero())
    }
}

/// How a call of a workgroup ended.
enum Ended {
    /// It returned this value.
    Returned(i32),
    /// It is paused, as a stop was requested.
    Paused,
    /// It stopped and cannot continue: it faulted, or its time is over.
    Failed(Option<Fault>, Status),
}

impl Call {
    /// Prepares to run workgroups of a dispatch. Reuses the memory of the thread's last run.
    ///
    /// # Errors
    /// There are more constants, bindings or workgroups than fit the structures of a call, or there
    /// is no memory.
    pub(super) fn new(
        code: &Code,
        dispatch: &Dispatch,
        scratch_bytes: usize,
    ) -> Result<Box<Self>, Status> {
        let mut call = IDLE.take().unwrap_or_default();
        if call.stack.is_none() {
            call.stack = Some(new_stack()?);
        }
        call.describe(code, dispatch)?;
        call.make_scratch(scratch_bytes)?;
        Ok(call)
    }

    /// Keeps it for the thread's next run.
    pub(super) fn keep(self: Box<Self>) {
        IDLE.set(Some(self));
    }

    fn describe(&mut self, code: &Code, dispatch: &Dispatch) -> Result<(), Status> {
        self.pointers.clear();
        self.lengths.clear();
        for binding in &dispatch.bindings {
            self.pointers.push(binding.address());
            self.lengths.push(binding.len());
        }
        let [size_x, size_y, size_z] = dispatch.workgroup_size;
        let [count_x, count_y, count_z] = dispatch.workgroup_count;
        let (constant_count, binding_count) = counts(dispatch)?;
        self.state = DispatchState {
            workgroup_size_x: size_x,
            workgroup_size_y: size_y,
            workgroup_size_z: narrow(size_z)?,
            constant_count,
            workgroup_count_x: count_x,
            workgroup_count_y: count_y,
            workgroup_count_z: narrow(count_z)?,
            max_concurrency: 1,
            binding_count,
            constants: dispatch.constants.as_ptr(),
            binding_pointers: self.pointers.as_ptr(),
            binding_lengths: self.lengths.as_ptr(),
        };
        self.environment = code.environment();
        Ok(())
    }

    fn make_scratch(&mut self, bytes: usize) -> Result<(), Status> {
        let too_large =
            || Status::resource_exhausted(format!("no memory for {bytes} bytes of scratch"));
        let size = u32::try_from(bytes).map_err(|_| too_large())?;
        let lines = bytes.div_ceil(size_of::<Line>());
        if self.scratch.len() < lines {
            self.scratch.try_reserve(lines - self.scratch.len()).map_err(|_| too_large())?;
            self.scratch.resize(lines, Line([0; 64]));
        }
        let memory =
            if bytes == 0 { std::ptr::null_mut() } else { self.scratch.as_mut_ptr().cast() };
        self.workgroup =
            WorkgroupState { local_memory: memory, local_memory_size: size, ..Default::default() };
        Ok(())
    }

    /// Runs one workgroup.
    ///
    /// # Errors
    /// It failed or was interrupted. The call is then part of the halt, or dropped.
    ///
    /// # Safety
    /// The code is trusted. The call was made for the dispatch of `run`, which has as many
    /// constants and bindings as the export declares.
    pub(super) unsafe fn run(
        mut self: Box<Self>,
        run: &Run<'_>,
        index: u64,
    ) -> Result<Box<Self>, Halt> {
        let Some(&address) = run.code.library.entries.get(run.dispatch.export) else {
            return Err(Status::invalid_argument("entry point ordinal out of bounds").into());
        };
        let [x, y, z] = run.dispatch.workgroup(index);
        self.workgroup.workgroup_id_x = x;
        self.workgroup.workgroup_id_y = y;
        // It is less than the count in z, which `describe` has checked.
        self.workgroup.workgroup_id_z = z as u16;
        let arguments = [
            (&raw const self.environment).expose_provenance(),
            (&raw const self.state).expose_provenance(),
            (&raw const self.workgroup).expose_provenance(),
        ];
        let Some(stack) = &mut self.stack else { return Err(no_stack(&"it is gone").into()) };
        // SAFETY: the caller vouches for the code. The arguments are addresses in this call, which
        // stays in place on the heap, and is kept with the workgroup if that is set aside.
        let outcome = unsafe { stack.call(run.ready, Entry { address, arguments }) };
        let ended = self.ended(outcome, run);
        self.finish(ended, run, index)
    }

    /// How a call ended. Resumes it after pauses that are no longer wanted.
    fn ended(&mut self, mut outcome: Outcome, run: &Run<'_>) -> Ended {
        loop {
            match outcome {
                Outcome::Returned(result) => return Ended::Returned(result as i32),
                Outcome::Stopped(Cause::Fault(fault)) => {
                    return Ended::Failed(Some(fault), explain_fault(&fault, run.dispatch));
                }
                Outcome::Stopped(Cause::Pause) if run.control.is_interrupted() => {
                    return Ended::Paused;
                }
                Outcome::Stopped(Cause::Pause) => {}
            }
            if let Err(status) = run.control.budget.check_time() {
                return Ended::Failed(None, status);
            }
            // The signal came late.
            let Some(stopped) = self.stack.take().and_then(Stack::into_stopped) else {
                return Ended::Failed(None, no_stack(&"it is gone"));
            };
            // SAFETY: what the caller of `run` vouched for still holds.
            let (stack, next) = unsafe { stopped.resume(run.ready) };
            (self.stack, outcome) = (Some(stack), next);
        }
    }

    fn finish(
        mut self: Box<Self>,
        ended: Ended,
        run: &Run<'_>,
        index: u64,
    ) -> Result<Box<Self>, Halt> {
        let (fault, status) = match ended {
            Ended::Returned(0) => return Ok(self),
            Ended::Returned(result) => {
                let text = format!("executable entry point returned catastrophic error {result}");
                (None, Some(Status::internal(text)))
            }
            Ended::Failed(fault, status) => (fault, Some(status)),
            Ended::Paused => (None, None),
        };
        let status = status.map(|status| run.dispatch.explain(run.name(), index, status));
        let stopped = self.stack.take().and_then(Stack::into_stopped);
        let aside = stopped.map(|stopped| self.set_aside(stopped, run, index, fault));
        Err(match (status, aside) {
            (Some(status), Some(aside)) => Halt::FailedInside(status, aside),
            (Some(status), None) => status.into(),
            (None, aside) => {
                let inside = aside.into_iter().collect();
                Halt::Interrupted(Interrupted { inside, rest: Vec::new() })
            }
        })
    }

    fn set_aside(
        self: Box<Self>,
        stopped: Stopped,
        run: &Run<'_>,
        workgroup: u64,
        fault: Option<Fault>,
    ) -> Box<dyn PausedWorkgroup> {
        let registers = stopped.registers();
        let code_offset = run.code.image.offset_of_code(registers.program_counter);
        Box::new(PausedCall {
            call: self,
            stopped,
            code: run.code.clone(),
            dispatch: run.dispatch.clone(),
            machine: MachineState { workgroup, fault, registers, code_offset },
        })
    }
}

/// A run of workgroups on this thread.
pub(super) struct Run<'a> {
    pub(super) code: &'a Arc<Code>,
    pub(super) dispatch: &'a Dispatch,
    pub(super) control: &'a RunControl,
    pub(super) ready: Ready,
}

impl<'a> Run<'a> {
    /// A run on this thread.
    ///
    /// # Errors
    /// The system does not let signals be handled.
    pub(super) fn new(
        code: &'a Arc<Code>,
        dispatch: &'a Dispatch,
        control: &'a RunControl,
    ) -> Result<Self, Status> {
        let ready = Ready::this_thread().map_err(|error| no_stack(&error))?;
        Ok(Self { code, dispatch, control, ready })
    }

    fn name(&self) -> &str {
        let export = self.code.library.exports.get(self.dispatch.export);
        export.map_or("", |export| &export.name)
    }
}

/// Runs `body`. Meanwhile machine code on this thread is paused when `control` asks for it, unless
/// nothing can ask.
pub(super) fn watched<T>(control: &RunControl, body: impl FnOnce() -> T) -> T {
    if control.is_free() {
        return body();
    }
    PAUSABLE.with(|pausable| {
        let _watching = pausable.watch(Control(control.clone()));
        body()
    })
}

/// Starts what pausing takes, for a process that can start no thread later.
///
/// # Errors
/// The system does not let signals be handled.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) fn prepare_thread() -> Result<(), Status> {
    Ready::this_thread().map_err(|error| no_stack(&error))?;
    watched(&RunControl::watched(), || {});
    Ok(())
}

/// A workgroup of machine code that stopped, with everything that it uses.
#[derive(Debug)]
struct PausedCall {
    call: Box<Call>,
    stopped: Stopped,
    code: Arc<Code>,
    dispatch: Dispatch,
    machine: MachineState,
}

impl PausedWorkgroup for PausedCall {
    fn workgroup(&self) -> u64 {
        self.machine.workgroup
    }

    fn machine_state(&self) -> Option<&MachineState> {
        Some(&self.machine)
    }

    fn resume(self: Box<Self>, control: &RunControl) -> Result<(), Halt> {
        let Self { mut call, stopped, code, dispatch, machine } = *self;
        let run = Run::new(&code, &dispatch, control)?;
        let index = machine.workgroup;
        watched(control, || {
            // SAFETY: what was vouched for at the call still holds: its code, its memory and its
            // arguments are in this value. Compiled dispatches are not bound to a thread.
            let (stack, outcome) = unsafe { stopped.resume(run.ready) };
            call.stack = Some(stack);
            let ended = call.ended(outcome, &run);
            call.finish(ended, &run, index).map(Self::keep_call)
        })
    }
}

impl PausedCall {
    fn keep_call(call: Box<Call>) {
        call.keep();
    }
}

fn new_stack() -> Result<Stack, Status> {
    Stack::new(true).map_err(|error| no_stack(&error))
}

fn no_stack(error: &dyn std::fmt::Display) -> Status {
    Status::resource_exhausted(format!("the system has no stack for machine code: {error}"))
}

/// The numbers of constants and bindings, as the structures of a call have them.
fn counts(dispatch: &Dispatch) -> Result<(u16, u8), Status> {
    let (constants, bindings) = (dispatch.constants.len(), dispatch.bindings.len());
    u16::try_from(constants).ok().zip(u8::try_from(bindings).ok()).ok_or_else(|| {
        Status::out_of_range(format!(
            "{constants} constants and {bindings} bindings are more than machine code can have"
        ))
    })
}

/// A size in z, which has 16 bits in the structures of a call.
fn narrow(size: u32) -> Result<u16, Status> {
    u16::try_from(size).map_err(|_| {
        Status::out_of_range(format!("{size} workgroups in z are more than machine code can have"))
    })
}
