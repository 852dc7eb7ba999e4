//! Sessions of the terminal debugger on a model that a device executes, compared with what they
//! printed before.
//!
//! `tests/device/perceptron.mlir` is compiled with iree-compile, which must be found; a case is a
//! script beside it with its output. To accept new output, run with `UPDATE_EXPECT=1` and read the
//! difference.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the model; tells where its module is.
fn compile(directory: &Path) -> PathBuf {
    let module = Path::new(env!("CARGO_TARGET_TMPDIR")).join("perceptron.vmfb");
    let output = Command::new(env!("CARGO_BIN_EXE_iree-dbg"))
        .current_dir(directory)
        .args(["compile", "perceptron.mlir", "-o"])
        .arg(&module)
        .output()
        .expect("the compiler's driver starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    module
}

#[test]
fn sessions_print_what_they_printed() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device");
    let module = compile(&directory);
    let is_update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut changed = Vec::new();
    for name in ["dispatches", "lines", "counts", "values"] {
        let output = Command::new(env!("CARGO_BIN_EXE_iree-dbg"))
            .current_dir(&directory)
            .args(["debug", "--batch", "--input=4x8xf32=1", "-x"])
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
