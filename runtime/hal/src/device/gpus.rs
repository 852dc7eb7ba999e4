//! The devices of Vulkan that a program is given: opened before it runs, so that what is missing is
//! told before anything happens.

use std::ptr::NonNull;
use std::sync::Arc;

use vm::{Keeper, MemorySource};
use vulkan::{Gpu, GpuOptions, NoVulkan, Vulkan, VulkanOptions};

use super::cpu::DeviceKind;
use crate::executables::{self, NativeCode};

/// The open devices of Vulkan of a program.
#[derive(Clone, Debug, Default)]
pub struct Gpus(Vec<(DeviceKind, Arc<Gpu>)>);

impl Gpus {
    /// Opens those of some devices that are Vulkan's.
    ///
    /// # Errors
    /// There is no Vulkan, or no such device.
    pub fn open(
        kinds: impl IntoIterator<Item = DeviceKind>,
        vulkan: &VulkanOptions,
        options: GpuOptions,
    ) -> Result<Self, NoVulkan> {
        let mut gpus: Vec<(DeviceKind, Arc<Gpu>)> = Vec::new();
        for kind in kinds {
            let DeviceKind::Vulkan(name) = kind else { continue };
            if gpus.iter().all(|(known, _)| *known != kind) {
                gpus.push((kind, Gpu::open(Vulkan::open(vulkan)?, name, options)?));
            }
        }
        Ok(Self(gpus))
    }

    /// The device of that name.
    pub(crate) fn of(&self, kind: DeviceKind) -> Option<Arc<Gpu>> {
        self.0.iter().find(|(known, _)| *known == kind).map(|(_, gpu)| gpu.clone())
    }

    /// Whether one of them runs executables of a format.
    pub(crate) fn run_format(&self, format: &str, allowed: NativeCode) -> bool {
        self.0.iter().any(|(_, gpu)| executables::runs_shaders(gpu, format, allowed))
    }

    /// Where a program's memory comes from, so that its first device sees it where it lies.
    pub(crate) fn memory(&self) -> Option<Arc<dyn MemorySource>> {
        self.0.first().map(|(_, gpu)| Arc::new(GpuMemory(gpu.clone())) as Arc<dyn MemorySource>)
    }
}

/// The memory of a device that the host sees, too.
#[derive(Debug)]
struct GpuMemory(Arc<Gpu>);

// SAFETY: a block is zeroed and its own, has as many bytes as were asked for, is aligned as was
// asked for, and lasts until it is dropped: see the crate `vulkan`.
unsafe impl MemorySource for GpuMemory {
    fn zeroed(&self, length: usize, alignment: usize) -> Option<(NonNull<u8>, Keeper)> {
        let block = self.0.allocate(length, alignment).ok()?;
        Some((block.address(), Box::new(block)))
    }
}
