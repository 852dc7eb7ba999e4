//! Messages between the client and the handlers: framing, order, and edits.
//!
//! Uses the documents and tower-lsp, and no request: the contents of answers are in `requests`.

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
pub(crate) use until_exit::{UntilExit, when_process_ends};
