//! Workspace symbols: of open documents as they are, of other files as they are on disk.

use std::sync::Arc;

use ide::{FileSymbol, file_symbols, matches_query};
use tower_lsp::lsp_types::{Location, Position, Range, SymbolInformation, Url};

use super::View;
use crate::documents::Documents;
use crate::positions::Encoding;
use crate::session::Session;
use crate::to_proto;

/// The most answers.
const LIMIT: usize = 1000;
/// Longer open documents, in bytes, are left to the outline.
const LONGEST: usize = 32 << 20;

pub(crate) fn symbols(
    documents: &Documents,
    session: &Arc<Session>,
    query: &str,
) -> Vec<SymbolInformation> {
    let encoding = documents.encoding();
    let mut found = Vec::new();
    for (uri, open) in documents.iter() {
        if open.rope.len_bytes() > LONGEST {
            continue;
        }
        for symbol in file_symbols(&open.document) {
            if matches_query(&symbol.name, query) && found.len() < LIMIT {
                found.push(information(uri, &symbol, encoding));
            }
        }
    }
    let is_open = |path: &std::path::Path| {
        Url::from_file_path(path).is_ok_and(|uri| documents.get(&uri).is_some())
    };
    for (path, symbol) in session.workspace.search(query, LIMIT - found.len(), &is_open) {
        if let Ok(uri) = Url::from_file_path(path) {
            found.push(information(&uri, &symbol, encoding));
        }
    }
    found
}

/// The places of the counterparts of the symbol at a position.
pub(crate) fn implementations(view: &View<'_>, position: Position) -> Vec<Location> {
    let Some(wanted) = ide::counterpart(view.document(), view.offset(position)) else {
        return Vec::new();
    };
    let (documents, encoding) = (view.documents, view.encoding());
    let mut found = Vec::new();
    for (uri, open) in documents.iter().filter(|(_, open)| open.rope.len_bytes() <= LONGEST) {
        let symbols = file_symbols(&open.document).into_iter().filter(|one| wanted.is(one));
        found.extend(symbols.map(|symbol| information(uri, &symbol, encoding).location));
    }
    let is_open = |path: &std::path::Path| {
        Url::from_file_path(path).is_ok_and(|uri| documents.get(&uri).is_some())
    };
    for (path, symbol) in view.session.workspace.find(&|one| wanted.is(one), LIMIT, &is_open) {
        if let Ok(uri) = Url::from_file_path(path) {
            found.push(information(&uri, &symbol, encoding).location);
        }
    }
    found
}

fn information(uri: &Url, symbol: &FileSymbol, encoding: Encoding) -> SymbolInformation {
    let column = |byte: u32| {
        let before = symbol.before.get(..byte as usize).unwrap_or_default();
        match encoding {
            Encoding::Utf8 => before.len() as u32,
            Encoding::Utf16 => before.encode_utf16().count() as u32,
            Encoding::Utf32 => before.chars().count() as u32,
        }
    };
    let range = Range::new(
        Position::new(symbol.line, column(symbol.columns.start)),
        Position::new(symbol.line, column(symbol.columns.end)),
    );
    #[allow(deprecated)] // the field `deprecated` cannot be left out
    SymbolInformation {
        name: symbol.name.clone(),
        kind: to_proto::symbol_kind(symbol.class),
        tags: None,
        deprecated: None,
        location: Location { uri: uri.clone(), range },
        container_name: symbol.container.clone(),
    }
}
