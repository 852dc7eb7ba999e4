//! Why there is no device, and how a run on one fails.

use std::time::Duration;

use ash::vk;

/// Why a Vulkan device cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoVulkan {
    /// The system has no library of that name.
    #[error("the Vulkan loader cannot be opened: {reason}; install it and a driver ({INSTALL})")]
    NoLibrary {
        /// What the system says.
        reason: String,
    },
    /// The library refused to work.
    #[error("Vulkan does not start: {0}")]
    NoInstance(String),
    /// Layers that check how Vulkan is used were asked for.
    #[error(
        "the validation layers of Vulkan (VK_LAYER_KHRONOS_validation) are not installed; on \
         Debian and Ubuntu: apt-get install vulkan-validationlayers"
    )]
    NoValidation,
    /// There is no device at all.
    #[error("Vulkan has no device; install a driver ({INSTALL})")]
    NoDevices,
    /// There are other devices.
    #[error("Vulkan has no device `{wanted}`; there are: {}", known.join(", "))]
    NoSuchDevice {
        /// The name that was asked for.
        wanted: String,
        /// The names of those that are there.
        known: Vec<String>,
    },
    /// The driver is too old, or the device cannot compute.
    #[error("{device} cannot be used: {reason}")]
    Unusable {
        /// The name of the device.
        device: String,
        /// What it lacks.
        reason: String,
    },
}

/// How one gets a driver that runs on any machine.
const INSTALL: &str = "on Debian and Ubuntu: apt-get install libvulkan1 mesa-vulkan-drivers";

/// How work on a device fails.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GpuError {
    /// The device is gone: the driver reset it, or a shader made it hang.
    #[error("the Vulkan device is lost: the driver gave up on it, and its memory may be anything")]
    Lost,
    /// The device did not answer.
    #[error(
        "the Vulkan device did not end its work in {} s; it is given up, with its memory",
        .0.as_secs_f64()
    )]
    TimedOut(Duration),
    /// A run before this one was lost, or did not end.
    #[error("the Vulkan device was given up by an earlier dispatch")]
    GivenUp,
    /// There is no memory.
    #[error("the Vulkan device has no memory for {what}")]
    OutOfMemory {
        /// What it was for.
        what: String,
    },
    /// A shader needs what the device lacks.
    #[error("the shader needs what {device} lacks: {}", missing.join(", "))]
    Missing {
        /// The name of the device.
        device: String,
        /// The names of Vulkan's features.
        missing: Vec<String>,
    },
    /// A limit of the device is exceeded.
    #[error("{what}: {device} allows {allowed}")]
    Limit {
        /// The name of the device.
        device: String,
        /// What exceeds it.
        what: String,
        /// The limit.
        allowed: String,
    },
    /// The validation layers complained.
    #[error("the validation layers of Vulkan say: {}", .0.join("; "))]
    Invalid(Vec<String>),
    /// A call of Vulkan failed.
    #[error("{call} failed: {result}")]
    Failed {
        /// The name of the function.
        call: &'static str,
        /// What it returned.
        result: String,
    },
}

/// The error for what a function of Vulkan returned.
pub(crate) fn failed(call: &'static str) -> impl Fn(vk::Result) -> GpuError {
    move |result| match result {
        vk::Result::ERROR_DEVICE_LOST => GpuError::Lost,
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
        | vk::Result::ERROR_OUT_OF_HOST_MEMORY
        | vk::Result::ERROR_OUT_OF_POOL_MEMORY => {
            GpuError::OutOfMemory { what: format!("{call} ({result:?})") }
        }
        other => GpuError::Failed { call, result: format!("{other:?}") },
    }
}
