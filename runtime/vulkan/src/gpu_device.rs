//! An open device of Vulkan, as others use it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use gpu::{Finished, GpuError, GpuName, GpuOptions, NoGpu};

use crate::description::GpuDescription;
use crate::device::Device;
use crate::loader::Vulkan;
use crate::memory::{Block, Memory};
use crate::pipeline::{Pipeline, Shader};
use crate::queue::{Queue, Work};

/// An open device.
pub struct Gpu {
    device: Arc<Device>,
    memory: Arc<Memory>,
    queue: Mutex<Queue>,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gpu").field(&self.device.description.name).finish()
    }
}

impl Gpu {
    /// Opens a device.
    ///
    /// # Errors
    /// There is none of that name, or it cannot be used.
    pub fn open(
        vulkan: &'static Vulkan,
        name: GpuName,
        options: GpuOptions,
    ) -> Result<Arc<Self>, NoGpu> {
        let device = Device::open(vulkan, name, options)?;
        let unusable = |reason: String| {
            let device = device.description.name.clone();
            NoGpu::Unusable { device, reason }
        };
        let memory = Memory::new(&device)
            .ok_or_else(|| unusable("none of its memory is visible to the host".into()))?;
        let memory = Arc::new(memory);
        let queue = Queue::new(&memory).map_err(|error| unusable(error.to_string()))?;
        Ok(Arc::new(Self { device, memory, queue: Mutex::new(queue) }))
    }

    /// What it is.
    #[must_use]
    pub fn description(&self) -> &GpuDescription {
        &self.device.description
    }

    /// Whether dispatches can find their memory by addresses ([`crate::Abi::Addresses`]).
    #[must_use]
    pub fn has_addresses(&self) -> bool {
        self.device.features.has_addresses()
    }

    /// New memory of zeros. `alignment` is a power of two.
    ///
    /// # Errors
    /// The device has no more, or is lost.
    pub fn allocate(&self, length: usize, alignment: usize) -> Result<Block, GpuError> {
        self.memory.buffers.allocate(length, alignment)
    }

    /// Makes a shader ready to run. Several threads may do so at the same time.
    ///
    /// # Errors
    /// It needs what the device lacks, or the driver does not take it.
    ///
    /// # Safety
    /// The code is valid SPIR-V for Vulkan, has that entry point, and uses no other slots and
    /// constants than the layout has: drivers do not check that.
    pub unsafe fn prepare(&self, shader: &Shader<'_>) -> Result<Pipeline, GpuError> {
        // SAFETY: by the contract.
        unsafe { Pipeline::new(&self.device, shader) }
    }
}

impl gpu::Gpu for Gpu {
    type Kernel = Pipeline;

    unsafe fn run(&self, works: &[Work<'_>]) -> Result<Vec<Finished>, (Option<usize>, GpuError)> {
        // What a panic left of a submission is begun anew by the next one.
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: by the contract.
        unsafe { queue.run(works) }
    }
}
