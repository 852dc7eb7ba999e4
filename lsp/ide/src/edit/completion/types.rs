//! Types at the cursor: what the operands are, what is called or ended, then what stands in the
//! same place elsewhere, then what is common near the cursor.

use std::collections::HashMap;

use mlir::{Meaning, meaning, table::Control};
use syntax::{FunctionType, Slot};

use super::examples::{Continuation, Surroundings, ranked};
use super::expected::{callee, function_results, output_types, same, type_of_use, yielded};
use super::item::{CompletionItem, CompletionItemKind, item};
use super::statement::{Piece, PlacedPiece, Statement};
use crate::Document;
use crate::operations::{Stated, TypeRule, element, type_rules};

/// Types that any text may use, if nothing better is known.
const BUILT_IN: [&str; 16] = [
    "index", "i32", "f32", "i1", "i64", "tensor", "memref", "vector", "f16", "bf16", "f64", "i8",
    "i16", "complex", "tuple", "none",
];

/// Whether a type begins at the cursor.
pub(super) fn begins_type(statement: &Statement, continuations: &[Continuation<'_>]) -> bool {
    let is_type = |piece: &Piece| matches!(piece, Piece::Type(_));
    let all: f64 = continuations.iter().map(|it| it.weight).sum();
    let types: f64 = continuations.iter().filter(|it| is_type(it.piece)).map(|it| it.weight).sum();
    // `-> (i32, `
    let list = statement.opened().and_then(|open| open.checked_sub(1));
    let in_types = list.is_some_and(|before| {
        matches!(statement.pieces[before].piece, Piece::Sign(b':') | Piece::Arrow)
    });
    match statement.last() {
        Some(Piece::Sign(b':') | Piece::Arrow) => true,
        Some(Piece::Sign(b'(' | b',')) if in_types => true,
        Some(Piece::Word(word)) if word == "to" || word == "into" => types * 2.0 >= all,
        _ => all > 0.0 && types * 2.0 > all,
    }
}

/// The types that may stand at the cursor, best first.
pub(super) fn types(
    document: &Document,
    statement: &Statement,
    around: &Surroundings,
    continuations: &[Continuation<'_>],
) -> Vec<CompletionItem> {
    let mut found: Vec<CompletionItem> = Vec::new();
    let mut offer = |ty: &str, about: &str| {
        if !ty.is_empty() && !found.iter().any(|it: &CompletionItem| same(&it.label, ty)) {
            found.push(item(ty.to_owned(), CompletionItemKind::Type, about.to_owned()));
        }
    };
    let is_fit = literal_fit(statement);
    for ty in certain(document, statement) {
        offer(&ty, "the type here");
    }
    if ends_with_results(statement) {
        for ty in used_as(document, statement).into_iter().filter(|ty| is_fit(ty)) {
            offer(&ty, "as it is used");
        }
    }
    let elsewhere = ranked(continuations, |piece| match piece {
        Piece::Type(ty) => Some(ty.as_str()),
        _ => None,
    });
    for (ty, _) in elsewhere.iter().filter(|(ty, _)| is_fit(ty) && ty.contains(['<', '!', '.'])) {
        offer(ty, "as elsewhere");
    }
    for (ty, _) in elsewhere.iter().filter(|(ty, _)| is_fit(ty)) {
        offer(ty, "as elsewhere");
    }
    for ty in own(document, statement).into_iter().filter(|ty| is_fit(ty)) {
        offer(&ty, "used here");
    }
    for ty in common(document, around) {
        if is_fit(&ty) {
            offer(&ty, "used nearby");
        }
    }
    for ty in BUILT_IN.iter().filter(|ty| is_fit(ty)) {
        offer(ty, "");
    }
    found
}

/// The types of the operands, in order, then those that the statement has written.
fn own(document: &Document, statement: &Statement) -> Vec<String> {
    let pieces = &statement.pieces;
    let colon = pieces.iter().rposition(|placed| placed.piece == Piece::Sign(b':'));
    let written = pieces[colon.unwrap_or(0)..].iter();
    let count = written.filter(|it| matches!(it.piece, Piece::Type(_))).count();
    let values = pieces.iter().filter(|placed| placed.piece == Piece::Value);
    let values = values.skip(count).take(1);
    let operand = values.filter_map(|it| type_of_use(document, &statement.analysed, it.start));
    let types = pieces.iter().rev().filter_map(|it| match &it.piece {
        Piece::Type(ty) => Some(ty.clone()),
        _ => None,
    });
    operand.chain(types).collect()
}

/// Whether the next type is the only result's, as far as the rules of the operation tell.
fn ends_with_results(statement: &Statement) -> bool {
    let is_last = statement.last() == Some(&Piece::Arrow)
        || matches!(statement.last(), Some(Piece::Word(word)) if word == "to" || word == "into");
    let is_type = |rule: &TypeRule| matches!(rule, TypeRule::Result(Stated::Type(_)));
    let is_only = type_rules(&statement.name).iter().any(is_type)
        && !statement.pieces.iter().any(|it| matches!(it.piece, Piece::Type(_)));
    is_last || is_only
}

/// The types that what follows writes for the result of the statement.
fn used_as(document: &Document, statement: &Statement) -> Vec<String> {
    let tree = &statement.analysed.analysis.tree;
    let results = statement.op.and_then(|op| tree.child(op, syntax::NodeKind::Results));
    let name = results.and_then(|results| tree.tokens_of(results).first());
    let (Some(name), Some(whole)) =
        (name, document.analysis_at(statement.analysed.base() + tree.range(0).start))
    else {
        return Vec::new();
    };
    let hash = crate::text::hash(&tree.text(document.text(), statement.analysed.base(), name));
    let tree = &whole.analysis.tree;
    let text = |leaf: &syntax::Leaf| tree.text(document.text(), whole.base(), leaf);
    let uses = whole.analysis.names.value_uses.iter();
    let after = uses.filter(|used| used.hash == hash && used.span.start > name.end).take(8);
    let mut found = Vec::new();
    for used in after {
        let token = tree.tokens().partition_point(|leaf| leaf.start < used.span.start);
        let Some(op) = tree.operation_of(tree.node_of_token(token)) else { continue };
        let pieces = super::statement::pieces(tree, op, &text);
        let op = tree.op_name(document.text(), whole.base(), op);
        found.extend(written_for(&op, &pieces, used.span.start));
    }
    found
}

/// The type that an operation writes for the operand at a place.
fn written_for(op: &str, pieces: &[PlacedPiece], start: u32) -> Option<String> {
    let at = pieces.iter().position(|it| it.start == start && it.piece == Piece::Value)?;
    let types_after = |from: usize, index: usize| {
        let types = pieces[from..].iter().filter_map(|it| match &it.piece {
            Piece::Type(ty) => Some(ty.clone()),
            _ => None,
        });
        types.clone().nth(index)
    };
    // `(%a, %b : i32, i32)`
    let mut nest = 0_i32;
    let open = pieces[..at].iter().rposition(|it| match it.piece {
        Piece::Sign(b')' | b']') => {
            nest += 1;
            false
        }
        Piece::Sign(b'(' | b'[') => {
            nest -= 1;
            nest < 0
        }
        _ => false,
    });
    let index_from =
        |from: usize| pieces[from..at].iter().filter(|it| it.piece == Piece::Value).count();
    let is_colon = |it: &PlacedPiece| it.piece == Piece::Sign(b':');
    if let Some(open) = open {
        let close =
            pieces[at..].iter().position(|it| matches!(it.piece, Piece::Sign(b')' | b']')))?;
        let colon = at + pieces[at..at + close].iter().position(is_colon)?;
        return types_after(colon, index_from(open));
    }
    let colon = pieces.iter().rposition(is_colon)?;
    let index = index_from(0);
    type_rules(op).iter().find_map(|rule| match *rule {
        TypeRule::All(Stated::Type(place)) if place >= 0 => types_after(colon, place as usize),
        TypeRule::Operand(of, Stated::Type(place)) if usize::from(of) == index && place >= 0 => {
            types_after(colon, place as usize)
        }
        TypeRule::Each | TypeRule::EachOutside => types_after(colon, index),
        _ => None,
    })
}

/// The types that the operation surely has here.
fn certain(document: &Document, statement: &Statement) -> Vec<String> {
    let pieces = &statement.pieces;
    let opened = statement.opened();
    // `ins(%a, %b : `, in any dialect.
    if let Some(open) = opened
        && let Some(found) = of_group(document, statement, &pieces[open..])
    {
        return vec![found];
    }
    let control = match meaning(&statement.name) {
        Some(Meaning::Control(control)) => Some(control),
        _ => None,
    };
    let colon = pieces.iter().rposition(|placed| placed.piece == Piece::Sign(b':'));
    let arrow = pieces.iter().rposition(|placed| placed.piece == Piece::Arrow);
    let count =
        |from: usize| pieces[from..].iter().filter(|it| matches!(it.piece, Piece::Type(_))).count();
    match control {
        Some(Control::Call) => {
            let function = callee(document, statement).and_then(|symbol| symbol.function_type);
            let Some(function) = function else { return Vec::new() };
            let (from, slots) = match (arrow, colon) {
                (Some(arrow), _) => (arrow, &function.results),
                (None, Some(colon)) => (colon, &function.parameters),
                (None, None) => return Vec::new(),
            };
            if opened.is_none() && arrow.is_none() {
                return vec![written_function(&function)];
            }
            return slots.get(count(from)).map(|slot| slot.ty.clone()).into_iter().collect();
        }
        Some(Control::Return) => {
            let results = function_results(document, statement).unwrap_or_default();
            return results.get(count(colon.unwrap_or(0))).cloned().into_iter().collect();
        }
        Some(Control::Yield) => {
            let results = yielded(document, statement).unwrap_or_default();
            let at = count(colon.unwrap_or(0));
            if let Some(found) = results.get(at) {
                return vec![found.clone()];
            }
        }
        Some(Control::For) if arrow.is_some() => {
            return carried(document, statement)
                .get(count(arrow.unwrap_or(0)))
                .cloned()
                .into_iter()
                .collect();
        }
        _ => {}
    }
    let is_loops = matches!(meaning(&statement.name), Some(Meaning::Loops(_)));
    if let (true, Some(op), Some(arrow)) = (is_loops, statement.op, arrow) {
        let outs = output_types(document, &statement.analysed, op);
        return outs.get(count(arrow)).cloned().into_iter().collect();
    }
    by_rules(document, statement, colon, arrow)
}

/// A function's type as a call writes it.
fn written_function(function: &FunctionType) -> String {
    let list =
        |slots: &[Slot]| slots.iter().map(|slot| slot.ty.as_str()).collect::<Vec<_>>().join(", ");
    let parameters = list(&function.parameters);
    match function.results.as_slice() {
        [only] if !only.ty.contains("->") => format!("({parameters}) -> {}", only.ty),
        results => format!("({parameters}) -> ({})", list(results)),
    }
}

/// The type of the value in a list whose values stand before a colon: `(%a, %b : i32, `.
fn of_group(document: &Document, statement: &Statement, group: &[PlacedPiece]) -> Option<String> {
    let colon = group.iter().position(|placed| placed.piece == Piece::Sign(b':'))?;
    let values = group[..colon].iter().filter(|placed| placed.piece == Piece::Value);
    let typed = group[colon..].iter().filter(|it| matches!(it.piece, Piece::Type(_))).count();
    let value = values.clone().nth(typed)?;
    type_of_use(document, &statement.analysed, value.start)
}

/// The types of the values that a loop begins with: `iter_args(%x = %a, %y = %b)`.
fn carried(document: &Document, statement: &Statement) -> Vec<String> {
    let pieces = &statement.pieces;
    let Some(list) = pieces.iter().position(|it| it.piece == Piece::Word("iter_args".into()))
    else {
        return Vec::new();
    };
    let given = pieces[list..]
        .windows(2)
        .filter(|pair| pair[0].piece == Piece::Sign(b'=') && pair[1].piece == Piece::Value);
    let types = given.map(|pair| type_of_use(document, &statement.analysed, pair[1].start));
    types.map(Option::unwrap_or_default).collect()
}

/// What the rules of the operation say of the next type.
fn by_rules(
    document: &Document,
    statement: &Statement,
    colon: Option<usize>,
    arrow: Option<usize>,
) -> Vec<String> {
    let rules = type_rules(&statement.name);
    let Some(from) = colon.or(arrow) else { return Vec::new() };
    let pieces = &statement.pieces;
    let written: Vec<&str> = pieces[from..]
        .iter()
        .filter_map(|it| match &it.piece {
            Piece::Type(ty) => Some(ty.as_str()),
            _ => None,
        })
        .collect();
    let next = written.len();
    let mut nest = 0_i32;
    let (mut outside, mut all) = (Vec::new(), Vec::new());
    for placed in &pieces[..from] {
        match placed.piece {
            Piece::Sign(b'(' | b'[' | b'{') => nest += 1,
            Piece::Sign(b')' | b']' | b'}') => nest -= 1,
            Piece::Value => {
                let ty = type_of_use(document, &statement.analysed, placed.start);
                if nest == 0 {
                    outside.push(ty.clone());
                }
                all.push(ty);
            }
            _ => {}
        }
    }
    if rules.contains(&TypeRule::Each) {
        return all.get(next).cloned().flatten().into_iter().collect();
    }
    if rules.contains(&TypeRule::EachOutside) {
        return outside.get(next).cloned().flatten().into_iter().collect();
    }
    // The last type stands after those that are counted from the first.
    let counted = rules.iter().filter_map(|rule| match rule {
        TypeRule::All(Stated::Type(at)) | TypeRule::Operand(_, Stated::Type(at)) => Some(*at),
        _ => None,
    });
    let last = counted.max().map_or(0, |most| usize::try_from(most + 1).unwrap_or(0));
    let is_next = |at: i8| match usize::try_from(at) {
        Ok(at) => at == next,
        Err(_) => next == last,
    };
    let mut found = Vec::new();
    let mut elements = Vec::new();
    for rule in rules {
        match *rule {
            TypeRule::All(Stated::Type(at)) if is_next(at) => {
                found.extend(outside.iter().flatten().next().cloned());
            }
            TypeRule::Operand(index, Stated::Type(at)) if is_next(at) => {
                found.extend(outside.get(usize::from(index)).cloned().flatten());
            }
            TypeRule::Operand(index, Stated::Element(at)) if is_next(at) => {
                elements.extend(outside.get(usize::from(index)).cloned().flatten());
            }
            _ => {}
        }
    }
    if found.is_empty() {
        found.extend(with_element(document, statement, &elements));
    }
    found
}

/// The types of visible tensors and the like whose elements are of these types.
fn with_element(_: &Document, statement: &Statement, elements: &[String]) -> Vec<String> {
    let all = statement.pieces.iter().filter_map(|it| match &it.piece {
        Piece::Type(ty) if element(ty).is_some_and(|of| elements.iter().any(|it| it == of)) => {
            Some(ty.clone())
        }
        _ => None,
    });
    all.collect()
}

/// Which types the constant before the colon may have.
fn literal_fit(statement: &Statement) -> impl Fn(&str) -> bool {
    let is_constant = meaning(&statement.name) == Some(Meaning::Constant);
    let before: Vec<&Piece> = statement.pieces.iter().map(|placed| &placed.piece).collect();
    let dense = before.iter().any(|piece| **piece == Piece::Word("dense".into()));
    let number = before.iter().find_map(|piece| match piece {
        Piece::Number(text) => Some(text.as_str()),
        _ => None,
    });
    let (dot, number) = (number.is_some_and(|text| text.contains('.')), number.is_some());
    move |ty: &str| {
        if !is_constant {
            return true;
        }
        let shaped = element(ty).is_some() || ty.contains('<');
        let is_integer = ty == "index"
            || ty.strip_prefix('i').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
        match (dense, number) {
            (true, _) => shaped || matches!(ty, "tensor" | "vector"),
            (false, true) if dot => !shaped && !is_integer,
            (false, true) => is_integer,
            (false, false) => true,
        }
    }
}

/// The types near the cursor, most frequent first.
fn common(document: &Document, around: &Surroundings) -> Vec<String> {
    let (before, after) = around.operations.split_at(around.before);
    let near = before.iter().rev().take(60).chain(after.iter().take(20));
    let mut counts: HashMap<String, usize> = HashMap::new();
    for other in near {
        let analysed = &around.chunks[other.chunk];
        let tree = &analysed.analysis.tree;
        let text = |leaf: &syntax::Leaf| tree.text(document.text(), analysed.base(), leaf);
        for placed in super::statement::pieces(tree, other.id, &text) {
            if let Piece::Type(ty) = placed.piece {
                *counts.entry(ty).or_default() += 1;
            }
        }
    }
    let mut found: Vec<_> = counts.into_iter().collect();
    found.sort_by(|left, right| right.1.cmp(&left.1).then(left.0.cmp(&right.0)));
    found.into_iter().map(|(ty, _)| ty).collect()
}
