//! What a device can do, and what a shader needs: the capabilities that its SPIR-V declares.

use ash::vk;

/// The features of a device that shaders use, as Vulkan's structures.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features {
    pub(crate) core: vk::PhysicalDeviceFeatures,
    pub(crate) v11: vk::PhysicalDeviceVulkan11Features<'static>,
    pub(crate) v12: vk::PhysicalDeviceVulkan12Features<'static>,
    /// Of a device of Vulkan 1.3.
    pub(crate) v13: Option<vk::PhysicalDeviceVulkan13Features<'static>>,
    pub(crate) cooperative_matrix: bool,
}

// The structures hold pointers, which are null here.
// SAFETY: `pNext` is the only pointer in them, and it is never set in a kept one.
unsafe impl Send for Features {}
// SAFETY: as above.
unsafe impl Sync for Features {}

impl Features {
    /// Asks a device.
    pub(crate) fn of(
        instance: &ash::Instance,
        device: vk::PhysicalDevice,
        version: u32,
        has_matrices: bool,
    ) -> Self {
        let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut matrices = vk::PhysicalDeviceCooperativeMatrixFeaturesKHR::default();
        let mut all =
            vk::PhysicalDeviceFeatures2::default().push_next(&mut v11).push_next(&mut v12);
        let is_13 = version >= vk::API_VERSION_1_3;
        if is_13 {
            all = all.push_next(&mut v13);
        }
        if has_matrices {
            all = all.push_next(&mut matrices);
        }
        // SAFETY: the device is of this instance, and the chain lives until the call returns.
        unsafe { instance.get_physical_device_features2(device, &mut all) };
        let core = all.features;
        v11.p_next = std::ptr::null_mut();
        v12.p_next = std::ptr::null_mut();
        v13.p_next = std::ptr::null_mut();
        let cooperative_matrix = matrices.cooperative_matrix == vk::TRUE;
        Self { core, v11, v12, v13: is_13.then_some(v13), cooperative_matrix }
    }

    /// Those of them that are enabled: what shaders of IREE use, and accesses that stay in their
    /// buffers.
    pub(crate) fn enabled(&self) -> Self {
        let Self { core, v11, v12, v13, cooperative_matrix } = *self;
        let core = vk::PhysicalDeviceFeatures {
            robust_buffer_access: core.robust_buffer_access,
            shader_float64: core.shader_float64,
            shader_int64: core.shader_int64,
            shader_int16: core.shader_int16,
            ..Default::default()
        };
        let v11 = vk::PhysicalDeviceVulkan11Features {
            storage_buffer16_bit_access: v11.storage_buffer16_bit_access,
            uniform_and_storage_buffer16_bit_access: v11.uniform_and_storage_buffer16_bit_access,
            storage_push_constant16: v11.storage_push_constant16,
            variable_pointers_storage_buffer: v11.variable_pointers_storage_buffer,
            variable_pointers: v11.variable_pointers,
            ..Default::default()
        };
        let v12 = vk::PhysicalDeviceVulkan12Features {
            storage_buffer8_bit_access: v12.storage_buffer8_bit_access,
            uniform_and_storage_buffer8_bit_access: v12.uniform_and_storage_buffer8_bit_access,
            storage_push_constant8: v12.storage_push_constant8,
            shader_float16: v12.shader_float16,
            shader_int8: v12.shader_int8,
            shader_buffer_int64_atomics: v12.shader_buffer_int64_atomics,
            scalar_block_layout: v12.scalar_block_layout,
            uniform_buffer_standard_layout: v12.uniform_buffer_standard_layout,
            shader_subgroup_extended_types: v12.shader_subgroup_extended_types,
            buffer_device_address: v12.buffer_device_address,
            vulkan_memory_model: v12.vulkan_memory_model,
            vulkan_memory_model_device_scope: v12.vulkan_memory_model_device_scope,
            ..Default::default()
        };
        let v13 = v13.map(|v13| vk::PhysicalDeviceVulkan13Features {
            subgroup_size_control: v13.subgroup_size_control,
            compute_full_subgroups: v13.compute_full_subgroups,
            shader_integer_dot_product: v13.shader_integer_dot_product,
            ..Default::default()
        });
        Self { core, v11, v12, v13, cooperative_matrix }
    }

    /// Whether dispatches can find their memory by addresses.
    pub(crate) fn has_addresses(&self) -> bool {
        self.v12.buffer_device_address == vk::TRUE && self.core.shader_int64 == vk::TRUE
    }

    /// Whether a shader can ask for the size of its subgroups.
    pub(crate) fn has_subgroup_sizes(&self) -> bool {
        self.v13.is_some_and(|v13| v13.subgroup_size_control == vk::TRUE)
    }

    /// The features that a shader needs and that are not here. Capabilities that no feature stands
    /// for are the driver's to judge.
    pub(crate) fn missing(&self, code: &[u32]) -> Vec<&'static str> {
        let needed = capabilities(code).filter_map(|capability| self.feature(capability));
        let mut missing: Vec<_> =
            needed.filter(|(_, is_here)| !is_here).map(|(name, _)| name).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// The feature that a capability of SPIR-V needs, by its name in Vulkan, and whether it is here
    /// (Vulkan's "SPIR-V capabilities" appendix).
    fn feature(&self, capability: u32) -> Option<(&'static str, bool)> {
        let Self { core, v11, v12, v13, cooperative_matrix } = self;
        let has = |feature: vk::Bool32| feature == vk::TRUE;
        Some(match capability {
            9 => ("shaderFloat16", has(v12.shader_float16)),
            10 => ("shaderFloat64", has(core.shader_float64)),
            11 => ("shaderInt64", has(core.shader_int64)),
            12 => ("shaderBufferInt64Atomics", has(v12.shader_buffer_int64_atomics)),
            22 => ("shaderInt16", has(core.shader_int16)),
            39 => ("shaderInt8", has(v12.shader_int8)),
            4433 => ("storageBuffer16BitAccess", has(v11.storage_buffer16_bit_access)),
            4434 => (
                "uniformAndStorageBuffer16BitAccess",
                has(v11.uniform_and_storage_buffer16_bit_access),
            ),
            4435 => ("storagePushConstant16", has(v11.storage_push_constant16)),
            4441 => ("variablePointersStorageBuffer", has(v11.variable_pointers_storage_buffer)),
            4442 => ("variablePointers", has(v11.variable_pointers)),
            4448 => ("storageBuffer8BitAccess", has(v12.storage_buffer8_bit_access)),
            4449 => (
                "uniformAndStorageBuffer8BitAccess",
                has(v12.uniform_and_storage_buffer8_bit_access),
            ),
            4450 => ("storagePushConstant8", has(v12.storage_push_constant8)),
            5345 => ("vulkanMemoryModel", has(v12.vulkan_memory_model)),
            5346 => ("vulkanMemoryModelDeviceScope", has(v12.vulkan_memory_model_device_scope)),
            5347 => ("bufferDeviceAddress", has(v12.buffer_device_address)),
            6016..=6019 => (
                "shaderIntegerDotProduct",
                v13.is_some_and(|v13| has(v13.shader_integer_dot_product)),
            ),
            6022 => ("cooperativeMatrix", *cooperative_matrix),
            // Extensions that are not enabled here.
            5116..=5118 => ("shaderBFloat16Type", false),
            _ => return None,
        })
    }
}

/// The capabilities that SPIR-V declares: they come first.
fn capabilities(code: &[u32]) -> impl Iterator<Item = u32> {
    const HEADER_WORDS: usize = 5;
    const OP_CAPABILITY: u32 = 17 | 2 << 16;
    let words = code.get(HEADER_WORDS..).unwrap_or_default().as_chunks::<2>().0;
    words.iter().take_while(|[operation, _]| *operation == OP_CAPABILITY).map(|[_, it]| *it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shader_needs_is_named() {
        let capability = |number: u32| [17 | 2 << 16, number];
        let header = [0x0723_0203, 0x0001_0300, 0, 10, 0];
        let mut code = header.to_vec();
        for number in [1, 9, 4448, 11, 9] {
            code.extend(capability(number));
        }
        // What comes after the capabilities is not one.
        code.extend([14 | 3 << 16, 0, 1]);
        let mut features = Features::default();
        let all = ["shaderFloat16", "shaderInt64", "storageBuffer8BitAccess"];
        assert_eq!(features.missing(&code), all);
        features.core.shader_int64 = vk::TRUE;
        features.v12.shader_float16 = vk::TRUE;
        assert_eq!(features.missing(&code), ["storageBuffer8BitAccess"]);
        assert_eq!(features.missing(&code[..5]), [""; 0]);
        assert_eq!(features.missing(&[]), [""; 0]);
    }
}
