//! System libraries (`system-elf-*`): shared objects that the system's own loader loads, as they
//! may need other libraries.
//!
//! The loader needs a file, so the bytes go into a temporary one, which is deleted after loading.
//! The program headers say which addresses the description of the executable may point to.

use std::io::Write;

use object::LittleEndian as Little;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSymbol};
use vm::Status;

use super::elf::{program_headers, segments};
use super::image::Image;

fn failed(what: &str, error: impl std::fmt::Display) -> Status {
    Status::new(vm::StatusCode::Unavailable, format!("system library: {what}: {error}"))
}

/// Loads a library and runs its initialisers; returns its image and the address of a function in
/// it.
///
/// # Errors
/// The file is damaged, or the system cannot load it.
///
/// # Safety
/// The code in the library is trusted: loading runs it.
pub(super) unsafe fn load(data: &[u8], symbol: &str) -> Result<(Image, usize), Status> {
    let segments = segments(program_headers(data)?)?;
    let parsed = ElfFile64::<Little>::parse(data);
    let parsed = parsed.map_err(|error| failed("it is damaged", error))?;
    let offset = parsed
        .dynamic_symbols()
        .find(|found| found.name_bytes() == Ok(symbol.as_bytes()))
        .map(|found| found.address() as usize)
        .ok_or_else(|| {
            Status::not_found(format!("exported symbol with name '{symbol}' not found in library"))
        })?;
    let file = tempfile::Builder::new().prefix("executable-").suffix(".so").tempfile();
    let mut file = file.map_err(|error| failed("no temporary file", error))?;
    file.write_all(data).map_err(|error| failed("the temporary file cannot be written", error))?;
    let path = file.into_temp_path();
    // SAFETY: the caller trusts the code that runs when the library is loaded.
    let library = unsafe { libloading::Library::new(&*path) };
    let library = library.map_err(|error| failed("the system does not load it", error))?;
    // SAFETY: the symbol is only taken as an address here.
    let found = unsafe { library.get::<*const std::ffi::c_void>(symbol) };
    let address = found.map_err(|error| failed("no such symbol", error))?.expose_provenance();
    let base = address.wrapping_sub(offset);
    // SAFETY: the system has mapped the segments of this file at `base`.
    let image = unsafe { Image::of_library(library, base, segments) };
    Ok((image, address))
}
