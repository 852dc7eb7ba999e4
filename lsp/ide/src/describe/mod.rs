//! Descriptions of a text: hovers, inlay hints, semantic tokens, signatures.
//!
//! Answers are text for people; nothing here changes a document.

mod control_flow;
mod conventions;
mod hints;
mod hover;
pub(crate) mod instructions;
mod signature_help;
mod tokens;
mod value_names;

pub use control_flow::{control_flow, has_control_flow};
pub use hints::{InlayHint, InlayHintKind, inlay_hints};
pub use hover::{Hover, brief_hover, hover};
pub use signature_help::{CallSignature, signature_help};
pub use tokens::{SemanticToken, TokenClass, semantic_tokens};
pub use value_names::{NamedValue, value_names};
