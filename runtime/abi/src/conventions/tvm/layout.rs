//! The structs of TVM FFI and DLPack on 64-bit machines, field by field, with assertions that their
//! fields have C's offsets.
//!
//! Objects begin with [`ObjectHeader`]; their own struct follows at byte 24. The crate that calls
//! libraries reads and writes these; here they are plain data.

use std::ffi::{c_char, c_int, c_void};
use std::mem::{offset_of, size_of};

/// A value or a reference, with the index of its type.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Any {
    /// The type of its contents; see [`super::index`].
    pub type_index: i32,
    /// The length of a small string; otherwise 0.
    pub small_len: u32,
    /// The value or an address. Unused bytes are 0.
    pub payload: u64,
}

/// The C signature of all functions.
pub type SafeCall = unsafe extern "C" fn(
    handle: *mut c_void,
    args: *const Any,
    count: c_int,
    result: *mut Any,
) -> c_int;

/// The header with which every object begins.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObjectHeader {
    /// Strong references in the low half, weak ones in the high half.
    pub combined_ref_count: u64,
    /// The index of its type.
    pub type_index: i32,
    /// 0
    pub padding: u32,
    /// Called when a count reaches 0; flags say which.
    pub deleter: Option<unsafe extern "C" fn(object: *mut c_void, flags: c_int)>,
}

/// A range of bytes in memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ByteArray {
    /// The first.
    pub data: *const c_char,
    /// How many.
    pub size: usize,
}

/// A shape: after the header of its object.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ShapeCell {
    /// The first length.
    pub data: *const i64,
    /// How many.
    pub size: usize,
}

/// An array or a list: after the header of its object.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SequenceCell {
    /// The first item.
    pub data: *mut Any,
    /// How many.
    pub size: i64,
    /// The capacity.
    pub capacity: i64,
    /// Frees the items, if they are not in the object itself.
    pub data_deleter: Option<unsafe extern "C" fn(data: *mut c_void)>,
}

/// An error: after the header of its object.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ErrorCell {
    /// `ValueError`, `TypeError`, …
    pub kind: ByteArray,
    /// The error message.
    pub message: ByteArray,
    /// One line per frame, ` File "…", line N, in …`, the most recent call first.
    pub backtrace: ByteArray,
    /// Replaces the backtrace (mode 0) or adds to it (mode 1).
    pub update_backtrace:
        Option<unsafe extern "C" fn(object: *mut c_void, text: *const ByteArray, mode: i32)>,
    /// The error that caused it, or null.
    pub cause_chain: *mut c_void,
    /// Any object, or null.
    pub extra_context: *mut c_void,
}

/// A function: after the header of its object.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FunctionCell {
    /// The function to call, with the object as its handle.
    pub safe_call: Option<SafeCall>,
    /// For C++ only.
    pub cpp_call: *mut c_void,
}

/// The device of a tensor.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DlDevice {
    /// 1 is the CPU.
    pub device_type: i32,
    /// Its number among devices of that type.
    pub device_id: i32,
}

/// The type of a tensor's elements.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DlDataType {
    /// Int 0, unsigned 1, float 2, bfloat 4, complex 5, bool 6, …
    pub code: u8,
    /// Bits of one element.
    pub bits: u8,
    /// Elements of a vector; 1 otherwise.
    pub lanes: u16,
}

/// A tensor: after the header of its object, or by itself.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DlTensor {
    /// Its memory.
    pub data: *mut c_void,
    /// Its device.
    pub device: DlDevice,
    /// Its rank.
    pub ndim: i32,
    /// What it holds.
    pub dtype: DlDataType,
    /// Lengths, outermost first.
    pub shape: *mut i64,
    /// The strides in elements; old producers pass null for a dense tensor.
    pub strides: *mut i64,
    /// The offset of the first element, in bytes.
    pub byte_offset: u64,
}

/// A tensor whose ownership can be passed on.
#[repr(C)]
#[derive(Debug)]
pub struct DlManagedTensorVersioned {
    /// The DLPack version: major, minor.
    pub version: [u32; 2],
    /// The producer's context.
    pub manager_ctx: *mut c_void,
    /// Called once, by the receiver, to release the tensor.
    pub deleter: Option<unsafe extern "C" fn(tensor: *mut DlManagedTensorVersioned)>,
    /// Read-only 1, copied 2.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DlTensor,
}

/// Asserts the sizes of structs and the offsets of their fields at compile time.
macro_rules! assert_layout {
    ($($ty:ident: $size:literal { $($field:ident: $offset:literal),* })*) => {
        #[cfg(target_pointer_width = "64")]
        const _: () = {
            $(
                assert!(size_of::<$ty>() == $size);
                $(assert!(offset_of!($ty, $field) == $offset);)*
            )*
        };
    };
}

assert_layout! {
    Any: 16 { type_index: 0, small_len: 4, payload: 8 }
    ObjectHeader: 24 { combined_ref_count: 0, type_index: 8, deleter: 16 }
    ByteArray: 16 { data: 0, size: 8 }
    ShapeCell: 16 { data: 0, size: 8 }
    SequenceCell: 32 { data: 0, size: 8, capacity: 16, data_deleter: 24 }
    ErrorCell: 72 {
        kind: 0, message: 16, backtrace: 32, update_backtrace: 48, cause_chain: 56,
        extra_context: 64
    }
    FunctionCell: 16 { safe_call: 0, cpp_call: 8 }
    DlDevice: 8 { device_type: 0, device_id: 4 }
    DlDataType: 4 { code: 0, bits: 1, lanes: 2 }
    DlTensor: 48 {
        data: 0, device: 8, ndim: 16, dtype: 20, shape: 24, strides: 32, byte_offset: 40
    }
    DlManagedTensorVersioned: 80 {
        version: 0, manager_ctx: 8, deleter: 16, flags: 24, dl_tensor: 32
    }
}

/// The device type of the CPU.
pub const CPU: i32 = 1;

/// DLPack's names of device types.
const DEVICES: [(i32, &str); 15] = [
    (CPU, "cpu"),
    (2, "cuda"),
    (3, "cuda_host"),
    (4, "opencl"),
    (7, "vulkan"),
    (8, "metal"),
    (9, "vpi"),
    (10, "rocm"),
    (11, "rocm_host"),
    (12, "ext_dev"),
    (13, "cuda_managed"),
    (14, "oneapi"),
    (15, "webgpu"),
    (16, "hexagon"),
    (17, "maia"),
];

/// Whether the CPU reads and writes memory of a device type: its own, or what is pinned for others.
#[must_use]
pub fn is_host_memory(device_type: i32) -> bool {
    device_name(device_type).ends_with("_host") || device_type == CPU
}

/// DLPack's name of a device type.
#[must_use]
pub fn device_name(device_type: i32) -> String {
    let known = DEVICES.iter().find(|(known, _)| *known == device_type);
    known.map_or_else(|| format!("device type {device_type}"), |(_, name)| (*name).to_owned())
}
