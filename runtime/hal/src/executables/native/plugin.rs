//! Plugins: libraries of the user whose functions machine code imports (IREE's
//! `executable_plugin.h`, version 0.1).
//!
//! ```text
//! iree_hal_executable_plugin_query -> interface ─┬─ header ── version, features, sanitizer
//!                                                ├─ load, unload
//!                                                └─ resolve ── names to functions and contexts
//! ```
//!
//! A plugin is a library of the system, or an ELF file without imports of its own, which is loaded
//! as executables are: `embedded:FILE`, or a name that ends in `.sos`. Its functions are called by
//! the machine code of dispatches, through [`import_thunk`], so they run where dispatches run: they
//! can be paused, and their faults are values. Loading and resolving run unguarded, as the system's
//! own loader runs a library's initialisers.

use std::ffi::{CString, c_char, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use vm::{Status, StatusCode};

use super::image::Image;
use super::{abi, elf};

const QUERY: &str = "iree_hal_executable_plugin_query";

/// The version of the interface.
const VERSION: u32 = 1;

/// What a plugin says of itself (`iree_hal_executable_plugin_header_t`).
#[repr(C)]
struct Header {
    version: u32,
    name: *const c_char,
    description: *const c_char,
    features: u32,
    sanitizer: u32,
    reserved: [u64; 8],
}

/// `iree_hal_executable_plugin_v0_t`.
#[repr(C)]
struct Interface {
    header: *const Header,
    load: Option<
        unsafe extern "C" fn(*const Allocator, usize, *const c_void, *mut *mut c_void) -> usize,
    >,
    unload: Option<unsafe extern "C" fn(*mut c_void)>,
    resolve: Option<unsafe extern "C" fn(*mut c_void, *const Resolution, *mut u32) -> usize>,
}

/// Where a plugin gets memory (`iree_hal_executable_plugin_environment_v0_t`, whose only field is
/// an allocator).
#[repr(C)]
struct Allocator {
    context: *mut c_void,
    control: unsafe extern "C" fn(*mut c_void, u32, *const usize, *mut *mut c_void) -> usize,
}

/// What a plugin is asked to resolve (`iree_hal_executable_plugin_resolve_params_v0_t`).
#[repr(C)]
struct Resolution {
    count: usize,
    names: *const *const c_char,
    functions: *mut usize,
    contexts: *mut usize,
}

/// The functions that an executable imports, each with the context that it is called with; 0 for an
/// optional one that no plugin has.
#[derive(Debug, Default)]
pub(super) struct Imports {
    pub(super) functions: Vec<usize>,
    pub(super) contexts: Vec<usize>,
    /// Keeps the functions mapped.
    _plugins: Plugins,
}

/// The plugins of a program, in the order in which they were named.
#[derive(Clone, Debug, Default)]
pub struct Plugins(Arc<[Plugin]>);

#[derive(Debug)]
struct Plugin {
    interface: *const Interface,
    state: *mut c_void,
    _code: Code,
}

/// The code of a plugin, which stays mapped until the plugin is unloaded.
#[derive(Debug)]
enum Code {
    System { _library: libloading::Library },
    Embedded { _image: Image },
}

// SAFETY: the interface demands that a plugin can be resolved, and its functions called, from
// several threads at once; it is loaded and unloaded by one, when nothing else refers to it.
unsafe impl Send for Plugin {}
// SAFETY: as above.
unsafe impl Sync for Plugin {}

impl Plugins {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Loads plugins: `FILE`, `embedded:FILE` or `FILE.sos`. Their code runs.
    ///
    /// # Errors
    /// A file is no plugin, has another version, or does not load. The error names it.
    pub fn open(files: &[String]) -> Result<Self, Status> {
        let open = |file: &String| {
            Plugin::open(file).map_err(|error| Status {
                message: format!("executable plugin {file}: {}", error.message),
                ..error
            })
        };
        files.iter().map(open).collect::<Result<Vec<_>, _>>().map(|all| Self(all.into()))
    }

    /// Finds what an executable imports. The plugin that was named last is asked first.
    ///
    /// # Errors
    /// No plugin has a function that is required, or one fails. Names that begin with `?` are
    /// optional.
    pub(super) fn resolve(&self, names: &[String]) -> Result<Imports, Status> {
        let texts: Vec<CString> =
            names.iter().map(|name| CString::new(name.as_str()).unwrap_or_default()).collect();
        let mut imports = Imports {
            functions: vec![0; names.len()],
            contexts: vec![0; names.len()],
            _plugins: self.clone(),
        };
        if !names.is_empty() {
            for plugin in self.0.iter().rev() {
                plugin.resolve(&texts, &mut imports)?;
            }
        }
        let missing = names.iter().zip(&imports.functions);
        let missing = missing.filter(|(name, function)| **function == 0 && !name.starts_with('?'));
        let missing: Vec<&str> = missing.map(|(name, _)| name.as_str()).collect();
        if missing.is_empty() {
            return Ok(imports);
        }
        let (code, advice) = match self.0.len() {
            0 => (StatusCode::Unavailable, "; name the plugin with --executable_plugin=FILE"),
            _ => (StatusCode::NotFound, ""),
        };
        Err(Status::new(
            code,
            format!(
                "no import provider registered for resolving required executable imports: {}{advice}",
                missing.join(", ")
            ),
        ))
    }
}

impl Plugin {
    fn open(file: &str) -> Result<Self, Status> {
        let embedded = file.strip_prefix("embedded:");
        let (query, code) = match embedded {
            Some(path) => embedded_code(path)?,
            None if file.ends_with(".sos") => embedded_code(file)?,
            None => system_code(file)?,
        };
        // SAFETY: the user has named the plugin, so its code is trusted; the function has this
        // type in all versions of the interface.
        let interface = unsafe {
            let query: unsafe extern "C" fn(u32, *const c_void) -> *const Interface =
                std::mem::transmute(query);
            query(VERSION, null())
        };
        // SAFETY: what the function returns is null or lives as long as the plugin.
        let header = unsafe { interface.as_ref().and_then(|it| it.header.as_ref()) };
        let header = header.ok_or_else(|| {
            Status::failed_precondition("it does not support this version of the runtime (0.1)")
        })?;
        if header.version > VERSION {
            let version = header.version;
            return Err(Status::failed_precondition(format!(
                "it has version {version:#x} of the interface, known is {VERSION:#x}"
            )));
        }
        if header.sanitizer != 0 {
            let text = format!("it requires sanitizer {}, which is not here", header.sanitizer);
            return Err(Status::new(StatusCode::Unavailable, text));
        }
        let mut plugin = Self { interface, state: null_mut(), _code: code };
        plugin.load()?;
        Ok(plugin)
    }

    fn interface(&self) -> &Interface {
        // SAFETY: checked when it was opened; it lives as long as the code does.
        unsafe { &*self.interface }
    }

    fn load(&mut self) -> Result<(), Status> {
        let environment = Allocator { context: null_mut(), control: allocate };
        let Some(load) = self.interface().load else { return Ok(()) };
        let mut state = null_mut();
        // SAFETY: the arguments are those of the interface; the plugin copies the environment.
        let status = unsafe { load(&raw const environment, 0, null(), &raw mut state) };
        self.state = state;
        check(status, "it does not load")
    }

    fn resolve(&self, names: &[CString], imports: &mut Imports) -> Result<(), Status> {
        let Some(resolve) = self.interface().resolve else { return Ok(()) };
        let names: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
        let parameters = Resolution {
            count: names.len(),
            names: names.as_ptr(),
            functions: imports.functions.as_mut_ptr(),
            contexts: imports.contexts.as_mut_ptr(),
        };
        let mut found = 0;
        // SAFETY: the tables have as many places as the parameters say, and outlive the call.
        let status = unsafe { resolve(self.state, &raw const parameters, &raw mut found) };
        // Another plugin may have what this one lacks.
        if status_code(status) == StatusCode::NotFound as usize {
            return Ok(());
        }
        check(status, "a plugin does not resolve the imports of an executable")
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        if let Some(unload) = self.interface().unload {
            // SAFETY: nothing else refers to the plugin, and it was loaded, if only in part.
            unsafe { unload(self.state) };
        }
    }
}

fn system_code(path: &str) -> Result<(usize, Code), Status> {
    // The system would search its own folders for a name without one.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
    // The system's own words are the source of the error.
    let failed = |error: libloading::Error| {
        let reason = std::error::Error::source(&error).map(ToString::to_string);
        Status::not_found(reason.unwrap_or_else(|| error.to_string()))
    };
    // SAFETY: the user has named the library as a plugin, so its code is trusted.
    let library = unsafe { libloading::Library::new(path) }.map_err(failed)?;
    // SAFETY: the symbol is only taken as an address here.
    let query = unsafe { library.get::<*const c_void>(QUERY) }.map_err(failed)?;
    let query = query.expose_provenance();
    Ok((query, Code::System { _library: library }))
}

fn embedded_code(path: &str) -> Result<(usize, Code), Status> {
    let data = std::fs::read(Path::new(path))
        .map_err(|error| Status::not_found(format!("{path}: {error}")))?;
    let loaded = elf::load(&data, QUERY)?;
    for initializer in loaded.initializers {
        // SAFETY: trusted as above; the loader checked that it is code of the image.
        unsafe { abi::initialize(initializer)? };
    }
    Ok((loaded.symbol, Code::Embedded { _image: loaded.image }))
}

/// The low bits of IREE's statuses are their code; the others are a pointer to more, or 0.
fn status_code(status: usize) -> usize {
    status & 31
}

fn check(status: usize, what: &str) -> Result<(), Status> {
    match status_code(status) {
        0 => Ok(()),
        code => Err(Status::failed_precondition(format!("{what}: status {code}"))),
    }
}

/// The memory of plugins is the system's.
unsafe extern "C" fn allocate(
    _context: *mut c_void,
    command: u32,
    length: *const usize,
    memory: *mut *mut c_void,
) -> usize {
    const MALLOC: u32 = 0;
    const CALLOC: u32 = 1;
    const REALLOC: u32 = 2;
    const FREE: u32 = 3;
    // SAFETY: the plugin passes what the interface demands: a length unless it frees memory, and
    // memory that it got here where it has some already.
    unsafe {
        let made = match command {
            MALLOC => libc::malloc(*length),
            CALLOC => libc::calloc(1, *length),
            REALLOC => libc::realloc(*memory, *length),
            FREE => {
                libc::free(*memory);
                *memory = null_mut();
                return 0;
            }
            _ => return StatusCode::Unimplemented as usize,
        };
        if made.is_null() {
            return StatusCode::ResourceExhausted as usize;
        }
        *memory = made;
    }
    0
}

/// What machine code calls an import with: the function, its parameters, its context, and a
/// reserved value. It jumps, so that no frame of this program lies under the plugin's.
#[cfg(all(unix, target_arch = "x86_64"))]
#[unsafe(naked)]
pub(super) extern "C" fn import_thunk() {
    std::arch::naked_asm!(
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "jmp rax",
    );
}

/// What machine code calls an import with, as above.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub(super) extern "C" fn import_thunk() {
    std::arch::naked_asm!("mov x8, x0", "mov x0, x1", "mov x1, x2", "mov x2, x3", "br x8");
}

/// Machine code does not run elsewhere.
#[cfg(not(any(all(unix, target_arch = "x86_64"), target_arch = "aarch64")))]
pub(super) extern "C" fn import_thunk() {}
