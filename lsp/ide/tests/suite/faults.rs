//! Faults that need no tool, each made by one change of a text: iree-opt refuses what we refuse,
//! and accepts what we accept.

use std::sync::Arc;

use ide::{Document, Language, Severity, diagnostics};

use super::fixes::is_accepted;

const RIGHT: &str = "#rows = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>
util.global private mutable @state = 0 : i32
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %flag: i1, %m: memref<4xf32>) -> i32 {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : index
  %two = arith.addi %one, %one : i32
  %sum = linalg.generic {indexing_maps = [#rows, #columns, #rows],
                         iterator_types = [\"parallel\", \"parallel\"]}
      ins(%a, %b : tensor<4x8xf32>, tensor<8xf32>) outs(%a : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %old: f32):
    %z = arith.addf %x, %y fastmath<nnan> : f32
    linalg.yield %z : f32
  } -> tensor<4x8xf32>
  %item = memref.load %m[%zero] : memref<4xf32>
  %part = tensor.extract_slice %a[0, 0] [2, 8] [1, 1] : tensor<4x8xf32> to tensor<2x8xf32>
  %flat = tensor.collapse_shape %a [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %wide = arith.extsi %one : i32 to i64
  %any = tensor.cast %b : tensor<8xf32> to tensor<?xf32>
  %state = util.global.load @state : i32
  cf.cond_br %flag, ^left, ^right(%two : i32)
^left:
  %in_left = arith.muli %two, %two : i32
  cf.br ^right(%in_left : i32)
^right(%given: i32):
  %end = arith.addi %given, %state : i32
  return %end : i32
^never:
  %lost = arith.addi %in_left, %end : i32
  return %lost : i32
}
";

/// What is changed, to what, and the code of the fault.
const CASES: &[(&str, &str, &str)] = &[
    ("%two = arith.addi %one, %one", "%two = arith.addi %two, %one", "dominance"),
    ("%two = arith.addi %one, %one", "%two = arith.addi %state, %one", "dominance"),
    ("arith.addf %x, %y", "arith.addf %x, %item", "dominance"),
    ("arith.addi %given, %state", "arith.addi %given, %in_left", "dominance"),
    ("muli %two, %two", "muli %two, %given", "dominance"),
    ("%z = arith.addf %x, %y", "%z = tensor.extract %sum[%zero, %zero]", "dominance"),
    ("(d0, d1) -> (d1)", "(d0, d1) -> (d2)", "affine-map"),
    ("(%a, %b : tensor<4x8xf32>, tensor", "(%a : tensor<4x8xf32>, tensor", "arity"),
    ("[#rows, #columns, #rows]", "[#rows, #columns]", "arity"),
    ("[\"parallel\", \"parallel\"]", "[\"parallel\"]", "arity"),
    ("[\"parallel\", \"parallel\"]", "[\"parallel\", \"serial\"]", "word"),
    ("iterator_types = ", "iterator_typs = ", "attribute"),
    ("fastmath<nnan>", "fastmath<nan>", "word"),
    ("%y: f32, %old", "%y: f64, %old", "type"),
    ("(%x: f32, %y: f32, %old: f32)", "(%x: f32, %y: f32)", "arity"),
    ("load %m[%zero]", "load %m[%zero, %zero]", "arity"),
    ("[2, 8] [1, 1]", "[2, 8] [1]", "arity"),
    ("tensor<32xf32>", "tensor<33xf32>", "shape"),
    ("%one : i32 to i64", "%one : i32 to f64", "type"),
    ("tensor<8xf32> to tensor<?xf32>", "tensor<8xf32> to tensor<9xf32>", "shape"),
    ("@state : i32", "@state : i64", "type"),
    ("^right(%two : i32)", "^right(%two, %one : i32)", "arity"),
    ("arith.muli %two, %two : i32", "arith.muli %two : i32", "arity"),
    ("arith.muli %two, %two : i32", "arith.muli %two, %two", "arity"),
    ("arith.muli %two, %two : i32", "arith.muli %two, %", "name"),
    ("outs(%a : tensor<4x8xf32>)", "outs(%part : tensor<2x8xf32>)", "shape"),
];

fn codes(text: &str) -> Vec<&'static str> {
    let document = Document::new(Language::Mlir, None, Arc::new(text.to_owned()));
    let found = diagnostics(&document).into_iter();
    found.filter(|it| it.severity == Severity::Error).map(|it| it.code).collect()
}

#[test]
fn faults_are_found_without_a_tool() {
    assert_eq!(codes(RIGHT), Vec::<&str>::new());
    assert!(is_accepted(RIGHT));
    for &(right, wrong, code) in CASES {
        assert!(RIGHT.contains(right), "{right}");
        for newline in ["\n", "\r\n"] {
            let text = RIGHT.replacen(right, wrong, 1).replace('\n', newline);
            assert!(codes(&text).contains(&code), "{wrong}: {:?}", codes(&text));
        }
        assert!(!is_accepted(&RIGHT.replacen(right, wrong, 1)), "{wrong} is accepted");
    }
}

/// Where the order of the text means nothing, or no way leads, it is no fault.
#[test]
fn order_matters_only_where_it_does() {
    for text in [
        "%0 = arith.addi %1, %1 : i32\n%1 = arith.constant 1 : i32\n",
        "func.func @f() {\n  return\n^dead:\n  %0 = arith.addi %1, %1 : i32\n  \
         %1 = arith.constant 1 : i32\n  return\n}\n",
        "func.func @f(%c: i1) {\n  cf.br ^b\n^a:\n  %1 = arith.addi %0, %0 : i32\n  return\n\
         ^b:\n  %0 = arith.constant 1 : i32\n  cf.br ^a\n}\n",
    ] {
        assert!(is_accepted(text), "{text}");
        assert_eq!(codes(text), Vec::<&str>::new(), "{text}");
    }
}
