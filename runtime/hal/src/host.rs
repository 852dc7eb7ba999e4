//! The surroundings of a program: its devices, its parameters, its native libraries, and limits.

use std::sync::Arc;

use abi::tensor::TensorType;
use gpu::{GpuOptions, NoGpu};
use vm::{Context, ContextBuilder, ExecutionLimits, NativeModule, Status};
use vulkan::VulkanOptions;

use crate::device::{Device, DeviceKind, Gpus};
use crate::executables::{self, MachineCode, NativeCode, Plugins, Sandbox, StandIns, no_sandbox};
use crate::expectations::Expectations;
use crate::flags::{BufferUsage, MemoryAccess, MemoryType};
use crate::memory::{Allocator, BufferParameters, BufferView, Encoding, Shared};
use crate::outside::OutsideLog;
use crate::parameters::Parameters;
use crate::results::ResultSource;

/// The configuration of a [`Host`].
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The device that the program sees.
    pub device: DeviceKind,
    /// Further devices, for programs that are spread over several.
    pub more_devices: Vec<DeviceKind>,
    /// The number of threads that run dispatches of a `local-task` device; 0 is one for each core.
    pub threads: usize,
    /// Whether machine code runs.
    pub native_code: NativeCode,
    /// Libraries whose functions machine code imports.
    pub plugins: Plugins,
    /// The parameters that the program can ask for.
    pub parameters: Arc<Parameters>,
    /// Native libraries that the program can import from.
    pub libraries: Vec<Arc<dyn NativeLibrary>>,
    /// The limits of the program.
    pub limits: ExecutionLimits,
    /// Whether calls within modules pass only 32 bits of each value, as runtimes up to 3.12 do: see
    /// [`vm::ContextBuilder::imitate_narrow_calls`].
    pub imitates_narrow_calls: bool,
    /// Whether device memory is guarded: each buffer ends at inaccessible pages, and fresh memory
    /// holds poison.
    pub is_guarded: bool,
    /// Bytecode for the dispatches of a program whose device is not here.
    pub stand_ins: Option<Arc<dyn StandIns>>,
    /// What the dispatches of a recorded run have left, in the place of running them.
    pub results: Option<Arc<dyn ResultSource>>,
    /// The graphics processors among the program's devices.
    pub gpus: Gpus,
    /// Whether these are used in a process of their own, so that what crashes in a driver does not
    /// take this one along.
    pub gpus_are_apart: bool,
}

impl Config {
    /// The same, with those of its devices opened that are graphics processors.
    ///
    /// # Errors
    /// There is no driver, or no such device.
    pub fn with_gpus(self) -> Result<Self, NoGpu> {
        self.with_gpus_as(&VulkanOptions::default(), GpuOptions::default())
    }

    /// The same, opened as the options say.
    ///
    /// # Errors
    /// There is no driver, or no such device.
    pub fn with_gpus_as(self, vulkan: &VulkanOptions, options: GpuOptions) -> Result<Self, NoGpu> {
        let devices = std::iter::once(self.device).chain(self.more_devices.iter().copied());
        Ok(Self { gpus: Gpus::open(devices, vulkan, options)?, ..self })
    }

    /// The same on the processor.
    #[must_use]
    pub fn on_processor(self) -> Self {
        let is_gpu = |kind: &DeviceKind| matches!(kind, DeviceKind::Gpu(..));
        let all = std::iter::once(self.device).chain(self.more_devices.clone());
        let mut left = all.filter(|kind| !is_gpu(kind));
        let device = left.next().unwrap_or_default();
        Self { device, more_devices: left.collect(), gpus: Gpus::default(), ..self }
    }

    /// Whether one of the devices runs executables of a format.
    #[must_use]
    pub fn runs_format(&self, format: &str) -> bool {
        self.results.as_ref().is_some_and(|results| results.has_format(format))
            || executables::runs_format(format, self.native_code != NativeCode::Refused)
            || self.gpus.run_format(format, self.native_code)
    }

    /// Whether one of the devices would run executables of a format, if machine code were allowed
    /// in this process.
    #[must_use]
    pub fn would_run_format(&self, format: &str) -> bool {
        self.gpus.run_format(format, NativeCode::Allowed)
    }
}

/// A native library of the user, whose functions satisfy imports of programs. The implementation
/// knows how to call them.
pub trait NativeLibrary: std::fmt::Debug + Send + Sync {
    /// The name that programs import from.
    fn name(&self) -> &str;

    /// The library as a module. `imports` are the functions that the program imports from it: name
    /// and calling convention.
    fn module(&self, host: &Host, imports: &[(&str, &str)]) -> NativeModule;

    /// Arguments and results of one of its functions, if the library or its user says what they
    /// are.
    fn declared(&self, _name: &str) -> Option<&abi::signature::Function> {
        None
    }

    /// The functions that cannot be called: name and reason.
    fn unusable(&self) -> &[(String, String)] {
        &[]
    }
}

/// The surroundings of one program: its devices, its parameters, and the failed expectations of its
/// tests.
#[derive(Clone, Debug)]
pub struct Host {
    device: Arc<Device>,
    more_devices: Vec<Arc<Device>>,
    expectations: Expectations,
    parameters: Arc<Parameters>,
    libraries: Vec<Arc<dyn NativeLibrary>>,
    outside: Arc<OutsideLog>,
    limits: ExecutionLimits,
    imitates_narrow_calls: bool,
}

impl Host {
    /// A host with this configuration.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let pool = config.device.pool(config.threads);
        let mut limits = config.limits.clone();
        let (shared, sandbox) = sandbox(config, pool.concurrency(), &mut limits);
        if shared.is_none()
            && let Some(source) = config.gpus.memory()
        {
            limits.memory = limits.memory.clone().from_source(source);
        }
        let allocator = if config.is_guarded {
            Allocator::guarding(shared.clone())
        } else {
            Allocator::default()
        };
        let machine_code = MachineCode {
            allowed: config.native_code,
            plugins: config.plugins.clone(),
            sandbox,
            gpu: config.gpus.of(config.device),
            gpu_apart: gpu_apart(config, config.device, shared.as_ref()),
        };
        let device = Device::new(config.device, pool, machine_code, allocator)
            .with_stand_ins(config.stand_ins.clone());
        if let Some(results) = &config.results {
            device.history().set_results(results.clone());
        }
        let another = |kind: &DeviceKind| {
            let apart = gpu_apart(config, *kind, shared.as_ref());
            device.another(*kind, config.gpus.of(*kind), apart)
        };
        let more_devices = config.more_devices.iter().map(|kind| Arc::new(another(kind)));
        let more_devices = more_devices.collect();
        let device = Arc::new(device);
        Self {
            more_devices,
            outside: Arc::new(OutsideLog::new(device.clone(), limits.clone())),
            device,
            expectations: Expectations::default(),
            parameters: config.parameters.clone(),
            libraries: config.libraries.clone(),
            limits,
            imitates_narrow_calls: config.imitates_narrow_calls,
        }
    }

    /// Whether calls within modules pass only 32 bits of each value, as runtimes up to 3.12 do: see
    /// [`vm::ContextBuilder::imitate_narrow_calls`].
    #[must_use]
    pub fn imitates_narrow_calls(&self) -> bool {
        self.imitates_narrow_calls
    }

    /// A builder of a context with the host's limits.
    #[must_use]
    pub fn context(&self) -> ContextBuilder {
        let builder = Context::builder().limits(self.limits.clone());
        if self.imitates_narrow_calls { builder.imitate_narrow_calls() } else { builder }
    }

    /// The limits of programs.
    #[must_use]
    pub(crate) fn limits(&self) -> &ExecutionLimits {
        &self.limits
    }

    /// The parameters that programs can ask for.
    #[must_use]
    pub fn parameters(&self) -> &Arc<Parameters> {
        &self.parameters
    }

    /// All devices.
    pub(crate) fn devices(&self) -> impl Iterator<Item = &Arc<Device>> {
        std::iter::once(&self.device).chain(&self.more_devices)
    }

    /// The first device.
    #[must_use]
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The failed expectations of tests.
    #[must_use]
    pub fn expectations(&self) -> &Expectations {
        &self.expectations
    }

    /// The native libraries that programs can import from.
    #[must_use]
    pub fn libraries(&self) -> &[Arc<dyn NativeLibrary>] {
        &self.libraries
    }

    /// What the program has got from its native libraries.
    #[must_use]
    pub fn outside(&self) -> &Arc<OutsideLog> {
        &self.outside
    }

    /// A tensor in new device memory. `bytes` are its elements in row-major order.
    ///
    /// # Errors
    /// There is no memory.
    pub fn import_tensor(
        &self,
        tensor_type: &TensorType,
        bytes: &[u8],
    ) -> Result<BufferView, Status> {
        let parameters = BufferParameters {
            memory_type: MemoryType::DEVICE_LOCAL,
            usage: BufferUsage::DEFAULT | BufferUsage::MAPPING,
            access: MemoryAccess::ALL,
        };
        let buffer = self.device().allocator().import(bytes, parameters, self.limits())?;
        let element_type = tensor_type.element_type.code();
        let shape = tensor_type.shape.clone();
        Ok(BufferView::new(buffer, shape, element_type, Encoding::DENSE_ROW_MAJOR))
    }
}

/// The sandbox of machine code, or why there is none, and the memory that it shares: from now on
/// the limits let buffers come from there.
fn sandbox(
    config: &Config,
    threads: usize,
    limits: &mut ExecutionLimits,
) -> (Option<Shared>, Option<Result<Arc<Sandbox>, Status>>) {
    let has_sandbox = config.native_code == NativeCode::Sandboxed;
    let has_apart = config.gpus_are_apart && config.gpus.are_some();
    if !has_sandbox && !has_apart {
        return (None, None);
    }
    match Shared::new() {
        Ok(shared) => {
            limits.memory = limits.memory.clone().from_source(Arc::new(shared.clone()));
            if !has_sandbox {
                return (Some(shared), None);
            }
            let sandbox = Sandbox::new(shared.clone(), threads, limits.allocation_bytes);
            (Some(shared), Some(Ok(Arc::new(sandbox))))
        }
        Err(error) => (None, has_sandbox.then(|| Err(no_sandbox(&error)))),
    }
}

/// The process for a graphics processor, if it is to be apart; or why there is none.
fn gpu_apart(
    config: &Config,
    kind: DeviceKind,
    shared: Option<&Shared>,
) -> Option<Result<Arc<Sandbox>, Status>> {
    let gpu = config.gpus.apart(kind).filter(|_| config.gpus_are_apart)?;
    Some(match shared {
        Some(shared) => Ok(Arc::new(Sandbox::for_gpu(shared.clone(), gpu))),
        None => Err(Status::failed_precondition(
            "no process can be apart on this system: run it without --gpu-apart",
        )),
    })
}
