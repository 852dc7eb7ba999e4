//! Texts beside a module may nest to any depth: reading them ends, in reasonable time, on a small
//! stack.

use std::thread;

use debuginfo::{Companion, DispatchInterfaces};

const LEVELS: usize = 100_000;

/// The stack of a server's thread.
const STACK: usize = 2 << 20;

fn survives(text: String, read: impl FnOnce(&str) + Send + 'static) {
    let start = text.get(..60).unwrap_or(&text).to_owned();
    let thread = thread::Builder::new().stack_size(STACK).spawn(move || read(&text));
    assert!(thread.expect("a thread").join().is_ok(), "{start}");
}

fn pairs() -> Vec<(&'static str, &'static str)> {
    vec![
        ("loc(callsite(", " at unknown))"),
        ("callsite(", " at unknown)"),
        ("fused[", "]"),
        ("fused<", ">[unknown]"),
        ("\"a\"(", ")"),
        ("[", "]"),
        ("(", ")"),
        ("{a = ", "}"),
        ("<", ">"),
        ("tuple<", ">"),
        ("module {\n", "}\n"),
        ("scf.if %a {\n", "}\n"),
        ("func.func @f() {\n", "}\n"),
        ("\"a.b\"() ({\n", "}) : () -> ()\n"),
        ("dense<", ">"),
        ("\"", ""),
    ]
}

#[test]
fn nothing_overflows() {
    for (open, close) in pairs() {
        let deep = format!("{}unknown{}", open.repeat(LEVELS), close.repeat(LEVELS));
        let texts = [
            deep.clone(),
            format!("module attributes {{a = {deep}}} {{\n}}\n"),
            format!("#loc = loc({deep})\nvm.module public @m {{\n}} loc(#loc)\n"),
            format!(
                "vm.module public @m attributes {{ordinal_counts = #vm.ordinal_counts<>}} {{\n  \
                 vm.func private @f(%arg0: i32) -> i32 attributes {{ordinal = 0 : i32}} {{\n    \
                 %0 = vm.add.i32 %arg0, %arg0 {{a = {deep}}} : i32 loc({deep})\n    \
                 vm.return %0 : i32 loc(unknown)\n  }} loc(unknown)\n}} loc(unknown)\n"
            ),
            format!(
                "func.func @dispatch() {{\n  %0 = hal.interface.binding.subspan layout({deep}) \
                 binding(0) : memref<{deep}>\n  %1 = arith.addi %0, {deep} : i32 loc({deep})\n  \
                 return\n}}\n"
            ),
        ];
        for text in texts {
            survives(text.clone(), |text| drop(Companion::parse(text.as_bytes())));
            survives(text, |text| drop(DispatchInterfaces::parse(text)));
        }
    }
}
