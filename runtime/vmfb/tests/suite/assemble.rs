//! The assembler's output: each `.vmasm` file in `assemble/`, next to its diagnostics and the
//! disassembly of the module, if there is one. `UPDATE_EXPECT=1` rewrites the latter.

use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use vmfb::assemble::{assemble, render};
use vmfb::print::{DisassemblyOptions, disassemble};
use vmfb::{FileBytes, Module};

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/assemble");
    let entries = std::fs::read_dir(folder).expect("the folder of cases is there");
    let mut cases: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "vmasm"))
        .collect();
    cases.sort();
    cases
}

/// What an edit inserts.
const EDIT: &str = "[ \"%@^#/(){}\\[\\]:,=<>.a-z0-9\\n-]{0,6}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Any text gets an answer.
    #[test]
    fn damaged_texts(
        case in 0_usize..1000,
        edits in vec((0_usize..10_000, 0_usize..12, EDIT), 1..8),
    ) {
        let cases = cases();
        let mut source = std::fs::read(&cases[case % cases.len()]).expect("a readable case");
        for (at, length, text) in edits {
            let start = at % (source.len() + 1);
            let end = (start + length).min(source.len());
            source.splice(start..end, text.into_bytes());
        }
        match assemble(&source) {
            Ok(assembly) => {
                let bytes = assembly.image.to_bytes().expect("the module can be written");
                let _doubts = assembly.verify(Module::from_bytes(bytes).expect("it can be loaded"));
            }
            Err(diagnostics) => {
                prop_assert!(!diagnostics.is_empty());
                prop_assert!(!render(&diagnostics, &source, "damaged.vmasm").is_empty());
            }
        }
    }
}

#[test]
fn control_characters_are_no_part_of_a_type() {
    let text = |name: &str| {
        format!(
            "vm.module @m version 0\nvm.type i32\nvm.export @f\nvm.func @f() -> () {{\n^bb0:\n  \
             %i0 = vm.const.i32.zero\n  %r0 = vm.list.alloc %i0 : !vm.list<{name}>\n  \
             vm.return\n}}\n"
        )
    };
    assert!(assemble(text("odd").as_bytes()).is_ok());
    for control in ["\u{1}i32", "\u{1b}]52;x\u{7}"] {
        let Err(diagnostics) = assemble(text(control).as_bytes()) else { panic!("{control:?}") };
        let rendered = format!("{diagnostics:?}");
        assert!(rendered.contains("a type has no control characters"), "{rendered}");
    }
}

#[test]
fn texts() {
    let cases = cases();
    assert!(!cases.is_empty(), "there are cases");
    for path in cases {
        let source = std::fs::read(&path).expect("a readable case");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (diagnostics, text) = match assemble(&source) {
            Ok(assembly) => {
                let bytes = assembly.image.to_bytes().expect("the module can be written");
                let bytes = FileBytes::from(bytes);
                let load = || Module::from_bytes(bytes.clone()).expect("the module can be loaded");
                let text = disassemble(&load(), &DisassemblyOptions::default()).text;
                let again = assemble(text.as_bytes()).map(|assembly| assembly.image.to_bytes());
                let again = again.expect("what was printed is text").expect("it can be written");
                let again = Module::from_bytes(again).expect("it can be loaded");
                let reprinted = disassemble(&again, &DisassemblyOptions::default()).text;
                assert_eq!(reprinted, text, "{name}");
                let doubts = assembly.verify(load());
                (assembly.warnings.into_iter().chain(doubts).collect(), text)
            }
            Err(diagnostics) => (diagnostics, String::new()),
        };
        let expected = expect_test::expect_file![path.with_extension("expected")];
        expected.assert_eq(&(render(&diagnostics, &source, &name) + &text));
    }
}
