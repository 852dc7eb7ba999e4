//! `textDocument/documentSymbol`.

use tower_lsp::lsp_types::{DocumentSymbolResponse, Url};

use super::View;
use crate::to_proto;

/// More symbols than this make editors slow and help nobody.
const LIMIT: usize = 20_000;

pub(crate) fn document_symbol(view: &View<'_>, uri: &Url) -> DocumentSymbolResponse {
    let outline = ide::outline(&view.open.document, LIMIT);
    let symbols = to_proto::document_symbols(&view.open.rope, &outline, view.encoding);
    if view.session.trees {
        DocumentSymbolResponse::Nested(symbols)
    } else {
        DocumentSymbolResponse::Flat(to_proto::symbol_informations(uri, &symbols, None))
    }
}
