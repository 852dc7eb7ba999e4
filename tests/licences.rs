//! Every dependency has a licence that is compatible with ours.
//!
//! Cargo knows the licences without a network. `.config/deny.toml` holds the same list for
//! cargo-deny.

use std::process::Command;

/// Licences that only require attribution, or nothing.
const ALLOWED: [&str; 14] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

#[test]
fn every_dependency_has_an_allowed_licence() {
    // Only dependencies of this platform: those of other platforms are not downloaded.
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let metadata = cargo(&[
        "metadata",
        "--format-version=1",
        "--locked",
        "--offline",
        &format!("--filter-platform={host}"),
    ]);
    let metadata: serde_json::Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 50, "only {} packages", packages.len());
    let refused: Vec<String> = packages
        .iter()
        .filter_map(|package| {
            let licence = package["license"].as_str().unwrap_or("(none)");
            (!is_allowed(licence)).then(|| format!("{}: {licence}", package["name"]))
        })
        .collect();
    assert!(refused.is_empty(), "licences that are not in the list:\n{}", refused.join("\n"));
}

fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(conformance::tools::repository())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Evaluates an SPDX expression: one side of an `OR` must be allowed, both sides of an `AND`. `AND`
/// binds tighter.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    let expression = expression.trim();
    if let Some((left, right)) = split_outside(expression, " OR ") {
        return is_allowed(left) || is_allowed(right);
    }
    if let Some((left, right)) = split_outside(expression, " AND ") {
        return is_allowed(left) && is_allowed(right);
    }
    match expression.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => is_allowed(inner),
        None => ALLOWED.contains(&expression),
    }
}

/// Splits at the first operator outside parentheses.
fn split_outside<'e>(expression: &'e str, operator: &str) -> Option<(&'e str, &'e str)> {
    let mut depth = 0_i32;
    for (at, c) in expression.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && expression[at..].starts_with(operator) => {
                return Some((&expression[..at], &expression[at + operator.len()..]));
            }
            _ => {}
        }
    }
    None
}

#[test]
fn the_texts_of_all_licences_are_shipped() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("licences");
    let script = conformance::tools::repository().join("runtime/python/build_backend");
    let status = Command::new("python").arg(script.join("third_party.py")).arg(&file).status();
    assert!(status.unwrap().success());
    let text = std::fs::read_to_string(&file).unwrap();
    // Another part of cargo says what is linked.
    let shipped = ["-piree-dbg", "-piree-dbg-python", "-piree-dbg-tvm-ffi"];
    let format = ["--edges=normal", "--prefix=none", "--format={p}", "--locked", "--offline"];
    let tree = cargo(&[&["tree"][..], &shipped, &format].concat());
    let mut crates: Vec<String> = Vec::new();
    for line in tree.lines().filter(|line| !line.contains(" (/") && !line.is_empty()) {
        let mut words = line.split_whitespace();
        let (Some(name), Some(version)) = (words.next(), words.next()) else { continue };
        crates.push(format!("{name} {}", version.trim_start_matches('v')));
    }
    crates.sort();
    crates.dedup();
    assert!(crates.len() > 100, "{crates:?}");
    let bare = text.split("\nWithout a text of their own").nth(1).unwrap_or_default();
    let bare = bare.lines().next().unwrap_or_default();
    for name in &crates {
        assert!(text.contains(&format!("\n{name}: ")), "{name} is not listed");
        // Its own text stands under a heading with its name and that of the file.
        let headings = text.match_indices(&format!("\n{name}: ")).count();
        assert!(headings > 1 || bare.contains(name.as_str()), "{name} has no text");
    }
    assert!(text.contains("Apache License") && text.contains("Version 2.0, January 2004"));
    assert!(text.contains("Permission is hereby granted, free of charge"));
}

#[test]
fn expressions_are_read_as_spdx_defines_them() {
    for (expression, allowed) in [
        ("MIT", true),
        ("MIT/Apache-2.0", true),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", true),
        ("(MIT OR Apache-2.0) AND GPL-2.0", false),
        ("(none)", false),
    ] {
        assert_eq!(is_allowed(expression), allowed, "{expression}");
    }
}
