//! Which companion function and which database map belong to which function of a module.
//!
//! The files do not say it, so every pair is checked. A mismatch costs that function its map and is
//! reported; a wrong map would be worse than none.

mod companion;
mod database;
mod mismatch;

pub(crate) use companion::{Aligned, companion_function};
pub(crate) use database::{Imported, database_maps};
pub use mismatch::Mismatch;
