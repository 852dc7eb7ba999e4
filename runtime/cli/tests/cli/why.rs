//! `iree-dbg why`: which dispatch makes results other than expected, in a paragraph.
//!
//! The expected files are what iree-run-module returns. A fault of a back end is planted by a
//! compiler that changes a byte of a constant in the modules of that back end. Needs IREE's tools:
//! `pip install iree-base-compiler iree-base-runtime`.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use support::text;

use crate::program::IREE_DBG;

const SOURCE: &str = "\
#id = affine_map<(i, j) -> (i, j)>

func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.7182819 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>)
      outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %h = linalg.matmul ins(%m, %w : tensor<4x8xf32>, tensor<8x8xf32>)
      outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = [\"parallel\", \"parallel\"]}
      ins(%h : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %b = arith.mulf %a, %scale : f32
    linalg.yield %b : f32
  } -> tensor<4x8xf32>
  %r = linalg.matmul ins(%s, %w : tensor<4x8xf32>, tensor<8x8xf32>)
      outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
";

/// Where the constant is used: in the second dispatch.
const FAULTY_LINE: u64 = 10;

/// A compiler that halves 0.7182819 twice in modules of one back end.
const FAULTY_COMPILER: &str = "\
#!/bin/sh
iree-compile \"$@\" || exit
case \"$*\" in *$FAULTY_BACK_END*) ;; *) exit 0 ;; esac
for word; do
  case \"$last $word\" in
    '-o '*.vmfb) perl -pi -e 's/\\x53\\xe1\\x37\\x3f/\\x53\\xe1\\x37\\x3e/g' \"$word\" ;;
  esac
  last=$word
done
";

const INPUTS: [&str; 2] = ["--input=4x8xf32=0.5", "--input=8x8xf32=0.25"];

/// A folder with the source, and what the program and a changed one should return.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("it is written");
    };
    write("model.mlir", SOURCE);
    write("other.mlir", &SOURCE.replace("0.7182819", "0.7"));
    write("scaled.mlir", &SOURCE.replace("return %r", "return %s").replace("0.7182819", "0.7"));
    write("iree-compile-faulty", FAULTY_COMPILER);
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path().join("iree-compile-faulty"), permissions).unwrap();
    for name in ["model", "other", "scaled"] {
        oracle(folder.path(), name);
    }
    folder
}

/// What IREE's own tools return for a source, in a file.
fn oracle(folder: &Path, name: &str) {
    for (tool, arguments) in [
        (
            "iree-compile",
            vec![
                format!("{name}.mlir"),
                format!("-o={name}.vmfb"),
                "--iree-hal-target-device=local".to_owned(),
                "--iree-hal-local-target-device-backends=vmvx".to_owned(),
            ],
        ),
        (
            "iree-run-module",
            [format!("--module={name}.vmfb"), "--function=main".to_owned()]
                .into_iter()
                .chain(INPUTS.map(str::to_owned))
                .chain([format!("--output=@{name}.npy")])
                .collect(),
        ),
    ] {
        let output = Command::new(tool).current_dir(folder).args(arguments).output();
        let output = output.expect("IREE's tools are there");
        assert!(output.status.success(), "{tool}: {}", text(&output.stderr));
    }
}

/// Runs the command with a compiler whose code for a back end is wrong, if one is named.
fn why(folder: &Path, faulty: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = IREE_DBG.command();
    command.current_dir(folder).args(["why", "model.mlir"]).args(INPUTS).args(arguments);
    if let Some(back_end) = faulty {
        command.env("FAULTY_BACK_END", back_end);
        command.env("IREE_COMPILE", folder.join("iree-compile-faulty"));
    }
    command.output().expect("iree-dbg starts")
}

/// The paragraph in one line.
#[track_caller]
fn paragraph(output: &Output, status: i32) -> String {
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(status), "{said}{}", text(&output.stderr));
    assert!(said.lines().all(|line| line.chars().count() <= 100 || !line.contains(' ')), "{said}");
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn has(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn right_results_are_as_expected() {
    let folder = folder();
    let said = paragraph(&why(folder.path(), None, &["--expect=model.npy", "-o", "out"]), 0);
    has(&said, &["The results of @main, compiled for llvm-cpu, are as expected"]);
    assert!(!folder.path().join("out/repro").exists());
    let vmvx = ["--expect=model.npy", "--", "--iree-hal-local-target-device-backends=vmvx"];
    has(&paragraph(&why(folder.path(), None, &vmvx), 0), &["compiled for vmvx, are as expected"]);
}

#[test]
fn machine_code_that_is_wrong_is_named_with_its_line_and_a_folder() {
    let folder = folder();
    let arguments = ["--expect=model.npy", "-o", "out"];
    let said = paragraph(&why(folder.path(), Some("llvm-cpu"), &arguments), 1);
    let parts = [
        "@main, compiled for llvm-cpu, are not as expected: result 0 : 4x8xf32, 32 of 32 elements",
        "the first that leaves something else is #2 @main_dispatch_1_matmul_4x8x8_f32, made from \
         model.mlir:10",
        "%s : 4x8xf32, 32 of 32 elements differ",
        "0.359141 as machine code, 1.43656 by its text",
        "by its text, evaluated in float64, its bytecode is right, and the machine code is wrong",
        "Compiled for vmvx, its values are as expected",
        "So the machine code of @main_dispatch_1_matmul_4x8x8_f32 is wrong.",
        "The dispatch is in out/repro",
        "the same bits with iree-compile",
    ];
    has(&said, &parts);
    // The folder has what the machine code has left, and its script says so.
    let left = std::fs::read(folder.path().join("out/repro/output0.npy")).expect("an output");
    let (left, _) = abi::npy::read(&left).expect("an array");
    assert!(left.bytes.starts_with(&(0.718_281_9_f32 / 2.0).to_le_bytes()), "{left:?}");
    let rerun = |compiler: &str| {
        let mut script = Command::new("sh");
        script.current_dir(folder.path()).arg("out/repro/run.sh").env("IREE_COMPILE", compiler);
        script.env("FAULTY_BACK_END", "llvm-cpu").output().expect("sh").status.code()
    };
    let faulty = folder.path().join("iree-compile-faulty").display().to_string();
    assert_eq!((rerun(&faulty), rerun("iree-compile")), (Some(0), Some(1)));
}

#[test]
fn bytecode_that_is_wrong_is_found_by_the_other_back_end() {
    let folder = folder();
    let vmvx = "--iree-hal-local-target-device-backends=vmvx";
    let arguments = ["--expect=model.npy", "-o", "out", "--json", "--", vmvx];
    let output = why(folder.path(), Some("vmvx"), &arguments);
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(1), "{found}");
    assert_eq!((&found["cause"], &found["back_end"]), (&"back_ends".into(), &"vmvx".into()));
    assert_eq!(found["text"]["first_bad"], 2, "{found}");
    assert_eq!(found["dispatch"]["number"], 2, "{found}");
    assert_eq!(found["dispatch"]["source"]["line"], FAULTY_LINE, "{found}");
    assert_eq!(found["repro"], "out/repro");
    has(
        &text(&output.stdout),
        &["So what vmvx makes of @main_dispatch_1_matmul_4x8x8_f32 is wrong"],
    );
}

#[test]
fn back_ends_that_agree_leave_the_source_or_the_expectation() {
    let folder = folder();
    let said = paragraph(&why(folder.path(), None, &["--expect=other.npy", "-o", "out"]), 1);
    let agree = "each dispatch leaves what its text means, and both back ends agree with each \
                 other, and not with the expectation";
    let parts = [
        "the worst at [0, 0]: 2.87313 computed, 2.8 expected",
        "compared with its text, evaluated in float64 on what it reads: none of 3 dispatches",
        "Compiled for vmvx, its values are not as expected either",
        agree,
        "--golden=DIRECTORY",
    ];
    has(&said, &parts);
    assert!(!folder.path().join("out/repro").exists(), "no dispatch is accused");
    // Files of tensors say where the values part.
    std::fs::create_dir(folder.path().join("golden")).unwrap();
    std::fs::copy(folder.path().join("scaled.npy"), folder.path().join("golden/s.npy")).unwrap();
    let arguments = ["--expect=other.npy", "--golden=golden", "-o", "out"];
    let said = paragraph(&why(folder.path(), None, &arguments), 1);
    let first = "leaves an unexpected tensor is #2 @main_dispatch_1_matmul_4x8x8_f32, made from \
                 model.mlir:10";
    has(&said, &[first, "%s : 4x8xf32", agree]);
    assert!(!folder.path().join("out/repro").exists(), "it leaves what its text means");
}

#[test]
fn what_cannot_be_compared_is_no_difference() {
    let folder = folder();
    let refused = |arguments: &[&str], part: &str| {
        let output = why(folder.path(), None, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stdout));
        assert_eq!(text(&output.stdout), "");
        has(&text(&output.stderr), &[part]);
    };
    let write = |name: &str, tensor: &str| {
        let tensor = abi::tensor::Tensor::parse(tensor, 1 << 10).expect("a tensor");
        let bytes = abi::npy::write(&tensor).expect("NumPy has it");
        std::fs::write(folder.path().join(name), bytes).expect("it is written");
    };
    write("shape.npy", "2x3xf32=1");
    write("type.npy", "4x8xi32=1");
    refused(&["--expect=shape.npy"], "shape.npy has 2x3xf32, and the tensor is 4x8xf32");
    refused(&["--expect=type.npy"], "type.npy has 4x8xsi32, and the tensor is 4x8xf32");
    refused(&["--expect=nowhere.npy"], "nowhere.npy");
    refused(
        &["--expect=model.npy", "--expect=model.npy"],
        "2 files of expected results, and @main",
    );
    refused(&["--expect=model.npy", "--golden=nowhere"], "nowhere");
    refused(&["--expect=model.npy", "--input=1"], "input");
    refused(&["--expect=model.npy", "--", "--no-such-flag"], "no-such-flag");
    refused(&[], "--expect");
    // What a program has left before it fails is no result.
    std::fs::write(folder.path().join("model.mlir"), "func.func @main() { nonsense }").unwrap();
    refused(&["--expect=model.npy"], "error");
}

#[test]
fn a_diff_that_compares_nothing_is_no_success() {
    let folder = folder();
    let run = |arguments: &[&str]| {
        let mut command = IREE_DBG.command();
        command.current_dir(folder.path()).args(arguments).output().expect("iree-dbg starts")
    };
    assert!(run(&["compile", "model.mlir", "-o", "bytecode.vmfb"]).status.success());
    for flag in ["--bytecode", "--mode=bisect"] {
        let output = run(&[&["diff", "bytecode.vmfb", flag], &INPUTS[..]].concat());
        let (said, hint) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(3), "{said}{hint}");
        has(&said, &["not compared: it is bytecode already", "nothing was compared"]);
        has(&hint, &["hint: ", "machine code", "each dispatch is compared with its text"]);
    }
    // The hint is right.
    let output = run(&[&["diff", "bytecode.vmfb"], &INPUTS[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    // What does not run is not compared either, and that is another status.
    let output = run(&["diff", "bytecode.vmfb"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(2), "{said}");
    has(&said, &["side A failed: INVALID_ARGUMENT", "the program failed; no dispatch"]);
}
