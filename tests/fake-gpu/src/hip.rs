//! The functions of `hip_runtime_api.h` that `iree-dbg` calls.

#![allow(non_snake_case, reason = "the names are those of the interface")]

use std::ffi::{c_char, c_void};

use crate::calls::{self, Handle, checked, put, something};
use crate::state::{self, SUCCESS};

/// Declares functions that the library exports.
macro_rules! functions {
    ($($name:ident($($parameter:ident: $kind:ty),*) $body:block)*) => {
        $(
            /// # Safety
            /// As `hip_runtime_api.h` has it: what is pointed to can be read or written as is said
            /// there.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($parameter: $kind),*) -> i32 {
                $(let _ = &$parameter;)*
                // SAFETY: by the contract.
                #[allow(unused_unsafe, reason = "some touch nothing")]
                unsafe { $body }
            }
        )*
    };
}

functions! {
    hipInit(_flags: u32) { if state::device_count() == 0 { 100 } else { SUCCESS } }
    hipDriverGetVersion(version: *mut i32) { put(version, 60_342_134) }
    hipGetDeviceCount(count: *mut i32) { put(count, state::device_count()) }
    hipDeviceGet(device: *mut i32, index: i32) { put(device, index); checked(index) }
    hipDeviceGetName(name: *mut c_char, length: i32, device: i32) {
        calls::put_name(name, length, device)
    }
    hipDeviceGetUuid(uuid: *mut [u8; 16], device: i32) { put(uuid, [0xA0 + device as u8; 16]) }
    hipDeviceGetAttribute(value: *mut i32, attribute: i32, device: i32) {
        let meaning = match attribute {
            56 => "threads",
            26 => "block x",
            27 => "block y",
            28 => "block z",
            29 => "grid x",
            30 => "grid y",
            31 => "grid z",
            74 => "shared",
            87 => "warp",
            23 => "major",
            9 => "managed",
            _ => "unknown",
        };
        put(value, calls::attribute(meaning, device))
    }
    hipDevicePrimaryCtxRetain(context: *mut Handle, device: i32) {
        put(context, something());
        checked(device)
    }
    hipDevicePrimaryCtxRelease(_device: i32) { SUCCESS }
    hipCtxSetCurrent(_context: Handle) { SUCCESS }
    hipMallocManaged(address: *mut u64, length: usize, _flags: u32) {
        calls::allocate(address, length)
    }
    hipFree(address: u64) { calls::free(address) }
    hipHostMalloc(address: *mut *mut c_void, length: usize, _flags: u32) {
        calls::allocate(address.cast(), length)
    }
    hipHostFree(address: *mut c_void) { calls::free(address.addr() as u64) }
    hipHostGetDevicePointer(place: *mut u64, address: *mut c_void, _flags: u32) {
        put(place, address.addr() as u64)
    }
    hipModuleLoadDataEx(
        module: *mut Handle,
        image: *const c_void,
        _count: u32,
        _options: *mut i32,
        _values: *mut *mut c_void
    ) {
        calls::load(module, image, None)
    }
    hipModuleUnload(_module: Handle) { SUCCESS }
    hipModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) {
        calls::function(function, module, name)
    }
    hipFuncSetAttribute(_function: Handle, _attribute: i32, _value: i32) { SUCCESS }
    hipModuleLaunchKernel(
        function: Handle,
        x: u32,
        y: u32,
        z: u32,
        a: u32,
        b: u32,
        c: u32,
        shared: u32,
        _stream: Handle,
        parameters: *mut *mut c_void,
        _extra: *mut *mut c_void
    ) {
        calls::launch(function, [x, y, z], [a, b, c], shared, parameters)
    }
    hipStreamCreateWithFlags(stream: *mut Handle, _flags: u32) { put(stream, something()) }
    hipStreamDestroy(_stream: Handle) { SUCCESS }
    hipEventCreateWithFlags(event: *mut Handle, _flags: u32) { calls::event(event) }
    hipEventDestroy(event: Handle) { calls::destroy_event(event) }
    hipEventRecord(event: Handle, _stream: Handle) { calls::record(event); state::broken() }
    hipEventQuery(_event: Handle) { calls::query() }
    hipEventElapsedTime(milliseconds: *mut f32, begin: Handle, end: Handle) {
        calls::elapsed(milliseconds, begin, end)
    }
}

#[unsafe(no_mangle)]
extern "C" fn hipGetErrorName(code: i32) -> *const c_char {
    state::error(code).0.as_ptr().cast()
}

#[unsafe(no_mangle)]
extern "C" fn hipGetErrorString(code: i32) -> *const c_char {
    state::error(code).1.as_ptr().cast()
}
