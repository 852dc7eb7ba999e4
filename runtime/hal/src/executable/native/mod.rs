//! Machine code: executables that `llvm-cpu` compiles, embedded or as system libraries.
//!
//! | file | holds |
//! | --- | --- |
//! | `elf` | loading embedded ELF files without the system's loader |
//! | `system` | loading system libraries with it |
//! | `image` | code in memory, and reading what it says about itself |
//! | `library` | that description, checked and made plain data |
//! | `abi`, `processor` | what dispatches are called with, and what they are told of the machine |
//! | `call` | calling them: on a stack of their own, so that they can be paused and may fault |
//!
//! Machine code runs with all rights of this program. Loading is safe for any bytes as far as they
//! are data; calling the code is trusting it, which [`super::NativeCode`] decides.

mod abi;
mod call;
mod elf;
mod image;
mod library;
mod processor;
mod system;

use std::ops::Range;
use std::sync::Arc;

use vm::{RunControl, Status};

use self::abi::Environment;
use self::call::{Call, Run};
use self::image::Image;
use self::library::Library;
use super::{Dispatch, Executable, Export, Halt, NativeCode};

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

/// What programs ask about the processor: 1 if it has a feature (`avx2`), 0 if not; `None` if there
/// is no such feature.
#[must_use]
pub fn processor_feature(name: &str) -> Option<i64> {
    processor::feature(name).map(i64::from)
}

/// A loaded executable of machine code.
#[derive(Debug)]
pub struct NativeExecutable {
    format: &'static str,
    code: Arc<Code>,
}

/// Machine code with what it says about itself and what it is given.
#[derive(Debug)]
struct Code {
    library: Library,
    constants: Vec<u32>,
    /// Null for each import: all of them are optional.
    imports: Vec<usize>,
    processor: [u64; 8],
    /// Keeps the code where it is.
    image: Image,
}

/// Takes an ELF file in as far as none of its code runs: headers, segments, symbols, relocations.
/// For tests of what damaged files may claim.
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
        // Copied once more into pages of their own, or into a file; the program may change its
        // bytes.
        let data = data.read(0, data.len());
        let (format, image, query) = if format == SYSTEM {
            // SAFETY: the user allows machine code: the code of the program is trusted.
            let (image, query) = unsafe { system::load(&data, QUERY)? };
            (SYSTEM, image, query)
        } else {
            let loaded = elf::load(&data, QUERY)?;
            for initializer in loaded.initializers {
                // SAFETY: trusted as above; the loader checked that it is code of the image.
                unsafe { abi::initialize(initializer)? };
            }
            (EMBEDDED, loaded.image, loaded.symbol)
        };
        let mut code = Code {
            library: Library::default(),
            constants: constants.to_vec(),
            imports: Vec::new(),
            processor: processor::data(),
            image,
        };
        let environment = code.environment();
        let mut description = None;
        for version in library::VERSIONS {
            // SAFETY: trusted as above; the loader found the function in the image.
            let address = unsafe { abi::query(query, version, &environment)? };
            if address != 0 {
                description = Some(address);
                break;
            }
        }
        let description = description.ok_or_else(|| {
            Status::failed_precondition(
                "executable does not support this version of the runtime; compilers from 2023 on \
                 write executables that it runs",
            )
        })?;
        let library = Library::read(&code.image, description)?;
        if library.constant_count != constants.len() {
            return Err(Status::failed_precondition(format!(
                "executable requires {} constants but caller provided {}; must match",
                library.constant_count,
                constants.len()
            )));
        }
        code.imports = vec![0; library.import_count];
        code.library = library;
        Ok(Self { format, code: Arc::new(code) })
    }
}

impl Code {
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
        &self.code.library.exports
    }

    fn run(
        &self,
        dispatch: &Dispatch,
        range: Range<u64>,
        control: &RunControl,
    ) -> Result<(), Halt> {
        let Some(export) = self.code.library.exports.get(dispatch.export) else {
            return Err(Status::invalid_argument("entry point ordinal out of bounds").into());
        };
        check_counts(export, dispatch)?;
        let scratch_bytes = export.local_memory_bytes.saturating_add(dispatch.local_memory_bytes);
        let mut call = Call::new(&self.code, dispatch, scratch_bytes)?;
        let run = Run::new(&self.code, dispatch, control)?;
        call::watched(control, || {
            let mut meter = vm::Meter::of_worker(control);
            for index in range.clone() {
                if control.is_interrupted() {
                    call.keep();
                    return Err(Halt::before(index..range.end));
                }
                control.interrupt.at_workgroup(index);
                if let Err(status) = meter.spend_on_work() {
                    call.keep();
                    return Err(dispatch.explain(&export.name, index, status).into());
                }
                // SAFETY: the executable was loaded as trusted code, and there are as many
                // constants and bindings as the export declares.
                call = unsafe { call.run(&run, index) }
                    .map_err(|halt| halt.and_not_begun(index + 1..range.end))?;
            }
            call.keep();
            Ok(())
        })
    }
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
