//! Every flag of a tool is taken.

use std::collections::BTreeSet;

use super::{ours, theirs};

/// The flags that a tool lists: its own, `--name=default` or `# --name`, and those of Google
/// Benchmark, `[--name=<what>]`.
fn listed(tool: &str) -> Vec<(String, String)> {
    let help = theirs(tool, &["--help"]).out;
    let mut flags = BTreeSet::new();
    for line in help.lines() {
        let commented = line.strip_prefix("# --");
        let bracketed = line.trim_start().trim_start_matches("benchmark ").strip_prefix("[--");
        let Some(flag) = commented.or(bracketed).or(line.strip_prefix("--")) else { continue };
        let (name, value) = flag.split_once('=').unwrap_or((flag, ""));
        let is_name = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
        // Sentences may begin a line with a flag, too.
        let is_prose = commented.is_some() && !matches!(value, "" | "..." | "[path]");
        if is_name && !is_prose {
            flags.insert((name.to_owned(), usable(name, value)));
        }
    }
    flags.into_iter().collect()
}

/// A value that the flag takes: its default, or one of those that the help offers.
fn usable(name: &str, value: &str) -> String {
    match name {
        "benchmark_min_time" => return "1x".to_owned(),
        "benchmark_filter" => return ".".to_owned(),
        "benchmark_repetitions" => return "2".to_owned(),
        "benchmark_min_warmup_time" => return "0.5".to_owned(),
        "device" => return "local-task".to_owned(),
        "task_topology_cpu_ids" => return "0,1".to_owned(),
        "module" => return "x.vmfb".to_owned(),
        "v" => return "1".to_owned(),
        _ => {}
    }
    let value = value.trim_end_matches(']').trim_matches(['"', '{', '}', '<', '>']);
    value.split('|').next().unwrap_or_default().trim_matches('.').to_owned()
}

/// Arguments that print a list and end would hide a flag after them.
const LISTS: [&str; 6] =
    ["help", "agents_md", "list_devices", "list_drivers", "dump_devices", "dump_task_topologies"];

#[track_caller]
fn takes_all(tool: &str, at_least: usize) {
    let flags = listed(tool);
    assert!(flags.len() >= at_least, "{tool}: only {} flags were found", flags.len());
    let refused: Vec<String> = flags
        .iter()
        .filter(|(name, _)| name != "flagfile")
        .filter_map(|(name, value)| {
            let flag = if value.is_empty() && LISTS.contains(&name.as_str()) {
                format!("--{name}")
            } else {
                format!("--{name}={value}")
            };
            // `--help` after it ends the program before it needs a module.
            let answer = ours(tool, &[&flag, "--help"]);
            (!answer.ok).then(|| format!("{flag}: {}", answer.errors.lines().next().unwrap_or("")))
        })
        .collect();
    assert!(refused.is_empty(), "{tool}:\n{}", refused.join("\n"));
}

#[test]
fn run_takes_every_flag() {
    takes_all("iree-run-module", 80);
}

#[test]
fn bench_takes_every_flag() {
    takes_all("iree-benchmark-module", 90);
}

#[test]
fn dump_takes_every_flag() {
    takes_all("iree-dump-module", 5);
}

#[test]
fn what_changes_nothing_is_said() {
    let call = ["--module=program.vmfb", "--function=same", "--input=7"];
    let with = |flags: &[&str]| ours("iree-run-module", &[&call[..], flags].concat());
    let answer = with(&["--cuda_tracing=1", "--cuda_use_streams=false", "--hip_tracing=2"]);
    assert!(answer.ok && answer.out.ends_with("result[0]: i32=7\n"), "{}", answer.errors);
    assert_eq!(
        answer.errors,
        "note: --cuda_use_streams, --cuda_tracing: one stream, one dispatch after another, and \
         --device= names the device\n"
    );
    // A file that would be missing later is no matter of a note.
    let answer = with(&["--device_replay_output=x.ireereplay"]);
    assert!(!answer.ok && answer.errors.contains("replays are not written here"));
    let answer = ours("iree-run-module", &["--module=native.so@create", "--function=f"]);
    assert!(!answer.ok && answer.errors.contains("native modules of IREE's VM"));
    let answer = with(&["--device_allocator=slow"]);
    assert!(!answer.ok && answer.errors.contains("unrecognized allocator 'slow'"));
}

#[test]
fn unknown_flags_are_refused_with_the_nearest_name() {
    for (flag, nearest) in [
        ("--modul=x", "--module"),
        ("--cuda_tracin=1", "--cuda_tracing"),
        ("--print_statistic", "--print_statistics"),
    ] {
        let answer = ours("iree-run-module", &[flag]);
        assert!(!answer.ok, "{flag}");
        assert!(answer.errors.contains(&format!("'{nearest}'")), "{flag}: {}", answer.errors);
    }
}

#[test]
fn statistics_are_of_the_run() {
    let call = ["--module=program.vmfb", "--function=doubled", "--print_statistics"];
    let answer = ours("iree-run-module", &[&call[..], &["--print_device_statistics"]].concat());
    assert!(answer.ok, "{}", answer.errors);
    let memory = answer.errors.lines().find(|line| line.starts_with("DEVICE_LOCAL:"));
    let memory: Vec<&str> = memory.expect("memory").split_whitespace().collect();
    // As much was freed as was made, and it was at least the result.
    let (allocated, freed) = (memory[4], memory[7]);
    let bytes: u64 = allocated.trim_end_matches('B').parse().expect("bytes");
    assert!(bytes >= 16 && allocated == freed, "{memory:?}");
    assert!(answer.errors.contains("count=1 "), "one dispatch: {}", answer.errors);
}
