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
        labelled(&read, &places).for_each(&mut found);
    }
}

fn labelled<'f>(
    function: &'f SourceFunction,
    places: &'f LocationReader<'_>,
) -> impl Iterator<Item = Labelled<'f>> {
    function.operations.iter().enumerate().filter_map(|(at, operation)| {
        let (label, has_position) = places.label(function.location(at)?)?;
        let results = operation.results.iter().filter_map(|it| function.values.get(*it));
        let results = results.map(|it| it.name.as_str()).collect();
        Some(Labelled { label, has_position, place: operation.place, results })
    })
}

/// The names of the values of each function: of arguments that have one, and of operations that
/// define one value and share their name with no other.
pub(super) fn names(text: &SourceText) -> HashMap<usize, HashMap<String, NodeName>> {
    let places = LocationReader::of(text.text());
    let functions = (0..text.written().len()).filter_map(|function| {
        let names = names_in(&text.read_function(function)?, &places);
        (!names.is_empty()).then_some((function, names))
    });
    functions.collect()
}

fn names_in(function: &SourceFunction, places: &LocationReader<'_>) -> HashMap<String, NodeName> {
    let mut by_label: HashMap<String, Vec<String>> = HashMap::new();
    for it in labelled(function, places) {
        let values = by_label.entry(it.label).or_default();
        values.extend(it.results.iter().map(|&name| name.to_owned()));
        // One without results has the name, too.
        if it.results.is_empty() {
            values.push(String::new());
        }
    }
    for (value, label) in arguments(function) {
        by_label.entry(label).or_default().push(value);
    }
    let named = by_label.into_iter().filter_map(|(label, values)| match values.as_slice() {
        [value] if !value.is_empty() => {
            Some((value.clone(), NodeName { tensor: label.clone(), node: Some(label) }))
        }
        _ => None,
    });
    named.collect()
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
