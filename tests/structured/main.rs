//! Nested values in and out of programs: JSON to lists and buffer views and back, by the `iree.abi`
//! of real modules. IREE's Python runtime is the oracle for the calls that it supports.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use conformance::tools::{iree, iree_dbg, repository};

/// The folder with the compiled model and the files that calls read.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::tempdir().expect("a folder");
            let status = Command::new(iree("iree-compile").expect("IREE's tools"))
                .arg(source("model.mlir"))
                .args([
                    "--iree-hal-target-device=local",
                    "--iree-hal-local-target-device-backends=vmvx",
                ])
                .args([
                    "--iree-vm-target-extension-f64=true",
                    "--iree-input-demote-f64-to-f32=false",
                ])
                .arg("-o")
                .arg(folder.path().join("model.vmfb"))
                .status();
            assert!(status.is_ok_and(|status| status.success()), "model.mlir is compiled");
            let write = |name: &str, text: &[u8]| {
                std::fs::write(folder.path().join(name), text).expect("a file");
            };
            write(
                "inputs.json",
                b"{\"args\": [1],\n \"kwargs\": {\"x\": 5, \"y\": {\"a\": [1, 2], \"b\": 7}}}",
            );
            write("broken.json", b"[1,\n 2,,]");
            write("square.npy", &npy());
            folder
        })
        .path()
}

fn source(name: &str) -> PathBuf {
    repository().join("tests/structured").join(name)
}

/// [[1, 2], [3, 4]] as float32, in NumPy's format.
fn npy() -> Vec<u8> {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let padded = format!("{header:<117}\n");
    bytes.extend((padded.len() as u16).to_le_bytes());
    bytes.extend(padded.as_bytes());
    [1_f32, 2.0, 3.0, 4.0].iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    bytes
}

fn run(function: &str, arguments: &[&str]) -> (bool, String, String) {
    let output = Command::new(iree_dbg().expect("our program"))
        .current_dir(folder())
        .args(["run", "--module=model.vmfb", &format!("--function={function}")])
        .args(arguments)
        .output()
        .expect("our program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

/// A function, all arguments as JSON, and the result as JSON.
const CALLS: &[(&str, &str, &str)] = &[
    (
        "scale",
        "[[2, [[1, 2], [3, 4]]]]",
        r#"{"product": [[2.0, 4.0], [6.0, 8.0]], "list": [2.0, [[1.0, 2.0], [3.0, 4.0]]]}"#,
    ),
    (
        "scale",
        r#"[[-0.5, "2x2xf32=1 2 3 4"]]"#,
        r#"{"product": [[-0.5, -1.0], [-1.5, -2.0]], "list": [-0.5, [[1.0, 2.0], [3.0, 4.0]]]}"#,
    ),
    (
        "scale",
        r#"[[2, "@square.npy"]]"#,
        r#"{"product": [[2.0, 4.0], [6.0, 8.0]], "list": [2.0, [[1.0, 2.0], [3.0, 4.0]]]}"#,
    ),
    ("named", r#"{"args": [1], "kwargs": {"x": 5, "y": {"a": [1, 2], "b": 7}}}"#, "[6, 9]"),
    // By position too; the order of keys is the signature's.
    ("named", r#"[1, 5, {"a": [1, 2], "b": 7}]"#, "[6, 9]"),
    (
        "homogeneous",
        "[[9223372036854775807, -2]]",
        "[9223372036854775807, -2, 9223372036854775807]",
    ),
    (
        "loose",
        r#"[[null, 3], [1, 2.5, null, true, [[]], "ab"]]"#,
        "[[1, 2.5, null, 1, [[]], [97, 98]], null]",
    ),
    // 16 bits go in as f16 and come out as bf16.
    (
        "scalars",
        "[-128, true, -9223372036854775808, 1.5, 0.1, 0.1]",
        "[-128, true, -9223372036854775808, 0.125, 0.1, 0.1]",
    ),
    ("scalars", "[127, 0, 0, 0, NaN, -Infinity]", "[127, false, 0, 0.0, \"NaN\", \"-Infinity\"]"),
    ("declared", "[[1, 2.5, 3], 4]", "[[1.0, 2.5, 3.0], 4]"),
    ("declared", "[[], 4]", "[[], 4]"),
    ("spread", r#"{"x": [3, null, 10], "y": [1, 2.5]}"#, r#"[[1.0, 2.5], {"n": 7}]"#),
    ("spread", r#"[[3, null, 10], "2xf32=1 2.5"]"#, r#"[[1.0, 2.5], {"n": 7}]"#),
];

#[test]
fn json_in_and_out() {
    for (function, inputs, expected) in CALLS {
        let (ok, out, errors) =
            run(function, &[&format!("--inputs-json={inputs}"), "--outputs-json"]);
        assert!(ok, "{function} {inputs}: {errors}");
        assert_eq!(&out, expected, "{function} {inputs}");
    }
}

/// The same calls through IREE's Python runtime, which reads `iree.abi` if it knows the records.
#[test]
fn as_by_iree() {
    let known = ["scale", "named"];
    let calls: Vec<String> = CALLS
        .iter()
        .filter(|(function, inputs, _)| {
            known.contains(function) && inputs.parse::<serde_json::Value>().is_ok()
        })
        // Text for tensors and named arguments by position are our additions.
        .filter(|(function, inputs, _)| {
            !inputs.contains("\"2x2")
                && !inputs.contains('@')
                && (*function != "named" || inputs.contains("kwargs"))
        })
        .map(|(function, inputs, expected)| format!("[\"{function}\", {inputs}, {expected}]"))
        .collect();
    assert!(calls.len() > 1, "calls that both can do");
    let python = iree("python").expect("tests/requirements.txt");
    let output = Command::new(python)
        .arg(source("oracle.py"))
        .arg(folder().join("model.vmfb"))
        .arg(format!("[{}]", calls.join(", ")))
        .output()
        .expect("Python starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}{errors}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn arguments_on_the_command_line() {
    for (function, arguments, expected) in [
        (
            "named",
            &["--input=1", "--kwarg=x=5", r#"--kwarg=y={"a": [1, 2], "b": 7}"#][..],
            "result[0]: (6, 9)",
        ),
        ("named", &["--inputs-json=@inputs.json"], "result[0]: (6, 9)"),
        ("named", &["--inputs_json=@inputs.json"], "result[0]: (6, 9)"),
        (
            "scale",
            &["--inputs-json=[[2, \"@square.npy\"]]"],
            r#"result[0]: {"product": 2x2xf32=[2 4][6 8], "list": [2.0, 2x2xf32=[1 2][3 4]]}"#,
        ),
        (
            "declared",
            &["--kwarg=input0=@square.npy", "--kwarg=input1=1"],
            "args[0]: expected ndarray<f32, rank 1>, got 2x2xf32",
        ),
        (
            "declared",
            &["--kwarg=input0=2xf32=1 2", "--kwarg=input1=1"],
            "result[0]: 2xf32=1 2\nresult[1]: 1",
        ),
    ] {
        let (_, out, errors) = run(function, arguments);
        assert!(
            format!("{out}{errors}").contains(expected),
            "{function} {arguments:?}: {out}{errors}"
        );
    }
}

#[test]
fn errors_name_the_place() {
    for (function, inputs, expected) in [
        (
            "scale",
            "[[2, [[1, 2], [3]]]]",
            "args[0][1][1]: expected 2 items as in the rows before, got 1",
        ),
        ("scale", "[[2, [1, 2]]]", "args[0][1]: expected ndarray<f32, 2x2>, got 2xf32"),
        ("scale", "[[2, [[1, 2], [3, \"4\"]]]]", "args[0][1][1][1]: "),
        ("scale", "[[2, \"2x2xi32=1\"]]", "args[0][1]: expected ndarray<f32, 2x2>, got 2x2xi32"),
        ("scale", "[[2, \"@missing.npy\"]]", "args[0][1]: missing.npy cannot be read"),
        ("scale", "[[2]]", "args[0]: expected 2 items, got 1"),
        ("scale", "[2]", "args[0]: expected [f32, tensor<2x2xf32>], got 2"),
        ("scale", "[]", "args[0]: missing"),
        ("scale", "[[], []]", "args: expected 1 arguments, got 2"),
        (
            "scale",
            "5",
            "args: expected a list of arguments or an object of named ones, got a number",
        ),
        (
            "named",
            r#"{"args": [1], "kwargs": {"x": 5, "y": {"a": [1, "2"], "b": 7}}}"#,
            r#"kwargs["y"]["a"][1]: expected i32, got the string "2""#,
        ),
        (
            "named",
            r#"{"args": [1], "kwargs": {"x": 5, "y": {"a": [1, 2], "c": 7}}}"#,
            r#"kwargs["y"]["c"]: no such key; there are: b, a"#,
        ),
        (
            "named",
            r#"{"args": [1], "kwargs": {"x": 5, "y": {"a": [1, 2]}}}"#,
            r#"kwargs["y"]["b"]: missing; expected i32"#,
        ),
        ("named", r#"{"args": [1], "kwargs": {"x": 5}}"#, r#"kwargs["y"]: missing"#),
        (
            "named",
            r#"{"args": [1, 2], "kwargs": {"x": 5}}"#,
            r#"kwargs["x"]: given already as args[1]"#,
        ),
        (
            "named",
            r#"{"args": [1], "kwargs": {"z": 5}}"#,
            r#"kwargs["z"]: no argument has this name; named are: x, y"#,
        ),
        ("homogeneous", "[[1, 1.5]]", "args[0][1]: expected i64, got 1.5"),
        (
            "homogeneous",
            "[[9223372036854775808000]]",
            "args[0][0]: 9223372036854775808000 does not fit i64",
        ),
        ("spread", r#"{"x": [3, 10], "y": [1]}"#, r#"kwargs["x"]: expected 3 items, got 2"#),
        (
            "spread",
            r#"{"x": [3, null, 10]}"#,
            r#"kwargs["y"]: missing; expected ndarray<f32, rank 1>"#,
        ),
        ("astray", "[1]", "INVALID_ARGUMENT; `astray`: the attribute `sip` is malformed"),
        ("scalars", "[300, true, 1, 1.5, 0.1, 0.1]", "args[0]: 300 does not fit i8"),
        ("scalars", "[1, true, 1, \"x\", 0.1, 0.1]", "args[3]: expected f16, got the string \"x\""),
        (
            "declared",
            "[[1, 2",
            "--inputs-json, line 1: expected `,` or `]`, but the text ends here (byte 6)",
        ),
        ("declared", "@missing.json", "NOT_FOUND; --inputs-json=@missing.json"),
        (
            "declared",
            "@broken.json",
            "broken.json, line 2: expected a JSON value, but `,` here (byte 7)",
        ),
    ] {
        let (ok, out, errors) = run(function, &[&format!("--inputs-json={inputs}")]);
        assert!(!ok, "{function} {inputs}: {out}");
        assert!(
            errors.contains(expected),
            "{function} {inputs}: expected {expected:?} in {errors}"
        );
    }
    let (ok, _, errors) = run("named", &["--kwarg=x"]);
    assert!(!ok && errors.contains("--kwarg x: expected NAME=VALUE"), "{errors}");
}

/// The command lines that `abi explain` gives work, for every export that it understands.
#[test]
fn calls_that_are_explained_work() {
    let program = iree_dbg().expect("our program");
    let output = Command::new(&program)
        .current_dir(folder())
        .args(["abi", "explain", "model.vmfb", "--json"])
        .output()
        .expect("our program starts");
    let all: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut called = 0;
    for export in &all {
        let name = export["export"].as_str().expect("a name");
        let Some(line) = export["usage"]["shell"].as_str().filter(|_| !name.starts_with("__"))
        else {
            continue;
        };
        // The structure of this one is malformed; the examples of that one are too few.
        if ["astray", "loose"].contains(&name) {
            continue;
        }
        let output = Command::new("/bin/sh")
            .current_dir(folder())
            .env("PATH", program.parent().expect("a folder"))
            .args(["-c", line])
            .output()
            .expect("a shell");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {errors}");
        called += 1;
    }
    assert!(called > 5, "{called} exports were called");
}

#[test]
fn contradictions_are_said() {
    let iree_dbg = |arguments: &[&str]| {
        let program = iree_dbg().expect("our program");
        let output = Command::new(program).current_dir(folder()).args(arguments).output();
        let output = output.expect("our program starts");
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    };
    let (ok, text) = iree_dbg(&["abi", "explain", "model.vmfb:astray"]);
    assert!(ok && text.contains("warning: f has 2 results, cconv has 1 result"), "{text}");
    let (ok, text) = iree_dbg(&["verify", "model.vmfb"]);
    let warning = "warning: @astray: f has 2 results, cconv has 1 result\n";
    assert!(ok && text == warning, "{text}");
}
