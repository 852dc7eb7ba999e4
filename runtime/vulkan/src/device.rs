//! One device that is open: its functions, what it can do, and whether it is still in use.

use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk;
use gpu::{GpuError, GpuName, GpuOptions, NoGpu};

use crate::description::GpuDescription;
use crate::error::API;
use crate::features::Features;
use crate::loader::Vulkan;

/// An open device. Everything that is made with it holds it.
pub(crate) struct Device {
    pub(crate) vulkan: &'static Vulkan,
    pub(crate) description: GpuDescription,
    pub(crate) functions: ash::Device,
    pub(crate) features: Features,
    pub(crate) options: GpuOptions,
    /// The family of the queue that it was opened with, and how many bits its clock has.
    pub(crate) family: u32,
    pub(crate) clock_bits: u32,
    pub(crate) cache: vk::PipelineCache,
    is_given_up: AtomicBool,
}

impl Device {
    /// Opens a device.
    ///
    /// # Errors
    /// There is none of that name, or it cannot be used.
    pub(crate) fn open(
        vulkan: &'static Vulkan,
        name: GpuName,
        options: GpuOptions,
    ) -> Result<Arc<Self>, NoGpu> {
        let names = |gpu: &GpuDescription| name.names(gpu.index, gpu.uuid);
        let description = name.find(API, vulkan.gpus(), names, GpuDescription::uri)?;
        Self::of(vulkan, description, options)
    }

    fn of(
        vulkan: &'static Vulkan,
        description: GpuDescription,
        options: GpuOptions,
    ) -> Result<Arc<Self>, NoGpu> {
        let unusable =
            |reason: String| NoGpu::Unusable { device: description.name.clone(), reason };
        let (instance, handle) = (vulkan.instance(), description.handle);
        let [major, minor, _] = description.version;
        if description.packed_version < vk::API_VERSION_1_2 {
            return Err(unusable(format!(
                "its driver speaks Vulkan {major}.{minor}, and 1.2 is needed"
            )));
        }
        // SAFETY: the device is of this instance.
        let families = unsafe { instance.get_physical_device_queue_family_properties(handle) };
        let family =
            families.iter().position(|it| it.queue_flags.contains(vk::QueueFlags::COMPUTE));
        let family = family.ok_or_else(|| unusable("it cannot compute".into()))? as u32;
        // SAFETY: as above.
        let extensions =
            unsafe { instance.enumerate_device_extension_properties(handle) }.unwrap_or_default();
        let has =
            |name: &CStr| extensions.iter().any(|it| it.extension_name_as_c_str() == Ok(name));
        let matrices = ash::khr::cooperative_matrix::NAME;
        let features =
            Features::of(instance, handle, description.packed_version, has(matrices)).enabled();
        // Devices that only resemble Vulkan say so, and want that to be known.
        let subset = ash::khr::portability_subset::NAME;
        let names: Vec<_> =
            [matrices, subset].into_iter().filter(|it| has(it)).map(CStr::as_ptr).collect();
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
            .queue_priorities(&[1.0])];
        let Features { core, mut v11, mut v12, mut v13, cooperative_matrix } = features;
        let mut matrix = vk::PhysicalDeviceCooperativeMatrixFeaturesKHR::default()
            .cooperative_matrix(cooperative_matrix);
        let mut all = vk::PhysicalDeviceFeatures2::default()
            .features(core)
            .push_next(&mut v11)
            .push_next(&mut v12);
        if let Some(v13) = &mut v13 {
            all = all.push_next(v13);
        }
        if cooperative_matrix {
            all = all.push_next(&mut matrix);
        }
        let create = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut all);
        // SAFETY: what it points to lives until the call returns; the extensions and features are
        // the device's.
        let device = unsafe { instance.create_device(handle, &create, None) }
            .map_err(|error| unusable(format!("vkCreateDevice: {error:?}")))?;
        let clock_bits = families[family as usize].timestamp_valid_bits;
        // SAFETY: the device is alive.
        let cache =
            unsafe { device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None) };
        let cache = cache.map_err(|error| unusable(format!("vkCreatePipelineCache: {error:?}")))?;
        Ok(Arc::new(Self {
            vulkan,
            functions: device,
            features,
            options,
            family,
            clock_bits,
            cache,
            description,
            is_given_up: AtomicBool::new(false),
        }))
    }

    /// The device did not answer: nothing of it is used, and nothing of it is given back.
    pub(crate) fn give_up(self: &Arc<Self>) {
        if !self.is_given_up.swap(true, Ordering::Relaxed) {
            std::mem::forget(self.clone());
        }
    }

    pub(crate) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::Relaxed)
    }

    pub(crate) fn check(&self) -> Result<(), GpuError> {
        if self.is_given_up() { Err(GpuError::GivenUp(API)) } else { Ok(()) }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: all that was made with the device holds it, so there is none, and nothing runs: a
        // device that did not answer is never dropped.
        unsafe {
            self.functions.destroy_pipeline_cache(self.cache, None);
            self.functions.destroy_device(None);
        }
    }
}
