//! Files that have no end, and places that have no room: errors that cost nothing else.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use support::text;

use crate::program::IREE_DBG;

/// A function that returns the tensor that it is given, and its module.
fn module(folder: &Path) {
    let source = "func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = arith.addf %x, %x : \
                  tensor<4xf32>\n  return %y : tensor<4xf32>\n}\n";
    fs::write(folder.join("same.mlir"), source).expect("it is written");
    IREE_DBG.compile(folder, "same.mlir", "same.vmfb", &[]);
}

/// Runs the program with so much address space that what has no end does not fit.
fn limited(folder: &Path, arguments: &[&str]) -> Output {
    Command::new("sh")
        .args(["-c", "ulimit -v 4000000; exec \"$@\"", "sh", IREE_DBG.path()])
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("a shell")
}

#[test]
fn what_has_no_end_is_read_as_far_as_needed_or_given_up() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    module(folder);
    let run = ["run", "--module=same.vmfb", "--input=4xf32=@/dev/zero"];
    let output = limited(folder, &run);
    assert!(text(&output.stdout).contains("4xf32=0 0 0 0"), "{output:?}");
    for arguments in [
        &["asm", "/dev/zero", "--output=x.vmfb"][..],
        &["run", "--module=same.vmfb", "--inputs-json=@/dev/zero"],
    ] {
        let output = limited(folder, arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
        let errors = text(&output.stderr);
        assert!(errors.contains("does not end within"), "{arguments:?}: {errors}");
    }
    // A pipe that has what is needed is a file like others; one without a writer is not waited for.
    let mut child = IREE_DBG
        .command()
        .args(["run", "--module=same.vmfb", "--input=4xf32=@/dev/stdin"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(&1_f32.to_le_bytes().repeat(4)).expect("it reads");
    let output = child.wait_with_output().expect("it ends, while its input does not");
    assert!(text(&output.stdout).contains("4xf32=2 2 2 2"), "{output:?}");
    drop(input);
    let made = Command::new("mkfifo").arg(folder.join("pipe")).status();
    assert!(made.expect("there is a mkfifo").success());
    let output = limited(folder, &["debug", "--batch", "pipe"]);
    assert!(text(&output.stderr).contains("not a regular file"), "{output:?}");
}

#[test]
fn a_recording_without_room_costs_no_result() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    module(folder);
    let run = ["run", "--module=same.vmfb", "--input=4xf32=1"];
    let expected = limited(folder, &run);
    let output = limited(folder, &[&run[..], &["--record=/dev/full"]].concat());
    assert_eq!(output.stdout, expected.stdout, "{output:?}");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stderr).contains("warning: the run is not recorded"), "{output:?}");
}
