//! Completion while an operation is typed, asked at a cursor: `‸` marks it. No compiler is
//! installed here: what is known comes from the text and from our tables.

use std::sync::Arc;

use ide::{Document, Language, TextEdit, complete, diagnostics};

/// A function where a line is typed.
fn body(line: &str) -> String {
    format!(
        "func.func private @callee(i32, tensor<4xf32>) -> tensor<4xf32>
util.global private @state = 0 : i32
func.func @f(%t: tensor<4xf32>, %m: memref<4xf32>, %i: i32, %cond: i1, %c0: index) -> f32 {{
  %f1 = arith.constant 1.0 : f32
  %k = arith.addi %i, %i : i32
  {line}
  return %f1 : f32
}}
"
    )
}

fn labels(text: &str) -> Vec<String> {
    let at = text.find('‸').expect("a cursor");
    let document = Document::new(Language::Mlir, None, Arc::new(text.replace('‸', "")));
    complete(&document, at).items.into_iter().map(|item| item.label).collect()
}

/// Lines with a cursor, and what is offered first.
const FIRST: &[(&str, &[&str])] = &[
    ("%0 = arith.cmpi ‸", &["eq", "ne", "slt"]),
    ("%0 = arith.addi %k, %k : ‸", &["i32"]),
    ("%0 = tensor.insert %f1 into %t[%c0] : ‸", &["tensor<4xf32>"]),
    ("%0 = tensor.extract %‸", &["%t"]),
    ("%0 = memref.load %‸", &["%m"]),
    ("%0 = arith.addf %f1, %‸", &["%f1"]),
    ("%0 = arith.addi %k, %‸", &["%k", "%i"]),
    ("%0 = arith.select %‸", &["%cond"]),
    ("scf.if %‸", &["%cond"]),
    ("scf.for %j = %‸", &["%c0"]),
    ("%0 = func.call @‸", &["@callee"]),
    ("%0 = util.global.load @‸", &["@state"]),
    ("%0 = func.call @callee(%i, %‸", &["%t"]),
    ("%0 = func.call @callee(%i, %t) : ‸", &["(i32, tensor<4xf32>) -> tensor<4xf32>"]),
    ("return %‸", &["%f1"]),
    ("return %f1 : ‸", &["f32"]),
    ("%0 = linalg.fill ins(%f1 : f32) outs(%t : ‸", &["tensor<4xf32>"]),
    ("%0 = linalg.fill ins(%f1 : f32) outs(%t : tensor<4xf32>) -> ‸", &["tensor<4xf32>"]),
    ("%0 = scf.for %j = %c0 to %c0 step %c0 iter_args(%x = %k) -> (‸", &["i32"]),
    ("%0 = arith.sitofp %k : i32 ‸", &["to"]),
    ("%0 = scf.for %j = %c0 ‸", &["to"]),
    ("%0 = arith.addf %f1, %f1 fastmath<‸", &["none", "reassoc", "nnan"]),
    ("%0 = linalg.generic {iterator_types = [\"‸", &["\"parallel\"", "\"reduction\""]),
];

#[test]
fn what_is_typed_next_comes_first() {
    for newline in ["\n", "\r\n"] {
        for (line, expected) in FIRST {
            let text = body(line).replace('\n', newline);
            let offered = labels(&text);
            assert!(offered.starts_with_all(expected), "{line} {newline:?}: {offered:?}");
        }
    }
}

trait StartsWith {
    fn starts_with_all(&self, expected: &[&str]) -> bool;
}

impl StartsWith for Vec<String> {
    /// Whether it begins with these, in any order.
    fn starts_with_all(&self, expected: &[&str]) -> bool {
        expected.iter().all(|it| self.iter().take(expected.len().max(1)).any(|own| own == it))
    }
}

#[test]
fn a_value_is_not_offered_where_it_is_not_there() {
    let offered = labels(&body("%new = arith.addi %‸"));
    assert!(!offered.contains(&"%new".to_owned()), "{offered:?}");
    // Of the operation itself, in its own region, and after it.
    let offered = labels(&body("%new = scf.if %cond -> (i32) {\n    scf.yield %‸\n  }"));
    assert!(!offered.contains(&"%new".to_owned()), "{offered:?}");
    assert!(offered.contains(&"%k".to_owned()), "{offered:?}");
    let text = "func.func @g(%c: i1) {
  %entry = arith.constant 1 : i32
  cf.cond_br %c, ^a, ^b
^a:
  %one = arith.constant 2 : i32
  cf.br ^c
^b:
  %other = arith.addi %‸
  cf.br ^c
^c:
  return
}
";
    let offered = labels(text);
    assert!(offered.contains(&"%entry".to_owned()), "{offered:?}");
    assert!(!offered.contains(&"%one".to_owned()), "it does not dominate: {offered:?}");
    // Labels: one that nothing goes to yet comes first.
    let offered = labels(&text.replace("%other = arith.addi %‸\n  cf.br ^c", "cf.br ^‸"));
    assert_eq!(offered.first().map(String::as_str), Some("^c"), "{offered:?}");
}

#[test]
fn columns_count_bytes_also_after_other_letters() {
    let text = body("%0 = arith.addf %f1, %‸").replace("%f1 = ", "%f1 = /*äöü😀*/ ");
    let text = text.replace("/*äöü😀*/ ", "");
    let comment = text.replace("  %k =", "  // äöü 😀 %f9\n  %k =");
    assert_eq!(labels(&comment), labels(&text));
}

#[test]
fn a_broken_file_offers_the_same() {
    let line = "%0 = arith.addi %k, %‸";
    let whole = labels(&body(line));
    for broken in [
        body(line).replace("return %f1 : f32", "return %f1 : ten"),
        body(line).replace("\n}\n", "\n"),
        body(line) + "func.func @h( {\n",
        body(line).replace("  return", "  %9 = arith.addf %f1, \n  return"),
    ] {
        let offered = labels(&broken);
        assert_eq!(offered.first(), whole.first(), "{broken}");
    }
}

#[test]
fn two_edits_in_a_row_are_as_a_fresh_text() {
    let text = body("‸");
    let at = text.find('‸').expect("a cursor");
    let text = text.replace('‸', "");
    let mut document = Document::new(Language::Mlir, None, Arc::new(text.clone()));
    assert!(diagnostics(&document).is_empty());
    let mut now = text;
    let mut end = at;
    for typed in ["%0 = arith.ad", "di %k, %"] {
        now.insert_str(end, typed);
        let edit = TextEdit { start: end, removed: 0, inserted: typed.len() };
        document = document.edited(Arc::new(now.clone()), edit);
        end += typed.len();
        let fresh = Document::new(Language::Mlir, None, Arc::new(now.clone()));
        assert_eq!(complete(&document, end), complete(&fresh, end), "{typed}");
    }
    assert_eq!(complete(&document, end).items[0].label, "%k");
}
