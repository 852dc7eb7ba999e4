//! The output of `iree-dbg bench` for the embedded example. Nothing here asserts a time;
//! `tests/bench` measures.

use std::path::Path;
use std::process::Output;

use crate::program::IREE_DBG;

/// Measures the square root of 2 with a number of steps.
fn bench(steps: u32, arguments: &[&str]) -> Output {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("example/newton.vmfb");
    IREE_DBG
        .command()
        .arg("bench")
        .arg(format!("--module={}", module.display()))
        .args(["--function=main", "--input=2.0", "--time=0.01"])
        .arg(format!("--input={steps}"))
        .args(arguments)
        .output()
        .expect("bench starts")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn json(steps: u32, arguments: &[&str]) -> serde_json::Value {
    let output = bench(steps, &[&["--json"], arguments].concat());
    serde_json::from_str(&stdout(&output)).expect("JSON")
}

#[test]
fn the_report_has_a_row_for_the_function() {
    let text = stdout(&bench(10, &[]));
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("BM_")).collect();
    assert_eq!(rows.len(), 1, "{text}");
    assert!(rows[0].starts_with("BM_main/process_time/real_time "), "{text}");
    let text = stdout(&bench(0, &["--breakpoints=2"]));
    assert!(text.starts_with("BENCH @main\n"), "{text}");
    for label in ["median", "minimum", "mean", "wall median", "iterations", "breakpoints"] {
        assert!(text.contains(&format!("  {label} ")), "no {label} in\n{text}");
    }
}

#[test]
fn json_has_the_median_and_the_iterations() {
    let report = json(10, &[]);
    assert_eq!(report["function"], "main");
    assert!(report["ns_per_call"].as_f64().expect("a number") > 0.0, "{report}");
    assert!(report["iterations"].as_u64().expect("a count") > 0, "{report}");
    assert_eq!(report["breakpoints"], 0);
}

#[test]
fn breakpoints_are_set_where_the_call_does_not_come() {
    // Without a step, the body of the loop does not run, nor does the function that it calls.
    let report = json(0, &["--breakpoints=8"]);
    assert_eq!(report["breakpoints"], 8);
    let in_main = report["breakpoints_in_running_functions"].as_u64().expect("a count");
    assert!((1..=7).contains(&in_main), "{report}");
}

#[test]
fn more_breakpoints_than_there_are_places_is_an_error_with_their_number() {
    let output = bench(10, &["--breakpoints=1"]);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("--breakpoints=1: the loaded modules have only 0 instructions"),
        "{error}"
    );
}

#[test]
fn a_call_that_fails_is_not_measured() {
    let output = bench(10, &["--input=3"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("INVALID_ARGUMENT"), "{error}");
}
