//! Words within an operation: keywords, attributes and their values, and the words of
//! enumerations.

use std::collections::HashSet;

use syntax::{Language, NodeKind};

use super::examples::{Continuation, ranked};
use super::item::{CompletionItem, CompletionItemKind, item};
use super::statement::{Piece, Statement};
use crate::Document;
use crate::operations::{known, words_of};

/// Keys that IREE reads from a function's attributes: key, rest of the snippet, meaning.
const KEYS: &[(&str, &str, &str)] = &[
    ("iree.abi.stub", "", "The function already has the types of the ABI: no wrapper is made."),
    (
        "iree.abi.model",
        " = \"coarse-fences\"",
        "Appends two fences to the arguments: one to wait for, one to signal. Read from `util.func`.",
    ),
    (
        "iree.abi.declaration",
        " = \"${1:sync func @f()}\"",
        "The signature that tools show for the export. Read from `util.func`.",
    ),
    (
        "iree.abi",
        " = \"{\\\"a\\\":[$1],\\\"r\\\":[$2],\\\"v\\\":1}\"",
        "The signature for hosts as JSON. Read from `util.func`, or in `iree.reflection`.",
    ),
    ("iree.reflection", " = {$1}", "Pairs of strings that are copied into the module."),
    ("iree.abi.name", " = \"$1\"", "The name of an argument or result in the declaration."),
    (
        "iree.abi.output",
        " = ${1:0} : index",
        "This `!hal.buffer` argument provides the storage of the result.",
    ),
    ("iree.abi.encoding", " = $1", "The encoding of an argument or result at the boundary."),
    ("iree.abi.affinity", " = $1", "The device where an argument or result resides."),
    ("iree.abi.consume", "", "The callee may reuse the storage of the argument."),
    (
        "iree.abi.transients",
        "",
        "This `!hal.buffer` argument provides the storage of transient values.",
    ),
    (
        "llvm.emit_c_interface",
        "",
        "Makes a wrapper `_mlir_ciface_<name>`, which takes descriptors by pointer.",
    ),
    ("sym_visibility", " = \"${1|public,private,nested|}\"", "Where the symbol is visible."),
];

/// The words that may stand at the cursor, best first.
pub(super) fn words(
    document: &Document,
    statement: &Statement,
    continuations: &[Continuation<'_>],
) -> Vec<CompletionItem> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut offer = |item: CompletionItem| {
        if seen.insert(item.label.clone()) {
            found.push(item);
        }
    };
    let listed = listed_words(statement);
    let elsewhere = ranked(continuations, |piece| match piece {
        Piece::Word(word) => Some(word.as_str()),
        Piece::Attribute(name) => Some(name.as_str()),
        _ => None,
    });
    // Where all words are known, others are of another place.
    let is_sure = !listed.is_empty();
    for (word, _) in
        elsewhere.iter().filter(|(word, _)| !is_sure || listed.iter().any(|it| it == word))
    {
        offer(item((*word).to_owned(), CompletionItemKind::Word, "as elsewhere".into()));
    }
    for word in &listed {
        offer(item(word.clone(), CompletionItemKind::Word, "a value of this attribute".into()));
    }
    if is_key(document, statement) {
        for name in attributes(&statement.name) {
            let detail = "an attribute of this operation".to_owned();
            let snippet = Some(format!("{name} = $1"));
            offer(CompletionItem { snippet, ..item(name, CompletionItemKind::Key, detail) });
        }
        for (key, rest, about) in KEYS {
            offer(CompletionItem {
                documentation: (*about).to_owned(),
                snippet: Some(format!("{key}{rest}")),
                ..item((*key).to_owned(), CompletionItemKind::Key, "attribute".into())
            });
        }
    }
    if !is_sure {
        for (word, _) in &elsewhere {
            offer(item((*word).to_owned(), CompletionItemKind::Word, "as elsewhere".into()));
        }
    }
    found
}

/// Strings at the cursor, quotes included.
pub(super) fn strings(
    statement: &Statement,
    continuations: &[Continuation<'_>],
) -> Vec<CompletionItem> {
    let mut found: Vec<CompletionItem> = Vec::new();
    let listed = listed_words(statement).into_iter().map(|word| format!("\"{word}\""));
    let elsewhere = ranked(continuations, |piece| match piece {
        Piece::Text(text) if text.len() < 80 && text.ends_with('"') => Some(text.as_str()),
        _ => None,
    });
    let elsewhere = elsewhere.into_iter().map(|(text, _)| text.to_owned());
    for text in elsewhere.chain(listed) {
        if !found.iter().any(|it| it.label == text) {
            found.push(item(text, CompletionItemKind::Word, String::new()));
        }
    }
    found
}

/// Whether a key of attributes may stand at the cursor.
fn is_key(document: &Document, statement: &Statement) -> bool {
    let opens = statement.last() == Some(&Piece::Sign(b'{'));
    let after = opens || statement.last() == Some(&Piece::Sign(b','));
    let in_dictionary = statement.brackets() == NodeKind::Dictionary;
    // A brace at the end of what is typed may open a region, too.
    let before = statement.pieces.iter().rev().nth(1).map(|placed| &placed.piece);
    let announced = opens
        && before.is_none_or(|piece| {
            *piece == Piece::Sign(b'=') || *piece == Piece::Word("attributes".into())
        });
    document.language() == Language::Mlir && after && (in_dictionary || announced)
}

/// The attributes of an operation.
fn attributes(op: &str) -> Vec<String> {
    known()
        .get(op)
        .map_or(Vec::new(), |it| it.attributes.iter().map(|it| it.name.clone()).collect())
}

/// The words of the enumeration at the cursor: of the attribute before `<` or `=`, or the first
/// after the operation's name.
fn listed_words(statement: &Statement) -> Vec<String> {
    let pieces: Vec<&Piece> = statement.pieces.iter().map(|placed| &placed.piece).collect();
    let name = |piece: &Piece| match piece {
        Piece::Word(word) => Some(word.clone()),
        Piece::Attribute(name) => Some(name.trim_start_matches('#').to_owned()),
        _ => None,
    };
    let key = match pieces.as_slice() {
        [] => return words_of(&statement.name, None),
        [.., name_before, Piece::Sign(b'<')] => name(name_before),
        [.., name_before, Piece::Sign(b'=')] => name(name_before),
        [.., name_before, Piece::Sign(b'='), Piece::Sign(b'[')] => name(name_before),
        [Piece::Sign(b'<')] => None,
        // `["parallel", "`, `fastmath<nnan, `
        [.., Piece::Sign(b',')] => {
            let Some(open) = statement.opened() else { return Vec::new() };
            let before = pieces[..open].iter().rev().find_map(|piece| name(piece));
            match pieces[open] {
                Piece::Sign(b'<' | b'[') => before,
                _ => None,
            }
        }
        _ => None,
    };
    key.map(|key| words_of(&statement.name, Some(&key))).unwrap_or_default()
}
