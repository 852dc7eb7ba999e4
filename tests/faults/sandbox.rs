//! Machine code that was written to do harm, in a sandbox: it fails its dispatch, with a reason,
//! and nothing else.
//!
//! Each program is a module of iree-compile's in which the first instructions of the dispatch are
//! replaced.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use conformance::dap_client::{Client, Halt};
use conformance::tools::{iree, iree_dbg, repository};
use serde_json::{Value, json};
use support::{succeeded, text};

use super::{CATCHES_FAULTS, DEVICES, PLACES, module};

/// What the machine code does, its bytes, and what is said of it.
const HOSTILE: [(&str, &[u8], &str); 17] = [
    // mov eax, 41; syscall
    ("opens a socket", b"\xB8\x29\0\0\0\x0F\x05\x31\xC0\xC3", "system call 41 (socket)"),
    ("opens a file", b"\xB8\x02\0\0\0\x0F\x05\x31\xC0\xC3", "system call 2 (open)"),
    ("starts a program", b"\xB8\x3B\0\0\0\x0F\x05\x31\xC0\xC3", "system call 59 (execve)"),
    ("forks", b"\xB8\x39\0\0\0\x0F\x05\x31\xC0\xC3", "system call 57 (fork)"),
    ("ends its process", b"\xB8\xE7\0\0\0\x0F\x05\x31\xC0\xC3", "system call 231 (exit_group)"),
    ("ends its thread", b"\xB8\x3C\0\0\0\x0F\x05\x31\xC0\xC3", "system call 60 (exit)"),
    // mov edi, -1; mov esi, 0; mov eax, 62; syscall
    (
        "sends signals to all processes",
        b"\xBF\xFF\xFF\xFF\xFF\x31\xF6\xB8\x3E\0\0\0\x0F\x05\x31\xC0\xC3",
        "system call 62 (kill)",
    ),
    // mov edi, 1; mov esi, 0x400000; mov eax, 1; syscall
    (
        "writes to standard output",
        b"\xBF\x01\0\0\0\xBE\0\0\x40\0\xB8\x01\0\0\0\x0F\x05\x31\xC0\xC3",
        "system call 1 (write)",
    ),
    // mov eax, 1; int 0x80
    (
        "makes a system call of 32 bits",
        b"\xB8\x01\0\0\0\xCD\x80\xC3",
        "it made a system call that the sandbox does not allow; in dispatch @",
    ),
    // mov rax, 0x123456789000; mov dword [rax], 1
    (
        "writes to an address that is not there",
        b"\x48\xB8\0\x90\x78\x56\x34\x12\0\0\xC7\0\x01\0\0\0\xC3",
        "write of address 0x123456789000",
    ),
    // What lies there differs from run to run: it ends in a fault of the machine code, or the
    // process of the sandbox ends.
    // sub rdi, 0x80000; xor eax, eax; mov ecx, 0x100000; rep stosb
    (
        "writes zeros over the heap around its arguments",
        b"\x48\x81\xEF\0\0\x08\0\x31\xC0\xB9\0\0\x10\0\xF3\xAA\x31\xC0\xC3",
        "The program failed: ",
    ),
    // mov rdi, rsp; xor eax, eax; mov ecx, 0x10000000; rep stosb
    (
        "writes zeros over its stack",
        b"\x48\x89\xE7\x31\xC0\xB9\0\0\0\x10\xF3\xAA\xC3",
        "The program failed: ",
    ),
    // push rax; jmp back
    ("fills its stack", b"\x50\xEB\xFD", "stack overflow"),
    // pushfq; pop rax; or eax, 0x100; push rax; popfq; nop
    (
        "traps after each instruction",
        b"\x9C\x58\x0D\0\x01\0\0\x50\x9D\x90\x31\xC0\xC3",
        "trap instruction",
    ),
    // mov edi, 0x1002; xor esi, esi; mov eax, 158; syscall
    (
        "takes the thread's own data away",
        b"\xBF\x02\x10\0\0\x31\xF6\xB8\x9E\0\0\0\x0F\x05\x31\xC0\xC3",
        "machine code",
    ),
    // jmp to itself
    ("never ends", b"\xEB\xFE", "the time for this invocation is used up"),
    ("says that it has failed", b"\xB8\x07\0\0\0\xC3", "catastrophic error 7"),
];

/// A module of one dispatch that begins with these bytes.
fn hostile(code: &[u8], folder: &Path) -> PathBuf {
    let good = fs::read(module("llvm-cpu")).expect("the programs");
    let file = good.windows(4).position(|it| it == b"\x7FELF").expect("machine code in it");
    let number = |at: usize, length: usize| {
        let bytes = &good[file + at..file + at + length];
        bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    };
    // The table of segments; the first one that is executable begins with the first dispatch.
    let (table, count) = (number(32, 8), number(56, 2));
    let is_code = |header: &usize| number(*header, 4) == 1 && number(header + 4, 4) & 1 != 0;
    let header = (0..count).map(|index| table + 56 * index).find(is_code).expect("a segment");
    let start = file + number(header + 8, 8);
    let mut bad = good.clone();
    bad[start..start + code.len()].copy_from_slice(code);
    let path = folder.join("hostile.vmfb");
    fs::write(&path, bad).expect("a module");
    path
}

/// The function whose dispatch is the first one in the file, with its inputs.
const FIRST: [&str; 3] = ["--function=gather", "--input=16xf32=5", "--input=4xi64=0,1,2,3"];

fn debugger(module: &Path, device: &str, script: &str) -> Command {
    let path = module.with_extension("script");
    fs::write(&path, script).expect("a script");
    let mut command = Command::new(iree_dbg().expect("our program"));
    command.arg("debug").arg(module).args(FIRST).arg("--batch").arg("-x").arg(path);
    command.args(["--sandbox=on", "--max_time=1s"]).arg(format!("--device={device}"));
    command
}

#[test]
fn hostile_machine_code_fails_its_dispatch_and_nothing_else() {
    if !CATCHES_FAULTS {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for (name, code, said) in HOSTILE {
        let module = hostile(code, folder.path());
        for device in DEVICES {
            let script = "run\nprint 6 * 7\nrun\nprint 6 * 8\nquit\n";
            let output = debugger(&module, device, script).output().expect("our program");
            let out = text(&output.stdout) + &text(&output.stderr);
            assert_eq!(output.status.signal(), None, "{name} on {device}: {out}");
            assert_eq!(out.matches(said).count(), 2, "{name} on {device}, twice: {out}");
            assert!(out.contains("gather_dispatch_0"), "{name} on {device}: {out}");
            assert!(out.contains("6 * 7 = 42") && out.contains("6 * 8 = 48"), "{name}: {out}");
        }
    }
}

/// The flag for alignment checks makes our own code fault, unless it is cleared.
#[test]
fn what_machine_code_leaves_in_registers_does_no_harm() {
    if !CATCHES_FAULTS {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    // pushfq; pop rax; or eax, 0x40000; push rax; popfq
    let code = b"\x9C\x58\x0D\0\0\x04\0\x50\x9D\x31\xC0\xC3";
    let module = hostile(code, folder.path());
    let output = debugger(&module, "local-sync", "run\nrun\nquit\n").output().expect("ours");
    let out = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(out.matches("4xf32=").count(), 2, "{out}");
}

/// Compiles a source to machine code that any processor of this kind runs.
fn compiled(source: &Path, flags: &[&str], module: &Path) {
    let output = Command::new(iree("iree-compile").expect("IREE's tools"))
        .arg(source)
        .args([
            "--iree-hal-target-device=local",
            "--iree-hal-local-target-device-backends=llvm-cpu",
        ])
        .args(["--iree-llvmcpu-target-cpu=generic", "-o"])
        .arg(module)
        .args(flags)
        .output()
        .expect("the compiler starts");
    succeeded(&output);
}

/// A model with a weight in an archive, which lies in memory that the sandbox does not have.
const WITH_PARAMETER: &str = r#"
util.global private @weight = #flow.parameter.named<"model"::"weight"> : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %weight = util.global.load @weight : tensor<4xf32>
  %0 = arith.mulf %x, %weight : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"#;

/// An archive with the weight 1, 2, 3, 4, at a multiple of 64 bytes.
fn archive(path: &Path) {
    let header = r#"{"weight":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}"#;
    let padded = format!("{header:120}");
    let mut bytes = (padded.len() as u64).to_le_bytes().to_vec();
    bytes.extend(padded.as_bytes());
    bytes.extend([1.0_f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat());
    fs::write(path, bytes).expect("an archive");
}

#[test]
fn results_are_those_without_a_sandbox() {
    let folder = tempfile::tempdir().expect("a folder");
    let models = repository().join("tests/bench/models");
    let (source, weights) =
        (folder.path().join("weight.mlir"), folder.path().join("w.safetensors"));
    fs::write(&source, WITH_PARAMETER).expect("a source");
    archive(&weights);
    let parameters = format!("--parameters=model={}", weights.display());
    let dynamic = ["--iree-execution-model=inline-dynamic"];
    let square = "--input=64x64xf32=0.25";
    let cases: [(PathBuf, &[&str], &[&str]); 5] = [
        (models.join("attention.mlir"), &[], &[square, square]),
        (models.join("layers.mlir"), &[], &["--input=1x32xf32=0.5"]),
        (models.join("layers.mlir"), &dynamic, &["--input=1x32xf32=0.5"]),
        (models.join("wide.mlir"), &[], &["--input=64x512xf32=0.25"]),
        (source, &[], &["--input=4xf32=5", &parameters]),
    ];
    for (source, flags, inputs) in cases {
        let module = folder.path().join("model.vmfb");
        compiled(&source, flags, &module);
        for (device, more) in DEVICES.into_iter().flat_map(|device| {
            [&[][..], &["--guard"], &["--max_memory=64MiB"]].map(|more| (device, more))
        }) {
            let [plain, contained] = PLACES.map(|place| {
                let output = Command::new(iree_dbg().expect("our program"))
                    .arg("run")
                    .arg(format!("--module={}", module.display()))
                    .arg("--function=main")
                    .args([&format!("--device={device}"), place])
                    .args(inputs.iter().chain(more))
                    .output()
                    .expect("our program starts");
                if CATCHES_FAULTS || place == PLACES[0] {
                    succeeded(&output);
                }
                text(&output.stdout)
            });
            let is_equal = plain == contained || !CATCHES_FAULTS;
            assert!(is_equal, "{} {flags:?} {device} {more:?}: {contained}", source.display());
        }
    }
}

/// The processes that are sandboxes of another one.
fn sandboxes_of(owner: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let numbers = processes.filter_map(|it| it.file_name().to_str()?.parse().ok());
    let is_one = |process: &u32| {
        let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let parent = state.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1));
        line.ends_with(b"--as-sandbox\0") && parent == Some(&owner.to_string())
    };
    numbers.filter(is_one).collect()
}

#[test]
fn a_sandbox_ends_with_its_owner() {
    if !CATCHES_FAULTS {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let module = hostile(b"\xEB\xFE", folder.path());
    let mut owner = Command::new(iree_dbg().expect("our program"))
        .arg("run")
        .arg(format!("--module={}", module.display()))
        .args(FIRST)
        .arg("--sandbox=on")
        .stdout(Stdio::null())
        .spawn()
        .expect("our program");
    let until = |is_there: bool, found: &dyn Fn() -> bool| {
        let began = Instant::now();
        while found() != is_there {
            assert!(began.elapsed() < Duration::from_secs(30), "{is_there}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let number = owner.id();
    until(true, &|| !sandboxes_of(number).is_empty());
    let sandboxes = sandboxes_of(number);
    owner.kill().expect("it runs");
    owner.wait().expect("it has ended");
    for sandbox in sandboxes {
        let line = format!("/proc/{sandbox}/cmdline");
        until(false, &|| fs::read(&line).is_ok_and(|line| line.ends_with(b"--as-sandbox\0")));
    }
}

/// Launches the hostile module in an editor's way, with more fields.
fn launched(module: &Path, more: &Value) -> Client {
    let mut client = Client::start(&iree_dbg().expect("our program")).expect("the adapter");
    let mut launch = json!({
        "program": module, "function": "gather", "inputs": ["16xf32=5", "4xi64=0,1,2,3"],
    });
    let more = more.as_object().expect("fields").clone();
    launch.as_object_mut().expect("fields").extend(more);
    client.request("launch", &launch).expect("it is launched");
    client.request("setExceptionBreakpoints", &json!({"filters": []})).expect("none");
    client.request("configurationDone", &Value::Null).expect("it runs");
    client
}

/// A workspace of the user's, and a folder with a module that opens a socket.
#[test]
fn editors_run_machine_code_from_outside_of_the_workspace_in_a_sandbox() {
    if !CATCHES_FAULTS {
        return;
    }
    let (own, other) = (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("another"));
    let (_, code, said) = HOSTILE[0];
    let module = hostile(code, other.path());
    let link = own.path().join("link.vmfb");
    std::os::unix::fs::symlink(&module, &link).expect("a link");
    let (own, other) = (own.path(), other.path());
    let cases = [
        ("elsewhere", &module, json!({"cwd": own}), true),
        ("a link of the workspace", &link, json!({"cwd": own}), true),
        ("no workspace", &module, json!({"cwd": other, "workspaceFolders": []}), true),
        (
            "the second folder",
            &module,
            json!({"cwd": own, "workspaceFolders": [own, other]}),
            false,
        ),
        ("inside", &module, json!({"cwd": other}), false),
        ("without a folder", &module, json!({}), false),
        ("off", &module, json!({"cwd": own, "sandbox": "off"}), false),
        ("on", &module, json!({"cwd": other, "sandbox": "on"}), true),
    ];
    for (name, module, more, is_contained) in cases {
        let mut client = launched(module, &more);
        let halt = client.halt(Duration::from_secs(60)).expect("an end");
        assert!(matches!(halt, Halt::Ended), "{name}: {}", client.printed);
        assert_eq!(client.printed.contains(said), is_contained, "{name}: {}", client.printed);
        assert_eq!(client.printed.contains("4xf32="), !is_contained, "{name}: {}", client.printed);
    }
}

#[test]
fn machine_code_in_a_sandbox_is_paused_and_goes_on() {
    if !CATCHES_FAULTS {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let module = hostile(b"\xEB\xFE", folder.path());
    for device in DEVICES {
        let mut client = launched(&module, &json!({"sandbox": "on", "device": device}));
        for _ in 0..3 {
            let running = client.halt(Duration::from_millis(300)).expect("the adapter");
            assert!(matches!(running, Halt::Late), "{device}: {}", client.printed);
            client.request("pause", &json!({"threadId": 1})).expect("a pause");
            let halt = client.halt(Duration::from_secs(60)).expect("a stop");
            let Halt::Stopped(reason) = halt else { panic!("{device}: {}", client.printed) };
            assert_eq!(reason, "pause", "{device}");
            let trace = client.request("stackTrace", &json!({"threadId": 1})).expect("a stack");
            let name = trace["stackFrames"][0]["name"].as_str().unwrap_or_default();
            assert!(name.contains("machine code +0x"), "{device}: {trace}");
            client.request("continue", &json!({"threadId": 1})).expect("it goes on");
        }
        client.request("disconnect", &json!({"terminateDebuggee": true})).expect("an end");
    }
}

#[test]
fn machine_code_that_may_not_run_is_refused_and_bytecode_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |module: &Path| {
        let mut command = Command::new(iree_dbg().expect("our program"));
        command.arg("run").arg(format!("--module={}", module.display())).args(FIRST);
        command.arg("--no-native").output().expect("our program")
    };
    let refused = run(&hostile(HOSTILE[0].1, folder.path()));
    assert_eq!(refused.status.code(), Some(1));
    let said = text(&refused.stderr);
    assert!(said.contains("--no-native") || said.contains("machine code"), "{said}");
    assert!(!text(&refused.stdout).contains("4xf32="), "nothing has run");
    let bytecode = run(&module("vmvx"));
    succeeded(&bytecode);
    assert!(text(&bytecode.stdout).contains("4xf32="));
}
