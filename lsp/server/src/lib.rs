//! The language server over LSP.
