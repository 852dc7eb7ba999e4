//! Prints the diagnostics of files: `diagnose FILE…`, or file names on standard input. It serves to
//! try whole trees of tests: a text that the compiler accepts must have no error here.

use std::io::BufRead;
use std::sync::Arc;

use ide::{Document, Language, Severity, diagnostics};

fn main() {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        files = std::io::stdin().lock().lines().map_while(Result::ok).collect();
    }
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else {
            println!("{file}: not UTF-8 text");
            continue;
        };
        let document = Document::new(Language::of_path(&file), None, Arc::new(text.clone()));
        for found in diagnostics(&document) {
            let line = text[..found.range.start].matches('\n').count() + 1;
            let shown: String = text[found.range.start..].chars().take(50).collect();
            let severity = if found.severity == Severity::Error { "" } else { "warning: " };
            println!(
                "{file}:{line}: {severity}{}: {}",
                found.message,
                shown.lines().next().unwrap_or_default()
            );
        }
    }
}
