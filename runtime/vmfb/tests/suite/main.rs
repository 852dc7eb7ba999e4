//! Modules and their texts: assembled, printed, verified, and damaged.
//!
//! `amplification` is a program of its own: it counts the memory that its whole process takes.

mod assemble;
mod hostile;
mod model;
mod text_roundtrip;
mod verifier;
