//! The names that a text gives its operations in their locations: `loc("layer1/add")`, alone or
//! around a position.

use std::collections::HashMap;

use syntax::TokenKind;

use super::NodeName;
use crate::mlir_text::LocationReader;
use crate::source::SourceText;
use crate::source::functions::{LineColumn, SourceFunction, symbol_name};

/// How a location begins that is a name, or a position.
pub(in crate::source) const START: &str = "loc(\"";

/// An operation with a name.
pub(in crate::source) struct Labelled<'f> {
    pub(in crate::source) label: String,
    /// Whether its location has a position, too.
    pub(in crate::source) has_position: bool,
    pub(in crate::source) place: LineColumn,
    /// The function, by its index in the file.
    function: usize,
    /// The values that it defines.
    results: Vec<&'f str>,
}

/// Whether a text may have names of operations.
pub(in crate::source) fn are_in(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), START.as_bytes()).is_some()
        || memchr::memmem::find(text.as_bytes(), b"loc(fused").is_some()
}

/// All operations of functions that have a name.
pub(in crate::source) fn each(text: &SourceText, mut found: impl FnMut(Labelled<'_>)) {
    let places = LocationReader::of(text.text());
    for function in 0..text.written().len() {
        let Some(read) = text.read_function(function) else { continue };
        for (at, operation) in read.operations.iter().enumerate() {
            let Some(location) = read.location(at) else { continue };
            let Some((label, has_position)) = places.label(location) else { continue };
            let results = operation.results.iter().filter_map(|it| read.values.get(*it));
            let results = results.map(|it| it.name.as_str()).collect();
            let place = operation.place;
            found(Labelled { label, has_position, place, function, results });
        }
    }
}

/// The names of the values of each function: of arguments that have one, and of operations that
/// define one value and share their name with no other.
pub(super) fn names(text: &SourceText) -> HashMap<usize, HashMap<String, NodeName>> {
    let mut by_label: HashMap<(usize, String), Vec<String>> = HashMap::new();
    each(text, |it| {
        let values = by_label.entry((it.function, it.label)).or_default();
        values.extend(it.results.iter().map(|&name| name.to_owned()));
        // One without results has the name, too.
        if it.results.is_empty() {
            values.push(String::new());
        }
    });
    for function in 0..text.written().len() {
        let Some(read) = text.read_function(function) else { continue };
        for (value, label) in arguments(&read) {
            by_label.entry((function, label)).or_default().push(value);
        }
    }
    let mut names: HashMap<usize, HashMap<String, NodeName>> = HashMap::new();
    for ((function, label), values) in by_label {
        if let [value] = values.as_slice()
            && !value.is_empty()
        {
            let name = NodeName { tensor: label.clone(), node: Some(label) };
            names.entry(function).or_default().insert(value.clone(), name);
        }
    }
    names
}

/// The arguments of a function that have a name, and the name: `%arg0: f32 loc("input")`.
fn arguments(function: &SourceFunction) -> Vec<(String, String)> {
    let head = function.head(0);
    let mut found = Vec::new();
    let mut argument = None;
    for (at, (kind, text)) in head.iter().enumerate() {
        match kind {
            TokenKind::Value => argument = Some(*text),
            TokenKind::Word if *text == "loc" => {
                let after: Vec<_> = head.iter().skip(at + 1).take(3).collect();
                if let [(_, "("), (TokenKind::String, label), (_, ")")] = after[..]
                    && let Some(argument) = argument.take()
                {
                    found.push((argument.to_owned(), symbol_name(label)));
                }
            }
            _ => {}
        }
    }
    found
}
