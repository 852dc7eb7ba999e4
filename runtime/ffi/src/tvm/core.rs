//! The runtime library of TVM FFI, found at run time.
//!
//! Inside Python it is loaded already, with global symbols. Otherwise it is loaded from
//! `TVM_FFI_LIBRARY`, else as `libtvm_ffi.so` from the system's folders, else from the folder that
//! `tvm-ffi-config --libdir` prints.
//!
//! # Soundness
//!
//! The symbols have the types in the headers of TVM FFI, which are the same in all versions since
//! 0.1.8. The library is never unloaded.

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::OnceLock;

use abi::tvm::layout::{Any, ByteArray, DlManagedTensorVersioned, SafeCall};

use super::error::FfiError;

/// An object, by its address.
pub(crate) type Handle = *mut c_void;

/// The functions of the library that are used here.
pub struct Core {
    pub(crate) inc_ref: unsafe extern "C" fn(Handle) -> c_int,
    pub(crate) dec_ref: unsafe extern "C" fn(Handle) -> c_int,
    pub(crate) function_create: unsafe extern "C" fn(
        *mut c_void,
        SafeCall,
        Option<unsafe extern "C" fn(*mut c_void)>,
        *mut Handle,
    ) -> c_int,
    pub(crate) function_global: unsafe extern "C" fn(*const ByteArray, *mut Handle) -> c_int,
    pub(crate) function_call: unsafe extern "C" fn(Handle, *mut Any, i32, *mut Any) -> c_int,
    pub(crate) error_take: unsafe extern "C" fn(*mut Handle),
    pub(crate) error_raise: unsafe extern "C" fn(Handle),
    pub(crate) error_raise_text: unsafe extern "C" fn(*const c_char, *const c_char),
    pub(crate) error_create: unsafe extern "C" fn(
        *const ByteArray,
        *const ByteArray,
        *const ByteArray,
        *mut Handle,
    ) -> c_int,
    pub(crate) tensor_from_dlpack:
        unsafe extern "C" fn(*mut DlManagedTensorVersioned, i32, i32, *mut Handle) -> c_int,
    pub(crate) string: unsafe extern "C" fn(*const ByteArray, *mut Any) -> c_int,
    pub(crate) bytes: unsafe extern "C" fn(*const ByteArray, *mut Any) -> c_int,
    /// Whether a signal such as Ctrl-C has raised an exception; absent in early versions.
    check_signals: Option<unsafe extern "C" fn() -> c_int>,
    backtrace: unsafe extern "C" fn(*const c_char, c_int, *const c_char, c_int) -> *const ByteArray,
}

/// Why the runtime library cannot be used.
#[derive(Debug, thiserror::Error)]
enum NoCore {
    #[cfg(unix)]
    #[error(
        "the runtime library of TVM FFI is not found ({}); install it: pip install apache-tvm-ffi, \
         and put its tvm-ffi-config on the PATH, or set TVM_FFI_LIBRARY to libtvm_ffi.so",
        tried.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    NotFound { tried: Vec<libloading::Error> },
    /// It is of a version without this function.
    #[cfg(unix)]
    #[error("{name}: {source}")]
    Symbol { name: &'static str, source: libloading::Error },
    #[cfg(not(unix))]
    #[error("libraries for TVM FFI are loaded on Linux and macOS only")]
    Platform,
}

static CORE: OnceLock<Result<Core, NoCore>> = OnceLock::new();

/// The runtime library, which is searched for only once.
///
/// # Errors
/// It is not found; the message says how to install it.
pub(super) fn core() -> Result<&'static Core, FfiError> {
    CORE.get_or_init(find).as_ref().map_err(|error| FfiError::new("RuntimeError", error))
}

#[cfg(unix)]
fn find() -> Result<Core, NoCore> {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

    let here = Library::this();
    if let Ok(core) = resolve(&here) {
        return Ok(core);
    }
    let mut tried = Vec::new();
    for path in candidates() {
        // SAFETY: loading runs the library's constructors. It is TVM FFI's own library, which the
        // user installed.
        match unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_GLOBAL) } {
            Ok(library) => {
                let core = resolve(&library);
                std::mem::forget(library);
                return core;
            }
            Err(error) => tried.push(error),
        }
    }
    Err(NoCore::NotFound { tried })
}

#[cfg(not(unix))]
fn find() -> Result<Core, NoCore> {
    Err(NoCore::Platform)
}

#[cfg(unix)]
fn candidates() -> Vec<std::path::PathBuf> {
    use std::path::PathBuf;

    let mut found: Vec<PathBuf> =
        std::env::var_os("TVM_FFI_LIBRARY").map(PathBuf::from).into_iter().collect();
    found.push(PathBuf::from("libtvm_ffi.so"));
    if let Ok(output) = std::process::Command::new("tvm-ffi-config").arg("--libdir").output() {
        let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if output.status.success() && !folder.is_empty() {
            found.push(PathBuf::from(folder).join("libtvm_ffi.so"));
        }
    }
    found
}

#[cfg(unix)]
fn resolve(library: &libloading::os::unix::Library) -> Result<Core, NoCore> {
    /// A symbol as a function of the field's type.
    fn symbol<T: Copy>(
        library: &libloading::os::unix::Library,
        name: &'static str,
    ) -> Result<T, NoCore> {
        // SAFETY: the types of the fields are those in the headers.
        let found = unsafe { library.get::<T>(name.as_bytes()) };
        found.map(|symbol| *symbol).map_err(|source| NoCore::Symbol { name, source })
    }
    Ok(Core {
        inc_ref: symbol(library, "TVMFFIObjectIncRef")?,
        dec_ref: symbol(library, "TVMFFIObjectDecRef")?,
        function_create: symbol(library, "TVMFFIFunctionCreate")?,
        function_global: symbol(library, "TVMFFIFunctionGetGlobal")?,
        function_call: symbol(library, "TVMFFIFunctionCall")?,
        error_take: symbol(library, "TVMFFIErrorMoveFromRaised")?,
        error_raise: symbol(library, "TVMFFIErrorSetRaised")?,
        error_raise_text: symbol(library, "TVMFFIErrorSetRaisedFromCStr")?,
        error_create: symbol(library, "TVMFFIErrorCreate")?,
        tensor_from_dlpack: symbol(library, "TVMFFITensorFromDLPackVersioned")?,
        string: symbol(library, "TVMFFIStringFromByteArray")?,
        bytes: symbol(library, "TVMFFIBytesFromByteArray")?,
        check_signals: symbol(library, "TVMFFIEnvCheckSignals").ok(),
        backtrace: symbol(library, "TVMFFIBacktrace")?,
    })
}

/// Bytes as an argument of the library. They must outlive the call.
pub(crate) fn byte_array(bytes: &[u8]) -> ByteArray {
    ByteArray { data: bytes.as_ptr().cast(), size: bytes.len() }
}

impl Core {
    /// Lets the caller's language handle signals that have come. An error: it has raised an
    /// exception, as Python does for Ctrl-C.
    pub(crate) fn check_signals(&self) -> Result<(), FfiError> {
        let Some(check) = self.check_signals else { return Ok(()) };
        // SAFETY: it may be called on any thread that runs a packed function.
        match unsafe { check() } {
            0 => Ok(()),
            // The library's name for an exception that the language has already.
            _ => Err(FfiError::new("EnvErrorAlreadySet", "")),
        }
    }

    /// Sets the error of a packed function, whose caller takes it when the function does not return
    /// 0.
    pub(crate) fn raise(&self, error: &FfiError) {
        let mut handle: Handle = std::ptr::null_mut();
        let (kind, message, backtrace) = (
            byte_array(error.kind.as_bytes()),
            byte_array(error.message.as_bytes()),
            byte_array(error.backtrace.as_bytes()),
        );
        // SAFETY: the texts live until the call is over, which copies them.
        let code = unsafe { (self.error_create)(&kind, &message, &backtrace, &mut handle) };
        if code == 0 && !handle.is_null() {
            // SAFETY: an error object that was just made. Raising it adds a reference.
            unsafe {
                (self.error_raise)(handle);
                (self.dec_ref)(handle);
            }
            return;
        }
        let text = |text: &str| CString::new(text.replace('\0', " ")).unwrap_or_default();
        let (kind, message) = (text(&error.kind), text(&error.message));
        // SAFETY: as above.
        unsafe { (self.error_raise_text)(kind.as_ptr(), message.as_ptr()) };
    }

    /// The frames of this thread, one per line, most recent call first. A backtrace from within a
    /// call that is made here ends with the same frames.
    pub(crate) fn backtrace(&self) -> String {
        // SAFETY: null pointers add no frame at the top. The text stays valid until the next call
        // on this thread.
        let text = unsafe { (self.backtrace)(std::ptr::null(), 0, std::ptr::null(), 0).as_ref() };
        let Some(text) = text.filter(|text| !text.data.is_null()) else { return String::new() };
        // SAFETY: the library vouches for the length.
        let bytes = unsafe { std::slice::from_raw_parts(text.data.cast::<u8>(), text.size) };
        String::from_utf8_lossy(bytes).into_owned()
    }
}
