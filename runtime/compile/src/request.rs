//! What to compile, and [`compile`]: finding the compiler, running it, and putting its output in
//! place.

use std::path::{Path, PathBuf};

use debuginfo::DebugFile;
use vmfb::{FileBytes, LoadError, archive};

use crate::cancellation::Cancellation;
use crate::difference::{are_equal, likely_cause};
use crate::error::{CompileError, NoCompanion};
use crate::find_compiler::Found;
use crate::flags::Flags;
use crate::import::{Import, advice, is_onnx};
use crate::keep::Kept;
use crate::process::Starter;
use crate::process_group::ProcessGroup;
use crate::runs::Runs;
use crate::scratch::Scratch;
use crate::{find_compiler, flags};

/// What to compile.
#[derive(Clone, Debug, Default)]
pub struct CompileRequest {
    /// The `.mlir` (or `.mlirbc`) to compile. The path is passed on unchanged, so that the module's
    /// locations name it that way. An ONNX model, `.onnx`, is imported first.
    pub input: PathBuf,
    /// The version of ONNX that a model is brought to before it is imported.
    pub opset: Option<u32>,
    /// The `.vmfb` to write; its debug file gets this name with `.debug` appended.
    pub output: PathBuf,
    /// `output` is there already and stays: only its debug file is written, if the source compiles
    /// to that very module. Then nothing is added to the flags.
    pub is_shipped: bool,
    /// The flags are used as they are: those that keep programs debuggable are not added, only a
    /// target if they name none.
    pub is_plain: bool,
    /// A directory for the texts of all phases, if they are wanted: `NAME.6.flow.mlir`. They have
    /// locations, and large constants are left out.
    pub phases: Option<PathBuf>,
    /// The directory for the debug file, if it is not to be beside the module.
    pub debug_directory: Option<PathBuf>,
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
#[derive(Debug)]
pub struct CompileOutput {
    /// The module.
    pub module: PathBuf,
    /// Its debug file.
    pub debug_file: PathBuf,
    /// The text that an ONNX model was imported to, which is the source.
    pub import: Option<PathBuf>,
    /// Why the debug file has no companion, if it has none.
    pub no_companion: Option<NoCompanion>,
    /// The compiler that made them.
    pub compiler: PathBuf,
}

/// Compiles a source to a module and its debug file. `on_line` gets each line that the compiler
/// prints.
///
/// # Errors
/// There is no compiler, it failed, it was cancelled, the files cannot be written, or the module is
/// not the one that was shipped. A missing companion is no error: the module is there, and
/// [`CompileOutput::no_companion`] says why.
pub fn compile(
    request: &CompileRequest,
    cancellation: &Cancellation,
    on_line: &mut dyn FnMut(&str),
) -> Result<CompileOutput, CompileError> {
    let directory = request.directory.as_deref();
    let found = match &request.compiler {
        Some(compiler) => Found::chosen(compiler.clone()),
        None => find_compiler::find(directory)?,
    };
    for ignored in &found.ignored {
        on_line(&format!("iree-dbg: ignored {ignored}"));
    }
    let output = absolute(directory, &request.output)?;
    let flags = match (request.is_shipped, request.is_plain) {
        (true, _) => Flags::only(&request.flags)?,
        (false, true) => Flags::with_target(&request.flags)?,
        (false, false) => Flags::with_defaults(&request.flags)?,
    };
    let debug_file = match &request.debug_directory {
        Some(folder) => DebugFile::path_in(&absolute(directory, folder)?, &output),
        None => DebugFile::path_beside(&output),
    };
    // What the compiler prints has names of files, in UTF-8.
    if let Some(path) =
        [&request.input, &output, &debug_file].into_iter().find(|it| it.to_str().is_none())
    {
        return Err(CompileError::NameNotUtf8 { path: path.clone() });
    }
    let shipped = if request.is_shipped { Some(read(&output)?) } else { None };
    let place = if request.is_shipped { &debug_file } else { &output };
    let scratch = scratch_beside(place)?;
    let elsewhere = (place.parent() != debug_file.parent()).then(|| scratch_beside(&debug_file));
    let elsewhere = elsewhere.transpose()?;
    // Without a group, compilers may outlive us, which is better than not compiling.
    let group = ProcessGroup::new().ok();
    let (environment, group) = (&request.environment[..], group.as_ref());
    let import = is_onnx(&request.input).then(|| import_of(request));
    if let Some(output) = &import {
        let (model, opset, compiler) = (&request.input, request.opset, &found);
        let import =
            Import { model, opset, output, directory, environment, compiler, group, cancellation };
        import.run(on_line)?;
    }
    let compiler = found.path;
    let starter = Starter { compiler: &compiler, directory, environment, group, cancellation };
    let phases = request.phases.as_ref().map(|phases| absolute(directory, phases)).transpose()?;
    let phases = phases.unwrap_or_else(|| scratch.path().join("phases"));
    let input = import.as_ref().unwrap_or(&request.input);
    let mut runs = Runs { starter, input, flags, scratch: scratch.path(), phases };
    let printed = runs.run(on_line).inspect_err(|error| {
        let import = import.as_ref().filter(|_| matches!(error, CompileError::Failed { .. }));
        let text = import.and_then(|import| absolute(directory, import).ok());
        text.and_then(|text| advice(&text)).iter().for_each(|advice| on_line(advice));
    })?;
    let made = read(&runs.module())?;
    if let Some(shipped) = shipped.filter(|shipped| !are_equal(shipped, &made)) {
        let (module, input) = (output, request.input.clone());
        let cause = likely_cause(&shipped, &made);
        return Err(CompileError::OtherModule { module, input, cause });
    }
    let imported_from = import.as_ref().map(|_| request.input.as_path());
    let flags = &runs.flags;
    let kept = Kept { module: &made, input, imported_from, flags, directory, printed };
    let written = elsewhere.as_ref().unwrap_or(&scratch).path().join("module.debug");
    kept.write(&written)?;
    let no_companion = kept.printed.companion.err();
    rename(&written, &debug_file)?;
    if request.is_shipped {
        flags::costs(&runs.flags)
            .for_each(|cost| on_line(&format!("note: with these flags, {cost}")));
    }
    if !request.is_shipped {
        rename(&runs.module(), &output)?;
    }
    Ok(CompileOutput { module: output, debug_file, import, no_companion, compiler })
}

/// Where the import of a model goes: beside the module.
fn import_of(request: &CompileRequest) -> PathBuf {
    let mut name = request.input.file_name().unwrap_or_default().to_owned();
    name.push(".mlir");
    request.output.with_file_name(name)
}

fn read(path: &Path) -> Result<FileBytes, CompileError> {
    let not_read = |error: LoadError| {
        let (path, reason) = (path.to_owned(), error.to_string());
        CompileError::NotRead { path, reason }
    };
    archive::open(path).map_err(not_read)
}

fn absolute(directory: Option<&Path>, path: &Path) -> Result<PathBuf, CompileError> {
    let path = directory.map_or_else(|| path.to_owned(), |directory| directory.join(path));
    std::path::absolute(&path).map_err(|source| CompileError::NotWritten { path, source })
}

/// A directory on the same file system as the output, so that renaming is atomic.
fn scratch_beside(output: &Path) -> Result<Scratch, CompileError> {
    let parent = output.parent().unwrap_or(output);
    Scratch::beside(parent, ".iree-dbg-compile-")
        .map_err(|source| CompileError::NotWritten { path: output.to_owned(), source })
}

fn rename(from: &Path, to: &Path) -> Result<(), CompileError> {
    std::fs::rename(from, to)
        .map_err(|source| CompileError::NotWritten { path: to.to_owned(), source })
}
