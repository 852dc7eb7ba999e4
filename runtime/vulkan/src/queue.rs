//! Running pipelines on memory, one after another, and waiting for them.
//!
//! Work is recorded into one command buffer, each dispatch after a barrier, and submitted at once.
//! Memory that is not the device's is copied to memory that is, and back afterwards.

use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use gpu::{Finished, GpuError, Span, Staging, StagingError};

use crate::device::Device;
use crate::error::{API, failed};
use crate::memory::{Block, DevicePlace, MappedMemory, Memory};
use crate::pipeline::{Abi, Pipeline};

/// One dispatch.
pub(crate) type Work<'a> = gpu::Work<'a, Pipeline>;

/// The most dispatches that are submitted at once.
const MOST_AT_ONCE: usize = 256;

/// The most buffers that these take.
const MOST_BUFFERS: usize = 4096;

/// What submissions are made with.
pub(crate) struct Queue {
    device: Arc<Device>,
    memory: Arc<Memory>,
    queue: vk::Queue,
    commands: vk::CommandPool,
    buffer: vk::CommandBuffer,
    fence: vk::Fence,
    descriptors: vk::DescriptorPool,
    /// Two times for each dispatch, and which of their bits count; `None` if there is no clock.
    times: Option<(vk::QueryPool, u64)>,
}

/// A dispatch, and where its memory is on the device: `None` for what it cannot use where it lies.
struct Placed<'w> {
    work: &'w Work<'w>,
    places: Vec<Option<DevicePlace>>,
}

/// How many of these dispatches can be submitted together. One whose memory is copied is alone, as
/// others may work on the original.
fn fits_at_once(works: &[Placed<'_>]) -> usize {
    let mut buffers = 0;
    let fitting = works.iter().take(MOST_AT_ONCE).take_while(|placed| {
        buffers += placed.places.len();
        buffers <= MOST_BUFFERS && placed.places.iter().all(Option::is_some)
    });
    fitting.count()
}

impl Queue {
    /// The queue of a device whose memory this is.
    ///
    /// # Errors
    /// The device has no memory for it.
    pub(crate) fn new(memory: &Arc<Memory>) -> Result<Self, GpuError> {
        let Device { functions: device, family, clock_bits, .. } = &*memory.device;
        let pool = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(*family);
        let kinds = [
            (vk::DescriptorType::STORAGE_BUFFER, MOST_BUFFERS),
            (vk::DescriptorType::UNIFORM_BUFFER, MOST_BUFFERS),
        ]
        .map(|(kind, count)| {
            vk::DescriptorPoolSize::default().ty(kind).descriptor_count(count as u32)
        });
        let descriptors = vk::DescriptorPoolCreateInfo::default()
            .max_sets(4 * MOST_AT_ONCE as u32)
            .pool_sizes(&kinds);
        let times = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(2 * MOST_AT_ONCE as u32);
        // SAFETY: the device is new, and what is pointed to lives until each call returns. If one
        // fails, the device is not used, and what was made stays with it.
        unsafe {
            let commands =
                device.create_command_pool(&pool, None).map_err(failed("vkCreateCommandPool"))?;
            let allocate = vk::CommandBufferAllocateInfo::default()
                .command_pool(commands)
                .command_buffer_count(1);
            let buffers = device
                .allocate_command_buffers(&allocate)
                .map_err(failed("vkAllocateCommandBuffers"))?;
            let clock = match *clock_bits {
                0 => None,
                bits => {
                    let pool = device.create_query_pool(&times, None);
                    let mask = u64::MAX >> (64 - bits.min(64));
                    Some((pool.map_err(failed("vkCreateQueryPool"))?, mask))
                }
            };
            Ok(Self {
                device: memory.device.clone(),
                memory: memory.clone(),
                queue: device.get_device_queue(*family, 0),
                commands,
                buffer: buffers[0],
                fence: device
                    .create_fence(&vk::FenceCreateInfo::default(), None)
                    .map_err(failed("vkCreateFence"))?,
                descriptors: device
                    .create_descriptor_pool(&descriptors, None)
                    .map_err(failed("vkCreateDescriptorPool"))?,
                times: clock,
            })
        }
    }

    /// Runs dispatches in their order, each after the one before it, and waits for them.
    ///
    /// # Errors
    /// One cannot be run, with its number if it is known which; or the device is lost. Those before
    /// it may have run.
    ///
    /// # Safety
    /// All spans can be read and written, and nothing else does so until this returns. Each
    /// pipeline is given what its shader takes.
    pub(crate) unsafe fn run(
        &mut self,
        works: &[Work<'_>],
    ) -> Result<Vec<Finished>, (Option<usize>, GpuError)> {
        let placed: Vec<Placed<'_>> = works.iter().map(|work| self.placed(work)).collect();
        // SAFETY: by the contract.
        gpu::run_in_parts(&placed, fits_at_once, |works| unsafe { self.run_at_once(works) })
    }

    /// A dispatch with the places of its memory.
    fn placed<'w>(&self, work: &'w Work<'w>) -> Placed<'w> {
        let alignment = match work.kernel.abi {
            Abi::Descriptors => self.memory.offset_alignment,
            Abi::Addresses { .. } => 1,
        };
        let place = |span: &Span| self.memory.place(span.address.addr(), span.length, alignment);
        Placed { work, places: work.bindings.iter().map(place).collect() }
    }

    /// # Safety
    /// As for [`Self::run`].
    unsafe fn run_at_once(
        &mut self,
        works: &[Placed<'_>],
    ) -> Result<Vec<Finished>, (Option<usize>, GpuError)> {
        let all = |error| (None, error);
        self.device.check().map_err(all)?;
        for (index, work) in works.iter().enumerate() {
            self.check_work(work.work).map_err(|error| (Some(index), error))?;
        }
        // SAFETY: the spans can be read, by the contract.
        let staging = unsafe { self.stage(works) }.map_err(all)?;
        // They are the dispatches' until all have ended.
        let mut tables = Vec::new();
        let device = &self.device.functions;
        // SAFETY: the command buffer and the descriptor pool are this queue's alone, and nothing
        // that was recorded before is in flight.
        unsafe {
            device
                .reset_descriptor_pool(self.descriptors, vk::DescriptorPoolResetFlags::empty())
                .map_err(failed("vkResetDescriptorPool"))
                .map_err(all)?;
            // What was begun may not have come to its end.
            device
                .reset_command_buffer(self.buffer, vk::CommandBufferResetFlags::empty())
                .map_err(failed("vkResetCommandBuffer"))
                .map_err(all)?;
            let begin = vk::CommandBufferBeginInfo::default()
                .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            device
                .begin_command_buffer(self.buffer, &begin)
                .map_err(failed("vkBeginCommandBuffer"))
                .map_err(all)?;
            if let Some((times, _)) = self.times {
                device.cmd_reset_query_pool(self.buffer, times, 0, 2 * works.len() as u32);
            }
        }
        for (index, work) in works.iter().enumerate() {
            // SAFETY: as above; the pipeline is this device's, which was checked.
            unsafe { self.record(index, work, &staging, &mut tables) }
                .map_err(|error| (Some(index), error))?;
        }
        // SAFETY: as above.
        unsafe {
            self.submit().map_err(all)?;
            staging.copy_back();
        }
        let messages = self.device.vulkan.take_messages();
        if !messages.is_empty() {
            return Err(all(GpuError::Invalid(messages)));
        }
        Ok(self.elapsed(works.len()))
    }

    /// Copies what dispatches cannot use where it lies.
    ///
    /// # Safety
    /// All spans can be read.
    unsafe fn stage(&self, works: &[Placed<'_>]) -> Result<Staging<MappedMemory>, GpuError> {
        let spans = works.iter().flat_map(|it| it.work.bindings.iter().zip(&it.places));
        let (direct, outside): (Vec<_>, Vec<_>) = spans.partition(|(_, place)| place.is_some());
        let plain =
            |spans: Vec<(&Span, _)>| spans.into_iter().map(|(it, _)| *it).collect::<Vec<_>>();
        // SAFETY: by the contract.
        let copied =
            unsafe { Staging::copied(&plain(outside), &plain(direct), &self.memory.buffers) };
        copied.map_err(|error| match error {
            StagingError::Overlap(span) => self.overlap(span),
            StagingError::Gpu(error) => error,
        })
    }

    /// Why a span cannot be used.
    fn overlap(&self, span: Span) -> GpuError {
        GpuError::Limit {
            device: self.device.description.name.clone(),
            what: format!("a buffer of {} bytes that overlaps another one", span.length),
            allowed: format!(
                "that where both begin at multiples of {} bytes",
                self.memory.offset_alignment
            ),
        }
    }

    /// Checks a dispatch against its pipeline and the limits of the device.
    fn check_work(&self, work: &Work<'_>) -> Result<(), GpuError> {
        let limits = &self.device.description.limits;
        let limit = |what: String, allowed: String| {
            Err(GpuError::Limit { device: self.device.description.name.clone(), what, allowed })
        };
        if !Arc::ptr_eq(&work.kernel.device, &self.device) {
            return limit("a pipeline of another device".into(), "its own".into());
        }
        if let Some(count) = work.kernel.buffer_count()
            && count != work.bindings.len()
        {
            return limit(format!("{} buffers", work.bindings.len()), format!("{count}"));
        }
        let most = limits.max_compute_work_group_count;
        if work.workgroups.iter().zip(most).any(|(count, most)| *count > most) {
            return limit(format!("{:?} workgroups", work.workgroups), format!("{most:?}"));
        }
        let most = limits.max_storage_buffer_range as usize;
        let longest = work.bindings.iter().map(|span| span.length).max().unwrap_or_default();
        if work.kernel.abi == Abi::Descriptors && longest > most {
            return limit(format!("a buffer of {longest} bytes"), format!("{most}"));
        }
        Ok(())
    }

    /// Records one dispatch.
    ///
    /// # Safety
    /// The command buffer is being recorded.
    unsafe fn record(
        &self,
        index: usize,
        placed: &Placed<'_>,
        staging: &Staging<MappedMemory>,
        tables: &mut Vec<Block>,
    ) -> Result<(), GpuError> {
        let Placed { work, places } = placed;
        let (device, buffer) = (&self.device.functions, self.buffer);
        let Pipeline { handle, layout, abi, .. } = work.kernel;
        let stage = vk::ShaderStageFlags::COMPUTE;
        let places = work.bindings.iter().zip(places).map(|(span, place)| {
            let copied = || self.memory.place(staging.copy_of(*span)?, span.length, 1);
            place.or_else(copied).ok_or_else(|| self.overlap(*span))
        });
        let places = places.collect::<Result<Vec<DevicePlace>, _>>()?;
        let constants: Vec<u8> = work.constants.iter().flat_map(|it| it.to_ne_bytes()).collect();
        // SAFETY: all handles are the device's; sets are written before they are bound, and are not
        // in use; what is pointed to lives until each call returns.
        unsafe {
            device.cmd_bind_pipeline(buffer, vk::PipelineBindPoint::COMPUTE, *handle);
            let constants_offset = match *abi {
                Abi::Descriptors => {
                    self.bind(work, &places)?;
                    0
                }
                Abi::Addresses { root_offset, constants_offset } => {
                    let root = self.table(&places, tables)?;
                    device.cmd_push_constants(buffer, *layout, stage, root_offset, &root);
                    constants_offset
                }
            };
            if !constants.is_empty() {
                device.cmd_push_constants(buffer, *layout, stage, constants_offset, &constants);
            }
            if let Some((times, _)) = self.times {
                let at = vk::PipelineStageFlags::TOP_OF_PIPE;
                device.cmd_write_timestamp(buffer, at, times, 2 * index as u32);
            }
            let [x, y, z] = work.workgroups;
            device.cmd_dispatch(buffer, x, y, z);
            if let Some((times, _)) = self.times {
                let at = vk::PipelineStageFlags::COMPUTE_SHADER;
                device.cmd_write_timestamp(buffer, at, times, 2 * index as u32 + 1);
            }
            // The next dispatch and the host see what this one wrote.
            let barrier = [vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::SHADER_WRITE)
                .dst_access_mask(
                    vk::AccessFlags::SHADER_READ
                        | vk::AccessFlags::SHADER_WRITE
                        | vk::AccessFlags::UNIFORM_READ
                        | vk::AccessFlags::HOST_READ
                        | vk::AccessFlags::HOST_WRITE,
                )];
            device.cmd_pipeline_barrier(
                buffer,
                vk::PipelineStageFlags::COMPUTE_SHADER,
                vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::HOST,
                vk::DependencyFlags::empty(),
                &barrier,
                &[],
                &[],
            );
        }
        Ok(())
    }

    /// Binds buffers by descriptor sets.
    ///
    /// # Safety
    /// As for [`Self::record`].
    unsafe fn bind(&self, work: &Work<'_>, places: &[DevicePlace]) -> Result<(), GpuError> {
        let Pipeline { layout, set_layouts, slots, .. } = work.kernel;
        if set_layouts.is_empty() {
            return Ok(());
        }
        let device = &self.device.functions;
        let allocate = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(self.descriptors)
            .set_layouts(set_layouts);
        // SAFETY: by the contract.
        let sets = unsafe { device.allocate_descriptor_sets(&allocate) };
        let sets = sets.map_err(failed("vkAllocateDescriptorSets"))?;
        let buffers: Vec<[vk::DescriptorBufferInfo; 1]> = places
            .iter()
            .zip(work.bindings)
            .map(|(place, span)| {
                [vk::DescriptorBufferInfo::default()
                    .buffer(place.buffer)
                    .offset(place.offset)
                    .range(span.length.max(1) as u64)]
            })
            .collect();
        let writes: Vec<_> = slots
            .iter()
            .zip(&buffers)
            .map(|((set, binding, element, kind), buffer)| {
                vk::WriteDescriptorSet::default()
                    .dst_set(sets[*set])
                    .dst_binding(*binding)
                    .dst_array_element(*element)
                    .descriptor_type(kind.descriptor())
                    .buffer_info(buffer)
            })
            .collect();
        // SAFETY: by the contract; each place is in its buffer.
        unsafe {
            device.update_descriptor_sets(&writes, &[]);
            let point = vk::PipelineBindPoint::COMPUTE;
            device.cmd_bind_descriptor_sets(self.buffer, point, *layout, 0, &sets, &[]);
        }
        Ok(())
    }

    /// The root that a shader gets that finds its memory by addresses: the address of their table,
    /// then zeros (`iree_hal_vulkan_bda_dispatch_root_v1_t`).
    fn table(&self, places: &[DevicePlace], tables: &mut Vec<Block>) -> Result<[u8; 32], GpuError> {
        let missing = || GpuError::Missing {
            device: self.device.description.name.clone(),
            missing: vec!["bufferDeviceAddress".to_owned()],
        };
        let block = self.memory.tables.allocate((8 * places.len()).max(8), 8)?;
        for (index, place) in places.iter().enumerate() {
            let address = place.device_address.ok_or_else(missing)?;
            // SAFETY: the block has eight bytes for each place.
            unsafe { block.address().cast::<u64>().add(index).write_unaligned(address) };
        }
        let own = self.memory.place_of_table(&block).and_then(|it| it.device_address);
        let mut root = [0; 32];
        root[..8].copy_from_slice(&own.ok_or_else(missing)?.to_ne_bytes());
        tables.push(block);
        Ok(root)
    }

    /// Submits what was recorded, and waits for its end.
    ///
    /// # Safety
    /// The command buffer was recorded as [`Self::record`] says.
    unsafe fn submit(&self) -> Result<(), GpuError> {
        let device = &self.device.functions;
        let buffers = [self.buffer];
        let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
        let patience = self.device.options.patience;
        let nanoseconds = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: by the contract; the fence is not in use.
        let result = unsafe {
            device
                .end_command_buffer(self.buffer)
                .map_err(failed("vkEndCommandBuffer"))
                .and_then(|()| {
                    let submitted = device.queue_submit(self.queue, &submit, self.fence);
                    submitted.map_err(failed("vkQueueSubmit"))
                })
                .and_then(|()| match device.wait_for_fences(&[self.fence], true, nanoseconds) {
                    Err(vk::Result::TIMEOUT) => Err(GpuError::TimedOut(API, patience)),
                    other => other.map_err(failed("vkWaitForFences")),
                })
        };
        match result {
            Ok(()) => {
                // SAFETY: the fence has been waited for.
                unsafe { device.reset_fences(&[self.fence]) }.map_err(failed("vkResetFences"))
            }
            Err(error) => {
                self.device.give_up();
                Err(error)
            }
        }
    }

    /// How long the device worked on each dispatch of the last submission.
    fn elapsed(&self, count: usize) -> Vec<Finished> {
        let unknown = vec![Finished { device_time: None }; count];
        let Some((pool, mask)) = self.times else { return unknown };
        let mut times = vec![0_u64; 2 * count];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: the submission that writes them has ended.
        let read =
            unsafe { self.device.functions.get_query_pool_results(pool, 0, &mut times, flags) };
        if read.is_err() {
            return unknown;
        }
        let period = f64::from(self.device.description.limits.timestamp_period);
        let pairs = times.as_chunks::<2>().0.iter();
        let elapsed = pairs.map(|[began, ended]| {
            let ticks = (ended & mask).wrapping_sub(began & mask) & mask;
            Some(Duration::from_nanos((ticks as f64 * period) as u64))
        });
        elapsed.map(|device_time| Finished { device_time }).collect()
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if self.device.is_given_up() {
            return;
        }
        let functions = &self.device.functions;
        // SAFETY: nothing is in flight between calls.
        unsafe {
            functions.destroy_command_pool(self.commands, None);
            functions.destroy_fence(self.fence, None);
            functions.destroy_descriptor_pool(self.descriptors, None);
            self.times.iter().for_each(|(pool, _)| functions.destroy_query_pool(*pool, None));
        }
    }
}
