//! A dispatch of machine code that runs as bytecode: its twin.
//!
//! A debugger cannot look into machine code, but bytecode that was compiled from the same source
//! computes the same. Before a command runs, a debugger may hand its activity such a twin
//! ([`super::QueueActivity::run_as`]). What follows keeps the program's results as they are:
//!
//! ```text
//!  keep bytes ──> the twin runs, watched ──> keep its results ──> put the bytes back
//!        ──> the machine code runs, as always ──> compare
//! ```
//!
//! After [`TwinReport::keep_results`] the machine code does not run: the user has changed what the
//! twin works on, and its results stay.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vm::{Context, HostContext, Invocation, ModuleIndex, Outcome, Ref, Status};
use vmfb::FileBytes;

use super::attach::attach;
use super::snapshot::Snapshot;
use crate::commands::ResolvedDispatch;
use crate::device::Device;
use crate::executables::{self, Dispatch, Executable, MachineCode, NativeCode, VMVX_FORMAT};

/// The function that initialises a module.
const INITIALIZER: &str = "__init";

/// Bytecode that computes the same as one dispatch function of machine code.
#[derive(Clone, Debug)]
pub struct Twin {
    executable: Arc<dyn Executable>,
    export: usize,
    module: ModuleIndex,
}

/// What a dispatch has left that ran as its twin and as machine code.
#[derive(Clone, Debug)]
pub struct TwinOutcome {
    /// The dispatch of machine code, with its memory.
    pub resolved: ResolvedDispatch,
    /// Whether the machine code did not run, so that the memory holds what the twin has left.
    pub keeps_twin: bool,
    /// The bytes that the twin has left in each binding that the machine code left differently.
    pub differing: Vec<(usize, Vec<u8>)>,
}

/// The outcome of one run of a twin, shared with the debugger that asked for it.
#[derive(Clone, Debug, Default)]
pub struct TwinReport(Arc<Mutex<Reported>>);

#[derive(Debug, Default)]
struct Reported {
    outcome: Option<TwinOutcome>,
    keeps_twin: bool,
    /// Whether the results are not compared.
    is_unread: bool,
}

impl TwinReport {
    /// A report that says nothing unless the results of the twin stay: nothing is compared.
    #[must_use]
    pub fn unread() -> Self {
        Self(Arc::new(Mutex::new(Reported { is_unread: true, ..Reported::default() })))
    }

    /// The outcome, once the twin has run.
    #[must_use]
    pub fn take(&self) -> Option<TwinOutcome> {
        self.lock().outcome.take()
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
        Self::of_data(context, device, &held(bytes)?, None, export)
    }

    /// The same for another export of the module that this one is of.
    ///
    /// # Errors
    /// The module has no such export.
    pub fn beside(&self, export: &str) -> Result<Self, Status> {
        Ok(Self { export: index_of(&self.executable, export)?, ..self.clone() })
    }

    /// Takes a module of bytecode that the program itself has and that is attached already, to run
    /// one of its exports in the place of machine code.
    ///
    /// # Errors
    /// As [`Self::attach`].
    pub fn of_attached(
        context: &mut Context,
        device: &Device,
        data: &Arc<vm::Buffer>,
        module: ModuleIndex,
        export: &str,
    ) -> Result<Self, Status> {
        Self::of_data(context, device, data, Some(module), export)
    }

    fn of_data(
        context: &mut Context,
        device: &Device,
        data: &Arc<vm::Buffer>,
        attached: Option<ModuleIndex>,
        export: &str,
    ) -> Result<Self, Status> {
        let limits = context.limits().clone();
        let bytecode_only = MachineCode { allowed: NativeCode::Refused, ..MachineCode::default() };
        let executable = executables::load(VMVX_FORMAT, data, &[], &bytecode_only, &limits)?;
        let index = index_of(&executable, export)?;
        let bytecode = executable
            .bytecode()
            .ok_or_else(|| Status::internal("an executable of bytecode has no bytecode"))?;
        // A module that the program itself runs keeps its globals to itself.
        let module = match attached.filter(|module| !device.nested_modules().is_taken(*module)) {
            Some(module) => module,
            None => attach(context, &bytecode.module, Ref::Buffer(data.clone()))
                .map_err(|error| Status::not_found(error.to_string()))?,
        };
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

/// Bytes of a module as the program holds them.
fn held(bytes: &[u8]) -> Result<Arc<vm::Buffer>, Status> {
    let file = FileBytes::from(bytes.to_vec());
    let range = 0..file.len();
    let data = vm::Buffer::of_file(file, range);
    data.map(Arc::new).ok_or_else(|| Status::internal("the twin's bytes cannot be held"))
}

/// The index of an export.
fn index_of(executable: &Arc<dyn Executable>, export: &str) -> Result<usize, Status> {
    let found = executable.exports().iter().position(|it| it.name == export);
    found.ok_or_else(|| Status::not_found(format!("the bytecode has no dispatch @{export}")))
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

/// A dispatch in progress that runs as its twin, then as machine code.
#[derive(Debug)]
pub(super) struct TwinRun {
    resolved: ResolvedDispatch,
    /// The memory before the dispatch.
    before: Snapshot,
    /// What the twin has left, once it has run.
    results: Option<Snapshot>,
    report: TwinReport,
}

impl Substitute {
    /// Keeps the memory as it is. Returns the executable and the dispatch that run first.
    ///
    /// # Errors
    /// None: the bindings were checked.
    pub(super) fn begin(
        self,
        resolved: ResolvedDispatch,
    ) -> Result<(Arc<dyn Executable>, Dispatch, TwinRun), Status> {
        let Self { twin: Twin { executable, export, .. }, workgroup_count, report } = self;
        let before = Snapshot::of(&resolved.dispatch)?;
        let dispatch = Dispatch {
            export,
            workgroup_count,
            workgroup_size: [1; 3],
            ..resolved.dispatch.clone()
        };
        Ok((executable, dispatch, TwinRun { resolved, before, results: None, report }))
    }
}

impl TwinRun {
    /// Whether the twin is in progress, rather than the machine code.
    pub(super) fn is_twin(&self) -> bool {
        self.results.is_none()
    }

    /// The twin, or the machine code after it, has run. Returns the machine code that is to run
    /// next; `None` if both have run.
    ///
    /// # Errors
    /// Memory cannot be written.
    pub(super) fn go_on(&mut self) -> Result<Option<ResolvedDispatch>, Status> {
        let dispatch = &self.resolved.dispatch;
        let keeps_twin = self.is_twin() && self.report.lock().keeps_twin;
        let is_unread = self.report.lock().is_unread;
        if self.is_twin() && !keeps_twin {
            let results = if is_unread { Snapshot::default() } else { Snapshot::of(dispatch)? };
            self.results = Some(results);
            self.before.put_back()?;
            return Ok(Some(self.resolved.clone()));
        }
        if is_unread && !keeps_twin {
            return Ok(None);
        }
        let mut differing = Vec::new();
        if let Some(results) = &self.results {
            for (index, binding) in dispatch.bindings.iter().enumerate() {
                let (memory, twin) = (binding.view()?, results.of_binding(dispatch, index));
                if memory.read(0, memory.len()) != twin {
                    differing.push((index, twin.to_vec()));
                }
            }
        }
        let resolved = self.resolved.clone();
        self.report.lock().outcome = Some(TwinOutcome { resolved, keeps_twin, differing });
        Ok(None)
    }

    /// The dispatch of machine code.
    pub(super) fn into_resolved(self) -> ResolvedDispatch {
        self.resolved
    }
}
