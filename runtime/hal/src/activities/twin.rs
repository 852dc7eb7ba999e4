//! A dispatch of machine code that runs as bytecode: its twin.
//!
//! A debugger cannot look into machine code, but bytecode that was compiled from the same source
//! computes the same. Before a command runs, a debugger may hand its activity such a twin
//! ([`super::QueueActivity::run_as`]). What follows keeps the program's results as they are:
//!
//! ```text
//!  keep bytes ──> machine code runs ──> keep its results ──> put the bytes back
//!        ──> the twin runs, watched, on the same memory ──> compare ──> the machine's results again
//! ```
//!
//! If the machine code faults, there is nothing to compare: the twin runs alone, and its results
//! stay. The same holds after [`TwinReport::keep_results`]: the user has changed what it works on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vm::{Context, HostContext, Invocation, ModuleIndex, Outcome, Ref, RunControl, Status};
use vmfb::FileBytes;

use super::attach::attach;
use super::snapshot::Snapshot;
use crate::commands::ResolvedDispatch;
use crate::device::Device;
use crate::executables::{self, Dispatch, Executable, Halt, NativeCode, VMVX_FORMAT};

/// The function that initialises a module.
const INITIALIZER: &str = "__init";

/// Bytecode that computes the same as one dispatch function of machine code.
#[derive(Clone, Debug)]
pub struct Twin {
    executable: Arc<dyn Executable>,
    export: usize,
    module: ModuleIndex,
}

/// How the machine code of a dispatch ended that ran as its twin.
#[derive(Clone, Debug)]
pub enum MachineRun {
    /// It ran to its end.
    Completed,
    /// It failed.
    Failed(Status),
    /// A stop was requested before its end.
    Interrupted,
}

/// What a dispatch has left behind that ran as machine code and as its twin.
#[derive(Clone, Debug)]
pub struct TwinOutcome {
    /// The dispatch of machine code, with its memory.
    pub resolved: ResolvedDispatch,
    /// How the machine code ended.
    pub machine: MachineRun,
    /// Whether the memory holds what the twin has left, rather than the machine code.
    pub keeps_twin: bool,
    /// The bytes that the twin has left in each binding that the machine code left differently.
    pub differing: Vec<(usize, Vec<u8>)>,
}

/// The outcome of one run of a twin, shared with the debugger that asked for it.
#[derive(Clone, Debug, Default)]
pub struct TwinReport(Arc<Mutex<Reported>>);

#[derive(Debug, Default)]
struct Reported {
    machine: Option<MachineRun>,
    outcome: Option<TwinOutcome>,
    keeps_twin: bool,
}

impl TwinReport {
    /// The outcome, once the twin has run.
    #[must_use]
    pub fn take(&self) -> Option<TwinOutcome> {
        self.lock().outcome.take()
    }

    /// How the machine code has ended, once: it runs before the twin.
    #[must_use]
    pub fn take_machine(&self) -> Option<MachineRun> {
        self.lock().machine.take()
    }

    /// Makes the results of the twin stay: the user has changed what it computes.
    pub fn keep_results(&self) {
        self.lock().keeps_twin = true;
    }

    fn lock(&self) -> MutexGuard<'_, Reported> {
        // The data is consistent at any time, so a panic in another thread does not spoil it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Twin {
    /// Attaches a module of bytecode to the program's context, to run one of its exports.
    ///
    /// # Errors
    /// The bytes are no executable, have no such export, or cannot be initialised.
    pub fn attach(
        context: &mut Context,
        device: &Device,
        bytes: &[u8],
        export: &str,
    ) -> Result<Self, Status> {
        let file = FileBytes::from(bytes.to_vec());
        let range = 0..file.len();
        let data = vm::Buffer::of_file(file, range)
            .map(Arc::new)
            .ok_or_else(|| Status::internal("the twin's bytes cannot be held"))?;
        let limits = context.limits().clone();
        let executable = executables::load(VMVX_FORMAT, &data, &[], NativeCode::Refused, &limits)?;
        let found = executable.exports().iter().position(|it| it.name == export);
        let index = found
            .ok_or_else(|| Status::not_found(format!("the bytecode has no dispatch @{export}")))?;
        let bytecode = executable
            .bytecode()
            .ok_or_else(|| Status::internal("an executable of bytecode has no bytecode"))?;
        let module = attach(context, &bytecode.module, Ref::Buffer(data))
            .map_err(|error| Status::not_found(error.to_string()))?;
        initialize(context, module)?;
        device.nested_modules().enter(&executable, module);
        Ok(Self { executable, export: index, module })
    }

    /// Its module in the program's context.
    #[must_use]
    pub fn module(&self) -> ModuleIndex {
        self.module
    }

    /// Checks that it takes what a dispatch of machine code is given.
    pub(super) fn fits(&self, dispatch: &Dispatch) -> Result<(), Status> {
        let export = self.executable.exports().get(self.export);
        let counts = export.map(|export| (export.constant_count, export.binding_count));
        let (constants, bindings) = counts.unwrap_or_default();
        let fits = |wanted: Option<usize>, given: usize| wanted.is_none_or(|it| it == given);
        if fits(constants, dispatch.constants.len()) && fits(bindings, dispatch.bindings.len()) {
            return Ok(());
        }
        Err(Status::failed_precondition(
            "the bytecode takes other bindings or constants than the machine code",
        ))
    }
}

/// Runs the initialiser of an attached module.
fn initialize(context: &mut Context, module: ModuleIndex) -> Result<(), Status> {
    let Some(function) = HostContext::export(context, module, INITIALIZER) else { return Ok(()) };
    let mut invocation = Invocation::new(context, function, Vec::new())?;
    loop {
        match invocation.run(context) {
            Outcome::Completed(_) => return Ok(()),
            Outcome::Failed(failure) => return Err(failure.status),
            Outcome::Yielded | Outcome::Stopped(_) => {}
        }
    }
}

/// A request to run the next dispatch as its twin.
#[derive(Debug)]
pub(super) struct Substitute {
    pub(super) twin: Twin,
    pub(super) workgroup_count: [u32; 3],
    pub(super) report: TwinReport,
}

/// A twin in progress.
#[derive(Debug)]
pub(super) struct TwinRun {
    resolved: ResolvedDispatch,
    machine: MachineRun,
    /// What the machine code has left, if it ran to its end.
    results: Option<Snapshot>,
    report: TwinReport,
}

impl Substitute {
    /// Runs the machine code, keeps its results, and puts the memory back as it was. Returns the
    /// executable and the dispatch that are to run instead.
    ///
    /// # Errors
    /// The memory of the dispatch cannot be put back.
    pub(super) fn begin(
        self,
        resolved: ResolvedDispatch,
        device: &Device,
        control: &RunControl,
    ) -> Result<(Arc<dyn Executable>, Dispatch, TwinRun), Status> {
        let Self { twin, workgroup_count, report } = self;
        let ResolvedDispatch { executable, dispatch, .. } = &resolved;
        let before = Snapshot::of(dispatch)?;
        let all = 0..dispatch.total_workgroups();
        let (machine, results) = match device.pool().run_range(executable, dispatch, all, control) {
            Ok(()) => (MachineRun::Completed, Some(Snapshot::of(dispatch)?)),
            Err(Halt::Failed(status) | Halt::FailedInside(status, _)) => {
                (MachineRun::Failed(status), None)
            }
            Err(Halt::Interrupted(_)) => (MachineRun::Interrupted, None),
        };
        before.put_back()?;
        report.lock().machine = Some(machine.clone());
        let substitute = Dispatch {
            export: twin.export,
            workgroup_count,
            workgroup_size: [1; 3],
            ..dispatch.clone()
        };
        Ok((twin.executable, substitute, TwinRun { resolved, machine, results, report }))
    }
}

impl TwinRun {
    /// The twin has run: compares, and puts the results of the machine code in place.
    ///
    /// # Errors
    /// Memory cannot be written.
    pub(super) fn finish(self) -> Result<ResolvedDispatch, Status> {
        let Self { resolved, machine, results, report } = self;
        let mut reported = report.lock();
        let mut differing = Vec::new();
        if let Some(results) = &results {
            let dispatch = &resolved.dispatch;
            for (index, binding) in dispatch.bindings.iter().enumerate() {
                let memory = binding.view()?;
                let now = memory.read(0, memory.len());
                if now != results.of_binding(dispatch, index) {
                    differing.push((index, now));
                }
            }
        }
        let keeps_twin = reported.keeps_twin || results.is_none();
        if let Some(results) = results.filter(|_| !keeps_twin) {
            results.put_back()?;
        }
        reported.outcome =
            Some(TwinOutcome { resolved: resolved.clone(), machine, keeps_twin, differing });
        Ok(resolved)
    }
}
