//! Nested values across the boundary of a VM function: what a signature promises, packed into lists
//! and buffer views, and back.
//!
//! ```text
//! JSON or .npy ── pack, by the types of the arguments ──► VM values ── call ──► VM values ── unpack ──► text or JSON
//! a structure is a list of its values, without keys     an array is a buffer view     a string is a list of bytes
//! ```
//!
//! Every error names the place: `args[1]["b"][0]: expected ndarray<f32, rank 2>, got …`. What a
//! signature does not tell (`unknown`, refs without a type) is packed by what is given. [`pack`]
//! and [`unpack`] have the two directions.

mod error;
mod pack;
mod unpack;

pub use error::StructureError;
pub use pack::{Inputs, pack};
pub use unpack::{Unpacked, unpack};
