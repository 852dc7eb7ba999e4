//! The interpreter as hosts and debuggers see it, from outside of its crate.

mod activities;
mod interpreter;
