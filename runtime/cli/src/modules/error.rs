//! [`ModuleError`]: why the modules of a command line cannot be used.

use std::io;
use std::path::PathBuf;

use vm::LinkError;
use vmfb::LoadError;
use vmfb::build::BuildError;

/// Why the modules of a command line, or the native libraries, cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ModuleError {
    #[error(
        "UNIMPLEMENTED; {0}: native modules of IREE's VM are built against the inside of its \
         runtime, and do not run here; a library of plain functions does: --module=lib.so, with \
         the types in lib.mlir or --signature="
    )]
    NativeModule(String),
    #[error("cannot read standard input: {0}")]
    StandardInput(io::Error),
    /// The system does not read the file, which it names.
    #[error(transparent)]
    NotRead(LoadError),
    #[error("{}: {source}", path.display())]
    NotLoaded { path: PathBuf, source: LoadError },
    #[error("{}: {}", path.display(), defects.join("\n  "))]
    NotVerified { path: PathBuf, defects: Vec<String> },
    #[error("no module specified; use --module=file.vmfb")]
    NoModule,
    /// An archive has a parameter of another type; the debugger says which.
    #[error(transparent)]
    Parameters(#[from] debug::OtherParameter),
    #[error("{}; {error}{}", error.code(), advice(error))]
    NotLinked { error: LinkError },
    #[error(
        "INVALID_ARGUMENT; --function= must be specified explicitly; the library has {}",
        names.join(", ")
    )]
    WhichFunction { names: Vec<String> },
    #[error(transparent)]
    LibraryNotLinked(LinkError),
    #[error("UNIMPLEMENTED; @{name}: {reason}")]
    Unusable { name: String, reason: String },
    #[error("NOT_FOUND; no function `{name}` in library `{library}`; it has {}", names.join(", "))]
    NoFunction { name: String, library: String, names: Vec<String> },
    #[error("UNIMPLEMENTED; @{0} takes counted spans, and cannot be called alone")]
    Spans(String),
    /// The module that calls a library's function is not assembled; its faults as text.
    #[error("{0}")]
    NotAssembled(String),
    #[error(transparent)]
    NotBuilt(#[from] BuildError),
}

/// What to do about a missing module.
fn advice(error: &LinkError) -> &'static str {
    match error {
        LinkError::MissingImports { imports, .. } if !imports.iter().all(|it| it.is_mismatch) => {
            "\nload the modules that provide them with --module= before this one"
        }
        _ => "",
    }
}
