//! Memory that the host and the device both see: mapped all the time, and coherent.
//!
//! Each piece is one buffer, from end to end: so an address of the host tells buffer and offset.

use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;
use gpu::{Api, GpuError, PieceSource, Pieces};

use crate::device::Device;
use crate::error::{API, failed};

/// The size of a piece of memory that programs work on, in bytes, unless one block needs more.
const PIECE: usize = 64 << 20;

/// The same for addresses of buffers.
const TABLES: usize = PIECE / 64;

/// The least alignment of blocks, in bytes: a cache line.
const ALIGNMENT: usize = 64;

/// Memory of a device, zeroed when it is made. It is given back when this is dropped.
pub type Block = gpu::Block<MappedMemory>;

/// The memory of a device.
pub(crate) struct Memory {
    pub(crate) device: Arc<Device>,
    /// What the beginning of a binding has to be a multiple of, if it is a descriptor's, in bytes.
    pub(crate) offset_alignment: usize,
    /// What programs work on.
    pub(crate) buffers: Arc<Pieces<MappedMemory>>,
    /// Addresses of buffers. They lie apart: a shader that writes beside its buffer should not
    /// change where the next one finds its buffers.
    pub(crate) tables: Arc<Pieces<MappedMemory>>,
}

/// Where pieces of memory come from.
pub struct MappedMemory {
    device: Arc<Device>,
    memory_type: u32,
    alignment: usize,
}

/// A piece of memory.
#[derive(Debug)]
pub struct Mapped {
    memory: vk::DeviceMemory,
    buffer: vk::Buffer,
    /// The address of its first byte on the device, if that can be known.
    device_address: Option<u64>,
}

/// Where an address of the host is on the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DevicePlace {
    pub(crate) buffer: vk::Buffer,
    pub(crate) offset: u64,
    pub(crate) device_address: Option<u64>,
}

impl Memory {
    /// The memory of a device; `None` if there is none that both see.
    pub(crate) fn new(device: &Arc<Device>) -> Option<Self> {
        use vk::MemoryPropertyFlags as Flags;
        // SAFETY: the device is of this instance.
        let all = unsafe {
            let handle = device.description.handle;
            device.vulkan.instance().get_physical_device_memory_properties(handle)
        };
        let types = &all.memory_types[..all.memory_type_count as usize];
        let wanted = Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
        // A debugger reads more than it writes, so caches count more than nearness.
        let worth = |flags: Flags| {
            (flags.contains(Flags::HOST_CACHED), flags.contains(Flags::DEVICE_LOCAL))
        };
        let fitting = types.iter().enumerate().filter(|(_, it)| it.property_flags.contains(wanted));
        let (memory_type, _) = fitting.max_by_key(|(index, it)| {
            // Of equal ones, drivers list the better one first.
            (worth(it.property_flags), std::cmp::Reverse(*index))
        })?;
        let limits = &device.description.limits;
        let storage = limits.min_storage_buffer_offset_alignment;
        let uniform = limits.min_uniform_buffer_offset_alignment;
        let offset_alignment = storage.max(uniform).max(1) as usize;
        let source = || MappedMemory {
            device: device.clone(),
            memory_type: memory_type as u32,
            alignment: offset_alignment.max(ALIGNMENT),
        };
        Some(Self {
            device: device.clone(),
            offset_alignment,
            buffers: Pieces::new(source(), PIECE),
            tables: Pieces::new(source(), TABLES),
        })
    }

    /// Where an address is on the device; `None` if the bytes are not in its memory, or do not
    /// begin at a multiple of `alignment` in the buffer that has them.
    pub(crate) fn place(
        &self,
        address: usize,
        length: usize,
        alignment: usize,
    ) -> Option<DevicePlace> {
        self.buffers.find(address, length, |piece, offset| {
            offset.is_multiple_of(alignment).then(|| piece.at(offset))
        })
    }

    /// Where a table of addresses is.
    pub(crate) fn place_of_table(&self, table: &Block) -> Option<DevicePlace> {
        let address = table.address().as_ptr().addr();
        self.tables.find(address, 1, |piece, offset| Some(piece.at(offset)))
    }
}

impl Mapped {
    fn at(&self, offset: usize) -> DevicePlace {
        let offset = offset as u64;
        DevicePlace {
            buffer: self.buffer,
            offset,
            device_address: self.device_address.map(|first| first + offset),
        }
    }
}

// SAFETY: a piece is mapped as a whole from its making to its release, by its own `vkMapMemory`,
// which gives addresses that are aligned to pages on all systems.
unsafe impl PieceSource for MappedMemory {
    type Handle = Mapped;

    fn api(&self) -> Api {
        API
    }

    fn alignment(&self) -> usize {
        self.alignment
    }

    fn is_given_up(&self) -> bool {
        self.device.is_given_up()
    }

    fn grow(&self, length: usize) -> Result<(NonNull<u8>, Mapped), GpuError> {
        let device = &self.device.functions;
        let mut usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::UNIFORM_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let has_addresses = self.device.features.has_addresses();
        let mut flags = vk::MemoryAllocateFlagsInfo::default();
        if has_addresses {
            usage |= vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
            flags = flags.flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        }
        let create = vk::BufferCreateInfo::default().size(length as u64).usage(usage);
        // SAFETY: the device is alive, as in all that follows here.
        let buffer =
            unsafe { device.create_buffer(&create, None) }.map_err(failed("vkCreateBuffer"))?;
        let release_buffer = |error| {
            // SAFETY: nothing uses the buffer.
            unsafe { device.destroy_buffer(buffer, None) };
            error
        };
        // SAFETY: the buffer is the device's.
        let needs = unsafe { device.get_buffer_memory_requirements(buffer) };
        if needs.memory_type_bits & 1 << self.memory_type == 0 {
            return Err(release_buffer(GpuError::Failed {
                call: "vkGetBufferMemoryRequirements",
                result: "buffers cannot be in memory that the host sees".into(),
            }));
        }
        let allocate = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(self.memory_type)
            .push_next(&mut flags);
        // SAFETY: the type is one of the device's.
        let memory = unsafe { device.allocate_memory(&allocate, None) }
            .map_err(failed("vkAllocateMemory"))
            .map_err(release_buffer)?;
        // SAFETY: memory and buffer are new, and go together.
        let mapped = unsafe {
            device
                .bind_buffer_memory(buffer, memory, 0)
                .map_err(failed("vkBindBufferMemory"))
                .and_then(|()| {
                    device
                        .map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
                        .map_err(failed("vkMapMemory"))
                })
        };
        let mapped = mapped.inspect_err(|_| {
            // SAFETY: nothing uses either.
            unsafe {
                device.destroy_buffer(buffer, None);
                device.free_memory(memory, None);
            }
        })?;
        let device_address = has_addresses.then(|| {
            let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
            // SAFETY: the buffer was made for that, and has its memory.
            unsafe { device.get_buffer_device_address(&info) }
        });
        let address = NonNull::new(mapped.cast()).expect("a mapping is somewhere");
        Ok((address, Mapped { memory, buffer, device_address }))
    }

    unsafe fn release(&self, Mapped { memory, buffer, .. }: Mapped) {
        let device = &self.device.functions;
        // SAFETY: by the contract; the mapping ends with the memory.
        unsafe {
            device.destroy_buffer(buffer, None);
            device.free_memory(memory, None);
        }
    }
}
