//! What documents and comments point at is there.

use std::path::Path;

use conformance::tools::repository;

use crate::report;
use crate::sources::{self, Source};

/// The documents in which each file in backticks is meant literally.
const MAPS: [&str; 2] = ["ARCHITECTURE.md", "CONTRIBUTING.md"];

#[test]
fn links_of_documents_lead_to_files() {
    let mut findings = Vec::new();
    for source in sources::all().iter().filter(|source| source.has_extension(&["md"])) {
        for (number, line) in prose(&source.text) {
            for link in line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
                let is_local = !link.is_empty() && !link.contains("://");
                if is_local && !beside(source, link).exists() {
                    findings.push(format!("{}: {link}", source.at(number)));
                }
            }
        }
    }
    report(&findings, "These links lead nowhere.");
}

#[test]
fn files_that_maps_and_recipes_name_are_there() {
    let mut findings = Vec::new();
    for map in MAPS {
        let source = sources::all().iter().find(|source| source.path == map);
        let source = source.unwrap_or_else(|| panic!("{map} is missing"));
        let mut named = 0;
        for (number, line) in source.text.lines().enumerate() {
            for path in quoted(line).filter(|text| is_path(text)) {
                named += 1;
                if !repository().join(path).exists() {
                    findings.push(format!("{}: {path}", source.at(number)));
                }
            }
        }
        assert!(named > 0, "{map} names no file");
    }
    report(&findings, "These files are not there: mend the map.");
}

#[test]
fn files_that_comments_name_are_there() {
    // IREE has a folder of that name; ours are `runtime/CRATE/src`.
    let theirs = "runtime/src";
    let roots = ["runtime/", "lsp/", "dap-adapter/", "editors/", "tests/"];
    let mut findings = Vec::new();
    for source in sources::all().iter().filter(|source| source.has_extension(&["rs"])) {
        for (number, line) in source.text.lines().enumerate() {
            let Some((_, comment)) = line.split_once("//") else { continue };
            for path in quoted(comment) {
                let is_ours = roots.iter().any(|root| path.starts_with(root)) && is_path(path);
                let is_theirs = path.starts_with(theirs) || path.contains(".mlir");
                let is_there = repository().join(path).exists() || in_its_crate(source, path);
                if is_ours && !is_theirs && !is_there {
                    findings.push(format!("{}: {path}", source.at(number)));
                }
            }
        }
    }
    report(&findings, "These files are not there: mend the comments.");
}

/// The numbered lines of a document outside of code.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter(move |(_, line)| {
        is_code ^= line.trim_start().starts_with("```");
        !is_code
    })
}

/// Comments in a crate's tests name their data by the path in the crate.
fn in_its_crate(source: &Source, path: &str) -> bool {
    let mut folders = Path::new(&source.path).ancestors();
    folders.any(|folder| repository().join(folder).join(path).exists())
}

/// What stands in backticks.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Whether a text names a file or folder: `a/b`, without blanks and placeholders.
fn is_path(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let has_placeholder = text.split(['/', '.']).any(|part| {
        part.len() > 2 && part.chars().all(|c| c.is_ascii_uppercase()) && part != "README"
    });
    text.contains('/')
        && text.chars().all(is_plain)
        && !has_placeholder
        && !text.starts_with(['/', '.'])
}

fn beside(source: &Source, link: &str) -> std::path::PathBuf {
    let folder = Path::new(&source.path).parent().unwrap_or(Path::new(""));
    repository().join(folder).join(link)
}
