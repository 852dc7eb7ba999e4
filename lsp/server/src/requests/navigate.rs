//! Places: definition, references, highlights, call hierarchy, links, outline, folds, selections.

use ide::{Callable, Calls, FoldKind};
use serde_json::json;
use tower_lsp::lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, DocumentHighlight,
    DocumentHighlightKind, DocumentLink, DocumentSymbolResponse, FoldingRange, FoldingRangeKind,
    GotoDefinitionResponse, LinkedEditingRanges, Location, LocationLink, Position, Range,
    SelectionRange, Url,
};

use super::View;
use super::stages::{self, Way};
use crate::stages::is_stage;
use crate::to_proto;

pub(crate) fn definition(view: &View<'_>, position: Position) -> Option<GotoDefinitionResponse> {
    let offset = view.offset(position);
    let Some((origin, place)) = ide::file_definition(view.document(), offset) else {
        let target = ide::definition(view.document(), offset);
        if target.is_none() && is_stage(view.uri) {
            // An operation of a stage comes from the source.
            return stages::go(view, position, Way::Up).map(GotoDefinitionResponse::Array);
        }
        let target = target?;
        let (links, rope) = (view.session.abilities.links, &view.open.rope);
        return Some(to_proto::definition(view.uri, rope, &target, view.encoding(), links));
    };
    let uri = Url::from_file_path(&place.path).ok()?;
    let range = file_range(place.line, place.column);
    Some(if view.session.abilities.links {
        GotoDefinitionResponse::Link(vec![LocationLink {
            origin_selection_range: Some(view.range(&origin)),
            target_uri: uri,
            target_range: range,
            target_selection_range: range,
        }])
    } else {
        GotoDefinitionResponse::Scalar(Location { uri, range })
    })
}

pub(crate) fn type_definition(view: &View<'_>, position: Position) -> Vec<Location> {
    let found = ide::type_definitions(view.document(), view.offset(position));
    found.iter().map(|target| view.location(&target.selection)).collect()
}

/// The characters of a name, for clients that change all places of one while it is typed.
const NAME: &str = "[A-Za-z0-9_$.-]+";

pub(crate) fn linked(view: &View<'_>, position: Position) -> Option<LinkedEditingRanges> {
    let places = ide::linked_places(view.document(), view.offset(position));
    let ranges: Vec<Range> = places.iter().map(|range| view.range(range)).collect();
    let word_pattern = Some(NAME.to_owned());
    (!ranges.is_empty()).then_some(LinkedEditingRanges { ranges, word_pattern })
}

/// A place as a compiler counts it, from 1. Its column is in bytes; the file is not read to convert
/// it.
fn file_range(line: u32, column: u32) -> Range {
    let at = Position::new(line.saturating_sub(1), column.saturating_sub(1));
    Range::new(at, at)
}

pub(crate) fn references(view: &View<'_>, position: Position, declaration: bool) -> Vec<Location> {
    ide::usages_at(view.document(), view.offset(position))
        .iter()
        .filter(|usage| declaration || !usage.is_definition)
        .map(|usage| view.location(&usage.range))
        .collect()
}

pub(crate) fn highlights(view: &View<'_>, position: Position) -> Vec<DocumentHighlight> {
    ide::usages_at(view.document(), view.offset(position))
        .iter()
        .map(|usage| DocumentHighlight {
            range: view.range(&usage.range),
            kind: Some(if usage.is_definition {
                DocumentHighlightKind::WRITE
            } else {
                DocumentHighlightKind::READ
            }),
        })
        .collect()
}

/// One chain per position, innermost first. The protocol requires a chain for every position.
pub(crate) fn selection_ranges(view: &View<'_>, positions: &[Position]) -> Vec<SelectionRange> {
    let chains = positions.iter().map(|&position| {
        let ranges = ide::selection_ranges(view.document(), view.offset(position));
        let mut chain: Option<SelectionRange> = None;
        for range in ranges.iter().rev() {
            let parent = chain.take().map(Box::new);
            chain = Some(SelectionRange { range: view.range(range), parent });
        }
        chain.unwrap_or(SelectionRange { range: Range::new(position, position), parent: None })
    });
    chains.collect()
}

pub(crate) fn links(view: &View<'_>) -> Vec<DocumentLink> {
    ide::links(view.document())
        .into_iter()
        .filter_map(|link| {
            let mut target = Url::from_file_path(&link.path).ok()?;
            // The form of a place that editors agree on.
            target.set_fragment(Some(&format!("L{},{}", link.line, link.column)));
            Some(DocumentLink {
                range: view.range(&link.range),
                target: Some(target),
                tooltip: Some(format!("{}:{}:{}", link.path.display(), link.line, link.column)),
                data: None,
            })
        })
        .collect()
}

fn item(view: &View<'_>, function: &Callable) -> CallHierarchyItem {
    CallHierarchyItem {
        name: function.name.clone(),
        kind: to_proto::symbol_kind(function.class),
        tags: None,
        detail: Some(function.op.clone()),
        uri: view.uri.clone(),
        range: view.range(&function.range),
        selection_range: view.range(&function.selection),
        data: Some(json!({})),
    }
}

pub(crate) fn prepare_calls(view: &View<'_>, position: Position) -> Option<Vec<CallHierarchyItem>> {
    let function = ide::callable_at(view.document(), view.offset(position))?;
    Some(vec![item(view, &function)])
}

fn places(view: &View<'_>, calls: &Calls) -> Vec<Range> {
    calls.places.iter().map(|range| view.range(range)).collect()
}

pub(crate) fn incoming(view: &View<'_>, of: &CallHierarchyItem) -> Vec<CallHierarchyIncomingCall> {
    let offset = view.offset(of.selection_range.start) + 1;
    ide::incoming_calls(view.document(), offset)
        .iter()
        .map(|calls| CallHierarchyIncomingCall {
            from: item(view, &calls.function),
            from_ranges: places(view, calls),
        })
        .collect()
}

pub(crate) fn outgoing(view: &View<'_>, of: &CallHierarchyItem) -> Vec<CallHierarchyOutgoingCall> {
    let offset = view.offset(of.selection_range.start) + 1;
    ide::outgoing_calls(view.document(), offset)
        .iter()
        .map(|calls| CallHierarchyOutgoingCall {
            to: item(view, &calls.function),
            from_ranges: places(view, calls),
        })
        .collect()
}

/// The most symbols of an outline. More make editors slow.
const SYMBOLS: usize = 20_000;

pub(crate) fn document_symbol(view: &View<'_>) -> DocumentSymbolResponse {
    let outline = ide::outline(view.document(), SYMBOLS);
    let symbols = to_proto::document_symbols(&view.open.rope, &outline, view.encoding());
    if view.session.abilities.trees {
        DocumentSymbolResponse::Nested(symbols)
    } else {
        DocumentSymbolResponse::Flat(to_proto::symbol_informations(view.uri, &symbols, None))
    }
}

/// The number of folds if the client sets no limit.
const FOLDS: usize = 20_000;

pub(crate) fn folds(view: &View<'_>) -> Vec<FoldingRange> {
    let limit = view.session.abilities.folds.map_or(FOLDS, |limit| limit as usize);
    let by_character = view.session.abilities.folds_by_character;
    let mut folds: Vec<FoldingRange> = Vec::new();
    for fold in ide::folds(view.document(), limit.max(16) * 4) {
        let range = view.range(&fold.range);
        // The closing bracket stays visible.
        let shows_end = fold.kind == FoldKind::Code;
        let end_line = range.end.line.saturating_sub(u32::from(shows_end && !by_character));
        if end_line <= range.start.line {
            continue;
        }
        folds.push(FoldingRange {
            start_line: range.start.line,
            start_character: (by_character && shows_end).then_some(range.start.character + 1),
            end_line,
            end_character: (by_character && shows_end)
                .then_some(range.end.character.saturating_sub(1)),
            kind: match fold.kind {
                FoldKind::Code => None,
                FoldKind::Comment => Some(FoldingRangeKind::Comment),
                FoldKind::Section => Some(FoldingRangeKind::Region),
            },
            collapsed_text: None,
        });
    }
    folds.sort_by_key(|fold| (fold.start_line, std::cmp::Reverse(fold.end_line)));
    folds.dedup_by_key(|fold| fold.start_line);
    folds.truncate(limit);
    folds
}
