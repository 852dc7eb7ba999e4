//! Native libraries: functions that MLIR compiled and packed functions of TVM FFI, called from the
//! command line and imported by programs. The tools that users have build libraries and programs
//! here, from the sources beside this file. The oracle is the sources: each expected result is
//! known.
//!
//! `packed.py` tests the other direction, functions of programs as callables of Python.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use conformance::tools::{iree, iree_dbg, repository};

/// The folder with the built libraries and programs.
struct Built {
    folder: tempfile::TempDir,
    /// The runtime library of TVM FFI.
    core: PathBuf,
}

fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let lowering = "--convert-func-to-llvm";
        mlir_library("library.mlir", lowering, &folder.path().join("liblibrary.so"));
        let bare = "--convert-func-to-llvm=use-bare-ptr-memref-call-conv";
        mlir_library("bare.mlir", bare, &folder.path().join("bare.so"));
        let core = packed_library(&folder.path().join("libpacked.so"));
        let program = folder.path().join("program.vmfb");
        tool(
            Command::new(iree("iree-compile").expect("IREE's tools"))
                .arg(source("imports.mlir"))
                .args([
                    "--iree-hal-target-device=local",
                    "--iree-hal-local-target-device-backends=vmvx",
                ])
                .args([
                    "--iree-vm-target-extension-f64=true",
                    "--iree-input-demote-f64-to-f32=false",
                ])
                .arg("-o")
                .arg(&program),
        );
        Built { folder, core }
    })
}

fn source(name: &str) -> PathBuf {
    repository().join("tests/native").join(name)
}

/// Runs a program that must succeed.
fn tool(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| {
        panic!("{command:?}: {error}; install it: apt-get install mlir-16-tools llvm-16 clang-16")
    });
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Compiles a library as MLIR's documentation says. Its source lies beside it, as the declaration
/// of its functions.
fn mlir_library(name: &str, lowering: &str, library: &Path) {
    let converted = library.with_extension("llvm.mlir");
    tool(
        Command::new("mlir-opt-16")
            .args(["--convert-scf-to-cf", "--expand-strided-metadata", "--convert-complex-to-llvm"])
            .args(["--convert-memref-to-llvm", "--convert-arith-to-llvm", "--convert-cf-to-llvm"])
            .args([lowering, "--reconcile-unrealized-casts", "-o"])
            .args([&converted, &source(name)]),
    );
    let llvm = library.with_extension("ll");
    tool(
        Command::new("mlir-translate-16")
            .args(["--mlir-to-llvmir", "-o"])
            .args([&llvm, &converted]),
    );
    tool(
        Command::new("clang-16")
            .args(["-shared", "-fPIC", "-O1", "-Wno-override-module", "-o"])
            .args([library, &llvm]),
    );
    std::fs::copy(source(name), library.with_extension("mlir")).expect("the source");
}

/// Compiles the library of packed functions and returns the runtime library that it needs.
fn packed_library(library: &Path) -> PathBuf {
    let config = iree("tvm-ffi-config").expect("tests/requirements.txt");
    let ask = |flag: &str| tool(Command::new(&config).arg(flag));
    let folder = ask("--libdir").trim().to_owned();
    tool(
        Command::new("clang++-16")
            .args(ask("--cxxflags").split_whitespace())
            .args(["-shared", "-fPIC", "-o"])
            .args([library, &source("packed.cc")])
            .args([&format!("-L{folder}"), "-ltvm_ffi"]),
    );
    Path::new(&folder).join("libtvm_ffi.so")
}

/// Runs `iree-dbg run` in the folder of built files. Returns whether it succeeded, its output and
/// its errors.
fn run(arguments: &[&str]) -> (bool, String, String) {
    let built = built();
    let output = Command::new(iree_dbg().expect("our program"))
        .current_dir(built.folder.path())
        .env("TVM_FFI_LIBRARY", &built.core)
        .arg("run")
        .args(arguments)
        .output()
        .expect("our program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

/// Each row: a function with its inputs, and the lines that it prints after `EXEC`.
#[track_caller]
fn gives(modules: &[&str], rows: &[(&str, &[&str], &[&str])]) {
    for (function, inputs, expected) in rows {
        let (ok, out, errors) = call(modules, function, inputs);
        assert!(ok, "{function}{inputs:?}: {errors}");
        let found: Vec<&str> =
            out.lines().skip(1).filter(|line| !line.ends_with("hal.buffer_view")).collect();
        assert_eq!(&found, expected, "{function}{inputs:?}");
    }
}

/// Each row: a function with its inputs, and a part of its error.
#[track_caller]
fn refuses(modules: &[&str], rows: &[(&str, &[&str], &str)]) {
    for (function, inputs, expected) in rows {
        let (ok, out, errors) = call(modules, function, inputs);
        assert!(!ok, "{function}{inputs:?}: {out}");
        assert!(
            errors.contains(expected),
            "{function}{inputs:?}: expected {expected:?} in {errors}"
        );
    }
}

fn call(modules: &[&str], function: &str, inputs: &[&str]) -> (bool, String, String) {
    let mut arguments: Vec<String> =
        modules.iter().map(|module| format!("--module={module}")).collect();
    arguments.push(format!("--function={function}"));
    arguments.extend(inputs.iter().map(|input| format!("--input={input}")));
    run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn functions_over_memrefs() {
    gives(
        &["liblibrary.so"],
        &[
            ("negate", &["3xf32=1,2,3"], &["3xf32=-1 -2 -3"]),
            ("scaled", &["2x2xf32=1,2,3,4", "2"], &["2x2xf32=[2 4][6 8]"]),
            ("transposed", &["2x3xi32=1,2,3,4,5,6"], &["3x2xi32=[1 4][2 5][3 6]"]),
            ("every", &["8xi64=0,1,2,3,4,5,6,7", "1", "3", "2"], &["3xi64=1 3 5"]),
            ("every", &["8xi64=0,1,2,3,4,5,6,7", "7", "4", "-2"], &["4xi64=7 5 3 1"]),
            ("takes_any_stride", &["2x2xf32=1,2,3,4", "1", "0"], &["result[0]: f32=3"]),
            (
                "several",
                &["2xf32=1.5,2", "77"],
                &["2xf32=1.5 2", "result[1]: f64=1.5", "result[2]: i64=77", "result[3]: i32=-3"],
            ),
            ("rank", &["2x1x1xf32=5,6"], &["result[0]: i64=3", "2x1x1xf32=[[5]][[6]]"]),
            ("rank", &["f32=5"], &["result[0]: i64=0", "f32=5"]),
            ("filled", &["2.5"], &["1x2xf64=[2.5 2.5]"]),
            // The function writes into its argument too.
            ("one_more", &["i32=41"], &["i32=42", "i32=42"]),
            ("same", &["0x3xi16"], &["0x3xi16="]),
            ("same", &["1x3xi16=7"], &["1x3xi16=[7 7 7]"]),
            ("constant", &[], &["3xf64=1.5 -2 3.25"]),
            ("truth", &["2xi1=00 01", "1"], &["result[0]: i32=1"]),
            ("truth", &["2xi1=00 01", "0"], &["result[0]: i32=0"]),
            (
                "real_parts",
                &["2xcf64=0000803F00000040 0000404000008040"],
                &["result[0]: f32=1", "result[1]: f32=4"],
            ),
            ("add", &["2", "-3"], &["result[0]: i32=-1"]),
        ],
    );
}

#[test]
fn scalars_in_a_struct() {
    let expected = ["i32=1", "i32=-2", "i32=-3", "i32=-4", "i64=-5", "f32=1.5", "f64=2.5", "i64=7"];
    let lines: Vec<String> =
        (0..).zip(expected).map(|(index, text)| format!("result[{index}]: {text}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    gives(
        &["liblibrary.so"],
        &[("scalars", &["1", "-2", "-3", "-4", "-5", "1.5", "2.5", "7"], &lines)],
    );
}

#[test]
fn what_does_not_fit_a_memref_is_refused() {
    refuses(
        &["liblibrary.so"],
        &[
            ("negate", &["3xf64=1"], "@negate args[0]: expected memref<?xf32>, got 3xf64"),
            ("negate", &["2x2xf32=1"], "@negate args[0]: expected memref<?xf32>, got 2x2xf32"),
            ("negate", &["(null)"], "@negate args[0]: expected a buffer view"),
            ("several", &["3xf32=1", "1"], "expected memref<2xf32>, got 3xf32"),
            ("takes_a_row_of", &["2x2xf32=1"], "but buffer views are dense"),
            ("missing", &[], "missing"),
        ],
    );
}

#[test]
fn functions_over_bare_pointers() {
    gives(
        &["bare.so"],
        &[
            ("increment", &["2x2xi32=5"], &["2x2xi32=[6 5][5 5]"]),
            ("same", &["4xf32=1,2,3,4", "0.5"], &["4xf32=1 2 3 4"]),
            ("first", &["4xf32=9"], &["result[0]: f32=9"]),
        ],
    );
    refuses(&["bare.so"], &[("first", &["3xf32=9"], "expected memref<4xf32>, got 3xf32")]);
}

#[test]
fn declarations_on_the_command_line() {
    let signature = "--signature=func.func @first(memref<4xf32>) -> f32 attributes {llvm.bareptr}";
    let (ok, out, errors) =
        run(&["--module=bare.so", signature, "--function=first", "--input=4xf32=3"]);
    assert!(ok && out.contains("f32=3"), "{out}{errors}");
    for (signature, expected) in [
        ("func.func @first(memref<4xf32>) -> f32", "it has none of the functions"),
        ("func.func @first(memref<4xf32) -> f32", "--signature"),
        (
            "func.func @first(memref<?xf32>) -> f32 attributes {llvm.bareptr}",
            "a bare pointer carries no sizes",
        ),
        (
            "func.func @first(memref<4xf32>) -> (f32, f32) attributes {llvm.bareptr}",
            "several results beside bare pointers",
        ),
        ("func.func @first(tensor<4xf32>) -> f32", "tensors have no form in memory"),
    ] {
        let signature = format!("--signature={signature}");
        let (ok, out, errors) =
            run(&["--module=bare.so", &signature, "--function=first", "--input=4xf32=3"]);
        assert!(!ok && errors.contains(expected), "{signature}: {out}{errors}");
    }
    let (ok, _, errors) = run(&["--module=libpacked.so", "--no-native", "--function=add"]);
    assert!(!ok && errors.contains("--no-native refuses native libraries"), "{errors}");
}

const PROGRAM: &[&str] = &["libpacked.so", "liblibrary.so", "program.vmfb"];

#[test]
fn imports_from_libraries() {
    gives(
        PROGRAM,
        &[
            ("add", &["21"], &["result[0]: i64=42"]),
            ("pair", &["5", "1.5"], &["result[0]: i64=6", "result[1]: f64=3"]),
            ("sum", &["4xf32=1,2,3,4"], &["result[0]: f64=20"]),
            ("same", &["4xf32=1,2,3,4"], &["4xf32=1 2 3 4"]),
            ("same", &["0xf32"], &["0xf32="]),
            ("shared", &["4xf32=1,2,3,4"], &["result[0]: i64=0"]),
            ("scaled", &["2x2xf32=1,2,3,4", "2"], &["2x2xf32=[4 8][12 16]"]),
            ("add_twice", &["7"], &["result[0]: i32=21"]),
        ],
    );
}

#[test]
fn errors_of_libraries_reach_the_program() {
    refuses(
        PROGRAM,
        &[
            ("sum", &["2x2xf32=1"], "packed.double_all: ValueError: expected a vector, got rank 2"),
            ("fail", &["5"], "OUT_OF_RANGE; packed.fail: IndexError: there is no 5"),
            ("text", &[], "packed.text: TypeError: results[0]: expected i64, got ffi.String"),
        ],
    );
    let (_, _, errors) = call(PROGRAM, "fail", &["5"]);
    assert!(errors.contains("in void Fail(int64_t)"), "the library's own frame: {errors}");
    assert!(errors.contains("program.fail ["), "the program's frame: {errors}");
    assert!(!errors.contains("std::rt"), "frames of others: {errors}");
}

#[test]
fn imports_that_no_library_has() {
    refuses(&["liblibrary.so", "program.vmfb"], &[("add", &["1"], "packed.add")]);
    refuses(&["libpacked.so", "program.vmfb"], &[("add", &["1"], "library.")]);
}

/// A fault in a library ends the program with an error that names the call. Earlier output
/// survives.
#[test]
fn faults_of_libraries_end_the_program() {
    let far = 1_u64 << 45;
    refuses(
        &["liblibrary.so"],
        &[
            (
                "checked",
                &["-3"],
                "ABORTED; native library liblibrary.so: call of abort in @checked(i32=-3)",
            ),
            (
                "remainder",
                &["7", "0"],
                "integer division by zero, or without a quotient that fits in",
            ),
            ("truth", &["4xi1=01", &far.to_string()], "read of address 0x"),
        ],
    );
    refuses(PROGRAM, &[("checked", &["-3"], "program.checked [")]);
    gives(PROGRAM, &[("checked", &["3"], &["result[0]: i32=3"])]);
}

/// After a fault the debugger stands where the library was called, and can run the program again.
#[test]
fn the_debugger_outlives_a_fault_of_a_library() {
    let built = built();
    let script = built.folder.path().join("script");
    std::fs::write(&script, "run\nbt\nregs\nrun\nprint 6 * 7\n").expect("a script");
    let output = Command::new(iree_dbg().expect("our program"))
        .current_dir(built.folder.path())
        .env("TVM_FFI_LIBRARY", &built.core)
        .args(["debug", "--module=liblibrary.so", "--module=libpacked.so", "--module=program.vmfb"])
        .args(["--function=checked", "--input=-3", "--batch", "-x"])
        .arg(&script)
        .output()
        .expect("our program starts");
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(out.matches("call of abort in @checked(i32=-3)").count(), 2, "{out}");
    assert!(out.contains("#0 library.checked") && out.contains("#1 checked"), "{out}");
    assert!(out.contains("42"), "{out}");
}
