//! Compares expanded signatures, C interfaces and bare pointers with mlir-opt 16's output for the
//! same types.

use std::io::Write;
use std::process::{Command, Stdio};

use abi::convention::parse_memref;
use abi::mlir::lowering::{Lowered, Signature, lower};

/// Function types that MLIR converts.
const CONVERTED: [&str; 62] = [
    "() -> ()",
    "(i32) -> i32",
    "(i1) -> i1",
    "(ui8) -> ()",
    "(si4) -> si4",
    "(i128) -> i128",
    "(i4) -> i4",
    "(i16777215) -> ()",
    "(index) -> index",
    "(f16) -> f16",
    "(bf16) -> bf16",
    "(f80) -> f80",
    "(f128) -> f128",
    "(i32, i64) -> (i32, i64)",
    "(f32) -> (f32, f64, i8)",
    "(complex<f32>) -> complex<f32>",
    "(complex<i8>) -> complex<f64>",
    "(complex<f32>, i32) -> (complex<f32>, i32)",
    "(vector<4xf32>) -> vector<4xf32>",
    "(vector<2x4xf32>) -> vector<2x4xf32>",
    "(vector<2x3x4xi8>) -> ()",
    "(vector<f32>) -> vector<f32>",
    "(vector<i1>) -> ()",
    "(vector<4xindex>) -> ()",
    "(vector<[4]xf32>) -> vector<[4]xf32>",
    "(vector<2x[4]xf32>) -> ()",
    "(memref<f32>) -> ()",
    "(memref<f32>) -> memref<f32>",
    "(memref<?xf32>) -> ()",
    "(memref<4xf32>) -> ()",
    "(memref<0xf32>) -> ()",
    "(memref<?xf32>) -> memref<?xf32>",
    "(memref<?x?xf32>) -> memref<?x?xf32>",
    "(memref<4x8xf32, strided<[8, 1], offset: 16>>) -> ()",
    "(memref<4x8xf32, strided<[?, ?], offset: ?>>) -> ()",
    "(memref<4x8xf32, strided<[-8, 1], offset: 24>>) -> ()",
    "(memref<?x?xf32, strided<[?, ?], offset: ?>, 3>) -> memref<*xf32, 3>",
    "(memref<2x?x4xi8>) -> ()",
    "(memref<?x?x4x8xf32>) -> ()",
    "(memref<1x2x3x4x5x6xf64>) -> ()",
    "(memref<4xi1>) -> ()",
    "(memref<4xbf16>) -> ()",
    "(memref<4xi4>) -> ()",
    "(memref<4xindex>) -> ()",
    "(memref<4xcomplex<f32>>) -> ()",
    "(memref<4xvector<8xf32>>) -> ()",
    "(memref<4xf32, 1>) -> ()",
    "(memref<4xf32, 0>) -> ()",
    "(memref<2xmemref<?xf32>>) -> ()",
    "(memref<2xmemref<*xf32>>) -> ()",
    "(memref<*xf32>) -> ()",
    "(memref<*xf32>) -> memref<*xf32>",
    "(i32, memref<?xf32>, f64) -> ()",
    "(memref<?xf32>, i32) -> (memref<?xf32>, i32)",
    "(memref<?xf32>, memref<2x2xi32>) -> (memref<?xf32>, memref<2x2xi32>)",
    "(memref<*xf32>, memref<?xf32>) -> (memref<*xf32>, memref<?xf32>)",
    "(memref<?xf32>) -> f32",
    "(vector<4xf32>, index) -> (vector<4xf32>, index)",
    "(() -> ()) -> ()",
    "((i32, memref<?xf32>) -> f32) -> ((i32) -> i32)",
    "(memref<4x8xf32, affine_map<(d0, d1)[s0] -> (d0 * s0 + d1 * 2 + 5)>>) -> ()",
    "(memref<4x8xf32, affine_map<(d0, d1) -> (d0, d1)>>, memref<8xf32, affine_map<(d0) -> (d0)>>) -> ()",
];

/// Function types that MLIR does not convert.
const LEFT_ALONE: [&str; 5] = [
    "(memref<8xf32, affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>>) -> ()",
    "(memref<8xf32, affine_map<(d0) -> (d0 mod 4)>>) -> ()",
    "(memref<4x8xf32, affine_map<(d0, d1) -> (d1, d0)>>) -> ()",
    "(tuple<i32>) -> ()",
    "(none) -> ()",
];

#[test]
fn expanded_signatures_and_c_interfaces() {
    let source: String =
        (0..CONVERTED.len()).map(|index| declare(index, "{llvm.emit_c_interface}")).collect();
    let found = lowered_by_mlir(&source, "--convert-func-to-llvm");
    for (index, text) in CONVERTED.iter().enumerate() {
        let ours = ours(text);
        assert_eq!(
            signature(&found, &format!("f{index}")),
            Some(ours.expanded.to_string()),
            "{text}"
        );
        let c_name = format!("_mlir_ciface_f{index}");
        assert_eq!(
            signature(&found, &c_name),
            Some(ours.c_interface.to_string()),
            "C interface of {text}"
        );
    }
}

#[test]
fn bare_pointers() {
    let bare: Vec<(usize, Signature)> = CONVERTED
        .iter()
        .enumerate()
        .filter_map(|(index, text)| Some((index, ours(text).bare_pointers.ok()?)))
        .collect();
    assert!(bare.len() > 30, "most of the types are static");
    let source: String = bare.iter().map(|(index, _)| declare(*index, "")).collect();
    let found = lowered_by_mlir(&source, "--convert-func-to-llvm=use-bare-ptr-memref-call-conv");
    for (index, ours) in &bare {
        let text = CONVERTED[*index];
        assert_eq!(signature(&found, &format!("f{index}")), Some(ours.to_string()), "{text}");
    }
}

#[test]
fn what_has_no_form_is_left_alone() {
    let types = LEFT_ALONE.iter().enumerate();
    let source: String =
        types.map(|(index, text)| format!("func.func private @f{index}{}\n", head(text))).collect();
    let output = run("mlir-opt-16", &["--convert-func-to-llvm"], &source);
    for (index, text) in LEFT_ALONE.iter().enumerate() {
        assert!(output.contains(&format!("func.func private @f{index}(")), "{text}: {output}");
        let function = parse_memref(text).unwrap().function;
        assert!(lower(&function).is_err(), "{text}");
    }
}

fn ours(text: &str) -> Lowered {
    let function = parse_memref(text).unwrap_or_else(|error| panic!("{text}: {error}")).function;
    lower(&function).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// `(i32) -> ()` as a declaration has it.
fn head(text: &str) -> &str {
    text.strip_suffix(" -> ()").unwrap_or(text)
}

fn declare(index: usize, attributes: &str) -> String {
    let attributes =
        if attributes.is_empty() { String::new() } else { format!(" attributes {attributes}") };
    format!("func.func private @f{index}{}{attributes}\n", head(CONVERTED[index]))
}

fn lowered_by_mlir(source: &str, pass: &str) -> String {
    let converted = run("mlir-opt-16", &[pass, "--reconcile-unrealized-casts"], source);
    run("mlir-translate-16", &["--mlir-to-llvmir"], &converted)
}

/// `define float @f(ptr %0, i64 %1)` as `float (ptr, i64)`.
fn signature(llvm: &str, name: &str) -> Option<String> {
    let marker = format!(" @{name}(");
    let mut heads =
        llvm.lines().filter(|line| line.starts_with("define ") || line.starts_with("declare "));
    let line = heads.find(|line| line.contains(&marker))?;
    let line = line.trim_start_matches("define ").trim_start_matches("declare ");
    let (result, rest) = line.split_once(&marker)?;
    let end = rest.rfind(')')?;
    let mut parameters = String::new();
    for (at, word) in rest[..end].split(", ").enumerate() {
        let word = word.split(" %").next().unwrap_or(word);
        parameters.push_str(if at > 0 { ", " } else { "" });
        parameters.push_str(word);
    }
    Some(format!("{result} ({parameters})"))
}

fn run(tool: &str, arguments: &[&str], input: &str) -> String {
    let child = Command::new(tool)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap_or_else(|error| {
        panic!("{tool}: {error}; install it: apt-get install mlir-16-tools llvm-16 clang-16")
    });
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tool} {arguments:?}: {errors}\n{input}");
    String::from_utf8(output.stdout).unwrap()
}
