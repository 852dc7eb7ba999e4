//! What has been allocated: kernels that access anything else do what no kernel may.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// A kernel accessed memory that is not the device's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct IllegalAddress;

/// The lengths of all allocations, by their addresses.
static ALLOCATIONS: Mutex<BTreeMap<u64, usize>> = Mutex::new(BTreeMap::new());

/// What allocations are aligned to.
const ALIGNMENT: usize = 4096;

/// New memory, at least one byte.
pub(crate) fn allocate(length: usize) -> Option<u64> {
    let layout = Layout::from_size_align(length.max(1), ALIGNMENT).ok()?;
    // SAFETY: the layout has a size.
    let address = unsafe { alloc(layout) }.expose_provenance() as u64;
    if address == 0 {
        return None;
    }
    ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner).insert(address, layout.size());
    Some(address)
}

/// Gives it back; whether there was such.
pub(crate) fn free(address: u64) -> bool {
    let length = ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner).remove(&address);
    let Some(layout) = length.and_then(|it| Layout::from_size_align(it, ALIGNMENT).ok()) else {
        return false;
    };
    // SAFETY: it was allocated with this layout, and is given back once.
    unsafe { dealloc(std::ptr::with_exposed_provenance_mut(address as usize), layout) };
    true
}

/// Checks that bytes are in an allocation.
fn check(address: u64, length: usize) -> Result<usize, IllegalAddress> {
    let all = ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let (start, size) = all.range(..=address).next_back().ok_or(IllegalAddress)?;
    let offset = (address - start) as usize;
    if offset.checked_add(length).is_some_and(|end| end <= *size) {
        Ok(address as usize)
    } else {
        Err(IllegalAddress)
    }
}

/// Reads up to eight bytes.
pub(crate) fn read(address: u64, length: usize) -> Result<u64, IllegalAddress> {
    let place = check(address, length)?;
    let mut bytes = [0; 8];
    // SAFETY: the bytes are in an allocation, which kernels and the host use in turn.
    unsafe {
        let source = std::ptr::with_exposed_provenance::<u8>(place);
        source.copy_to_nonoverlapping(bytes.as_mut_ptr(), length);
    }
    Ok(u64::from_le_bytes(bytes))
}

/// Writes up to eight bytes.
pub(crate) fn write(address: u64, length: usize, value: u64) -> Result<(), IllegalAddress> {
    let place = check(address, length)?;
    let bytes = value.to_le_bytes();
    // SAFETY: as in `read`.
    unsafe {
        let target = std::ptr::with_exposed_provenance_mut::<u8>(place);
        bytes.as_ptr().copy_to_nonoverlapping(target, length);
    }
    Ok(())
}
