//! Driving iree-compile so that debugging stays possible.
//!
//! A module, its debug companion and the sources of its dispatches come from three runs of
//! iree-compile with the same flags, two of them printing instead of serialising. Compiling to the
//! `vm` phase once and finishing twice from that text would be less work, but then the text of
//! nested VMVX executables is lost, and constants go through text. The sources of dispatches could
//! be dumped on the way, but then locations in the module lead to the dump. So whole runs print
//! everything; they run side by side to hide most of the cost, as far as there are processors for
//! it and the source is not large, or one after the other where both are told to write the same
//! listing.
//!
//! The companion ([`crate::Companion::path_beside`]) and the sources of dispatches
//! ([`crate::DispatchInterfaces::path_beside`]) lie beside the module. All are written to a
//! scratch directory beside their destination and renamed into place, so a failed or cancelled run
//! leaves what was there before.
//!
//! - [`find`]: where iree-compile is
//! - [`flags`]: what it is told
//! - [`process`]: running it, cancellable, with its messages as they come
//! - [`elide`]: leaving constants out of the companion

mod elide;
mod find;
mod flags;
mod process;

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::companion::Companion;
use crate::dispatch_calls;
use crate::interface::DispatchInterfaces;
use crate::processes::ProcessGroup;

/// What to compile.
#[derive(Clone, Debug, Default)]
pub struct CompileRequest {
    /// The `.mlir` (or `.mlirbc`) to compile. It is passed on as it is, so that the module names it
    /// so.
    pub input: PathBuf,
    /// The `.vmfb` to write.
    pub output: PathBuf,
    /// Further flags for iree-compile. They win over those that are added here.
    pub flags: Vec<String>,
    /// Which iree-compile to run. Otherwise `IREE_COMPILE` names it, or it is on `PATH`, or in the
    /// active Python environment, or in one of the project that `directory` is in.
    pub compiler: Option<PathBuf>,
    /// The directory to run in, where relative paths count from; otherwise the current one.
    pub directory: Option<PathBuf>,
    /// Environment variables to set for the compiler.
    pub environment: Vec<(String, String)>,
}

/// What was written.
#[derive(Clone, Debug)]
pub struct CompileOutput {
    /// The module.
    pub module: PathBuf,
    /// Its companion, or why there is none although the module was compiled.
    pub companion: Result<PathBuf, String>,
    /// The sources of its dispatches, if it has any.
    pub dispatches: Option<PathBuf>,
    /// The compiler that made them.
    pub compiler: PathBuf,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// There is no compiler.
    #[error(
        "cannot find iree-compile (looked at {tried}); install it with `pip install iree-base-compiler`, or name it with \
         the environment variable IREE_COMPILE"
    )]
    NoCompiler {
        /// Where it was looked for.
        tried: String,
    },
    /// The compiler could not be started.
    #[error("cannot run {}: {source}", compiler.display())]
    NotStarted {
        /// The compiler.
        compiler: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A flag that would break what this does.
    #[error("flag {flag} cannot be passed to iree-compile here: {reason}")]
    ReservedFlag {
        /// The flag.
        flag: String,
        /// Why.
        reason: &'static str,
    },
    /// The compiler said no; what it said went to the callback.
    #[error("iree-compile could not compile {}{}", input.display(), explain(*status, message))]
    Failed {
        /// The source.
        input: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// The first error that it printed.
        message: Option<String>,
    },
    /// Somebody asked to stop.
    #[error("the compilation was cancelled")]
    Cancelled,
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

fn explain(status: ExitStatus, message: &Option<String>) -> String {
    match (message, status.code()) {
        (Some(message), _) => format!(": {message}"),
        (None, Some(code)) => format!(" and said nothing (exit code {code})"),
        (None, None) => format!(": it crashed ({status})"),
    }
}

/// Asks a running compilation to stop. Clones share the request.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Asks to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Compiles a source to a module and its companion. `on_line` gets each line that the compiler
/// prints.
///
/// # Errors
/// There is no compiler, it failed, it was cancelled, or the files cannot be written. That a
/// companion could not be made is no error: the module is there, and [`CompileOutput::companion`]
/// says why.
pub fn compile(
    request: &CompileRequest,
    cancellation: &Cancellation,
    on_line: &mut dyn FnMut(&str),
) -> Result<CompileOutput, CompileError> {
    let compiler = match &request.compiler {
        Some(compiler) => compiler.clone(),
        None => {
            let found = find::find(request.directory.as_deref())?;
            for ignored in &found.ignored {
                on_line(&format!("iree-dbg: ignored {ignored}"));
            }
            found.path
        }
    };
    let flags = flags::complete(&request.flags)?;
    let output = absolute(request.directory.as_deref(), &request.output)?;
    let scratch = scratch_beside(&output)?;
    // Compilers that are left behind are better than none.
    let group = ProcessGroup::new().ok();
    let runs = process::Runs {
        compiler: &compiler,
        input: &request.input,
        flags: &flags,
        directory: request.directory.as_deref(),
        environment: &request.environment,
        module: &scratch.path().join("module.vmfb"),
        companion: &scratch.path().join("companion.mlir"),
        dispatches: &scratch.path().join("dispatches.mlir"),
        outlined: &scratch.path().join("outlined"),
        group: group.as_ref(),
    };
    let made = runs.run(cancellation, on_line)?;
    let companion = place(made.companion, runs.companion, &Companion::path_beside(&output))?;
    // A program without a device has no dispatches.
    let dispatches =
        made.has_dispatches && complete_dispatches(runs.dispatches, runs.module, runs.outlined);
    let dispatches = if dispatches { Ok(()) } else { Err(String::new()) };
    let beside = DispatchInterfaces::path_beside(&output);
    let dispatches = place(dispatches, runs.dispatches, &beside)?.ok();
    rename(runs.module, &output)?;
    Ok(CompileOutput { module: output, companion, dispatches, compiler })
}

/// Writes above the sources of dispatches which module they are of, and where the program calls
/// them; whether there are any.
fn complete_dispatches(path: &Path, module: &Path, outlined: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(path) else { return false };
    let interfaces = DispatchInterfaces::parse(&text);
    if interfaces.is_empty() {
        return false;
    }
    let outlined = printed_in(outlined).unwrap_or_default();
    let calls = dispatch_calls::written(&outlined, interfaces.names());
    let heading = vmfb::archive::open(module).ok().and_then(|it| DispatchInterfaces::heading(&it));
    heading.is_some_and(|heading| std::fs::write(path, format!("{heading}\n{calls}{text}")).is_ok())
}

/// The text that the compiler has printed into a directory, which it has made more directories in.
fn printed_in(directory: &Path) -> Option<String> {
    let mut entries = std::fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path());
    entries.find_map(|path| {
        if path.is_dir() { printed_in(&path) } else { std::fs::read_to_string(path).ok() }
    })
}

/// Puts a file beside the module in its place, or removes the one of an earlier compilation.
fn place(
    made: Result<(), String>,
    scratch: &Path,
    destination: &Path,
) -> Result<Result<PathBuf, String>, CompileError> {
    match made {
        Ok(()) => {
            rename(scratch, destination)?;
            Ok(Ok(destination.to_owned()))
        }
        Err(reason) => match std::fs::remove_file(destination) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(CompileError::NotWritten { path: destination.to_owned(), source })
            }
            _ => Ok(Err(reason)),
        },
    }
}

fn absolute(directory: Option<&Path>, path: &Path) -> Result<PathBuf, CompileError> {
    let path = directory.map_or_else(|| path.to_owned(), |directory| directory.join(path));
    std::path::absolute(&path).map_err(|source| CompileError::NotWritten { path, source })
}

/// A directory on the same file system as the output, so that renaming is atomic.
fn scratch_beside(output: &Path) -> Result<tempfile::TempDir, CompileError> {
    let parent = output.parent().unwrap_or(output);
    tempfile::Builder::new()
        .prefix(".iree-dbg-compile-")
        .tempdir_in(parent)
        .map_err(|source| CompileError::NotWritten { path: output.to_owned(), source })
}

fn rename(from: &Path, to: &Path) -> Result<(), CompileError> {
    std::fs::rename(from, to)
        .map_err(|source| CompileError::NotWritten { path: to.to_owned(), source })
}
