//! Shaders of Vulkan: the executables that IREE's compiler writes for it, and running them.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `flat` | FlatBuffers, read field by field |
//! | `definition` | an executable as data |
//! | `executable` | running its dispatches on a device |

mod definition;
mod executable;
mod flat;

use vulkan::Gpu;

use super::native::NativeCode;

pub use executable::examine_shaders;
pub(super) use executable::{VulkanExecutable, run_together};

/// Executables that are given their memory by descriptor sets.
pub(super) const DESCRIPTORS: &str = "vulkan-spirv-fb";

/// Executables that are given a table of addresses.
pub(super) const ADDRESSES: &str = "vulkan-spirv-bda-v1";

/// Whether a device runs executables of a format. A shader is machine code that a driver makes, so
/// no sandbox holds it.
pub(crate) fn runs(gpu: &Gpu, format: &str, allowed: NativeCode) -> bool {
    allowed == NativeCode::Allowed
        && (format == DESCRIPTORS || format == ADDRESSES && gpu.has_addresses())
}
