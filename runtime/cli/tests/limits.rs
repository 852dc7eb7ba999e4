//! `run --max_…`: programs that want more than they may get end with `RESOURCE_EXHAUSTED` and status 1.

use std::path::Path;
use std::process::Command;

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

/// Whether the program ends well; its last line if not.
fn run(module: &Path, flags: &[&str]) -> Result<(), String> {
    let output = Command::new(env!("CARGO_BIN_EXE_iree-dbg"))
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
    let assembled = Command::new(env!("CARGO_BIN_EXE_iree-dbg"))
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
    // Nobody has to ask for a bound: this is more than there is.
    let error = run(&module, &[allocate, "--input=4611686018427387904"]).expect_err("too much");
    assert!(error.contains("(limit ") && error.contains(": --max_memory)"), "{error}");
    std::fs::remove_dir_all(&directory).expect("the directory goes");
}
