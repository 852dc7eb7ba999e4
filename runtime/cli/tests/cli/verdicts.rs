//! `iree-dbg diff` and `why` accuse no code wrongly, and do not call success what they have not
//! compared. The programs are those of `verdicts`. What is right, iree-run-module or the meaning of
//! an operation says. Needs IREE's tools: `pip install iree-base-compiler iree-base-runtime`.

use std::path::Path;

use serde_json::Value;

use support::text;

use crate::program::{IREE_DBG, data};

const CPU: [&str; 3] = [
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
];

fn source(name: &str) -> String {
    let folder = data("verdicts");
    std::fs::read_to_string(folder.join(name)).expect("the program")
}

fn compiled(folder: &Path, program: &str, name: &str) {
    std::fs::write(folder.join(format!("{name}.mlir")), program).expect("it is written");
    let (source, module) = (format!("{name}.mlir"), format!("{name}.vmfb"));
    let arguments = [&["compile", &source, "-o", &module, "--"][..], &CPU].concat();
    let output = IREE_DBG.run(folder, &arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// The status, and the report.
fn diff(folder: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = IREE_DBG.run(folder, &[&["diff", "--json"], arguments].concat());
    let found = serde_json::from_slice(&output.stdout);
    let found = found.unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
    (output.status.code(), found)
}

fn write(folder: &Path, name: &str, tensor: &str) {
    let tensor = abi::tensor::Tensor::parse(tensor, 1 << 12).expect("a tensor");
    let bytes = abi::npy::write(&tensor).expect("NumPy has it");
    std::fs::write(folder.join(name), bytes).expect("it is written");
}

#[track_caller]
fn has(said: &str, parts: &[&str]) {
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// Numbers whose products with 16 have fractions: 0.67 truncated is 0, and rounded is 1.
const CAST: [&str; 2] = ["--input=4x16xf32=0.042", "--input=16x8xf32=0.5"];

#[test]
fn machine_code_that_is_right_is_not_accused_by_bytecode_that_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    compiled(folder, &source("cast.mlir"), "cast");
    // The text is the judge.
    let (status, found) = diff(folder, &[&["cast.vmfb"], &CAST[..]].concat());
    assert_eq!((status, &found["first_bad"]), (Some(0), &Value::Null), "{found}");
    // Asked for bytecode, it says which of both is wrong, and what is known of that.
    for mode in ["isolated", "bisect"] {
        let mode = format!("--mode={mode}");
        let flags = ["cast.vmfb", "--bytecode", &mode];
        let (status, found) = diff(folder, &[&flags, &CAST[..]].concat());
        let judged = &found["dispatches"][0]["judged"];
        assert_eq!(
            (status, &judged["a"], &judged["b"]),
            (Some(1), &"right".into(), &"wrong".into())
        );
        let sentence = judged["sentence"].as_str().expect("a sentence");
        has(sentence, &["the machine code is right, and its bytecode is wrong", "`arith.fptosi`"]);
        if let Some(culprits) = found["culprits"]["sentence"].as_str() {
            has(culprits, &["alone makes the output wrong", sentence]);
        }
    }
    // What is expected was made by rounding, or is another number altogether.
    for (name, value) in [("rounded", "0.5"), ("other", "7")] {
        write(folder, &format!("{name}.npy"), &format!("4x8xf32={value}"));
        let expect = format!("--expect={name}.npy");
        let arguments = [&["why", "cast.mlir", &expect, "-o", "out"], &CAST[..]].concat();
        let output = IREE_DBG.run(folder, &arguments);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let parts = [
            "none of 2 dispatches differs by more than what is allowed",
            "what llvm-cpu makes of it is right, and what vmvx makes of it is wrong",
            "So each dispatch leaves what its text means, and is right",
        ];
        has(&said, &parts);
        assert!(!said.contains("machine code of"), "{said}");
        assert!(!folder.join("out/repro").exists(), "{said}");
        if name == "rounded" {
            has(
                &said,
                &["The expectation has what vmvx gives, which is wrong in @cast_dispatch_0"],
            );
        }
    }
}

#[test]
fn a_file_of_narrow_floats_may_be_rounded_and_nan_is_remarked_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    compiled(folder, &source("one.mlir"), "one");
    let run = ["run", "--module=one.vmfb", "--output=@right.npy", "--function=decode"];
    let ramp: Vec<String> =
        (0..64).map(|it| format!("{}", f64::from(it * it % 37) / 40.0)).collect();
    let weights = format!("--input=16x4xf32={}", ramp.join(","));
    let inputs = ["--input=8x16xf32=0.37", &weights];
    assert!(IREE_DBG.run(folder, &[&run[..], &inputs].concat()).status.success());
    let right = std::fs::read(folder.join("right.npy")).expect("the results");
    let (right, _) = abi::npy::read(&right).expect("an array");
    let values = right.bytes.chunks(4).map(|it| f32::from_le_bytes(it.try_into().unwrap()));
    let values: Vec<f32> = values.collect();
    let shape = right.tensor_type().to_string();
    let written = |values: &[f32], name: &str, ty: &str| {
        let values: Vec<String> = values.iter().map(f32::to_string).collect();
        let ty = shape.replace("f32", ty);
        write(folder, name, &format!("{ty}={}", values.join(",")));
    };
    written(&values, "half.npy", "f16");
    let why = |file: &str| {
        let expect = format!("--expect={file}");
        let arguments = [&["why", "one.mlir", "--function=decode", &expect][..], &inputs].concat();
        IREE_DBG.run(folder, &arguments)
    };
    let output = why("half.npy");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    has(&text(&output.stdout), &["as expected, within what is allowed"]);
    // That is no excuse for more.
    let other: Vec<f32> = values.iter().map(|it| it * 1.01).collect();
    written(&other, "other.npy", "f16");
    assert_eq!(why("other.npy").status.code(), Some(1));
    let mut nan = values;
    nan[3] = f32::NAN;
    written(&nan, "nan.npy", "f32");
    let output = why("nan.npy");
    assert_eq!(output.status.code(), Some(1));
    has(&text(&output.stderr), &["nan.npy has NaN: 1 of 32 elements"]);
}

#[test]
fn what_is_mostly_not_compared_is_no_success() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    compiled(folder, &source("cast.mlir"), "cast");
    // The second dispatch takes more than that.
    let flags = ["cast.vmfb", "--reference", "--reference-operations=8000", "--html=page.html"];
    for (share, wanted) in [("50%", Some(0)), ("51%", Some(3)), ("90", Some(3)), ("0%", Some(0))] {
        let share = format!("--require-compared={share}");
        let (status, found) = diff(folder, &[&flags[..], &[share.as_str()], &CAST].concat());
        assert_eq!(status, wanted, "{share}: {found}");
        let compared = &found["compared"];
        let is_enough = wanted == Some(0);
        assert_eq!((&compared["dispatches"], &compared["of"]), (&1.into(), &2.into()));
        assert_eq!(compared["is_enough"], is_enough);
        let page = std::fs::read_to_string(folder.join("page.html")).expect("the page");
        let amber = "<p class=\"not_compared\">only 1 of 2 dispatches compared, and ";
        assert_eq!(page.contains(amber), !is_enough, "{page}");
    }
    let arguments = [&["diff"][..], &flags, &["--require-compared=80%"], &CAST].concat();
    let said = text(&IREE_DBG.run(folder, &arguments).stdout);
    has(
        &said,
        &["only 1 of 2 dispatches compared, and 80% are required; 2 dispatches: 1 equal, 1"],
    );
    // A share that is none, and a program that does not run.
    let output = IREE_DBG.run(folder, &["diff", "cast.vmfb", "--require-compared=101%"]);
    assert_eq!(output.status.code(), Some(2));
    let (status, found) = diff(folder, &["cast.vmfb"]);
    assert_eq!((status, &found["verdict"]), (Some(2), &"not_compared".into()), "{found}");
    assert_eq!(found["failures"][0]["side"], "A");
}

#[test]
fn tensors_are_paired_within_the_function_that_is_called() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    compiled(folder, &source("two.mlir"), "two");
    compiled(folder, &source("one.mlir"), "one");
    let inputs = ["--function=decode", "--input=8x16xf32=0.5", "--input=16x4xf32=0.2"];
    for sides in [["two.vmfb", "one.vmfb"], ["one.vmfb", "two.vmfb"]] {
        let (status, found) = diff(folder, &[&sides, &inputs[..]].concat());
        assert_eq!(status, Some(0), "{found}");
        assert_eq!(found["compared"]["dispatches"], 2, "{found}");
        assert_eq!(found["notes"], Value::Array(Vec::new()), "{found}");
    }
}

#[test]
fn another_number_of_turns_is_said_and_another_number_is_a_difference() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let turns = source("turns.mlir");
    compiled(folder, &turns, "three");
    compiled(folder, &turns.replace("constant 3 : index", "constant 4 : index"), "four");
    let input = "--input=8x8xf32=0.1";
    let (status, found) = diff(folder, &["four.vmfb", "three.vmfb", input]);
    assert_eq!(status, Some(1), "{found}");
    let reasons = found["dispatches"].to_string();
    has(&reasons, &["computes it 4 times, and side B 3 times: a loop ran another number of times"]);
    assert!(!reasons.contains("has not computed it"), "{reasons}");
    has(&found["notes"].to_string(), &["a loop ran another number of times: side A computes"]);
    let said = text(&IREE_DBG.run(folder, &["diff", "four.vmfb", "three.vmfb", input]).stdout);
    has(&said, &["result 1: differs: A i32=4, B i32=3"]);
    // Results that are those of one side are none.
    let (status, found) = diff(folder, &["three.vmfb", "three.vmfb", input]);
    assert_eq!(status, Some(0), "{found}");
    let results = found["results"].as_array().expect("results").iter();
    assert!(!{ results }.any(|it| it["type"] == "8x8xf32"), "{found}");
}

#[test]
fn dispatches_without_names_are_aligned_by_their_text_on_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    compiled(folder, &source("chain.mlir"), "plain");
    // One operation more, which changes nothing, and numbers all others anew.
    compiled(folder, &source("chain_longer.mlir"), "longer");
    for (sides, all) in [(["plain.vmfb", "longer.vmfb"], 4), (["longer.vmfb", "plain.vmfb"], 5)] {
        let (status, found) = diff(folder, &[&sides[..], &["--input=64xf32=0.3"]].concat());
        assert_eq!((status, &found["first_bad"]), (Some(0), &Value::Null), "{found}");
        let compared = &found["compared"];
        assert_eq!((&compared["dispatches"], &compared["of"]), (&4.into(), &all.into()), "{found}");
        let by_text = found["dispatches"].as_array().expect("dispatches").iter();
        let by_text = by_text.filter(|it| it["compared_with"].is_string()).count();
        assert!(by_text > 0, "{found}");
    }
}

#[test]
fn a_weight_that_differs_is_told_where_nothing_else_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    compiled(folder, &source("weights.mlir"), "weights");
    // 1 + 1e-9 is 1 in f32: the other weight changes nothing.
    let inputs = ["--input=8xf32=1", "--input=8xf32=0.000000001", "--b-input=8xf32=1"];
    let other = ["--b-input=8xf32=0.000000001,0.000000002,1e-9,1e-9,1e-9,1e-9,1e-9,1e-9"];
    let (status, found) = diff(folder, &[&["weights.vmfb"], &inputs[..], &other].concat());
    assert_eq!((status, &found["verdict"]), (Some(0), &"equal".into()), "{found}");
    let own = found["own"].as_array().expect("tensors");
    assert_eq!((own.len(), &own[0]["reader"]), (1, &1.into()), "{found}");
    assert_eq!(own[0]["tensor"]["differences"]["worst"]["index"], serde_json::json!([1]));
    let said = IREE_DBG.run(folder, &[&["diff", "weights.vmfb"], &inputs[..], &other].concat());
    let parts = [
        "1 tensor of the programs' own (weight, constant or input) differs: read by #1:",
        "1 of 8 elements differs",
        "does not differ by more than allowed",
        "1 equal; 1 tensor of the programs' own differs",
    ];
    has(&text(&said.stdout), &parts);
}

#[test]
fn a_source_is_the_one_beside_the_module_that_has_the_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let text = source("one.mlir");
    for (name, text) in [("a", text.clone()), ("b", format!("// b\n\n{text}"))] {
        std::fs::create_dir(folder.join(name)).expect("a folder");
        compiled(&folder.join(name), &text, "model");
    }
    // From inside one of them, the other one has a file of the same name.
    let flags = ["model.vmfb", "../b/model.vmfb", "--function=decode"];
    let inputs = ["--input=8x16xf32=0.5", "--input=16x4xf32=0.2"];
    let (status, found) = diff(&folder.join("a"), &[&flags, &inputs[..]].concat());
    assert_eq!((status, &found["compared"]["dispatches"]), (Some(0), &2.into()), "{found}");
    assert!(!found["notes"].to_string().contains("has changed"), "{found}");
    let changed = "// other\n";
    std::fs::write(folder.join("b/model.mlir"), changed).expect("it is written");
    let (_, found) = diff(&folder.join("a"), &[&flags, &inputs[..]].concat());
    has(&found["notes"].to_string(), &["side B: ", "b/model.mlir has changed since"]);
}
