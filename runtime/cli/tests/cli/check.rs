//! `iree-dbg check` on the modules of `tests/check`: each source becomes a module, and the output
//! of `check` must be the text of the `.expected` file beside the source.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use support::text;

use crate::program::{IREE_DBG, data};

use tempfile::TempDir;

fn iree_dbg() -> Command {
    let mut command = IREE_DBG.command();
    command.current_dir(folder());
    command
}

fn folder() -> PathBuf {
    data("check")
}

/// Makes a module from a source in the folder.
fn module(scratch: &TempDir, source: &str) -> PathBuf {
    let module = scratch.path().join(source).with_extension("vmfb");
    let is_assembly = source.ends_with(".vmasm");
    let built = iree_dbg()
        .args([if is_assembly { "asm" } else { "compile" }, source])
        .arg(if is_assembly { "--output" } else { "-o" })
        .arg(&module)
        .output()
        .expect("iree-dbg starts");
    assert!(built.status.success(), "{source}: {}", String::from_utf8_lossy(&built.stderr));
    module
}

fn check(arguments: &[&Path]) -> Output {
    iree_dbg().arg("check").args(arguments).output().expect("iree-dbg starts")
}

fn prints_what_is_expected(source: &str) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let output = check(&[&module(&scratch, source)]);
    let expected = folder().join(source).with_extension("expected");
    let expected = std::fs::read_to_string(&expected).expect("an expectation");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert_eq!(output.status.code(), Some(1), "some tests in {source} fail");
}

/// The error for a module that cannot be checked.
fn refusal(source: &str) -> String {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let output = check(&[&module(&scratch, source)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!String::from_utf8_lossy(&output.stdout).contains("passed"));
    text(&output.stderr)
}

#[test]
fn tests_are_listed_and_run_by_name() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let module = module(&scratch, "scalars.mlir");
    let list = check(&["--list".as_ref(), &module]);
    let names = text(&list.stdout);
    assert_eq!(names, "sum\nwrong_sum\nnothing_left\ncounts_once\ncounts_once_again\n");
    let one = check(&["--test=nothing_left".as_ref(), "--test=sum".as_ref(), &module]);
    let said = text(&one.stdout);
    assert!(said.ends_with("[       OK ] nothing_left\n2 passed, 0 failed\n"), "{said}");
    let none = check(&["--test=none".as_ref(), &module]);
    assert_eq!(none.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&none.stderr).contains("has no test `none`"));
}

#[test]
fn the_debugger_says_which_expectations_do_not_hold() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let module = module(&scratch, "scalars.mlir");
    let session = iree_dbg()
        .args(["debug", "--function=wrong_sum", "--eval-command=run"])
        .arg(&module)
        .stdin(std::process::Stdio::null())
        .output()
        .expect("iree-dbg starts");
    let said = text(&session.stdout);
    let expected = "check: Expected 0 to be nonzero.\ncheck: Expected 4 to be zero.\n";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn expectations_from_compiled_tests() {
    prints_what_is_expected("scalars.mlir");
}

#[test]
fn tests_end_in_every_way() {
    prints_what_is_expected("machine.vmasm");
}

#[test]
fn tests_of_the_machine_may_have_to_fail() {
    prints_what_is_expected("failures.vmasm");
}

#[test]
fn no_failed_test_is_a_success() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let output = check(&[&module(&scratch, "passing.vmasm")]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().last(), Some("1 passed, 0 failed"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_last_module_named_has_the_tests() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let provider = module(&scratch, "passing.vmasm");
    let provider = format!("--module={}", provider.display());
    let output = check(&[Path::new(&provider), &module(&scratch, "machine.vmasm")]);
    let text = text(&output.stdout);
    assert_eq!(text.lines().last(), Some("2 passed, 2 failed"));
}

#[test]
fn unknown_expectations_are_refused() {
    let error = refusal("unknown.vmasm");
    assert!(error.contains("check.expect_almost_eq (0ff_v)"), "{error}");
}

#[test]
fn a_module_without_tests_is_an_error() {
    let error = refusal("empty.vmasm");
    assert!(error.contains("nothing to check"), "{error}");
}

#[test]
fn run_fails_where_an_expectation_does_not_hold() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let module = format!("--module={}", module(&scratch, "scalars.mlir").display());
    for (function, status, message) in
        [("sum", 0, ""), ("wrong_sum", 1, "error: expectations that did not hold:\n")]
    {
        let function = format!("--function={function}");
        let output = iree_dbg().args(["run", &module, &function]).output().expect("it starts");
        assert_eq!(output.status.code(), Some(status), "{function}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.starts_with(message), "{function}: {stderr}");
    }
}
