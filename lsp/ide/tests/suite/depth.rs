//! Every feature answers for deeply nested text, in linear time and on a small stack.

use std::sync::Arc;
use std::thread;

use ide::{Document, Language, Modules, OutlineItem};

const LEVELS: usize = 100_000;

/// The stack of a server's worker thread, in bytes.
const STACK: usize = 2 << 20;

/// Deeper answers would overflow the stacks of programs that walk them, clients included.
const DEEPEST_ANSWER: usize = 1000;

fn depth(items: &[OutlineItem]) -> usize {
    items.iter().map(|item| 1 + depth(&item.children)).max().unwrap_or_default()
}

fn ask_everything(text: String) {
    let (length, middle) = (text.len(), text.len() / 2);
    let document = Document::new(Language::Mlir, None, Arc::new(text));
    let outline = ide::outline(&document, 1000);
    assert!(depth(&outline.items) < DEEPEST_ANSWER);
    let _ = ide::diagnostics(&document);
    let _ = ide::folds(&document, 1000);
    let _ = ide::inlay_hints(&document, &(0..length), &|| false);
    let _ = ide::file_symbols(&document);
    for at in [0, middle, length] {
        assert!(ide::selection_ranges(&document, at).len() < DEEPEST_ANSWER);
        let _ = ide::hover(&document, &Modules::default(), at);
        let _ = ide::definition(&document, at);
        let _ = ide::callable_at(&document, at);
        let _ = ide::complete(&document, at);
    }
}

#[test]
fn nothing_overflows() {
    for (before, open, middle, close) in [
        ("", "module {\n", "func.func @f()\n", "}\n"),
        ("", "module @m {", "", "}"),
        ("", "module {\n", "", ""),
        ("", "{", "", "}"),
        ("", "\"a.b\"() ({\n", "\"c.d\"() : () -> ()\n", "}) : () -> ()\n"),
        ("func.func @f(%c: i1) {\n", "scf.if %c {\n", "\"c.d\"() : () -> ()\n", "}\n"),
        ("func.func @f() {\n  \"a.b\"() {x = ", "[", "", "]"),
        ("func.func @f() {\n  \"a.b\"() {x = ", "[", "", ""),
        ("func.func @f() {\n  \"a.b\"() ", "{x = ", "1", "}"),
        ("func.func @f(%a: ", "tuple<", "i1", ">"),
        ("func.func @f(%a: ", "(", "i1", ") -> i1"),
        ("func.func @f() {\n  return loc(", "callsite(", "\"a\":1:2 at \"b\":2:3", ")"),
        ("", ")", "", "}"),
    ] {
        let text = format!("{before}{}{middle}{}", open.repeat(LEVELS), close.repeat(LEVELS));
        let thread = thread::Builder::new().stack_size(STACK).spawn(|| ask_everything(text));
        assert!(thread.expect("a thread").join().is_ok(), "{before}{open}");
    }
}
