//! Native libraries: functions that MLIR compiled and packed functions of TVM FFI, called from the
//! command line and imported by programs. The tools that users have build libraries and programs
//! here, from the sources beside this file. The oracle is the sources: each expected result is
//! known.
//!
//! `packed.py` tests the other direction, functions of programs as callables of Python.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use abi::signature::{Slot, Type};
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
            // So that functions can be called without a program.
            .arg("-DTVM_FFI_DLL_EXPORT_INCLUDE_METADATA=1")
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

/// A library alone can be debugged: the session stops before its function, and steps over it.
#[test]
fn a_library_alone_is_debugged() {
    let built = built();
    let debug = |function: &str, inputs: &[&str], commands: &[&str]| {
        let output = Command::new(iree_dbg().expect("our program"))
            .current_dir(built.folder.path())
            .args(["debug", "--module=liblibrary.so", &format!("--function={function}"), "--batch"])
            .args(inputs.iter().map(|input| format!("--input={input}")))
            .args(commands.iter().flat_map(|command| ["-ex", command]))
            .output()
            .expect("our program starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    };
    let (out, errors) = debug("add", &["2", "-3"], &["break @add", "run", "step", "continue"]);
    assert!(out.contains("vm.call @library.add(%i0, %i1)"), "{out}{errors}");
    assert!(out.contains("result[0]: i32=-1"), "{out}{errors}");
    let (out, errors) = debug("scaled", &["2x2xf32=1,2,3,4", "2"], &["run"]);
    assert!(out.contains("2x2xf32=[2 4][6 8]"), "{out}{errors}");
    let (out, errors) = debug("checked", &["-3"], &["run", "bt"]);
    assert!(out.contains("call of abort in @checked(i32=-3)"), "{out}{errors}");
    assert!(out.contains("#0 library.checked") && out.contains("#1 checked"), "{out}{errors}");
    let (out, errors) = debug("missing", &[], &["run"]);
    assert!(out.is_empty() && errors.contains("no function `missing`"), "{out}{errors}");
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

/// A recorded program goes back and forth, and no function is called again: the results, which tell
/// how often the library was called, are those of a run that does not go back. One of the tensors
/// is the library's own.
#[test]
fn recorded_programs_call_libraries_once() {
    let built = built();
    let modules = ["libpacked.so", "liblibrary.so", "program.vmfb"];
    let modules = modules.map(|module| format!("--module={module}"));
    let debug = |function: &str, input: &str, lines: &[&str]| {
        let script = built.folder.path().join(format!("recorded-{function}-{input}"));
        std::fs::write(&script, lines.join("\n")).expect("a script");
        let output = Command::new(iree_dbg().expect("our program"))
            .current_dir(built.folder.path())
            .env("TVM_FFI_LIBRARY", &built.core)
            .arg("debug")
            .args(&modules)
            .args([format!("--function={function}"), format!("--input={input}")])
            .args(["--record", "--batch", "-x"])
            .arg(&script)
            .output()
            .expect("our program starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let (ok, straight, errors) = call(PROGRAM, "ticks", &["1"]);
    assert!(ok && straight.contains("3xf32=8 12 16"), "{straight}{errors}");
    let results: String = straight.lines().skip(1).map(|line| format!("{line}\n")).collect();
    let mut script = vec!["run"];
    for _ in 0..3 {
        script.extend(["rni 40", "si 7", "rn 9", "n 20", "rni 200", "rsi 40", "continue"]);
        script.extend(["goto begin", "si 60", "rsi 3", "continue"]);
    }
    let out = debug("ticks", "1", &script);
    assert_eq!(out.matches(&results).count(), 7, "{results}{out}");
    let failed = debug("ticks", "0", &["run", "rsi 9", "continue", "goto begin", "continue"]);
    assert_eq!(failed.matches("integer division by zero").count(), 3, "{failed}");
    let flags = ["--function=ticks", "--input=1", "--record=run.file"].map(str::to_owned);
    let arguments = [&modules[..], &flags].concat();
    let (ok, out, errors) = run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(ok && out == straight, "{out}{errors}");
    // Made again without the libraries.
    let elsewhere = tempfile::tempdir().expect("a scratch folder");
    let file = built.folder.path().join("run.file");
    std::fs::rename(file, elsewhere.path().join("run.file")).expect("it is there");
    let output = Command::new(iree_dbg().expect("our program"))
        .current_dir(elsewhere.path())
        .args(["debug", "run.file", "--batch", "-ex", "run", "-ex", "rsi 40", "-ex", "continue"])
        .output()
        .expect("our program starts");
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(out.matches(&results).count(), 2, "{results}{out}");
    let fault = debug("checked", "-3", &["run", "rsi 1", "continue", "goto begin", "continue"]);
    assert_eq!(fault.matches("call of abort in @checked(i32=-3)").count(), 3, "{fault}");
}

/// Types as TVM FFI's own Python prints them have the meaning of the schemas that they are printed
/// from, and so have the schemas that Python writes.
#[test]
fn types_are_read_as_python_prints_them() {
    let program = "
import json, sys
from tvm_ffi.core import TypeSchema
for line in sys.stdin:
    schema = TypeSchema.from_json_str(line)
    print(json.dumps([schema.repr(), json.dumps(schema.to_json())]))
";
    let leaves = [
        "None",
        "Any",
        "int",
        "bool",
        "float",
        "void*",
        "DataType",
        "Device",
        "DLTensor*",
        "const char*",
        "TVMFFIByteArray*",
        "std::string",
        "ffi.String",
        "ffi.SmallStr",
        "ffi.Bytes",
        "ffi.SmallBytes",
        "ffi.Object",
        "ffi.Function",
        "ffi.Shape",
        "ffi.Tensor",
        "ffi.Module",
        "ffi.Array",
        "ffi.Map",
        "my.Class",
        "std::tuple",
    ];
    let mut schemas: Vec<String> = leaves.map(|it| format!("{{\"type\":\"{it}\"}}")).to_vec();
    let generic = [
        ("ffi.Array", 1),
        ("ffi.List", 1),
        ("std::vector", 1),
        ("Optional", 1),
        ("std::optional", 1),
        ("ffi.Map", 2),
        ("ffi.Dict", 2),
        ("std::map", 2),
        ("std::unordered_map", 2),
        ("Tuple", 2),
        ("std::tuple", 3),
        ("Variant", 2),
        ("std::variant", 3),
        ("std::function", 3),
        ("ffi.Function", 2),
    ];
    for depth in 0..3 {
        for (number, (name, count)) in generic.iter().enumerate() {
            let given: Vec<&str> = (0..*count)
                .map(|it| &*schemas[(number * 7 + it * 11 + depth * 13 + 1) % schemas.len()])
                .collect();
            schemas.push(format!("{{\"type\":\"{name}\",\"args\":[{}]}}", given.join(",")));
        }
    }
    for parts in ["\"params\":[{\"type\":\"int\"},{\"type\":\"ffi.Array\"}],", "\"params\":[],", ""]
    {
        schemas.push(format!(
            "{{\"type\":\"ffi.Function\",\"named_args\":{{{parts}\"return\":[{{\"type\":\"float\"}}]}}}}"
        ));
    }
    let mut python = Command::new(iree("python").expect("IREE's tools"))
        // The folders beside this file are no packages.
        .args(["-I", "-c", program])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("Python starts");
    let mut input = python.stdin.take().expect("its input");
    std::io::Write::write_all(&mut input, (schemas.join("\n") + "\n").as_bytes()).expect("written");
    drop(input);
    let output = python.wait_with_output().expect("Python ends");
    assert!(output.status.success(), "Python with tvm_ffi: see tests/requirements.txt");
    let printed = String::from_utf8(output.stdout).expect("text");
    assert_eq!(printed.lines().count(), schemas.len());
    for (schema, line) in schemas.iter().zip(printed.lines()) {
        let [repr, json]: [String; 2] = serde_json::from_str(line).expect("a pair");
        let meaning = |text: &str| {
            let parsed = abi::tvm::schema::Schema::parse(text);
            let parsed = parsed.unwrap_or_else(|error| panic!("{schema} as {text}: {error}"));
            alternatives(&parsed.to_type())
        };
        assert_eq!(meaning(&json), meaning(schema), "{schema} as {json}");
        assert_eq!(meaning(&repr), meaning(schema), "{schema} as {repr}");
    }
}

/// Without a program, packed functions are called with the types of their metadata, or with those
/// that are declared.
#[test]
fn packed_functions_alone() {
    let library = &["--module=libpacked.so"];
    for (function, arguments, expected) in [
        ("add", &["--input=3", "--input=4"][..], "result[0]: i64=7"),
        ("double_all", &["--input=3xf32=1 2 3"], "result[0]: f64=12"),
        ("add", &["--inputs-json=[3, 4]", "--outputs-json"], "7"),
        ("same", &["--input=2x2xf32=1 2 3 4"], "2x2xf32=[1 2][3 4]"),
    ] {
        let function = format!("--function={function}");
        let arguments = [library, &[&*function][..], arguments].concat();
        let (ok, out, errors) = run(&arguments);
        assert!(ok && out.contains(expected), "{arguments:?}: {out}{errors}");
    }
    let pair = ["--module=libpacked.so", "--function=pair", "--input=1", "--input=2"];
    let (ok, out, errors) = run(&pair);
    assert!(ok && out.contains("child_list[1]: f64=4"), "{out}{errors}");
    let signature = "--signature=func.func @pair(i64, f64) -> (i64, f64)";
    let (ok, out, errors) = run(&[&pair[..], &[signature]].concat());
    assert!(ok && out.contains("result[1]: f64=4"), "{out}{errors}");
    let count = ["--module=libpacked.so", "--function=count", "--input=1", "--input=2"];
    let (ok, out, errors) = run(&count);
    assert!(!ok && errors.contains("count"), "{out}{errors}");
    let signature = "--signature=func.func @count(i64, i64) -> i64";
    let (ok, out, errors) = run(&[&count[..], &[signature]].concat());
    assert!(ok && out.contains("i64=2"), "{out}{errors}");
    let (ok, _, errors) = run(&["--module=libpacked.so", "--function=absent"]);
    assert!(!ok && errors.contains("no function `absent`") && errors.contains("add"), "{errors}");
}

/// The C prototypes that `abi explain` prints are those of functions that can be called.
#[test]
fn prototypes_of_c_fit() {
    let folder = tempfile::tempdir().expect("a folder");
    for (number, (signature, body, inputs, expected)) in [
        (
            "(i32, f64, index) -> f64",
            "return arg0 + arg1 + (double)arg2;",
            &["--input=1", "--input=2.5", "--input=4"][..],
            "result[0]: f64=7.5",
        ),
        (
            "(memref<?x2xf32>, i64) -> memref<?x2xf32>",
            "*result = *arg0; arg0->aligned[arg0->strides[0]] += (float)arg1;",
            &["--input=2x2xf32=1 2 3 4", "--input=5"],
            "2x2xf32=[1 2][8 4]",
        ),
        (
            "(memref<3xi16>) -> (i16, memref<3xi16>)",
            "result->result0 = arg0->aligned[2]; result->result1 = *arg0;",
            &["--input=3xi16=1 2 3"],
            "3xi16=1 2 3",
        ),
        ("(f16) -> f16", "return arg0;", &["--input=1.5"], "result[0]: 1.5"),
        (
            "(i64, memref<2xi32>) -> i64",
            "return arg0 + arg1->aligned[1];",
            &["--inputs-json=[3, [1, 2]]", "--outputs-json"],
            "5\n",
        ),
        (
            "(memref<*xf32>) -> i64",
            "return arg0->rank;",
            &["--input=1x2x3xf32=1"],
            "result[0]: i64=3",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!("func.func private @f{signature}");
        let (ok, explained, errors) =
            iree_dbg_says(&["abi", "explain", "--kind=memref", &text, "--json"]);
        assert!(ok, "{signature}: {errors}");
        let explained: serde_json::Value = serde_json::from_str(&explained).expect("JSON");
        let prototype =
            explained[0]["usage"]["c"].as_str().unwrap_or_else(|| panic!("{explained}"));
        let definition = prototype.strip_suffix(';').expect("a declaration");
        let source = folder.path().join(format!("c{number}.c"));
        let library = folder.path().join(format!("c{number}.so"));
        std::fs::write(&source, format!("#include <stdint.h>\n{definition} {{ {body} }}\n"))
            .expect("a source");
        let declared = format!("{text} attributes {{llvm.emit_c_interface}}\n");
        std::fs::write(library.with_extension("mlir"), declared).expect("a declaration");
        tool(
            Command::new("clang-16")
                .args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"])
                .args([&library, &source]),
        );
        let module = format!("--module={}", library.display());
        let arguments = [&["run", &*module, "--function=f"], inputs].concat();
        let (ok, out, errors) = iree_dbg_says(&arguments);
        assert!(ok && out.contains(expected), "{signature}: {out}{errors}");
    }
}

/// Whether our program succeeds, its output, and its errors.
fn iree_dbg_says(arguments: &[&str]) -> (bool, String, String) {
    let output = Command::new(iree_dbg().expect("our program")).args(arguments).output();
    let output = output.expect("our program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

/// What a type may be. Python prints unions inside of unions, and `None` in them, as one union.
fn alternatives(ty: &Type) -> BTreeSet<String> {
    let all = |items: &[Type]| items.iter().map(alternatives).collect::<Vec<_>>();
    let slots = |slots: &[Slot]| slots.iter().map(|it| alternatives(&it.ty)).collect::<Vec<_>>();
    let one = match ty {
        Type::OneOf(items) => return items.iter().flat_map(alternatives).collect(),
        Type::Optional(item) => {
            return alternatives(item).into_iter().chain(alternatives(&Type::Null)).collect();
        }
        Type::List(item) => format!("list {:?}", alternatives(item)),
        Type::Map(key, value) => format!("map {:?} {:?}", alternatives(key), alternatives(value)),
        Type::Sequence(_, items) => format!("sequence {:?}", all(items)),
        Type::Function(Some(it)) => {
            format!("function {:?} {:?}", slots(&it.arguments), slots(&it.results))
        }
        other => format!("{other:?}"),
    };
    BTreeSet::from([one])
}

/// Executables import functions of plugins, as in iree-run-module; what goes wrong in one fails
/// its dispatch.
#[test]
fn plugins_of_executables() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    tool(
        Command::new("clang-16")
            // IREE's loader of embedded files finds symbols by this table only.
            .args(["-O1", "-shared", "-fPIC", "-nostdlib", "-fno-builtin", "-Wl,--hash-style=sysv"])
            .args(["-o", &at("plugin.so")])
            .arg(source("plugin.c")),
    );
    std::fs::copy(at("plugin.so"), at("plugin.sos")).expect("a copy");
    tool(
        Command::new(iree("iree-compile").expect("IREE's tools"))
            .arg(source("plugin.mlir"))
            .arg("--iree-hal-target-device=local")
            .arg("--iree-hal-local-target-device-backends=llvm-cpu")
            .args(["--iree-llvmcpu-target-cpu=host", "-o", &at("model.vmfb")]),
    );
    let module = format!("--module={}", at("model.vmfb"));
    let call = |plugin: Option<&str>, numbers: &str| {
        let plugin = plugin.map(|name| format!("--executable_plugin={name}"));
        let arguments = [module.clone(), "--function=main".into(), "--device=local-sync".into()];
        let input = format!("--input=6xf32={numbers}");
        arguments.into_iter().chain(plugin).chain([input]).collect::<Vec<_>>()
    };
    let ours =
        |arguments: &[String]| run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let embedded = format!("embedded:{}", at("plugin.so"));
    for plugin in [at("plugin.so"), at("plugin.sos"), embedded] {
        let arguments = call(Some(&plugin), "1 2 3 4 5 6");
        let expected =
            tool(Command::new(iree("iree-run-module").expect("IREE's tools")).args(&arguments));
        let (ok, out, errors) = ours(&arguments);
        assert!(ok, "{plugin}: {errors}");
        assert_eq!(out, expected, "{plugin}");
    }
    for (plugin, numbers, expected) in [
        (
            Some(at("plugin.so")),
            "1 2 3 4 -5 6",
            "returned catastrophic error 3; in workgroup (1, 0, 0)",
        ),
        (Some(at("plugin.so")), "1000", "machine code: write of address 0x10"),
        (None, "1", "required executable imports: plugin_scale; name the plugin"),
        (Some(at("model.vmfb")), "1", "model.vmfb: "),
        (Some(at("absent.so")), "1", "absent.so: cannot open shared object file"),
    ] {
        let (ok, out, errors) = ours(&call(plugin.as_deref(), numbers));
        assert!(!ok && errors.contains(expected), "{numbers}: {out}{errors}");
    }
    let mut refused = call(Some(&at("plugin.so")), "1");
    refused.push("--no-native".to_owned());
    let (ok, _, errors) = ours(&refused);
    assert!(!ok && errors.contains("--no-native refuses"), "{errors}");
}
