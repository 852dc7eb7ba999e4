//! Steps: where one ends, and the observers that find out while the program runs.
//!
//! Decides only; `running` does the running.

pub(crate) mod observers;
pub(crate) mod plan;
