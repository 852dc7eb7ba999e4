//! The gap between two tokens of a line: as MLIR's printer has it where that is the same for every
//! operation, else one space where the author has any.

use syntax::{NodeKind, TokenKind};

use super::chunk_view::ChunkView;

/// The white space that should stand before a token, on the same line as the one before it, where
/// the author has `gap`.
pub(super) fn spacing<'g>(view: &ChunkView<'_>, token: usize, gap: &'g str) -> &'g str {
    if view.is_comment(token) {
        // Comments after code may be aligned, so their gap stays.
        return if gap.is_empty() { " " } else { gap };
    }
    let Some(before) = token.checked_sub(1) else { return once(gap) };
    if view.is_in_angle(token) {
        return gap;
    }
    let tokens = view.tokens();
    let (left, right) = (&tokens[before], &tokens[token]);
    if right.is(b',') || right.is(b')') || right.is(b']') || left.is(b'(') || left.is(b'[') {
        return "";
    }
    // The dimensions of a convolution are printed as `[b, f]x[o, i]->[b, f]`.
    let is_arrow = left.kind == TokenKind::Arrow && !right.is(b'[')
        || right.kind == TokenKind::Arrow && !left.is(b']');
    let opens_region = view.begins(token, |kind| kind == NodeKind::Region).is_some();
    let opens_attributes =
        left.is(b')') && view.begins(token, |kind| kind == NodeKind::Dictionary).is_some();
    if left.is(b',')
        || is_arrow
        || opens_region
        || opens_attributes
        || is_assignment(view, before, token)
        || is_colon_of_types(view, before, token)
    {
        return " ";
    }
    once(gap)
}

fn once(gap: &str) -> &str {
    if gap.is_empty() { "" } else { " " }
}

/// Whether the gap is beside the `=` of results, an alias or an attribute.
fn is_assignment(view: &ChunkView<'_>, before: usize, token: usize) -> bool {
    let around = view.tree.node(view.node_of_gap(token));
    let is_equals = |token: usize| view.text(token) == "=";
    match around.kind {
        NodeKind::Dictionary => is_equals(before) || is_equals(token),
        // The first `=` of an operation follows its results.
        NodeKind::Operation => {
            let first = view.tree.children(view.node_of_gap(token)).next();
            let first = first.map(|first| view.tree.node(first));
            let results = first.filter(|first| first.kind == NodeKind::Results);
            results
                .map(|results| results.last as usize)
                .is_some_and(|equals| is_equals(equals) && (equals == before || equals == token))
        }
        NodeKind::Alias => {
            let equals = around.first as usize + 1;
            is_equals(equals) && (equals == before || equals == token)
        }
        _ => false,
    }
}

/// Whether the gap is beside the `:` between an operation's operands and its types.
fn is_colon_of_types(view: &ChunkView<'_>, before: usize, token: usize) -> bool {
    let tokens = view.tokens();
    let around = view.tree.node(view.node_of_gap(token)).kind;
    let colon = if tokens[token].is(b':') { token } else { before };
    if around != NodeKind::Operation || !tokens[colon].is(b':') {
        return false;
    }
    let follows_operand = colon.checked_sub(1).is_some_and(|last| {
        matches!(tokens[last].kind, TokenKind::Value | TokenKind::Punct(b')' | b']' | b'}'))
    });
    // `%x:2` is a value with a number of results.
    let type_follows = tokens.get(colon + 1).is_some_and(|next| {
        matches!(next.kind, TokenKind::Word | TokenKind::Type | TokenKind::Punct(b'('))
    });
    follows_operand && type_follows
}
