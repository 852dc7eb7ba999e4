//! The graphics processors that a program is given: opened before it runs, so that what is missing
//! is told before anything happens.

use std::ptr::NonNull;
use std::sync::Arc;

use cuda::Driver;
use gpu::{Api, GpuOptions, NoGpu, PieceSource};
use vm::{Keeper, MemorySource};
use vulkan::{Vulkan, VulkanOptions};

use super::cpu::DeviceKind;
use crate::executables::{GpuApart, NativeCode, OpenGpu};

/// The open graphics processors of a program.
#[derive(Clone, Debug, Default)]
pub struct Gpus {
    all: Vec<(DeviceKind, OpenGpu)>,
    vulkan: VulkanOptions,
    options: GpuOptions,
}

impl Gpus {
    /// Opens those of some devices that are graphics processors.
    ///
    /// # Errors
    /// There is no driver, or no such device.
    pub fn open(
        kinds: impl IntoIterator<Item = DeviceKind>,
        vulkan: &VulkanOptions,
        options: GpuOptions,
    ) -> Result<Self, NoGpu> {
        let mut all: Vec<(DeviceKind, OpenGpu)> = Vec::new();
        for kind in kinds {
            let DeviceKind::Gpu(api, name) = kind else { continue };
            if all.iter().all(|(known, _)| *known != kind) {
                all.push((kind, OpenGpu::open(api, name, vulkan, options)?));
            }
        }
        Ok(Self { all, vulkan: vulkan.clone(), options })
    }

    /// The device of that name.
    pub(crate) fn of(&self, kind: DeviceKind) -> Option<OpenGpu> {
        self.all.iter().find(|(known, _)| *known == kind).map(|(_, gpu)| gpu.clone())
    }

    /// Whether there are some.
    pub(crate) fn are_some(&self) -> bool {
        !self.all.is_empty()
    }

    /// How another process opens the device of that name.
    pub(crate) fn apart(&self, kind: DeviceKind) -> Option<GpuApart> {
        let DeviceKind::Gpu(api, name) = kind else { return None };
        self.of(kind).map(|_| GpuApart {
            driver: api.driver().to_owned(),
            name: name.to_string(),
            library: self.vulkan.library.clone(),
            validates: self.vulkan.validates,
            patience: self.options.patience,
        })
    }

    /// Whether one of them runs executables of a format.
    pub(crate) fn run_format(&self, format: &str, allowed: NativeCode) -> bool {
        self.all.iter().any(|(_, gpu)| gpu.runs(format, allowed))
    }

    /// Where a program's memory comes from, so that its first device sees it where it lies.
    pub(crate) fn memory(&self) -> Option<Arc<dyn MemorySource>> {
        self.all.first().map(|(_, gpu)| Arc::new(GpuMemory(gpu.clone())) as Arc<dyn MemorySource>)
    }
}

/// A graphics processor of the machine.
#[derive(Clone, Debug)]
pub struct ListedGpu {
    /// Its name for `--device=`.
    pub uri: String,
    /// What it is called, and by whom.
    pub title: String,
    /// What is known of it, a line each.
    pub details: String,
}

/// The graphics processors of the machine that can be driven by an interface.
///
/// # Errors
/// There is no driver.
pub fn list_gpus(api: Api) -> Result<Vec<ListedGpu>, NoGpu> {
    Ok(match api {
        Api::Vulkan => {
            let all = Vulkan::open(&VulkanOptions::default())?.gpus().into_iter();
            let listed = all.map(|gpu| ListedGpu {
                uri: gpu.uri(),
                title: format!("{} ({})", gpu.name, gpu.driver),
                details: gpu.details(),
            });
            listed.collect()
        }
        Api::Cuda | Api::Hip => {
            let all = Driver::open(api)?.gpus().into_iter();
            let listed = all.map(|gpu| ListedGpu {
                uri: gpu.uri(),
                title: gpu.name.clone(),
                details: gpu.details(),
            });
            listed.collect()
        }
    })
}

/// The memory of a device that the host sees, too.
#[derive(Debug)]
struct GpuMemory(OpenGpu);

// SAFETY: a block is zeroed and its own, has as many bytes as were asked for, is aligned as was
// asked for, and lasts until it is dropped: see the crate `gpu`.
unsafe impl MemorySource for GpuMemory {
    fn zeroed(&self, length: usize, alignment: usize) -> Option<(NonNull<u8>, Keeper)> {
        match &self.0 {
            OpenGpu::Vulkan(gpu) => kept(gpu.allocate(length, alignment).ok()?),
            OpenGpu::Cuda(gpu) => kept(gpu.allocate(length, alignment).ok()?),
        }
    }
}

fn kept<S: PieceSource>(block: gpu::Block<S>) -> Option<(NonNull<u8>, Keeper)> {
    Some((block.address(), Box::new(block)))
}
