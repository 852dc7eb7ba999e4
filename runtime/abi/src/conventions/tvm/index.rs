//! Type indices, which say what a tagged value holds. Indices from 64 on are counted objects; from
//! 128 on they are assigned at run time.

/// A row for each static index: number, name in the C headers, key in schemas and messages.
pub const INDICES: [(i32, &str, &str); 30] = [
    (-1, "kTVMFFIAny", "Any"),
    (NONE, "kTVMFFINone", "None"),
    (INT, "kTVMFFIInt", "int"),
    (BOOL, "kTVMFFIBool", "bool"),
    (FLOAT, "kTVMFFIFloat", "float"),
    (OPAQUE_PTR, "kTVMFFIOpaquePtr", "void*"),
    (DATA_TYPE, "kTVMFFIDataType", "DataType"),
    (DEVICE, "kTVMFFIDevice", "Device"),
    (DL_TENSOR_PTR, "kTVMFFIDLTensorPtr", "DLTensor*"),
    (RAW_STR, "kTVMFFIRawStr", "const char*"),
    (BYTE_ARRAY_PTR, "kTVMFFIByteArrayPtr", "TVMFFIByteArray*"),
    (10, "kTVMFFIObjectRValueRef", "ObjectRValueRef"),
    (SMALL_STR, "kTVMFFISmallStr", "ffi.SmallStr"),
    (SMALL_BYTES, "kTVMFFISmallBytes", "ffi.SmallBytes"),
    (13, "kTVMFFIUnchanged", "ffi.Unchanged"),
    (OBJECT, "kTVMFFIObject", "ffi.Object"),
    (STR, "kTVMFFIStr", "ffi.String"),
    (BYTES, "kTVMFFIBytes", "ffi.Bytes"),
    (ERROR, "kTVMFFIError", "ffi.Error"),
    (FUNCTION, "kTVMFFIFunction", "ffi.Function"),
    (SHAPE, "kTVMFFIShape", "ffi.Shape"),
    (TENSOR, "kTVMFFITensor", "ffi.Tensor"),
    (ARRAY, "kTVMFFIArray", "ffi.Array"),
    (MAP, "kTVMFFIMap", "ffi.Map"),
    (MODULE, "kTVMFFIModule", "ffi.Module"),
    (OPAQUE_PY_OBJECT, "kTVMFFIOpaquePyObject", "ffi.OpaquePyObject"),
    (LIST, "kTVMFFIList", "ffi.List"),
    (DICT, "kTVMFFIDict", "ffi.Dict"),
    (77, "kTVMFFIVisitInterrupt", "ffi.VisitInterrupt"),
    (78, "kTVMFFIBigInt", "ffi.BigInt"),
];

/// No value.
pub const NONE: i32 = 0;
/// An integer of 64 bits.
pub const INT: i32 = 1;
/// A truth value.
pub const BOOL: i32 = 2;
/// A float of 64 bits.
pub const FLOAT: i32 = 3;
/// An address.
pub(crate) const OPAQUE_PTR: i32 = 4;
/// A DLPack data type.
pub(crate) const DATA_TYPE: i32 = 5;
/// A DLPack device.
pub const DEVICE: i32 = 6;
/// A borrowed tensor.
pub const DL_TENSOR_PTR: i32 = 7;
/// A C string.
pub const RAW_STR: i32 = 8;
/// Borrowed bytes.
pub const BYTE_ARRAY_PTR: i32 = 9;
/// A string of at most 7 bytes.
pub const SMALL_STR: i32 = 11;
/// At most 7 bytes.
pub const SMALL_BYTES: i32 = 12;
/// The first counted object.
pub const OBJECT: i32 = 64;
/// A string.
pub const STR: i32 = 65;
/// Bytes.
pub const BYTES: i32 = 66;
/// An error.
pub const ERROR: i32 = 67;
/// A function.
pub const FUNCTION: i32 = 68;
/// A shape.
pub const SHAPE: i32 = 69;
/// A tensor.
pub const TENSOR: i32 = 70;
/// An immutable sequence.
pub const ARRAY: i32 = 71;
/// An immutable map.
pub const MAP: i32 = 72;
/// A module.
pub const MODULE: i32 = 73;
/// A Python object that has no other form.
pub(crate) const OPAQUE_PY_OBJECT: i32 = 74;
/// A mutable sequence.
pub const LIST: i32 = 75;
/// A mutable map.
pub const DICT: i32 = 76;
/// The first index that is assigned at run time.
pub(crate) const DYNAMIC_BEGIN: i32 = 128;

/// The key of a static index.
#[must_use]
pub fn key(index: i32) -> Option<&'static str> {
    INDICES.iter().find(|(number, ..)| *number == index).map(|(_, _, key)| *key)
}

/// The name of an index for messages.
#[must_use]
pub fn describe(index: i32) -> String {
    match key(index) {
        Some(key) => key.to_owned(),
        None if index >= DYNAMIC_BEGIN => format!("an object of the dynamic type {index}"),
        None => format!("unknown type index {index}"),
    }
}
