//! Reference-counted objects of TVM FFI: owning them, reading them, and lending tensors in both
//! directions.
//!
//! # Soundness
//!
//! An [`Object`] owns one strong reference and releases it when it is dropped. The cells after
//! object headers are read only for the type indices that have them, and copied at once. The lender
//! keeps a tensor's memory alive: for a foreign tensor that is its object; for a tensor of this
//! program, the buffer view that a DLPack manager holds.

use std::cell::RefCell;
use std::ffi::c_void;
use std::fmt::Display;
use std::ptr::NonNull;
use std::sync::Arc;

use abi::element_type::ElementType;
use abi::signature::{ScalarType, Signedness};
use abi::tvm::index;
use abi::tvm::layout::{
    Any, ByteArray, CPU, DlDataType, DlDevice, DlManagedTensorVersioned, DlTensor, ErrorCell,
    ObjectHeader, SequenceCell, ShapeCell,
};
use hal::{
    BufferParameters, BufferUsage, BufferView, Encoding, Host, MemoryAccess, MemoryType, Origin,
};
use vm::Access;

use super::core::{Core, Handle, byte_array};
use super::error::FfiError;
use super::lenders::{Lenders, Place};
use super::strided;

/// The size of the header of every object, in bytes.
const HEADER: usize = size_of::<ObjectHeader>();

/// A strong reference to an object.
pub(super) struct Object {
    core: &'static Core,
    handle: NonNull<c_void>,
}

// SAFETY: reference counts are atomic, and objects may be shared between threads by the library's
// own rules.
unsafe impl Send for Object {}
// SAFETY: as for `Send`.
unsafe impl Sync for Object {}

impl std::fmt::Debug for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Object({:p})", self.handle)
    }
}

impl Object {
    /// Takes over a reference.
    ///
    /// # Safety
    /// `handle` is an object, and the caller owns one of its strong references, which it gives up.
    pub(crate) unsafe fn owned(core: &Core, handle: Handle) -> Self {
        // SAFETY: the only `Core` lives in a static.
        let core = unsafe { &*std::ptr::from_ref(core) };
        Self { core, handle: NonNull::new(handle).unwrap_or(NonNull::dangling()) }
    }

    /// Adds a reference to an object that something else keeps alive for now.
    ///
    /// # Safety
    /// `handle` is an object that is alive.
    pub(crate) unsafe fn shared(core: &Core, handle: Handle) -> Self {
        // SAFETY: the object is alive.
        unsafe { (core.inc_ref)(handle) };
        // SAFETY: the reference was just made.
        unsafe { Self::owned(core, handle) }
    }

    /// A global function of the library, `ffi.Array` for one.
    ///
    /// # Errors
    /// The library has none of that name.
    pub(crate) fn global(core: &Core, name: &str) -> Result<Self, FfiError> {
        let mut handle: Handle = std::ptr::null_mut();
        let text = byte_array(name.as_bytes());
        // SAFETY: the name lives until the call is over.
        let code = unsafe { (core.function_global)(&text, &mut handle) };
        if code != 0 || handle.is_null() {
            return Err(FfiError::new(
                "RuntimeError",
                format!("TVM FFI has no global function {name}"),
            ));
        }
        // SAFETY: the library returned a strong reference.
        Ok(unsafe { Self::owned(core, handle) })
    }

    /// The address.
    pub(crate) fn handle(&self) -> Handle {
        self.handle.as_ptr()
    }

    /// Gives up the reference to the caller.
    pub(crate) fn into_handle(self) -> Handle {
        let handle = self.handle();
        std::mem::forget(self);
        handle
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: the reference is owned.
        unsafe { (self.core.dec_ref)(self.handle()) };
    }
}

/// The cell after an object's header.
///
/// # Safety
/// The object's type has such a cell, and it is alive.
unsafe fn cell<T: Copy>(handle: u64) -> T {
    // SAFETY: as the caller promises. The read needs no alignment.
    unsafe { ((handle as usize + HEADER) as *const T).read_unaligned() }
}

/// Copies the bytes that a cell points to.
///
/// # Safety
/// The array belongs to an object or argument that is alive.
unsafe fn copy(array: ByteArray) -> Vec<u8> {
    if array.data.is_null() || array.size == 0 {
        return Vec::new();
    }
    // SAFETY: as the caller promises.
    unsafe { std::slice::from_raw_parts(array.data.cast::<u8>(), array.size) }.to_vec()
}

/// The text or bytes of a value; `None` if it is none of them.
///
/// # Safety
/// The value is alive.
pub(crate) unsafe fn bytes_of(any: &Any) -> Option<Vec<u8>> {
    match any.type_index {
        index::SMALL_STR | index::SMALL_BYTES => {
            let length = (any.small_len as usize).min(7);
            Some(any.payload.to_le_bytes()[..length].to_vec())
        }
        index::RAW_STR => {
            // SAFETY: a value of this type is the address of a C string.
            let text = unsafe { std::ffi::CStr::from_ptr(any.payload as *const _) };
            Some(text.to_bytes().to_vec())
        }
        index::BYTE_ARRAY_PTR => {
            // SAFETY: a value of this type is the address of an array of bytes.
            let bytes = unsafe { copy((any.payload as *const ByteArray).read_unaligned()) };
            Some(bytes)
        }
        // SAFETY: strings and bytes have such a cell.
        index::STR | index::BYTES => Some(unsafe { copy(cell(any.payload)) }),
        _ => None,
    }
}

/// The items of an array, a list or a shape; `None` if it is none of them.
///
/// # Safety
/// The value is alive.
pub(crate) unsafe fn items_of(any: &Any) -> Option<Vec<Any>> {
    match any.type_index {
        index::ARRAY | index::LIST => {
            // SAFETY: arrays and lists have such a cell.
            let sequence: SequenceCell = unsafe { cell(any.payload) };
            let count = usize::try_from(sequence.size).ok()?;
            if count == 0 {
                return Some(Vec::new());
            }
            // SAFETY: the cell has the address and number of the items.
            Some(unsafe { std::slice::from_raw_parts(sequence.data, count) }.to_vec())
        }
        index::SHAPE => {
            // SAFETY: shapes have such a cell.
            let shape: ShapeCell = unsafe { cell(any.payload) };
            if shape.size == 0 {
                return Some(Vec::new());
            }
            // SAFETY: the cell has the address and number of the lengths.
            let lengths = unsafe { std::slice::from_raw_parts(shape.data, shape.size) };
            Some(lengths.iter().map(|length| Any::int(*length)).collect())
        }
        _ => None,
    }
}

/// Takes the error of a failed call.
pub(crate) fn raised(core: &Core) -> FfiError {
    let mut handle: Handle = std::ptr::null_mut();
    // SAFETY: the library writes the address of an error object, or null.
    unsafe { (core.error_take)(&mut handle) };
    if handle.is_null() {
        return FfiError::new("RuntimeError", "the function failed and left no error");
    }
    // SAFETY: the library moved the reference to the caller.
    let error = unsafe { Object::owned(core, handle) };
    // SAFETY: `error` keeps the object alive.
    unsafe { error_of(error.handle()) }
}

/// The contents of an error object.
///
/// # Safety
/// `handle` is an error object that is alive.
pub(crate) unsafe fn error_of(handle: Handle) -> FfiError {
    // SAFETY: errors have such a cell.
    let error: ErrorCell = unsafe { cell(handle as u64) };
    // SAFETY: the object, which is alive, keeps its texts.
    let text = |array| String::from_utf8_lossy(&unsafe { copy(array) }).into_owned();
    FfiError {
        kind: text(error.kind),
        message: text(error.message),
        backtrace: text(error.backtrace),
    }
}

/// The parameters of buffers for imported tensors.
fn parameters() -> BufferParameters {
    BufferParameters {
        memory_type: MemoryType::DEVICE_LOCAL,
        usage: BufferUsage::DEFAULT | BufferUsage::MAPPING,
        access: MemoryAccess::ALL,
    }
}

/// A foreign tensor as a buffer view. The memory is shared if it is dense, starts at a multiple of
/// `alignment` bytes, belongs to an object that can be kept, and is no other tensor's of `lenders`;
/// otherwise it is copied, and `lenders` know the copy.
///
/// # Safety
/// The value holds a tensor (index 7 or 70) that is alive.
pub(crate) unsafe fn import(
    core: &Core,
    host: &Host,
    any: &Any,
    alignment: usize,
    lenders: Option<&RefCell<Lenders>>,
) -> Result<BufferView, FfiError> {
    let is_object = any.type_index == index::TENSOR;
    // SAFETY: tensor objects have such a cell; a value of the other type is the address of the
    // tensor itself.
    let tensor: DlTensor = unsafe {
        if is_object {
            cell(any.payload)
        } else {
            (any.payload as *const DlTensor).read_unaligned()
        }
    };
    let fail = |message: &dyn Display| FfiError::new("ValueError", message);
    if !abi::tvm::layout::is_host_memory(tensor.device.device_type) {
        return Err(fail(&format_args!(
            "the tensor is on {}, programs here run on the CPU; copy it to the CPU first",
            abi::tvm::layout::device_name(tensor.device.device_type)
        )));
    }
    let element_type = element_type(tensor.dtype).ok_or_else(|| {
        FfiError::new(
            "TypeError",
            format!("buffer views have no elements of type {}", tensor.dtype.name()),
        )
    })?;
    let rank = usize::try_from(tensor.ndim).map_err(|_| fail(&"a tensor of negative rank"))?;
    let words = |data: *const i64| match rank {
        0 => Vec::new(),
        // SAFETY: a tensor has as many lengths and strides as dimensions.
        _ => unsafe { std::slice::from_raw_parts(data, rank) }.to_vec(),
    };
    let sizes = words(tensor.shape);
    let dense = abi::mlir::descriptor::Descriptor::dense(0, &sizes);
    let strides =
        if tensor.strides.is_null() { dense.strides.clone() } else { words(tensor.strides) };
    let mut descriptor = dense;
    let is_dense = sizes.contains(&0)
        || strides
            .iter()
            .zip(&descriptor.strides)
            .zip(&sizes)
            .all(|((found, wanted), size)| *size == 1 || found == wanted);
    descriptor.strides = strides;
    let count = descriptor.element_count().map_err(|error| fail(&error))?;
    let width = element_type.byte_count();
    let length =
        count.checked_mul(width).ok_or_else(|| fail(&"the tensor is larger than memory"))?;
    let address = (tensor.data as u64).wrapping_add(tensor.byte_offset);
    let shape = sizes.iter().map(|size| size.cast_unsigned()).collect();
    let span = descriptor.span().map_err(|error| fail(&error))?;
    let place = Place { address, sizes, strides: descriptor.strides, width };
    let is_alone = match (lenders, span) {
        (Some(lenders), Some((low, high))) => {
            lenders.borrow_mut().meet(&place, low, high).map_err(|error| fail(&error))?
        }
        _ => true,
    };
    let storage = match NonNull::new(address as *mut u8) {
        Some(data)
            if is_object
                && is_dense
                && is_alone
                && length > 0
                && (address as usize).is_multiple_of(alignment) =>
        {
            // SAFETY: the value is an object that is alive.
            let keeper = Box::new(unsafe { Object::shared(core, any.payload as Handle) });
            // SAFETY: the object, which the keeper keeps alive, owns `length` bytes at `data`.
            Arc::new(unsafe { vm::Buffer::foreign(data, length, Access::ReadWrite, keeper) })
        }
        _ => {
            let memory = |status: vm::Status| FfiError::new("MemoryError", status.to_string());
            let copy = vm::Buffer::dense(length).map_err(memory)?;
            let copy = Arc::new(copy);
            if length > 0 && span.is_some() {
                let Place { sizes, strides, .. } = &place;
                // SAFETY: the tensor is alive and vouches for its elements; the copy is new, and
                // has room for all of them.
                unsafe {
                    strided::gather(address as *const u8, sizes, strides, width, copy.address());
                }
                if let Some(lenders) = lenders {
                    lenders.borrow_mut().copied(place, &copy);
                }
            }
            copy
        }
    };
    let buffer = host.device().allocator().wrap(storage, parameters(), Origin::Host);
    Ok(BufferView::new(buffer, shape, element_type.code(), Encoding::DENSE_ROW_MAJOR))
}

fn element_type(dtype: DlDataType) -> Option<ElementType> {
    let scalar = match dtype.scalar()? {
        // Signed integers of NumPy and others are signless integers in programs.
        ScalarType::Integer(Signedness::Signed, bits) => ScalarType::signless(bits),
        other => other,
    };
    scalar.element_type().filter(|ty| !ty.is_packed())
}

/// DLPack's data type for the elements of a buffer view.
pub(crate) fn data_type(element_type: ElementType) -> Option<DlDataType> {
    let name = element_type.to_string();
    let scalar = match name.strip_prefix("cf") {
        Some(bits) => {
            ScalarType::Complex(Box::new(ScalarType::Float(bits.parse::<u32>().ok()? / 2)))
        }
        None => ScalarType::parse(&name)?,
    };
    DlDataType::of(&scalar).filter(|_| !element_type.is_packed())
}

/// A buffer view, lent as a tensor.
pub(crate) struct Lent {
    _view: BufferView,
    _storage: Arc<vm::Buffer>,
    shape: Box<[i64]>,
    strides: Box<[i64]>,
    tensor: Box<DlTensor>,
}

impl Lent {
    pub(crate) fn new(view: &BufferView) -> Result<Self, FfiError> {
        let fail = |message: &dyn Display| FfiError::new("TypeError", message);
        let element_type = ElementType::from_any_code(view.element_code());
        let dtype = data_type(element_type)
            .ok_or_else(|| fail(&format_args!("DLPack has no elements of type {element_type}")))?;
        let length = view.byte_length().ok_or_else(|| fail(&"the tensor is larger than memory"))?;
        let storage = view.buffer().view(0, length).map_err(|status| fail(&status))?;
        // The receiver may write, so read-only memory is lent as a copy.
        let storage = if storage.access() == Access::ReadWrite {
            storage
        } else {
            let bytes = storage.read(0, length);
            Arc::new(vm::Buffer::from_bytes(&bytes).map_err(|status| fail(&status))?)
        };
        let sizes: Option<Vec<i64>> =
            view.shape().iter().map(|size| i64::try_from(*size).ok()).collect();
        let sizes = sizes.ok_or_else(|| fail(&"a dimension does not fit 63 bits"))?;
        let strides = abi::mlir::descriptor::Descriptor::dense(0, &sizes).strides;
        let (mut shape, mut strides) = (sizes.into_boxed_slice(), strides.into_boxed_slice());
        let tensor = Box::new(DlTensor {
            data: storage.address().cast(),
            device: DlDevice { device_type: CPU, device_id: 0 },
            ndim: shape.len() as i32,
            dtype,
            shape: shape.as_mut_ptr(),
            strides: strides.as_mut_ptr(),
            byte_offset: 0,
        });
        Ok(Self { _view: view.clone(), _storage: storage, shape, strides, tensor })
    }

    /// A tensor object that shares the memory and keeps it alive.
    pub(crate) fn into_object(self, core: &Core) -> Result<Object, FfiError> {
        unsafe extern "C" fn delete(tensor: *mut DlManagedTensorVersioned) {
            // SAFETY: called once, with a tensor from `into_object`.
            unsafe {
                let managed = Box::from_raw(tensor);
                drop(Box::from_raw(managed.manager_ctx.cast::<Lent>()));
            }
        }
        let dl_tensor = *self.tensor;
        debug_assert_eq!(
            (self.shape.len(), self.strides.len()),
            (dl_tensor.ndim as usize, dl_tensor.ndim as usize)
        );
        let managed = Box::new(DlManagedTensorVersioned {
            version: [1, 3],
            manager_ctx: Box::into_raw(Box::new(self)).cast(),
            deleter: Some(delete),
            flags: 0,
            dl_tensor,
        });
        let managed = Box::into_raw(managed);
        let mut handle: Handle = std::ptr::null_mut();
        // SAFETY: a managed tensor by DLPack's rules. The library takes it over if it succeeds.
        let code = unsafe { (core.tensor_from_dlpack)(managed, 0, 0, &mut handle) };
        if code != 0 || handle.is_null() {
            // SAFETY: the library has not taken it over.
            unsafe { delete(managed) };
            return Err(raised(core));
        }
        // SAFETY: the library returned a strong reference to a new object.
        Ok(unsafe { Object::owned(core, handle) })
    }
}
