//! One thread's calls of a dispatch: what machine code looks at while it runs, the stack that it runs
//! on, and what becomes of it when it stops.
//!
//! A [`Call`] is in one piece on the heap, so that a paused workgroup can be put aside with all that
//! its code points to. Each thread keeps one for the next run.

use std::cell::Cell;
use std::sync::Arc;

use trap::{Cause, Entry, Fault, Outcome, Pausable, Stack, Stopped, Wish};
use vm::{RunControl, Status};

use super::Code;
use super::abi::{DispatchState, Environment, WorkgroupState};
use crate::executable::machine::{MachineState, explain_fault};
use crate::executable::{Dispatch, Halt, Interrupted, PausedWorkgroup};

/// Scratch memory in units of what it is aligned to.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "only its address is used")] [u8; 64]);

/// What machine code may look at while it runs workgroups of a dispatch.
#[derive(Debug)]
pub(super) struct Call {
    /// Free between two workgroups.
    stack: Option<Stack>,
    environment: Environment,
    state: DispatchState,
    workgroup: WorkgroupState,
    pointers: Vec<*mut u8>,
    lengths: Vec<usize>,
    scratch: Vec<Line>,
}

// SAFETY: the pointers are to memory that the dispatch and the executable keep alive, which are sent
// along; nothing is read through them here.
unsafe impl Send for Call {}

thread_local! {
    /// The call of this thread's last run, and what lets the thread be paused. A dispatch within a
    /// dispatch would find none and make its own.
    static IDLE: Cell<Option<Box<Call>>> = const { Cell::new(None) };
    static PAUSABLE: Pausable<Control> = Pausable::current_thread();
}

/// A run's control, as the wish to stop machine code: somebody asks, or its time is over.
#[derive(Debug)]
struct Control(RunControl);

impl Wish for Control {
    fn is_wanted(&self) -> bool {
        self.0.is_interrupted() || self.0.budget.time_left().is_some_and(|left| left.is_zero())
    }
}

/// How a workgroup came out.
enum Ended {
    /// It returned this.
    Returned(i32),
    /// It was paused because the run is to stop.
    Paused(Stopped),
    /// It cannot go on, where it is.
    Failed(Stopped, Option<Fault>, Status),
    /// It could not be called.
    NotCalled(Status),
}

impl Call {
    /// Prepares to run workgroups of a dispatch, with what the thread has from its last run.
    ///
    /// # Errors
    /// There are more constants, bindings or workgroups than the structures of a call can say, or no
    /// memory.
    pub(super) fn new(
        code: &Code,
        dispatch: &Dispatch,
        scratch_bytes: usize,
    ) -> Result<Box<Self>, Status> {
        let mut call = IDLE.take().map_or_else(Self::empty, Ok)?;
        if call.stack.is_none() {
            call.stack = Some(new_stack()?);
        }
        call.describe(code, dispatch)?;
        call.make_scratch(scratch_bytes)?;
        Ok(call)
    }

    fn empty() -> Result<Box<Self>, Status> {
        Ok(Box::new(Self {
            stack: Some(new_stack()?),
            environment: Environment::default(),
            state: DispatchState::default(),
            workgroup: WorkgroupState::default(),
            pointers: Vec::new(),
            lengths: Vec::new(),
            scratch: Vec::new(),
        }))
    }

    /// Gives it back to the thread.
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
    /// It failed or was interrupted; the call is not kept then.
    ///
    /// # Safety
    /// The code is trusted, and the dispatch, for which this call was made, has as many constants and
    /// bindings as the export declares.
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
        // Below the count in z, which fits.
        self.workgroup.workgroup_id_z = z as u16;
        let arguments = [
            (&raw const self.environment).expose_provenance(),
            (&raw const self.state).expose_provenance(),
            (&raw const self.workgroup).expose_provenance(),
        ];
        let stack = self.stack.take().map_or_else(new_stack, Ok)?;
        // SAFETY: the caller vouches for the code. What the arguments are the addresses of stays where
        // it is: this call is on the heap, and goes with the workgroup if that is put aside.
        let outcome = unsafe { stack.call(Entry { address, arguments }, true) };
        let ended = self.ended(outcome, run);
        self.finish(ended, run, index)
    }

    /// What came of a call, after pauses that nobody wants any more.
    fn ended(&mut self, outcome: std::io::Result<Outcome>, run: &Run<'_>) -> Ended {
        let mut outcome = outcome;
        loop {
            let stopped = match outcome {
                Err(error) => return Ended::NotCalled(no_stack(&error)),
                Ok(Outcome::Returned(stack, result)) => {
                    self.stack = Some(stack);
                    return Ended::Returned(result as i32);
                }
                Ok(Outcome::Stopped(stopped)) => stopped,
            };
            match stopped.cause() {
                Cause::Fault(fault) => {
                    let status = explain_fault(&fault, run.dispatch);
                    return Ended::Failed(stopped, Some(fault), status);
                }
                Cause::Pause if run.control.is_interrupted() => return Ended::Paused(stopped),
                Cause::Pause => {
                    if let Err(status) = run.control.budget.check_time() {
                        return Ended::Failed(stopped, None, status);
                    }
                    // A signal that came late.
                    // SAFETY: all that the caller of `run` vouched for still holds.
                    outcome = unsafe { stopped.resume() };
                }
            }
        }
    }

    fn finish(self: Box<Self>, ended: Ended, run: &Run<'_>, index: u64) -> Result<Box<Self>, Halt> {
        match ended {
            Ended::Returned(0) => Ok(self),
            Ended::Returned(result) => {
                self.keep();
                let text = format!("executable entry point returned catastrophic error {result}");
                let status = run.dispatch.explain(run.name(), index, Status::internal(text));
                Err(status.into())
            }
            Ended::NotCalled(status) => {
                self.keep();
                Err(status.into())
            }
            Ended::Failed(stopped, fault, status) => {
                let status = run.dispatch.explain(run.name(), index, status);
                Err(Halt::FailedInside(status, self.put_aside(stopped, run, index, fault)))
            }
            Ended::Paused(stopped) => {
                let inside = vec![self.put_aside(stopped, run, index, None)];
                Err(Halt::Interrupted(Interrupted { inside, rest: Vec::new() }))
            }
        }
    }

    fn put_aside(
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

/// What runs.
pub(super) struct Run<'a> {
    pub(super) code: &'a Arc<Code>,
    pub(super) dispatch: &'a Dispatch,
    pub(super) control: &'a RunControl,
}

impl Run<'_> {
    fn name(&self) -> &str {
        let export = self.code.library.exports.get(self.dispatch.export);
        export.map_or("", |export| &export.name)
    }
}

/// Runs `body` while the thread can be asked to stop, if anybody could ask.
pub(super) fn watched<T>(control: &RunControl, body: impl FnOnce() -> T) -> T {
    if control.is_free() {
        return body();
    }
    PAUSABLE.with(|pausable| {
        let _watching = pausable.watch(Control(control.clone()));
        body()
    })
}

/// A workgroup of machine code that was paused, with all that it uses.
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
        let run = Run { code: &code, dispatch: &dispatch, control };
        let index = machine.workgroup;
        watched(control, || {
            // SAFETY: what was vouched for at the call still holds: its code, its memory and its
            // arguments are in this value. Compiled dispatches use nothing of the thread.
            let outcome = unsafe { stopped.resume() };
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
    Stack::new().map_err(|error| no_stack(&error))
}

fn no_stack(error: &std::io::Error) -> Status {
    Status::resource_exhausted(format!("the system has no stack for machine code: {error}"))
}

/// How many constants and bindings there are, as dispatches are told.
fn counts(dispatch: &Dispatch) -> Result<(u16, u8), Status> {
    let (constants, bindings) = (dispatch.constants.len(), dispatch.bindings.len());
    u16::try_from(constants).ok().zip(u8::try_from(bindings).ok()).ok_or_else(|| {
        Status::out_of_range(format!(
            "{constants} constants and {bindings} bindings are more than machine code can have"
        ))
    })
}

/// A size in z, for which the structures of a call have 16 bits.
fn narrow(size: u32) -> Result<u16, Status> {
    u16::try_from(size).map_err(|_| {
        Status::out_of_range(format!("{size} workgroups in z are more than machine code can have"))
    })
}
