//! The third opinion of a dispatch: its own text, evaluated in float64 and exact integers on the
//! tensors that it reads.
//!
//! - `question`: what is asked of the crate `reference`, and its answer by operand
//! - `tiles`: tensors that lie tile by tile
//! - `past`: which dispatch has left a tensor, and whether what it has read is still there
//! - `evaluated`: what a tensor should be

mod evaluated;
mod past;
mod question;
mod tiles;

pub(crate) use evaluated::{Answer, Evaluations};
pub use evaluated::{Evaluated, NotEvaluated, expected_tensor};
pub use past::{InputLost, NoWriter};
pub use question::{MOST_OPERATIONS, NoOpinion, OpinionQuestion, Opinions};
