//! Everything unsafe about calling into a library that MLIR compiled: its code, and the memory that
//! its descriptors lead to.
//!
//! # Soundness
//!
//! A library's code and the addresses that it returns cannot be checked; running it is the user's
//! decision. What is ours is kept right: descriptors live until the call is over, shared memory is
//! that of buffers that the arguments keep alive and is only lent where it may be written, what is
//! read back is bounded by the descriptor's own words without overflow, and nothing is freed twice.

use std::ffi::c_void;

use crate::call::{Argument, Returns, call};

/// The address of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeAddress(*const c_void);

// SAFETY: an address of code, which belongs to no thread.
unsafe impl Send for CodeAddress {}
// SAFETY: as for `Send`.
unsafe impl Sync for CodeAddress {}

/// The address of a symbol.
pub(crate) fn symbol(library: &libloading::Library, name: &str) -> Option<CodeAddress> {
    // SAFETY: the symbol is only taken as an address here.
    let found = unsafe { library.get::<*const c_void>(name.as_bytes()) }.ok()?;
    // SAFETY: as above.
    let address = unsafe { found.into_raw() }.into_raw();
    (!address.is_null()).then_some(CodeAddress(address.cast_const()))
}

/// Calls a function; `None` if it takes more than can be passed.
///
/// # Safety
/// The address is that of a function that takes these arguments and returns this, and whose code is
/// loaded.
pub(crate) unsafe fn invoke(
    function: CodeAddress,
    arguments: &[Argument],
    returns: Returns,
) -> Option<u64> {
    // SAFETY: the caller's promise.
    unsafe { call(function.0, arguments, returns) }
}

/// Copies elements from where a descriptor says that they are: `positions` count elements of `size`
/// bytes from `aligned`.
///
/// # Safety
/// The elements may be read.
pub(crate) unsafe fn gather(
    aligned: u64,
    size: usize,
    positions: impl Iterator<Item = i64>,
    out: &mut Vec<u8>,
) {
    let base = aligned as *const u8;
    for position in positions {
        let offset = position.wrapping_mul(size as i64) as isize;
        let element = base.wrapping_offset(offset);
        let at = out.len();
        out.resize(at + size, 0);
        // SAFETY: the caller says that the element is there; the destination was just made.
        unsafe { std::ptr::copy_nonoverlapping(element, out[at..].as_mut_ptr(), size) };
    }
}

/// Copies bytes from an address that a library returned; zeros if it is null.
///
/// # Safety
/// The bytes may be read, unless the address is null.
pub(crate) unsafe fn read(address: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    if length > 0 && address != 0 {
        // SAFETY: the caller says that they are there; the destination has the length.
        unsafe { std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), length) };
    }
    bytes
}

/// Frees what a library got from `malloc`.
///
/// # Safety
/// The address is null or that of a block that `malloc` gave, and nobody frees or uses it
/// afterwards.
pub(crate) unsafe fn free(address: u64) {
    unsafe extern "C" {
        fn free(block: *mut c_void);
    }
    // SAFETY: the caller's promise.
    unsafe { free(address as *mut c_void) };
}
