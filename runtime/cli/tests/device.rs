//! Sessions of the terminal debugger on programs that are compiled for it, compared with what they
//! printed before: a model that a device executes, one whose functions are inlined, and one with several
//! operations on a line.
//!
//! They are compiled with iree-compile, which must be found; a case is a script beside the program with its
//! output. To accept new output, run with `UPDATE_EXPECT=1` and read the difference.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles a program of a directory; tells where its module is.
fn compile(directory: &Path, program: &str) -> PathBuf {
    let module = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{program}.vmfb"));
    let output = Command::new(env!("CARGO_BIN_EXE_iree-dbg"))
        .current_dir(directory)
        .arg("compile")
        .arg(format!("{program}.mlir"))
        .arg("-o")
        .arg(&module)
        .output()
        .expect("the compiler's driver starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    module
}

/// Runs scripts on a program of a directory.
fn check(directory: &str, program: &str, inputs: &[&str], scripts: &[&str]) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(directory);
    let module = compile(&directory, program);
    let is_update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut changed = Vec::new();
    for name in scripts {
        let output = Command::new(env!("CARGO_BIN_EXE_iree-dbg"))
            .current_dir(&directory)
            .args(["debug", "--batch"])
            .args(inputs.iter().map(|input| format!("--input={input}")))
            .arg("-x")
            .arg(format!("{name}.script"))
            .arg(&module)
            .output()
            .expect("the debugger starts");
        let mut actual = String::from_utf8_lossy(&output.stdout).into_owned();
        actual.push_str(&String::from_utf8_lossy(&output.stderr));
        let expected_path = directory.join(format!("{name}.expected"));
        if is_update {
            std::fs::write(&expected_path, &actual).expect("the expected output is written");
        }
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        if expected != actual {
            changed.push(format!("{name}\n--- expected\n{expected}\n--- actual\n{actual}"));
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

#[test]
fn dispatches_are_debugged() {
    let scripts = ["dispatches", "lines", "counts", "values", "calls", "ranges"];
    check("device", "perceptron", &["4x8xf32=1"], &scripts);
}

#[test]
fn inlined_calls_are_frames() {
    check("inlined", "inlined", &["7", "3"], &["inlined", "places"]);
}

#[test]
fn operations_are_stepped_one_by_one() {
    check("levels", "several", &["3"], &["statements"]);
}

#[test]
fn operations_of_a_line_take_breakpoints() {
    check("columns", "columns", &["7", "3"], &["columns"]);
}
