//! Memory that the host and the device both see: mapped all the time, coherent, cut into blocks.
//!
//! Vulkan gives memory in few, large pieces. Each is one buffer here, from end to end, and blocks
//! are ranges of it: so an address of the host tells buffer and offset.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use range_alloc::RangeAllocator;

use crate::device::Device;
use crate::error::{GpuError, failed};

/// The size of a piece of memory, in bytes, unless one block needs more.
const PIECE: usize = 64 << 20;

/// The least alignment of blocks, in bytes: a cache line.
const ALIGNMENT: usize = 64;

/// What memory is for. A shader that writes beside its buffer should not change where the next one
/// finds its buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// What programs work on.
    Buffers,
    /// Addresses of buffers.
    Tables,
}

impl Purpose {
    /// The size of a piece, in bytes, unless one block needs more.
    fn piece(self) -> usize {
        match self {
            Self::Buffers => PIECE,
            Self::Tables => PIECE / 64,
        }
    }
}

/// The memory of a device.
pub(crate) struct Memory {
    pub(crate) device: Arc<Device>,
    memory_type: u32,
    /// What the beginning of a binding has to be a multiple of, if it is a descriptor's, in bytes.
    pub(crate) offset_alignment: usize,
    /// The same for blocks.
    alignment: usize,
    /// By the address of their first byte.
    pieces: Mutex<Pieces>,
}

type Pieces = BTreeMap<usize, Piece>;

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Memory").field(&self.device.description.name).finish()
    }
}

#[derive(Debug)]
struct Piece {
    memory: vk::DeviceMemory,
    buffer: vk::Buffer,
    /// The address of its first byte on the device, if that can be known.
    device_address: Option<u64>,
    purpose: Purpose,
    length: usize,
    free: RangeAllocator<usize>,
}

/// Where an address of the host is on the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DevicePlace {
    pub(crate) buffer: vk::Buffer,
    pub(crate) offset: u64,
    pub(crate) device_address: Option<u64>,
}

/// Memory of a device, zeroed when it is made. It is given back when this is dropped.
#[derive(Debug)]
pub struct Block {
    memory: Arc<Memory>,
    address: NonNull<u8>,
    /// The address of its piece, and the range in that.
    piece: usize,
    range: Range<usize>,
}

// SAFETY: a block owns its range of a mapping that lasts as long as the device, which it holds;
// addresses are not bound to a thread.
unsafe impl Send for Block {}
// SAFETY: nothing is accessed through a shared block: it only tells its address.
unsafe impl Sync for Block {}

impl Block {
    /// Its first byte. As many bytes as were asked for can be read and written while it lives, and
    /// are aligned as was asked for.
    #[must_use]
    pub fn address(&self) -> NonNull<u8> {
        self.address
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // A device that did not answer may still write here.
        if !self.memory.device.is_given_up() {
            self.memory.free(self.piece, self.range.clone());
        }
    }
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
        Some(Self {
            device: device.clone(),
            memory_type: memory_type as u32,
            offset_alignment,
            alignment: offset_alignment.max(ALIGNMENT),
            pieces: Mutex::default(),
        })
    }

    fn pieces(&self) -> MutexGuard<'_, Pieces> {
        // The ranges are consistent at any time, so a panic in another thread does not spoil them.
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// New memory of zeros. `alignment` is a power of two.
    ///
    /// # Errors
    /// The device has no more, or is lost.
    pub(crate) fn allocate(
        self: &Arc<Self>,
        purpose: Purpose,
        length: usize,
        alignment: usize,
    ) -> Result<Block, GpuError> {
        self.device.check()?;
        let (piece, range) = self.take(purpose, length, alignment)?;
        // A range has room for that.
        let address = (piece + range.start).next_multiple_of(alignment.max(1));
        let address = NonNull::new(std::ptr::with_exposed_provenance_mut(address));
        let address: NonNull<u8> =
            address.ok_or_else(|| GpuError::OutOfMemory { what: format!("{length} bytes") })?;
        // SAFETY: a range of a mapped piece that nothing else has.
        unsafe { address.as_ptr().write_bytes(0, length) };
        Ok(Block { memory: self.clone(), address, piece, range })
    }

    /// A range of a piece: its address, and the range.
    fn take(
        &self,
        purpose: Purpose,
        length: usize,
        alignment: usize,
    ) -> Result<(usize, Range<usize>), GpuError> {
        let none = || GpuError::OutOfMemory { what: format!("{length} bytes") };
        // A range begins at a multiple of the alignment of ranges in its piece, and the piece at a
        // page; what a larger alignment may have to skip is taken, too.
        let spare = if alignment > self.alignment { alignment } else { 0 };
        let wanted = length.max(1).checked_add(spare).ok_or_else(none)?;
        let wanted = wanted.checked_next_multiple_of(self.alignment).ok_or_else(none)?;
        let mut pieces = self.pieces();
        let mut fitting = pieces.iter_mut().filter(|(_, piece)| piece.purpose == purpose);
        let found = fitting
            .find_map(|(address, piece)| Some((*address, piece.free.allocate_range(wanted).ok()?)));
        let (address, range) = match found {
            Some(found) => found,
            None => {
                let grown = self.grow(purpose, wanted.max(purpose.piece()));
                let (address, mut piece) = grown.map_err(|error| match error {
                    GpuError::OutOfMemory { .. } => none(),
                    other => other,
                })?;
                let range = piece.free.allocate_range(wanted).map_err(|_| none())?;
                pieces.insert(address, piece);
                (address, range)
            }
        };
        Ok((address, range))
    }

    /// One more piece, and its address.
    fn grow(&self, purpose: Purpose, length: usize) -> Result<(usize, Piece), GpuError> {
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
        let address = mapped.expose_provenance();
        let free = RangeAllocator::new(0..length);
        Ok((address, Piece { memory, buffer, device_address, purpose, length, free }))
    }

    /// Takes a range back. A piece that only one block needed goes back to the device.
    fn free(&self, address: usize, range: Range<usize>) {
        let mut pieces = self.pieces();
        let Some(piece) = pieces.get_mut(&address) else { return };
        piece.free.free_range(range);
        if piece.length > PIECE && piece.free.is_empty() {
            let piece = pieces.remove(&address);
            // SAFETY: no block is in the piece, and nothing is in flight between calls.
            piece.into_iter().for_each(|piece| unsafe { piece.destroy(&self.device.functions) });
        }
    }

    /// Where an address is on the device; `None` if the bytes are not in its memory, or do not
    /// begin at a multiple of `alignment` in the buffer that has them.
    pub(crate) fn place(
        &self,
        address: usize,
        length: usize,
        alignment: usize,
    ) -> Option<DevicePlace> {
        let pieces = self.pieces();
        let (start, piece) = pieces.range(..=address).next_back()?;
        let offset = address - start;
        let is_inside = offset.checked_add(length).is_some_and(|end| end <= piece.length);
        (is_inside && offset.is_multiple_of(alignment)).then(|| DevicePlace {
            buffer: piece.buffer,
            offset: offset as u64,
            device_address: piece.device_address.map(|first| first + offset as u64),
        })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.device.is_given_up() {
            return;
        }
        let pieces = self.pieces.get_mut().unwrap_or_else(PoisonError::into_inner);
        for piece in std::mem::take(pieces).into_values() {
            // SAFETY: blocks hold the memory, so none is left, and nothing is in flight between
            // calls.
            unsafe { piece.destroy(&self.device.functions) };
        }
    }
}

impl Piece {
    /// # Safety
    /// Nothing uses its memory any more.
    unsafe fn destroy(self, device: &ash::Device) {
        // SAFETY: by the contract; the mapping ends with the memory.
        unsafe {
            device.destroy_buffer(self.buffer, None);
            device.free_memory(self.memory, None);
        }
    }
}
