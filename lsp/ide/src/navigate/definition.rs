//! Go to definition: values, blocks, symbols and aliases in the text, and `loc("file":line:column)`
//! in its file.

use std::path::PathBuf;

use syntax::TextRange;

use super::links::{Link, link_at};
use crate::Document;
use crate::resolve::{Entity, alias_definition, entity_at, resolve_symbol};

/// The place of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionTarget {
    /// The name at the offset, for the editor to underline.
    pub origin: TextRange,
    /// The whole definition.
    pub range: TextRange,
    /// The name in the definition, sigil included.
    pub selection: TextRange,
}

/// A place in another file, counted from 1 as compilers do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    /// The file; absolute if the document's own path is known.
    pub path: PathBuf,
    /// The line.
    pub line: u32,
    /// The column, in bytes.
    pub column: u32,
}

/// The definition, in this document, of the entity at `offset`.
pub fn definition(document: &Document, offset: usize) -> Option<DefinitionTarget> {
    let named = entity_at(document, offset)?;
    let origin = named.range.clone();
    match named.entity {
        Entity::Value(found) => {
            let value = &found.analysed.analysis.names.values[found.index as usize];
            let around = found.analysed.analysis.tree.range(value.node);
            let range = found.analysed.base() + around.start..found.analysed.base() + around.end;
            let selection = found.value_range();
            // Editors show the whole range; for an operation with regions its first line is enough.
            let range = range.start.min(selection.start)
                ..line_end(document, selection.end).min(range.end.max(selection.end));
            Some(DefinitionTarget { origin, range, selection })
        }
        Entity::Block(found) => {
            let selection = found.block_range();
            let range = selection.start..line_end(document, selection.end);
            Some(DefinitionTarget { origin, range, selection })
        }
        Entity::Symbol(reference) => {
            let symbol = resolve_symbol(document, &reference, offset)?.symbol;
            Some(DefinitionTarget { origin, range: symbol.range, selection: symbol.name_token })
        }
        Entity::Alias(name) => {
            let (range, selection) = alias_definition(document, &name, offset)?;
            Some(DefinitionTarget { origin, range, selection })
        }
        Entity::Operation { .. } => None,
    }
}

/// The place in another file that the text at `offset` names.
pub fn file_definition(document: &Document, offset: usize) -> Option<(TextRange, FilePlace)> {
    let Link { range, path, line, column } = link_at(document, offset)?;
    Some((range, FilePlace { path, line, column }))
}

pub(crate) fn line_end(document: &Document, offset: usize) -> usize {
    let text = document.text();
    syntax::find_all(text, offset..text.len().min(offset + 4096), "\n")
        .next()
        .unwrap_or(text.len().min(offset + 4096))
}
