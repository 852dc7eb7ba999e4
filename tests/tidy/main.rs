//! What no compiler checks: the order of the house, and the words it is described with.
//!
//! | file | what it checks |
//! | --- | --- |
//! | `sources` | (finds the files: crates, modules, documents) |
//! | `imports` | (reads which module of a crate uses which, with `syn`) |
//! | `rooms` | inside a crate, dependencies go one way: down the table in its `lib.rs` |
//! | `floors` | a crate uses only crates on lower floors, as ARCHITECTURE.md lists them |
//! | `words` | stale names and unidiomatic words are gone; lines have at most 100 columns |
//! | `documents` | files and links that documents, recipes and comments name are there |
//! | `doors` | one place writes to terminals |
//! | `release` | versions, and the compiler that is needed, are the same everywhere |
//! | `tail_calls` | every handler of the interpreter ends in a jump (needs `--release`) |
//!
//! Each test prints all that is wrong, one line per finding, with file and line.

mod documents;
mod doors;
mod floors;
mod imports;
mod release;
mod rooms;
mod sources;
mod tail_calls;
mod words;

/// Fails with one line per finding.
fn report(findings: &[String], advice: &str) {
    assert!(findings.is_empty(), "\n{}\n\n{advice}\n", findings.join("\n"));
}
