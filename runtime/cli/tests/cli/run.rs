//! `run`, `dump`, `verify` and `abi` from the command line, on the embedded example. No other tool
//! is needed.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::program::{IREE_DBG, data};

/// Runs the binary. Returns its exit status, standard output and standard error.
fn iree_dbg(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = IREE_DBG.command().args(arguments).output().expect("the binary starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// `iree-dbg run … | head`: the reader goes away before anything is written.
#[test]
fn output_without_a_reader_is_no_fault() {
    let newton = example().display().to_string();
    let module = format!("--module={newton}");
    let calls: [&[&str]; 3] = [
        &["run", &module, "--function=main", "--input=2.0", "--input=5"],
        &[
            "bench",
            "--benchmark_list_tests",
            &module,
            "--function=main",
            "--input=2.0",
            "--input=5",
        ],
        &["dump", "--output=disassembly", &newton],
    ];
    for arguments in calls {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output =
            IREE_DBG.command().args(arguments).stdout(writer).output().expect("the binary starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*errors), (Some(1), ""), "{arguments:?}");
    }
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("example/newton.vmfb")
}

/// `run` on the example with more flags.
fn run(flags: &[&str]) -> (Option<i32>, String, String) {
    let module = format!("--module={}", example().display());
    let arguments: Vec<&str> =
        ["run", module.as_str()].into_iter().chain(flags.iter().copied()).collect();
    iree_dbg(&arguments)
}

#[test]
fn results_are_printed() {
    let (status, stdout, stderr) = run(&["--function=main", "--input=2.0", "--input=5"]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    assert_eq!(stdout, "EXEC @main\nresult[0]: f32=1.41421\n");
    // A flag and its value may be two words, and the only function needs no name.
    let (_, without_name, _) = run(&["--input", "2.0", "--input", "5"]);
    assert_eq!(without_name, stdout);
    let (_, routed, _) = run(&["--input=2.0", "--input=5", "--output=-"]);
    assert_eq!(routed, "EXEC @main\nf32=1.41421\n");
    let (_, ignored, _) = run(&["--input=2.0", "--input=5", "--output="]);
    assert_eq!(ignored, "EXEC @main\n");
}

#[test]
fn a_module_is_read_from_standard_input() {
    let mut child = IREE_DBG
        .command()
        .args(["run", "--module=-", "--input=2.0", "--input=5"])
        .stdin(File::open(example()).expect("the example opens"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdout = String::new();
    let pipe = child.stdout.as_mut().expect("a pipe");
    pipe.read_to_string(&mut stdout).expect("output is UTF-8");
    assert!(child.wait().expect("it ends").success());
    assert_eq!(stdout, "EXEC @main\nresult[0]: f32=1.41421\n");
}

#[test]
fn flags_about_how_files_are_read_change_nothing() {
    for mode in ["--module_mode=mmap", "--module_mode=preload", "--parameter_mode=file"] {
        let (status, stdout, stderr) = run(&[mode, "--input=2.0", "--input=5"]);
        assert_eq!(status, Some(0), "{mode}: {stderr}");
        // The other two are the defaults.
        let note = "note: --module_mode: files are mapped if they are large, and read if not\n";
        assert_eq!(stderr, if mode.ends_with("mmap") { note } else { "" });
        assert_eq!(stdout, "EXEC @main\nresult[0]: f32=1.41421\n");
    }
}

#[test]
fn results_are_checked() {
    let inputs = ["--input=4.0", "--input=20"];
    let (status, stdout, _) = run(&[&inputs[..], &["--expected_output=2"]].concat());
    assert_eq!(status, Some(0), "{stdout}");
    assert!(stdout.ends_with("[SUCCESS] all function outputs matched their expected values.\n"));
    let (status, stdout, _) = run(&[&inputs[..], &["--expected_output=3"]].concat());
    assert_eq!(status, Some(1));
    assert!(
        stdout.contains("[FAILED] result[0]: f32 values differ\n  expected: 3\n  actual: 2\n"),
        "{stdout}"
    );
    let (status, _, _) = run(&[&inputs[..], &["--expected_output=(ignored)"]].concat());
    assert_eq!(status, Some(0));
}

#[test]
fn a_trace_shows_instructions_and_what_they_read() {
    let (status, stdout, stderr) = run(&["--input=2.0", "--input=1", "--trace_execution"]);
    assert_eq!(status, Some(0));
    assert_eq!(stdout, "EXEC @main\nresult[0]: f32=1.5\n");
    let lines: Vec<&str> = stderr.lines().collect();
    assert!(lines[0].ends_with("+00000000]    ^bb0:"), "{stderr}");
    let division = lines.iter().find(|line| line.contains("vm.div.f32"));
    assert!(division.is_some_and(|line| line.contains("(2), ")), "{stderr}");
    assert!(lines.last().is_some_and(|line| line.contains("vm.return %i")), "{stderr}");
}

#[test]
fn mistakes_are_reported_and_fail() {
    for (flags, expected) in [
        (&["--function=nope"][..], "NOT_FOUND; no function `nope` exported by module"),
        (&["--input=x", "--input=1"], "parsing value `x` as f32"),
        (&["--input=1"], "INVALID_ARGUMENT"),
        (&["--input=1", "--input=1", "--input=1"], "function expected fewer input values"),
    ] {
        let (status, _, stderr) = run(flags);
        assert_eq!(status, Some(1), "{flags:?}: {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.contains(expected), "{flags:?}: {stderr}");
    }
    let (status, _, stderr) = run(&["--nonsense"]);
    assert_eq!(status, Some(2), "{stderr}");
    let (status, _, stderr) = iree_dbg(&["run", "--module=does-not-exist.vmfb"]);
    assert_eq!(status, Some(1));
    assert!(stderr.contains("does-not-exist.vmfb"), "{stderr}");
}

#[test]
fn failures_are_one_value_in_two_forms() {
    let source = data("check/failures.vmasm");
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let module = scratch.path().join("failures.vmfb");
    let (module, source) = (module.display().to_string(), source.display().to_string());
    assert_eq!(iree_dbg(&["asm", "--output", &module, &source]).0, Some(0));
    let arguments =
        ["run", "--module", &module, "--function=fails_without_the_name", "--error_format=json"];
    let (status, stdout, stderr) = iree_dbg(&arguments[..4]);
    assert_eq!((status, stdout.as_str()), (Some(1), "EXEC @fails_without_the_name\n"));
    assert_eq!(
        stderr,
        "error: FAILED_PRECONDITION; precondition; invoking function 'fails_without_the_name'\n    \
         0 failures.fails_without_the_name [00000008]\n"
    );
    let (status, stdout, stderr) = iree_dbg(&arguments);
    assert_eq!((status, stdout.as_str()), (Some(1), "EXEC @fails_without_the_name\n"));
    let failure: serde_json::Value = serde_json::from_str(&stderr).expect("JSON");
    let expected = serde_json::json!({
        "schema_version": 1,
        "code": "FAILED_PRECONDITION",
        "number": 9,
        "message": "precondition",
        "notes": ["invoking function 'fails_without_the_name'"],
        "frames": [{
            "module": "failures",
            "function": "fails_without_the_name",
            "ordinal": 2,
            "offset": 8,
            "part": null,
            "sources": [],
        }],
    });
    assert_eq!(failure, expected);
    let (_, _, stderr) =
        iree_dbg(&["run", "--module", &module, "--function=nope", "--error_format=json"]);
    let failure: serde_json::Value = serde_json::from_str(&stderr).expect("JSON");
    assert_eq!(failure["code"], "NOT_FOUND");
}

#[test]
fn modules_are_printed_and_verified() {
    let module = example();
    let module = module.to_str().expect("a path in UTF-8");
    let (status, stdout, _) = iree_dbg(&["dump", "--output=json", module]);
    assert_eq!(status, Some(0));
    let model: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(model["exports"][0]["name"], "main");
    assert_eq!(model["functions"][0]["instructions"][0]["op"], "vm.block");
    let (_, all, _) = iree_dbg(&["dump", module]);
    assert!(all.contains("vm.module @") && all.contains("Exported Functions:"), "{all}");
    let (_, one, _) =
        iree_dbg(&["dump", "--output=disassembly", "--function=1", "--bytecode_offsets", module]);
    assert_eq!(one.matches("vm.func @").count(), 1, "{one}");
    assert!(one.contains("\n[00000000]^bb0:\n"), "{one}");
    let (status, stdout, _) = iree_dbg(&["verify", module]);
    assert_eq!((status, stdout.as_str()), (Some(0), ""));
    let (status, _, stderr) = iree_dbg(&["dump", file!()]);
    assert_eq!(status, Some(1));
    assert!(stderr.starts_with("error: "), "{stderr}");
}

#[test]
fn signatures_are_decoded() {
    let (status, stdout, _) = iree_dbg(&["abi", "decode", "--kind=cconv", "0rCiID_f"]);
    assert_eq!(status, Some(0));
    let decoded: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(decoded["arguments"][1]["span"][1], "i64");
    // Until February 2021 results began with `.`, and a span was in `[` and `]`.
    let (status, stdout, _) = iree_dbg(&["abi", "decode", "--kind=cconv", "0[i].i"]);
    assert_eq!(status, Some(0));
    let decoded: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(decoded["cconv"], "0CiD_i");
    let (status, stdout, stderr) = iree_dbg(&["abi", "decode", "--kind=cconv", "0i-i"]);
    assert_eq!((status, stdout.as_str()), (Some(1), ""));
    assert!(stderr.ends_with("\n  0i-i\n    ^\n"), "{stderr}");
}

/// The token that clients have to give.
const TOKEN: &str = "sesame";

/// A minimal client: sends one DAP request and reads until its response.
fn ask(stream: &mut std::net::TcpStream, seq: u32, command: &str) -> String {
    use std::io::{Read, Write};
    let body = format!(
        "{{\"seq\":{seq},\"type\":\"request\",\"command\":\"{command}\",\
         \"arguments\":{{\"adapterID\":\"iree\",\"token\":\"{TOKEN}\"}}}}"
    );
    stream
        .write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
        .expect("the adapter listens");
    let wanted = format!("\"request_seq\":{seq},");
    let mut heard = String::new();
    let mut bytes = [0; 4096];
    while !heard.contains(&wanted) {
        let count = stream.read(&mut bytes).expect("the adapter answers");
        assert!(count > 0, "the adapter has left: {heard}");
        heard.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    heard
}

#[test]
fn a_program_waits_for_a_debugger_that_attaches() {
    use std::io::{BufRead, BufReader, Read};

    let module = format!("--module={}", example().display());
    let flags = ["--input=2.0", "--input=5", "--listen=127.0.0.1:0", "--wait-for-debugger"];
    let mut child = IREE_DBG
        .command()
        .args(["run", &module])
        .args(flags)
        .env("IREE_DBG_TOKEN", TOKEN)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut line = String::new();
    let mut stderr = BufReader::new(child.stderr.take().expect("it is piped"));
    stderr.read_line(&mut line).expect("it says where it listens");
    let address = line.trim().strip_prefix("waiting for a debugger on ").expect("an address");
    let mut stream = std::net::TcpStream::connect(address).expect("it listens");
    for (seq, command) in [(1, "initialize"), (2, "attach")] {
        assert!(ask(&mut stream, seq, command).contains("\"success\":true"));
    }
    let mut rest = ask(&mut stream, 3, "configurationDone");
    // The program ends while its client is attached; then the client leaves.
    while !rest.contains("terminated") {
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).expect("the adapter says that it is over");
        assert!(count > 0, "the adapter has left: {rest}");
        rest.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    ask(&mut stream, 4, "disconnect");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "EXEC @main\nresult[0]: f32=1.41421\n");
    let (status, _, refused) = run(&["--input=2.0", "--input=5", "--wait-for-debugger"]);
    assert_eq!(status, Some(2), "{refused}");
    let (status, _, refused) = run(&["--input=2.0", "--input=5", "--listen=0.0.0.0:0"]);
    assert_eq!(status, Some(1), "{refused}");
    assert!(refused.contains("other machines reach 0.0.0.0"), "{refused}");
}
