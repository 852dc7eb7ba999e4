//! Executables for graphics processors, and running them.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `flat` | FlatBuffers, read field by field |
//! | `file` | what the formats have in common |
//! | `executable` | running dispatches on a device |
//! | `vulkan` | shaders of Vulkan |
//! | `cuda` | kernels of CUDA and HIP |

mod cuda;
mod executable;
mod file;
mod flat;
mod vulkan;

use std::sync::Arc;

use ::cuda::Driver;
use ::vulkan::{Vulkan, VulkanOptions};
use gpu::{Api, GpuName, GpuOptions, NoGpu};
use vm::Status;

use self::cuda::{CodeObjects, Kernels, Ptx};
use self::executable::{Definition, GpuExecutable};
use self::vulkan::Shaders;
use super::dispatch::Dispatch;
use super::interface::Executable;
use super::native::NativeCode;

/// Shaders that are given their memory by descriptor sets.
const DESCRIPTORS: &str = "vulkan-spirv-fb";

/// Shaders that are given a table of addresses.
const ADDRESSES: &str = "vulkan-spirv-bda-v1";

/// Kernels of CUDA.
const PTX: &str = "cuda-nvptx-fb";

/// Kernels of HIP.
const CODE_OBJECTS: &str = "rocm-hsaco-fb";

/// An open device, whatever it is driven by.
#[derive(Clone, Debug)]
pub(crate) enum OpenGpu {
    Vulkan(Arc<::vulkan::Gpu>),
    Cuda(Arc<::cuda::Gpu>),
}

impl OpenGpu {
    /// Opens a device.
    ///
    /// # Errors
    /// There is no driver, or no such device.
    pub(crate) fn open(
        api: Api,
        name: GpuName,
        vulkan: &VulkanOptions,
        options: GpuOptions,
    ) -> Result<Self, NoGpu> {
        Ok(match api {
            Api::Vulkan => Self::Vulkan(::vulkan::Gpu::open(Vulkan::open(vulkan)?, name, options)?),
            Api::Cuda | Api::Hip => {
                Self::Cuda(::cuda::Gpu::open(Driver::open(api)?, name, options)?)
            }
        })
    }

    /// Whether it runs executables of a format. Their code runs outside of this process, as a
    /// driver lets it, so no sandbox holds it.
    pub(crate) fn runs(&self, format: &str, allowed: NativeCode) -> bool {
        allowed == NativeCode::Allowed
            && match self {
                Self::Vulkan(gpu) => {
                    format == DESCRIPTORS || format == ADDRESSES && gpu.has_addresses()
                }
                Self::Cuda(gpu) if gpu.description().api == Api::Hip => format == CODE_OBJECTS,
                Self::Cuda(_) => format == PTX,
            }
    }

    /// Loads an executable of a format that it runs.
    ///
    /// # Errors
    /// The data is damaged, or needs unsupported features.
    pub(super) fn load(
        &self,
        format: &str,
        data: &vm::Buffer,
        constants: &[u32],
    ) -> Result<Arc<dyn Executable>, Status> {
        Ok(match self {
            Self::Vulkan(gpu) => {
                let load = GpuExecutable::<Shaders>::load;
                Arc::new(load(gpu.clone(), format, data, constants)?)
            }
            Self::Cuda(gpu) if format == CODE_OBJECTS => {
                let load = GpuExecutable::<Kernels<CodeObjects>>::load;
                Arc::new(load(gpu.clone(), format, data, constants)?)
            }
            Self::Cuda(gpu) => {
                let load = GpuExecutable::<Kernels<Ptx>>::load;
                Arc::new(load(gpu.clone(), format, data, constants)?)
            }
        })
    }

    /// The answer to a question that a program asks; `None` if it is unknown.
    pub(crate) fn answer(&self, category: &str, key: &str) -> Option<i64> {
        match self {
            Self::Vulkan(gpu) => gpu.description().answer(category, key),
            Self::Cuda(gpu) => gpu.description().answer(category, key),
        }
    }
}

/// Whether executables of a format are a graphics processor's.
pub(crate) fn is_for_gpus(format: &str) -> bool {
    [DESCRIPTORS, ADDRESSES, PTX, CODE_OBJECTS].contains(&format)
}

/// Runs dispatches in their order. `None`: they are not all on one graphics processor.
///
/// # Errors
/// One failed; later dispatches may have run.
pub(super) fn run_together(
    dispatches: &[(Arc<dyn Executable>, Dispatch)],
) -> Option<Result<(), Status>> {
    executable::run_together::<Shaders>(dispatches)
        .or_else(|| executable::run_together::<Kernels<Ptx>>(dispatches))
        .or_else(|| executable::run_together::<Kernels<CodeObjects>>(dispatches))
}

/// Reads an executable for a graphics processor, of which nothing runs. For tests with damaged
/// files.
///
/// # Errors
/// It is damaged, or needs unsupported features.
pub fn examine_gpu_code(data: &[u8]) -> Result<(), Status> {
    Shaders::read(data)
        .map(drop)
        .or_else(|error| Kernels::<Ptx>::read(data).map(drop).map_err(|_| error))
        .or_else(|error| Kernels::<CodeObjects>::read(data).map(drop).map_err(|_| error))
}
