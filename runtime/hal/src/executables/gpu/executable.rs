//! An executable for a graphics processor: loading it, and running its dispatches on a device.
//!
//! A dispatch runs whole: the device has its own order of workgroups. Functions are made ready when
//! they are first dispatched, as a driver may take seconds for one: those of dispatches that are
//! submitted together at the same time, on all processors.

use std::any::Any;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use gpu::{Gpu, GpuError, Span, Work};
use vm::{RunControl, Status, StatusCode};

use crate::executables::dispatch::Dispatch;
use crate::executables::halt::Halt;
use crate::executables::interface::{Executable, Export};
use crate::executables::native::export_for;

/// What a format's executables are.
pub(super) trait Definition: std::fmt::Debug + Send + Sync + Sized + 'static {
    /// The devices that run them.
    type Gpu: Gpu;

    /// The interface whose devices take no buffers without bytes, if it is such a one.
    const REFUSES_EMPTY: Option<&'static str>;

    /// Reads an executable.
    ///
    /// # Errors
    /// It is damaged, or has what no dispatch can be given.
    fn read(data: &[u8]) -> Result<Self, Status>;

    /// Its functions.
    fn exports(&self) -> Vec<Export>;

    /// Makes a function ready to run on a device, always the same one. The program specialises it
    /// with `constants`. Several threads may do so at the same time.
    ///
    /// # Errors
    /// The device or its driver does not take it.
    ///
    /// # Safety
    /// Its code is what a compiler wrote, and takes what is said beside it.
    unsafe fn prepare(
        &self,
        gpu: &Self::Gpu,
        export: usize,
        constants: &[u32],
    ) -> Result<<Self::Gpu as Gpu>::Kernel, GpuError>;
}

/// A loaded executable.
#[derive(Debug)]
pub(super) struct GpuExecutable<D: Definition> {
    format: String,
    gpu: Arc<D::Gpu>,
    definition: D,
    exports: Vec<Export>,
    /// What the program specialises it with.
    constants: Vec<u32>,
    kernels: Kernels<D>,
    /// How long the last dispatch took on the device, in nanoseconds; 0 if that is not known.
    device_time: AtomicU64,
}

/// The functions of an executable that have been dispatched.
struct Kernels<D: Definition>(Vec<OnceLock<Result<<D::Gpu as Gpu>::Kernel, GpuError>>>);

impl<D: Definition> std::fmt::Debug for Kernels<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Kernels").field(&self.0.len()).finish()
    }
}

impl<D: Definition> GpuExecutable<D> {
    /// Loads an executable. Nothing is compiled yet.
    ///
    /// # Errors
    /// The data is damaged, or needs unsupported features.
    pub(super) fn load(
        gpu: Arc<D::Gpu>,
        format: &str,
        data: &vm::Buffer,
        constants: &[u32],
    ) -> Result<Self, Status> {
        let definition = D::read(&data.read(0, data.len()))?;
        let exports = definition.exports();
        Ok(Self {
            format: format.to_owned(),
            gpu,
            constants: constants.to_vec(),
            kernels: Kernels(exports.iter().map(|_| OnceLock::new()).collect()),
            exports,
            definition,
            device_time: AtomicU64::new(0),
        })
    }

    /// A function that is ready to run. It is made so if this is its first use.
    fn kernel(&self, export: usize) -> Result<&<D::Gpu as Gpu>::Kernel, GpuError> {
        // SAFETY: the user allows machine code, so the program's is trusted: it is what a compiler
        // wrote, and what it takes is beside it.
        let prepare = || unsafe { self.definition.prepare(&self.gpu, export, &self.constants) };
        self.kernels.0[export].get_or_init(prepare).as_ref().map_err(Clone::clone)
    }
}

/// A failure of the device as the status of the dispatches that it may be in.
fn failure<D: Definition>(
    error: &GpuError,
    dispatches: &[(&GpuExecutable<D>, &Dispatch)],
) -> Status {
    let code = match error {
        GpuError::Lost(_) | GpuError::GivenUp(_) => StatusCode::DataLoss,
        GpuError::TimedOut(..) => StatusCode::DeadlineExceeded,
        GpuError::OutOfMemory { .. } => StatusCode::ResourceExhausted,
        GpuError::Missing { .. } => StatusCode::Unimplemented,
        GpuError::Limit { .. } => StatusCode::OutOfRange,
        GpuError::Invalid(_) => StatusCode::FailedPrecondition,
        GpuError::Fault { .. } => StatusCode::Aborted,
        GpuError::Failed { .. } => StatusCode::Internal,
    };
    let mut names: Vec<_> =
        dispatches.iter().map(|(it, dispatch)| it.name_of(dispatch.export)).collect();
    names.sort_unstable();
    names.dedup();
    Status::new(code, format!("{error}; in dispatch @{}", names.join(" or @")))
}

impl<D: Definition> Executable for GpuExecutable<D> {
    fn format(&self) -> &str {
        &self.format
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
        if control.is_interrupted() {
            return Err(Halt::before(range));
        }
        if range != (0..dispatch.total_workgroups()) {
            let all = "a dispatch on a graphics processor runs whole, or not at all";
            return Err(Status::internal(all).into());
        }
        vm::Meter::of_worker(control).spend_on_work()?;
        run_all(&[(self, dispatch)])?;
        Ok(())
    }

    fn whole(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn device_time(&self) -> Option<Duration> {
        let nanoseconds = self.device_time.load(Ordering::Relaxed);
        (nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds))
    }
}

/// Makes the functions of some dispatches ready, on all processors. Why one could not be made so is
/// kept, and told where it is dispatched.
fn prepare_together<D: Definition>(all: &[(&GpuExecutable<D>, &Dispatch)]) {
    let is_new = |(executable, dispatch): &&(&GpuExecutable<D>, &Dispatch)| {
        executable.kernels.0[dispatch.export].get().is_none()
    };
    let new: Vec<_> = all.iter().filter(is_new).collect();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let prepare = || {
        while let Some((executable, dispatch)) = new.get(next.fetch_add(1, Ordering::Relaxed)) {
            _ = executable.kernel(dispatch.export);
        }
    };
    thread::scope(|scope| {
        for _ in 1..processors.min(new.len()) {
            // Without another thread, this one does it all.
            _ = thread::Builder::new().spawn_scoped(scope, prepare);
        }
        prepare();
    });
}

/// Runs dispatches in their order. `None`: they are not all on one device of this kind.
///
/// # Errors
/// One failed; later dispatches may have run.
pub(super) fn run_together<D: Definition>(
    dispatches: &[(Arc<dyn Executable>, Dispatch)],
) -> Option<Result<(), Status>> {
    let all = dispatches.iter().map(|(executable, dispatch)| {
        Some((executable.whole()?.downcast_ref::<GpuExecutable<D>>()?, dispatch))
    });
    let all: Vec<_> = all.collect::<Option<_>>()?;
    let (first, _) = all.first()?;
    all.iter().all(|(it, _)| Arc::ptr_eq(&it.gpu, &first.gpu)).then(|| run_all(&all))
}

/// Runs dispatches of one device.
fn run_all<D: Definition>(all: &[(&GpuExecutable<D>, &Dispatch)]) -> Result<(), Status> {
    let Some((first, _)) = all.first() else { return Ok(()) };
    let mut spans: Vec<Vec<Span>> = Vec::with_capacity(all.len());
    for (executable, dispatch) in all {
        export_for(&executable.exports, dispatch)?;
        if let Some(api) = D::REFUSES_EMPTY
            && let Some(empty) = dispatch.bindings.iter().position(|it| it.len() == 0)
        {
            return Err(Status::invalid_argument(format!(
                "{api} dispatch binding {empty} resolved to an empty buffer range; in dispatch \
                 @{}",
                executable.name_of(dispatch.export)
            )));
        }
        let bindings = dispatch.bindings.iter();
        spans.push(bindings.map(|it| Span { address: it.address(), length: it.len() }).collect());
    }
    prepare_together(all);
    let works = all.iter().zip(&spans).map(|(one, bindings)| {
        let (executable, dispatch) = one;
        let kernel = executable.kernel(dispatch.export);
        Ok(Work {
            kernel: kernel.map_err(|error| failure(&error, std::slice::from_ref(one)))?,
            workgroups: dispatch.workgroup_count,
            constants: &dispatch.constants,
            bindings,
        })
    });
    let works = works.collect::<Result<Vec<_>, Status>>()?;
    // SAFETY: a binding is a range of its buffer, which it keeps. The program waits for this
    // dispatch, so nothing else of it accesses its memory; what a host language shares with it is
    // the host's business, as for machine code.
    let finished = unsafe { first.gpu.run(&works) };
    let finished = finished.map_err(|(index, error)| {
        let one = index.and_then(|index| all.get(index..=index));
        failure(&error, one.unwrap_or(all))
    })?;
    for ((executable, _), finished) in all.iter().zip(finished) {
        let time = finished.device_time.map_or(0, |time| time.as_nanos() as u64);
        executable.device_time.store(time, Ordering::Relaxed);
    }
    Ok(())
}
