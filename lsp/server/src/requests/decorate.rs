//! What is drawn over a text: semantic tokens, inlay hints, folds, lenses.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use ide::FoldKind;
use ide::InlayHintKind as HintKind;
use ide::{TokenClass, semantic_tokens};
use serde_json::json;
use tower_lsp::lsp_types::{
    CodeLens, Command, FoldingRange, FoldingRangeKind, InlayHint, InlayHintKind, InlayHintLabel,
    Range, SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens,
    SemanticTokensDelta, SemanticTokensEdit, SemanticTokensFullDeltaResult, SemanticTokensLegend,
};

use super::View;

/// Longer texts get tokens by range only, and longer ranges only for their beginning: all of them
/// would be hundreds of megabytes of numbers.
const LONGEST: usize = 4 << 20;

pub(crate) fn legend() -> SemanticTokensLegend {
    let name = |class: &TokenClass| match class {
        TokenClass::Operation => SemanticTokenType::KEYWORD,
        TokenClass::Symbol => SemanticTokenType::FUNCTION,
        TokenClass::Value => SemanticTokenType::VARIABLE,
        TokenClass::Argument => SemanticTokenType::PARAMETER,
        TokenClass::Block => SemanticTokenType::new("label"),
        TokenClass::Type => SemanticTokenType::TYPE,
        TokenClass::Attribute => SemanticTokenType::MACRO,
        TokenClass::Key => SemanticTokenType::PROPERTY,
        TokenClass::Keyword => SemanticTokenType::MODIFIER,
        TokenClass::Number => SemanticTokenType::NUMBER,
        TokenClass::String => SemanticTokenType::STRING,
        TokenClass::Comment => SemanticTokenType::COMMENT,
    };
    SemanticTokensLegend {
        token_types: TokenClass::ALL.iter().map(name).collect(),
        token_modifiers: vec![SemanticTokenModifier::DECLARATION],
    }
}

fn encoded(view: &View<'_>, range: &std::ops::Range<usize>) -> Vec<SemanticToken> {
    let (mut line, mut column) = (0, 0);
    let mut data = Vec::new();
    let mut walk = view.walk();
    for token in semantic_tokens(view.document(), range, &|| view.cancelled.is_set()) {
        if view.cancelled.is_set() {
            break;
        }
        let place = walk.range(&token.range);
        // Strings and comments end with their line, but a `\r` alone may break one.
        if place.start.line != place.end.line {
            continue;
        }
        let delta_line = place.start.line - line;
        let delta_start =
            if delta_line == 0 { place.start.character - column } else { place.start.character };
        (line, column) = (place.start.line, place.start.character);
        data.push(SemanticToken {
            delta_line,
            delta_start,
            length: place.end.character - place.start.character,
            token_type: TokenClass::ALL.iter().position(|class| *class == token.class).unwrap_or(0)
                as u32,
            token_modifiers_bitset: u32::from(token.is_definition),
        });
    }
    data
}

/// A range, or the beginning of one that is too long.
fn bounded(view: &View<'_>, range: Range) -> std::ops::Range<usize> {
    let range = view.bytes(range);
    range.start..range.end.min(range.start.saturating_add(LONGEST))
}

pub(crate) fn tokens_range(view: &View<'_>, range: Range) -> SemanticTokens {
    SemanticTokens { result_id: None, data: encoded(view, &bounded(view, range)) }
}

/// Numbers the answers, so that a delta says what it is from.
static ANSWERS: AtomicU64 = AtomicU64::new(1);

fn remember(view: &View<'_>, data: &[SemanticToken]) -> String {
    let id = ANSWERS.fetch_add(1, Ordering::Relaxed);
    let mut sent = view.session.tokens.lock().unwrap_or_else(PoisonError::into_inner);
    sent.insert(view.uri.clone(), (id, data.to_vec()));
    id.to_string()
}

pub(crate) fn tokens_full(view: &View<'_>) -> Option<SemanticTokens> {
    if view.open.rope.len_bytes() > LONGEST {
        return None;
    }
    let data = encoded(view, &(0..view.open.rope.len_bytes()));
    Some(SemanticTokens { result_id: Some(remember(view, &data)), data })
}

pub(crate) fn tokens_delta(
    view: &View<'_>,
    previous: &str,
) -> Option<SemanticTokensFullDeltaResult> {
    let sent = view.session.tokens.lock().unwrap_or_else(PoisonError::into_inner);
    let old = sent
        .get(view.uri)
        .filter(|(id, _)| id.to_string() == previous)
        .map(|(_, data)| data.clone());
    drop(sent);
    let full = tokens_full(view)?;
    let Some(old) = old else { return Some(SemanticTokensFullDeltaResult::Tokens(full)) };
    let new = full.data;
    let same_start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - same_start;
    let same_end = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(rest)
        .take_while(|(old, new)| old == new)
        .count();
    let removed = old.len() - same_start - same_end;
    let inserted = new[same_start..new.len() - same_end].to_vec();
    let edits = if removed == 0 && inserted.is_empty() {
        Vec::new()
    } else {
        // Five numbers a token.
        vec![SemanticTokensEdit {
            start: same_start as u32 * 5,
            delete_count: removed as u32 * 5,
            data: Some(inserted),
        }]
    };
    let result_id = full.result_id;
    Some(SemanticTokensFullDeltaResult::TokensDelta(SemanticTokensDelta { result_id, edits }))
}

pub(crate) fn inlay_hints(view: &View<'_>, range: Range) -> Vec<InlayHint> {
    if !view.session.settings().inlay_hints {
        return Vec::new();
    }
    let mut walk = view.walk();
    ide::inlay_hints(view.document(), &bounded(view, range), &|| view.cancelled.is_set())
        .into_iter()
        .map(|hint| InlayHint {
            position: walk.position(hint.offset),
            label: InlayHintLabel::String(hint.label),
            kind: (hint.kind == HintKind::Type).then_some(InlayHintKind::TYPE),
            text_edits: None,
            tooltip: None,
            padding_left: None,
            padding_right: None,
            data: None,
        })
        .collect()
}

/// How many folds are computed where the client names no limit.
const FOLDS: usize = 20_000;

pub(crate) fn folds(view: &View<'_>) -> Vec<FoldingRange> {
    let limit = view.session.abilities.folds.map_or(FOLDS, |limit| limit as usize);
    let by_character = view.session.abilities.folds_by_character;
    let mut folds: Vec<FoldingRange> = Vec::new();
    for fold in ide::folds(view.document(), limit.max(16) * 4) {
        let range = view.range(&fold.range);
        // The closing bracket stays in sight.
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

/// More lenses than this are not drawn.
const LENSES: usize = 500;

/// Run, Debug and Show ABI over every export. The commands are the client's, apart from the last.
pub(crate) fn lenses(view: &View<'_>) -> Vec<CodeLens> {
    if !view.session.settings().code_lens {
        return Vec::new();
    }
    let mut lenses = Vec::new();
    for function in ide::exported_functions(view.document(), LENSES) {
        let range = view.range(&function.selection);
        let arguments = Some(vec![json!(view.uri), json!(function.name)]);
        for (title, command) in [
            ("Run", "iree-dbg.runFunction"),
            ("Debug", "iree-dbg.debugFunction"),
            ("Show ABI", "iree-dbg.showAbi"),
        ] {
            lenses.push(CodeLens {
                range,
                command: Some(Command {
                    title: title.into(),
                    command: command.into(),
                    arguments: arguments.clone(),
                }),
                data: None,
            });
        }
    }
    lenses
}
