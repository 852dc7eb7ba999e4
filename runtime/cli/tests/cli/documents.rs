//! Transcripts in the documents are real: this test runs every `console` block of these pages in a
//! copy of the `example` folder and compares the output.
//!
//! A block has lines `$ command`, each followed by its output. `iree-dbg debug` may be followed by
//! lines `(iree-dbg) command` with their output. In an output `…` stands for any text, and alone on
//! a line for any number of lines. A command without output must only succeed. The blocks of a page
//! share one folder, in their order.

use std::path::{Path, PathBuf};

use support::text;

use crate::program::IREE_DBG;

const PAGES: [&str; 5] = [
    "README.md",
    "runtime/cli/README.md",
    "runtime/debug/README.md",
    "runtime/abi/README.md",
    "CONTRIBUTING.md",
];

const PROMPT: &str = "(iree-dbg) ";

#[test]
fn transcripts_in_documents_are_real() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in PAGES {
        let text = std::fs::read_to_string(repository().join(page)).expect("the page is there");
        let folder = copy_of_examples();
        for command in commands_of(&text) {
            count += 1;
            if let Err(reason) = command.check(folder.path()) {
                wrong.push(format!("{page}:{}: $ {}\n{reason}", command.line, command.text));
            }
        }
    }
    assert!(count > 10, "only {count} commands in the pages");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A command of a page with its documented output.
struct Shown {
    line: usize,
    text: String,
    output: Vec<String>,
}

impl Shown {
    fn check(&self, folder: &Path) -> Result<(), String> {
        let mut words = words_of(&self.text);
        if words[0] == "cd" {
            return Ok(());
        }
        assert_eq!(words.remove(0), "iree-dbg", "pages show our own commands");
        let script = folder.join("session.script");
        if words[0] == "debug" {
            let commands = self.output.iter().filter_map(|line| line.strip_prefix(PROMPT));
            let commands: Vec<&str> = commands.collect();
            std::fs::write(&script, commands.join("\n")).expect("the script is written");
            words.extend(["--batch".to_owned(), "-x".to_owned(), script.display().to_string()]);
        }
        let output = IREE_DBG
            .command()
            .args(&words)
            .current_dir(folder)
            .output()
            .expect("the command starts");
        let mut text = text(&output.stdout);
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        if self.output.is_empty() {
            return if output.status.success() { Ok(()) } else { Err(text) };
        }
        let printed: Vec<&str> = text.lines().collect();
        let shown: Vec<&str> = self.output.iter().map(String::as_str).collect();
        if matches(&shown, &printed) { Ok(()) } else { Err(text) }
    }
}

fn commands_of(page: &str) -> Vec<Shown> {
    let mut commands: Vec<Shown> = Vec::new();
    let mut is_console = false;
    for (number, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            is_console = line == "```console";
        } else if let Some(text) = line.strip_prefix("$ ").filter(|_| is_console) {
            commands.push(Shown { line: number + 1, text: text.to_owned(), output: Vec::new() });
        } else if is_console {
            let command = commands.last_mut().expect("a block begins with a command");
            command.output.push(line.to_owned());
        }
    }
    commands
}

/// The words of a command, split as a shell does, without comments.
fn words_of(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in command.chars() {
        let word = words.last_mut().expect("there is a word");
        match (c, quote) {
            ('#', None) if word.is_empty() => break,
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (' ', None) if !word.is_empty() => words.push(String::new()),
            (' ', None) => {}
            (c, _) => word.push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether lines match the documented ones, where a line `…` stands for any number of lines.
fn matches(shown: &[&str], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((&"…", rest)) => (0..=printed.len()).any(|skip| matches(rest, &printed[skip..])),
        Some((line, rest)) => {
            let Some((first, others)) = printed.split_first() else { return false };
            is_like(line, first.trim_end()) && matches(rest, others)
        }
    }
}

/// Whether a line matches a documented one, where `…` stands for any text.
fn is_like(shown: &str, printed: &str) -> bool {
    let Some((start, rest)) = shown.split_once('…') else { return shown == printed };
    let Some(left) = printed.strip_prefix(start) else { return false };
    let mut ends = left.char_indices().map(|(at, _)| at).chain([left.len()]);
    ends.any(|at| is_like(rest, &left[at..]))
}

fn copy_of_examples() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let examples = repository().join("runtime/cli/example");
    for entry in std::fs::read_dir(examples).expect("the examples") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a file has a name");
        std::fs::copy(&path, folder.path().join(name)).expect("the example is copied");
    }
    folder
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
