//! The commands of `RUN:` lines, as lit's shell would read them.
//!
//! Only pipes are known, `2>&1`, `not`, and one pair of parentheses around a pipe. Nothing is
//! expanded but `%s`, `%S`, `%p` and `%t`; whatever else a shell would act on is refused.

use std::ops::Range;

/// A program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Its name, as written.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Whether it must fail (`not`).
    pub must_fail: bool,
    /// Whether its messages are part of its output (`2>&1`).
    pub merges_messages: bool,
}

/// A fault of a `RUN:` line, or what is not known here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunLineError {
    /// The shell would act on it in a way that is not known here.
    #[error("`{0}` is not known here")]
    Unknown(String),
    /// A character of the shell that makes more than a pipe.
    #[error("`{0}` is not known here: only pipes of programs are run")]
    NoPipe(char),
    /// A quotation or a parenthesis is not closed.
    #[error("a `{0}` is not closed")]
    Unclosed(char),
    /// A `\` escapes nothing.
    #[error("a `\\` stands at the end")]
    EscapeAtEnd,
    /// Between pipes stands no program.
    #[error("a program is missing")]
    NoProgram,
    /// `not` has no program.
    #[error("a program is missing after `not`")]
    NothingAfterNot,
    /// The command sets a variable of the environment.
    #[error("`{0}` sets a variable, which is not known here")]
    SetsVariable(String),
    /// `)` is followed by more than a pipe.
    #[error("after `)` only a pipe is known here")]
    AfterClose,
    /// `2>&1` is followed by another argument.
    #[error("`{0}` after `2>&1` is not known here")]
    AfterMerge(String),
    /// More parentheses than one pair around a pipe.
    #[error("these parentheses are not known here")]
    Parentheses,
}

/// A `RUN:` line, with the lines that continue it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLine {
    /// From `RUN:` to the end of its first line.
    pub range: Range<usize>,
    /// The end of its last line.
    pub end: usize,
    /// What it runs, in one line.
    pub text: String,
}

/// The values of `%s` and others.
struct Places<'a> {
    source: &'a str,
    folder: &'a str,
    scratch: &'a str,
}

const KEYWORD: &str = "RUN:";

/// All `RUN:` lines of a text.
pub fn run_lines(text: &str) -> Vec<RunLine> {
    let mut found: Vec<RunLine> = Vec::new();
    let mut start = 0;
    let mut continues = false;
    for content in text.split_inclusive('\n') {
        let line = content.trim_end_matches(['\n', '\r']);
        let comment = line.find("//");
        let keyword = comment.and_then(|at| Some(at + line[at..].find(KEYWORD)?));
        let keyword = keyword.filter(|&at| {
            !line[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        });
        if let Some(at) = keyword {
            let written = line[at + KEYWORD.len()..].trim();
            let (written, goes_on) = match written.strip_suffix('\\') {
                Some(before) => (before.trim_end(), true),
                None => (written, false),
            };
            match found.last_mut().filter(|_| continues) {
                Some(line_before) => {
                    line_before.text.push(' ');
                    line_before.text.push_str(written);
                    line_before.end = start + line.len();
                }
                None => found.push(RunLine {
                    range: start + at..start + line.len(),
                    end: start + line.len(),
                    text: written.to_owned(),
                }),
            }
            continues = goes_on;
        }
        start += content.len();
    }
    found
}

impl RunLine {
    /// The commands of the pipe. `source` is the test's file, `folder` its folder, `scratch` a name
    /// for files that it makes.
    ///
    /// # Errors
    /// What is not known here.
    pub fn commands(
        &self,
        source: &str,
        folder: &str,
        scratch: &str,
    ) -> Result<Vec<Command>, RunLineError> {
        let places = Places { source, folder, scratch };
        pipe(words(&self.text, &places)?)
    }

    /// The options of its FileChecks, which need no place.
    pub fn options(&self) -> Vec<crate::Options> {
        let Ok(commands) = self.commands("%s", "%S", "%t") else { return Vec::new() };
        let checks = commands.iter().filter(|command| command.program == "FileCheck");
        checks
            .filter_map(|command| crate::Options::read(&command.arguments).ok())
            .map(|(options, _)| options)
            .collect()
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Word {
    Text(String),
    Pipe,
    MergeMessages,
    Open,
    Close,
}

fn words(text: &str, places: &Places<'_>) -> Result<Vec<Word>, RunLineError> {
    let mut found = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let ends_word = matches!(c, ' ' | '\t' | '|' | '(' | ')');
        if ends_word && let Some(done) = word.take() {
            found.push(Word::Text(done));
        }
        let mut length = c.len_utf8();
        match c {
            ' ' | '\t' => {}
            '|' if rest.starts_with("||") => return Err(RunLineError::Unknown("||".into())),
            '|' if rest.starts_with("|&") => return Err(RunLineError::Unknown("|&".into())),
            '|' => found.push(Word::Pipe),
            '(' => found.push(Word::Open),
            ')' => found.push(Word::Close),
            '2' if word.is_none() && is_merge(rest) => {
                found.push(Word::MergeMessages);
                length = 4;
            }
            '>' | '<' | '&' | ';' | '`' | '$' | '#' if c != '#' || word.is_none() => {
                return Err(RunLineError::NoPipe(c));
            }
            '\'' => {
                let inner = &rest[1..];
                let end = inner.find('\'').ok_or(RunLineError::Unclosed('\''))?;
                expand(&inner[..end], places, word.get_or_insert_default())?;
                length = end + 2;
            }
            '"' => length = quoted(rest, places, word.get_or_insert_default())?,
            '\\' => {
                let escaped = rest[1..].chars().next().ok_or(RunLineError::EscapeAtEnd)?;
                word.get_or_insert_default().push(escaped);
                length = 1 + escaped.len_utf8();
            }
            '%' => length = place(rest, places, word.get_or_insert_default())?,
            c => word.get_or_insert_default().push(c),
        }
        rest = &rest[length..];
    }
    found.extend(word.map(Word::Text));
    Ok(found)
}

fn is_merge(rest: &str) -> bool {
    let after = rest.strip_prefix("2>&1");
    after.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '|', ')']))
}

/// Reads `"…"` at the start of `rest`; returns its length.
fn quoted(rest: &str, places: &Places<'_>, word: &mut String) -> Result<usize, RunLineError> {
    let mut at = 1;
    while let Some(c) = rest[at..].chars().next() {
        match c {
            '"' => return Ok(at + 1),
            '$' | '`' => return Err(RunLineError::Unknown(c.into())),
            '\\' => {
                let escaped = rest[at + 1..].chars().next().ok_or(RunLineError::Unclosed('"'))?;
                if !matches!(escaped, '"' | '\\' | '$' | '`') {
                    word.push('\\');
                }
                word.push(escaped);
                at += 1 + escaped.len_utf8();
            }
            '%' => at += place(&rest[at..], places, word)?,
            c => {
                word.push(c);
                at += c.len_utf8();
            }
        }
    }
    Err(RunLineError::Unclosed('"'))
}

fn expand(text: &str, places: &Places<'_>, word: &mut String) -> Result<(), RunLineError> {
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        word.push_str(&rest[..at]);
        let length = place(&rest[at..], places, word)?;
        rest = &rest[at + length..];
    }
    word.push_str(rest);
    Ok(())
}

/// Expands `%s` and others at the start of `rest`; returns the length.
fn place(rest: &str, places: &Places<'_>, word: &mut String) -> Result<usize, RunLineError> {
    let meant = match rest.as_bytes().get(1) {
        Some(b's') => places.source,
        Some(b'S' | b'p') => places.folder,
        Some(b't') => places.scratch,
        Some(b'%') => "%",
        Some(b'{' | b'(') => return Err(RunLineError::Unknown("%{…}".into())),
        Some(byte) if byte.is_ascii_alphabetic() => {
            return Err(RunLineError::Unknown(format!("%{}", *byte as char)));
        }
        _ => {
            word.push('%');
            return Ok(1);
        }
    };
    word.push_str(meant);
    Ok(2)
}

fn pipe(words: Vec<Word>) -> Result<Vec<Command>, RunLineError> {
    let mut commands = Vec::new();
    let mut current: Vec<String> = Vec::new();
    let (mut merges, mut depth, mut after_close) = (false, 0, false);
    let mut end = |current: &mut Vec<String>, merges: &mut bool| {
        let mut arguments = std::mem::take(current).into_iter();
        let mut program = arguments.next().ok_or(RunLineError::NoProgram)?;
        let must_fail = program == "not";
        if must_fail {
            program = arguments.next().ok_or(RunLineError::NothingAfterNot)?;
        }
        if program.contains('=') {
            return Err(RunLineError::SetsVariable(program));
        }
        let merges_messages = std::mem::take(merges);
        let arguments = arguments.collect();
        commands.push(Command { program, arguments, must_fail, merges_messages });
        Ok(())
    };
    for word in words {
        if after_close && word != Word::Pipe {
            return Err(RunLineError::AfterClose);
        }
        after_close = false;
        match word {
            Word::Text(text) if merges => {
                return Err(RunLineError::AfterMerge(text));
            }
            Word::Text(text) => current.push(text),
            Word::Pipe => end(&mut current, &mut merges)?,
            Word::MergeMessages => merges = true,
            Word::Open if depth == 0 && current.is_empty() => depth += 1,
            Word::Close if depth == 1 => {
                depth = 0;
                after_close = true;
            }
            Word::Open | Word::Close => return Err(RunLineError::Parentheses),
        }
    }
    end(&mut current, &mut merges)?;
    if depth != 0 {
        return Err(RunLineError::Unclosed('('));
    }
    Ok(commands)
}

#[cfg(test)]
mod tests {
    use super::run_lines;

    #[test]
    fn commands_and_what_is_refused() {
        let text = "// RUN: (iree-opt --a='b c' %s \\\n// RUN:   | not iree-opt - 2>&1) | FileCheck %s --check-prefix=A\nx\n// RUN: cat %s\n";
        let lines = run_lines(text);
        assert_eq!(lines.len(), 2);
        let commands = lines[0].commands("x.mlir", ".", "/tmp/t").expect("commands");
        assert_eq!(commands[0].arguments, ["--a=b c", "x.mlir"]);
        assert!(commands[1].must_fail && commands[1].merges_messages);
        assert_eq!(commands[2].arguments, ["x.mlir", "--check-prefix=A"]);
        assert_eq!(lines[0].options()[0].prefixes, ["A"]);
        for refused in [
            "a; b",
            "a > b",
            "a && b",
            "a `b`",
            "a $(b)",
            "a \"$B\"",
            "a || b",
            "A=b c",
            "a | ",
            "a %{x}",
            "a < b",
            "a & b",
            "((a))",
            "a (b)",
            "a |& b",
            "a %PYTHON",
            "a 'b",
        ] {
            let line = &run_lines(&format!("// RUN: {refused}"))[0];
            assert!(line.commands("s", "S", "t").is_err(), "{refused}");
        }
    }
}
