//! Signatures of every convention, as texts: known ones, generated ones, MLIR's own, and deep ones.

mod depth;
mod golden;
mod mlir_opt;
mod properties;
