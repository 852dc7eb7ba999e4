//! Modules of older compilers: they load, verify, print and run as modules of today do.
//!
//! The modules in this folder were made by the releases in their names, with `make` beside them,
//! which also held what `program.mlir` says against each release's own runtime. Here the same is
//! held against ours, without any of the releases.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use conformance::runner::{self, Case};
use conformance::tools::{finish, iree_dbg, repository, status_code};
use debuginfo::DebugInfo;
use vmfb::Module;
use vmfb::print::{DisassemblyOptions, disassemble};

/// The releases whose modules are here, and the bytecode version that each writes.
const RELEASES: &[(&str, &str)] = &[
    ("20230404.479", "15.0"),
    ("20230524.529", "15.0"),
    ("3.1.0", "15.0"),
    ("3.9.0", "15.0"),
    ("3.10.0", "16.0"),
];

/// A module of the last release that is too old, and what is said of it.
const REFUSED: (&str, &str) = (
    "refused-20230228.444.vmfb",
    "bytecode version 13.0 (written by compilers up to 20230228.444) is not supported; supported \
     are 14 (snapshots of early March 2023), 15 (compilers 20230404.479 to 3.9), 16 (3.10) and 17 \
     (3.11 to 3.13): recompile the model with one of those",
);

fn main() -> ExitCode {
    let mut cases = vec![Case::new(REFUSED.0, refused)];
    for (release, version) in RELEASES {
        let path = folder().join(format!("program-{release}.vmfb"));
        let tables = path.clone();
        cases.push(Case::new(format!("{release} reads"), move || reads(&tables, version)));
        let narrow = path.clone();
        cases.push(Case::new(format!("{release} runs"), move || runs(&path)));
        cases.push(Case::new(format!("{release} is imitated"), move || imitates(&narrow, release)));
    }
    runner::run(&cases)
}

fn folder() -> PathBuf {
    repository().join("tests/versions")
}

/// The module verifies and prints, and its debug database covers all its functions.
fn reads(path: &Path, version: &str) -> Result<(), String> {
    let module = Module::open(path).map_err(|error| error.to_string())?;
    let found = module.bytecode_version().to_string();
    if found != version {
        return Err(format!("its version is {found}, not {version}"));
    }
    let options = DisassemblyOptions { bytecode_offsets: true, ..DisassemblyOptions::default() };
    let listing = disassemble(&module, &options).text;
    for instruction in ["vm.call @program.sum_of", "vm.list.set.ref", "vm.mul.i64"] {
        if !listing.contains(instruction) {
            return Err(format!("its disassembly has no {instruction}:\n{listing}"));
        }
    }
    let info = DebugInfo::load(&module, None);
    if !info.completeness().is_complete() {
        return Err(info.completeness().messages().join("\n"));
    }
    let verified = vmfb::verify::verify(module);
    verified.map(drop).map_err(|defects| format!("{} defects: {}", defects.len(), defects[0]))
}

/// Every call that `program.mlir` describes gives what it says.
fn runs(path: &Path) -> Result<(), String> {
    let source = folder().join("program.mlir");
    let text = std::fs::read_to_string(&source).map_err(|error| format!("{source:?}: {error}"))?;
    let mut failures = Vec::new();
    for line in text.lines().map(str::trim) {
        let call = line.strip_prefix("// RUN: ").or_else(|| line.strip_prefix("// RUN-RIGHT: "));
        let Some((flags, expected)) = call.and_then(|call| call.split_once(" => ")) else {
            continue;
        };
        let found = answer(path, flags)?;
        if found != expected {
            failures.push(format!("{flags}: {expected} is expected, found {found}"));
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

/// With the flag, calls give what they give on the release's own runtime, as far as `program.mlir`
/// says that; without it, what may differ is told.
fn imitates(path: &Path, release: &str) -> Result<(), String> {
    let source = folder().join("program.mlir");
    let text = std::fs::read_to_string(&source).map_err(|error| format!("{source:?}: {error}"))?;
    for line in text.lines().map(str::trim) {
        let call = line.strip_prefix("// RUN-NARROW: ").and_then(|it| it.strip_prefix(release));
        let Some((flags, expected)) = call.and_then(|call| call.trim().split_once(" => ")) else {
            continue;
        };
        let found = answer(path, &format!("{flags} --imitate-narrow-calls"))?;
        if found != expected {
            return Err(format!("{flags}: {expected} is expected, found {found}"));
        }
    }
    let call = ["run", "--function=wide", "--input=6", "--input=7", "--module"];
    for (flags, is_told) in [(&[][..], true), (&["--imitate-narrow-calls"][..], false)] {
        let finished = finish(Command::new(iree_dbg()?).args(call).arg(path).args(flags))?;
        let notes = finished.stderr.matches("passes 32 of the 64 bits").count();
        if notes != usize::from(is_told) {
            return Err(format!("{flags:?}: {}", finished.stderr));
        }
    }
    Ok(())
}

/// The results of a call in a line, or the name of its status.
fn answer(path: &Path, flags: &str) -> Result<String, String> {
    let mut command = Command::new(iree_dbg()?);
    command.arg("run").arg(format!("--module={}", path.display())).args(flags.split(' '));
    let finished = finish(&mut command)?;
    if finished.status == Some(0) {
        let text = String::from_utf8_lossy(&finished.stdout).into_owned();
        let values = text.lines().filter_map(|line| line.split_once("]: "));
        return Ok(values.map(|(_, value)| value).collect::<Vec<_>>().join(" "));
    }
    let code = status_code(&finished.stderr).map(str::to_owned);
    code.ok_or_else(|| format!("{command:?} failed: {}", finished.stderr))
}

/// A module that is too old is refused by its version, by every command that reads it.
fn refused() -> Result<(), String> {
    let (name, reason) = REFUSED;
    let path = folder().join(name);
    let commands: [&[&str]; 3] =
        [&["verify"], &["dump"], &["run", "--function=answer", "--module"]];
    for arguments in commands {
        let finished = finish(Command::new(iree_dbg()?).args(arguments).arg(&path))?;
        if finished.status != Some(1) || !finished.stderr.contains(reason) {
            return Err(format!("{arguments:?}: {:?}: {}", finished.status, finished.stderr));
        }
    }
    Ok(())
}
