//! Messages on their way from the client to the handlers: framed, put in order, with edits applied.
//!
//! Knows the documents and tower-lsp, and no request: what an answer contains is in `requests`.

mod framing;
mod held_texts;
mod ordered;
mod state;
mod until_exit;

pub(crate) use framing::Frames;
pub(crate) use ordered::Ordered;
#[cfg(test)]
pub(crate) use state::in_snapshot;
pub(crate) use state::{State, snapshot};
pub(crate) use until_exit::UntilExit;
