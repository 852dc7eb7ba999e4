//! Quick fixes of texts with one fault: iree-opt refuses each text, and accepts it with one of the
//! fixes that are offered where the fault is.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

use ide::{Document, Language, diagnostics, quick_fixes, with_fix};

/// A right text; each case changes it once. The third column tells whether one fix is surely what
/// was meant.
const RIGHT: &str = "#map = affine_map<(d0) -> (d0)>
func.func private @sink(i32)
func.func private @twice(%x: i32) -> i32 {
  %double = arith.addi %x, %x : i32
  return %double : i32
}
func.func @f(%left: tensor<4xf32>, %count: index, %n: i32) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %flag = arith.cmpi slt, %n, %n : i32
  %made = func.call @twice(%n) : (i32) -> i32
  func.call @sink(%made) : (i32) -> ()
  %out = tensor.empty() : tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#map, #map], iterator_types = [\"parallel\"]}
      ins(%left : tensor<4xf32>) outs(%out : tensor<4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %more = arith.addf %in, %one : f32
    linalg.yield %more : f32
  } -> tensor<4xf32>
  %item = tensor.extract %sum[%zero] : tensor<4xf32>
  %result = scf.if %flag -> (f32) {
    scf.yield %item : f32
  } else {
    scf.yield %one : f32
  }
  %last = tensor.insert %result into %sum[%zero] : tensor<4xf32>
  return %last : tensor<4xf32>
}
func.func @g(%flag: i1) {
  cf.cond_br %flag, ^first, ^second
^first:
  cf.br ^second
^second:
  return
}
";

const CASES: &[(&str, &str, bool)] = &[
    ("arith.addi", "arith.adi", true),
    ("tensor.extract ", "tensor.extrct ", true),
    ("linalg.generic", "linalg.generc", true),
    ("%x, %x : i32", "%x %x : i32", true),
    ("%n, %n : i32", "%n, %n i32", true),
    ("indexing_maps = [#map, #map], ", "indexing_maps = [#map, #map] ", true),
    ("iterator_types = [", "iterator_types [", true),
    ("return %double", "return %duoble", true),
    ("into %sum[", "into %smu[", true),
    ("@twice(%n)", "@twise(%n)", true),
    ("call @sink(%made)", "call @other(%made)", false),
    ("cf.br ^second", "cf.br ^secnd", true),
    ("[#map, #map]", "[#map, #mapp]", true),
    ("1.0 : f32", "1 : f32", true),
    ("0 : index", "0.0 : index", true),
    ("  return\n}", "}", true),
    ("  return %double : i32\n", "", false),
    ("    scf.yield %item : f32\n", "", false),
    ("    linalg.yield %more : f32\n", "", false),
    ("return %double : i32", "return %double : i64", false),
    ("return %double : i32", "return", false),
    ("@twice(%x: i32) -> i32", "@twice(%x: i32) -> i64", false),
    ("%in, %one : f32", "%in, %zero : f32", false),
    ("%in, %one : f32", "%in, %one : f64", false),
    ("%item = tensor.extract %sum[%zero]", "%item = tensor.extract %sum[%n]", false),
    ("  %last = ", "  %sum = arith.constant 2 : i32\n  %last = ", false),
    ("func.func @g(", "func.func @f(", false),
    ("^second:\n", "^first:\n", false),
    ("scf.yield %one : f32", "scf.yield %one : f32)", true),
    ("  return\n}\n", "  return\n}\n}\n", true),
    ("tensor.insert %result into %sum[%zero]", "tensor.insert %result into %sum[%zero", false),
    ("[\"parallel\"]", "[\"parallel]", false),
    ("[\"parallel\"]", "[\"paralel\"]", true),
    ("cmpi slt,", "cmpi stl,", true),
    ("(d0) -> (d0)>", "(d0) -> (d1)>", true),
    ("linalg.yield %more", "linalg.yield %last", false),
];

/// Whether iree-opt accepts a text.
pub(crate) fn is_accepted(text: &str) -> bool {
    let program = std::env::var("IREE_OPT").unwrap_or_else(|_| "iree-opt".into());
    let mut child = Command::new(program)
        .args(["-", "-o", "/dev/null"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("iree-opt: install it with `pip install iree-base-compiler`");
    child.stdin.take().expect("its input").write_all(text.as_bytes()).expect("to write");
    child.wait().expect("its end").success()
}

#[test]
fn a_fix_mends_each_fault() {
    assert!(is_accepted(RIGHT));
    let mut missed = Vec::new();
    for &(right, wrong, is_sure) in CASES {
        assert!(RIGHT.contains(right), "{right}");
        let text = RIGHT.replacen(right, wrong, 1);
        assert!(!is_accepted(&text), "{wrong} is accepted");
        let document = Document::new(Language::Mlir, None, Arc::new(text.clone()));
        let faults = diagnostics(&document);
        let Some(fault) = faults.iter().find(|fault| fault.severity == ide::Severity::Error) else {
            missed.push(format!("{wrong}: no fault is found"));
            continue;
        };
        let fixes = quick_fixes(&document, &fault.range);
        let mended = |fix: &&ide::Fix| {
            (!is_sure || fix.is_sure) && is_accepted(&with_fix(&text, fix, &Some).expect("a text"))
        };
        if fixes.iter().find(mended).is_none() {
            let titles: Vec<_> = fixes.iter().map(|fix| (&fix.title, fix.is_sure)).collect();
            missed.push(format!("{wrong}: {} {titles:?}", fault.message));
        }
        // What is surely meant is right.
        for fix in fixes.iter().filter(|fix| fix.is_sure) {
            let mended = with_fix(&text, fix, &Some).expect("a text");
            assert!(is_accepted(&mended), "{wrong}: {}", fix.title);
        }
    }
    assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), CASES.len());
}

#[test]
fn a_right_text_has_no_fixes() {
    let document = Document::new(Language::Mlir, None, Arc::new(RIGHT.to_owned()));
    assert_eq!(quick_fixes(&document, &(0..RIGHT.len())), Vec::new());
}
