//! The floors of the house: which crate may use which.
//!
//! ARCHITECTURE.md lists every crate with its floor. A crate uses only crates that stand
//! above it in that table. Tests may use what they like.

use crate::report;
use crate::sources::{self, Crate};

use conformance::tools::repository;

#[test]
fn crates_use_only_floors_below_them() {
    let floors = floors();
    let place = |folder: &str| floors.iter().position(|(_, listed)| listed == folder);
    let crates = sources::crates();
    let mut findings = Vec::new();
    for krate in &crates {
        let Some(at) = place(&krate.folder) else {
            findings.push(format!("ARCHITECTURE.md: no floor has `{}`", krate.folder));
            continue;
        };
        for used in dependencies(krate, &crates) {
            if place(used).is_some_and(|of| of > at) {
                findings.push(format!("{}/Cargo.toml: uses {used}, which is above", krate.folder));
            }
        }
    }
    for (_, folder) in &floors {
        if !crates.iter().any(|krate| krate.folder == *folder) {
            findings.push(format!("ARCHITECTURE.md: `{folder}` is no crate of the workspace"));
        }
    }
    let numbers: Vec<&str> = floors.iter().map(|(floor, _)| floor.as_str()).collect();
    assert!(numbers.is_sorted(), "ARCHITECTURE.md: floors from lowest to highest: {numbers:?}");
    report(&findings, "A crate uses only crates below it in the table of ARCHITECTURE.md.");
}

#[test]
fn adapters_know_protocols_and_nothing_below_does() {
    let protocols = ["dap", "rmcp", "tower-lsp", "tokio", "tower"];
    let mut findings = Vec::new();
    for krate in sources::crates() {
        let is_above = ["dap-adapter", "lsp/server", "runtime/mcp", "runtime/cli", "tests"];
        if is_above.contains(&krate.folder.as_str()) {
            continue;
        }
        for protocol in protocols {
            if section(&krate.manifest, "[dependencies]").any(|name| name == protocol) {
                findings.push(format!("{}/Cargo.toml: uses {protocol}", krate.folder));
            }
        }
    }
    report(&findings, "Nothing below the adapters knows a protocol or an executor.");
}

/// Floor and folder of each crate, in the order of the table.
fn floors() -> Vec<(String, String)> {
    let document = std::fs::read_to_string(repository().join("ARCHITECTURE.md"))
        .expect("ARCHITECTURE.md is there");
    let rows = document.lines().skip_while(|line| !line.starts_with("| floor |")).skip(2);
    let floors: Vec<(String, String)> = rows
        .take_while(|line| line.starts_with('|'))
        .filter_map(|row| {
            let mut cells = row.split('|').skip(1);
            let floor = cells.next()?.trim().to_owned();
            let folder = cells.next()?.split('`').nth(1)?.to_owned();
            Some((floor, folder))
        })
        .collect();
    assert!(floors.len() > 10, "the table of floors has {} rows", floors.len());
    floors
}

/// The folders of the crates of the workspace that a crate is built from.
fn dependencies<'c>(krate: &'c Crate, crates: &'c [Crate]) -> impl Iterator<Item = &'c str> {
    section(&krate.manifest, "[dependencies]").filter_map(|dependency| {
        let named = |other: &&Crate| {
            other.manifest.lines().any(|line| line == format!("name = \"{dependency}\""))
        };
        crates.iter().find(named).map(|other| other.folder.as_str())
    })
}

/// The names in a section of a manifest.
fn section<'m>(manifest: &'m str, title: &'m str) -> impl Iterator<Item = &'m str> {
    let lines = manifest.lines().skip_while(move |line| *line != title).skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
}
