//! What Vulkan returns, as the errors of all devices.

use ash::vk;
use gpu::{Api, GpuError, NoGpu};

/// The interface that this crate drives devices by.
pub(crate) const API: Api = Api::Vulkan;

/// Vulkan refused to work.
pub(crate) fn not_started(reason: String) -> NoGpu {
    NoGpu::NotStarted { api: API, reason }
}

/// The error for what a function of Vulkan returned.
pub(crate) fn failed(call: &'static str) -> impl Fn(vk::Result) -> GpuError {
    move |result| match result {
        vk::Result::ERROR_DEVICE_LOST => GpuError::Lost(API),
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
        | vk::Result::ERROR_OUT_OF_HOST_MEMORY
        | vk::Result::ERROR_OUT_OF_POOL_MEMORY => {
            GpuError::OutOfMemory { api: API, what: format!("{call} ({result:?})") }
        }
        other => GpuError::Failed { call, result: format!("{other:?}") },
    }
}
