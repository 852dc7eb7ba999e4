//! `run --max_…`: programs that exceed a limit end with `RESOURCE_EXHAUSTED` and exit status 1.

use std::path::{Path, PathBuf};

use crate::program::{IREE_DBG, data};

const GREEDY: &str = "\
vm.module @greedy

vm.export @allocate
vm.func @allocate(%i0:1: i64) -> () {
^bb0:
  %i2 = vm.const.i32 16
  %r0 = vm.buffer.alloc %i0:1, %i2
  vm.return
}

vm.export @recurse
vm.func @recurse(%i0: i32) -> () {
^bb0:
  vm.cond_br %i0, ^bb1(), ^bb2()
^bb1:
  %i1 = vm.const.i32 1
  %i0 = vm.sub.i32 %i0, %i1
  vm.call @recurse(%i0)
  vm.return
^bb2:
  vm.return
}
";

/// Runs the program.
///
/// # Errors
/// The program fails; its standard error.
fn run(module: &Path, flags: &[&str]) -> Result<(), String> {
    let output = IREE_DBG
        .command()
        .arg("run")
        .arg(format!("--module={}", module.display()))
        .args(flags)
        .output()
        .expect("the binary starts");
    if output.status.success() {
        return Ok(());
    }
    assert_eq!(output.status.code(), Some(1));
    Err(String::from_utf8(output.stderr).expect("errors are UTF-8"))
}

#[test]
fn what_goes_past_a_limit_fails() {
    let directory = std::env::temp_dir().join(format!("iree-dbg-limits-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let (text, module) = (directory.join("greedy.vmasm"), directory.join("greedy.vmfb"));
    std::fs::write(&text, GREEDY).expect("the text is written");
    let assembled = IREE_DBG
        .command()
        .arg("asm")
        .args([&text, Path::new("-o"), &module])
        .status()
        .expect("the binary starts");
    assert!(assembled.success());

    let (allocate, recurse) = ("--function=allocate", "--function=recurse");
    let cases = [
        (allocate, "--input=4096", "--max_memory=8KiB", "--max_memory=4KiB"),
        (recurse, "--input=50", "--max_call_depth=60", "--max_call_depth=40"),
        (recurse, "--input=50", "--max_steps=60", "--max_steps=40"),
    ];
    for (function, input, enough, too_little) in cases {
        assert_eq!(run(&module, &[function, input]), Ok(()));
        assert_eq!(run(&module, &[function, input, enough]), Ok(()), "{enough}");
        let error = run(&module, &[function, input, too_little]).expect_err(too_little);
        assert!(error.contains("RESOURCE_EXHAUSTED"), "{too_little}: {error}");
    }
    // Without a flag there is a limit too: this is more memory than the machine has.
    let error = run(&module, &[allocate, "--input=4611686018427387904"]).expect_err("too much");
    assert!(error.contains("(limit ") && error.contains(": --max_memory)"), "{error}");
    std::fs::remove_dir_all(&directory).expect("the directory goes");
}

/// Compiles a program with dispatches.
fn compiled(folder: &Path, flags: &[&str]) -> PathBuf {
    IREE_DBG.compile(data("limits"), "dispatches.mlir", folder.join("dispatches.vmfb"), flags)
}

#[test]
fn workgroups_take_from_the_same_budget() {
    let folder = tempfile::tempdir().expect("a folder");
    let module = compiled(folder.path(), &[]);
    let crowd = ["--function=crowd", "--input=4xi32=1"];
    for device in ["--device=local-sync", "--device=local-task"] {
        let few = [&crowd[..], &["--input=3", device]].concat();
        assert_eq!(run(&module, &few), Ok(()));
        assert_eq!(
            run(&module, &[&few[..], &["--max_steps=4000", "--max_time=1h"]].concat()),
            Ok(())
        );
        let cases = [
            // Each of the 27 workgroups costs at least one step.
            (few, "crowd", "--max_steps=26"),
            ([&crowd[..], &["--input=4294967295", device]].concat(), "crowd", "--max_steps=100000"),
            ([&crowd[..], &["--input=4294967295", device]].concat(), "crowd", "--max_time=200ms"),
            (
                vec!["--function=endless", "--input=4xi32=1", device],
                "endless",
                "--max_steps=100000",
            ),
            (vec!["--function=endless", "--input=4xi32=1", device], "endless", "--max_time=200ms"),
        ];
        for (call, name, limit) in cases {
            let error = run(&module, &[&call[..], &[limit]].concat()).expect_err(limit);
            assert!(error.contains("RESOURCE_EXHAUSTED"), "{call:?} {limit}: {error}");
            let place = format!("of dispatch @{name}_dispatch_0_");
            assert!(error.contains("in workgroup ("), "{call:?} {limit}: {error}");
            assert!(error.contains(&place), "{call:?} {limit}: {error}");
        }
    }
}

/// A program that runs its dispatches without a queue.
#[test]
fn dispatches_without_a_device_take_from_the_same_budget() {
    let folder = tempfile::tempdir().expect("a folder");
    let module = compiled(folder.path(), &["--iree-execution-model=inline-dynamic"]);
    for limit in ["--max_steps=100000", "--max_time=200ms"] {
        let endless = ["--function=endless", "--input=4xi32=1", limit];
        let error = run(&module, &endless).expect_err(limit);
        assert!(error.contains("RESOURCE_EXHAUSTED"), "{limit}: {error}");
        assert!(error.contains("of dispatch @endless_dispatch_0_"), "{limit}: {error}");
    }
}
