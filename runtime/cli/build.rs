//! Tells `--version` which commit the program is of: see `src/version.rs`.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=IREE_DBG_COMMIT");
    let named = std::env::var("IREE_DBG_COMMIT").ok().filter(|commit| !commit.is_empty());
    let is_optimised = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    // A program for daily work is not built anew with each commit.
    let commit = named.or_else(|| is_optimised.then(commit).flatten());
    if let Some(commit) = commit {
        println!("cargo::rustc-env=IREE_DBG_BUILT_FROM={commit}");
    }
}

/// The commit of the working tree, `-changed` if there are changes; `None` outside of a repository.
fn commit() -> Option<String> {
    // Written with each commit.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={log}");
    git(&["describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=-changed"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
