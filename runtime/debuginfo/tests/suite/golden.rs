//! The debug information of the modules in `golden/`; needs no tools. iree-compile 3.13 made
//! `demo.vmfb` and its companion from `demo.mlir`, with default flags and the local VMVX target;
//! iree-compile 3.10 made `demo_3.10.vmfb`.
//!
//! `UPDATE_EXPECT=1 cargo test -p debuginfo` rewrites the expected text.

use std::path::{Path, PathBuf};

use debuginfo::{Companion, DebugInfo, FileMatch, Given, MapSource, TextDump};
use expect_test::expect_file;
use proptest::prelude::*;
use vmfb::{BytecodeOffset, FunctionOrdinal, Module};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn module() -> Module {
    Module::open(golden("demo.vmfb")).expect("the module in golden/ loads")
}

fn companion_text() -> String {
    std::fs::read_to_string(golden("demo.companion.mlir"))
        .expect("the companion in golden/ is there")
}

fn load(module: &Module, companion_text: &str) -> DebugInfo {
    let companion =
        Companion::parse(companion_text.as_bytes()).expect("the companion is well formed");
    DebugInfo::load(module, Some(&companion)).with_source_roots([golden("")])
}

#[test]
fn with_its_companion() {
    let report = TextDump(&load(&module(), &companion_text()), &module()).to_string();
    expect_file!["../golden/with_companion.txt"].assert_eq(&report);
}

/// Why names have their values: a register, a constant, a recipe, what a loop carries, an inlined
/// call, and a value that is gone.
#[test]
fn evidence() {
    let module = module();
    let info = load(&module, &companion_text());
    let sum = info.function_named("sum").expect("the companion names it");
    let mut told = Vec::new();
    for (offset, calls, name) in [
        (0x1E, 0, "%ni"),
        (0x1E, 0, "%c1"),
        (0x4B, 0, "%n"),
        (0x4B, 0, "%acc"),
        (0x57, 1, "%y"),
        (0x57, 0, "%ii"),
        (0x8A, 0, "%w"),
        (0x8A, 0, "%r#1"),
    ] {
        let offset = BytecodeOffset(offset);
        let path = info.path_at(sum, offset);
        let asked =
            info.evidence_along(&module, (sum, offset), &path, (calls, Given::Unknown), name);
        let evidence = asked.unwrap_or_else(|| panic!("{name} is in scope at {offset}"));
        told.push(serde_json::json!({"offset": offset.to_string(), "evidence": evidence}));
    }
    let text = serde_json::to_string_pretty(&told).expect("it is data") + "\n";
    expect_file!["../golden/evidence.json"].assert_eq(&text);
    let offset = BytecodeOffset(0x1E);
    let path = info.path_at(sum, offset);
    assert_eq!(
        info.evidence_along(&module, (sum, offset), &path, (0, Given::Unknown), "%later"),
        None
    );
}

#[test]
fn alone() {
    let module = module();
    let info = DebugInfo::load(&module, None).with_source_roots([golden("")]);
    expect_file!["../golden/alone.txt"].assert_eq(&TextDump(&info, &module).to_string());
}

/// Compilers up to 3.10 write whole databases.
#[test]
fn with_a_whole_database() {
    let module = Module::open(golden("demo_3.10.vmfb")).expect("the module in golden/ loads");
    let info = DebugInfo::load(&module, None).with_source_roots([golden("")]);
    assert_eq!(info.completeness().messages(), [""; 0]);
    expect_file!["../golden/whole_database.txt"].assert_eq(&TextDump(&info, &module).to_string());
}

#[test]
fn a_changed_function_loses_its_companion_and_only_that() {
    let changed = companion_text().replace("vm.mul.i64", "vm.div.i64.s");
    let info = load(&module(), &changed);
    let completeness = info.completeness();
    let lost: Vec<_> = completeness
        .functions
        .iter()
        .filter(|function| function.source != MapSource::Companion)
        .collect();
    assert_eq!(lost.iter().map(|function| function.mismatch.is_some()).collect::<Vec<_>>(), [true]);
    let messages = completeness.messages().join("\n");
    assert!(messages.contains("vm.div.i64.s"), "{messages}");
}

#[test]
fn operations_that_are_not_encoded_are_passed_over() {
    let text = companion_text();
    let before = "    vm.return {live = [\"%8:2\"";
    assert_eq!(text.matches(before).count(), 1);
    let left_out = "    vm.discard.refs %arg0 : i32 {live = []} loc(unknown)\n";
    let more = text.replace(before, &format!("{left_out}{before}"));
    let expected = TextDump(&load(&module(), &text), &module()).to_string();
    assert_eq!(TextDump(&load(&module(), &more), &module()).to_string(), expected);
    // The same operation at the end of a function stands for an instruction that is missing.
    let cut = format!("{left_out}  }} loc(\"demo.mlir\":14:3)");
    let wrong = text.replace("  } loc(\"demo.mlir\":14:3)", &cut);
    assert!(!load(&module(), &wrong).completeness().messages().is_empty());
}

#[test]
fn a_foreign_companion_is_refused() {
    let foreign = companion_text().replace("@sum", "@product");
    let info = load(&module(), &foreign);
    let sum = module().export_named("sum").expect("@sum is exported").1.function;
    assert_ne!(info.completeness().functions[sum.index()].source, MapSource::Companion);
}

#[test]
fn lines_of_a_path() {
    let info = load(&module(), &companion_text());
    let (kind, files) =
        info.match_file(golden("demo.mlir").to_str().expect("UTF-8")).expect("a match");
    assert_eq!((kind, files.len()), (FileMatch::Suffix, 1));
    let text = info.source(files[0]).expect("the source is readable").text().to_owned();
    let line_of = |needle: &str| {
        1 + text
            .lines()
            .position(|line| line.contains(needle))
            .unwrap_or_else(|| panic!("no {needle}")) as u32
    };
    // A comment between functions is of none of them.
    assert_eq!(info.resolve_line(files[0], 1), None);
    let name = line_of("@\"odd name\"(%a");
    let resolved = info.resolve_line(files[0], name).expect("the function has code");
    assert_eq!((resolved.line, resolved.places[0].function), (name, FunctionOrdinal(0)));
    // The line of a function means its entry, not its return.
    let sum = line_of("func.func @sum");
    let entry = info.resolve_line(files[0], sum).expect("the function has code");
    let function = info.function_named("sum").expect("the companion names it");
    assert_eq!((entry.line, entry.places.len(), entry.places[0].function), (sum, 1, function));
    assert_eq!(info.entry_of(function), Some(entry.places[0].offset));
    // Nothing is below the last line.
    assert_eq!(info.resolve_line(files[0], 1000), None);
}

#[test]
fn offsets_outside_have_no_answer() {
    let info = load(&module(), &companion_text());
    for (function, offset) in [(0, 1_000_000), (99, 0), (u32::MAX, u32::MAX)] {
        let (function, offset) = (FunctionOrdinal(function), BytecodeOffset(offset));
        assert!(info.row_at(function, offset).is_none());
        assert!(info.live_values(function, offset).is_empty());
        assert!(info.frames_at(function, offset).iter().all(|frame| frame.position.is_none()));
    }
}

#[test]
fn errors_have_a_place() {
    for (text, place) in [
        ("", "1:1"),
        ("{}", "1:1"),
        ("vm.module public @m {\n", "2:1"),
        ("vm.module public @m {\n  vm.func private @f() {\n    %0 = \n", "3:10"),
        (
            "vm.module @m {\n  vm.func @f() {\n    vm.return {live = [\"a} loc(unknown)\n  }\n}",
            "3:24",
        ),
        ("vm.module @m {\n  vm.func @f() {\n    vm.return loc(\"a\":x)\n  }\n}", "3:23"),
        (
            "vm.module @m {\n  vm.func @f() {\n    %0 = vm.x {result_registers = [\"q1\"]}\n  }\n}",
            "3:36",
        ),
    ] {
        let error = Companion::parse(text.as_bytes()).expect_err(text);
        assert_eq!(format!("{}:{}", error.line, error.column), place, "{text}: {error}");
    }
}

#[test]
fn deep_locations_are_refused() {
    let nest = format!("{}unknown{}", "callsite(".repeat(100_000), " at unknown)".repeat(100_000));
    let text = format!("vm.module @m {{\n  vm.func @f() {{\n    vm.return loc({nest})\n  }}\n}}\n");
    let error = Companion::parse(text.as_bytes()).expect_err("too deep");
    assert!(error.message.contains("nest"), "{error}");
}

proptest! {
    /// However damaged the text is, reading it returns a companion or an error.
    #[test]
    fn damaged_text_never_panics(
        cut in 0..6000_usize, at in 0..6000_usize, with in any::<u8>(), count in 0..40_usize
    ) {
        let mut bytes = companion_text().into_bytes();
        let at = at % bytes.len();
        bytes.splice(at..(at + count).min(bytes.len()), [with]);
        let cut = bytes.len() - cut % bytes.len() / 3;
        bytes.truncate(cut);
        if let Ok(companion) = Companion::parse(&bytes) {
            let info = DebugInfo::load(&module(), Some(&companion)).with_source_roots([golden("")]);
            prop_assert!(!TextDump(&info, &module()).to_string().is_empty());
        }
    }
}
