//! Names in functions that are so long that they are cut into parts.

use std::fmt::Write;
use std::sync::Arc;

use ide::{Diagnostic, Document, Language, Modules, definition, diagnostics, hover};

/// A function of some 300 KB, so of several parts. Every line uses its parameter.
fn function(lines: usize, last: &str) -> String {
    let mut text = "func.func @long(%hot: i32) -> i32 {\n".to_owned();
    for line in 0..lines {
        let _ = writeln!(text, "  %v{line} = arith.addi %hot, %hot : i32");
    }
    text + last + "  return %hot : i32\n}\n"
}

fn document(text: &str) -> Document {
    Document::new(Language::Mlir, None, Arc::new(text.to_owned()))
}

fn told(found: &[Diagnostic], text: &str) -> Vec<String> {
    let told = found.iter().map(|found| {
        let line = text[..found.range.start].matches('\n').count();
        format!("{line}: {}: {}", found.code, &text[found.range.clone()])
    });
    told.collect()
}

const LINES: usize = 8000;

#[test]
fn a_value_used_everywhere_is_no_fault() {
    let text = function(LINES, "");
    assert_eq!(diagnostics(&document(&text)), []);
}

#[test]
fn names_of_other_parts_are_known_or_are_faults() {
    let last = "  %a = arith.addi %v0, %v7999 : i32\n  %b = arith.addi %none, %v8000 : i32\n";
    let text = function(LINES, last);
    assert_eq!(
        told(&diagnostics(&document(&text)), &text),
        ["8002: undefined-value: %none", "8002: undefined-value: %v8000"]
    );
}

#[test]
fn a_use_before_its_part_is_no_fault() {
    // Blocks may stand in any order, as long as the one with the value runs first.
    let first =
        "  cf.br ^late\n^early:\n  %e = arith.addi %l, %l : i32\n  return %e : i32\n^body:\n";
    let last =
        "  return %hot : i32\n^late:\n  %l = arith.constant 1 : i32\n  cf.br ^early\n^end:\n";
    let text = function(LINES, last).replace("  %v0 = ", &format!("{first}  %v0 = "));
    assert_eq!(told(&diagnostics(&document(&text)), &text), Vec::<String>::new());
}

#[test]
fn the_same_value_in_two_parts_is_a_fault() {
    let text =
        function(LINES, "  %v17 = arith.constant 1 : i32\n  %hot = arith.constant 1 : i32\n");
    let found = diagnostics(&document(&text));
    assert_eq!(told(&found, &text), ["8001: duplicate-value: %v17", "8002: duplicate-value: %hot"]);
    let first: Vec<_> =
        found.iter().map(|found| text[found.related[0].0.clone()].to_owned()).collect();
    assert_eq!(first, ["%v17", "%hot"]);
    let start = |index: usize| found[index].related[0].0.start;
    assert!(start(0) < 1000 && start(1) < 100);
}

#[test]
fn the_same_value_in_two_regions_is_no_fault() {
    let region = "  \"test.region\"() ({\n    %inside = arith.constant 1 : i32\n    \"test.end\"() : () -> ()\n  }) : () -> ()\n";
    let text = function(LINES, region).replacen("  %v0 =", &format!("{region}  %v0 ="), 1);
    assert_eq!(told(&diagnostics(&document(&text)), &text), Vec::<String>::new());
}

#[test]
fn a_name_is_found_with_and_without_the_table() {
    let text = function(LINES, "  %a = arith.addi %v3, %hot : i32\n");
    let document = document(&text);
    let at = text.rfind("%v3,").unwrap();
    let hot = text.rfind("%hot :").unwrap();
    let look = || {
        let start = |at: usize| definition(&document, at).map(|target| target.selection.start);
        let shown = hover(&document, &Modules::default(), at).map(|hover| hover.markdown);
        (start(at), start(hot), shown)
    };
    let searched = look();
    assert_eq!(searched.0, text.find("%v3 "));
    assert_eq!(searched.1, text.find("%hot"));
    // The diagnostics leave a table with the document.
    assert_eq!(diagnostics(&document), []);
    assert_eq!(look(), searched);
}

#[test]
fn many_operations_outside_functions_share_their_values() {
    let mut text = "%c = \"test.one\"() : () -> i32\n".to_owned();
    for line in 0..5000 {
        let _ = writeln!(text, "%v{line} = \"test.two\"(%c, %c) : (i32, i32) -> i32");
    }
    text += "\"test.use\"(%v4999, %none) : (i32, i32) -> ()\n";
    let found = told(&diagnostics(&document(&text)), &text);
    assert_eq!(found, ["5001: undefined-value: %none"]);
}
