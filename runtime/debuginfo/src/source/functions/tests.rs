//! Scopes, types and dominance as read from a text.

use super::{FunctionIndex, LineColumn, SourceFunction};

const TEXT: &str = r#"module @m {
  util.global private @g = 5 : i64
  util.func private @"a b"(%n: i64, %t: tensor<4x?xf32> {x}) -> i64 {
    %c0 = arith.constant 0 : index
    %c = arith.cmpi slt, %n, %n : i64
    scf.for %j = %c to %c step %c : i1 {
    }
    %r:2 = scf.for %i = %c0 to %c0 step %c0 iter_args(%a = %n, %b = %c0) -> (i64, index) : index {
      %s = arith.addi %a, %n : i64
      %e = tensor.extract %t[%i, %c0] : tensor<4x?xf32>
      scf.yield %s, %i : i64, index
    }
    %w = scf.while (%k = %n) : (i64) -> i64 {
      scf.condition(%c) %k : i64
    } do {
    ^bb0(%k: i64):
      %x = arith.index_cast %k : i64 to index
      scf.yield %k : i64
    }
    util.return %r#0 : i64
  }
  func.func @cfg(%a: i1, %n: i32) -> i32 {
    cf.cond_br %a, ^one, ^two(%n : i32)
  ^one:
    %x = arith.addi %n, %n : i32
    cf.br ^two(%x : i32)
  ^two(%y: i32):
    %z = arith.muli %y, %n : i32
    return %z : i32
  }
}"#;

fn names(function: &SourceFunction, place: LineColumn) -> Vec<String> {
    let operation = function.operation_at(place).unwrap();
    let scope = function.in_scope(operation).into_iter();
    let shown = scope.map(|it| {
        let value = &function.values[it];
        format!("{}: {}", value.name, value.type_text.as_deref().unwrap_or("?"))
    });
    shown.collect()
}

#[test]
fn scopes_and_types() {
    let file = FunctionIndex::scan(TEXT);
    let function = file.read(TEXT, file.named("a b").unwrap()).unwrap();
    assert_eq!(file.at((3, 3)), Some(0));
    let outer =
        ["%n: i64", "%t: tensor<4x?xf32>", "%c0: index", "%c: i1"].map(str::to_owned).to_vec();
    assert_eq!(names(&function, (8, 12)), outer);
    let inside = ["%i: index", "%a: i64", "%b: index", "%s: i64", "%e: f32"];
    let whole: Vec<String> = outer.iter().cloned().chain(inside.map(str::to_owned)).collect();
    assert_eq!(names(&function, (11, 7)), whole);
    let after = ["%r#0: i64", "%r#1: index"].map(str::to_owned);
    let inner = [&outer[..], &after[..]].concat();
    assert_eq!(names(&function, (14, 7)), [&inner[..], &["%k: i64".to_owned()]].concat());
    let last = ["%k: i64", "%x: index"].map(str::to_owned);
    assert_eq!(names(&function, (18, 7)), [&inner[..], &last[..]].concat());
    assert_eq!(names(&function, (20, 5)), [&inner[..], &["%w: i64".to_owned()]].concat());
    assert!(file.global(TEXT, "g").unwrap().contains("= 5 : i64"));
}

#[test]
fn blocks_see_what_dominates_them() {
    let file = FunctionIndex::scan(TEXT);
    let function = file.read(TEXT, file.named("cfg").unwrap()).unwrap();
    assert_eq!(names(&function, (29, 5)), ["%a: i1", "%n: i32", "%y: i32", "%z: i32"]);
    assert_eq!(names(&function, (26, 5)), ["%a: i1", "%n: i32", "%x: i32"]);
}

#[test]
fn aliases_of_types_are_what_they_stand_for() {
    let text = "!e = f32 // the elements
!t = tensor<4x!e>
!p = !pair.of<!t>
func.func @f(%x: !t, %y: !torch.int) -> !t {
  %r = arith.addf %x, %x : !t
  %e = tensor.extract %r[%c] : !t
  %o = some.op %x : (!t) -> !p
  return %r : !t
}
";
    let function = FunctionIndex::scan(text).read(text, 0).unwrap();
    let types: Vec<&str> =
        function.values.iter().map(|it| it.type_text.as_deref().unwrap_or("?")).collect();
    let tensor = "tensor<4xf32>";
    assert_eq!(types, [tensor, "!torch.int", tensor, "f32", "!pair.of<tensor<4xf32>>"]);
}

/// Loops that write no type for their results have those of their outputs.
#[test]
fn results_of_loops_have_the_types_of_outputs() {
    let text = r"func.func @f(%x: tensor<4x8xf32>, %a: tensor<4xf32>, %b: tensor<4xi1>) {
  %r = linalg.reduce ins(%x : tensor<4x8xf32>) outs(%a : tensor<4xf32>) dimensions = [1]
      (%in: f32, %out: f32) {
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  }
  %m:2 = linalg.map { arith.addf } ins(%a, %a : tensor<4xf32>, tensor<4xf32>)
      outs(%a, %b : tensor<4xf32>, tensor<4xi1>)
  return
}";
    let file = FunctionIndex::scan(text);
    let function = file.read(text, 0).unwrap();
    let scope = names(&function, (9, 3));
    let results = ["%r: tensor<4xf32>", "%m#0: tensor<4xf32>", "%m#1: tensor<4xi1>"];
    assert_eq!(scope[3..], results);
}

/// A loop of one result needs no brackets around its type, and the type of its counter follows.
#[test]
fn the_type_of_a_loops_result_ends_before_that_of_its_counter() {
    let text = "func.func @f(%n: i32, %x: f32) -> f32 {
  %c = arith.constant 1 : i32
  %r = scf.for %i = %c to %n step %c iter_args(%a = %x) -> f32 : i32 {
    scf.yield %a : f32
  }
  return %r : f32
}
";
    let file = FunctionIndex::scan(text);
    let function = file.read(text, file.named("f").unwrap()).unwrap();
    let around = ["%n: i32", "%x: f32", "%c: i32"].map(str::to_owned);
    let inside = ["%i: i32", "%a: f32"].map(str::to_owned);
    assert_eq!(names(&function, (4, 5)), [&around[..], &inside[..]].concat());
    assert_eq!(names(&function, (6, 3)), [&around[..], &["%r: f32".to_owned()]].concat());
}
