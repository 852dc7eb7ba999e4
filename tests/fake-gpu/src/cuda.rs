//! The functions of `cuda.h` that IREE's runtime and `iree-dbg` call.

#![allow(non_snake_case, reason = "the names are those of the interface")]

use std::ffi::{CStr, c_char, c_void};

use crate::calls::{self, Handle, checked, put, something};
use crate::state::{self, NOT_SUPPORTED, SUCCESS};

/// Declares functions that the library exports, and the table by which they are asked for.
macro_rules! functions {
    ($($name:ident($($parameter:ident: $kind:ty),*) $body:block)*) => {
        $(
            /// # Safety
            /// As `cuda.h` has it: what is pointed to can be read or written as is said there.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($parameter: $kind),*) -> i32 {
                $(let _ = &$parameter;)*
                // SAFETY: by the contract.
                #[allow(unused_unsafe, reason = "some touch nothing")]
                unsafe { $body }
            }
        )*

        /// A function by its name.
        fn by_name(name: &str) -> Option<*mut c_void> {
            $(if name == stringify!($name) {
                return Some($name as *mut c_void);
            })*
            // Newer forms of a function have the same name there.
            (!name.ends_with("_v2")).then(|| by_name(&format!("{name}_v2"))).flatten()
        }
    };
}

functions! {
    cuInit(_flags: u32) { if state::device_count() == 0 { 100 } else { SUCCESS } }
    cuDriverGetVersion(version: *mut i32) { put(version, 12_080) }
    cuGetErrorName(code: i32, name: *mut *const c_char) {
        put(name, state::error(code).0.as_ptr().cast())
    }
    cuGetErrorString(code: i32, text: *mut *const c_char) {
        put(text, state::error(code).1.as_ptr().cast())
    }
    cuDeviceGetCount(count: *mut i32) { put(count, state::device_count()) }
    cuDeviceGet(device: *mut i32, index: i32) { put(device, index); checked(index) }
    cuDeviceGetName(name: *mut c_char, length: i32, device: i32) {
        calls::put_name(name, length, device)
    }
    cuDeviceGetUuid(uuid: *mut [u8; 16], device: i32) { put(uuid, [0xC0 + device as u8; 16]) }
    cuDeviceGetAttribute(value: *mut i32, attribute: i32, device: i32) {
        let meaning = match attribute {
            1 => "threads",
            2 => "block x",
            3 => "block y",
            4 => "block z",
            5 => "grid x",
            6 => "grid y",
            7 => "grid z",
            8 | 97 => "shared",
            10 => "warp",
            19 => "mapped",
            41 => "unified",
            75 => "major",
            89 => "managed",
            _ => "unknown",
        };
        put(value, calls::attribute(meaning, device))
    }
    cuDevicePrimaryCtxRetain(context: *mut Handle, device: i32) {
        put(context, something());
        checked(device)
    }
    cuDevicePrimaryCtxRelease_v2(_device: i32) { SUCCESS }
    cuCtxCreate(context: *mut Handle, _flags: u32, _device: i32) { put(context, something()) }
    cuCtxDestroy(_context: Handle) { SUCCESS }
    cuCtxSetCurrent(_context: Handle) { SUCCESS }
    cuCtxPushCurrent(_context: Handle) { SUCCESS }
    cuCtxPopCurrent(context: *mut Handle) {
        if !context.is_null() {
            put(context, something());
        }
        SUCCESS
    }
    cuMemAllocManaged(address: *mut u64, length: usize, _flags: u32) {
        calls::allocate(address, length)
    }
    cuMemAlloc(address: *mut u64, length: usize) { calls::allocate(address, length) }
    cuMemFree_v2(address: u64) { calls::free(address) }
    cuMemHostAlloc(address: *mut *mut c_void, length: usize, _flags: u32) {
        calls::allocate(address.cast(), length)
    }
    cuMemFreeHost(address: *mut c_void) { calls::free(address.addr() as u64) }
    cuMemHostGetDevicePointer_v2(place: *mut u64, address: *mut c_void, _flags: u32) {
        put(place, address.addr() as u64)
    }
    cuMemHostRegister(_address: *mut c_void, _length: usize, _flags: u32) { NOT_SUPPORTED }
    cuMemHostUnregister(_address: *mut c_void) { NOT_SUPPORTED }
    cuMemPrefetchAsync(_address: u64, _length: usize, _device: i32, _stream: Handle) { SUCCESS }
    cuMemAllocFromPoolAsync(address: *mut u64, length: usize, _pool: Handle, _stream: Handle) {
        calls::allocate(address, length)
    }
    cuMemFreeAsync(address: u64, _stream: Handle) { calls::free(address) }
    cuMemPoolCreate(pool: *mut Handle, _properties: *const c_void) { put(pool, something()) }
    cuMemPoolDestroy(_pool: Handle) { SUCCESS }
    cuMemPoolSetAccess(_pool: Handle, _accesses: *const c_void, _count: usize) { SUCCESS }
    cuMemPoolGetAttribute(_pool: Handle, _attribute: i32, value: *mut u64) { put(value, 0) }
    cuMemPoolSetAttribute(_pool: Handle, _attribute: i32, _value: *mut u64) { SUCCESS }
    cuMemPoolTrimTo(_pool: Handle, _length: usize) { SUCCESS }
    cuMemcpyAsync(to: *mut u8, from: *const u8, length: usize, _stream: Handle) {
        from.copy_to(to, length);
        state::broken()
    }
    cuMemcpyHtoDAsync(to: *mut u8, from: *const u8, length: usize, _stream: Handle) {
        from.copy_to(to, length);
        state::broken()
    }
    cuMemsetD8Async(to: *mut u8, value: u8, count: usize, _stream: Handle) {
        (0..count).for_each(|index| to.add(index).write_unaligned(value));
        SUCCESS
    }
    cuMemsetD16Async(to: *mut u16, value: u16, count: usize, _stream: Handle) {
        (0..count).for_each(|index| to.add(index).write_unaligned(value));
        SUCCESS
    }
    cuMemsetD32Async(to: *mut u32, value: u32, count: usize, _stream: Handle) {
        (0..count).for_each(|index| to.add(index).write_unaligned(value));
        SUCCESS
    }
    cuModuleLoadDataEx(
        module: *mut Handle,
        image: *const c_void,
        count: u32,
        options: *mut i32,
        values: *mut *mut c_void
    ) {
        let all = (0..count as usize).map(|index| (*options.add(index), *values.add(index)));
        let (mut log, mut length) = (None, 0);
        all.for_each(|(option, value)| match option {
            5 => log = Some(value.cast::<u8>()),
            6 => length = value.addr(),
            _ => {}
        });
        calls::load(module, image, log.map(|log| (log, length)))
    }
    cuModuleUnload(_module: Handle) { SUCCESS }
    cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) {
        calls::function(function, module, name)
    }
    cuModuleGetGlobal(_place: *mut u64, _size: *mut usize, _module: Handle, _name: *const c_char) {
        state::NOT_FOUND
    }
    cuFuncSetAttribute(_function: Handle, _attribute: i32, _value: i32) { SUCCESS }
    cuLaunchKernel(
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
    cuLaunchHostFunc(_stream: Handle, run: extern "C" fn(*mut c_void), data: *mut c_void) {
        let data = data.expose_provenance();
        // As with a driver, it is not the thread that asks for it.
        std::thread::spawn(move || run(std::ptr::with_exposed_provenance_mut(data)));
        SUCCESS
    }
    cuStreamCreate(stream: *mut Handle, _flags: u32) { put(stream, something()) }
    cuStreamDestroy_v2(_stream: Handle) { SUCCESS }
    cuStreamSynchronize(_stream: Handle) { state::broken() }
    cuStreamWaitEvent(_stream: Handle, _event: Handle, _flags: u32) { SUCCESS }
    cuEventCreate(event: *mut Handle, _flags: u32) { calls::event(event) }
    cuEventDestroy_v2(event: Handle) { calls::destroy_event(event) }
    cuEventRecord(event: Handle, _stream: Handle) { calls::record(event); state::broken() }
    cuEventQuery(_event: Handle) { calls::query() }
    cuEventSynchronize(_event: Handle) { state::broken() }
    cuEventElapsedTime(milliseconds: *mut f32, begin: Handle, end: Handle) {
        calls::elapsed(milliseconds, begin, end)
    }
    cuGetProcAddress(name: *const c_char, function: *mut *mut c_void, _version: i32, _flags: u64) {
        let name = CStr::from_ptr(name).to_string_lossy();
        // Graphs are not here.
        put(function, by_name(&name).unwrap_or(unsupported as *mut c_void))
    }
}

/// In the place of a function that is not here.
unsafe extern "C" fn unsupported() -> i32 {
    NOT_SUPPORTED
}
