//! Breakpoints: what is asked for, where that is, what is armed for it, and what a hit does.
//!
//! `spec`, `hits` and `table` are plain data. Only `armed` changes the executable form of code.

pub(crate) mod active;
pub(crate) mod armed;
pub(crate) mod guard;
pub(crate) mod hits;
pub(crate) mod log;
pub(crate) mod meant_frame;
pub(crate) mod spec;
pub(crate) mod table;
