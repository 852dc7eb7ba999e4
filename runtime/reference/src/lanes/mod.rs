//! Scalar operations on up to `LANES` elements at a time: what the body of a loop nest does, for
//! neighbours along one loop.
//!
//! - `bank`: registers
//! - `accuracy`: how exact a correct implementation of each function has to be
//! - `float`, `integer`, `convert`: the operations, each with the bound of its error
//! - `compile`: from a region to a `Program`
//! - `run`: running it

mod accuracy;
mod bank;
mod compile;
mod convert;
pub(crate) mod float;
mod integer;
mod run;

pub(crate) use bank::{Bank, LANES};
pub(crate) use compile::{Program, Sum, check_types};
pub(crate) use run::{Context, apply, run};
