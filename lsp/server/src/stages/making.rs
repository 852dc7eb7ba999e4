//! Compiling a source to its stages. Runs on a worker thread.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use compile::{
    Cancellation, CompileError, CompileRequest, InstalledCompiler, Scratch, installed_compiler,
};
use ropey::Rope;
use tower_lsp::lsp_types::Url;

use super::names::Digest;
use super::set::Info;
use super::stage_error::StageError;
use super::{StageSet, Stages, cache};
use crate::settings::Settings;

/// How many lines of the compiler are kept.
const MESSAGES: usize = 200;
/// Changes if what is kept of a compilation does.
const FORMAT: &str = "1";

/// Why there are no stages.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) message: String,
    /// The setting that is the way out, if there is one.
    pub(crate) setting: Option<&'static str>,
    /// What the compiler says of a line of the source.
    pub(crate) fault: Option<Fault>,
}

/// What the compiler says of a line of the source.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The line, from 0.
    pub(crate) line: u32,
    pub(crate) message: String,
}

impl Fault {
    /// The first error of a text that names a line of this file.
    fn first(said: &str, path: &str) -> Option<Self> {
        said.match_indices(path).find_map(|(at, _)| {
            let rest = said[at + path.len()..].strip_prefix(':')?;
            let mut parts = rest.splitn(4, ':');
            let line: u32 = parts.next()?.parse().ok()?;
            let _column: u32 = parts.next()?.parse().ok()?;
            let is_error = parts.next()?.trim() == "error";
            let message = parts.next()?.lines().next()?.trim();
            // Advice of our own follows after a semicolon.
            let message = message.split("; the setting ").next()?.to_owned();
            is_error.then(|| Self { line: line.saturating_sub(1), message })
        })
    }
}

impl From<String> for Problem {
    fn from(message: String) -> Self {
        Self { message, setting: None, fault: None }
    }
}

impl From<StageError> for Problem {
    fn from(error: StageError) -> Self {
        error.to_string().into()
    }
}

impl From<CompileError> for Problem {
    fn from(error: CompileError) -> Self {
        let setting = match error {
            CompileError::NoCompiler { .. } | CompileError::NotStarted { .. } => {
                Some("ireeCompile")
            }
            CompileError::ReservedFlag { .. } | CompileError::Failed { .. } => {
                Some("compilerFlags")
            }
            _ => None,
        };
        let advice = match setting {
            Some("ireeCompile") => "; the setting ireeCompile can name one",
            Some(_) => "; the setting compilerFlags has the flags, such as those of the target",
            None => "",
        };
        Self { message: format!("{error}{advice}"), setting, fault: None }
    }
}

/// A source, and its text where that is open.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) open: Option<Rope>,
}

impl Source {
    /// The source that a document is of.
    pub(crate) fn of(uri: &Url, open: Option<Rope>) -> Result<Self, Problem> {
        // A shortened text is not what is compiled.
        let open = open.filter(|_| uri.scheme() == "file");
        let path = match uri.scheme() {
            "file" => uri.to_file_path().ok(),
            "iree-text" => crate::made_uris::file_of(uri),
            _ => None,
        };
        let path = path.filter(|path| path.extension().is_some_and(|it| it == "mlir"));
        let path = path.ok_or_else(|| {
            Problem::from(format!("{uri} is no .mlir on disk: save it as one, then ask again"))
        })?;
        Ok(Self { path, open })
    }

    /// The digest of the text, and whether the file has just this text.
    pub(crate) fn digest(&self) -> Result<(String, bool), Problem> {
        let of_file = || -> Result<String, Problem> {
            let bytes = vmfb::FileBytes::read(&self.path)
                .map_err(|error| format!("cannot read {}: {error}", self.path.display()))?;
            let mut digest = Digest::new();
            digest.add(bytes.owned());
            Ok(digest.key())
        };
        match &self.open {
            Some(rope) => {
                let key = digest_of(rope);
                let is_saved = of_file().is_ok_and(|of_file| of_file == key);
                Ok((key, is_saved))
            }
            None => Ok((of_file()?, true)),
        }
    }
}

/// The digest of an open text.
pub(crate) fn digest_of(rope: &Rope) -> String {
    let mut digest = Digest::new();
    rope.chunks().for_each(|chunk| digest.add(chunk.as_bytes()));
    digest.key()
}

/// A compilation to be made.
pub(crate) struct Job {
    pub(crate) source: Source,
    pub(crate) settings: Settings,
    pub(crate) cancellation: Cancellation,
    /// The folder in which the texts of phases appear, once it is known.
    pub(crate) phases: Arc<OnceLock<PathBuf>>,
}

/// The stages of a source, from the cache or by compiling it.
pub(crate) fn make(job: &Job, stages: &Stages) -> Result<Arc<StageSet>, Problem> {
    job.settings.may_run("iree-compile").map_err(StageError::from)?;
    let (digest, is_saved) = job.source.digest()?;
    let path = &job.source.path;
    let directory = path.parent().unwrap_or(path).to_owned();
    let named = job.settings.iree_compile.as_deref();
    let compiler = installed_compiler(named, Some(&directory), &job.cancellation)?;
    let key = key_of(job, &digest, &compiler);
    let folder = &cache::folder(job.settings.cache_folder.as_deref())?;
    if folder.join(&key).join("info.json").is_file() {
        return Ok(stages.of_key(folder, &key)?);
    }
    let failed = |error: std::io::Error| format!("cannot write to {}: {error}", folder.display());
    let scratch = Scratch::beside(folder, ".making-");
    let scratch = scratch.map_err(failed)?;
    let copy = (!is_saved).then(|| UnsavedCopy(Some(cache::unsaved(&folder.join(&key)))));
    let input = if is_saved { path.clone() } else { copied(&job.source, folder, &key)? };
    let phases = scratch.path().join("phases");
    let _ = job.phases.set(phases.clone());
    let request = CompileRequest {
        input: input.clone(),
        output: scratch.path().join("module.vmfb"),
        is_plain: true,
        phases: Some(phases.clone()),
        flags: job.settings.compiler_flags.clone(),
        compiler: Some(compiler.path.clone()),
        directory: Some(directory.clone()),
        ..CompileRequest::default()
    };
    let mut messages = Vec::new();
    let mut on_line = |line: &str| {
        if messages.len() < MESSAGES {
            messages.push(line.to_owned());
        }
    };
    let compiled = compile::compile(&request, &job.cancellation, &mut on_line);
    let count = std::fs::read_dir(&phases).map_or(0, Iterator::count);
    let problem = match compiled {
        Ok(_) => None,
        Err(error) => {
            let is_of_source = matches!(error, CompileError::Failed { .. });
            // A file with an unsaved text is no place to look at.
            let problem = Problem::from(error);
            let (copy, own) = (input.display().to_string(), path.display().to_string());
            let message = problem.message.replace(&copy, &own);
            let fault = Fault::first(&message, &own);
            let problem = Problem { message, fault, ..problem };
            // A compilation that fails has stages up to there.
            if !is_of_source || count == 0 {
                return Err(problem);
            }
            Some(problem.message)
        }
    };
    if count == 0 {
        let version = &compiler.version;
        return Err(Problem {
            message: format!(
                "iree-compile {version} prints no phases: use 3.1 or later; the setting \
                 ireeCompile can name it"
            ),
            setting: Some("ireeCompile"),
            fault: None,
        });
    }
    let info = Info {
        source: path.clone(),
        input: input.display().to_string(),
        digest,
        compiler: compiler.path,
        version: compiler.version,
        flags: job.settings.compiler_flags.clone(),
        directory,
        problem,
        messages,
    };
    let text = serde_json::to_vec_pretty(&info).map_err(|error| error.to_string())?;
    std::fs::write(scratch.path().join("info.json"), text).map_err(failed)?;
    // If that fails, another server was faster, or a file is in the way.
    let _ = std::fs::rename(scratch.path(), folder.join(&key));
    if let Some(mut copy) = copy {
        copy.0 = None;
    }
    cache::touch(&folder.join(&key));
    cache::trim(folder);
    Ok(stages.of_key(folder, &key)?)
}

fn key_of(job: &Job, digest: &str, compiler: &InstalledCompiler) -> String {
    let mut key = Digest::new();
    key.add_part(FORMAT);
    key.add_part(digest);
    key.add_part(&job.source.path.display().to_string());
    key.add_part(&compiler.path.display().to_string());
    key.add_part(&compiler.version);
    job.settings.compiler_flags.iter().for_each(|flag| key.add_part(flag));
    key.key()
}

/// The folder with a text that is not saved. It goes unless its compilation is kept: most texts of
/// a source that is being edited do not compile.
struct UnsavedCopy(Option<PathBuf>);

impl Drop for UnsavedCopy {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// A file with the text of a source that is not saved. Its locations lead to the source.
fn copied(source: &Source, folder: &Path, key: &str) -> Result<PathBuf, Problem> {
    let place = cache::unsaved(&folder.join(key));
    let path = place.join(source.path.file_name().unwrap_or_default());
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(&place)?;
        let file = std::fs::File::create(&path)?;
        match &source.open {
            Some(rope) => rope.write_to(std::io::BufWriter::new(file)),
            None => Ok(()),
        }
    };
    write().map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}
