//! Tensors in memory: their elements as numbers, statistics of them, and their text.
//!
//! Knows buffers and element types, and nothing about programs: it uses no other folder.

mod elements;
mod hash;
mod number;
mod profile;
mod statistics;
mod text;
mod view;
mod window;

pub(crate) use elements::{BLOCK, Block, Reader};
pub(crate) use number::Number;
pub use profile::{Extreme, Profile, QUANTILES, Sought};
pub(crate) use statistics::{Statistics, Wanted};
pub use text::Summary;
pub(crate) use view::Slice;
pub use view::TensorView;
pub use window::{Cells, Rectangle, Reduction};
