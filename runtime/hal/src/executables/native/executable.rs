//! An executable of machine code: loading it, and running its workgroups.

use std::ops::Range;
use std::sync::Arc;

use vm::{RunControl, Status};

use super::call::{self, Call, Run};
use super::code::Code;
use super::formats::{EMBEDDED, NativeCode, SYSTEM, refused};
use super::library::Library;
use super::plugin::{Imports, Plugins};
use super::{abi, elf, library, processor, system};
use crate::executables::dispatch::Dispatch;
use crate::executables::halt::Halt;
use crate::executables::interface::{Executable, Export};

/// The function that describes an executable.
const QUERY: &str = "iree_hal_executable_library_query";

/// A loaded executable of machine code.
#[derive(Debug)]
pub(crate) struct NativeExecutable {
    format: &'static str,
    code: Arc<Code>,
}

/// Loads an ELF file without running any of its code: headers, segments, symbols, relocations. For
/// tests with damaged files.
///
/// # Errors
/// The file is damaged, is for another machine, or needs unsupported features.
pub fn examine_machine_code(data: &[u8]) -> Result<(), Status> {
    elf::load(data, QUERY).map(drop)
}

impl NativeExecutable {
    /// Loads an executable of one of the [`super::FORMATS`]. Plugins have the functions that it
    /// imports.
    ///
    /// # Errors
    /// Machine code is refused, the data is damaged, or it needs unsupported features.
    pub(crate) fn load(
        format: &str,
        data: &vm::Buffer,
        constants: &[u32],
        native_code: NativeCode,
        plugins: &Plugins,
    ) -> Result<Self, Status> {
        if native_code == NativeCode::Refused {
            return Err(refused(format));
        }
        // A copy, as the program may change its bytes. The loaders copy it again, into pages of its
        // own or into a file.
        let data = data.read(0, data.len());
        let (format, image, query) = if format == SYSTEM {
            // SAFETY: the user allows machine code, so the program's code is trusted.
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
            imports: Imports::default(),
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
        code.imports = plugins.resolve(&library.imports)?;
        code.library = library;
        Ok(Self { format, code: Arc::new(code) })
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
        let export = export_for(&self.code.library.exports, dispatch)?;
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

/// The export that a dispatch calls, which has what the export takes.
///
/// # Errors
/// There is no such export, or the dispatch has another number of constants or bindings.
pub(crate) fn export_for<'e>(
    exports: &'e [Export],
    dispatch: &Dispatch,
) -> Result<&'e Export, Status> {
    let out_of_bounds = || Status::invalid_argument("entry point ordinal out of bounds");
    let export = exports.get(dispatch.export).ok_or_else(out_of_bounds)?;
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
    Ok(export)
}
