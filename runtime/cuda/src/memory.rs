//! Memory that the host and the device both see.
//!
//! Where both may use managed memory at the same time, pieces are that: pages move to where they
//! are used, and host and device have the same address for them. Elsewhere they are memory of the
//! host that stays where it is, and that the device reaches over the bus.

use std::ptr::NonNull;
use std::sync::Arc;

use gpu::{Api, GpuError, PieceSource, Pieces};

use crate::device::Device;

/// The size of a piece of memory, in bytes, unless one block needs more.
const PIECE: usize = 64 << 20;

/// What blocks are aligned to, in bytes: what `cuMemAlloc` gives, which kernels may rely on.
const ALIGNMENT: usize = 256;

/// Managed memory is seen by each stream (`CU_MEM_ATTACH_GLOBAL`).
const ATTACH_GLOBAL: u32 = 1;

/// Memory of the host is seen by each context, and by the device (`CU_MEMHOSTALLOC_PORTABLE`,
/// `CU_MEMHOSTALLOC_DEVICEMAP`).
const PORTABLE_AND_MAPPED: u32 = 1 | 2;

/// Memory of a device, zeroed when it is made. It is given back when this is dropped.
pub type Block = gpu::Block<SharedMemory>;

/// Where pieces of memory come from.
#[derive(Debug)]
pub struct SharedMemory(Arc<Device>);

/// A piece of memory.
#[derive(Debug)]
pub struct Piece {
    host: NonNull<u8>,
    device: u64,
}

// SAFETY: it is the driver's name for memory, which any thread may use.
unsafe impl Send for Piece {}

/// The memory of a device.
pub(crate) fn memory(device: &Arc<Device>) -> Arc<Pieces<SharedMemory>> {
    Pieces::new(SharedMemory(device.clone()), PIECE)
}

/// Where an address of the host is on the device; `None` if the bytes are not in its memory.
pub(crate) fn device_address(
    memory: &Pieces<SharedMemory>,
    address: usize,
    length: usize,
) -> Option<u64> {
    memory.find(address, length, |piece, offset| Some(piece.device + offset as u64))
}

// SAFETY: a piece is the caller's from its making to its release; drivers map whole pages.
unsafe impl PieceSource for SharedMemory {
    type Handle = Piece;

    fn api(&self) -> Api {
        self.0.driver.api()
    }

    fn alignment(&self) -> usize {
        ALIGNMENT
    }

    fn grow(&self, length: usize) -> Result<(NonNull<u8>, Piece), GpuError> {
        let device = &self.0;
        let functions = device.functions()?;
        let nowhere = || GpuError::OutOfMemory { api: self.api(), what: format!("{length} bytes") };
        if device.description.has_managed_memory {
            let mut address = 0;
            // SAFETY: what is written to lives here.
            let code =
                unsafe { (functions.managed_allocate)(&raw mut address, length, ATTACH_GLOBAL) };
            device.check("allocating managed memory", code)?;
            let host = NonNull::new(std::ptr::with_exposed_provenance_mut(address as usize));
            let host = host.ok_or_else(nowhere)?;
            return Ok((host, Piece { host, device: address }));
        }
        let (mut host, mut address) = (std::ptr::null_mut(), 0);
        // SAFETY: as above.
        let code = unsafe { (functions.host_allocate)(&raw mut host, length, PORTABLE_AND_MAPPED) };
        device.check("allocating memory of the host", code)?;
        // SAFETY: the memory was made for that.
        let code = unsafe { (functions.host_device_address)(&raw mut address, host, 0) };
        if let Err(error) = device.check("mapping memory of the host", code) {
            // SAFETY: nothing uses it.
            unsafe { (functions.host_free)(host) };
            return Err(error);
        }
        let host = NonNull::new(host.cast()).ok_or_else(nowhere)?;
        Ok((host, Piece { host, device: address }))
    }

    unsafe fn release(&self, piece: Piece) {
        // A driver that fails here has ended: its memory went with it.
        let Ok(functions) = self.0.functions() else { return };
        // SAFETY: by the contract, and made by the other function of the two.
        unsafe {
            if self.0.description.has_managed_memory {
                (functions.managed_free)(piece.device);
            } else {
                (functions.host_free)(piece.host.as_ptr().cast());
            }
        }
    }

    fn is_given_up(&self) -> bool {
        self.0.is_given_up()
    }
}
