//! Names of operations where one may begin: those that follow the operations before the cursor
//! elsewhere, then those used nearby, then all that are known.

use std::collections::HashMap;

use mlir::structure::terminators;
use syntax::{Language, Lexer, NodeKind, Shape, Symbol, Tree};

use super::examples::Surroundings;
use super::item::{CompletionItem, CompletionItemKind, LIMIT, item};
use super::statement::{Piece, Statement, pieces};
use crate::Document;
use crate::describe::instructions;
use crate::operations::{Standing, dialect_of, examples, form, is_listed, known, standing};
use crate::text::hash;

/// The operations that may begin at the cursor, best first.
pub(super) fn operations(
    document: &Document,
    statement: Option<(&Statement, &Surroundings)>,
    offset: usize,
    typed: &str,
) -> Vec<CompletionItem> {
    if document.language() == Language::Vmasm {
        return instruction_items(document);
    }
    let mut items = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let nearby = statement.map(|(statement, around)| nearby(document, statement, around, offset));
    for name in nearby.into_iter().flatten() {
        // What is being typed is no operation yet.
        let is_half = name == typed && name.contains('.') && !is_operation(&name);
        if !is_half && seen.insert(hash(&name)) && items.len() <= LIMIT {
            items.push(described(name, "used nearby"));
        }
    }
    if is_vm(document, offset) {
        let all = instruction_items(document).into_iter();
        items.extend(all.filter(|item| seen.insert(hash(&item.label))));
    }
    let all = known();
    let of_compiler = all.beginning(typed);
    let of_compiler = of_compiler.map(|(name, _)| name.to_owned());
    let mut more: Vec<String> = if typed.is_empty() {
        Vec::new()
    } else {
        of_compiler.chain(crate::operations::beginning(typed)).collect()
    };
    more.retain(|name| seen.insert(hash(name)));
    let needs_results = statement.is_some_and(|(statement, _)| statement.has_results);
    let lacks = |name: &str| {
        let known = all.get(name);
        known.is_some_and(|known| known.results.is_empty() == needs_results)
    };
    // Short names first: `arith.addi` before `arith.addui_extended`.
    more.sort_by_cached_key(|name| (lacks(name), name.len(), name.clone()));
    items.extend(more.into_iter().take(LIMIT).map(|name| described(name, "")));
    for item in items.iter_mut().take(MOST_FORMS).filter(|item| item.snippet.is_none()) {
        item.snippet = documented_form(&item.label);
    }
    items
}

/// Of so many operations the documentation is searched for a form.
const MOST_FORMS: usize = 24;

/// The first form of an operation in its documentation, with its values and types to fill in.
fn documented_form(name: &str) -> Option<String> {
    let all = known();
    let documentation = &all.get(name)?.documentation;
    examples(documentation).find_map(|example| snippet(&example, name))
}

/// The first operation of this name in a text, as a snippet; `None` if it has regions.
fn snippet(text: &str, name: &str) -> Option<String> {
    let shape = Shape { open_end: false, closes: false };
    let tree = Tree::parse(text, 0..text.len(), Language::Mlir, shape);
    let is_it = |id: &syntax::NodeId| tree.op_name(text, 0, *id) == name;
    let id = tree.operations().find(is_it)?;
    let is_region = |child: syntax::NodeId| tree.node(child).kind == NodeKind::Region;
    let head = tree.child(id, NodeKind::Name)?;
    if !tree.errors().is_empty()
        || tree.children(id).any(is_region)
        || tree.range(head).len() > name.len()
    {
        return None;
    }
    let leaf_text = |leaf: &syntax::Leaf| tree.text(text, 0, leaf);
    let pieces = pieces(&tree, id, &leaf_text);
    let (mut made, mut at) = (String::new(), tree.range(head).start);
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}");
    let mut fields = 0;
    for placed in &pieces {
        let start = placed.start as usize;
        let length = match &placed.piece {
            Piece::Value => text[start..].find(|c: char| !is_name(c) && c != '%')?,
            Piece::Type(ty) if text[start..].starts_with(ty.as_str()) => ty.len(),
            Piece::Number(number) => number.len(),
            Piece::Symbol => text[start..].find(|c: char| !is_name(c) && c != '@')?,
            _ => continue,
        };
        fields += 1;
        made += &escaped(text.get(at..start)?);
        made += &format!("${{{fields}:{}}}", escaped(text.get(start..start + length)?));
        at = start + length;
    }
    made += &escaped(text.get(at..tree.range(id).end)?);
    Some(made).filter(|made| fields > 0 && !made.contains("..."))
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.$#".contains(c)
}

/// Whether the text around the cursor is of the VM.
fn is_vm(document: &Document, offset: usize) -> bool {
    document.chunks().at(offset).is_some_and(|placed| {
        let ancestors = document.chunks().ancestors(placed.index);
        ancestors.iter().chain([&placed]).any(|open| {
            Symbol::read(document.text(), open).is_some_and(|symbol| symbol.op.starts_with("vm."))
        })
    })
}

fn instruction_items(document: &Document) -> Vec<CompletionItem> {
    let items = vmfb::Op::all().map(|op| {
        let about = instructions::describe(op);
        CompletionItem {
            documentation: about.markdown,
            snippet: (document.language() == Language::Vmasm).then_some(about.snippet),
            ..item(format!("vm.{}", op.mnemonic()), CompletionItemKind::Operation, about.syntax)
        }
    });
    items.collect()
}

/// The operations near the cursor by how probably they follow here.
fn nearby(
    document: &Document,
    statement: &Statement,
    around: &Surroundings,
    offset: usize,
) -> Vec<String> {
    let all = &around.operations;
    let before: Vec<&str> =
        all[..around.before].iter().rev().take(2).map(|it| it.name.as_str()).collect();
    let after = all.get(around.before).map(|it| it.name.as_str());
    let mut scores: HashMap<&str, f64> = HashMap::new();
    for (index, other) in all.iter().enumerate() {
        if other.has_results != statement.has_results {
            continue;
        }
        let distance = index.abs_diff(around.before) as f64;
        let near = 1.0 / (1.0 + distance / 20.0);
        let at = |back: usize| index.checked_sub(back).map(|at| all[at].name.as_str());
        let mut score = 0.3 + near;
        if let Some(last) = before.first()
            && at(1) == Some(*last)
        {
            score += 4.0 * near.max(0.3);
            if before.get(1).is_some_and(|second| at(2) == Some(*second)) {
                score += 8.0 * near.max(0.3);
            }
        }
        let next = all.get(index + 1).map(|it| it.name.as_str());
        if after.is_some() && next == after {
            score += 3.0 * near.max(0.3);
        }
        *scores.entry(other.name.as_str()).or_default() += score;
    }
    let ends = ends(document, statement, offset);
    let mut found: Vec<(&str, f64)> = scores.into_iter().collect();
    found.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(right.0)));
    let known = found.into_iter().map(|(name, _)| name.to_owned());
    let known: Vec<String> = known.collect();
    let is_end = |name: &String| ends.contains(name) || mlir::ends_block(name);
    let (mut first, rest): (Vec<String>, Vec<String>) =
        if ends.is_empty() { (Vec::new(), known) } else { known.into_iter().partition(is_end) };
    if first.is_empty() {
        first.extend(ends);
    }
    first.extend(rest);
    first
}

/// What may end the block at the cursor, if its region ends right after it.
fn ends(document: &Document, statement: &Statement, offset: usize) -> Vec<String> {
    let next =
        Lexer::new(document.text(), crate::resolve::line_end(document.text(), offset)).next();
    let ends = next.is_some_and(|token| token.is(b'}'));
    let Some(outer) = statement.around().filter(|_| ends && !statement.has_results) else {
        return Vec::new();
    };
    terminators(&statement.name_of(document, outer)).map(str::to_owned).collect()
}

/// Whether an operation is known by this name.
fn is_operation(name: &str) -> bool {
    is_listed(dialect_of(name)) && standing(name) == Standing::Fine
}

/// An operation with what is known of it.
fn described(name: String, about: &str) -> CompletionItem {
    let all = known();
    let operation = all.get(&name);
    let line = operation.map(crate::InstalledOperation::line).filter(|line| !line.is_empty());
    CompletionItem {
        documentation: operation.map(|known| known.documentation.clone()).unwrap_or_default(),
        snippet: form(&name, operation),
        ..item(name, CompletionItemKind::Operation, line.unwrap_or_else(|| about.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::snippet;

    #[test]
    fn an_example_is_a_form() {
        let text = "// Cast.\n%2 = knots.tie %a[%i, 4] to \"x\" : tensor<4xf32> to i32\n";
        assert_eq!(
            snippet(text, "knots.tie").as_deref(),
            Some("knots.tie ${1:%a}[${2:%i}, ${3:4}] to \"x\" : ${4:tensor<4xf32>} to ${5:i32}")
        );
        assert_eq!(snippet("knots.tie {\n  knots.end\n}", "knots.tie"), None);
    }
}
