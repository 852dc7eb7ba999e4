//! iree-dbg in the place of IREE's tools: under their names, with every flag that they list, and
//! with what they print.
//!
//! | file | checks |
//! | --- | --- |
//! | `flags` | every flag that a tool lists is taken, so that a new release shows what is missing |
//! | `outputs` | rows of command lines, which both run |
//! | `reports` | reports of benchmarks, whose numbers differ |

mod flags;
mod outputs;
mod reports;

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use conformance::tools::{iree, iree_dbg, repository};
use support::text;

/// A folder with compiled programs, and with our program under the names of IREE's tools.
fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, folder) = FOLDER.get_or_init(|| {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().to_owned();
        for tool in TOOLS {
            let link = folder.join(tool);
            std::os::unix::fs::symlink(iree_dbg().expect("our program"), link).expect("a link");
        }
        compile(&folder, "program.vmfb", &[]);
        compile(&folder, "fenced.vmfb", &["--iree-execution-model=async-external"]);
        (scratch, folder)
    });
    folder
}

const TOOLS: [&str; 5] = [
    "iree-run-module",
    "iree-benchmark-module",
    "iree-dump-module",
    "iree-check-module",
    "iree-compile",
];

fn compile(folder: &std::path::Path, module: &str, flags: &[&str]) {
    let status = Command::new(iree("iree-compile").expect("IREE's tools"))
        .current_dir(folder)
        .arg(repository().join("tests/drop_in/program.mlir"))
        .args(["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"])
        .args(flags)
        .args(["-o", module])
        .status();
    assert!(status.expect("iree-compile starts").success());
}

/// How a program ended, and what it printed.
struct Answer {
    ok: bool,
    out: String,
    errors: String,
}

fn answer(command: &mut Command) -> Answer {
    let compiler = iree("iree-compile").expect("IREE's tools");
    let command = command.current_dir(folder()).env("IREE_COMPILE", compiler);
    let output = command.output().expect("a program starts");
    Answer { ok: output.status.success(), out: text(&output.stdout), errors: text(&output.stderr) }
}

/// What one of IREE's tools answers.
fn theirs(tool: &str, arguments: &[&str]) -> Answer {
    answer(Command::new(iree(tool).expect("IREE's tools")).args(arguments))
}

/// What our program answers under the name of that tool.
fn ours(tool: &str, arguments: &[&str]) -> Answer {
    answer(Command::new(folder().join(tool)).args(arguments))
}
