//! The surroundings of a program: its devices, its parameters, its native libraries, and limits.

use std::sync::Arc;

use abi::tensor::TensorType;
use vm::{Context, ContextBuilder, ExecutionLimits, NativeModule, Status};

use crate::device::{Device, DeviceKind};
use crate::executables::NativeCode;
use crate::expectations::Expectations;
use crate::flags::{BufferUsage, MemoryAccess, MemoryType};
use crate::memory::{Allocator, BufferParameters, BufferView, Encoding};
use crate::parameters::Parameters;

/// What programs find around them.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The device they see.
    pub device: DeviceKind,
    /// Further ones, for programs that are spread over several.
    pub more_devices: Vec<DeviceKind>,
    /// How many threads run dispatches where they run on many; 0 is one for each core.
    pub threads: usize,
    /// Whether their machine code runs.
    pub native_code: NativeCode,
    /// The parameters that they can ask for.
    pub parameters: Arc<Parameters>,
    /// Native libraries that they can import from.
    pub libraries: Vec<Arc<dyn NativeLibrary>>,
    /// How much they may use.
    pub limits: ExecutionLimits,
    /// Whether calls within modules pass as little as on runtimes up to 3.12: see
    /// [`vm::ContextBuilder::imitate_narrow_calls`].
    pub imitates_narrow_calls: bool,
    /// Whether device memory is guarded: see [`crate::guard`].
    pub is_guarded: bool,
}

/// A library of the user's whose functions satisfy imports. How they are called is its own
/// business.
pub trait NativeLibrary: std::fmt::Debug + Send + Sync {
    /// The name that programs import from.
    fn name(&self) -> &str;

    /// The library as a module. `imports` are the functions that the program asks of it, each with
    /// its calling convention.
    fn module(&self, host: &Host, imports: &[(&str, &str)]) -> NativeModule;

    /// The functions that it has but that cannot be called, and why.
    fn unusable(&self) -> &[(String, String)] {
        &[]
    }
}

/// The surroundings of one program: its device, its parameters, and what its tests expected in
/// vain.
#[derive(Clone, Debug)]
pub struct Host {
    device: Arc<Device>,
    more_devices: Vec<Arc<Device>>,
    expectations: Expectations,
    parameters: Arc<Parameters>,
    libraries: Vec<Arc<dyn NativeLibrary>>,
    limits: ExecutionLimits,
    imitates_narrow_calls: bool,
}

impl Host {
    /// Surroundings as configured.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let pool = config.device.pool(config.threads);
        let allocator =
            if config.is_guarded { Allocator::guarding() } else { Allocator::default() };
        let device = Device::new(config.device, pool, config.native_code, allocator);
        let more_devices = config.more_devices.iter().map(|kind| Arc::new(device.another(*kind)));
        Self {
            more_devices: more_devices.collect(),
            device: Arc::new(device),
            expectations: Expectations::default(),
            parameters: config.parameters.clone(),
            libraries: config.libraries.clone(),
            limits: config.limits.clone(),
            imitates_narrow_calls: config.imitates_narrow_calls,
        }
    }

    /// Whether calls within modules pass as little as on runtimes up to 3.12: see
    /// [`vm::ContextBuilder::imitate_narrow_calls`].
    #[must_use]
    pub fn imitates_narrow_calls(&self) -> bool {
        self.imitates_narrow_calls
    }

    /// A context to be linked, with what programs may use.
    #[must_use]
    pub fn context(&self) -> ContextBuilder {
        let builder = Context::builder().limits(self.limits.clone());
        if self.imitates_narrow_calls { builder.imitate_narrow_calls() } else { builder }
    }

    /// How much programs may use.
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

    /// The device, the first if there are several.
    #[must_use]
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// What tests expected in vain.
    #[must_use]
    pub fn expectations(&self) -> &Expectations {
        &self.expectations
    }

    /// The native libraries that programs can import from.
    #[must_use]
    pub fn libraries(&self) -> &[Arc<dyn NativeLibrary>] {
        &self.libraries
    }

    /// A tensor in new memory of the device, with the bytes of `bytes`, which fit its type.
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
