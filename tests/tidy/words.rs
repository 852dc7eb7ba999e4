//! Words and widths: what makes a reader stop.

use crate::report;
use crate::sources::{self, Source};

/// As rustfmt has it.
const WIDTH: usize = 100;

/// What is read by people. Data of tests is left as it is.
const READ: [&str; 11] = ["rs", "md", "toml", "ts", "mjs", "py", "lua", "el", "sh", "json", "yml"];

#[test]
fn no_word_needs_a_second_reading() {
    let forbidden: Vec<(String, &str)> = include_str!("words.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(": ").expect("a line is `word: instead`"))
        .map(|(word, instead)| (word.to_lowercase(), instead))
        .collect();
    let mut findings = Vec::new();
    for source in read_by_people() {
        for (number, line) in source.text.lines().enumerate() {
            let lower = line.to_lowercase();
            for (word, instead) in &forbidden {
                if has_word(&lower, word) {
                    findings.push(format!("{}: `{word}`; say {instead}", source.at(number)));
                }
            }
        }
    }
    report(&findings, "tests/tidy/words.txt lists these words.");
}

#[test]
fn lines_have_at_most_100_columns() {
    let mut findings = Vec::new();
    for source in read_by_people().filter(|source| source.has_extension(&["rs", "md"])) {
        let is_table = source.text.contains("rustfmt::skip");
        let mut is_code = false;
        for (number, line) in source.text.lines().enumerate() {
            is_code ^= text_of(line).starts_with("```");
            let is_long = line.chars().count() > WIDTH;
            if is_long && !is_table && !is_code && !is_unbreakable(line) {
                findings.push(source.at(number));
            }
        }
    }
    report(&findings, "Lines have at most 100 columns; tables and long texts may have more.");
}

fn read_by_people() -> impl Iterator<Item = &'static Source> {
    let data = ["tests/corpus/", "package-lock.json", "dap/schema", "tests/tidy/"];
    sources::all().iter().filter(move |source| {
        source.has_extension(&READ) && !data.iter().any(|data| source.path.contains(data))
    })
}

/// Rows of tables, pictures, links and texts in quotes cannot be broken, or only at a loss.
fn is_unbreakable(line: &str) -> bool {
    text_of(line).starts_with(['|', '['])
        || line.contains("](")
        || line.contains("://")
        || line.contains('"')
}

/// A line of a document or comment without what it begins with.
fn text_of(line: &str) -> &str {
    line.trim_start().trim_start_matches("//").trim_start_matches(['/', '!', ' '])
}

/// Whether the text has the word between other characters than letters.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        ![before, after].into_iter().flatten().any(|c| c.is_alphanumeric() || c == '_')
    })
}
