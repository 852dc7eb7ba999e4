//! `textDocument/hover`.

use tower_lsp::lsp_types::{Hover, Position};

use super::View;
use crate::{from_proto, to_proto};

pub(crate) fn hover(view: &View<'_>, position: Position) -> Option<Hover> {
    let offset = from_proto::offset(&view.open.rope, position, view.encoding);
    let found = ide::hover(&view.open.document, &view.session.modules, offset)?;
    Some(to_proto::hover(&view.open.rope, found, view.encoding))
}
