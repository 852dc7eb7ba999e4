//! Candidates for the repair of faults that leave a choice: names that are near, other types,
//! casts, other operands, what ends a block.

use strsim::osa_distance;
use syntax::{Lexer, NodeId, NodeKind, OpClass, Symbol, TextRange, TokenKind};

use super::{Candidate, short, title};
use crate::Document;
use crate::check::Diagnostic;
use crate::edit::completion::{CompletionItemKind, complete};
use crate::operations::element;
use crate::resolve::{file_around, line_end, line_start, type_of};
use crate::text::{AnalysedChunk, Replacement, Value, value_of_use};

/// The candidates for a fault, likeliest first.
pub(super) fn candidates(document: &Document, fault: &Diagnostic) -> Vec<Candidate> {
    match fault.code {
        "undefined-value" => {
            let mut found = near(document, fault);
            found.extend(others(document, &fault.range, 3));
            found
        }
        "undefined-symbol" => {
            let mut found = near(document, fault);
            found.extend(declaration(document, &fault.range));
            found
        }
        "undefined-block" => {
            let mut found = near(document, fault);
            found.extend(second_label(document, &fault.range));
            found
        }
        "undefined-alias" => near(document, fault),
        "duplicate-value" | "duplicate-block" | "duplicate-symbol" => fresh_name(document, fault),
        "terminator" => terminators(document, &fault.range),
        "type" => types(document, fault),
        "arity" => arity(document, &fault.range),
        "dominance" => others(document, &fault.range, 4),
        "open-string" => closing_quotes(document, &fault.range),
        "unclosed-bracket" => closing_brackets(document, &fault.range),
        _ => Vec::new(),
    }
}

fn one(document: &Document, range: TextRange, text: String, is_sure: bool) -> Candidate {
    let edit = Replacement { range, text };
    Candidate { title: title(document, &edit), edits: vec![edit], is_sure }
}

/// The names that completion offers in the place of a name.
fn offered(document: &Document, range: &TextRange) -> Vec<String> {
    // One byte of a name is its sigil.
    let found = complete(document, range.start + 1);
    let names = found.items.into_iter().filter(|item| item.kind != CompletionItemKind::Operation);
    names.map(|item| item.label).collect()
}

/// Names that differ in few letters. The only one is what was meant.
fn near(document: &Document, fault: &Diagnostic) -> Vec<Candidate> {
    let written = document.text().slice(fault.range.clone()).into_owned();
    let most = if written.len() < 5 { 1 } else { 2 };
    let mut found: Vec<(usize, String)> = offered(document, &fault.range)
        .into_iter()
        .filter(|name| *name != written)
        .map(|name| (osa_distance(&name, &written), name))
        .filter(|(distance, _)| *distance <= most)
        .collect();
    found.sort_by_key(|(distance, _)| *distance);
    found.truncate(4);
    // `%0` is as near to `%1` as to `%2`.
    let is_word = written.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic);
    let is_sure = found.len() == 1 && is_word && written.len() > 2;
    let change = |(_, name)| one(document, fault.range.clone(), name, is_sure);
    found.into_iter().map(change).collect()
}

/// The values that completion ranks first in the place of an operand.
fn others(document: &Document, range: &TextRange, most: usize) -> Vec<Candidate> {
    let written = document.text().slice(range.clone()).into_owned();
    let names = offered(document, range).into_iter().filter(|name| *name != written).take(most);
    names.map(|name| one(document, range.clone(), name, false)).collect()
}

/// A declaration of the function that a call names, with the types of the call.
fn declaration(document: &Document, range: &TextRange) -> Option<Candidate> {
    let analysed = document.analysis_at(range.start)?;
    let tree = &analysed.analysis.tree;
    let op = operation_at(&analysed, range.start)?;
    let name = tree.op_name(document.text(), analysed.base(), op);
    let end = analysed.base() + tree.range(op).end;
    let call = document.text().slice(range.end..end).into_owned();
    let (_, types) = call.rsplit_once(" : ")?;
    let types = types.split(" loc(").next().unwrap_or(types).trim();
    let dialect = if name.starts_with("util.") { "util" } else { "func" };
    let symbol = document.text().slice(range.clone()).into_owned();
    // Before the function that calls it.
    let at = line_start(document.text(), analysed.placed.op_start());
    let indent = indent(document, analysed.placed.op_start());
    let text = format!("{indent}{dialect}.func private {symbol}{types}\n");
    let edits = vec![Replacement { range: at..at, text }];
    Some(Candidate { title: format!("Declare `{symbol}`"), edits, is_sure: false })
}

/// The white space before what begins at a place.
fn indent(document: &Document, start: usize) -> String {
    let line = line_start(document.text(), start);
    let before = document.text().slice(line..start).into_owned();
    before.chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
}

/// The operation that holds a place of the document.
fn operation_at(analysed: &AnalysedChunk, offset: usize) -> Option<NodeId> {
    let tree = &analysed.analysis.tree;
    let token = tree.token_at(analysed.relative(offset))?;
    tree.operation_of(tree.node_of_token(token))
}

/// Another name for the second definition, and for what uses it after.
fn fresh_name(document: &Document, fault: &Diagnostic) -> Vec<Candidate> {
    let old = document.text().slice(fault.range.clone()).into_owned();
    let text = document.text().slice(file_around(document, fault.range.start)).into_owned();
    let is_taken =
        |name: &str| Lexer::new(&*text, 0).any(|token| &text[token.range.clone()] == name);
    let Some(new) = (0..100).map(|n| format!("{old}_{n}")).find(|name| !is_taken(name)) else {
        return Vec::new();
    };
    let own = Replacement { range: fault.range.clone(), text: new.clone() };
    let mut edits = vec![own.clone()];
    if fault.code == "duplicate-value"
        && let Some(analysed) = document.analysis_at(fault.range.start)
    {
        let names = &analysed.analysis.names;
        let own = names
            .values
            .iter()
            .find(|value| analysed.absolute(&value.span).start == fault.range.start);
        let after = own.into_iter().flat_map(|value| {
            let uses = names.value_uses.iter();
            uses.filter(|used| {
                used.hash == value.hash
                    && used.span.start > value.span.end
                    && names.sees(used.scope, value.scope)
            })
        });
        edits.extend(
            after.map(|used| Replacement {
                range: analysed.absolute(&used.span),
                text: new.clone(),
            }),
        );
    }
    let rename = format!("Rename this `{old}` to `{new}`");
    let whole = Candidate { title: format!("{rename}, and its uses"), edits, is_sure: false };
    let alone = Candidate { title: rename, edits: vec![own], is_sure: false };
    if whole.edits.len() > 1 { vec![whole, alone] } else { vec![alone] }
}

/// The label that is there twice, under the name that is missing.
fn second_label(document: &Document, range: &TextRange) -> Option<Candidate> {
    let analysed = document.analysis_at(range.start)?;
    let blocks = &analysed.analysis.names.blocks;
    let second = blocks.iter().enumerate().find(|(at, block)| {
        blocks[..*at].iter().any(|it| (it.scope, it.hash) == (block.scope, block.hash))
    });
    let name = document.text().slice(range.clone()).into_owned();
    Some(one(document, analysed.absolute(&second?.1.span), name, false))
}

/// What may end a block after its last operation, or what follows its end too early.
fn terminators(document: &Document, range: &TextRange) -> Vec<Candidate> {
    let Some(analysed) = document.analysis_at(range.start) else { return Vec::new() };
    let tree = &analysed.analysis.tree;
    let Some(last) = operation_at(&analysed, range.start) else { return Vec::new() };
    let text = document.text();
    let base = analysed.base();
    let name = tree.op_name(text, base, last);
    if mlir::ends_block(&name) {
        // It ends its block, and more follows.
        let found = tree.range(last);
        let (start, end) = (base + found.start, base + found.end);
        let line = line_start(text, start);
        let end = (line_end(text, end) + 1).min(text.len());
        let edits = vec![Replacement { range: line..end, text: String::new() }];
        return vec![Candidate { title: format!("Remove this `{name}`"), edits, is_sure: false }];
    }
    // The fault is at the last operation of a block, or at the brace of an empty region.
    let first = text.slice(range.start..range.start + 1).into_owned();
    let is_empty = matches!(first.as_str(), "{" | "^");
    let outer = if is_empty { Some(last) } else { tree.operation_of(tree.node(last).parent) };
    let Some(outer) = outer else { return Vec::new() };
    let owner = tree.op_name(text, base, outer);
    let at = match first.as_str() {
        "{" => range.end,
        // After the label's colon.
        "^" => line_end(text, range.end),
        _ => base + tree.range(last).end,
    };
    let indent = match is_empty {
        true => format!("{}  ", indent(document, base + tree.range(outer).start)),
        false => indent(document, base + tree.range(last).start),
    };
    let results = results_of(document, &analysed, outer);
    let mut found = Vec::new();
    for end in mlir::structure::terminators(&owner) {
        let line = |operands: &str| {
            let text = format!("\n{indent}{end}{operands}");
            let edits = vec![Replacement { range: at..at, text }];
            let title = format!("Insert `{}`", short(&format!("{end}{operands}")));
            Candidate { title, edits, is_sure: results.is_empty() && operands.is_empty() }
        };
        if results.is_empty() {
            found.push(line(""));
            continue;
        }
        let choices: Vec<Vec<String>> =
            results.iter().map(|ty| values_of(document, &analysed, at, ty)).collect();
        let most = choices.iter().map(Vec::len).max().unwrap_or(0).min(4);
        for pick in 0..most {
            let names: Option<Vec<&str>> =
                choices.iter().map(|of| of.get(pick).or(of.first()).map(String::as_str)).collect();
            if let Some(names) = names {
                found.push(line(&format!(" {} : {}", names.join(", "), results.join(", "))));
            }
        }
    }
    found
}

/// The types that an operation's block ends with.
fn results_of(document: &Document, analysed: &AnalysedChunk, id: NodeId) -> Vec<String> {
    let tree = &analysed.analysis.tree;
    let name = tree.op_name(document.text(), analysed.base(), id);
    if syntax::class_of(&name) == OpClass::Function {
        let symbol = Symbol::read(document.text(), &analysed.placed);
        let function = symbol.and_then(|symbol| symbol.function_type);
        return function.map_or(Vec::new(), |it| it.results.into_iter().map(|s| s.ty).collect());
    }
    let stated: Vec<String> = crate::resolve::stated_types(document, analysed, id)
        .into_iter()
        .map(|slot| slot.ty)
        .collect();
    if name.starts_with("linalg.") || name.starts_with("tensor.") {
        return stated.iter().filter_map(|ty| element(ty)).map(str::to_owned).collect();
    }
    if tree.child(id, NodeKind::Results).is_none() { Vec::new() } else { stated }
}

/// The values of a type that are defined before a place, latest first.
fn values_of(document: &Document, analysed: &AnalysedChunk, at: usize, ty: &str) -> Vec<String> {
    let values: &[Value] = &analysed.analysis.names.values;
    let before = values
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, value)| analysed.absolute(&value.span).end <= at);
    let mut found = Vec::new();
    for (index, value) in before {
        let definition =
            crate::text::LocalDefinition { analysed: analysed.clone(), index: index as u32 };
        if found.len() < 4 && type_of(document, &definition).as_deref() == Some(ty) {
            found.push(document.text().slice(analysed.absolute(&value.span)).into_owned());
        }
    }
    found
}

/// Two types disagree: another type where it is written, a cast, another operand.
fn types(document: &Document, fault: &Diagnostic) -> Vec<Candidate> {
    let Some([there, wanted]) = &fault.types else { return Vec::new() };
    let text = document.text();
    let Some(analysed) = document.analysis_at(fault.range.start) else { return Vec::new() };
    let Some(op) = operation_at(&analysed, fault.range.start) else { return Vec::new() };
    let is_operand = text.slice(fault.range.start..fault.range.start + 1) == "%";
    let mut found = Vec::new();
    if !is_operand {
        // A written type: the type that is asked for, or the other way round in the head.
        found.push(one(document, fault.range.clone(), wanted.clone(), false));
        found.extend(result_type(document, &analysed, wanted, there));
        return found;
    }
    let tree = &analysed.analysis.tree;
    let range = tree.range(op);
    let (start, end) = (analysed.base() + range.start, analysed.base() + range.end);
    let from = fault.range.end;
    for place in written(document, from..end, wanted) {
        found.push(one(document, place, there.clone(), false));
    }
    let name = text.slice(fault.range.clone()).into_owned();
    for cast in casts(there, wanted) {
        let new = format!("{name}_cast").replace('#', "_");
        let line = format!("{new} = {cast} {name} : {there} to {wanted}\n");
        let indent = indent(document, start);
        let edits = vec![
            Replacement { range: start..start, text: format!("{line}{indent}") },
            Replacement { range: fault.range.clone(), text: new },
        ];
        let title = format!("Insert `{cast}` to `{}`", short(wanted));
        found.push(Candidate { title, edits, is_sure: false });
    }
    found.extend(others(document, &fault.range, 2));
    found.extend(definition_type(document, &analysed, &fault.range, there, wanted));
    found
}

/// The places of a type in a range of the text.
fn written(document: &Document, range: TextRange, ty: &str) -> Vec<TextRange> {
    let text = document.text().slice(range.clone()).into_owned();
    let is_part =
        |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || "_.x".contains(c));
    text.match_indices(ty)
        .filter(|(at, _)| {
            !is_part(text[..*at].chars().next_back())
                && !is_part(text[at + ty.len()..].chars().next())
        })
        .map(|(at, _)| range.start + at..range.start + at + ty.len())
        .take(4)
        .collect()
}

/// Another result type in the head of the function.
fn result_type(
    document: &Document,
    analysed: &AnalysedChunk,
    old: &str,
    new: &str,
) -> Vec<Candidate> {
    let Some(symbol) = Symbol::read(document.text(), &analysed.placed) else { return Vec::new() };
    let Some(function) = symbol.function_type else { return Vec::new() };
    let head = document.text().slice(function.range.clone()).into_owned();
    let Some(arrow) = head.rfind("->") else { return Vec::new() };
    let results = function.range.start + arrow..function.range.end;
    let places = written(document, results, old).into_iter();
    let change = |place| {
        let edits = vec![Replacement { range: place, text: new.to_owned() }];
        let title = format!("Change the result type of `@{}` to `{}`", symbol.name, short(new));
        Candidate { title, edits, is_sure: false }
    };
    places.map(change).collect()
}

/// Another type where the operand is defined.
fn definition_type(
    document: &Document,
    analysed: &AnalysedChunk,
    range: &TextRange,
    old: &str,
    new: &str,
) -> Vec<Candidate> {
    let start = (range.start - analysed.base()) as u32;
    let uses = &analysed.analysis.names.value_uses;
    let used = uses.iter().find(|used| used.span.start == start);
    let Some(found) = used.and_then(|used| value_of_use(document, analysed, used)) else {
        return Vec::new();
    };
    let place = found.value_range();
    let end = line_end(document.text(), place.end);
    let places = written(document, place.end..end, old).into_iter().take(2);
    places.map(|place| one(document, place, new.to_owned(), false)).collect()
}

/// The casts from one type to another.
fn casts(from: &str, to: &str) -> Vec<&'static str> {
    let kind = |ty: &str| {
        let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
        match element(ty).unwrap_or(ty) {
            "index" => "index",
            "f16" | "bf16" | "f32" | "f64" => "float",
            ty if ty.strip_prefix('i').is_some_and(number) => "integer",
            _ => "other",
        }
    };
    let is_shaped = |ty: &str| element(ty).is_some();
    if is_shaped(from) && is_shaped(to) && element(from) == element(to) {
        let is = |prefix: &str| from.starts_with(prefix) && to.starts_with(prefix);
        return match () {
            () if is("tensor<") => vec!["tensor.cast"],
            () if is("memref<") => vec!["memref.cast"],
            () => Vec::new(),
        };
    }
    match (kind(from), kind(to)) {
        ("float", "float") => vec!["arith.extf", "arith.truncf"],
        ("integer", "integer") => vec!["arith.extsi", "arith.trunci", "arith.extui"],
        ("index", "integer") | ("integer", "index") => {
            vec!["arith.index_cast", "arith.index_castui"]
        }
        ("integer", "float") => vec!["arith.sitofp", "arith.uitofp"],
        ("float", "integer") => vec!["arith.fptosi", "arith.fptoui"],
        _ => Vec::new(),
    }
}

/// As many types as operands: those that the operands have.
fn arity(document: &Document, range: &TextRange) -> Vec<Candidate> {
    let text = document.text();
    let Some(analysed) = document.analysis_at(range.start) else { return Vec::new() };
    let Some(op) = operation_at(&analysed, range.start) else { return Vec::new() };
    let tree = &analysed.analysis.tree;
    let found = tree.range(op);
    let name = tree.op_name(text, analysed.base(), op);
    let whole = analysed.base() + found.start..analysed.base() + found.end;
    let tokens: Vec<_> = Lexer::new(text, whole.start)
        .take_while(|token| token.range.end <= whole.end && token.kind != TokenKind::Comment)
        .collect();
    let mut candidates = Vec::new();
    let outer = tree.operation_of(tree.node(op).parent);
    if mlir::ends_block(&name)
        && let Some(outer) = outer
    {
        let results = results_of(document, &analysed, outer);
        let values: Option<Vec<String>> = results
            .iter()
            .map(|ty| values_of(document, &analysed, whole.start, ty).into_iter().next())
            .collect();
        if let Some(values) = values.filter(|values| !values.is_empty()) {
            let operands = format!("{name} {} : {}", values.join(", "), results.join(", "));
            candidates.push(one(document, whole.clone(), operands, false));
        }
    }
    let Some(colon) = tokens.iter().rfind(|token| token.is(b':')) else { return candidates };
    let types: Option<Vec<String>> = analysed
        .analysis
        .names
        .value_uses
        .iter()
        .filter(|used| {
            let place = analysed.absolute(&used.span);
            whole.contains(&place.start) && place.end <= colon.range.start
        })
        .map(|used| type_of(document, &value_of_use(document, &analysed, used)?))
        .collect();
    if let Some(types) = types.filter(|types| !types.is_empty()) {
        let arrow = tokens
            .iter()
            .find(|token| token.kind == TokenKind::Arrow && token.range.start > colon.range.end);
        let end = arrow.map_or(whole.end, |arrow| arrow.range.start);
        let is_list = arrow.is_some();
        let list = types.join(", ");
        let list = if is_list { format!(" ({list}) ") } else { format!(" {list}") };
        candidates.push(one(document, colon.range.end..end, list, false));
    }
    candidates
}

/// A closing quote before one of the signs that may follow a string, or at the end of the line.
fn closing_quotes(document: &Document, range: &TextRange) -> Vec<Candidate> {
    let end = line_end(document.text(), range.start);
    let text = document.text().slice(range.start..end).into_owned();
    let text = text.trim_end();
    let signs = text.char_indices().filter(|(_, c)| ",}])> ".contains(*c)).map(|(at, _)| at);
    let places = signs.chain([text.len()]).filter(|at| *at > 1).take(8);
    let insert = |at: usize| {
        let at = range.start + at;
        let before = short(&document.text().slice(range.start..at));
        let edits = vec![Replacement { range: at..at, text: "\"".into() }];
        Candidate { title: format!("Insert `\"` after `{before}`"), edits, is_sure: false }
    };
    places.map(insert).collect()
}

/// The bracket that closes the one at a place, before one of the signs that may follow it on its
/// line; for a region, a brace on a line of its own.
fn closing_brackets(document: &Document, range: &TextRange) -> Vec<Candidate> {
    let text = document.text();
    let open = text.slice(range.start..range.start + 1).into_owned();
    let close = match open.as_str() {
        "(" => ")",
        "[" => "]",
        "<" => ">",
        "{" => "}",
        _ => return closing_brace(document, range),
    };
    let end = line_end(text, range.start);
    let line = text.slice(range.end..end).into_owned();
    let line = line.trim_end();
    let mut places: Vec<usize> = line
        .char_indices()
        .filter(|(_, c)| ",:)]}>-{ ".contains(*c))
        .map(|(at, _)| range.end + at)
        .collect();
    places.push(range.end + line.len());
    places.dedup();
    let insert = |at: usize| {
        let before = short(&text.slice(range.start..at));
        let edits = vec![Replacement { range: at..at, text: close.into() }];
        Candidate { title: format!("Insert `{close}` after `{before}`"), edits, is_sure: false }
    };
    places.into_iter().rev().take(10).map(insert).collect()
}

/// A brace after the chunk whose region is not closed, or at the end of the text.
fn closing_brace(document: &Document, range: &TextRange) -> Vec<Candidate> {
    let text = document.text();
    let Some(placed) = document.chunks().at(range.start) else { return Vec::new() };
    let indent = indent(document, placed.op_start());
    let ends = [placed.range().end, text.len()];
    let insert = |end: usize| {
        let before = text.slice(end.saturating_sub(2)..end).into_owned();
        let newline = if before.ends_with('\n') { "" } else { "\n" };
        let edits = vec![Replacement { range: end..end, text: format!("{newline}{indent}}}\n") }];
        Candidate { title: "Insert `}`".into(), edits, is_sure: false }
    };
    ends.into_iter().map(insert).collect()
}
