//! The entity at a place: a value, a block, a symbol, an alias, or an operation's name.

use syntax::{NodeId, NodeKind, OpClass, TextRange, TokenKind};

use super::check_lines::symbol_in_directive;
use super::symbols::{Reference, reference_at};
use crate::Document;
use crate::text::{AnalysedChunk, LocalDefinition, block_of_use, touches, value_of_use};

/// An entity that text can name.
#[derive(Debug, Clone)]
pub(crate) enum Entity {
    /// A value, as its definition.
    Value(LocalDefinition),
    /// A labelled block.
    Block(LocalDefinition),
    /// A symbol, defined or not.
    Symbol(Reference),
    /// An alias `#name` or `!name`, sigil included.
    Alias(String),
    /// The name of an operation.
    Operation {
        /// The chunk.
        analysed: AnalysedChunk,
        /// The operation in it.
        node: NodeId,
        /// Its name.
        name: String,
    },
}

/// An entity and the text that names it at some place.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    /// The entity.
    pub entity: Entity,
    /// The name at the place, sigil included.
    pub range: TextRange,
}

/// The entity whose name holds `offset` or ends there.
pub(crate) fn entity_at(document: &Document, offset: usize) -> Option<Named> {
    let analysed = document.analysis_at(offset)?;
    let found = in_chunk(document, &analysed, offset).or_else(|| {
        // The last name of a chunk ends where the next chunk begins.
        let before = offset.checked_sub(1)?;
        if before >= analysed.base() {
            return None;
        }
        in_chunk(document, &document.analysis_at(before)?, offset)
    });
    found.or_else(|| symbol_in_directive(document, offset))
}

fn in_chunk(document: &Document, analysed: &AnalysedChunk, offset: usize) -> Option<Named> {
    let at = offset.checked_sub(analysed.base())?;
    let tree = &analysed.analysis.tree;
    let index = tree.token_at(at)?;
    // Where two tokens touch, the one that is a name wins.
    let candidates = [Some(index), index.checked_sub(1)];
    candidates.into_iter().flatten().find_map(|index| {
        let leaf = tree.tokens()[index];
        let span = leaf.start..leaf.end;
        if !touches(&span, at) {
            return None;
        }
        let range = analysed.absolute(&span);
        let entity = match leaf.kind {
            TokenKind::Value => value(document, analysed, &span)?,
            // The second half of a pair of registers, `:11` of `%i10:11`.
            TokenKind::Block => block(document, analysed, &span)?,
            TokenKind::Symbol => {
                let reference = reference_at(document, range.start + 1)?;
                let range = reference.range.clone();
                return Some(Named { entity: Entity::Symbol(reference), range });
            }
            TokenKind::Attribute | TokenKind::Type => {
                let name = document.text().slice(range.clone()).into_owned();
                let is_known = analysed.analysis.names.aliases.contains(&span)
                    || analysed.placed.chunk.class == OpClass::Alias
                        && leaf.start as usize == tree.range(0).start;
                if !is_known {
                    return None;
                }
                Entity::Alias(name)
            }
            TokenKind::Word | TokenKind::String => {
                let node = tree.node_of_token(index);
                if tree.node(node).kind != NodeKind::Name {
                    return None;
                }
                let node = tree.node(node).parent;
                let name = tree.op_name(document.text(), analysed.base(), node);
                Entity::Operation { analysed: analysed.clone(), node, name }
            }
            _ => return None,
        };
        Some(Named { entity, range })
    })
}

fn value(
    document: &Document,
    analysed: &AnalysedChunk,
    span: &std::ops::Range<u32>,
) -> Option<Entity> {
    let names = &analysed.analysis.names;
    if let Some(index) = names.values.iter().position(|value| value.span == *span) {
        return Some(Entity::Value(LocalDefinition {
            analysed: analysed.clone(),
            index: index as u32,
        }));
    }
    let used = names.value_uses.iter().find(|used| used.span == *span)?;
    value_of_use(document, analysed, used).map(Entity::Value)
}

fn block(
    document: &Document,
    analysed: &AnalysedChunk,
    span: &std::ops::Range<u32>,
) -> Option<Entity> {
    let names = &analysed.analysis.names;
    if let Some(index) = names.blocks.iter().position(|block| block.span == *span) {
        return Some(Entity::Block(LocalDefinition {
            analysed: analysed.clone(),
            index: index as u32,
        }));
    }
    let used = names.block_uses.iter().find(|used| used.span == *span)?;
    block_of_use(document, analysed, used).map(Entity::Block)
}
