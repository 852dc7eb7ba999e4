//! Formatting of `.mlir`: iree-opt has to read the same before and after, in generic form and in
//! its messages, from texts as people write them and from the same with random white space.

use std::process::{Command, Stdio};
use std::sync::Arc;

use ide::{Document, Language, Replacement, format, format_on_type};
use syntax::{Lexer, TokenKind};

/// Numbers that only look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        ((self.0 >> 33) as usize) % end.max(1)
    }
}

fn document(text: &str) -> Document {
    Document::new(Language::Mlir, None, Arc::new(text.to_owned()))
}

fn applied(text: &str, edits: &[Replacement]) -> String {
    let mut out = text.to_owned();
    for Replacement { range, text } in edits.iter().rev() {
        out.replace_range(range.clone(), text);
    }
    out
}

/// The text formatted. Each edit is of white space, and formatting again changes nothing.
fn formatted(text: &str) -> String {
    let edits = format(&document(text), &(0..text.len()));
    let is_blank = |text: &str| text.bytes().all(|byte| byte.is_ascii_whitespace());
    for edit in &edits {
        assert!(is_blank(&text[edit.range.clone()]) && is_blank(&edit.text), "{edit:?}");
    }
    let once = applied(text, &edits);
    let again = format(&document(&once), &(0..once.len()));
    assert!(again.is_empty(), "formatted twice: {again:?}\n{once}");
    once
}

/// Our own files, but for those with the parts of others.
fn own_texts() -> Vec<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let listed = Command::new("git").args(["ls-files", "*.mlir"]).current_dir(root).output();
    let listed = String::from_utf8(listed.expect("git").stdout).expect("names");
    let texts = listed.lines().map(|name| std::fs::read_to_string(format!("{root}/{name}")));
    texts.map(|text| text.expect("a text")).filter(|text| text.len() < 200_000).collect()
}

/// What iree-opt prints of texts, and its messages without places.
fn read_by_compiler(texts: &[String]) -> (String, Vec<String>) {
    use std::io::Write;
    let program = std::env::var("IREE_OPT").unwrap_or_else(|_| "iree-opt".into());
    let mut child = Command::new(program)
        .args(["--split-input-file", "--allow-unregistered-dialect", "--mlir-print-op-generic"])
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("iree-opt");
    let mut input = child.stdin.take().expect("an input");
    let whole = texts.join("\n// -----\n");
    let writer = std::thread::spawn(move || input.write_all(whole.as_bytes()));
    let output = child.wait_with_output().expect("its output");
    writer.join().expect("to write").expect("to write");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let messages = said.lines().filter_map(|line| line.split_once("error: "));
    let mut messages: Vec<_> = messages.map(|(_, message)| message.to_owned()).collect();
    messages.sort();
    (String::from_utf8_lossy(&output.stdout).into_owned(), messages)
}

/// The text with other white space: some where there was some, and none elsewhere.
fn shaken(numbers: &mut Numbers, text: &str) -> String {
    let mut out = String::new();
    let (mut end, mut after_comment) = (0, false);
    for token in Lexer::new(text, 0) {
        let gap = &text[end..token.range.start];
        let is_comment = token.kind == TokenKind::Comment;
        let word = &text[token.range.clone()];
        if after_comment || is_comment && gap.contains('\n') {
            let indent = if word.starts_with("// -----") { 0 } else { numbers.below(9) };
            out += &("\n".repeat(1 + numbers.below(3)) + &" ".repeat(indent));
        } else if !gap.is_empty() && !is_comment {
            let breaks = numbers.below(10) < if gap.contains('\n') { 9 } else { 1 };
            out += if breaks { "\n" } else { ["\t", " "][numbers.below(2)] };
            out += &" ".repeat(numbers.below(12));
        } else {
            out += gap;
        }
        out += word;
        (end, after_comment) = (token.range.end, is_comment);
    }
    out + &text[end..]
}

#[test]
fn the_compiler_reads_the_same() {
    let seed = std::env::var("FORMAT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(8);
    let mut numbers = Numbers(seed);
    let plain = own_texts();
    let shaken: Vec<String> = plain.iter().map(|text| shaken(&mut numbers, text)).collect();
    for texts in [plain, shaken] {
        let after: Vec<String> = texts.iter().map(|text| formatted(text)).collect();
        let changed = texts.iter().zip(&after).filter(|(before, after)| before != after).count();
        assert!(changed > texts.len() / 10, "{changed} of {} texts have changed", texts.len());
        let (before, after) = (read_by_compiler(&texts), read_by_compiler(&after));
        assert!(before.0.len() > 100_000, "{} bytes were read", before.0.len());
        assert!(before == after, "iree-opt reads something else");
    }
}

/// Texts that cannot be read lose nothing, wherever a token is missing.
#[test]
fn damaged_texts_lose_nothing() {
    let mut numbers = Numbers(5);
    for text in own_texts().iter().filter(|text| text.len() < 6000) {
        let tokens: Vec<_> = Lexer::new(text, 0).collect();
        for _ in 0..3 {
            let Some(token) = tokens.get(numbers.below(tokens.len())) else { continue };
            let mut damaged = text.clone();
            damaged.replace_range(token.range.clone(), ["", "{", ")", "\""][numbers.below(4)]);
            let whole = formatted(&damaged);
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(bare(&whole), bare(&damaged));
        }
    }
}

#[test]
fn a_function_has_the_layout_of_the_printer() {
    let text = "\n\nfunc.func @f(%a:i32 ,%b: tensor<4x8xf32,#e>)->i32{\n%0  =  arith.addi %a,%a:i32// twice\n\
                \n\n\n      // A region.\n      %1 = scf.if %c->(i32){\nscf.yield %0:i32\n} else {\n^bb0:\n     \"x.y\"( %0 ){a=1}:(i32)->()\n\t}\n return %1 : i32\n }";
    let wanted = "func.func @f(%a:i32, %b: tensor<4x8xf32,#e>) -> i32 {\n  %0 = arith.addi %a, %a : i32 // twice\n\
                  \n  // A region.\n  %1 = scf.if %c -> (i32) {\n    scf.yield %0 : i32\n  } else {\n  ^bb0:\n    \"x.y\"(%0) {a = 1} : (i32) -> ()\n  }\n  return %1 : i32\n}\n";
    assert_eq!(formatted(text), wanted);
    assert_eq!(formatted(&text.replace('\n', "\r\n")), wanted.replace('\n', "\r\n"));
}

/// Lines that people have aligned stay so when what they continue moves.
#[test]
fn continued_lines_move_with_their_operation() {
    let text = "module {\n%0 = linalg.add ins(%a, %b : tensor<4xf32>,\n                             tensor<4xf32>)\n  outs(%c : tensor<4xf32>)\n\
                %1 = x.y [\n1,\n 2\n      ]\n\
                #a = [1,\n      2]\n}\n";
    let wanted = "module {\n  %0 = linalg.add ins(%a, %b : tensor<4xf32>,\n                               tensor<4xf32>)\n    outs(%c : tensor<4xf32>)\n\
                  \x20 %1 = x.y [\n    1,\n    2\n  ]\n\
                  \x20 #a = [1,\n        2]\n}\n";
    assert_eq!(formatted(text), wanted);
}

#[test]
fn attributes_get_lines_beyond_a_hundred_columns() {
    let long = "a".repeat(40);
    let text = format!(
        "func.func @f(%a: i32 {{x.a = 1, x.b = \"{long}\"}}, %b: i32) -> (i32 {{x.c = \"{long}\"}}) \
         attributes {{x.d, x.e = \"{long}\"}} {{\n  return %a : i32\n}}\n"
    );
    let wanted = format!(
        "func.func @f(\n    %a: i32 {{x.a = 1, x.b = \"{long}\"}},\n    %b: i32) -> (i32 {{x.c = \"{long}\"}}) attributes {{\n  \
         x.d,\n  x.e = \"{long}\"\n}} {{\n  return %a : i32\n}}\n"
    );
    assert_eq!(formatted(&text), wanted);
    // Where lines are counted, none is added.
    let counted = format!("// expected-error @+1 {{{{x}}}}\n{text}");
    assert_eq!(formatted(&counted), counted);
}

#[test]
fn what_may_be_content_stays() {
    let verbatim = "%0 = x.y : !mine.type<a   b,c\n        d>\n";
    assert_eq!(formatted(verbatim), verbatim);
    let resources = "{-#\n   dialect_resources: {\n builtin: {a:  \"0x01\"}}\n#-}\n";
    assert_eq!(formatted(resources), resources);
    // A fault does not spread, and what it is in stays.
    let text = "func.func @f() {\n %0 = x.y (\n  return\n}\nfunc.func @g(){\nreturn\n}\n";
    let wanted = "func.func @f() {\n %0 = x.y (\n  return\n}\nfunc.func @g() {\n  return\n}\n";
    assert_eq!(formatted(text), wanted);
}

#[test]
fn comments_stay_beside_their_code() {
    let text = "func.func @f() {\n// CHECK-LABEL: f\n      // Below.\n      x.y // after\n    // CHECK: at the margin of the function\n// CHECK: at the margin\n\n    return\n}\n// -----\n";
    let wanted = "func.func @f() {\n// CHECK-LABEL: f\n  // Below.\n  x.y // after\n  // CHECK: at the margin of the function\n// CHECK: at the margin\n\n  return\n}\n// -----\n";
    assert_eq!(formatted(text), wanted);
}

#[test]
fn a_selection_changes_its_own_lines() {
    let text = "func.func @f() {\nx.a\nx.b\nx.c\n}\n";
    let at = text.find("x.b").expect("the line");
    let edits = format(&document(text), &(at + 1..at + 2));
    assert_eq!(applied(text, &edits), "func.func @f() {\nx.a\n  x.b\nx.c\n}\n");
}

/// The line at `‸` after a key: its indentation.
fn typed(text: &str) -> usize {
    let at = text.find('‸').expect("a cursor");
    let text = text.replace('‸', "");
    let edits: Vec<_> = format_on_type(&document(&text), at).into_iter().collect();
    let whole = applied(&text, &edits);
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let line = whole[start..].lines().next().unwrap_or_default();
    line.len() - line.trim_start().len()
}

#[test]
fn a_line_is_indented_while_it_is_typed() {
    let head = "module {\nfunc.func @f(%a: i32) {\n";
    for (rest, wanted) in [
        ("‸", 4),
        ("  x.a\n‸", 4),
        ("    %0 = scf.if %c {\n‸\n", 6),
        ("    %0 = scf.if %c {\n  }‸", 4),
        ("    x.a\n}‸", 2),
        ("    x.a\n  }\n}‸", 0),
        ("    x.a\n  }\n‸}", 0),
        ("    x.a\n  }\n‸", 2),
        ("    %0 = arith.addi %a,\n‸", 8),
        ("    %0 = x.y {\n‸", 6),
        ("    %0 = x.y {a = 1,\n‸", 14),
        ("    x.a\n‸^bb1:", 2),
        ("    // A comment.\n‸", 4),
        ("    x.a(\n‸", 8),
    ] {
        assert_eq!(typed(&format!("{head}{rest}")), wanted, "{rest}");
    }
    assert_eq!(typed("‸"), 0);
}
