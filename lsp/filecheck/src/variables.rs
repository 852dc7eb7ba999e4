//! The variables of directives, for editors: where each is defined and used.
//!
//! A variable lives from its definition to the next one of its name that the same FileCheck reads.
//! With `--enable-var-scope`, a label ends its life unless its name begins with `$`.

use std::ops::Range;

use crate::directives::{DirectiveKind, scan};
use crate::options::Options;
use crate::pattern::Pattern;

/// A variable that a directive names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableUse {
    /// The name, with `$` if it has one.
    pub name: String,
    /// Its place in the text.
    pub range: Range<usize>,
    /// Whether the directive defines it.
    pub is_definition: bool,
    /// The indices, among the uses, of the definitions that may be meant: one for each FileCheck;
    /// its own for a definition.
    pub definitions: Vec<usize>,
}

/// A directive as far as editors need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// What it asks for.
    pub kind: DirectiveKind,
    /// Its prefix.
    pub prefix: String,
    /// From its prefix to its colon.
    pub head: Range<usize>,
    /// Its text.
    pub text: Range<usize>,
    /// Its line, from 1.
    pub line: usize,
}

/// The directives of a text under these prefixes, and their variables. Faults are passed over.
pub fn mentions(text: &str, all: &[Options]) -> (Vec<Mention>, Vec<VariableUse>) {
    let mut prefixes: Vec<String> = all.iter().flat_map(|one| one.prefixes.clone()).collect();
    prefixes.sort();
    prefixes.dedup();
    let options = Options::default();
    let (mut mentions, mut variables) = (Vec::new(), Vec::<VariableUse>::new());
    let mut prefix_of: Vec<String> = Vec::new();
    for found in scan(text, &prefixes) {
        let Ok(kind) = found.kind else { continue };
        if !found.is_literal
            && let Ok(pattern) = Pattern::parse(&text[found.text.clone()], found.line, &options)
        {
            for named in pattern.named {
                let range =
                    found.text.start + named.range.start..found.text.start + named.range.end;
                let (name, is_definition) = (named.name, named.is_definition);
                variables.push(VariableUse { name, range, is_definition, definitions: Vec::new() });
                prefix_of.push(found.prefix.clone());
            }
        }
        mentions.push(Mention {
            kind,
            prefix: found.prefix,
            head: found.head,
            text: found.text,
            line: found.line,
        });
    }
    for index in 0..variables.len() {
        variables[index].definitions = definitions(&variables, &prefix_of, index, all, &mentions);
    }
    (mentions, variables)
}

/// The definitions that a use may mean: for each FileCheck that reads it, the last one before it.
fn definitions(
    variables: &[VariableUse],
    prefix_of: &[String],
    index: usize,
    all: &[Options],
    mentions: &[Mention],
) -> Vec<usize> {
    let used = &variables[index];
    if used.is_definition {
        return vec![index];
    }
    let of = |options: &Options| {
        let defined = (0..index).rev().find(|&other| {
            variables[other].is_definition
                && variables[other].name == used.name
                && options.prefixes.contains(&prefix_of[other])
        })?;
        let is_parted =
            options.has_variable_scopes && parted(options, &variables[defined], used, mentions);
        (!is_parted).then_some(defined)
    };
    let readers = all.iter().filter(|options| options.prefixes.contains(&prefix_of[index]));
    let mut found: Vec<usize> = readers.filter_map(of).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a label of these options stands between a definition and a use.
fn parted(
    options: &Options,
    defined: &VariableUse,
    used: &VariableUse,
    mentions: &[Mention],
) -> bool {
    !used.name.starts_with('$')
        && mentions.iter().any(|mention| {
            mention.kind == DirectiveKind::Label
                && options.prefixes.contains(&mention.prefix)
                && (defined.range.end..used.range.start).contains(&mention.head.start)
        })
}
