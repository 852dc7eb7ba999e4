//! The answers to requests, a file for each group. The groups are named like the folders of
//! [`ide`]. Each function converts the parameters, asks [`ide`], converts the answer, and runs on a
//! worker thread.
//!
//! Nothing here talks to the client or changes a document. The folder uses the session, and no
//! transport.

pub(crate) mod check;
pub(crate) mod describe;
pub(crate) mod edit;
pub(crate) mod exports;
pub(crate) mod last_run;
pub(crate) mod made_documents;
pub(crate) mod module;
pub(crate) mod navigate;
pub(crate) mod semantic_tokens;
pub(crate) mod stages;
mod view;
pub(crate) mod why;
pub(crate) mod workspace_symbols;

pub(crate) use view::{CancelOnDrop, Cancelled, View};
