//! What is said in several places is said alike: versions, and the compiler that everything needs.

use conformance::tools::repository;

use crate::report;

fn text(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|_| panic!("{path} is missing"))
}

/// What stands between the first `before` and the next `after`.
fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let start = text.find(before).unwrap_or_else(|| panic!("no {before}")) + before.len();
    text[start..].split(after).next().expect("split yields a part")
}

#[test]
fn the_version_is_one() {
    let cargo = text("Cargo.toml");
    let wanted = between(&cargo, "\nversion = \"", "\"");
    let mut findings = Vec::new();
    for manifest in ["editors/vscode/package.json", "editors/vscode/package-lock.json"] {
        let theirs = text(manifest);
        let found = between(&theirs, "\"version\": \"", "\"");
        if found != wanted {
            findings.push(format!("{manifest}: {found} instead of {wanted}"));
        }
    }
    report(&findings, "Cargo.toml has the version; a release is of one version everywhere.");
}

/// The tests run with the compiler that `rust-toolchain.toml` names: it is the oldest that is
/// promised, so the promise is tested.
#[test]
fn the_oldest_compiler_is_the_one_that_everything_is_tested_with() {
    let toolchain = text("rust-toolchain.toml");
    let tested = between(&toolchain, "\nchannel = \"", "\"");
    let cargo = text("Cargo.toml");
    let promised = between(&cargo, "\nrust-version = \"", "\"");
    let readme = text("README.md");
    let documented = between(&readme, "Building needs Rust ", " or later");
    let wanted = tested.trim_end_matches(".0");
    let mut findings = Vec::new();
    for (file, found) in [("Cargo.toml", promised), ("README.md", documented)] {
        if found.trim_end_matches(".0") != wanted {
            findings.push(format!("{file}: Rust {found}, but the tests run with {tested}"));
        }
    }
    report(&findings, "What is promised is what rust-toolchain.toml has.");
}

/// A suite that no job runs is one that no commit has to pass.
#[test]
fn every_suite_is_run_by_the_workflow() {
    let run = text("tests/run");
    let all = between(&run, "\nall=(", ")");
    let workflow = text(".github/workflows/ci.yml");
    let jobs = between(&workflow, "\n        suites:\n", "\n    env:");
    let listed: Vec<&str> = jobs.split_whitespace().filter(|word| *word != "-").collect();
    let missing = all.split_whitespace().filter(|suite| !listed.contains(suite));
    let unknown = listed.iter().filter(|suite| !run.contains(&format!("\nsuite_{suite}() {{")));
    let mut findings: Vec<String> =
        missing.map(|suite| format!("ci.yml: no job runs {suite}")).collect();
    findings.extend(unknown.map(|suite| format!("ci.yml: tests/run has no suite {suite}")));
    report(&findings, "Jobs of .github/workflows/ci.yml run all suites of tests/run.");
}

/// Suites are lists of programs by name; a program that no list has is never run.
#[test]
fn every_test_program_of_this_folder_is_run_by_a_suite() {
    let run = text("tests/run");
    let manifest = text("tests/Cargo.toml");
    let names = manifest.split("[[test]]\nname = \"").skip(1).filter_map(|it| it.split('"').next());
    let is_run = |name: &str| {
        run.split_whitespace().any(|word| word.strip_prefix("conformance:") == Some(name))
    };
    let findings: Vec<String> = names
        .filter(|name| !is_run(name))
        .map(|name| format!("tests/run: no suite runs conformance:{name}"))
        .collect();
    report(&findings, "Each program of tests/Cargo.toml is run by a suite.");
}
