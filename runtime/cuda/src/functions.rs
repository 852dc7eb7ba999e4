//! The functions of a driver: one table with the name of each in CUDA and in HIP.
//!
//! Types are those of a machine with 64-bit addresses, where both agree: an address of the device
//! (`CUdeviceptr`, `hipDeviceptr_t`) is a word, a device and a result are an `int`.

use std::ffi::{CStr, c_char, c_void};

use gpu::Api;
use libloading::Library;

/// What functions return: 0 for success.
pub(crate) type Code = i32;

/// A context, module, function, stream or event.
pub(crate) type Handle = *mut c_void;

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($parameter:ty),*) = $cuda:literal, $hip:literal;)*) => {
        /// The functions of an open library.
        #[derive(Debug)]
        pub(crate) struct Functions {
            names: ErrorNames,
            $($(#[$doc])* pub(crate) $name: unsafe extern "system" fn($($parameter),*) -> Code,)*
        }

        impl Functions {
            /// The functions of a library.
            ///
            /// # Errors
            /// One is missing: its name, and what the system says.
            ///
            /// # Safety
            /// The library is that of the driver, and stays open.
            pub(crate) unsafe fn of(library: &Library, api: Api) -> Result<Self, String> {
                // SAFETY: by the contract, a function of this name has this type.
                unsafe {
                    Ok(Self {
                        names: ErrorNames::of(library, api)?,
                        $($name: get(library, if api == Api::Hip { $hip } else { $cuda })?,)*
                    })
                }
            }
        }
    };
}

functions! {
    /// Before anything else: flags, which are 0.
    init(u32) = "cuInit", "hipInit";
    /// The version that the driver has.
    driver_version(*mut i32) = "cuDriverGetVersion", "hipDriverGetVersion";
    /// How many devices there are.
    device_count(*mut i32) = "cuDeviceGetCount", "hipGetDeviceCount";
    /// The device of a number.
    device_get(*mut i32, i32) = "cuDeviceGet", "hipDeviceGet";
    /// Its name, into so many bytes.
    device_name(*mut c_char, i32, i32) = "cuDeviceGetName", "hipDeviceGetName";
    /// Its universally unique identifier.
    device_uuid(*mut [u8; 16], i32) = "cuDeviceGetUuid", "hipDeviceGetUuid";
    /// One of its attributes, by the number that the interface gives it.
    device_attribute(*mut i32, i32, i32) = "cuDeviceGetAttribute", "hipDeviceGetAttribute";
    /// The context that all users of the device share.
    context_retain(*mut Handle, i32) = "cuDevicePrimaryCtxRetain", "hipDevicePrimaryCtxRetain";
    /// One user less.
    context_release(i32) = "cuDevicePrimaryCtxRelease_v2", "hipDevicePrimaryCtxRelease";
    /// The context that this thread's calls are for.
    context_set(Handle) = "cuCtxSetCurrent", "hipCtxSetCurrent";
    /// Memory that moves between host and device by pages: address, bytes, flags.
    managed_allocate(*mut u64, usize, u32) = "cuMemAllocManaged", "hipMallocManaged";
    /// Gives such memory back.
    managed_free(u64) = "cuMemFree_v2", "hipFree";
    /// Memory of the host that stays where it is: address, bytes, flags.
    host_allocate(*mut *mut c_void, usize, u32) = "cuMemHostAlloc", "hipHostMalloc";
    /// Gives such memory back.
    host_free(*mut c_void) = "cuMemFreeHost", "hipHostFree";
    /// Where the device sees such memory: the address there, the address here, flags, which are 0.
    host_device_address(*mut u64, *mut c_void, u32) =
        "cuMemHostGetDevicePointer_v2", "hipHostGetDevicePointer";
    /// An image of kernels: the module, the image, and options: how many, which, and their values.
    module_load(*mut Handle, *const c_void, u32, *mut i32, *mut *mut c_void) =
        "cuModuleLoadDataEx", "hipModuleLoadDataEx";
    /// Gives it back.
    module_unload(Handle) = "cuModuleUnload", "hipModuleUnload";
    /// A kernel of a module, by its name.
    module_function(*mut Handle, Handle, *const c_char) =
        "cuModuleGetFunction", "hipModuleGetFunction";
    /// Sets an attribute of a kernel.
    function_attribute(Handle, i32, i32) = "cuFuncSetAttribute", "hipFuncSetAttribute";
    /// A stream, with flags.
    stream_create(*mut Handle, u32) = "cuStreamCreate", "hipStreamCreateWithFlags";
    /// Gives it back.
    stream_destroy(Handle) = "cuStreamDestroy_v2", "hipStreamDestroy";
    /// Runs a kernel: workgroups, threads of each, both in x, y and z; bytes that a workgroup
    /// shares; the stream; the address of each parameter; other ways to give them.
    launch(
        Handle, u32, u32, u32, u32, u32, u32, u32, Handle, *mut *mut c_void, *mut *mut c_void
    ) = "cuLaunchKernel", "hipModuleLaunchKernel";
    /// An event, with flags.
    event_create(*mut Handle, u32) = "cuEventCreate", "hipEventCreateWithFlags";
    /// Gives it back.
    event_destroy(Handle) = "cuEventDestroy_v2", "hipEventDestroy";
    /// The event happens when the stream comes here.
    event_record(Handle, Handle) = "cuEventRecord", "hipEventRecord";
    /// Whether it has happened.
    event_query(Handle) = "cuEventQuery", "hipEventQuery";
    /// Milliseconds between two events.
    event_elapsed(*mut f32, Handle, Handle) = "cuEventElapsedTime", "hipEventElapsedTime";
}

/// How a result becomes text: the one place where the two differ.
#[derive(Debug)]
enum ErrorNames {
    Cuda {
        name: unsafe extern "system" fn(Code, *mut *const c_char) -> Code,
        text: unsafe extern "system" fn(Code, *mut *const c_char) -> Code,
    },
    Hip {
        name: unsafe extern "system" fn(Code) -> *const c_char,
        text: unsafe extern "system" fn(Code) -> *const c_char,
    },
}

impl ErrorNames {
    /// # Safety
    /// As for [`Functions::of`].
    unsafe fn of(library: &Library, api: Api) -> Result<Self, String> {
        // SAFETY: by the contract.
        unsafe {
            Ok(match api {
                Api::Hip => Self::Hip {
                    name: get(library, "hipGetErrorName")?,
                    text: get(library, "hipGetErrorString")?,
                },
                _ => Self::Cuda {
                    name: get(library, "cuGetErrorName")?,
                    text: get(library, "cuGetErrorString")?,
                },
            })
        }
    }
}

impl Functions {
    /// A result as text: `CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)`.
    pub(crate) fn describe(&self, code: Code) -> String {
        let (mut name, mut text) = (std::ptr::null(), std::ptr::null());
        // SAFETY: the functions take any number; what they give are texts of the library, which
        // stays open, or null.
        let texts = unsafe {
            match &self.names {
                ErrorNames::Cuda { name: get_name, text: get_text } => {
                    get_name(code, &raw mut name);
                    get_text(code, &raw mut text);
                }
                ErrorNames::Hip { name: get_name, text: get_text } => {
                    (name, text) = (get_name(code), get_text(code));
                }
            }
            [name, text].map(|it| {
                (!it.is_null()).then(|| CStr::from_ptr(it).to_string_lossy().into_owned())
            })
        };
        match texts {
            [Some(name), Some(text)] => format!("{name} ({text})"),
            [Some(text), None] | [None, Some(text)] => text,
            [None, None] => format!("error {code}"),
        }
    }
}

/// A function of a library.
///
/// # Safety
/// It has the type `F`, which is a function pointer.
unsafe fn get<F: Copy>(library: &Library, name: &str) -> Result<F, String> {
    // SAFETY: by the contract.
    let function = unsafe { library.get::<F>(name) };
    function.map(|it| *it).map_err(|error| format!("it has no {name}: {error}"))
}
