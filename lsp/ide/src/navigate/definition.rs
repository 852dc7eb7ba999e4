//! Go to definition: values, blocks, symbols and aliases in the text, and `loc("file":line:column)`
//! in its file.

use std::path::PathBuf;

use syntax::TextRange;

use super::links::{Link, link_at};
use crate::Document;
use crate::resolve::{
    Entity, alias_definition, check_variable, entity_at, line_end, resolve_symbol,
    symbol_in_directives,
};

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
    if let Some(variable) = check_variable(document, offset) {
        let selection = variable.definition()?;
        return Some(DefinitionTarget {
            origin: variable.range,
            range: selection.clone(),
            selection,
        });
    }
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
                ..line_end(document.text(), selection.end).min(range.end.max(selection.end));
            Some(DefinitionTarget { origin, range, selection })
        }
        Entity::Block(found) => {
            let selection = found.block_range();
            let range = selection.start..line_end(document.text(), selection.end);
            Some(DefinitionTarget { origin, range, selection })
        }
        Entity::Symbol(reference) => {
            let symbol = resolve_symbol(document, &reference, offset)?.symbol;
            // From a definition itself, back to the label of its test.
            if origin == symbol.name_token
                && let Some((true, label)) =
                    symbol_in_directives(document, &symbol.name, offset).into_iter().next()
            {
                return Some(DefinitionTarget { origin, range: label.clone(), selection: label });
            }
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
