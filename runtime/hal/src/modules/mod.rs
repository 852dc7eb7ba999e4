//! The native modules of IREE's runtime: glue from VM signatures to the rest of this crate.
//!
//! A folder or file a module; in it a function a
//! declaration, in the order of the calling convention's arguments.

mod arguments;
pub mod check;
mod hal;
mod hal_inline;
mod hal_loader;
mod io_parameters;
mod provided;
mod yieldable_test;

pub use provided::modules_for;
