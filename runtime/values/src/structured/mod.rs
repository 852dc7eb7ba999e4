//! Nested values across the boundary of a VM function: packed into lists and buffer views by a
//! signature, and unpacked again.
//!
//! ```text
//! JSON or .npy ── pack ──► VM values ── call ──► VM values ── unpack ──► text or JSON
//!
//! a structure is a list of its values, without keys
//! an array is a buffer view
//! a string is a list of bytes
//! ```
//!
//! Every error names the place: `args[1]["b"][0]: expected ndarray<f32, rank 2>, got …`. Where a
//! signature has no type (`unknown`, refs without a type), the type of the given value counts.
//! [`pack()`] and [`unpack()`] are the two directions.

mod arguments;
mod error;
mod given;
mod lists;
mod pack;
mod spread;
mod unpack;

pub use arguments::Inputs;
pub use error::StructureError;
pub use given::{BYTES, TENSOR};
pub use pack::{pack, pack_with};
pub use unpack::{Unpacked, unpack};
