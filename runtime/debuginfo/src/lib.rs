//! Where a bytecode offset comes from and what is alive there.

pub mod companion;
pub mod location;
pub mod register;
