//! Comparing an output with directives. The order of the steps is FileCheck's: labels divide the
//! output first; then each part is compared on its own.

use std::ops::Range;

use crate::directives::{Check, CheckFile, Directive, DirectiveKind};
use crate::options::Options;
use crate::outcome::{Failure, Outcome};
use crate::pattern::canonical;
use crate::search::{Match, Step, Values, find, steps, steps_matched};

/// Compares an output with the directives of `file`.
pub fn compare(file: &CheckFile, options: &Options, output: &str) -> Outcome {
    let output = output.replace("\r\n", "\n");
    let text = if options.strict_whitespace { output.clone() } else { canonical(&output) };
    let mut outcome = Outcome::default();
    if output.is_empty() && !options.allows_empty {
        let message = "the output is empty".into();
        outcome.failures.push(Failure { directive: None, message, line: None });
        return outcome;
    }
    let mut values = Values::default();
    for (name, value) in &options.defined {
        values.texts.insert(name.clone(), value.clone().into_bytes());
    }
    let text = text.as_bytes();
    Comparison { file, options, text, values, outcome }.run()
}

/// Why a check failed; the failure is in the outcome already.
struct Failed;

struct Comparison<'a> {
    file: &'a CheckFile,
    options: &'a Options,
    text: &'a [u8],
    values: Values,
    outcome: Outcome,
}

/// The most bytes of a line that a message shows.
const SHOWN: usize = 120;
/// The most lines that are searched for the nearest one.
const NEAR: usize = 400;

impl Comparison<'_> {
    fn run(mut self) -> Outcome {
        let checks = &self.file.checks;
        let (mut first, mut rest) = (0, 0..self.text.len());
        loop {
            let is_label = |check: &Check| {
                check.at.is_some_and(|at| self.file.directives[at].kind == DirectiveKind::Label)
            };
            let label = checks[first..].iter().position(is_label).map(|at| first + at);
            let (region, last) = match label {
                None => (rest.clone(), checks.len()),
                Some(label) => {
                    let Ok(found) = self.matching(&checks[label], rest.clone(), true) else {
                        break;
                    };
                    let region = rest.start..found.end;
                    rest.start = found.end;
                    (region, label + 1)
                }
            };
            if first != 0 && self.options.has_variable_scopes {
                self.values.forget_local();
            }
            let mut region = region;
            for check in &checks[first..last] {
                match self.matching(check, region.clone(), false) {
                    Ok(found) => region.start = found.end,
                    Err(Failed) => break,
                }
            }
            if label.is_none() {
                break;
            }
            first = last;
        }
        self.outcome
    }

    /// Matches a check in a region of the output. While labels are searched, what stands before
    /// them is left out.
    fn matching(
        &mut self,
        check: &Check,
        region: Range<usize>,
        searches_label: bool,
    ) -> Result<Range<usize>, Failed> {
        let mut excluded = Vec::new();
        let mut start = region.start;
        if !searches_label {
            start = self.unordered(&check.before, region.clone(), &mut excluded)?;
        }
        let Some(index) = check.at else {
            self.excludes(&excluded, start..region.end)?;
            return Ok(region.end..region.end);
        };
        let directive = &self.file.directives[index];
        let count = if let DirectiveKind::Plain(count) = directive.kind { count } else { 1 };
        let mut found: Option<Range<usize>> = None;
        for number in 1..=count {
            let from = found.as_ref().map_or(start, |found| found.end);
            let Some(next) = self.search(index, from..region.end)? else {
                return Err(self.missing(index, from..region.end, number, count));
            };
            let begin = found.map_or(next.start, |found| found.start);
            found = Some(begin..next.end);
        }
        let found = found.unwrap_or(start..start);
        if searches_label {
            return Ok(found);
        }
        self.on_line(index, start..found.start)?;
        self.excludes(&excluded, start..found.start)?;
        self.outcome.matches.push((index, found.clone()));
        Ok(found)
    }

    fn fail(&mut self, directive: usize, message: String, line: Option<usize>) -> Failed {
        self.outcome.failures.push(Failure { directive: Some(directive), message, line });
        Failed
    }

    /// The first match of a directive in a region, whose variables are then defined.
    fn search(
        &mut self,
        index: usize,
        region: Range<usize>,
    ) -> Result<Option<Range<usize>>, Failed> {
        let directive = &self.file.directives[index];
        let text = &self.text[region.clone()];
        if directive.kind == DirectiveKind::Empty {
            return Ok(empty_line(text).map(|at| region.start + at..region.start + at));
        }
        let made = match steps(&directive.pattern, &self.values) {
            Ok(made) => made,
            Err(why) => return Err(self.fail(index, why.to_string(), None)),
        };
        let found = if self.options.full_lines && directive.kind != DirectiveKind::Not {
            full_line(&made, text, self.options.strict_whitespace)
        } else {
            find(&made, text)
        };
        let Some(found) = found else { return Ok(None) };
        found.define(&directive.pattern, text, &mut self.values);
        Ok(Some(region.start + found.range.start..region.start + found.range.end))
    }

    /// Matches `-DAG` in any order, and leaves the `-NOT` after them in `excluded`. Returns where
    /// the search goes on.
    fn unordered(
        &mut self,
        before: &[usize],
        region: Range<usize>,
        excluded: &mut Vec<usize>,
    ) -> Result<usize, Failed> {
        let kind = |index: usize| self.file.directives[index].kind;
        let mut start = region.start;
        let mut taken: Vec<Range<usize>> = Vec::new();
        for (place, &index) in before.iter().enumerate() {
            if kind(index) == DirectiveKind::Not {
                excluded.push(index);
                continue;
            }
            let (mut from, mut next) = (start, 0);
            loop {
                let Some(found) = self.search(index, from..region.end)? else {
                    return Err(self.missing(index, from..region.end, 1, 1));
                };
                while next < taken.len() && found.start >= taken[next].end {
                    next += 1;
                }
                if next < taken.len() && taken[next].start < found.end {
                    from = taken[next].end;
                    next += 1;
                    continue;
                }
                self.outcome.matches.push((index, found.clone()));
                taken.insert(next, found);
                break;
            }
            let ends_group = before
                .get(place + 1)
                .is_none_or(|&next| self.file.directives[next].kind == DirectiveKind::Not);
            if ends_group {
                let first = taken.first().map_or(start, |range| range.start);
                if !excluded.is_empty() {
                    self.excludes(excluded, start..first)?;
                    excluded.clear();
                }
                start = taken.last().map_or(start, |range| range.end);
                taken.clear();
            }
        }
        Ok(start)
    }

    /// Whether a match after `skipped` is on the line that its directive asks for.
    fn on_line(&mut self, index: usize, skipped: Range<usize>) -> Result<(), Failed> {
        let kind = self.file.directives[index].kind;
        let wanted = match kind {
            DirectiveKind::Next | DirectiveKind::Empty => 1,
            DirectiveKind::Same => 0,
            _ => return Ok(()),
        };
        let newlines = memchr::memchr_iter(b'\n', &self.text[skipped.clone()]).count();
        if newlines == wanted {
            return Ok(());
        }
        let (earlier, line) = (self.line_of(skipped.start), self.line_of(skipped.end));
        let shown = self.line_text(line);
        let wrong = match (kind, newlines) {
            (DirectiveKind::Same, _) => format!(
                "this matches only line {line}, `{shown}`, not the rest of line {earlier}: `{}`",
                self.line_text(earlier)
            ),
            (_, 0) => format!("this matches line {line}, as the one before it does: `{shown}`"),
            _ => format!(
                "this matches only line {line}, `{shown}`, not line {}: `{}`",
                earlier + 1,
                self.line_text(earlier + 1)
            ),
        };
        Err(self.fail(index, wrong, Some(line)))
    }

    fn excludes(&mut self, excluded: &[usize], region: Range<usize>) -> Result<(), Failed> {
        let mut result = Ok(());
        for &index in excluded {
            if let Some(found) = self.search(index, region.clone())? {
                let line = self.line_of(found.start);
                let message =
                    format!("line {line} has what it must not: `{}`", self.line_text(line));
                result = Err(self.fail(index, message, Some(line)));
            }
        }
        result
    }

    /// The failure of a directive that matches nowhere in a region. Names the nearest line.
    fn missing(&mut self, index: usize, region: Range<usize>, number: u32, count: u32) -> Failed {
        let directive = &self.file.directives[index];
        let mut message = match (count, region.start) {
            (1, 0) => "no line of the output matches".to_owned(),
            (1, at) => format!("no line of the output matches from line {} on", self.line_of(at)),
            _ => format!("of {count} matches, the output has {}", number - 1),
        };
        if region.end < self.text.len() {
            message += &format!(", before the next label in line {}", self.line_of(region.end));
        }
        let mut line = None;
        if let Ok(made) = steps(&directive.pattern, &self.values) {
            let near = self.nearest(&made, region.clone());
            // What stands at another place is more helpful than what is only similar.
            let elsewhere = find(&made, self.text).map(|found| found.range.start);
            let elsewhere = elsewhere.filter(|at| !region.contains(at));
            if let Some(at) = elsewhere {
                let number = self.line_of(at);
                let place = if at < region.start { "earlier" } else { "after that" };
                message += &format!("; line {number} does, {place}: `{}`", self.line_text(number));
                line = Some(number);
            } else if let Some((number, matched)) = near {
                message += &format!("; the nearest is line {number}: `{}`", self.line_text(number));
                message += &where_it_ends(directive, &made, matched);
                line = Some(number);
            }
        }
        self.fail(index, message, line)
    }

    /// The line that fulfils most of a directive, and how many of its steps.
    fn nearest(&self, made: &[Step<'_>], region: Range<usize>) -> Option<(usize, usize)> {
        let text = &self.text[region.clone()];
        let first = self.line_of(region.start);
        let wanted = words(made);
        let mut best: Option<(usize, usize, usize)> = None;
        for (offset, line) in text.split(|&byte| byte == b'\n').take(NEAR).enumerate() {
            let line = &line[..line.len().min(4096)];
            let there = words_of(line);
            let common = wanted.iter().filter(|word| there.contains(word)).count();
            let matched = steps_matched(made, line);
            let score = common * 2 + matched;
            if common * 2 >= wanted.len().max(1) && best.is_none_or(|(most, ..)| score > most) {
                best = Some((score, first + offset, matched));
            }
        }
        best.map(|(_, line, matched)| (line, matched))
    }

    /// The line, from 1, that holds a place of the output.
    fn line_of(&self, at: usize) -> usize {
        memchr::memchr_iter(b'\n', &self.text[..at.min(self.text.len())]).count() + 1
    }

    fn line_text(&self, line: usize) -> String {
        let text = self.text.split(|&byte| byte == b'\n').nth(line - 1).unwrap_or_default();
        let text = String::from_utf8_lossy(text).trim().to_owned();
        match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }
}

/// Where the first empty line begins after the first newline.
fn empty_line(text: &[u8]) -> Option<usize> {
    let is_one = |&at: &usize| text.get(at + 1).is_none_or(|&byte| byte == b'\n');
    memchr::memchr_iter(b'\n', text).find(is_one).map(|at| at + 1)
}

/// The first line that a directive matches as a whole.
fn full_line(made: &[Step<'_>], text: &[u8], is_strict: bool) -> Option<Match> {
    use std::borrow::Cow::Borrowed;
    let (blank, start, end) = (
        crate::regex::Regex::Repeat {
            of: Box::new(crate::regex::Regex::Literal(b" ".to_vec())),
            least: 0,
            most: None,
        },
        crate::regex::Regex::LineStart,
        crate::regex::Regex::LineEnd,
    );
    let mut all = vec![Step::Expression(Borrowed(&start))];
    if !is_strict {
        all.push(Step::Expression(Borrowed(&blank)));
    }
    let added = all.len();
    all.extend(made.iter().map(|step| match step {
        Step::Literal(text) => Step::Literal(text.clone()),
        Step::Expression(regex) => Step::Expression(Borrowed(regex)),
        Step::Capture(regex) => Step::Capture(Borrowed(regex)),
        Step::Same(index) => Step::Same(index + added),
    }));
    if !is_strict {
        all.push(Step::Expression(Borrowed(&blank)));
    }
    all.push(Step::Expression(Borrowed(&end)));
    find(&all, text).map(|found| found.without(added))
}

/// The words of a directive's literals.
fn words(made: &[Step<'_>]) -> Vec<Vec<u8>> {
    let literals = made.iter().filter_map(|step| match step {
        Step::Literal(text) => Some(text),
        _ => None,
    });
    literals.flat_map(|text| words_of(text)).collect()
}

fn words_of(text: &[u8]) -> Vec<Vec<u8>> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.@%^#!".contains(byte);
    let words = text.split(|byte| !is_word(byte)).filter(|word| word.len() > 1);
    words.take(200).map(<[u8]>::to_vec).collect()
}

/// Which part of a directive is the first that a line does not fulfil.
fn where_it_ends(directive: &Directive, made: &[Step<'_>], matched: usize) -> String {
    let piece = directive.pattern.pieces.get(matched);
    match (made.get(matched), piece) {
        (Some(Step::Literal(text)), Some(crate::pattern::Piece::Use(name))) => {
            format!(", where `[[{name}]]` is `{}`", String::from_utf8_lossy(text).trim())
        }
        (Some(Step::Literal(text)), _) if matched > 0 => {
            format!(", which lacks `{}` at its place", String::from_utf8_lossy(text).trim())
        }
        _ => String::new(),
    }
}
