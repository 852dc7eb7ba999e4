//! What the server answers: a file for each group of requests, named as the folders of [`ide`] are.
//! Each function converts in, asks [`ide`], converts out, and runs on a worker thread.
//!
//! Nothing here talks to the client or changes a document; the folder knows the session and no
//! transport.

pub(crate) mod check;
pub(crate) mod describe;
pub(crate) mod edit;
pub(crate) mod made_documents;
pub(crate) mod navigate;
pub(crate) mod semantic_tokens;
mod view;
pub(crate) mod workspace_symbols;

pub(crate) use view::{CancelOnDrop, Cancelled, View};
