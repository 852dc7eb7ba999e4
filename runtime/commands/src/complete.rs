//! Completion of lines: commands, then what their arguments may be.

use std::ops::Range;
use std::path::Path;

use debug::{Debugger, FrameId};

use crate::session::Session;
use crate::table::{Completes, rows};
use crate::{lldb, parse, words};

/// A text that can be inserted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The text to insert.
    pub text: String,
    /// A short description.
    pub detail: String,
    /// The bytes of the line that it replaces.
    pub replaces: Range<usize>,
}

/// The most completions of one line.
const MOST: usize = 500;

/// The words of `catch`.
const TRAPS: [&str; 10] = [
    "nan",
    "inf",
    "overflow",
    "difference",
    "uninitialised",
    "dispatch nan",
    "dispatch inf",
    "off",
    "every",
    "operations",
];

/// The texts of levels.
const LEVELS: [&str; 5] = ["python", "model", "source", "vm", "disassembly"];

impl Session {
    /// What can be inserted into a line at `cursor`, a byte offset.
    #[must_use]
    pub fn completions(&self, debugger: &Debugger, line: &str, cursor: usize) -> Vec<Completion> {
        let cursor = (0..=cursor.min(line.len())).rev().find(|at| line.is_char_boundary(*at));
        let before = &line[..cursor.unwrap_or(0)];
        let mut found = self.words(before);
        if let Some((completes, start)) = arguments_of(before) {
            found.extend(self.arguments(debugger, completes, before, start));
        }
        found.truncate(MOST);
        found
    }

    /// The commands that begin as a line does.
    fn words(&self, before: &str) -> Vec<Completion> {
        let start = before.len() - before.trim_start().len();
        let given = &before[start..];
        let mut found: Vec<Completion> = Vec::new();
        let mut add = |name: &str, detail: &str| {
            if name.starts_with(given) && found.iter().all(|known| known.text != name) {
                let (text, detail) = (name.to_owned(), detail.to_owned());
                found.push(Completion { text, detail, replaces: start..before.len() });
            }
        };
        for row in rows() {
            // Short forms are no help to those who look for a word.
            let names = row.names.iter().filter(|name| name.len() > 2 || given == **name);
            names.for_each(|name| add(name, row.help));
        }
        if !given.is_empty() {
            lldb::phrases().for_each(|name| add(name, "as in lldb"));
        }
        self.scripts.defined.keys().for_each(|name| add(name, "defined here"));
        found
    }

    fn arguments(
        &self,
        debugger: &Debugger,
        completes: Completes,
        before: &str,
        start: usize,
    ) -> Vec<Completion> {
        let given = &before[start..];
        let program = debugger.program();
        let among = |texts: Vec<(String, String)>, start: usize| -> Vec<Completion> {
            let given = unquoted(&before[start..]);
            let fitting = texts.into_iter().filter(|(text, _)| unquoted(text).starts_with(given));
            let replaces = start..before.len();
            fitting
                .map(|(text, detail)| Completion { text, detail, replaces: replaces.clone() })
                .collect()
        };
        let named = |names: Vec<String>, detail: &str| {
            let texts = names.iter().map(|name| (words::quoted(name), detail.to_owned()));
            texts.collect::<Vec<_>>()
        };
        match completes {
            Completes::Nothing => Vec::new(),
            Completes::Values => self.values(debugger, before, start),
            Completes::Functions => among(named(program.function_names(), "function"), start),
            Completes::Places => {
                if let Some(at) = given.find(" if ") {
                    return self.values(debugger, before, start + at + 4);
                }
                if let Some(pattern) = given.strip_prefix("dispatch ") {
                    let names = program.dispatch_names().map(words::quoted_pattern);
                    let names = names.map(|name| (name, "dispatch".to_owned())).collect();
                    return among(names, before.len() - pattern.len());
                }
                let mut texts = named(program.function_names(), "function");
                let files = program.source_files().into_iter().map(|it| it.file);
                let files = files.map(|file| (words::quoted(&file) + ":", "file".to_owned()));
                texts.extend(files);
                texts.push(("dispatch ".to_owned(), "dispatches by name".to_owned()));
                among(texts, start)
            }
            Completes::Files => {
                let at = before.rfind(char::is_whitespace).map_or(start, |at| at + 1);
                let at = before[at..].rfind(['=', '@']).map_or(at, |more| at + more + 1);
                let mut found = among(files(&before[at..]), at);
                found.extend(self.values(debugger, before, start));
                found
            }
            Completes::Breakpoints => {
                let at = before.rfind(char::is_whitespace).map_or(start, |at| at + 1);
                let ids = debugger.breakpoints().iter();
                among(ids.map(|it| (it.id.0.to_string(), "breakpoint".to_owned())).collect(), at)
            }
            Completes::Commands => {
                let names = rows().map(|row| (row.names[0].to_owned(), row.help.to_owned()));
                among(names.collect(), start)
            }
            Completes::Levels => among(plain(&LEVELS), start),
            Completes::Traps => among(plain(&TRAPS), start),
        }
    }

    /// The values of the selected frame.
    fn values(&self, debugger: &Debugger, before: &str, start: usize) -> Vec<Completion> {
        // The letters of a format are no value.
        let expression = &before[start..];
        let frame: FrameId = self.frame();
        let found = debugger.machine().completions(frame, expression, expression.len());
        let moved = found.into_iter().map(|it| Completion {
            text: it.text,
            detail: it.detail,
            replaces: it.replaces.start + start..it.replaces.end + start,
        });
        moved.collect()
    }
}

/// Words without a description.
fn plain(texts: &[&str]) -> Vec<(String, String)> {
    texts.iter().map(|text| ((*text).to_owned(), String::new())).collect()
}

/// What the arguments of a line may be, and where they begin.
fn arguments_of(before: &str) -> Option<(Completes, usize)> {
    let line = before.trim_start();
    let (row, rest) = parse::with_row(line).ok()?;
    let start = before.len() - rest.len();
    let blank = rest.len() - rest.trim_start().len();
    // Without a blank, the command itself is still being written.
    if blank == 0 && !before[..start].ends_with(char::is_whitespace) {
        return None;
    }
    let mut at = start + blank;
    if before[at..].starts_with('/') {
        at += before[at..].find(char::is_whitespace)? + 1;
    }
    Some((row.completes, at))
}

/// A text without the quote that it may begin with.
fn unquoted(text: &str) -> &str {
    text.strip_prefix('@').unwrap_or(text).trim_start_matches(['"', '\''])
}

/// The files and directories that begin like a path.
fn files(given: &str) -> Vec<(String, String)> {
    let (directory, _) = given
        .rsplit_once('/')
        .map_or(("", given), |(directory, name)| (&given[..=directory.len()], name));
    let place = if directory.is_empty() { Path::new(".") } else { Path::new(directory) };
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let mut found: Vec<(String, String)> = Vec::new();
    for entry in entries.flatten().take(MOST) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let end = if is_directory { "/" } else { "" };
        found.push((format!("{directory}{name}{end}"), "file".to_owned()));
    }
    found.sort();
    found
}
