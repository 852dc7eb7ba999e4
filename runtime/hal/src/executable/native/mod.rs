//! Machine code: executables that `llvm-cpu` compiles, embedded or as system libraries.
//!
//! | file | holds |
//! | --- | --- |
//! | `elf` | loading embedded ELF files without the system's loader |
//! | `system` | loading system libraries with it |
//! | `image` | code in memory, and reading what it says about itself |
//! | `library` | that description, checked and made plain data |
//! | `abi`, `processor` | how dispatches are called, and what they are told of the machine |
//!
//! Machine code runs with all rights of this program. Loading is safe for any bytes as far as they
//! are data; calling the code is trusting it, which [`super::NativeCode`] decides.

mod abi;
mod elf;
mod image;
mod library;
mod processor;
mod system;

use std::cell::RefCell;
use std::ops::Range;

use vm::Status;

use self::abi::{DispatchState, Environment, WorkgroupState};
use self::image::Image;
use self::library::Library;
use super::{Binding, Dispatch, Executable, Export, NativeCode};

/// The formats that this machine runs.
#[cfg(target_arch = "x86_64")]
pub const FORMATS: [&str; 2] = [EMBEDDED, SYSTEM];
/// The formats that this machine runs.
#[cfg(target_arch = "aarch64")]
pub const FORMATS: [&str; 2] = [EMBEDDED, SYSTEM];
/// The formats that this machine runs.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub const FORMATS: [&str; 0] = [];

#[cfg(not(target_arch = "aarch64"))]
const EMBEDDED: &str = "embedded-elf-x86_64";
#[cfg(target_arch = "aarch64")]
const EMBEDDED: &str = "embedded-elf-arm_64";
#[cfg(not(target_arch = "aarch64"))]
const SYSTEM: &str = "system-elf-x86_64";
#[cfg(target_arch = "aarch64")]
const SYSTEM: &str = "system-elf-arm_64";

/// The function that describes an executable.
const QUERY: &str = "iree_hal_executable_library_query";

/// What programs ask about the processor: 1 if it has a feature (`avx2`), 0 if not; `None` if there is
/// no such feature.
#[must_use]
pub fn processor_feature(name: &str) -> Option<i64> {
    processor::feature(name).map(i64::from)
}

/// A loaded executable of machine code.
#[derive(Debug)]
pub struct NativeExecutable {
    format: &'static str,
    library: Library,
    constants: Vec<u32>,
    /// Null for each import: all of them are optional.
    imports: Vec<usize>,
    processor: [u64; 8],
    /// Keeps the code where it is.
    _image: Image,
}

/// Takes an ELF file in as far as none of its code runs: headers, segments, symbols, relocations. For tests
/// of what damaged files may claim.
///
/// # Errors
/// It is damaged, is for another machine, or needs what is not supported.
pub fn examine(data: &[u8]) -> Result<(), Status> {
    elf::load(data, QUERY).map(drop)
}

impl NativeExecutable {
    /// Loads an executable of one of the [`FORMATS`].
    ///
    /// # Errors
    /// Machine code is refused, the data is damaged, or it needs what is not here.
    pub fn load(
        format: &str,
        data: &vm::Buffer,
        constants: &[u32],
        native_code: NativeCode,
    ) -> Result<Self, Status> {
        if native_code == NativeCode::Refused {
            return Err(refused(format));
        }
        // Copied once more into pages of their own, or into a file; the program may change its bytes.
        let data = data.read(0, data.len());
        let (format, image, query) = if format == SYSTEM {
            // SAFETY: the user allows machine code: the code of the program is trusted.
            let (image, query) = unsafe { system::load(&data, QUERY)? };
            (SYSTEM, image, query)
        } else {
            let loaded = elf::load(&data, QUERY)?;
            for initializer in loaded.initializers {
                // SAFETY: trusted as above; the loader checked that it is code of the image.
                unsafe { abi::initialize(initializer) };
            }
            (EMBEDDED, loaded.image, loaded.symbol)
        };
        let processor = processor::data();
        let mut executable = Self {
            format,
            library: Library {
                exports: Vec::new(),
                entries: Vec::new(),
                constant_count: 0,
                import_count: 0,
            },
            constants: constants.to_vec(),
            imports: Vec::new(),
            processor,
            _image: image,
        };
        let environment = executable.environment();
        let description = library::VERSIONS.into_iter().find_map(|version| {
            // SAFETY: trusted as above; the loader found the function in the image.
            let address = unsafe { abi::query(query, version, &environment) };
            (address != 0).then_some(address)
        });
        let description = description.ok_or_else(|| {
            Status::failed_precondition(
                "executable does not support this version of the runtime; compilers from 2023 on \
                 write executables that it runs",
            )
        })?;
        let library = Library::read(&executable._image, description)?;
        if library.constant_count != constants.len() {
            return Err(Status::failed_precondition(format!(
                "executable requires {} constants but caller provided {}; must match",
                library.constant_count,
                constants.len()
            )));
        }
        executable.imports = vec![0; library.import_count];
        executable.library = library;
        Ok(executable)
    }

    fn environment(&self) -> Environment {
        Environment {
            constants: self.constants.as_ptr(),
            import_thunk: std::ptr::null(),
            import_functions: self.imports.as_ptr().cast(),
            import_contexts: self.imports.as_ptr().cast(),
            processor: self.processor,
        }
    }
}

impl Executable for NativeExecutable {
    fn format(&self) -> &str {
        self.format
    }

    fn exports(&self) -> &[Export] {
        &self.library.exports
    }

    fn run(&self, dispatch: &Dispatch, range: Range<u64>) -> Result<(), Status> {
        let (Some(export), Some(entry)) = (
            self.library.exports.get(dispatch.export),
            self.library.entries.get(dispatch.export).copied(),
        ) else {
            return Err(Status::invalid_argument("entry point ordinal out of bounds"));
        };
        check_counts(export, dispatch)?;
        let ranges = Ranges::new(dispatch);
        let (constant_count, binding_count) = counts(dispatch)?;
        let [size_x, size_y, size_z] = dispatch.workgroup_size;
        let [count_x, count_y, count_z] = dispatch.workgroup_count;
        let state = DispatchState {
            workgroup_size_x: size_x,
            workgroup_size_y: size_y,
            workgroup_size_z: narrow(size_z)?,
            constant_count,
            workgroup_count_x: count_x,
            workgroup_count_y: count_y,
            workgroup_count_z: narrow(count_z)?,
            max_concurrency: 1,
            binding_count,
            constants: dispatch.constants.as_ptr(),
            binding_pointers: ranges.pointers(),
            binding_lengths: ranges.lengths(),
        };
        let environment = self.environment();
        let scratch = export.local_memory_bytes.saturating_add(dispatch.local_memory_bytes);
        with_scratch(scratch, |local_memory, local_memory_size| {
            for index in range {
                let [x, y, z] = dispatch.workgroup(index);
                let workgroup = WorkgroupState {
                    workgroup_id_x: x,
                    workgroup_id_y: y,
                    // Below the count in z, which fits.
                    workgroup_id_z: z as u16,
                    reserved: 0,
                    processor_id: 0,
                    local_memory: local_memory.cast(),
                    local_memory_size,
                };
                // SAFETY: the executable was loaded as trusted code, the entry is one of its dispatch
                // functions, and there are as many constants and bindings as it declares.
                let result = unsafe { abi::call(entry, &environment, &state, &workgroup) };
                if result != 0 {
                    return Err(Status::internal(format!(
                        "executable entry point returned catastrophic error {result}; in workgroup \
                         ({x}, {y}, {z}) of dispatch @{}",
                        export.name
                    )));
                }
            }
            Ok(())
        })
    }
}

/// Addresses and lengths of bindings, as dispatches take them.
enum Ranges {
    /// Most dispatches have few.
    Few([*mut u8; Self::FEW], [usize; Self::FEW]),
    Many(Vec<*mut u8>, Vec<usize>),
}

impl Ranges {
    const FEW: usize = 12;

    fn new(dispatch: &Dispatch) -> Self {
        let bindings = &dispatch.bindings;
        if bindings.len() > Self::FEW {
            return Self::Many(
                bindings.iter().map(Binding::address).collect(),
                bindings.iter().map(Binding::len).collect(),
            );
        }
        let (mut pointers, mut lengths) = ([std::ptr::null_mut(); Self::FEW], [0; Self::FEW]);
        for ((pointer, length), binding) in pointers.iter_mut().zip(&mut lengths).zip(bindings) {
            (*pointer, *length) = (binding.address(), binding.len());
        }
        Self::Few(pointers, lengths)
    }

    fn pointers(&self) -> *const *mut u8 {
        match self {
            Self::Few(pointers, _) => pointers.as_ptr(),
            Self::Many(pointers, _) => pointers.as_ptr(),
        }
    }

    fn lengths(&self) -> *const usize {
        match self {
            Self::Few(_, lengths) => lengths.as_ptr(),
            Self::Many(_, lengths) => lengths.as_ptr(),
        }
    }
}

/// How many constants and bindings there are, as dispatches are told.
fn counts(dispatch: &Dispatch) -> Result<(u16, u8), Status> {
    let (constants, bindings) = (dispatch.constants.len(), dispatch.bindings.len());
    u16::try_from(constants).ok().zip(u8::try_from(bindings).ok()).ok_or_else(|| {
        Status::out_of_range(format!(
            "{constants} constants and {bindings} bindings are more than machine code can have"
        ))
    })
}

fn check_counts(export: &Export, dispatch: &Dispatch) -> Result<(), Status> {
    for (what, declared, given) in [
        ("constants", export.constant_count, dispatch.constants.len()),
        ("bindings", export.binding_count, dispatch.bindings.len()),
    ] {
        if declared.is_some_and(|declared| declared != given) {
            return Err(Status::failed_precondition(format!(
                "dispatch @{} takes {} {what}, and {given} were given",
                export.name,
                declared.unwrap_or(0)
            )));
        }
    }
    Ok(())
}

/// A size in z, for which the structures of a call have 16 bits.
fn narrow(size: u32) -> Result<u16, Status> {
    u16::try_from(size).map_err(|_| {
        Status::out_of_range(format!("{size} workgroups in z are more than machine code can have"))
    })
}

/// Scratch memory in units of what it is aligned to.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "only its address is used")] [u8; 64]);

thread_local! {
    /// The scratch memory of this thread: workgroups of a thread run one after the other.
    static SCRATCH: RefCell<Vec<Line>> = const { RefCell::new(Vec::new()) };
}

/// Calls `body` with scratch memory of at least some bytes, and how many they are.
fn with_scratch<T>(
    bytes: usize,
    body: impl FnOnce(*mut u8, u32) -> Result<T, Status>,
) -> Result<T, Status> {
    if bytes == 0 {
        return body(std::ptr::null_mut(), 0);
    }
    let too_large =
        || Status::resource_exhausted(format!("no memory for {bytes} bytes of scratch"));
    let size = u32::try_from(bytes).map_err(|_| too_large())?;
    // Taken for the call, so that a dispatch within a dispatch would get its own.
    let mut scratch = SCRATCH.take();
    let lines = bytes.div_ceil(size_of::<Line>());
    if scratch.len() < lines {
        scratch.try_reserve(lines - scratch.len()).map_err(|_| too_large())?;
        scratch.resize(lines, Line([0; 64]));
    }
    let result = body(scratch.as_mut_ptr().cast(), size);
    SCRATCH.set(scratch);
    result
}

fn refused(format: &str) -> Status {
    Status::permission_denied(refusal(format))
}

/// Why machine code does not run, and what to do.
pub(crate) fn refusal(format: &str) -> String {
    format!(
        "the program has machine code ('{format}'), and --no-native refuses to run any; compile with \
         --iree-hal-local-target-device-backends=vmvx for bytecode that runs anywhere, or leave out \
         --no-native if you trust the program"
    )
}
