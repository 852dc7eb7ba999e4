//! The devices of the machine: what they are called, and what they are.

use std::ffi::CStr;
use std::fmt::Write;

use ash::vk;
use gpu::GpuName;

use crate::loader::Vulkan;

/// A device of the machine.
#[derive(Clone, Debug)]
pub struct GpuDescription {
    /// Its number, from 0: `vulkan://0`.
    pub index: usize,
    /// Its name, as `llvmpipe (LLVM 15.0.6, 256 bits)`.
    pub name: String,
    /// Its driver, as `llvmpipe Mesa 22.3.6 (LLVM 15.0.6)`.
    pub driver: String,
    /// What it is: `cpu`, `discrete`, `integrated`, `virtual` or `other`.
    pub kind: &'static str,
    /// The version of Vulkan that it speaks: major, minor and patch.
    pub version: [u32; 3],
    /// Its universally unique identifier.
    pub uuid: [u8; 16],
    pub(crate) handle: vk::PhysicalDevice,
    pub(crate) packed_version: u32,
    pub(crate) limits: vk::PhysicalDeviceLimits,
    pub(crate) subgroup_sizes: [u32; 2],
    pub(crate) subgroup_size: u32,
}

impl GpuDescription {
    pub(crate) fn of(vulkan: &Vulkan, handle: vk::PhysicalDevice) -> Self {
        let mut ids = vk::PhysicalDeviceIDProperties::default();
        let mut drivers = vk::PhysicalDeviceDriverProperties::default();
        let mut subgroups = vk::PhysicalDeviceSubgroupProperties::default();
        let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        // SAFETY: the device is of this instance.
        let plain = unsafe { vulkan.instance().get_physical_device_properties(handle) };
        if plain.api_version >= vk::API_VERSION_1_2 {
            let mut all = vk::PhysicalDeviceProperties2::default()
                .push_next(&mut ids)
                .push_next(&mut drivers)
                .push_next(&mut subgroups);
            if plain.api_version >= vk::API_VERSION_1_3 {
                all = all.push_next(&mut sizes);
            }
            // SAFETY: as above, and the chain lives until the call returns.
            unsafe { vulkan.instance().get_physical_device_properties2(handle, &mut all) };
        }
        let text = |text: Result<&CStr, _>| {
            text.map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned())
        };
        let version = plain.api_version;
        Self {
            index: 0,
            name: text(plain.device_name_as_c_str()),
            driver: {
                let name = text(drivers.driver_name_as_c_str());
                format!("{name} {}", text(drivers.driver_info_as_c_str())).trim().to_owned()
            },
            kind: match plain.device_type {
                vk::PhysicalDeviceType::CPU => "cpu",
                vk::PhysicalDeviceType::DISCRETE_GPU => "discrete",
                vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated",
                vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual",
                _ => "other",
            },
            version: [
                vk::api_version_major(version),
                vk::api_version_minor(version),
                vk::api_version_patch(version),
            ],
            uuid: ids.device_uuid,
            handle,
            packed_version: version,
            limits: plain.limits,
            subgroup_sizes: [sizes.min_subgroup_size, sizes.max_subgroup_size],
            subgroup_size: subgroups.subgroup_size,
        }
    }

    /// Its name for `--device=`.
    #[must_use]
    pub fn uri(&self) -> String {
        format!("vulkan://{}", GpuName::Uuid(self.uuid))
    }

    /// An answer to a question that a program asks of a device of Vulkan; `None` if it is unknown.
    #[must_use]
    pub fn answer(&self, category: &str, key: &str) -> Option<i64> {
        let limits = &self.limits;
        let axis = |name: &str, values: [u32; 3]| {
            let axis = key.strip_prefix(name)?;
            let index = ["x", "y", "z"].iter().position(|it| *it == axis)?;
            Some(values[index])
        };
        let value = match (category, key) {
            ("vulkan.device", "api_version") => Some(self.packed_version),
            ("vulkan.device", "subgroup_size") => Some(self.subgroup_size),
            ("vulkan.device", "max_compute_workgroup_invocations") => {
                Some(limits.max_compute_work_group_invocations)
            }
            ("vulkan.device", _) => {
                axis("max_compute_workgroup_size_", limits.max_compute_work_group_size).or_else(
                    || axis("max_compute_workgroup_count_", limits.max_compute_work_group_count),
                )
            }
            _ => None,
        };
        value.map(i64::from)
    }

    /// What is known of it, a line each.
    #[must_use]
    pub fn details(&self) -> String {
        let [major, minor, patch] = self.version;
        let limits = &self.limits;
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "{} ({}), Vulkan {major}.{minor}.{patch}, driver {}\nsubgroups of {}; at most {:?} \
             workgroups of {:?}, {} invocations, {} bytes shared\n",
            self.name,
            self.kind,
            self.driver,
            self.subgroup_size,
            limits.max_compute_work_group_count,
            limits.max_compute_work_group_size,
            limits.max_compute_work_group_invocations,
            limits.max_compute_shared_memory_size,
        );
        text
    }
}

impl Vulkan {
    /// The devices of the machine.
    #[must_use]
    pub fn gpus(&self) -> Vec<GpuDescription> {
        // SAFETY: the instance stays to the end of the process.
        let devices = unsafe { self.instance().enumerate_physical_devices() }.unwrap_or_default();
        let described = devices.into_iter().map(|device| GpuDescription::of(self, device));
        described.enumerate().map(|(index, gpu)| GpuDescription { index, ..gpu }).collect()
    }
}
