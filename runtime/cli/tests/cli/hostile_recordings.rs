//! Recordings that were built to harm: with right checksums, and with contents that no run leaves.

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::process::Command;

use debuginfo::{Manifest, ModuleIdentity, write_debug_file};
use serde_json::{Value, json};
use support::text;
use vmfb::FileBytes;

use crate::program::IREE_DBG;
use crate::schemas::fits;

/// The embedded example, whose function takes a number and a count.
pub(crate) const MODULE: &[u8] = include_bytes!("../../example/newton.vmfb");

/// What a session may take, in bytes of address space. Without a budget, each of the recordings
/// here takes more.
const MEMORY: u64 = 1 << 30;

/// A recording: its files, with their names, and how it was launched.
pub(crate) fn recording(files: &[(&str, &[u8])], launch: &Value) -> Vec<u8> {
    let mut file = b"IREEDBGR\x01\0\0\0\0\0\0\0".to_vec();
    for (name, bytes) in files {
        let length = u32::try_from(name.len()).expect("a name").to_le_bytes();
        chunk(&mut file, *b"FILE", &[&length, name.as_bytes(), bytes].concat());
    }
    chunk(&mut file, *b"LNCH", launch.to_string().as_bytes());
    chunk(&mut file, *b"END ", br#"{"failure": null, "lost": null}"#);
    file
}

fn chunk(file: &mut Vec<u8>, tag: [u8; 4], payload: &[u8]) {
    let length = (payload.len() as u64).to_le_bytes();
    let checksum = crc32fast::hash(&[&tag[..], &length, payload].concat()).to_le_bytes();
    for part in [&tag[..], &checksum, &length, payload] {
        file.extend_from_slice(part);
    }
}

/// The launch of the example, with these modules and inputs.
pub(crate) fn launch(modules: &[(usize, Option<usize>)], inputs: &Value) -> Value {
    let modules: Vec<Value> = modules
        .iter()
        .map(|(file, debug_file)| {
            json!({"file": file, "debug_file": debug_file, "companion": null,
                   "is_in_memory": false})
        })
        .collect();
    json!({
        "version": "0.1.0", "modules": modules, "libraries": [], "function": "main",
        "inputs": inputs, "sources": [], "parameters": [], "device": "local-sync",
        "more_devices": [], "threads": 1, "refuses_machine_code": false,
        "imitates_narrow_calls": false, "is_guarded": false,
        "limits": {"steps": null, "memory": 1 << 30, "call_depth": 256}
    })
}

pub(crate) fn plain_inputs() -> Value {
    json!([{"text": "2.0", "file": null}, {"text": "5", "file": null}])
}

/// A session with a recording that may take [`MEMORY`], with temporary files in `temporary`.
/// Returns both outputs.
fn session(recording: &[u8], temporary: &Path, commands: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    fs::write(folder.path().join("mail.rec"), recording).expect("it is written");
    let limited = format!("ulimit -v {}; exec \"$@\"", MEMORY >> 10);
    let output = Command::new("sh")
        .args(["-c", &limited, "sh", IREE_DBG.path(), "debug", "--batch", "mail.rec"])
        .args(commands.iter().flat_map(|command| ["-ex", command]))
        .env("TMPDIR", temporary)
        .current_dir(folder.path())
        .output()
        .expect("a shell");
    assert!(output.status.code().is_some(), "{output:?}");
    (text(&output.stdout), text(&output.stderr))
}

/// A debug file of the example whose companion unpacks to this many bytes.
fn bomb(companion: usize) -> Vec<u8> {
    let module = FileBytes::from(MODULE.to_vec());
    let manifest = Manifest::new(ModuleIdentity::of(&module).expect("it is in memory"));
    let mut bytes = Cursor::new(Vec::new());
    let newlines = vec![b'\n'; companion];
    write_debug_file(&mut bytes, &manifest, [("companion.mlir", newlines.as_slice())])
        .expect("memory");
    bytes.into_inner()
}

/// What a file would do is said before anything of it runs.
#[test]
fn a_recording_is_inspected_without_being_opened() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let folder = folder.path();
    let mut launched = launch(&[(0, Some(1))], &plain_inputs());
    launched["parameters"] = json!([
        {"scope": "model", "path": "/nowhere/w.irpa", "length": 5, "digest": "0"}
    ]);
    launched["libraries"] = json!(["libevil.so"]);
    let debug_file = bomb(10);
    let files = [("newton.vmfb", MODULE), ("newton.vmfb.debug", &debug_file), ("unused", b"x")];
    fs::write(folder.join("mail.rec"), recording(&files, &launched)).expect("it is written");
    let inspected = IREE_DBG.run(folder, &["debug", "--inspect", "mail.rec"]);
    let printed = text(&inspected.stdout);
    for line in [
        "calls main on local-sync",
        "  --input=2.0",
        "wants parameters from /nowhere/w.irpa, 5 bytes: it is not here",
        "called the library libevil.so: not loaded",
        "module newton.vmfb: has no machine code: it loads no executables",
        "Nothing was run.",
    ] {
        assert!(printed.lines().any(|it| it == line), "{line}:\n{printed}");
    }
    assert!(!printed.contains("unused") && inspected.status.success(), "{printed}");
    let doctor = IREE_DBG.run(folder, &["doctor", "mail.rec"]);
    assert_eq!(doctor.status.code(), Some(0));
    fits(&doctor.stdout, "doctor");
    let told: Value = serde_json::from_slice(&doctor.stdout).expect("JSON");
    assert_eq!(told["recording"]["files"].as_array().expect("files").len(), 2);

    // Such a module does not run, and hubs hear it by the status.
    let damaged = [("m.vmfb", b"no module".as_slice())];
    let file = recording(&damaged, &launch(&[(0, None)], &plain_inputs()));
    fs::write(folder.join("mail.rec"), file).expect("it is written");
    let doctor = IREE_DBG.run(folder, &["doctor", "mail.rec"]);
    fits(&doctor.stdout, "doctor");
    assert_eq!(doctor.status.code(), Some(1), "{doctor:?}");
}

#[test]
fn debug_files_of_a_recording_share_one_budget() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let bomb = bomb(31 << 20);
    let files: Vec<(&str, &[u8])> =
        [("newton.vmfb", MODULE), ("newton.vmfb.debug", bomb.as_slice())].repeat(2);
    assert!(bomb.len() < 100_000);
    let launch = launch(&[(0, Some(1)), (2, Some(3))], &plain_inputs());
    let (output, errors) = session(&recording(&files, &launch), folder.path(), &["info modules"]);
    // The first one is within the budget.
    assert_eq!(output.matches("out of proportion").count(), 1, "{output}{errors}");
}

#[test]
fn a_file_that_is_named_often_is_charged_each_time() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let large = vec![0; 8 << 20];
    let modules = vec![(0, None); 1000];
    let launch = launch(&modules, &plain_inputs());
    let (output, errors) = session(&recording(&[("m.vmfb", &large)], &launch), folder.path(), &[]);
    assert!(output.is_empty(), "{output}");
    assert!(errors.contains("out of proportion to the size of the file"), "{errors}");
}

#[test]
fn files_of_a_recording_are_never_written() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut files: Vec<(&str, &[u8])> = vec![("newton.vmfb", MODULE)];
    files.extend(vec![("../../x", b"x".as_slice()); 30_000]);
    let launch = launch(&[(0, None)], &plain_inputs());
    let commands = ["run", "shell ls -A \"$TMPDIR\" | wc -l"];
    let (output, errors) = session(&recording(&files, &launch), folder.path(), &commands);
    assert!(output.contains("result[0]: f32=1.41421"), "{output}{errors}");
    assert!(output.lines().any(|line| line == "0"), "{output}{errors}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "it stays");
}

#[test]
fn inputs_of_a_recording_read_no_other_file() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let secret = folder.path().join("a=b");
    fs::create_dir(&secret).expect("a folder");
    let mut head = "{'descr': '<f4', 'fortran_order': False, 'shape': (), }".to_owned();
    head.push_str(&" ".repeat(117 - head.len()));
    let array = [b"\x93NUMPY\x01\x00\x76\x00", head.as_bytes(), b"\n", &4242_f32.to_le_bytes()];
    let secret = secret.join("secret.npy");
    fs::write(&secret, array.concat()).expect("it is written");
    let secret = secret.display();
    for mark in ["@", "+", "*", "f32=@", "&f32=+", " @"] {
        for (text, file) in
            [(format!("{mark}{secret}"), None), (format!("{mark}{secret}="), Some(1))]
        {
            let inputs = json!([{"text": text, "file": file}, {"text": "5", "file": null}]);
            let file = recording(
                &[("newton.vmfb", MODULE), ("x.npy", b"x")],
                &launch(&[(0, None)], &inputs),
            );
            let (output, errors) = session(&file, folder.path(), &["run"]);
            assert!(!output.contains("4242"), "{text}: {output}");
            assert!(
                errors.contains("names a file that is not in it")
                    || output.contains("the recording has no file")
                    || errors.contains("the recording has no file"),
                "{text}: {output}{errors}"
            );
        }
    }
}

/// A call of a library that returns these values, as a part of a recording has it.
fn part(result: &[u8]) -> Vec<u8> {
    let call = [b"\x01m\x01f\x00\x00", result, b"\x00\x00\x00"].concat();
    [b"\x00\x01".as_slice(), &call, b"\x00"].concat()
}

/// A number as parts of recordings have it.
fn varint(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// The example with another chunk before its end.
fn with_part(payload: &[u8]) -> Vec<u8> {
    let whole = recording(&[("newton.vmfb", MODULE)], &launch(&[(0, None)], &plain_inputs()));
    let end = whole.len() - 16 - br#"{"failure": null, "lost": null}"#.len();
    let mut file = whole[..end].to_vec();
    chunk(&mut file, *b"PART", payload);
    file.extend_from_slice(&whole[end..]);
    file
}

/// A list in a list in a list: reading it would need a deeper stack than there is.
#[test]
fn results_that_are_nested_too_deep_are_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    // A list (6) of elements without a type, one of which is there, again and again.
    for (levels, is_read) in [(60, true), (100_000, false)] {
        let nested = [b"\x01".as_slice(), &b"\x06\x00\x01\x01".repeat(levels), b"\x04"].concat();
        let file = with_part(&part(&nested));
        let (output, errors) = session(&file, folder.path(), &["run"]);
        assert_eq!(output.contains("1.41421"), is_read, "{levels}: {output}{errors}");
        assert_eq!(errors.contains("nested too deep"), !is_read, "{levels}: {output}{errors}");
    }
}

/// A byte can become a hundred in memory.
#[test]
fn what_parts_and_launches_become_in_memory_is_in_proportion() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let many = 1 << 20;
    let nulls = part(&[varint(many), vec![4; many]].concat());
    let mut libraries = launch(&[(0, None)], &plain_inputs());
    libraries["libraries"] = vec![""; many].into();
    let modules = launch(&vec![(0, None); 20_000], &plain_inputs());
    let example = [("newton.vmfb", MODULE)];
    for file in [with_part(&nulls), recording(&example, &libraries), recording(&example, &modules)]
    {
        let (output, errors) = session(&file, folder.path(), &["run"]);
        assert!(output.is_empty(), "{output}{errors}");
        assert!(errors.contains("out of proportion to the size of the file"), "{errors}");
    }
}

/// So can a byte of a text.
#[test]
fn what_texts_become_in_memory_is_in_proportion() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let module = FileBytes::from(MODULE.to_vec());
    let manifest = Manifest::new(ModuleIdentity::of(&module).expect("it is in memory"));
    let mut bytes = Cursor::new(Vec::new());
    let function = "util.func public @main(%a: i1) {\n".to_owned();
    let flow = function + &"%z = a.b : i1\n".repeat(1 << 20) + "}\n";
    write_debug_file(&mut bytes, &manifest, [("flow.mlir", flow.as_bytes())]).expect("memory");
    let files = [("newton.vmfb", MODULE), ("newton.vmfb.debug", &bytes.into_inner())];
    let file = recording(&files, &launch(&[(0, Some(1))], &plain_inputs()));
    let (output, errors) = session(&file, folder.path(), &["run"]);
    assert!(output.contains("needed to read it, which is out of proportion"), "{output}{errors}");
    // Only the texts are missing.
    assert!(output.contains("1.41421"), "{output}{errors}");
}
