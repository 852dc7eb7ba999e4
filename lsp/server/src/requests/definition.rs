//! `textDocument/definition`.

use tower_lsp::lsp_types::{GotoDefinitionResponse, TextDocumentPositionParams};

use super::View;
use crate::{from_proto, to_proto};

pub(crate) fn definition(
    view: &View<'_>,
    place: &TextDocumentPositionParams,
) -> Option<GotoDefinitionResponse> {
    let offset = from_proto::offset(&view.open.rope, place.position, view.encoding);
    let target = ide::definition(&view.open.document, offset)?;
    let uri = &place.text_document.uri;
    Some(to_proto::definition(uri, &view.open.rope, &target, view.encoding, view.session.links))
}
