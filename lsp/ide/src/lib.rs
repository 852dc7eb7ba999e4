//! Language features for MLIR, `.vmasm` and `.vmfb`; no protocol.
//!
//! Everything here is a function from an immutable [`Document`] and a byte offset to a plain
//! answer. No LSP type, no line and column, no editor: [`hover()`] can be asked from a test, a
//! terminal or a server alike.
//!
//! One feature is one file: [`outline`](mod@outline) symbols of a document · [`hover`](mod@hover)
//! what a symbol's signature and ABI are · [`definition`](mod@definition) where it is defined ·
//! [`diagnostics`](mod@diagnostics) what is visibly broken.
//!
//! What they stand on: [`document`] a version of a text with its chunk table · [`references`] which
//! symbol a place means · [`calling`] signatures as the VM passes them, from types as written ·
//! [`compiled`] what a compiled module near the source really contains.
//!
//! Nothing here executes anything, writes a file, or keeps state, apart from [`compiled::Modules`],
//! a cache of file contents.

mod abi_checks;
pub mod abi_hover;
pub mod actions;
pub mod analysis;
pub mod calling;
pub mod calls;
mod checks;
pub mod compiled;
pub mod completion;
pub mod definition;
pub mod diagnostics;
pub mod document;
pub mod entity;
pub mod folding;
pub mod format;
pub mod functions;
pub mod hints;
pub mod hover;
pub mod instructions;
pub mod links;
pub mod module_text;
pub mod names;
pub mod outline;
pub mod references;
pub mod rename;
pub mod selection;
pub mod tokens;
pub mod types;
pub mod usages;
pub mod workspace;

pub use compiled::Modules;
pub use definition::definition;
pub use diagnostics::{Diagnostic, Severity, diagnostics, diagnostics_unless};
pub use document::{Document, Text};
pub use hover::{Hover, hover};
pub use outline::{Outline, OutlineItem, outline};
pub use syntax::{Language, OpClass, TextEdit, TextRange};
