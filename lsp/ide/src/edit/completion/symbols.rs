//! Symbols and aliases at the cursor. Symbols of the kind that the operation names come first:
//! functions for calls, globals for loads; among them those that nothing near the cursor names
//! yet, in the order of the text.

use std::collections::{HashMap, HashSet};

use mlir::{Meaning, meaning, table::Control};
use syntax::{Lexer, NodeKind, OpClass, Symbol, TokenKind};

use super::examples::Surroundings;
use super::item::{CompletionItem, CompletionItemKind, LIMIT, item};
use super::statement::Statement;
use crate::Document;
use crate::resolve::{file_around, is_vm_export};

/// The symbols of the file around the cursor, best first.
pub(super) fn symbols(
    document: &Document,
    around: Option<(&Statement, &Surroundings)>,
    offset: usize,
) -> Vec<CompletionItem> {
    let within = file_around(document, offset);
    let text = document.text();
    let op = around.map_or("", |(statement, _)| statement.name.as_str());
    let mentions = around.map(|(statement, around)| Mentions::of(document, statement, around));
    let mentions = mentions.unwrap_or_default();
    let mut found = Vec::new();
    for placed in document.chunks().iter().filter(|placed| placed.chunk.name != 0) {
        if placed.start < within.start || placed.start >= within.end {
            continue;
        }
        let Some(symbol) = Symbol::read(text, &placed) else { continue };
        if is_vm_export(&symbol) {
            continue;
        }
        let name = text.slice(symbol.name_token.clone()).into_owned();
        let label = if name.starts_with('@') { name } else { format!("@{}", symbol.name) };
        let detail = symbol.function_type.as_ref().map_or(symbol.op.clone(), |ty| {
            format!("{} {}", symbol.op, crate::calling::type_line(ty))
        });
        let is_meant = wanted(op, symbol.class, &mentions.classes);
        let is_typed = mentions.typed.contains(&label);
        let is_named_so = mentions.result.as_deref() == Some(label.trim_start_matches('@'));
        let rank = mentions.rank(&label, is_call(op));
        let key = (!is_meant, is_typed, !is_named_so, rank);
        found.push((key, item(label, CompletionItemKind::Symbol, detail)));
        if found.len() > LIMIT * 4 {
            break;
        }
    }
    found.sort_by_key(|(key, _)| *key);
    found.into_iter().map(|(_, item)| item).collect()
}

/// The symbols that operations near the cursor name.
#[derive(Default)]
struct Mentions {
    /// By the operation that is being typed, with its other symbols.
    typed: HashSet<String>,
    /// By operations of the same name, in the order of the text.
    all: Vec<String>,
    /// How many of them stand before the cursor.
    before: usize,
    /// The name of the result.
    result: Option<String>,
    /// The classes of what operations of the same name refer to.
    classes: HashMap<OpClass, usize>,
}

impl Mentions {
    fn of(document: &Document, statement: &Statement, around: &Surroundings) -> Self {
        let mut found = Self::default();
        let text = document.text();
        for (index, other) in around.operations.iter().enumerate() {
            if other.name != statement.name {
                continue;
            }
            let analysed = &around.chunks[other.chunk];
            let tree = &analysed.analysis.tree;
            let symbols = tree.tokens_of(other.id).iter();
            let Some(leaf) = symbols.clone().find(|leaf| leaf.kind == TokenKind::Symbol) else {
                continue;
            };
            let label = tree.text(text, analysed.base(), leaf).into_owned();
            let hash = syntax::name_hash(label.trim_start_matches('@'));
            if let Some(placed) = document.chunks().named(hash).next() {
                *found.classes.entry(placed.chunk.class).or_default() += 1;
            }
            found.all.push(label);
            if index < around.before {
                found.before = found.all.len();
            }
        }
        found.result = result_name(document, statement);
        let base = statement.analysed.base();
        for span in &statement.analysed.analysis.names.symbols {
            let is_own = statement.op.is_some_and(|op| {
                let range = statement.analysed.analysis.tree.range(op);
                range.contains(&(span.start as usize))
            });
            if is_own {
                found.typed.insert(
                    text.slice(base + span.start as usize..base + span.end as usize).into_owned(),
                );
            }
        }
        found
    }
}

impl Mentions {
    /// The rank of a symbol among those of its class. What is called may be called again: what was
    /// called after the last callee comes first, then the nearest, then what nothing has called.
    /// What else is named is named once: in the order of the text, and last what is named already.
    fn rank(&self, label: &str, is_call: bool) -> usize {
        let places = self.all.iter().enumerate().filter(|(_, other)| *other == label);
        let distance = |at: usize| (at + 1).abs_diff(self.before).min(at.abs_diff(self.before));
        let nearest = places.clone().map(|(at, _)| distance(at)).min();
        if !is_call {
            return nearest.map_or(0, |nearest| nearest + 1);
        }
        let last = self.before.checked_sub(1).map(|at| &self.all[at]);
        let follows = places
            .clone()
            .any(|(at, _)| at != self.before && at.checked_sub(1).map(|at| &self.all[at]) == last);
        match nearest {
            Some(_) if follows && last.is_some() => 0,
            Some(nearest) => nearest * 2 + 2,
            None => 3,
        }
    }
}

/// The name of the only result, without its sigil: printers name a value like the symbol that it is
/// loaded from.
fn result_name(document: &Document, statement: &Statement) -> Option<String> {
    let tree = &statement.analysed.analysis.tree;
    let results = tree.child(statement.op?, NodeKind::Results)?;
    let name =
        tree.text(document.text(), statement.analysed.base(), tree.tokens_of(results).first()?);
    Some(name.trim_start_matches('%').to_owned())
}

/// Whether an operation calls.
fn is_call(op: &str) -> bool {
    meaning(op) == Some(Meaning::Control(Control::Call)) || op.contains("call")
}

/// Whether an operation names symbols of a class.
fn wanted(op: &str, class: OpClass, seen: &HashMap<OpClass, usize>) -> bool {
    if is_call(op) {
        return matches!(class, OpClass::Function | OpClass::Import);
    }
    if op.contains("global") {
        return class == OpClass::Global;
    }
    if op.contains("rodata") {
        return class == OpClass::Rodata;
    }
    if op.contains("dispatch") || op.contains("executable") {
        return class == OpClass::Executable;
    }
    seen.contains_key(&class)
}

/// The aliases of the file around the cursor.
pub(super) fn aliases(document: &Document, offset: usize, sigil: &str) -> Vec<CompletionItem> {
    let within = file_around(document, offset);
    let text = document.text();
    let chunks = document.chunks().iter().filter(|placed| placed.chunk.class == OpClass::Alias);
    chunks
        .filter(|placed| within.contains(&placed.op_start()))
        .filter_map(|placed| {
            let token = Lexer::new(text, placed.op_start()).next()?;
            let label = token.text(text).into_owned();
            let detail = text.slice(token.range.end..placed.range().end.min(token.range.end + 120));
            let detail = detail.trim_start_matches([' ', '=']).trim().to_owned();
            label.starts_with(sigil).then(|| item(label, CompletionItemKind::Alias, detail))
        })
        .take(LIMIT)
        .collect()
}
