//! Tensors in memory: their elements as numbers, statistics of them, and their text.
//!
//! Knows buffers and element types, and nothing about programs: it uses no other folder.

mod comparison;
mod elements;
mod extent;
mod figures;
mod hash;
mod moments;
mod number;
mod origin;
mod plane;
mod profile;
mod slice;
mod statistics;
mod text;
mod view;
mod view_error;
mod window;

pub(crate) use comparison::ulps;
pub use comparison::{Comparison, Differences, Measure, Pair};
pub(crate) use elements::{BLOCK, Block, Reader};
pub use extent::Extent;
pub(crate) use extent::hash_and_extent;
pub use figures::Figures;
pub use moments::{Moment, Moments, NotKept};
pub use number::Number;
pub(crate) use number::float_text;
pub use origin::AsOf;
pub(crate) use origin::Origin;
pub use plane::{Cells, Rectangle, Reduction};
pub use profile::{Extreme, Profile, QUANTILES, Sought};
pub(crate) use slice::Slice;
pub(crate) use statistics::{Statistics, Wanted};
pub(crate) use text::SHORT;
pub use text::Summary;
pub use view::TensorView;
pub use view_error::{NoNpy, SliceError, ViewError};
