//! Semantic tokens: of a document, of a range, and as deltas.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use ide::TokenClass;
use tower_lsp::lsp_types::{
    Range, SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens,
    SemanticTokensDelta, SemanticTokensEdit, SemanticTokensFullDeltaResult, SemanticTokensLegend,
};

use super::View;
use super::view::LONGEST;

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
    for token in ide::semantic_tokens(view.document(), range, &|| view.cancelled.is_set()) {
        if view.cancelled.is_set() {
            break;
        }
        let place = walk.range(&token.range);
        // Strings and comments end with their line, but a lone `\r` may break one.
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

pub(crate) fn tokens_range(view: &View<'_>, range: Range) -> SemanticTokens {
    SemanticTokens { result_id: None, data: encoded(view, &view.bounded(range)) }
}

/// The number of the next answer. A delta names the answer that it starts from.
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

/// Why a document has no tokens as a whole.
pub(crate) fn limit(view: &View<'_>) -> Option<String> {
    (view.open.rope.len_bytes() > LONGEST).then(|| {
        format!(
            "{} is longer than {} MB: it has semantic tokens only in editors that ask for those of a range",
            view.uri,
            LONGEST >> 20
        )
    })
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
        // A token is five numbers.
        vec![SemanticTokensEdit {
            start: same_start as u32 * 5,
            delete_count: removed as u32 * 5,
            data: Some(inserted),
        }]
    };
    let result_id = full.result_id;
    Some(SemanticTokensFullDeltaResult::TokensDelta(SemanticTokensDelta { result_id, edits }))
}
