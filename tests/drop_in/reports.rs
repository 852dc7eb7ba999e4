//! Reports of benchmarks. Their numbers differ from run to run; all else is the same.

use serde_json::Value;

use super::{folder, ours, theirs};

const TOOL: &str = "iree-benchmark-module";

/// The text with `#` for each number, and one blank for several.
fn without_numbers(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let in_word = plain.ends_with(|it: char| it.is_alphabetic() || it == '_');
        match character {
            '0'..='9' if !in_word => {
                let is_part = |it: &char| it.is_ascii_digit() || matches!(it, '.' | '+' | 'e');
                while characters.next_if(is_part).is_some() {}
                plain.push('#');
                // The prefix of a unit depends on the number.
                characters.next_if(|it| matches!(it, 'k' | 'M' | 'G'));
            }
            ' ' if plain.ends_with(' ') => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Each row has the same shape in both reports.
#[track_caller]
fn same_report(arguments: &[&str]) {
    let (ours, theirs) = (ours(TOOL, arguments), theirs(TOOL, arguments));
    assert!(ours.ok && theirs.ok, "{arguments:?}: {}{}", ours.errors, theirs.errors);
    assert_eq!(without_numbers(&ours.out), without_numbers(&theirs.out), "{arguments:?}");
}

const COUNTED: &str = "--benchmark_min_time=3x";

#[test]
fn rows_for_people_and_in_csv() {
    let module = "--module=program.vmfb";
    same_report(&[module, COUNTED]);
    same_report(&["--module=fenced.vmfb", COUNTED]);
    same_report(&[module, COUNTED, "--benchmark_repetitions=3", "--time_unit=us"]);
    same_report(&[
        module,
        COUNTED,
        "--benchmark_repetitions=2",
        "--benchmark_report_aggregates_only",
    ]);
    same_report(&[module, COUNTED, "--function=same", "--input=4", "--benchmark_format=csv"]);
    same_report(&[module, COUNTED, "--benchmark_counters_tabular", "--benchmark_color=true"]);
    same_report(&[module, COUNTED, "--function=doubled", "--dispatch_statistics"]);
    same_report(&[
        module,
        COUNTED,
        "--benchmark_format=csv",
        "--function=doubled",
        "--dispatch_statistics",
    ]);
    same_report(&[module, COUNTED, "--function=constant", "--enable_output_processing"]);
    same_report(&[module, "--benchmark_dry_run", "--batch_size=8"]);
}

/// The names of everything in a value, and the texts that say what a number is about.
fn shape(value: &Value, path: &str, lines: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                shape(value, &format!("{path}.{key}"), lines);
            }
        }
        Value::Array(items) => {
            items.iter().for_each(|item| shape(item, &format!("{path}[]"), lines));
        }
        Value::String(text) if path.starts_with(".benchmarks") => {
            lines.push(format!("{path}={text}"));
        }
        _ => lines.push(path.to_owned()),
    }
}

#[test]
fn json_has_the_same_keys() {
    let file = folder().join("report.json");
    for more in [
        &["--benchmark_repetitions=2"][..],
        &["--function=doubled", "--dispatch_statistics", "--benchmark_context=k=v"],
    ] {
        let arguments = [&["--module=program.vmfb", COUNTED, "--benchmark_format=json"], more];
        let arguments = arguments.concat();
        let shape_of = |text: &str| {
            let mut lines = Vec::new();
            shape(&serde_json::from_str(text).expect("JSON"), "", &mut lines);
            lines
        };
        let with_file = [&arguments[..], &["--benchmark_out=report.json"]].concat();
        let ours = ours(TOOL, &with_file);
        let theirs = theirs(TOOL, &arguments);
        assert_eq!(shape_of(&ours.out), shape_of(&theirs.out), "{arguments:?}");
        let text = std::fs::read_to_string(&file).expect("a report");
        assert_eq!(shape_of(&text), shape_of(&theirs.out), "{arguments:?}");
    }
}

/// Benchmarks of dispatches, which the compiler makes, get the size of a batch.
#[test]
fn dispatches_have_benchmarks_of_their_own() {
    let compiler = conformance::tools::iree("iree-compile").expect("IREE's tools");
    let source = conformance::tools::repository().join("tests/drop_in/program.mlir");
    let flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"];
    let dumped =
        super::answer(std::process::Command::new(&compiler).arg(source).args(flags).args([
            "-o",
            "ignored.vmfb",
            "--iree-hal-dump-executable-benchmarks-to=benchmarks",
        ]));
    assert!(dumped.ok, "{}", dumped.errors);
    let first = std::fs::read_dir(folder().join("benchmarks")).expect("benchmarks").next();
    let first = first.expect("a benchmark").expect("a file").path();
    let made = super::answer(std::process::Command::new(&compiler).arg(first).args([
        "-o",
        "dispatch.vmfb",
        "--iree-hal-benchmark-dispatch-repeat-count=4",
    ]));
    assert!(made.ok, "{}", made.errors);
    same_report(&["--module=dispatch.vmfb", "--benchmark_min_time=8x", "--batch_size=4"]);
}

/// Iterations are added until a benchmark has run long enough.
#[test]
fn benchmarks_run_as_long_as_they_are_told() {
    let report = ours(
        TOOL,
        &[
            "--module=program.vmfb",
            "--function=constant",
            "--benchmark_min_time=0.05s",
            "--benchmark_format=json",
            "--time_unit=ms",
        ],
    );
    let report: Value = serde_json::from_str(&report.out).expect("JSON");
    let row = &report["benchmarks"][0];
    let count = row["iterations"].as_f64().expect("a count");
    let took = row["real_time"].as_f64().expect("a time") * count;
    assert!(took >= 50.0 && count > 1.0, "{row}");
    let each = row["items_per_second"].as_f64().expect("a rate") * took / 1000.0;
    assert!((each / count - 1.0).abs() < 1e-6, "{row}");
}
