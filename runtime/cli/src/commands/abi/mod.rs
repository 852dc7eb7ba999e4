//! `iree-dbg abi`: signatures read, written, converted and explained. The `abi` crate knows what
//! they mean; here are the command line and the JSON.

mod buffer;
mod command;
mod explain;
mod json;
mod text;
mod views;

pub(crate) use command::{Arguments, run};
