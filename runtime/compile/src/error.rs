//! [`CompileError`]: why a compilation failed.

use std::path::PathBuf;
use std::process::ExitStatus;

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// No compiler was found.
    #[error(
        "cannot find iree-compile (looked at {tried}); install it with `pip install iree-base-compiler`, or name it with \
         the environment variable IREE_COMPILE"
    )]
    NoCompiler {
        /// The places that were searched.
        tried: String,
    },
    /// No importer of ONNX models was found.
    #[error(
        "cannot find iree-import-onnx, which imports ONNX models (looked at {tried}); install it \
         with `pip install \"iree-base-compiler[onnx]\"`, or name it with the environment variable \
         IREE_IMPORT_ONNX"
    )]
    NoImporter {
        /// The places that were searched.
        tried: String,
    },
    /// No Python has the modules.
    #[error(
        "cannot find a Python that has {modules} (looked at {variable}, PATH, and the project's \
         environment); install them with `pip install {modules}`, or name a Python that has them \
         with the environment variable {variable}"
    )]
    NoPython {
        /// The modules.
        modules: String,
        /// The environment variable that names a Python.
        variable: &'static str,
    },
    /// The importer is there, and packages that it needs are not.
    #[error(
        "{} cannot run ({message}); install what it needs with \
         `pip install \"iree-base-compiler[onnx]\"`",
        importer.display()
    )]
    ImporterIncomplete {
        /// The importer.
        importer: PathBuf,
        /// What it says.
        message: String,
    },
    /// The importer refused the model.
    #[error("{} cannot be imported: {message}", model.display())]
    NotImported {
        /// The model.
        model: PathBuf,
        /// What the importer says.
        message: String,
    },
    /// There is a file in the place of the import that is none.
    #[error(
        "the import of {} would be written over {}, which is no import of iree-dbg; compile that \
         text, or move it away",
        model.display(), path.display()
    )]
    InTheWay {
        /// The model.
        model: PathBuf,
        /// The file.
        path: PathBuf,
    },
    /// The compiler could not be started.
    #[error("cannot run {}: {source}", compiler.display())]
    NotStarted {
        /// The compiler.
        compiler: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The flags contain one that [`compile`](crate::compile) sets itself.
    #[error("flag {flag} cannot be passed to iree-compile here: {reason}")]
    ReservedFlag {
        /// The flag.
        flag: String,
        /// Why it is reserved.
        reason: &'static str,
    },
    /// The compiler failed. Its messages went to the callback.
    #[error("iree-compile could not compile {}{}", input.display(), explain(*status, message))]
    Failed {
        /// The source.
        input: PathBuf,
        /// The compiler's exit status.
        status: ExitStatus,
        /// The first error that it printed.
        message: Option<String>,
    },
    /// The caller asked to stop.
    #[error("the compilation was cancelled")]
    Cancelled,
    /// The module that was to be debugged cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    NotRead {
        /// The module.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The module that was compiled is not the one that was shipped.
    #[error(
        "{} is not what {} compiles to with these flags, so no debug file was written. Most \
         likely, {cause}",
        module.display(), input.display()
    )]
    OtherModule {
        /// The module that was shipped.
        module: PathBuf,
        /// The source.
        input: PathBuf,
        /// What differs, and what that comes from.
        cause: String,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A name has bytes that are no text, and the texts of the compiler have the names of files.
    #[error(
        "the path {} is not UTF-8, as names in MLIR are; rename it, or compile a copy of it \
         elsewhere",
        path.display()
    )]
    NameNotUtf8 {
        /// The source, or what was to be written.
        path: PathBuf,
    },
}

/// Why a debug file has no companion: the compiler that made the module did not print it.
#[derive(Debug, thiserror::Error)]
pub enum NoCompanion {
    /// It ended with an error.
    #[error(
        "iree-compile printed none ({status}): {}",
        said.as_deref().unwrap_or("it printed nothing")
    )]
    Failed {
        /// How it ended.
        status: ExitStatus,
        /// The first error that it printed.
        said: Option<String>,
    },
    /// It crashed each time it was asked.
    #[error("iree-compile printed none ({status}): it crashed, twice")]
    Crashed {
        /// How it ended.
        status: ExitStatus,
    },
    /// What it printed could not be kept.
    #[error("cannot write {}: {source}", path.display())]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

fn explain(status: ExitStatus, message: &Option<String>) -> String {
    match (message, status.code()) {
        (Some(message), _) => format!(": {message}"),
        (None, Some(code)) => format!(" and printed nothing (exit code {code})"),
        (None, None) => format!(": it crashed ({status})"),
    }
}
