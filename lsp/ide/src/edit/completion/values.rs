//! Values at the cursor: those that are visible there and dominate it, ranked by their type, by
//! whether anything uses them yet, and by nearness.

use std::collections::{HashMap, HashSet};

use syntax::{IN_FUNCTION, NodeId};

use super::examples::Surroundings;
use super::expected::Expected;
use super::item::{CompletionItem, CompletionItemKind, LIMIT, item};
use super::statement::{Piece, Statement};
use crate::Document;
use crate::resolve::type_of;
use crate::text::{
    AnalysedChunk, Dominance, LocalDefinition, Value, ValueKind, chunks_sharing_values,
};

/// A value with what speaks for it.
struct Candidate {
    label: String,
    ty: Option<String>,
    score: f64,
}

/// The visible values, best first.
pub(super) fn values(
    document: &Document,
    statement: &Statement,
    around: &Surroundings,
    expected: &Expected,
) -> Vec<CompletionItem> {
    let used = Used::of(statement, around);
    let typed: HashSet<u64> = statement
        .pieces
        .iter()
        .filter(|placed| placed.piece == Piece::Value)
        .filter_map(|placed| {
            let uses = &statement.analysed.analysis.names.value_uses;
            let at = uses.binary_search_by_key(&placed.start, |it| it.span.start).ok()?;
            Some(uses[at].hash)
        })
        .collect();
    let mut found: Vec<Candidate> = Vec::new();
    let mut seen: HashSet<u64> = HashSet::new();
    // Answers whether more are wanted.
    let mut offer = |definition: LocalDefinition| {
        let value = &definition.analysed.analysis.names.values[definition.index as usize];
        let label = document.text().slice(definition.value_range()).into_owned();
        if found.len() > LIMIT {
            return false;
        }
        if !seen.insert(value.hash) {
            return true;
        }
        let ty = type_of(document, &definition);
        let distance = (found.len() as f64 + 1.0).ln() * 5.0;
        let again = if typed.contains(&value.hash) { 6.0 } else { 0.0 };
        let score = expected.fit(ty.as_deref()) + used.bonus(value.hash) - distance - again;
        found.push(Candidate { label, ty, score });
        true
    };
    for index in visible(document, statement) {
        offer(LocalDefinition { analysed: statement.analysed.clone(), index });
    }
    'chunks: for placed in chunks_sharing_values(document, &statement.analysed.placed).iter().rev()
    {
        if placed.index >= statement.analysed.placed.index {
            continue;
        }
        let analysed = document.analysis(placed);
        for index in (0..analysed.analysis.names.values.len()).rev() {
            let is_shared =
                analysed.analysis.names.values[index].scope == 0 || placed.chunk.is_long_function();
            let definition = LocalDefinition { analysed: analysed.clone(), index: index as u32 };
            if is_shared && !offer(definition) {
                break 'chunks;
            }
        }
    }
    found.sort_by(|left, right| right.score.total_cmp(&left.score));
    found
        .into_iter()
        .map(|it| item(it.label, CompletionItemKind::Value, it.ty.unwrap_or_default()))
        .collect()
}

/// The values of the chunk that the statement may use, latest first.
fn visible(document: &Document, statement: &Statement) -> Vec<u32> {
    let analysed = &statement.analysed;
    let names = &analysed.analysis.names;
    let scope = statement.scope();
    let tree = &analysed.analysis.tree;
    // An operation's results are not there in its regions, and its arguments only there.
    let around: Vec<NodeId> = tree.ancestors(statement.inside).collect();
    let is_own = |value: &Value| match value.kind {
        ValueKind::Result(_) => Some(value.node) == statement.op || around.contains(&value.node),
        ValueKind::RegionArgument | ValueKind::BlockArgument => Some(value.node) == statement.op,
    };
    let whole = WholeChunk::of(document, statement);
    let all = (0..names.values.len()).rev().filter(|&index| {
        let value = &names.values[index];
        !is_own(value)
            && names.sees(scope, value.scope)
            && whole.as_ref().is_none_or(|whole| whole.is_there(document, value.span.start))
    });
    all.map(|index| index as u32).collect()
}

/// The chunk of the cursor with what follows it, which shows how blocks go on.
struct WholeChunk {
    analysed: AnalysedChunk,
    /// The operation at the cursor.
    user: NodeId,
}

impl WholeChunk {
    /// `None` if no region before the cursor has several blocks.
    fn of(document: &Document, statement: &Statement) -> Option<Self> {
        statement.analysed.analysis.names.blocks.first()?;
        let offset = statement.analysed.placed.range().end;
        let analysed = document.analysis_at(offset.checked_sub(1)?)?;
        if analysed.base() != statement.analysed.base() {
            return None;
        }
        let tree = &analysed.analysis.tree;
        let user =
            tree.operation_of(tree.node_of_token(tree.token_at(offset - 1 - analysed.base())?));
        Some(Self { user: user?, analysed })
    }

    fn is_there(&self, document: &Document, start: u32) -> bool {
        let tree = &self.analysed.analysis.tree;
        let values = &self.analysed.analysis.names.values;
        let Ok(at) = values.binary_search_by_key(&start, |value| value.span.start) else {
            return true;
        };
        let op = |id: NodeId| tree.op_name(document.text(), self.analysed.base(), id);
        Dominance::new(&self.analysed, &op).is_there(&values[at], self.user)
    }
}

/// How often names are used in the function around the cursor.
struct Used(HashMap<u64, usize>);

impl Used {
    fn of(statement: &Statement, around: &Surroundings) -> Self {
        let own = &statement.analysed.placed;
        let in_long = own.chunk.depth & IN_FUNCTION != 0;
        let own_range = statement.op.map(|op| {
            let range = statement.analysed.analysis.tree.range(op);
            range.start as u32..range.end as u32
        });
        let mut counts = HashMap::new();
        for chunk in &around.chunks {
            let is_own = chunk.placed.index == own.index;
            let shares = is_own || in_long && chunk.placed.chunk.depth & IN_FUNCTION != 0;
            if !shares {
                continue;
            }
            for used in &chunk.analysis.names.value_uses {
                let is_typed = is_own
                    && own_range.as_ref().is_some_and(|range| range.contains(&used.span.start));
                if !is_typed {
                    *counts.entry(used.hash).or_insert(0) += 1;
                }
            }
        }
        Self(counts)
    }

    /// What nothing uses yet is probably what comes next.
    fn bonus(&self, name: u64) -> f64 {
        if self.0.contains_key(&name) { 0.0 } else { 18.0 }
    }
}

/// The blocks that a branch at the cursor may go to: first those that nothing goes to yet, then
/// the nearest.
pub(super) fn blocks(
    document: &Document,
    statement: Option<&Statement>,
    offset: usize,
) -> Vec<CompletionItem> {
    let Some(here) = document.analysis_at(offset.saturating_sub(1)) else { return Vec::new() };
    let typed = statement.map(|statement| {
        let range = statement.op.map(|op| statement.analysed.analysis.tree.range(op));
        let base = statement.analysed.base();
        range.map_or(offset..offset, |range| base + range.start..offset)
    });
    let typed = typed.unwrap_or(offset..offset);
    let mut aimed: HashSet<u64> = HashSet::new();
    let mut in_statement: HashSet<u64> = HashSet::new();
    let mut found = Vec::new();
    for placed in chunks_sharing_values(document, &here.placed) {
        let analysed = document.analysis(&placed);
        let names = &analysed.analysis.names;
        for used in &names.block_uses {
            let range = analysed.absolute(&used.span);
            let is_typed = typed.contains(&range.start);
            if is_typed {
                in_statement.insert(used.hash)
            } else {
                aimed.insert(used.hash)
            };
        }
        let tree = &analysed.analysis.tree;
        for block in &names.blocks {
            let range = analysed.absolute(&block.span);
            let is_entry = tree.node(block.node).parent != 0
                && tree.children(tree.node(block.node).parent).next() == Some(block.node);
            if !is_entry {
                found.push((range, block.hash));
            }
        }
    }
    let here = found.partition_point(|(range, _)| range.start < offset);
    let mut ranked: Vec<_> = found.into_iter().enumerate().collect();
    ranked.sort_by_key(|(place, (_, hash))| {
        let is_typed = in_statement.contains(hash);
        let distance = if *place < here { here - place } else { place + 1 - here };
        // A block rarely goes to itself.
        (is_typed, aimed.contains(hash), *place + 1 == here, distance)
    });
    let found = ranked.into_iter().map(|(_, it)| it);
    found
        .map(|(range, _)| {
            let label = document.text().slice(range).into_owned();
            item(label, CompletionItemKind::Block, "block".into())
        })
        .collect()
}
