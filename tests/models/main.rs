//! Models: programs that need a device, compiled for both back ends in each execution model.
//! iree-run-module is the oracle: output and exit status must be equal.
//!
//! The programs lie beside this file. Their comments are those of the corpus and, where not every
//! target compiles them, `// BACKENDS: llvm-cpu` and `// EXECUTION: async-internal`. Each
//! `--device=` of a run is the reference's; ours gets as many devices. The reference's local-sync
//! waits inside a submission for fences that are signalled later.
//!
//! Programs in assembly need a compiled module before them: the reference registers its `hal` only
//! for modules that declare a dependency on it, and assembly cannot.
//!
//! No case makes denormal numbers: IREE's device flushes them to zero, our VMVX interpreter does
//! not.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use conformance::corpus::{Source, Variant};
use conformance::runner::{self, Case};
use conformance::tools::{Finished, finish, iree, iree_dbg, repository, status_code};

/// Back ends and execution models, as flags for iree-compile.
const TARGETS: [(&str, &str); 7] = [
    ("vmvx", "async-internal"),
    ("vmvx", "async-external"),
    ("vmvx", "inline-dynamic"),
    ("vmvx-inline", "inline-static"),
    ("llvm-cpu", "async-internal"),
    ("llvm-cpu", "async-external"),
    ("llvm-cpu", "inline-dynamic"),
];

fn main() -> ExitCode {
    match cases() {
        Ok(cases) => runner::run(&cases),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn cases() -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for path in paths()? {
        let source = Source::read(&path)?;
        let (backends, executions) = (source.comments("BACKENDS"), source.comments("EXECUTION"));
        let targets = TARGETS.into_iter().filter(|(backend, execution)| {
            is_listed(&backends, backend) && is_listed(&executions, execution)
        });
        let variants: Vec<Variant> = if has_extension(&path, "vmasm") {
            vec![Variant::Assembled]
        } else {
            targets.map(|(backend, execution)| Variant::Model { backend, execution }).collect()
        };
        for variant in variants {
            for run in &source.runs {
                let name = format!("{} {} {}", source.name(), variant.name(), run.join(" "));
                let (source, run) = (source.clone(), run.clone());
                cases.push(Case::new(name, move || check(&source, variant, &run)));
            }
        }
    }
    Ok(cases)
}

/// Whether the comments list `name`, or list nothing.
fn is_listed(listed: &[String], name: &str) -> bool {
    listed.is_empty() || listed.iter().any(|one| one == name)
}

fn paths() -> Result<Vec<PathBuf>, String> {
    let folder = repository().join("tests/models");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{folder:?}: {error}"))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| has_extension(path, "mlir") || has_extension(path, "vmasm"))
        .collect();
    paths.sort();
    Ok(paths)
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn check(source: &Source, variant: Variant, arguments: &[String]) -> Result<(), String> {
    let modules = source.modules(variant)?;
    let modules: Vec<String> =
        modules.iter().map(|module| format!("--module={}", module.display())).collect();
    let (mut devices, arguments): (Vec<&str>, Vec<&str>) = arguments
        .iter()
        .map(String::as_str)
        .partition(|argument| argument.starts_with("--device="));
    if devices.is_empty() {
        devices.push("--device=local-sync");
    }
    let mut command = Command::new(iree("iree-run-module")?);
    let theirs = finish(command.args(&modules).args(&devices).args(&arguments))?;
    for device in ["local-sync", "local-task"] {
        let device = format!("--device={device}");
        let mut command = Command::new(iree_dbg()?);
        let as_many = devices.iter().map(|_| &device);
        let ours = finish(command.arg("run").args(&modules).args(as_many).args(&arguments))?;
        let is_same = theirs.status == ours.status
            && theirs.stdout == ours.stdout
            && status_code(&theirs.stderr) == status_code(&ours.stderr);
        if !is_same {
            return Err(format!("theirs:\n{}ours, {device}:\n{}", report(&theirs), report(&ours)));
        }
    }
    Ok(())
}

fn report(finished: &Finished) -> String {
    let Finished { status, stdout, stderr } = finished;
    format!("  exit status {status:?}\n{}{stderr}\n", String::from_utf8_lossy(stdout))
}
