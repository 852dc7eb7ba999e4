//! What is printed goes through one door, which keeps control characters of files from terminals.

use crate::report;
use crate::sources;

/// The ways to standard output and standard error.
const WAYS: [&str; 6] = ["println!", "print!", "eprintln!", "eprint!", "stdout()", "stderr()"];

/// What may use them: the door itself, and streams of protocols.
const DOORS: [&str; 3] = [
    "runtime/cli/src/printing.rs",
    "dap-adapter/src/connections/serve.rs",
    "lsp/server/src/serve.rs",
];

/// What a line has that needs no door: the text is shown already, or the size of a terminal asked.
const SHOWN: [&str; 3] = ["abi::shown(", "terminal_size_of(", "running."];

#[test]
fn terminals_are_written_to_by_one_door() {
    let mut findings = Vec::new();
    for source in sources::all().iter().filter(|source| is_product(&source.path)) {
        let product = source.text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in product.lines().enumerate() {
            let code = line.trim_start();
            if code.starts_with("//") || SHOWN.iter().any(|it| code.contains(it)) {
                continue;
            }
            if let Some(way) = WAYS.iter().find(|way| has(code, way)) {
                findings.push(format!("{}: `{way}`", source.at(number)));
            }
        }
    }
    report(&findings, "Use out!, outln!, err!, errln! or printing::output() of the crate cli.");
}

fn is_product(path: &str) -> bool {
    let is_source = path.contains("/src/") && path.ends_with(".rs");
    let is_house = ["runtime/", "lsp/", "dap-adapter/"].iter().any(|it| path.starts_with(it));
    let is_test = path.contains("/tests/") || path.ends_with("tests.rs");
    is_source && is_house && !is_test && !DOORS.contains(&path)
}

/// Whether code has a word that is not the end of another one.
fn has(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        !code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_')
    })
}
