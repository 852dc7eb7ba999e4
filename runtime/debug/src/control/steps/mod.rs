//! Steps: where one ends, and the observers that notice while the program runs.
//!
//! The folder only decides; `runner` and `step` run the program.

pub(crate) mod observers;
pub(crate) mod plan;
pub(crate) mod python;
