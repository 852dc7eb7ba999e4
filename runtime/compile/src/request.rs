//! What to compile, and [`compile`]: finding the compiler, running it, and putting its output in
//! place.

use std::path::{Path, PathBuf};

use debuginfo::{Companion, DispatchInterfaces};

use crate::cancellation::Cancellation;
use crate::error::CompileError;
use crate::process_group::ProcessGroup;
use crate::{find_compiler, flags, runs};

/// What to compile.
#[derive(Clone, Debug, Default)]
pub struct CompileRequest {
    /// The `.mlir` (or `.mlirbc`) to compile. The path is passed on unchanged, so that the module's
    /// locations name it that way.
    pub input: PathBuf,
    /// The `.vmfb` to write.
    pub output: PathBuf,
    /// Further flags for iree-compile. They override our defaults.
    pub flags: Vec<String>,
    /// Which iree-compile to run. Otherwise the one that `IREE_COMPILE` names, or one on `PATH`, in
    /// the active Python environment, or in an environment of the project around `directory`.
    pub compiler: Option<PathBuf>,
    /// The directory to run in, which relative paths start from; otherwise the current one.
    pub directory: Option<PathBuf>,
    /// Environment variables to set for the compiler.
    pub environment: Vec<(String, String)>,
}

/// The files that a compilation has written.
#[derive(Clone, Debug)]
pub struct CompileOutput {
    /// The module.
    pub module: PathBuf,
    /// Its companion, or why there is none.
    pub companion: Result<PathBuf, String>,
    /// The sources of its dispatches, if it has any.
    pub dispatches: Option<PathBuf>,
    /// The compiler that made them.
    pub compiler: PathBuf,
}

/// Compiles a source to a module, its companion and the sources of its dispatches. `on_line` gets
/// each line that the compiler prints.
///
/// # Errors
/// There is no compiler, it failed, it was cancelled, or the files cannot be written. A missing
/// companion is no error: the module is there, and [`CompileOutput::companion`] says why.
pub fn compile(
    request: &CompileRequest,
    cancellation: &Cancellation,
    on_line: &mut dyn FnMut(&str),
) -> Result<CompileOutput, CompileError> {
    let compiler = match &request.compiler {
        Some(compiler) => compiler.clone(),
        None => {
            let found = find_compiler::find(request.directory.as_deref())?;
            for ignored in &found.ignored {
                on_line(&format!("iree-dbg: ignored {ignored}"));
            }
            found.path
        }
    };
    let flags = flags::complete(&request.flags)?;
    let output = absolute(request.directory.as_deref(), &request.output)?;
    let scratch = scratch_beside(&output)?;
    // Without a group, compilers may outlive us, which is better than not compiling.
    let group = ProcessGroup::new().ok();
    let runs = runs::Runs {
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

/// Adds to the sources of dispatches which module they belong to and where the program calls them;
/// whether there are any.
fn complete_dispatches(path: &Path, module: &Path, outlined: &Path) -> bool {
    let Ok(sources) = std::fs::read_to_string(path) else { return false };
    let Ok(module) = vmfb::archive::open(module) else { return false };
    let outlined = printed_in(outlined).unwrap_or_default();
    let text = DispatchInterfaces::text_beside(&module, &sources, &outlined);
    text.is_some_and(|text| std::fs::write(path, text).is_ok())
}

/// The one text that the compiler has printed somewhere below a directory.
fn printed_in(directory: &Path) -> Option<String> {
    let mut entries = std::fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path());
    entries.find_map(|path| {
        if path.is_dir() { printed_in(&path) } else { std::fs::read_to_string(path).ok() }
    })
}

/// Moves a file to its place beside the module, or removes the file of an earlier compilation.
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
