//! ONNX models as MLIR: iree-import-onnx writes a text, which is compiled as any other.
//!
//! The text lies beside the module, as `NAME.onnx.mlir`, and stays there: it is the source that is
//! debugged. Its last line says that it is ours, so that no text of the user is written over.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::cancellation::Cancellation;
use crate::error::CompileError;
use crate::find_compiler::Found;
use crate::find_importer::Importer;
use crate::process::{Ended, Starter};
use crate::process_group::ProcessGroup;
use crate::scratch::Scratch;

/// How the last line of an import begins.
const MARK: &str = "// iree-dbg writes this import anew whenever its model is compiled: ";

/// Where the last line begins at the earliest, before the end.
const LAST_LINE: u64 = 4096;

/// Where the attributes of the function end at the latest.
const BEGINNING: u64 = 1 << 20;

/// Whether a file is an ONNX model, by its name.
#[must_use]
pub fn is_onnx(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "onnx")
}

/// Whether a file is a source that [`compile`](crate::compile()) takes, by its name.
#[must_use]
pub fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    is_onnx(path) || matches!(extension, Some("mlir" | "mlirbc"))
}

/// A model that is imported.
pub(crate) struct Import<'a> {
    pub(crate) model: &'a Path,
    /// The version of ONNX that it is brought to first.
    pub(crate) opset: Option<u32>,
    /// The text to write.
    pub(crate) output: &'a Path,
    /// The directory that relative paths start from.
    pub(crate) directory: Option<&'a Path>,
    pub(crate) environment: &'a [(String, String)],
    pub(crate) compiler: &'a Found,
    pub(crate) group: Option<&'a ProcessGroup>,
    pub(crate) cancellation: &'a Cancellation,
}

impl Import<'_> {
    /// Writes the text. `on_line` gets what the importer says, unless it fails.
    pub(crate) fn run(&self, on_line: &mut dyn FnMut(&str)) -> Result<(), CompileError> {
        let output = self.absolute(self.output)?;
        if let Err(error) = File::open(self.absolute(self.model)?) {
            let (path, reason) = (self.model.to_owned(), error.to_string());
            return Err(CompileError::NotRead { path, reason });
        }
        if output.exists() && !is_import(&output) {
            let (model, path) = (self.model.to_owned(), self.output.to_owned());
            return Err(CompileError::InTheWay { model, path });
        }
        let not_written = |source| CompileError::NotWritten { path: output.clone(), source };
        let folder = output.parent().unwrap_or(&output);
        let scratch = Scratch::beside(folder, ".iree-dbg-import-").map_err(not_written)?;
        let importer = Importer::find(self.compiler, self.directory, scratch.path())?;
        for ignored in &importer.ignored {
            on_line(&format!("iree-dbg: ignored {ignored}"));
        }
        let written = scratch.path().join("import.mlir");
        let ended = self.start(&importer, &written, scratch.path())?;
        if !ended.status.success() {
            return Err(self.refused(&importer, &ended));
        }
        ended.lines.iter().for_each(|line| on_line(line));
        self.mark(&written).map_err(not_written)?;
        fs::rename(&written, &output).map_err(not_written)
    }

    /// Runs the importer in a folder of its own: Python takes modules from where it is started, and
    /// those that lie beside a model may be of anyone.
    fn start(
        &self,
        importer: &Importer,
        written: &Path,
        folder: &Path,
    ) -> Result<Ended, CompileError> {
        let mut arguments = importer.arguments.clone();
        arguments.push(self.absolute(self.model)?.display().to_string());
        arguments.extend(self.opset.map(|opset| format!("--opset-version={opset}")));
        arguments.extend(["-o".to_owned(), written.display().to_string()]);
        let program = std::path::absolute(&importer.program)
            .map_err(|source| self.not_started(importer, source))?;
        let starter = Starter {
            compiler: &program,
            directory: Some(folder),
            environment: self.environment,
            group: self.group,
            cancellation: self.cancellation,
        };
        starter.run(&arguments, &mut |_| {})
    }

    fn not_started(&self, importer: &Importer, source: std::io::Error) -> CompileError {
        CompileError::NotStarted { compiler: importer.program.clone(), source }
    }

    fn refused(&self, importer: &Importer, ended: &Ended) -> CompileError {
        let message = exception(&ended.lines);
        let message = match message.is_empty() {
            true => format!("the importer ended with {}", ended.status),
            false => message,
        };
        match message.strip_prefix("ModuleNotFoundError: ") {
            Some(missing) => {
                let (importer, message) = (importer.program.clone(), missing.to_owned());
                CompileError::ImporterIncomplete { importer, message }
            }
            None => CompileError::NotImported { model: self.model.to_owned(), message },
        }
    }

    /// Adds the last line.
    fn mark(&self, written: &Path) -> std::io::Result<()> {
        let name = self.model.file_name().unwrap_or_default().to_string_lossy();
        let name = name.replace(char::is_control, "?");
        let mut file = OpenOptions::new().append(true).open(written)?;
        writeln!(file, "{MARK}{name}")
    }

    fn absolute(&self, path: &Path) -> Result<PathBuf, CompileError> {
        let path = self.directory.map_or_else(|| path.to_owned(), |it| it.join(path));
        std::path::absolute(&path).map_err(|source| CompileError::NotWritten { path, source })
    }
}

/// The version of ONNX that IREE compiles all operations of.
const KNOWN_OPSET: u32 = 17;

/// What may help where the text of a model could not be compiled.
pub(crate) fn advice(import: &Path) -> Option<String> {
    let opset = opset_of(import).filter(|opset| *opset < KNOWN_OPSET)?;
    Some(format!(
        "note: the model is of opset {opset}, of which IREE does not compile all operations; the \
         flag --opset-version={KNOWN_OPSET}, or `\"opsetVersion\": {KNOWN_OPSET}` in a launch, brings \
         it to one that it does"
    ))
}

/// The version of ONNX that a text was imported from.
fn opset_of(import: &Path) -> Option<u32> {
    let mut start = Vec::new();
    File::open(import).ok()?.take(BEGINNING).read_to_end(&mut start).ok()?;
    let start = String::from_utf8_lossy(&start);
    let (_, rest) = start.split_once("torch.onnx_meta.opset_version = ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Whether a file is a text that was written here.
fn is_import(path: &Path) -> bool {
    let end = || {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LAST_LINE)))?;
        let mut end = Vec::new();
        file.read_to_end(&mut end).map(|_| end)
    };
    let end = end().unwrap_or_default();
    let last = end.trim_ascii_end().rsplit(|byte| *byte == b'\n').next();
    last.is_some_and(|last| last.starts_with(MARK.as_bytes()))
}

/// What an exception of Python says, without the calls that led to it: the lines after the last
/// one that belongs to these.
fn exception(lines: &[String]) -> String {
    let is_of_calls = |line: &String| line.starts_with(' ') || line.starts_with("Traceback ");
    let start = lines.iter().rposition(is_of_calls).map_or(0, |last| last + 1);
    let said = lines[start..].iter().map(|line| line.trim()).filter(|line| !line.is_empty());
    said.collect::<Vec<_>>().join(" ")
}
