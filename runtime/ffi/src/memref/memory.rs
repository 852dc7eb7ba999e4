//! The unsafe part of calling into a library that MLIR compiled: its code, and the memory that its
//! descriptors point to.
//!
//! # Soundness
//!
//! A library's code and the addresses that it returns cannot be checked; running it is the user's
//! decision. This crate's part is sound: descriptors live until the call is over; shared memory
//! belongs to buffers that the arguments keep alive, and is lent only if it may be written; reads
//! of results are bounded by the descriptor's own words, without overflow; and nothing is freed
//! twice.

use std::ffi::c_void;

use crate::call::{Argument, Returns, call};

/// The address of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeAddress(*const c_void);

// SAFETY: an address of code, which is not bound to a thread.
unsafe impl Send for CodeAddress {}
// SAFETY: as for `Send`.
unsafe impl Sync for CodeAddress {}

/// The address of a symbol.
pub(crate) fn symbol(library: &libloading::Library, name: &str) -> Option<CodeAddress> {
    // SAFETY: the symbol is only taken as an address here.
    let found = unsafe { library.get::<*const c_void>(name.as_bytes()) }.ok()?;
    let address = *found;
    (!address.is_null()).then_some(CodeAddress(address))
}

/// Calls a function; `None` if there are too many arguments.
///
/// # Safety
/// The address is that of a function that takes these arguments and returns such a result, and
/// whose code is loaded.
pub(crate) unsafe fn invoke(
    function: CodeAddress,
    arguments: &[Argument],
    returns: Returns,
) -> Option<u64> {
    // SAFETY: the caller's promise.
    unsafe { call(function.0, arguments, returns) }
}

/// Copies elements of `size` bytes. `positions` are their indices, relative to the address
/// `aligned`.
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
        // SAFETY: the caller vouches for the element; the destination was just allocated.
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
        // SAFETY: the caller vouches for the bytes; the destination has the length.
        unsafe { std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), length) };
    }
    bytes
}

/// Frees a block that a library got from `malloc`.
///
/// # Safety
/// The address is null or that of a block from `malloc`, which nothing frees or uses afterwards.
pub(crate) unsafe fn free(address: u64) {
    unsafe extern "C" {
        fn free(block: *mut c_void);
    }
    // SAFETY: the caller's promise.
    unsafe { free(address as *mut c_void) };
}
