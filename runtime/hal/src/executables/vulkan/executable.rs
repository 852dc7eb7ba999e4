//! An executable of shaders: loading it, and running its dispatches on a device of Vulkan.
//!
//! A dispatch runs whole: the device has its own order of workgroups. Shaders become pipelines when
//! they are first dispatched, as a driver may take seconds for one.

use std::any::Any;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use vm::{RunControl, Status, StatusCode};
use vulkan::{Gpu, GpuError, Pipeline, Shader, Span, Work};

use super::definition::{Definition, PipelineDefinition};
use crate::executables::dispatch::Dispatch;
use crate::executables::halt::Halt;
use crate::executables::interface::{Executable, Export};
use crate::executables::native::export_for;

/// A loaded executable of shaders.
#[derive(Debug)]
pub(crate) struct VulkanExecutable {
    format: String,
    gpu: Arc<Gpu>,
    definition: Definition,
    exports: Vec<Export>,
    /// The values of the shaders' specialisation constants.
    constants: Vec<u32>,
    pipelines: Vec<OnceLock<Result<Pipeline, GpuError>>>,
    /// How long the last dispatch took on the device, in nanoseconds; 0 if that is not known.
    device_time: AtomicU64,
}

/// Reads an executable of shaders, of which nothing runs. For tests with damaged files.
///
/// # Errors
/// It is damaged, or needs unsupported features.
pub fn examine_shaders(data: &[u8]) -> Result<(), Status> {
    Definition::read(data).map(drop)
}

impl VulkanExecutable {
    /// Loads an executable. Nothing is compiled yet.
    ///
    /// # Errors
    /// The data is damaged, or needs unsupported features.
    pub(crate) fn load(
        gpu: Arc<Gpu>,
        format: &str,
        data: &vm::Buffer,
        constants: &[u32],
    ) -> Result<Self, Status> {
        let definition = Definition::read(&data.read(0, data.len()))?;
        Ok(Self {
            format: format.to_owned(),
            gpu,
            exports: definition.pipelines.iter().map(|it| it.export.clone()).collect(),
            constants: constants.to_vec(),
            pipelines: definition.pipelines.iter().map(|_| OnceLock::new()).collect(),
            definition,
            device_time: AtomicU64::new(0),
        })
    }

    /// The pipeline of an export. It is compiled if this is its first use.
    fn pipeline(&self, export: usize) -> Result<&Pipeline, GpuError> {
        let PipelineDefinition {
            shader,
            entry_point,
            sets,
            push_constants,
            subgroup_size,
            abi,
            ..
        } = &self.definition.pipelines[export];
        let prepare = || {
            let shader = Shader {
                code: &self.definition.shaders[*shader],
                entry_point,
                sets,
                push_constants,
                subgroup_size: *subgroup_size,
                specialization: &self.constants,
                abi: *abi,
            };
            // SAFETY: the user allows machine code, so the program's shaders are trusted: they are
            // what a compiler wrote, and their layout is beside them.
            unsafe { self.gpu.prepare(&shader) }
        };
        self.pipelines[export].get_or_init(prepare).as_ref().map_err(Clone::clone)
    }
}

/// A failure of the device as the status of the dispatches that it may be in.
fn failure(error: &GpuError, dispatches: &[(&VulkanExecutable, &Dispatch)]) -> Status {
    let code = match error {
        GpuError::Lost | GpuError::GivenUp => StatusCode::DataLoss,
        GpuError::TimedOut(_) => StatusCode::DeadlineExceeded,
        GpuError::OutOfMemory { .. } => StatusCode::ResourceExhausted,
        GpuError::Missing { .. } => StatusCode::Unimplemented,
        GpuError::Limit { .. } => StatusCode::OutOfRange,
        GpuError::Invalid(_) => StatusCode::FailedPrecondition,
        GpuError::Failed { .. } => StatusCode::Internal,
    };
    let mut names: Vec<_> =
        dispatches.iter().map(|(it, dispatch)| it.name_of(dispatch.export)).collect();
    names.sort_unstable();
    names.dedup();
    Status::new(code, format!("{error}; in dispatch @{}", names.join(" or @")))
}

impl Executable for VulkanExecutable {
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
            let all = "a dispatch on a device of Vulkan runs whole, or not at all";
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

/// Runs dispatches in their order. `None`: they are not all on one device of Vulkan.
///
/// # Errors
/// One failed; later dispatches may have run.
pub(crate) fn run_together(
    dispatches: &[(Arc<dyn Executable>, Dispatch)],
) -> Option<Result<(), Status>> {
    let all = dispatches.iter().map(|(executable, dispatch)| {
        Some((executable.whole()?.downcast_ref::<VulkanExecutable>()?, dispatch))
    });
    let all: Vec<_> = all.collect::<Option<_>>()?;
    let (first, _) = all.first()?;
    all.iter().all(|(it, _)| Arc::ptr_eq(&it.gpu, &first.gpu)).then(|| run_all(&all))
}

/// Runs dispatches of one device.
fn run_all(all: &[(&VulkanExecutable, &Dispatch)]) -> Result<(), Status> {
    let Some((first, _)) = all.first() else { return Ok(()) };
    let mut spans: Vec<Vec<Span>> = Vec::with_capacity(all.len());
    for (executable, dispatch) in all {
        export_for(&executable.exports, dispatch)?;
        // As IREE's runtime has it: Vulkan has no buffers without bytes.
        if let Some(empty) = dispatch.bindings.iter().position(|it| it.len() == 0) {
            return Err(Status::invalid_argument(format!(
                "Vulkan dispatch binding {empty} resolved to an empty buffer range; in dispatch \
                 @{}",
                executable.name_of(dispatch.export)
            )));
        }
        let bindings = dispatch.bindings.iter();
        spans.push(bindings.map(|it| Span { address: it.address(), length: it.len() }).collect());
    }
    let works = all.iter().zip(&spans).map(|(one, bindings)| {
        let (executable, dispatch) = one;
        let pipeline = executable.pipeline(dispatch.export);
        Ok(Work {
            pipeline: pipeline.map_err(|error| failure(&error, std::slice::from_ref(one)))?,
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
