//! `info name`: why a name has its value, for each maker of names, and why others have none.
//!
//! A case is a script in `tests/evidence` with its output beside it; `UPDATE_EXPECT=1` writes it.
//! Needs iree-compile: `pip install iree-base-compiler`.

use serde_json::Value;
use support::Expected;

use crate::program::{IREE_DBG, data};

/// Compiles a source, and returns its folder.
fn compiled(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = format!("{name}.mlir");
    std::fs::copy(data("evidence").join(&file), folder.path().join(&file)).expect("a copy");
    let flags = ["--iree-hal-target-backends=vmvx"];
    IREE_DBG.compile(folder.path(), &file, "module.vmfb", &flags);
    folder
}

/// Runs a script, and compares what it prints with the expected text.
fn compare(name: &str, arguments: &[&str]) {
    let folder = compiled(name);
    let script = data("evidence").join(format!("{name}.script"));
    let script = script.to_str().expect("a path of text");
    let flags = ["--batch", "-x", script, "module.vmfb"];
    let text = IREE_DBG.session(folder.path(), flags.iter().chain(arguments), "", &[]);
    let mut expected = Expected::default();
    expected.compare(&data("evidence").join(format!("{name}.expected")), &text);
    expected.finish();
}

#[test]
fn numbers_say_why_they_have_their_values() {
    compare("numbers", &["--function=numbers", "--input=3.5", "--input=2"]);
}

/// An argument is what the frame around has called with, until the user sets a register.
#[test]
fn arguments_of_calls_are_known_when_their_registers_are_gone() {
    compare("given", &["--function=main", "--input=3"]);
}

#[test]
fn tensors_say_which_dispatch_leaves_them() {
    let inputs = ["--input=2x2xf32=[1,2,3,4]", "--input=2x2xf32=0.5", "--input=2x2xf32=0.25"];
    compare("tensors", &["--function=model", inputs[0], inputs[1], inputs[2]]);
}

/// What depends on constants that the compiler has computed is not called proven without that.
#[test]
fn tensors_say_what_their_proof_depends_on() {
    let inputs = ["--input=2x2xf32=[1,2,3,4]", "--input=2x2xf32=0.5"];
    compare("constants", &["--function=constants", inputs[0], inputs[1]]);
}

#[test]
fn tensors_say_which_dispatch_was_refuted() {
    compare("rewritten", &["--function=rewritten", "--input=4x8xf32=0.5"]);
}

/// A condition that asks for a value that is gone does not hold, which is said once.
#[test]
fn conditions_on_values_that_are_gone_say_so() {
    let folder = compiled("numbers");
    let commands = "break numbers.mlir:53 if %lost > 0\nrun\n";
    let arguments = ["--function=numbers", "--input=3.5", "--input=2", "module.vmfb"];
    let text = IREE_DBG.session(folder.path(), arguments, commands, &[]);
    let note = "note: the condition of breakpoint 1 does not hold where %lost is <optimized out>";
    assert_eq!(text.matches(note).count(), 1, "{text}");
}

/// The same as data, for scripts.
#[test]
fn evidence_is_data_in_json() {
    let folder = compiled("numbers");
    let commands = "break numbers.mlir:42\nrun\ninfo name %guarded\ninfo name %scaled\n";
    let arguments =
        ["--json-lines", "--function=numbers", "--input=3.5", "--input=2", "module.vmfb"];
    let text = IREE_DBG.session(folder.path(), arguments, commands, &[]);
    let answers: Vec<Value> = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|line| line.pointer("/data/evidence").or(line.get("evidence")).cloned())
        .collect();
    let [guarded, scaled] = answers.as_slice() else { panic!("{text}") };
    assert_eq!(guarded["maker"], "registers", "{guarded}");
    assert_eq!(guarded["grounds"]["kind"], "term", "{guarded}");
    assert_eq!(guarded["check"]["given"], "3.5", "{guarded}");
    assert_eq!(guarded["check"]["held"], "3.5", "{guarded}");
    let operations = guarded["operations"].as_array().expect("operations");
    assert_eq!(operations[0]["source"], "%guarded = arith.select %isnan, %zero, %x");
    assert_eq!(operations[0]["line"], 37, "{guarded}");
    assert_eq!(operations[0]["by"], "term", "{guarded}");
    // Each operation is there once, and refers to others that are there.
    for operation in operations {
        let operands = operation["operands"].as_array().expect("operands");
        assert!(
            operands.iter().all(|it| it.as_u64().is_some_and(|it| it < operations.len() as u64))
        );
    }
    assert_eq!(scaled["maker"], "recipes", "{scaled}");
    assert_eq!(scaled["grounds"]["isProven"], true, "{scaled}");
}
