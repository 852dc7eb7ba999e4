//! The native modules of IREE's runtime: what a program finds beside its bytecode.
//!
//! | file | holds |
//! | --- | --- |
//! | `check` | `check.*`, the expectations of tests |
//!
//! Nothing here debugs or prints: a module tells its results through values.

pub mod check;
