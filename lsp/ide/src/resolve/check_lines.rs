//! Names in the directives of FileCheck: variables, and symbols such as the function of a label.

use std::collections::BTreeMap;

use filecheck::{Mention, Options, VariableUse, run_lines};
use syntax::{Language, TextRange, find_all};

use super::entity::{Entity, Named};
use super::symbols::{Reference, line_start};
use super::usages::{Usage, file_around};
use crate::Document;

/// The directives of a document.
#[derive(Debug)]
struct CheckLines {
    /// All directives.
    mentions: Vec<Mention>,
    /// Their variables.
    variables: Vec<VariableUse>,
}

/// The longest text, in bytes, whose directives are read. Tests are far shorter.
const LONGEST: usize = 4 << 20;

/// The directives of a document; `None` if it has none.
fn check_lines(document: &Document) -> Option<CheckLines> {
    let text = document.text();
    if document.language() != Language::Mlir || text.len() > LONGEST {
        return None;
    }
    let text = text.slice(0..text.len());
    let mut options: Vec<Options> =
        run_lines(&text).iter().flat_map(filecheck::RunLine::options).collect();
    if options.is_empty() {
        options.push(Options::default());
    }
    let (mentions, variables) = filecheck::mentions(&text, &options);
    (!mentions.is_empty()).then_some(CheckLines { mentions, variables })
}

/// The first `RUN:` line of a test, without what continues it.
pub fn first_run_line(document: &Document) -> Option<TextRange> {
    let text = document.text();
    if document.language() != Language::Mlir || text.len() > LONGEST {
        return None;
    }
    find_all(text, 0..text.len(), "RUN:").next()?;
    let lines = run_lines(&text.slice(0..text.len()));
    lines.first().map(|line| line.range.clone())
}

/// The directives, if `offset` is in the text of a comment.
fn around(document: &Document, offset: usize) -> Option<CheckLines> {
    let start = line_start(document.text(), offset);
    find_all(document.text(), start..offset, "//").next()?;
    check_lines(document)
}

fn touches(range: &TextRange, offset: usize) -> bool {
    range.start <= offset && offset <= range.end
}

/// A variable of directives, with all places that mean it.
#[derive(Debug)]
pub(crate) struct CheckVariable {
    /// Its name, with `$` if it has one.
    pub(crate) name: String,
    /// The place that was asked for.
    pub(crate) range: TextRange,
    /// Its places, in order.
    pub(crate) usages: Vec<Usage>,
    /// The places of other variables of each name: from the first to the last.
    others: Vec<(String, TextRange)>,
}

/// The variable at `offset`.
pub(crate) fn check_variable(document: &Document, offset: usize) -> Option<CheckVariable> {
    let lines = around(document, offset)?;
    let variables = &lines.variables;
    let at = variables.iter().position(|variable| touches(&variable.range, offset))?;
    let groups = groups(variables);
    let own = groups[at];
    let (mut usages, mut spans) = (Vec::new(), BTreeMap::<usize, (String, TextRange)>::new());
    for (variable, &group) in variables.iter().zip(&groups) {
        let range = variable.range.clone();
        if group == own {
            usages.push(Usage { range, is_definition: variable.is_definition });
        } else {
            let span = spans.entry(group).or_insert_with(|| (variable.name.clone(), range.clone()));
            span.1.end = range.end;
        }
    }
    let VariableUse { name, range, .. } = variables[at].clone();
    Some(CheckVariable { name, range, usages, others: spans.into_values().collect() })
}

/// For each variable the first one that means the same.
fn groups(variables: &[VariableUse]) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..variables.len()).collect();
    for (index, variable) in variables.iter().enumerate() {
        for &definition in &variable.definitions {
            let (one, other) = (first_of(&groups, index), first_of(&groups, definition));
            groups[one.max(other)] = one.min(other);
        }
    }
    (0..groups.len()).map(|index| first_of(&groups, index)).collect()
}

fn first_of(groups: &[usize], index: usize) -> usize {
    let mut at = index;
    while groups[at] != at {
        at = groups[at];
    }
    at
}

/// Why a variable of directives is not renamed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariableNotRenamed {
    /// The command line defines it.
    #[error("`{0}` is not defined by a directive")]
    Undefined(String),
    /// The new name is none.
    #[error("`{0}` is no name of a variable: expected letters, digits and `_`")]
    NotAName(String),
    /// Another variable has the new name while this one lives.
    #[error("`{0}` is already a variable here")]
    Taken(String),
}

impl CheckVariable {
    /// The place of its first definition.
    pub(crate) fn definition(&self) -> Option<TextRange> {
        let definition = self.usages.iter().find(|usage| usage.is_definition)?;
        Some(definition.range.clone())
    }

    /// The new name as it would be written, or why it cannot be that.
    pub(crate) fn renamed(&self, new_name: &str) -> Result<String, VariableNotRenamed> {
        if self.definition().is_none() {
            return Err(VariableNotRenamed::Undefined(self.name.clone()));
        }
        let bare = new_name.strip_prefix('$').unwrap_or(new_name);
        let valid = bare.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !valid {
            return Err(VariableNotRenamed::NotAName(new_name.to_owned()));
        }
        let sigil = if self.name.starts_with('$') { "$" } else { "" };
        let wanted = format!("{sigil}{bare}");
        let (first, last) = (self.usages.first(), self.usages.last());
        let span =
            first.map_or(0, |usage| usage.range.start)..last.map_or(0, |usage| usage.range.end);
        let is_taken = self.others.iter().any(|(name, other)| {
            *name == wanted && other.start < span.end && span.start < other.end
        });
        if is_taken { Err(VariableNotRenamed::Taken(wanted)) } else { Ok(wanted) }
    }
}

/// The symbol that a directive names at `offset`.
pub(super) fn symbol_in_directive(document: &Document, offset: usize) -> Option<Named> {
    let lines = around(document, offset)?;
    let mention = lines.mentions.iter().find(|mention| touches(&mention.text, offset))?;
    let text = document.text().slice(mention.text.clone());
    let (range, name) = symbols(&text)
        .map(|(range, name)| {
            (mention.text.start + range.start..mention.text.start + range.end, name)
        })
        .find(|(range, _)| touches(range, offset))?;
    let reference = Reference { path: vec![name.to_owned()], ordinal: None, range: range.clone() };
    Some(Named { entity: Entity::Symbol(reference), range })
}

/// The function of the label that the directive at `offset` belongs to, and where the label stands.
pub(crate) fn label_above(document: &Document, offset: usize) -> Option<(String, usize)> {
    let lines = around(document, offset)?;
    let start = line_start(document.text(), offset);
    let here = lines
        .mentions
        .iter()
        .position(|mention| line_start(document.text(), mention.head.start) == start)?;
    let own = &lines.mentions[here];
    let label = lines.mentions[..=here].iter().rev().find(|mention| {
        mention.kind == filecheck::DirectiveKind::Label && mention.prefix == own.prefix
    })?;
    let text = document.text().slice(label.text.clone());
    let (_, name) = symbols(&text).next()?;
    Some((name.to_owned(), label.head.start))
}

/// The symbols that a text names, sigils included.
fn symbols(text: &str) -> impl Iterator<Item = (TextRange, &str)> {
    text.match_indices('@').filter_map(move |(at, _)| {
        let is_name = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
        let length = text[at + 1..].chars().take_while(is_name).count();
        // In `@f-` and `@f.` of an expression the last character is no part of the name.
        let name = text[at + 1..at + 1 + length].trim_end_matches(['-', '.']);
        let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        starts.then(|| (at..at + 1 + name.len(), name))
    })
}

/// The places of directives, in the file around `from`, that name a symbol; those of labels first.
pub(crate) fn symbol_in_directives(
    document: &Document,
    name: &str,
    from: usize,
) -> Vec<(bool, TextRange)> {
    let within = file_around(document, from);
    if find_all(document.text(), within.clone(), "//").next().is_none() {
        return Vec::new();
    }
    let Some(lines) = check_lines(document) else { return Vec::new() };
    let mut found = Vec::new();
    for mention in lines.mentions.iter().filter(|mention| within.contains(&mention.text.start)) {
        let text = document.text().slice(mention.text.clone());
        let is_label = mention.kind == filecheck::DirectiveKind::Label;
        for (range, _) in symbols(&text).filter(|(_, other)| *other == name) {
            let start = mention.text.start;
            found.push((is_label, start + range.start..start + range.end));
        }
    }
    found.sort_by_key(|(is_label, range)| (!is_label, range.start));
    found
}
