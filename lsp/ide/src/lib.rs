//! Language features for MLIR, `.vmasm` and `.vmfb`; no protocol.
//!
//! Everything here is a function from an immutable [`Document`] and a byte offset to a plain answer. No LSP type, no
//! line and column, no editor: [`hover()`] can be asked from a test, a terminal or a server alike.
//!
//! One feature is one file:
//! [`outline`](mod@outline) symbols of a document · [`hover`](mod@hover) what a symbol's signature and ABI are · [`definition`](mod@definition) where it is
//! defined · [`diagnostics`](mod@diagnostics) what is visibly broken.
//!
//! What they stand on:
//! [`document`] a version of a text with its chunk table · [`references`] which symbol a place means ·
//! [`calling`] signatures as the VM passes them, from types as written · [`compiled`] what a compiled module near the source
//! really contains.
//!
//! Nothing here executes anything, writes a file, or keeps state, apart from [`compiled::Modules`], a cache of file contents.

pub mod calling;
pub mod compiled;
pub mod definition;
pub mod diagnostics;
pub mod document;
pub mod hover;
pub mod outline;
pub mod references;

pub use compiled::Modules;
pub use definition::definition;
pub use diagnostics::{Diagnostic, diagnostics};
pub use document::{Document, Text};
pub use hover::{Hover, hover};
pub use outline::{Outline, OutlineItem, outline};
pub use syntax::{Language, OpClass, TextEdit, TextRange};
