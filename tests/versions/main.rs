//! Modules of older compilers load, verify, print and run like modules of today.
//!
//! The releases named in this folder's modules made them, through the script `make`, which also
//! compared the results in `program.mlir` with each release's own runtime. Here our results are
//! compared with the same file, without any of the releases.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use conformance::runner::{self, Case};
use conformance::tools::{finish, iree_dbg, repository, status_code};
use debuginfo::DebugInfo;
use vmfb::print::{DisassemblyOptions, disassemble};
use vmfb::{BytecodeVersion, Compilers, Module, VERSIONS, newest_compiler};

/// The releases whose modules are here, and the bytecode version that each writes.
/// `covers_versions` compares this with the table in crate `vmfb`.
const RELEASES: &[(&str, &str)] = &[
    ("20230404.479", "15.0"),
    ("20230524.529", "15.0"),
    ("3.1.0", "15.0"),
    ("3.9.0", "15.0"),
    ("3.10.0", "16.0"),
];

/// A module of the last release that is too old to read.
const REFUSED: &str = "refused-20230228.444.vmfb";

fn main() -> ExitCode {
    let mut cases =
        vec![Case::new(REFUSED, refused), Case::new("the table of versions", covers_versions)];
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

/// Every call that `program.mlir` describes returns the result that it states.
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

/// With the flag, calls return the results of the release's own runtime, as `program.mlir` states
/// them; without it, a note says what may differ.
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

/// The results of a call on one line, or the name of its status.
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

/// Every command that reads a module refuses one that is too old, by its version.
fn refused() -> Result<(), String> {
    let version = BytecodeVersion { major: 13, minor: 0 };
    let reason = format!(
        "bytecode version {version} ({}) is not supported; {}",
        version.written_by(),
        BytecodeVersion::supported()
    );
    let path = folder().join(REFUSED);
    let commands: [&[&str]; 3] =
        [&["verify"], &["dump"], &["run", "--function=answer", "--module"]];
    for arguments in commands {
        let finished = finish(Command::new(iree_dbg()?).args(arguments).arg(&path))?;
        if finished.status != Some(1) || !finished.stderr.contains(&reason) {
            return Err(format!("{arguments:?}: {:?}: {}", finished.status, finished.stderr));
        }
    }
    Ok(())
}

/// Each version that an older release wrote has a module here, and the README names the newest
/// compiler. All other suites test modules of the newest version.
fn covers_versions() -> Result<(), String> {
    let [earlier @ .., _] = VERSIONS else { return Err("there is no version".to_owned()) };
    for row in earlier {
        let Compilers::Releases(first, last) = row.compilers else { continue };
        let version = format!("{}.0", row.major);
        for release in [first, last] {
            let is_here = RELEASES
                .iter()
                .any(|(name, of)| name.trim_end_matches(".0") == release && *of == version);
            if !is_here {
                return Err(format!("no module of {release}, which writes version {version}"));
            }
        }
    }
    let readme = repository().join("README.md");
    let text = std::fs::read_to_string(&readme).map_err(|error| format!("{readme:?}: {error}"))?;
    let newest = newest_compiler();
    if text.contains(&format!("to {newest}")) {
        return Ok(());
    }
    Err(format!("the README does not say that modules of compilers up to {newest} run"))
}
