//! Why there is no device, and how work on one fails.

use std::fmt;
use std::time::Duration;

/// The interface that a device is driven by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Api {
    /// Khronos's, for devices of all makers.
    Vulkan,
    /// NVIDIA's.
    Cuda,
    /// AMD's.
    Hip,
}

impl Api {
    /// What `--device=` calls it.
    #[must_use]
    pub fn driver(self) -> &'static str {
        match self {
            Self::Vulkan => "vulkan",
            Self::Cuda => "cuda",
            Self::Hip => "hip",
        }
    }

    /// The interface that `--device=` calls so.
    #[must_use]
    pub fn of_driver(name: &str) -> Option<Self> {
        [Self::Vulkan, Self::Cuda, Self::Hip].into_iter().find(|api| api.driver() == name)
    }

    /// How one gets a driver.
    fn advice(self) -> &'static str {
        match self {
            // This one runs on any machine.
            Self::Vulkan => {
                "install a driver (on Debian and Ubuntu: apt-get install libvulkan1 \
                 mesa-vulkan-drivers)"
            }
            Self::Cuda => "install NVIDIA's driver",
            Self::Hip => "install AMD's ROCm",
        }
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vulkan => "Vulkan",
            Self::Cuda => "CUDA",
            Self::Hip => "HIP",
        })
    }
}

/// Why a device cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoGpu {
    /// The system has no library of that name, or it lacks a function.
    #[error("the library of {api} cannot be opened: {reason}; {}", api.advice())]
    NoLibrary {
        /// Whose.
        api: Api,
        /// What the system says.
        reason: String,
    },
    /// The library refused to work.
    #[error("{api} does not start: {reason}")]
    NotStarted {
        /// Whose.
        api: Api,
        /// What it says.
        reason: String,
    },
    /// Layers that check how Vulkan is used were asked for.
    #[error(
        "the validation layers of Vulkan (VK_LAYER_KHRONOS_validation) are not installed; on \
         Debian and Ubuntu: apt-get install vulkan-validationlayers"
    )]
    NoValidation,
    /// There is no device at all.
    #[error("{_0} has no device; {}", _0.advice())]
    NoDevices(Api),
    /// There are other devices.
    #[error("{api} has no device `{wanted}`; there are: {}", known.join(", "))]
    NoSuchDevice {
        /// Whose.
        api: Api,
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

impl NoGpu {
    /// The library cannot be opened, with what the system says of it.
    #[must_use]
    pub fn no_library(api: Api, error: &dyn std::error::Error) -> Self {
        let said = |it: &dyn std::error::Error| format!("{error}: {it}");
        Self::NoLibrary { api, reason: error.source().map_or_else(|| error.to_string(), said) }
    }
}

/// How work on a device fails.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GpuError {
    /// The device is gone: the driver reset it, or a kernel made it hang.
    #[error("the {0} device is lost: the driver gave up on it, and its memory may be anything")]
    Lost(Api),
    /// The device did not answer.
    #[error(
        "the {_0} device did not end its work in {} s; it is given up, with its memory",
        _1.as_secs_f64()
    )]
    TimedOut(Api, Duration),
    /// A run before this one was lost, or did not end.
    #[error("the {0} device was given up by an earlier dispatch")]
    GivenUp(Api),
    /// There is no memory.
    #[error("the {api} device has no memory for {what}")]
    OutOfMemory {
        /// Whose.
        api: Api,
        /// What it was for.
        what: String,
    },
    /// A kernel needs what the device lacks.
    #[error("the shader needs what {device} lacks: {}", missing.join(", "))]
    Missing {
        /// The name of the device.
        device: String,
        /// The names of features.
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
    /// The kernel did what no kernel may, so the driver ended everything on the device.
    #[error("the {api} device ended the dispatch: {result}; it is given up, with its memory")]
    Fault {
        /// Whose.
        api: Api,
        /// What the driver says.
        result: String,
    },
    /// A call of the driver failed.
    #[error("{call} failed: {result}")]
    Failed {
        /// The name of the function.
        call: &'static str,
        /// What it returned.
        result: String,
    },
}
