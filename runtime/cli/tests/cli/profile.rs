//! `run --device_profiling_output=`: IREE's own `iree-profile` takes what it writes.

use std::path::Path;

use support::text;

use crate::program::IREE_DBG;
use std::process::Command;

fn run(program: &str, folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).current_dir(folder).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let text = text(&output.stdout);
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// The number after `name=`.
fn number(text: &str, name: &str) -> u64 {
    let rest = text.split_once(&format!("{name}=")).unwrap_or_else(|| panic!("{name}: {text}")).1;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("{name}: {text}"))
}

#[test]
fn iree_profile_explains_a_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let iree_dbg = IREE_DBG.path();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("example/classifier.mlir");
    std::fs::copy(example, folder.join("classifier.mlir")).expect("a copy");
    run(iree_dbg, folder, &["compile", "classifier.mlir", "-o", "classifier.vmfb"]);
    let flags = ["run", "--module=classifier.vmfb", "--input=1x16xf32=0.1"];
    let plain = run(iree_dbg, folder, &flags);
    let with = [&flags[..], &["--device_profiling_output=run.ireeprof"]].concat();
    assert_eq!(run(iree_dbg, folder, &with), plain);
    let text = run("iree-profile", folder, &["explain", "run.ireeprof"]);
    for (name, count) in [
        ("unknown_records", 0),
        ("unknown_chunks", 0),
        ("truncated_chunks", 0),
        ("host_dispatches", 4),
        ("valid_host", 4),
        ("invalid_host", 0),
    ] {
        assert_eq!(number(&text, name), count, "{text}");
    }
    // What it adds up is what the file says, and what its reader here adds up.
    let bytes = std::fs::read(folder.join("run.ireeprof")).expect("is there");
    let profile = profile::Profile::parse(&bytes).expect("is read");
    assert_eq!(profile.device, "local-sync");
    let times = profile.times();
    assert_eq!(times.len(), 4);
    for (name, times) in times {
        let line = text.lines().find(|line| line.contains(name) && line.contains("total_ns"));
        let line = line.unwrap_or_else(|| panic!("{name}: {text}"));
        assert_eq!((number(line, "count"), number(line, "total_ns")), (1, times.total), "{line}");
    }
    // Each of its views reads the file, and the commands are in the order in which they ran.
    for view in ["summary", "statistics", "executable", "dispatch", "queue", "memory", "counter"] {
        run("iree-profile", folder, &[view, "run.ireeprof"]);
    }
    let text = run("iree-profile", folder, &["command", "run.ireeprof"]);
    for (name, count) in [
        ("command_buffers", 1),
        ("host_executions", 1),
        ("command_operations", 4),
        ("host_valid", 4),
        ("host_invalid", 0),
    ] {
        assert_eq!(number(&text, name), count, "{text}");
    }
    let keys = text.lines().filter_map(|line| line.split_once(" key=classify_dispatch_"));
    let numbers: Vec<&str> = keys.map(|(_, rest)| &rest[..1]).collect();
    assert_eq!(numbers, ["0", "1", "2", "3"], "{text}");
    // Tools that draw time lines take its export.
    let export = ["export", "--format=ireeperf-jsonl", "--output=run.jsonl", "run.ireeprof"];
    run("iree-profile", folder, &export);
    let rows = std::fs::read_to_string(folder.join("run.jsonl")).expect("is there");
    assert!(rows.lines().filter(|row| row.contains("classify_dispatch_")).count() >= 4, "{rows}");

    // Copies and fills are operations of command buffers, too.
    let moves = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model/moves.mlir");
    std::fs::copy(moves, folder.join("moves.mlir")).expect("a copy");
    run(iree_dbg, folder, &["compile", "moves.mlir", "-o", "moves.vmfb"]);
    let inputs = ["--input=4x8xf32=0.5", "--input=4x8xf32=3"];
    let output = "--device_profiling_output=moves.ireeprof";
    run(iree_dbg, folder, &[&["run", "--module=moves.vmfb", output], &inputs[..]].concat());
    let text = run("iree-profile", folder, &["command", "moves.ireeprof"]);
    assert!(text.contains("op=copy") && text.contains("op=dispatch"), "{text}");

    // And one of IREE's is read here.
    let flags = [
        "--module=classifier.vmfb",
        "--device=local-sync",
        "--function=classify",
        "--input=1x16xf32=0.1",
        "--device_profiling_mode=host-execution,executable-metadata",
        "--device_profiling_output=iree.ireeprof",
    ];
    run("iree-run-module", folder, &flags);
    let bytes = std::fs::read(folder.join("iree.ireeprof")).expect("is there");
    let profile = profile::Profile::parse(&bytes).expect("is read");
    let names: Vec<&str> = profile.times().into_keys().collect();
    assert_eq!(names[0], "classify_dispatch_0_matmul_1x8x16_f32");
    assert_eq!(names.len(), 4);
}
