//! The program that is debugged: `program.mlir` beside this file, compiled once.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use debuginfo::compile::{Cancellation, CompileRequest, compile};
use serde_json::{Value, json};

const TEXT: &str = include_str!("program.mlir");

static MODULE: LazyLock<PathBuf> = LazyLock::new(|| {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dap");
    std::fs::create_dir_all(&directory).unwrap();
    let request = CompileRequest {
        input: source(),
        output: directory.join("program.vmfb"),
        ..CompileRequest::default()
    };
    let mut printed = String::new();
    let output = compile(&request, &Cancellation::default(), &mut |line| {
        printed.push_str(line);
        printed.push('\n');
    });
    output.unwrap_or_else(|error| panic!("{error}\n{printed}")).module
});

/// The source.
pub(crate) fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dap/program.mlir")
}

/// The module that iree-compile makes of it, with its companion beside it.
pub(crate) fn module() -> PathBuf {
    MODULE.clone()
}

/// The line that ends with a comment.
pub(crate) fn line(comment: &str) -> u32 {
    let ending = format!("// {comment}");
    let index = TEXT.lines().position(|line| line.ends_with(&ending));
    u32::try_from(index.unwrap_or_else(|| panic!("no line ends with {ending}")) + 1).unwrap()
}

/// What launches a function of it.
pub(crate) fn call(function: &str, inputs: &[&str]) -> Value {
    json!({"program": module(), "function": function, "inputs": inputs})
}
