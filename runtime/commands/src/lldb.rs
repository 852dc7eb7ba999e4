//! lldb's words: `breakpoint set -n NAME`, `thread step-over`, `frame variable`.
//!
//! A phrase is translated into a line of our own commands. Its words may be abbreviated; a first
//! word that is one of our commands too (`b`, `frame`, `process`) is lldb's only with a second word
//! that lldb has.

use debug::{BreakpointOptions, HitCondition};

use crate::arguments::read_place;
use crate::command::{BreakRequest, Command, Place};
use crate::mistake::Mistake;
use crate::words;

/// What a phrase means.
#[derive(PartialEq, Debug)]
pub(crate) enum Translated {
    /// A line in our own words.
    Line(String),
    Command(Command),
}

/// Phrases, and what they are here. Those with `=` take no shorter first word, as it is ours.
const PHRASES: &[(&str, &str)] = &[
    ("breakpoint list", "info breakpoints"),
    ("breakpoint delete", "delete"),
    ("breakpoint enable", "enable"),
    ("breakpoint disable", "disable"),
    ("watchpoint list", "info breakpoints"),
    ("watchpoint delete", "delete"),
    ("watchpoint set variable", "watch"),
    ("watchpoint set expression", "watch"),
    ("thread backtrace", "backtrace"),
    ("thread step-over", "next"),
    ("thread step-in", "step"),
    ("thread step-out", "finish"),
    ("thread step-inst", "stepi"),
    ("thread step-inst-over", "nexti"),
    ("thread continue", "continue"),
    ("thread until", "until"),
    ("thread jump", "jump"),
    ("thread list", "info threads"),
    ("process launch", "run"),
    ("process continue", "continue"),
    ("process kill", "kill"),
    ("process status", "info program"),
    ("frame select", "frame"),
    ("frame info", "info frame"),
    ("register read", "info registers"),
    ("target variable", "globals"),
    ("target modules list", "info modules"),
    ("image list", "info modules"),
    ("source list", "list"),
    ("source info", "info line"),
    ("command source", "source"),
    ("settings set target.run-args", "set args"),
    ("settings show target.run-args", "show args"),
];

/// The phrases, for completion.
pub(crate) fn phrases() -> impl Iterator<Item = &'static str> {
    let others = ["breakpoint set", "frame variable", "memory read", "expression"];
    PHRASES.iter().map(|(theirs, _)| *theirs).chain(others)
}

/// A line in lldb's words, translated; None if it is not one.
pub(crate) fn translated(line: &str) -> Result<Option<Translated>, Mistake> {
    if let Some(rest) = phrase(line, "breakpoint set") {
        return breakpoint(rest).map(|command| Some(Translated::Command(command)));
    }
    if let Some(rest) = phrase(line, "frame variable").or_else(|| exact(line, "v")) {
        let line = if rest.is_empty() { "locals".to_owned() } else { format!("print {rest}") };
        return Ok(Some(Translated::Line(line)));
    }
    if let Some(rest) = exact(line, "expression").or_else(|| exact(line, "expr")) {
        let rest = rest.strip_prefix("--").unwrap_or(rest).trim();
        return Ok(Some(Translated::Line(format!("print {rest}"))));
    }
    if let Some(rest) = phrase(line, "memory read") {
        return Ok(Some(Translated::Line(format!("x {rest}"))));
    }
    let found = PHRASES.iter().find_map(|(theirs, ours)| Some((phrase(line, theirs)?, ours)));
    Ok(found.map(|(rest, ours)| Translated::Line(format!("{ours} {rest}"))))
}

/// What follows a whole word.
fn exact<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let (first, rest) = words::first(line);
    (first == word).then_some(rest)
}

/// What follows a phrase, each word of which may be cut to two letters, all but the first to one.
fn phrase<'a>(line: &'a str, theirs: &str) -> Option<&'a str> {
    let mut rest = line;
    for (number, word) in theirs.split(' ').enumerate() {
        let (given, after) = words::first(rest);
        let least = if number == 0 { 2 } else { 1 };
        // Of `br list` and `br l`, only the first is sure to be lldb's.
        let is_ours_too = number == 1 && matches!(words::first(line).0, "br" | "break");
        let is_option = after.starts_with('-') && word == "set";
        if given.len() < least
            || !word.starts_with(given)
            || (is_ours_too && given != word && !is_option)
        {
            return None;
        }
        rest = after;
    }
    Some(rest)
}

/// `-n NAME`, `-f FILE -l LINE -u COLUMN`, `-a ADDRESS`, `-c CONDITION`, `-i COUNT`, `-o true`.
fn breakpoint(text: &str) -> Result<Command, Mistake> {
    let mut request = BreakRequest::default();
    let (mut file, mut line, mut column) = (None, None, None);
    let mut given = words::split(text)?.into_iter();
    while let Some(word) = given.next() {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag.to_owned(), Some(value.into())),
            _ => (word, None),
        };
        let mut value = || value.clone().or_else(|| given.next());
        let mut needed = || value().ok_or_else(|| Mistake::NeedsValue(flag.clone()));
        let number = |text: String| text.parse::<u32>().map_err(|_| Mistake::NotANumber(text));
        match flag.as_str() {
            "-n" | "--name" | "-F" | "--fullname" | "-b" | "--basename" => {
                request.place = Some(Place::Function(debug::bare_symbol(&needed()?)));
            }
            "-f" | "--file" => file = Some(needed()?),
            "-l" | "--line" => line = Some(number(needed()?)?),
            "-u" | "--column" => column = Some(number(needed()?)?),
            "-a" | "--address" => request.place = Some(read_place(&format!("*{}", needed()?))?),
            "-c" | "--condition" => request.options.condition = Some(needed()?),
            "-i" | "--ignore-count" => request.ignored = number(needed()?)?.into(),
            "-o" | "--one-shot" => request.is_temporary = needed()? != "false",
            "-r" | "--func-regex" | "-p" | "--source-pattern-regexp" => {
                return Err(Mistake::NotAGlob(flag));
            }
            other => {
                return Err(Mistake::UnknownFlag(other.to_owned()));
            }
        }
    }
    if let Some(line) = line {
        request.place = Some(match file {
            Some(file) => Place::FileLine(file, line, column),
            None => Place::Line(line, column),
        });
    }
    if request.place.is_none() {
        return Err(Mistake::Missing("break where? -n NAME, or -f FILE -l LINE"));
    }
    request.options = BreakpointOptions { hit_condition: HitCondition::Always, ..request.options };
    Ok(Command::Break(request))
}
