//! What both interfaces do in the same way, on addresses that callers give.

use std::ffi::{CStr, c_char, c_void};
use std::time::Instant;

use crate::memory;
use crate::state::{
    self, Function, INVALID_IMAGE, INVALID_PTX, INVALID_VALUE, Module, NOT_FOUND, NOT_READY,
    OUT_OF_MEMORY, SUCCESS,
};

/// A context, module, function, stream or event.
pub(crate) type Handle = *mut c_void;

/// Something that a handle may stand for where nothing is asked of it.
pub(crate) fn something() -> Handle {
    std::ptr::without_provenance_mut(64)
}

/// Writes a result.
///
/// # Safety
/// The place can be written.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) -> i32 {
    // SAFETY: by the contract.
    unsafe { place.write(value) };
    SUCCESS
}

/// The number of a device, which is its handle.
pub(crate) fn checked(device: i32) -> i32 {
    if (0..state::device_count()).contains(&device) { SUCCESS } else { INVALID_VALUE }
}

/// # Safety
/// The place has `length` bytes.
pub(crate) unsafe fn put_name(place: *mut c_char, length: i32, device: i32) -> i32 {
    let name = format!("fake device {device}");
    if length as usize <= name.len() {
        return INVALID_VALUE;
    }
    // SAFETY: by the contract.
    unsafe {
        name.as_ptr().copy_to_nonoverlapping(place.cast(), name.len());
        put(place.add(name.len()), 0)
    }
}

/// Attributes of a device by their meaning.
pub(crate) fn attribute(meaning: &str, device: i32) -> i32 {
    match meaning {
        "threads" | "block x" | "block y" => 1024,
        "block z" => 64,
        "grid x" => i32::MAX,
        "grid y" | "grid z" => 65_535,
        "shared" => 101_376,
        "warp" => 32,
        "major" => 9,
        // The first device has memory that both use at the same time.
        "managed" => i32::from(device == 0),
        "mapped" | "unified" => 1,
        _ => 0,
    }
}

/// # Safety
/// The place can be written.
pub(crate) unsafe fn allocate(place: *mut u64, length: usize) -> i32 {
    match (state::broken(), memory::allocate(length)) {
        // SAFETY: by the contract.
        (SUCCESS, Some(address)) => unsafe { put(place, address) },
        (SUCCESS, None) => OUT_OF_MEMORY,
        (code, _) => code,
    }
}

pub(crate) fn free(address: u64) -> i32 {
    if memory::free(address) { SUCCESS } else { INVALID_VALUE }
}

/// # Safety
/// The image ends with a zero byte, or is an ELF file; the place can be written; a log of `log.1`
/// bytes can be written at `log.0`.
pub(crate) unsafe fn load(
    place: *mut Handle,
    image: *const c_void,
    log: Option<(*mut u8, usize)>,
) -> i32 {
    const ELF: &[u8; 4] = b"\x7fELF";
    // SAFETY: by the contract.
    unsafe {
        let bytes = image.cast::<u8>();
        if std::slice::from_raw_parts(bytes, 4) == ELF {
            // Sections end the files that the compiler writes.
            let word = |at: usize| bytes.add(at).cast::<u64>().read_unaligned();
            let half = |at: usize| u64::from(bytes.add(at).cast::<u16>().read_unaligned());
            let length = word(40) + half(58) * half(60);
            let bytes = std::slice::from_raw_parts(bytes, length as usize).to_vec();
            return put(place, Box::into_raw(Box::new(Module::CodeObject(bytes))).cast());
        }
        let Ok(text) = CStr::from_ptr(image.cast()).to_str() else { return INVALID_IMAGE };
        match state::ptx(text) {
            Ok(module) => put(place, Box::into_raw(Box::new(module)).cast()),
            Err(error) => {
                if let Some((log, length)) = log {
                    let length = error.len().min(length.saturating_sub(1));
                    error.as_ptr().copy_to_nonoverlapping(log, length);
                    put(log.add(length), 0);
                }
                INVALID_PTX
            }
        }
    }
}

/// # Safety
/// The module is one of [`load`], the name ends, and the place can be written.
pub(crate) unsafe fn function(place: *mut Handle, module: Handle, name: *const c_char) -> i32 {
    // SAFETY: by the contract; modules are never given back.
    unsafe {
        let module: &'static Module = &*module.cast::<Module>();
        let name = CStr::from_ptr(name).to_string_lossy().into_owned();
        if !module.has(&name) {
            return NOT_FOUND;
        }
        put(place, Box::into_raw(Box::new(Function { module, name })).cast())
    }
}

/// # Safety
/// The function is one of [`function`], and `parameters` has the address of each parameter.
pub(crate) unsafe fn launch(
    function: Handle,
    workgroups: [u32; 3],
    threads: [u32; 3],
    shared: u32,
    parameters: *mut *mut c_void,
) -> i32 {
    if state::broken() != SUCCESS {
        return state::broken();
    }
    if workgroups.contains(&0) || threads.contains(&0) {
        return INVALID_VALUE;
    }
    // SAFETY: by the contract.
    let (function, parameters) = unsafe {
        let function = &*function.cast::<Function>();
        let sizes = function.parameter_sizes().into_iter().enumerate();
        let read = |(index, size): (usize, usize)| {
            let mut value = 0_u64;
            let source = (*parameters.add(index)).cast::<u8>();
            source.copy_to_nonoverlapping((&raw mut value).cast(), size);
            value
        };
        (function, sizes.map(read).collect::<Vec<u64>>())
    };
    state::crash_if_wanted();
    if state::hangs() {
        return SUCCESS;
    }
    function.launch(workgroups, threads, shared as usize, &parameters)
}

/// # Safety
/// The place can be written.
pub(crate) unsafe fn event(place: *mut Handle) -> i32 {
    // SAFETY: by the contract.
    unsafe { put(place, Box::into_raw(Box::new(Instant::now())).cast()) }
}

/// # Safety
/// The event is one of [`event`].
pub(crate) unsafe fn record(event: Handle) -> i32 {
    // SAFETY: by the contract.
    unsafe { put(event.cast(), Instant::now()) }
}

pub(crate) fn query() -> i32 {
    if state::hangs() { NOT_READY } else { state::broken() }
}

/// # Safety
/// The events are ones of [`event`], and the place can be written.
pub(crate) unsafe fn elapsed(place: *mut f32, begin: Handle, end: Handle) -> i32 {
    // SAFETY: by the contract.
    unsafe {
        let (begin, end) = (*begin.cast::<Instant>(), *end.cast::<Instant>());
        put(place, end.saturating_duration_since(begin).as_secs_f32() * 1000.0)
    }
}

/// # Safety
/// The event is one of [`event`], and is not used again.
pub(crate) unsafe fn destroy_event(event: Handle) -> i32 {
    // SAFETY: by the contract.
    drop(unsafe { Box::from_raw(event.cast::<Instant>()) });
    SUCCESS
}
