//! Folders of `iree-dbg repro`: every dispatch of our models, on both back ends, is run from its
//! folder by iree-compile and iree-run-module, which have to give the bits of the run.
//!
//! The programs are those of `models`, with their comments. What iree-compile and iree-run-module
//! are told is the script of each folder, and nothing else.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};

use conformance::corpus::Source;
use conformance::runner::{self, Case};
use conformance::tools::{Finished, finish, iree, iree_dbg, repository};

const BACKENDS: [&str; 2] = ["llvm-cpu", "vmvx"];

/// The models: those that iree-compile compiles for each back end.
const MODELS: [(&str, &[&str]); 7] = [
    ("contractions", &BACKENDS),
    ("control", &BACKENDS),
    ("dynamic", &BACKENDS),
    ("elementwise", &BACKENDS),
    ("half_floats", &["llvm-cpu"]),
    ("memory", &BACKENDS),
    ("narrow_types", &BACKENDS),
];

/// The folders that were run.
static FOLDERS: AtomicUsize = AtomicUsize::new(0);

/// Fewer folders than this mean that dispatches were passed over.
const FEWEST: usize = 70;

fn main() -> ExitCode {
    let mut cases = Vec::new();
    for (model, backends) in MODELS {
        for backend in backends {
            cases.push(Case::new(format!("{model} {backend}"), move || all_runs(model, backend)));
        }
    }
    let is_whole = std::env::args().skip(1).all(|word| word.starts_with('-'));
    let outcome = runner::run(&cases);
    let folders = FOLDERS.load(Ordering::Relaxed);
    println!("{folders} folders");
    match is_whole && folders < FEWEST {
        true => ExitCode::FAILURE,
        false => outcome,
    }
}

/// All runs of a model that its comments name.
fn all_runs(model: &str, backend: &str) -> Result<(), String> {
    let source = Source::read(&repository().join(format!("tests/models/{model}.mlir")))?;
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let module = scratch.path().join("model.vmfb");
    let mut command = Command::new(iree_dbg()?);
    command.arg("compile").arg(&source.path).arg("-o").arg(&module).arg("--");
    command.arg(format!("--iree-hal-local-target-device-backends={backend}"));
    let compiled = finish(command.env("IREE_COMPILE", iree("iree-compile")?))?;
    if compiled.status != Some(0) {
        return Err(compiled.stderr);
    }
    for (number, arguments) in source.runs.iter().enumerate() {
        let arguments: Vec<&String> =
            arguments.iter().filter(|it| !it.starts_with("--device=")).collect();
        let folder = scratch.path().join(format!("run{number}"));
        let mut command = Command::new(iree_dbg()?);
        command.arg("repro").arg(&module).args(&arguments).arg("--no-comparison");
        let written = finish(command.arg("-o").arg(&folder))?;
        let text = String::from_utf8_lossy(&written.stdout).into_owned();
        if text.contains("no folder") {
            return Err(format!("{arguments:?}: {text}"));
        }
        // A run that fails before it has a dispatch leaves nothing.
        for folder in folders(&folder) {
            run(&folder)?;
            spoiled(&folder)?;
            FOLDERS.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// The script of a folder says that the bits are the same, whatever the current folder is.
fn run(folder: &Path) -> Result<(), String> {
    let finished = script(folder)?;
    if finished.status == Some(0) && finished.stdout.ends_with(b"the same bits\n") {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&finished.stdout).into_owned();
    let dispatch = std::fs::read_to_string(folder.join("dispatch.mlir")).unwrap_or_default();
    Err(format!(
        "{}: exit status {:?}\n{said}{}\n{dispatch}",
        folder.display(),
        finished.status,
        finished.stderr
    ))
}

/// With another bit in what is expected, the comparison at the end of the script fails. What it
/// does before is left out, as it was done already.
fn spoiled(folder: &Path) -> Result<(), String> {
    let io = |error: std::io::Error| format!("{}: {error}", folder.display());
    let text = std::fs::read_to_string(folder.join("run.sh")).map_err(io)?;
    let (_, comparison) = text.split_once("status=0\n").ok_or("the script does not compare")?;
    for entry in std::fs::read_dir(folder).map_err(io)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with("output") {
            continue;
        }
        let mut bytes = std::fs::read(entry.path()).map_err(io)?;
        let has_elements = !comparison.contains(&format!("tail -c 0 {name}"));
        let Some(last) = bytes.last_mut().filter(|_| has_elements) else { continue };
        *last ^= 1;
        std::fs::write(entry.path(), &bytes).map_err(io)?;
        let mut command = Command::new("sh");
        command.current_dir(folder).arg("-c").arg(format!("status=0\n{comparison}"));
        let finished = finish(&mut command)?;
        if finished.status != Some(1) {
            return Err(format!("{}: a spoiled {name} is not seen", folder.display()));
        }
        *bytes.last_mut().ok_or("no bytes")? ^= 1;
        std::fs::write(entry.path(), &bytes).map_err(io)?;
    }
    Ok(())
}

fn script(folder: &Path) -> Result<Finished, String> {
    let mut command = Command::new("sh");
    command.arg(folder.join("run.sh"));
    command.env("IREE_COMPILE", iree("iree-compile")?);
    command.env("IREE_RUN_MODULE", iree("iree-run-module")?);
    finish(&mut command)
}
