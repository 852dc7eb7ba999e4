//! A shader with its layout, ready to run.

use std::ffi::CStr;
use std::fmt;
use std::sync::Arc;

use ash::vk;
use gpu::GpuError;

use crate::device::Device;
use crate::error::failed;

/// What a slot of a descriptor set holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotKind {
    /// Memory that is read.
    Uniform,
    /// Memory that is read and written.
    Storage,
}

impl SlotKind {
    pub(crate) fn descriptor(self) -> vk::DescriptorType {
        match self {
            Self::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
            Self::Storage => vk::DescriptorType::STORAGE_BUFFER,
        }
    }
}

/// A binding of a descriptor set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Its number in the shader.
    pub binding: u32,
    /// What it holds.
    pub kind: SlotKind,
    /// How many of these.
    pub count: u32,
}

/// A range of the constants that are pushed with each run, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PushConstants {
    /// Its first byte.
    pub offset: u32,
    /// How many.
    pub size: u32,
}

/// How a shader finds its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Abi {
    /// Descriptor sets, in the order of their slots.
    Descriptors,
    /// A table of device addresses, whose own address is pushed (IREE's `bda`, version 1).
    Addresses {
        /// Where the address of the table is pushed, in bytes.
        root_offset: u32,
        /// Where the constants are pushed, in bytes.
        constants_offset: u32,
    },
}

/// A shader, and what it is given.
#[derive(Clone, Debug)]
pub struct Shader<'a> {
    /// SPIR-V.
    pub code: &'a [u32],
    /// The name of its function.
    pub entry_point: &'a CStr,
    /// The slots of each descriptor set.
    pub sets: &'a [Vec<Slot>],
    /// The pushed constants.
    pub push_constants: &'a [PushConstants],
    /// The size that its subgroups must have, if it depends on one.
    pub subgroup_size: Option<u32>,
    /// The values of specialisation constants 0 and up.
    pub specialization: &'a [u32],
    /// How it finds its memory.
    pub abi: Abi,
}

/// A shader that is ready to run.
pub struct Pipeline {
    pub(crate) device: Arc<Device>,
    pub(crate) handle: vk::Pipeline,
    pub(crate) layout: vk::PipelineLayout,
    pub(crate) set_layouts: Vec<vk::DescriptorSetLayout>,
    /// The set, binding, element and kind of each buffer that it takes.
    pub(crate) slots: Vec<(usize, u32, u32, SlotKind)>,
    pub(crate) abi: Abi,
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline").field("slots", &self.slots).finish_non_exhaustive()
    }
}

impl Pipeline {
    /// Makes a shader ready to run. Several threads may do so at the same time.
    ///
    /// # Errors
    /// It needs what the device lacks, or the driver does not take it.
    ///
    /// # Safety
    /// The code is valid SPIR-V for Vulkan, has that entry point, and uses no other slots and
    /// constants than the layout has: drivers do not check that.
    pub(crate) unsafe fn new(device: &Arc<Device>, shader: &Shader<'_>) -> Result<Self, GpuError> {
        device.check()?;
        check_needs(device, shader)?;
        let functions = &device.functions;
        let mut parts =
            Parts { device: device.clone(), sets: Vec::new(), layout: None, module: None };
        for slots in shader.sets {
            let bindings: Vec<_> = slots
                .iter()
                .map(|slot| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(slot.binding)
                        .descriptor_type(slot.kind.descriptor())
                        .descriptor_count(slot.count)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: the device is alive, as in all that follows.
            let layout = unsafe { functions.create_descriptor_set_layout(&create, None) };
            parts.sets.push(layout.map_err(failed("vkCreateDescriptorSetLayout"))?);
        }
        let ranges: Vec<_> = shader.push_constants.iter().map(range_of).collect();
        let create = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&parts.sets)
            .push_constant_ranges(&ranges);
        // SAFETY: the layouts are the device's.
        let layout = unsafe { functions.create_pipeline_layout(&create, None) };
        let layout = layout.map_err(failed("vkCreatePipelineLayout"))?;
        parts.layout = Some(layout);
        let create = vk::ShaderModuleCreateInfo::default().code(shader.code);
        // SAFETY: the code is SPIR-V, by the contract.
        let module = unsafe { functions.create_shader_module(&create, None) };
        let module = module.map_err(failed("vkCreateShaderModule"))?;
        parts.module = Some(module);
        let handle = compile(device, shader, module, layout)?;
        Ok(parts.into_pipeline(handle, layout, shader))
    }

    /// How many buffers it takes; `None` if it finds them by addresses, as many as it likes.
    #[must_use]
    pub fn buffer_count(&self) -> Option<usize> {
        (self.abi == Abi::Descriptors).then_some(self.slots.len())
    }
}

/// Has the driver compile a shader.
fn compile(
    device: &Device,
    shader: &Shader<'_>,
    module: vk::ShaderModule,
    layout: vk::PipelineLayout,
) -> Result<vk::Pipeline, GpuError> {
    let entries: Vec<_> = (0..shader.specialization.len() as u32)
        .map(|id| vk::SpecializationMapEntry { constant_id: id, offset: 4 * id, size: 4 })
        .collect();
    let values: Vec<u8> =
        shader.specialization.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&values);
    let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default()
        .required_subgroup_size(shader.subgroup_size.unwrap_or_default());
    let mut stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(shader.entry_point)
        .specialization_info(&specialization);
    if shader.subgroup_size.is_some() {
        stage = stage.push_next(&mut size);
    }
    let create = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
    // SAFETY: all handles are the device's, what is pointed to lives until the call returns,
    // and the shader fits its layout, by the contract of `Pipeline::new`.
    let made = unsafe { device.functions.create_compute_pipelines(device.cache, &create, None) };
    let pipelines = made.map_err(|(_, error)| failed("vkCreateComputePipelines")(error))?;
    pipelines.first().copied().ok_or(GpuError::Failed {
        call: "vkCreateComputePipelines",
        result: "nothing was made".into(),
    })
}

/// Checks what a shader needs of the device.
fn check_needs(device: &Device, shader: &Shader<'_>) -> Result<(), GpuError> {
    let name = || device.description.name.clone();
    let missing = device.features.missing(shader.code);
    if !missing.is_empty() {
        let missing = missing.into_iter().map(str::to_owned).collect();
        return Err(GpuError::Missing { device: name(), missing });
    }
    if let Some(size) = shader.subgroup_size {
        let [least, most] = device.description.subgroup_sizes;
        if !device.features.has_subgroup_sizes() {
            let missing = vec!["subgroupSizeControl".to_owned()];
            return Err(GpuError::Missing { device: name(), missing });
        }
        if !(least..=most).contains(&size) {
            return Err(GpuError::Limit {
                device: name(),
                what: format!("the shader wants subgroups of {size}"),
                allowed: format!("{least} to {most}"),
            });
        }
    }
    let pushed = shader.push_constants.iter().map(|it| u64::from(it.offset) + u64::from(it.size));
    let pushed = pushed.max().unwrap_or_default();
    let allowed = device.description.limits.max_push_constants_size;
    if pushed > allowed.into() {
        return Err(GpuError::Limit {
            device: name(),
            what: format!("the shader takes {pushed} bytes of constants"),
            allowed: format!("{allowed}"),
        });
    }
    Ok(())
}

fn range_of(range: &PushConstants) -> vk::PushConstantRange {
    vk::PushConstantRange::default()
        .stage_flags(vk::ShaderStageFlags::COMPUTE)
        .offset(range.offset)
        .size(range.size)
}

/// What a pipeline is made from. What does not become one is destroyed.
struct Parts {
    device: Arc<Device>,
    sets: Vec<vk::DescriptorSetLayout>,
    layout: Option<vk::PipelineLayout>,
    module: Option<vk::ShaderModule>,
}

impl Parts {
    fn into_pipeline(
        mut self,
        handle: vk::Pipeline,
        layout: vk::PipelineLayout,
        shader: &Shader<'_>,
    ) -> Pipeline {
        self.layout = None;
        let slots = shader.sets.iter().enumerate().flat_map(|(set, slots)| {
            slots.iter().flat_map(move |slot| {
                (0..slot.count).map(move |element| (set, slot.binding, element, slot.kind))
            })
        });
        Pipeline {
            device: self.device.clone(),
            handle,
            layout,
            set_layouts: std::mem::take(&mut self.sets),
            slots: slots.collect(),
            abi: shader.abi,
        }
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        let device = &self.device.functions;
        // SAFETY: nothing else has them; a shader module is not needed once its pipeline is made.
        unsafe {
            self.module.take().into_iter().for_each(|it| device.destroy_shader_module(it, None));
            self.layout.take().into_iter().for_each(|it| device.destroy_pipeline_layout(it, None));
            self.sets.drain(..).for_each(|it| device.destroy_descriptor_set_layout(it, None));
        }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        if self.device.is_given_up() {
            return;
        }
        let device = &self.device.functions;
        // SAFETY: nothing is in flight between calls, and descriptor sets are reset after each.
        unsafe {
            device.destroy_pipeline(self.handle, None);
            device.destroy_pipeline_layout(self.layout, None);
            self.set_layouts
                .drain(..)
                .for_each(|it| device.destroy_descriptor_set_layout(it, None));
        }
    }
}
