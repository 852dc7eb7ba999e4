//! [`write_folder`]: all files of a folder, and the comparison with what IREE's tools make of it.

use std::io;
use std::path::{Path, PathBuf};

use debuginfo::{DispatchFunction, Shapes};

use crate::check_test::check_test;
use crate::dispatch_run::{DispatchRun, Unusable};
use crate::readme::Readme;
use crate::script::{Compared, Script};
use crate::staged::{Staged, is_empty};
use crate::target_flags::target_flags;
use crate::tensor_files::{InputFile, TensorFile};
use crate::trial::{NoTools, Tools, Trial};

/// How a folder is written.
#[derive(Clone, Debug)]
pub struct FolderOptions {
    /// Whether dynamic shapes stay; `None` fills them in, unless only dynamic ones give the bits of
    /// the run.
    pub shapes: Option<Shapes>,
    /// With which tools the folder is run; or why it is not.
    pub tools: Result<Tools, NoTools>,
    /// A sentence for the folder's page: what else is known of the dispatch.
    pub finding: Option<String>,
}

/// A folder that was written.
#[derive(Clone, Debug)]
pub struct WrittenFolder {
    /// Where it is.
    pub path: PathBuf,
    /// How many tensors and numbers the function takes.
    pub inputs: usize,
    /// How many tensors it returns.
    pub outputs: usize,
    /// What came of running it.
    pub trial: Trial,
}

/// Why a folder was not written.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The dispatch is no function over tensors that are known.
    #[error("@{export}: {reason}")]
    NotWritable {
        /// The dispatch.
        export: String,
        /// The reason.
        reason: Unusable,
    },
    /// The folder has files that are of no earlier dispatch.
    #[error("{0} is there already, and is no folder of a dispatch; name another one")]
    Occupied(PathBuf),
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    NotWritten {
        /// The folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// Writes a folder for a dispatch, and runs it.
///
/// # Errors
/// See [`FolderError`].
pub fn write_folder(
    path: &Path,
    run: &DispatchRun,
    options: &FolderOptions,
) -> Result<WrittenFolder, FolderError> {
    let shapes = options.shapes.unwrap_or(Shapes::Filled);
    check_free(path)?;
    let not_written = |source| FolderError::NotWritten { path: path.to_owned(), source };
    let staged = Staged::begin(path).map_err(not_written)?;
    let written = write_best(staged.path(), run, shapes, options);
    let written = written.map_err(|error| match error {
        FolderError::NotWritten { source, .. } => not_written(source),
        error => error,
    })?;
    staged.finish(is_earlier).map_err(not_written)?;
    Ok(WrittenFolder { path: path.to_owned(), ..written })
}

/// Writes the files of a folder, with the shapes that give the bits of the run.
fn write_best(
    path: &Path,
    run: &DispatchRun,
    shapes: Shapes,
    options: &FolderOptions,
) -> Result<WrittenFolder, FolderError> {
    let written = write_with(path, run, shapes, options)?;
    let has_numbers = !run.after.numbers.is_empty();
    if options.shapes.is_some() || !has_numbers || written.trial.is_same() {
        return Ok(written);
    }
    if matches!(written.trial, Trial::NotRun(_)) {
        return Ok(written);
    }
    // The compiler may compute the same in another order where shapes are static.
    match write_with(path, run, Shapes::Kept, options) {
        Ok(dynamic) if dynamic.trial.is_same() => Ok(dynamic),
        _ => write_with(path, run, shapes, options),
    }
}

/// A folder may be written over an earlier one, and over nothing else.
pub(crate) fn check_free(path: &Path) -> Result<(), FolderError> {
    let is_free = is_empty(path);
    let is_ours = || ["dispatch.mlir", "run.sh"].iter().all(|name| path.join(name).is_file());
    match is_free || is_ours() {
        true => Ok(()),
        false => Err(FolderError::Occupied(path.to_owned())),
    }
}

/// Whether a file may be there in one folder of a dispatch, and not in another one.
pub(crate) fn is_earlier(name: &str) -> bool {
    let stem = name.strip_suffix(".npy").or_else(|| name.strip_suffix(".bin"));
    let is_tensor = stem.is_some_and(|stem| {
        let number = stem.strip_prefix("input").or_else(|| stem.strip_prefix("output"));
        number.is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
    });
    is_tensor || name == "check.mlir"
}

/// Drops what an earlier try has left.
fn clear(path: &Path) -> io::Result<()> {
    std::fs::remove_dir_all(path)?;
    std::fs::create_dir(path)
}

fn write_with(
    path: &Path,
    run: &DispatchRun,
    shapes: Shapes,
    options: &FolderOptions,
) -> Result<WrittenFolder, FolderError> {
    let state = &run.after;
    let export = state.export.clone();
    let not_writable = |reason| FolderError::NotWritable { export: export.clone(), reason };
    let of = |shapes| {
        let made = DispatchFunction::of(&run.origin.sources, &export, &state.numbers, shapes);
        made.map_err(|reason| not_writable(Unusable::NoFunction(reason)))
    };
    let mut shapes = shapes;
    let mut function = of(shapes)?;
    if function.arguments.is_empty() && !state.numbers.is_empty() {
        // The compiler would compute it all by itself.
        shapes = Shapes::Kept;
        function = of(shapes)?;
    }
    let inputs = run.inputs(&function).map_err(&not_writable)?;
    let outputs = run.outputs(&function).map_err(&not_writable)?;
    let not_written = |source| FolderError::NotWritten { path: path.to_owned(), source };
    clear(path).map_err(not_written)?;
    let put = |name: &str, text: &str| std::fs::write(path.join(name), text).map_err(not_written);
    let input_files: Result<Vec<InputFile>, io::Error> = inputs
        .iter()
        .enumerate()
        .map(|(index, input)| InputFile::write(path, &format!("input{index}"), input))
        .collect();
    let output_files: Result<Vec<TensorFile>, io::Error> = outputs
        .iter()
        .enumerate()
        .map(|(index, output)| TensorFile::write(path, &format!("output{index}"), output))
        .collect();
    let (input_files, output_files) =
        (input_files.map_err(not_written)?, output_files.map_err(not_written)?);
    put("dispatch.mlir", &function.module_text(&function.text()))?;
    let flags = target_flags(&run.origin.flags, &run.origin.sources);
    let script = Script {
        function: &function.name,
        compiler: run.origin.compiler.as_deref(),
        flags: &flags,
        device: run.origin.runner_device(),
        inputs: &input_files,
        outputs: &output_files,
        compared: Compared::Left,
    };
    put("run.sh", &script.text())?;
    let check = check_test(&function, &inputs, &outputs);
    if let Ok(check) = &check {
        put("check.mlir", check)?;
    }
    let trial = match &options.tools {
        Ok(tools) => Trial::of(path, tools),
        Err(reason) => Trial::NotRun(reason.to_string()),
    };
    let readme = Readme {
        run,
        function: &function,
        inputs: &input_files,
        outputs: &output_files,
        flags: &flags,
        is_dynamic: shapes == Shapes::Kept,
        no_check: check.as_ref().err(),
        trial: &trial,
        more: options.finding.as_deref(),
    };
    put("README.md", &readme.text())?;
    Ok(WrittenFolder { path: path.to_owned(), inputs: inputs.len(), outputs: outputs.len(), trial })
}
