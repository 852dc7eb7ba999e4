//! An open device, as others use it.

use std::ffi::CStr;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use gpu::{Finished, GpuError, GpuName, GpuOptions, NoGpu, Pieces};

use crate::description::GpuDescription;
use crate::device::Device;
use crate::driver::Driver;
use crate::kernel::{Kernel, Launch, Module};
use crate::memory::{Block, SharedMemory, memory};
use crate::stream::{Stream, Work};

/// An open device of CUDA or HIP.
pub struct Gpu {
    device: Arc<Device>,
    memory: Arc<Pieces<SharedMemory>>,
    stream: Mutex<Stream>,
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
        driver: &'static Driver,
        name: GpuName,
        options: GpuOptions,
    ) -> Result<Arc<Self>, NoGpu> {
        let device = Device::open(driver, name, options)?;
        let memory = memory(&device);
        let stream = Stream::new(&device, &memory).map_err(|error| NoGpu::Unusable {
            device: device.description.name.clone(),
            reason: error.to_string(),
        })?;
        Ok(Arc::new(Self { device, memory, stream: Mutex::new(stream) }))
    }

    /// What it is.
    #[must_use]
    pub fn description(&self) -> &GpuDescription {
        &self.device.description
    }

    /// New memory of zeros. `alignment` is a power of two.
    ///
    /// # Errors
    /// The device has no more, or was given up.
    pub fn allocate(&self, length: usize, alignment: usize) -> Result<Block, GpuError> {
        self.memory.allocate(length, alignment)
    }

    /// Loads an image of kernels: PTX, which ends with a zero byte, or code for the device.
    ///
    /// # Errors
    /// The driver does not take it.
    ///
    /// # Safety
    /// The image is whole and valid: drivers take no length, and do not check it.
    pub unsafe fn load(&self, image: &[u8]) -> Result<Arc<Module>, GpuError> {
        // SAFETY: by the contract.
        unsafe { Module::load(&self.device, image) }
    }

    /// Makes a kernel of a module ready to run.
    ///
    /// # Errors
    /// The module does not have it, or it needs more than the device has.
    pub fn prepare(
        &self,
        module: &Arc<Module>,
        name: &CStr,
        launch: Launch,
    ) -> Result<Kernel, GpuError> {
        Kernel::of(module, name, launch)
    }
}

impl gpu::Gpu for Gpu {
    type Kernel = Kernel;

    unsafe fn run(&self, works: &[Work<'_>]) -> Result<Vec<Finished>, (Option<usize>, GpuError)> {
        // What a panic left in the stream comes to its end before what is put there now.
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: by the contract.
        unsafe { stream.run(works) }
    }
}
