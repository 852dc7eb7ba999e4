//! Faulting dispatches, in machine code and in bytecode, on one thread and on many. The invocation
//! must fail with the place and the reason, and the debugger must survive.
//!
//! The programs are in `programs.mlir`. iree-run-module is the oracle for faults of machine code:
//! there a signal ends it.

mod sandbox;

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use conformance::tools::{iree, iree_dbg, repository};
use support::{made_once, succeeded, text};

const DEVICES: [&str; 2] = ["local-sync", "local-task"];

/// Where machine code runs: in our process, or in one of its own.
const PLACES: [&str; 2] = ["--sandbox=off", "--sandbox=on"];

/// The inputs and one more flag.
fn with<'f>(inputs: &[&'f str], flag: &'f str) -> Vec<&'f str> {
    inputs.iter().copied().chain([flag]).collect()
}

/// The programs, compiled for a back end.
fn module(backend: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("faults").join(backend);
    let folder = made_once(folder, |folder| {
        let output = Command::new(iree_dbg().expect("our program"))
            .arg("compile")
            .arg(repository().join("tests/faults/programs.mlir"))
            .arg("-o")
            .arg(folder.join("programs.vmfb"))
            .args(["--", "--iree-hal-target-device=local", "--iree-llvmcpu-target-cpu=generic"])
            .arg(format!("--iree-hal-local-target-device-backends={backend}"))
            .output()
            .expect("our program starts");
        succeeded(&output);
    });
    folder.join("programs.vmfb")
}

/// Runs a function with a tool that takes IREE's flags.
fn run(tool: &Path, backend: &str, device: &str, function: &str, rest: &[&str]) -> Output {
    let mut command = Command::new(tool);
    if tool.ends_with("iree-dbg") {
        command.arg("run");
    }
    command
        .arg(format!("--module={}", module(backend).display()))
        .arg(format!("--device={device}"))
        .arg(format!("--function={function}"))
        .args(rest)
        .output()
        .expect("the tool starts")
}

/// Runs commands in the debugger and returns its output.
fn debug(backend: &str, device: &str, function: &str, flags: &[&str], commands: &str) -> String {
    let script = tempfile::NamedTempFile::new().expect("a script");
    std::fs::write(script.path(), commands).expect("a script");
    let output = Command::new(iree_dbg().expect("our program"))
        .arg("debug")
        .arg(module(backend))
        .args(["--batch", "-x"])
        .arg(script.path())
        .arg(format!("--device={device}"))
        .arg(format!("--function={function}"))
        .args(flags)
        .output()
        .expect("our program starts");
    assert!(output.status.signal().is_none(), "{}: {}", output.status, text(&output.stderr));
    text(&output.stdout) + &text(&output.stderr)
}

/// Faults of machine code: a function, its inputs, the signal that ends IREE's tool, and our
/// message.
const FAULTS: [(&str, &[&str], i32, &str); 3] = [
    (
        "gather",
        &["--input=16xf32=5", "--input=4xi64=0,1,2,10000000000"],
        libc_signal::SEGV,
        "that would be element 10000000000 of operand[0] : 16xf32",
    ),
    (
        "gather",
        &["--input=16xf32=5", "--input=4xi64=0,1,2,100000000000000"],
        libc_signal::SEGV,
        "use of an address that no memory can have",
    ),
    (
        "quotients",
        &["--input=4xi64=1,2,3,4", "--input=4xi64=1,0,2,2"],
        libc_signal::FPE,
        "integer division by zero",
    ),
];

/// Signal numbers, which are the same on every Linux.
mod libc_signal {
    pub(super) const FPE: i32 = 8;
    pub(super) const SEGV: i32 = 11;
}

/// Whether faults of machine code are caught on this platform. The tests run on others too.
const CATCHES_FAULTS: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

#[test]
fn faults_of_machine_code_fail_the_invocation() {
    if !CATCHES_FAULTS {
        return;
    }
    let (theirs, ours) =
        (iree("iree-run-module").expect("IREE's tools"), iree_dbg().expect("ours"));
    for (function, inputs, signal, what) in FAULTS {
        let reference = run(&theirs, "llvm-cpu", "local-sync", function, inputs);
        assert_eq!(reference.status.signal(), Some(signal), "{function} {inputs:?}");
        for (device, place) in DEVICES.into_iter().flat_map(|it| PLACES.map(|place| (it, place))) {
            let output = run(&ours, "llvm-cpu", device, function, &with(inputs, place));
            let errors = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{function} on {device}: {errors}");
            // Only the debugger knows the element.
            let what = what.split(" of operand").next().unwrap_or(what);
            let is_known_here = !what.contains("would be");
            assert!(!is_known_here || errors.contains(what), "{function} on {device}: {errors}");
            let place = format!("workgroup (0, 0, 0) of dispatch @{function}_dispatch_0");
            assert!(errors.contains(&place), "{function} on {device}: {errors}");
        }
    }
}

#[test]
fn the_debugger_shows_what_faulted_and_begins_again() {
    if !CATCHES_FAULTS {
        return;
    }
    for (device, place) in DEVICES.into_iter().flat_map(|it| PLACES.map(|place| (it, place))) {
        for (function, inputs, _, what) in FAULTS {
            let inputs = &with(inputs, place);
            let commands = "run\nbt\nregs\ninfo dispatch\nprint 6 * 7\nrun\nquit\n";
            let out = debug("llvm-cpu", device, function, inputs, commands);
            assert_eq!(out.matches(what).count(), 2, "twice, as it ran twice: {out}");
            assert!(out.contains("#0 workgroup (0,0,0), machine code +0x"), "{out}");
            assert!(out.contains("programs.mlir:"), "{out}");
            assert!(out.contains("$rip = 0x"), "{out}");
            assert!(out.contains("binding[1] = "), "{out}");
            assert!(out.contains("6 * 7 = 42"), "{out}");
        }
    }
}

/// In bytecode the same mistakes are errors of the interpreter, in the workgroup.
#[test]
fn the_same_in_bytecode() {
    let ours = iree_dbg().expect("ours");
    for device in DEVICES {
        let output = run(&ours, "vmvx", device, "gather", FAULTS[0].1);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(
            errors.contains("OUT_OF_RANGE") && errors.contains("workgroup (0, 0, 0)"),
            "{errors}"
        );
    }
}

/// A time limit ends a workgroup that never ends by itself, and a step limit does in bytecode.
#[test]
fn limits_hold_inside_of_workgroups() {
    let ours = iree_dbg().expect("ours");
    for device in DEVICES {
        for (backend, limit, what) in [
            ("llvm-cpu", "--max_time=300ms", "the time for this invocation is used up"),
            ("vmvx", "--max_time=300ms", "the time for this invocation is used up"),
            ("vmvx", "--max_steps=100000", "RESOURCE_EXHAUSTED"),
        ] {
            if backend == "llvm-cpu" && !CATCHES_FAULTS {
                continue;
            }
            for place in PLACES {
                let flags = ["--input=i32=3", limit, place];
                let output = run(&ours, backend, device, "endless", &flags);
                let errors = text(&output.stderr);
                assert_eq!(output.status.code(), Some(1), "{errors}");
                assert!(errors.contains(what), "{backend} {limit}: {errors}");
                assert!(errors.contains("of dispatch @endless_dispatch_0"), "{backend}: {errors}");
            }
        }
        for place in PLACES {
            let flags = ["--input=i32=8", "--max_time=10s", place];
            let output = run(&ours, "llvm-cpu", device, "endless", &flags);
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
    }
}

/// Programs in guarded memory: function, inputs, and the message, if the program has an error.
const GUARDED: [(&str, &[&str], Option<&str>); 6] = [
    (
        "partly",
        &["--input=8xf32=1"],
        Some(
            "reads operand[0] : 16xf32, and nothing has written 32 of its 64 bytes, the first at [0]",
        ),
    ),
    ("gather", &["--input=16xf32=5", "--input=4xi64=0,1,2,15"], None),
    (
        "gather",
        &["--input=16xf32=5", "--input=4xi64=0,1,2,16"],
        Some("element 16 of operand[0] : 16xf32"),
    ),
    ("scatter", &["--input=16xf32=0", "--input=2xf32=7,8", "--input=2xi32=3,15"], None),
    (
        "scatter",
        &["--input=16xf32=0", "--input=2xf32=7,8", "--input=2xi32=3,16"],
        Some("machine code: write of address 0x"),
    ),
    (
        "scatter",
        &["--input=16xf32=0", "--input=2xf32=7,8", "--input=2xi32=3,-2"],
        Some("wrote outside of a buffer (#1, 64 bytes by host), 8 bytes before its start"),
    ),
];

#[test]
fn guarded_memory_tells_of_what_plain_memory_hides() {
    if !CATCHES_FAULTS {
        return;
    }
    let all = GUARDED.iter().flat_map(|it| PLACES.map(|place| (it, place)));
    for ((function, inputs, said), place) in all {
        let flags: Vec<&str> = inputs.iter().copied().chain(["--guard", place]).collect();
        let out = debug("llvm-cpu", "local-sync", function, &flags, "run\ncontinue\n");
        match said {
            Some(said) => assert!(out.contains(said), "{function} {inputs:?}: {out}"),
            None => assert!(out.contains("16xf32=") || out.contains("4xf32="), "{out}"),
        }
        let is_silent = !out.contains("Caught") && !out.contains("failed");
        assert_eq!(is_silent, said.is_none(), "{function} {inputs:?} {place}: {out}");
    }
    // In bytecode, too, reads are checked before they happen.
    let flags = ["--input=8xf32=1", "--guard"];
    let out = debug("vmvx", "local-task", "partly", &flags, "catch uninitialised\nrun\n");
    assert!(out.contains("caught: dispatches that read what nothing has written"), "{out}");
    assert!(out.contains("nothing has written 32 of its 64 bytes"), "{out}");
    let out = debug("vmvx", "local-sync", "partly", &flags[..1], "catch uninitialised\n");
    assert!(out.contains("known of guarded memory only"), "{out}");
}
