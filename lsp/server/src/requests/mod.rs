//! What the server answers: one request, one file. Each converts in, asks [`ide`], converts out, and runs on a worker thread.

pub(crate) mod definition;
pub(crate) mod document_symbol;
pub(crate) mod hover;

use ide::Modules;

use crate::documents::Open;
use crate::positions::Encoding;

/// What a request may look at: its document as it was when the request arrived, and what was agreed on.
pub(crate) struct View<'a> {
    pub(crate) open: &'a Open,
    pub(crate) encoding: Encoding,
    pub(crate) session: &'a Session,
}

/// What is agreed on in `initialize`.
#[derive(Default)]
pub(crate) struct Session {
    pub(crate) modules: Modules,
    /// The client shows definitions with their origin.
    pub(crate) links: bool,
    /// The client shows outlines as trees.
    pub(crate) trees: bool,
}
